#!/usr/bin/env python3
"""Makes tests/data/*.npz, tests/data/types.safetensors and the seeds of the fuzz
targets safetensors, npz and text_matrix.

usage: /usr/bin/python3 tests/reference/make_dumps.py    (from the project's root)

Prints the table of values of types.safetensors that stands in
test_safetensors.c: NumPy's own conversion to float64, PyTorch's of bfloat16, and
for the 8-bit floats the values that their definition (Micikevicius et al. 2022,
table 1) names.
"""
import io
import json
import os
import struct
import zipfile
import zlib

import numpy as np

DATA = "tests/data"
SEEDS = "tests/fuzz/corpus"


def save(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


# ---- safetensors ---------------------------------------------------------------


def safetensors(tensors, metadata=None, pad=8):
    """tensors: name -> (dtype, shape, bytes)."""
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, (dtype, shape, entries) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(entries)]}
        data += entries
    text = json.dumps(header, separators=(",", ":")).encode()
    return raw_safetensors(text + b" " * (-len(text) % pad), data)


def raw_safetensors(text, data=b""):
    return struct.pack("<Q", len(text)) + text + data


def bfloat16(bits):
    import torch

    words = np.array(bits, dtype="<u2").view("<i2")
    return torch.from_numpy(words.copy()).view(torch.bfloat16).double().numpy()


FLOAT8 = {
    "F8_E4M3": {0x00: 0.0, 0x01: 2.0**-9, 0x07: 0.875 * 2**-6, 0x08: 2.0**-6, 0x38: 1.0, 0xB9: -1.125, 0x78: 256.0,
                0x7E: 448.0, 0xFE: -448.0, 0x7F: np.nan},
    "F8_E5M2": {0x00: 0.0, 0x01: 2.0**-16, 0x03: 0.75 * 2**-14, 0x04: 2.0**-14, 0x3C: 1.0, 0xBD: -1.25, 0x7B: 57344.0,
                0xFB: -57344.0, 0x7C: np.inf, 0xFF: np.nan},
}

BITS = {
    "F16": ("<u2", "<f2", [0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x3C00, 0x3555, 0x7BFF, 0xFC00, 0x7E00]),
    "F32": ("<u4", "<f4", [0, 0x80000000, 1, 0x00800000, 0x3F800000, 0x3EAAAAAB, 0x7F7FFFFF, 0xC2F6E979, 0xFF800000,
                           0x7FC00000]),
    "F64": ("<u8", "<f8", [0, 1 << 63, 1, 1 << 52, 0x3FF << 52, 0x3FD5555555555555, 0x7FEFFFFFFFFFFFFF,
                           0xC05EDD2F1A9FBE77, 0xFFF << 52, 0x7FF8 << 48]),
    "I8": ("<i1", "<i1", [0, 1, -1, 127, -128, 2, 3, 4, 5, 6]),
    "U8": ("<u1", "<u1", [0, 1, 255, 127, 128, 2, 3, 4, 5, 6]),
    "I16": ("<i2", "<i2", [0, 1, -1, 32767, -32768, 256, 3, 4, 5, 6]),
    "U16": ("<u2", "<u2", [0, 1, 65535, 32767, 32768, 256, 3, 4, 5, 6]),
    "I32": ("<i4", "<i4", [0, 1, -1, 2**31 - 1, -(2**31), 2**24 + 1, 3, 4, 5, 6]),
    "U32": ("<u4", "<u4", [0, 1, 2**32 - 1, 2**31, 2**24 + 1, 5, 6, 7, 8, 9]),
    "I64": ("<i8", "<i8", [0, 1, -1, 2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 3, 4, 5, 6]),
    "U64": ("<u8", "<u8", [0, 1, 2**64 - 1, 2**63, 2**53 + 3, 2**64 - 1025, 6, 7, 8, 9]),
    "BOOL": ("<u1", "?", [0, 1, 1, 0, 0, 1, 1, 1, 0, 1]),
}


