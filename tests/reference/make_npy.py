#!/usr/bin/env python3
"""Makes the .npy files of tests/data and the seeds of tests/fuzz/corpus/npy.

usage: /usr/bin/python3 tests/reference/make_npy.py    (from the project's root)

Entry (head, row, column) of every file but special_*.npy is
(12 head + 4 row + column - 5) / 4, turned into the file's type as NumPy does
after taking the division away (integers), the minus away (unsigned), or asking
whether it is positive (bool). test_npy.c says the same in C.
"""
import io
import os

import numpy as np

DATA = "tests/data"
SEEDS = "tests/fuzz/corpus/npy"


def entries(dtype, shape):
    heads, n, d = (1, *shape) if len(shape) == 2 else shape
    assert d == 4 and n == 3
    whole = np.arange(heads * n * d).reshape(shape)
    kind = np.dtype(dtype).kind
    if kind == "f":
        return ((whole - 5) / 4).astype(dtype)
    if kind == "b":
        return whole > 5
    return (whole - (5 if kind == "i" else 0)).astype(dtype)


def npy(a, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, a, version=version)
    return out.getvalue()


def raw(header, data=b"", version=b"\x01\x00", pad=64):
    text = header.encode("utf-8")
    width = 2 if version == b"\x01\x00" else 4
    text += b" " * (-(len(text) + 9 + width) % pad) + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(width, "little") + text + data


def save(folder, name, data):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


def main():
    os.makedirs(DATA, exist_ok=True)
    os.makedirs(SEEDS, exist_ok=True)
    for kind in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"):
        orders = "|" if kind[1] == "1" else "<>"
        for order in orders:
            name = {"|": "", "<": "_le", ">": "_be"}[order]
            save(DATA, f"{kind}{name}.npy", npy(entries(order + kind, (2, 3, 4))))
    save(DATA, "f4_2d.npy", npy(entries("<f4", (3, 4))))
    save(DATA, "f4_2d_fortran.npy", npy(np.asfortranarray(entries("<f4", (3, 4)))))
    save(DATA, "f8_3d_fortran.npy", npy(np.asfortranarray(entries(">f8", (2, 3, 4)))))
    save(DATA, "f4_version2.npy", npy(entries("<f4", (2, 3, 4)), (2, 0)))
    save(DATA, "f4_version3.npy", npy(entries("<f4", (2, 3, 4)), (3, 0)))

    half = np.array([0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x3C00, 0x3555, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00],
                    dtype="<u2").view("<f2")
    save(DATA, "special_f2.npy", npy(half.reshape(3, 4)))
    whole = np.array([2**53 + 1, -(2**53) - 3, 2**63 - 1, -(2**63)], dtype="<i8")
    save(DATA, "special_i8.npy", npy(whole.reshape(2, 2)))
    whole = np.array([2**53 + 3, 2**64 - 1, 2**64 - 1025, 2**63], dtype="<u8")
    save(DATA, "special_u8.npy", npy(whole.reshape(2, 2)))

    data = entries("<f4", (3, 4)).tobytes()
    one = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"
    for name, seed in {
        "c_order": raw(one, data),
        "fortran": npy(np.asfortranarray(entries(">f2", (2, 3, 4)))),
        "version3": npy(entries("<i8", (3, 4)), (3, 0)),
        "nan_inf": npy(np.array([[np.nan, np.inf], [-np.inf, 0]])),
        "other_writer": raw('{"shape":(3,4),"descr":"<f4","fortran_order":False}', data, pad=1),
        "records": npy(np.zeros((2, 2), dtype=[("x", "<f4"), ("y", "<i2")])),
        "strings": npy(np.array([["a", "b"]])),
        "complex": npy(np.zeros((2, 2), dtype="<c8")),
        "scalar": npy(np.float32(1)),
        "rank4": npy(np.zeros((1, 1, 1, 1), dtype="<f4")),
        "no_rows": npy(np.zeros((0, 4), dtype="<f4")),
        "huge_shape": raw(one.replace("(3, 4)", "(4611686018427387904, 4)"), data),
        "header_length_lies": raw(one, data)[:8] + b"\xff\xff" + raw(one, data)[10:],
        "cut_short": raw(one, data)[:-5],
        "too_long": raw(one, data) + b"!",
        "zip": b"PK\x03\x04" + b"\0" * 26,
    }.items():
        save(SEEDS, name + ".npy", seed)


main()
