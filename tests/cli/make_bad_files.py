"""Writes files that are no good, or unusual, into the folder given."""

import io
import json
import os
import socket
import struct
import sys
import zipfile
import zlib

import numpy as np


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)


def safetensors(name, header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    write(name, struct.pack("<Q", len(text)) + text + data)


def npy(name, shape, data=b"", descr="<f4"):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    write(name, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data)


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def zipped(name, arrays, change=lambda packed: packed, claim=None):
    """An archive whose deflated bytes `change` has altered, that claims other sizes."""
    out, directory = b"", b""
    for key, array in arrays.items():
        memory = io.BytesIO()
        np.save(memory, array)
        raw = memory.getvalue()
        deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = change(deflate.compress(raw) + deflate.flush())
        path = (key + ".npy").encode()
        fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, zlib.crc32(raw), len(packed), claim or len(raw), len(path), 0)
        directory += b"PK\1\2\x14\0" + fields + bytes(10) + struct.pack("<I", len(out)) + path
        out += b"PK\3\4" + fields + path + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(arrays), len(arrays), len(directory), len(out), 0)
    write(name, out + directory + b"PK\5\6" + end)


os.chdir(sys.argv[1])
q = np.random.default_rng(3).standard_normal((6, 5)).astype("<f4")
k = q[::-1].copy()

# What is no file.
os.mkfifo("fifo")
server = socket.socket(socket.AF_UNIX)
server.bind("socket")
write("empty", b"")

# safetensors
safetensors("huge_header.safetensors", b"{" + b" " * 7)
with open("huge_header.safetensors", "r+b") as file:
    file.write(struct.pack("<Q", 100_000_001))
    file.truncate(100_000_009)
pair = b'"q":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}'
safetensors("twice.safetensors", b"{" + pair + b"," + pair + b"}", bytes(16))
safetensors("overlap.safetensors", {"q": entry("F32", [2, 2], 0, 16), "k": entry("F32", [2, 2], 8, 24)}, bytes(24))
safetensors("outside.safetensors", {"q": entry("F32", [2, 2], 0, 16), "k": entry("F32", [2, 2], 16, 32)}, bytes(24))
safetensors("overflow.safetensors", {"q": entry("F32", [1 << 33, 1 << 33], 0, 16)}, bytes(16))
safetensors("none.safetensors", {"q": entry("F32", [0, 4], 0, 0), "k": entry("F32", [0, 4], 0, 0)})
safetensors("deep.safetensors", b'{"q":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
safetensors("broken.safetensors", b'{"q": {"dtype": "F32", "sha')

# npz
zipped("bomb.npz", {"q": np.zeros((1000, 1000), "<f4"), "k": q}, claim=4_000_000_000)
zipped("cut.npz", {"q": q, "k": k}, change=lambda packed: packed[:-20])
np.savez("objects.npz", q=np.array([{}, []], dtype=object), k=k)
np.savez("fortran.npz", q=np.asfortranarray(q), k=np.asfortranarray(k))
np.savez_compressed("fortran_deflated.npz", q=np.asfortranarray(q), k=k)
np.savez_compressed("fortran_huge.npz", q=np.zeros((2**20, 129), "u1", order="F"), k=k)
np.savez("plain.npz", q=q, k=k)
np.savez("big.npz", q=q.astype(">f4"), k=k.astype(">f8"))
with zipfile.ZipFile("torch.pt", "w") as file:
    file.writestr("archive/data.pkl", b"\x80\x02.")

# npy
np.save("q.npy", q)
np.save("k.npy", k)
np.save("q_fortran.npy", np.asfortranarray(q))
np.save("k_fortran.npy", np.asfortranarray(k))
np.save("q_big.npy", q.astype(">f4"))
np.save("k_big.npy", k.astype(">f8"))
np.save("objects.npy", np.array([{}, []], dtype=object))
npy("none.npy", "(0, 5)")
npy("overflow.npy", "(8589934592, 8589934592)", bytes(16))
np.save("shrinks.npy", np.ones((65536, 4), "<f4"))

# Larger than any memory, all holes: 800,000 heads of [256, 128].
shape, size = [800_000, 256, 128], 800_000 * 256 * 128 * 4
try:
    safetensors("large.safetensors", {"q": entry("F32", shape, 0, size), "k": entry("F32", shape, size, 2 * size)})
    os.truncate("large.safetensors", os.path.getsize("large.safetensors") + 2 * size)
    for name in ("large_q.npy", "large_k.npy"):
        npy(name, tuple(shape))
        os.truncate(name, os.path.getsize(name) + size)
except OSError:
    for name in ("large.safetensors", "large_q.npy", "large_k.npy"):
        if os.path.exists(name):
            os.remove(name)