def types():
    tensors, values = {}, {}
    for dtype, (stored, read, bits) in BITS.items():
        a = np.array(bits, dtype=stored)
        tensors[dtype.lower()] = (dtype, [2, 5], a.tobytes())
        values[dtype.lower()] = a.view(read).astype("f8")
    bits = [0x0000, 0x8000, 0x0001, 0x807F, 0x0080, 0x3F80, 0x3EAB, 0x7F7F, 0xFF80, 0x7FC0]
    tensors["bf16"] = ("BF16", [2, 5], np.array(bits, dtype="<u2").tobytes())
    values["bf16"] = bfloat16(bits)
    for dtype, table in FLOAT8.items():
        tensors[dtype.lower()] = (dtype, [2, 5], bytes(table))
        values[dtype.lower()] = np.array(list(table.values()))
    tensors["scalar"] = ("F32", [], np.float32(2.5).tobytes())
    tensors["empty"] = ("F64", [0, 4], b"")
    tensors["complex"] = ("C64", [1], bytes(8))
    tensors["deep"] = ("U8", [1] * 9, bytes(1))
    for name in sorted(values):
        row = ", ".join(c_double(x) for x in values[name])
        print(f'    {{ "{name}", {{ {row} }} }},')
    return safetensors(tensors, {"n_head": "8", "note": "h\u00e9\u2603"})


def c_double(x):
    if np.isnan(x):
        return "NAN"
    if np.isinf(x):
        return "INFINITY" if x > 0 else "-INFINITY"
    if x == 0:
        return "-0.0" if np.signbit(x) else "0"
    return float(x).hex() if x != int(x) or abs(x) > 2**31 else repr(int(x))


def safetensors_seeds():
    four = np.arange(4, dtype="<f4").tobytes()
    q = '"q":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}'
    yield "whole", safetensors({"a.q": ("F32", [2, 2], four), "a.k": ("BF16", [1, 2, 2], four[:8])}, {"n_head": "1"})
    yield "empty_tensor", safetensors({"e": ("F64", [0, 4], b""), "s": ("U8", [], b"\1")})
    yield "twice", raw_safetensors(f"{{{q},{q}}}".encode(), four)
    yield "overlap", raw_safetensors(f'{{{q},"k":{{"dtype":"U8","shape":[8],"data_offsets":[8,16]}}}}'.encode(), four)
    yield "hole", raw_safetensors('{"k":{"dtype":"U8","shape":[8],"data_offsets":[8,16]}}'.encode(), four)
    yield "overflow", raw_safetensors(
        '{"k":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}'.encode())
    yield "out_of_range", raw_safetensors('{"k":{"dtype":"U8","shape":[17],"data_offsets":[0,17]}}'.encode(), four)
    yield "deep", raw_safetensors(b'{"a":' + b"[" * 40 + b"]" * 40 + b"}")
    yield "broken", raw_safetensors(b'{"a":{"dtype"', four)
    yield "escapes", raw_safetensors(
        '{"\\u00e9\\ud83d\\ude00":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"more":[1,{"x":null}]}}'.encode(), b"a")
    yield "huge_header", struct.pack("<Q", 1 << 62) + b"{}"
    yield "unknown_type", raw_safetensors('{"k":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}}'.encode(), b"ab")


# ---- npz -----------------------------------------------------------------------


def npy(a, order="C"):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(a, order=order), allow_pickle=True)
    return out.getvalue()


def deflate(data):
    z = zlib.compressobj(9, zlib.DEFLATED, -15)
    return z.compress(data) + z.flush()


def entry(name, data, method=8, packed=None, size=None, crc=None, flags=0):
    packed = (deflate(data) if method == 8 else data) if packed is None else packed
    return (name.encode(), method, packed, len(data) if size is None else size,
            zlib.crc32(data) if crc is None else crc, flags)


def archive(*entries):
    body, directory = b"", b""
    for name, method, packed, size, crc, flags in entries:
        fields = struct.pack("<HHHHHIIIHH", 20, flags, method, 0, 0x21, crc, len(packed), size, len(name), 0)
        directory += b"PK\1\2" + struct.pack("<H", 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name
        body += b"PK\3\4" + fields + name + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(entries), len(entries), len(directory), len(body), 0)
    return body + directory + b"PK\5\6" + end


def numpy_archive(save_arrays):
    rng = np.random.default_rng(1)
    out = io.BytesIO()
    save_arrays(out, **{
        "layers.10.q": (np.arange(24, dtype="<f4").reshape(2, 3, 4) - 5) / 4,
        "layers.2.q": ((np.arange(24).reshape(2, 3, 4) - 5) / 4).astype(">f2"),
        "mask": rng.random((5, 7)) < 0.5,
        "tokens": np.array(["a", "bc"]),
        "n_head": np.int64(8),
        "transposed": np.arange(6, dtype="<f8").reshape(2, 3).T,
    })
    return out.getvalue()


def npz_seeds():
    q = npy(np.arange(6, dtype="<f4").reshape(2, 3))
    yield "stored", archive(entry("q.npy", q, 0), entry("k.npy", npy(np.ones((1, 2), ">i2")), 0))
    yield "deflated", archive(entry("q.npy", q), entry("read me.txt", b"hello"))
    yield "kinds", archive(entry("s.npy", npy(np.array(["a"]))), entry("r.npy", npy(np.zeros(1, [("x", "<f4")]))),
                           entry("f.npy", npy(np.zeros((2, 3), "<f4"), "F")))
    yield "bomb", archive(entry("q.npy", q, size=1 << 31))
    yield "more_than_said", archive(entry("q.npy", q + bytes(100), size=len(q), crc=zlib.crc32(q)))
    yield "cut_deflate", archive(entry("q.npy", q, packed=deflate(q)[:-6]))
    yield "bad_deflate", archive(entry("q.npy", q, packed=b"\7" + deflate(q)[1:]))
    yield "wrong_checksum", archive(entry("q.npy", q, crc=1))
    yield "encrypted", archive(entry("q.npy", q, flags=1))
    yield "bzip2", archive(entry("q.npy", q, method=12))
    yield "stored_lies", archive(entry("q.npy", q, 0, size=len(q) + 1))
    yield "twice", archive(entry("q.npy", q), entry("q.npy", q))
    yield "shape_lies", archive(entry("q.npy", q.replace(b"(2, 3)", b"(2, 4)")))
    yield "no_npy", archive(entry("q.npy", b"hello, world"))
    yield "empty_entry", archive(entry("q.npy", b"", 0))
    yield "pytorch", archive(entry("x/data.pkl", b"\x80\2", 0), entry("x/data/0", bytes(8), 0))
    yield "no_arrays", archive(entry("x.txt", b"1 2"))
    yield "no_entries", archive()
    yield "no_directory", archive(entry("q.npy", q))[:150]


# ---- text ----------------------------------------------------------------------


def text_seeds():
    yield "rows", b"# q\n1 -2.5e-3\t3\n\n4, 5 ,6 # end\r\nnan inf -0x1p3\n"
    yield "mark", b"\xef\xbb\xbf1,2\n3,4"
    yield "word", b"1 two\n"
    yield "ragged", b"1 2\n3\n"
    yield "commas", b"1,,2\n"
    yield "trailing", b"1,2,\n"
    yield "large", b"1e999\n"
    yield "long", b"1" * 80 + b"\n"
    yield "no_numbers", b"# nothing\n\n"
    yield "bytes", b"1 2 \xff\xfe\0\n"


def main():
    save(f"{DATA}/types.safetensors", types())
    save(f"{DATA}/stored.npz", numpy_archive(np.savez))
    save(f"{DATA}/deflated.npz", numpy_archive(np.savez_compressed))
    save(f"{DATA}/zeros.npz", archive(entry("z.npy", npy(np.zeros((1024, 1024), "<f4")))))
    assert zipfile.ZipFile(f"{DATA}/zeros.npz").testzip() is None
    for folder, ending, seeds in (("safetensors", "safetensors", safetensors_seeds()), ("npz", "npz", npz_seeds()),
                                  ("text_matrix", "txt", text_seeds())):
        for name, data in seeds:
            save(f"{SEEDS}/{folder}/{name}.{ending}", data)


main()
