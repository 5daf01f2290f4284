"""Writes small files of queries and keys, and broken ones, into the folder given."""

import json
import os
import struct
import sys

import numpy as np


def safetensors(name, tensors):
    header, data = {}, b""
    for key, values in tensors.items():
        begin = len(data)
        data += np.ascontiguousarray(values).tobytes()
        header[key] = {"dtype": "F32", "shape": values.shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    write(name, struct.pack("<Q", len(text)) + text + data)


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)


def cut_short(name, whole, count):
    with open(whole, "rb") as file:
        write(name, file.read()[:-count])


def side(t):
    return t.transpose(1, 0, 2).reshape(tokens, heads * d_k)


os.chdir(sys.argv[1])
heads, tokens, d_k = 4, 6, 5
random = np.random.default_rng(7)
q, k, v = random.standard_normal((3, heads, tokens, d_k)).astype("<f4")

# Head 1 alone, in every format.
np.save("q.npy", q[1])
np.save("k.npy", k[1])
np.savez("one.npz", q=q[1], k=k[1])
np.savez_compressed("deflated.npz", q=q[1], k=k[1])
safetensors("one.safetensors", {"q": q[1], "k": k[1]})

# All heads, in every layout.
np.savez("hnd.npz", q=q, k=k)
np.savez("nhd.npz", q=q.transpose(1, 0, 2), k=k.transpose(1, 0, 2))
np.savez("nc.npz", q=side(q), k=side(k))
np.savez("fused.npz", qkv=np.concatenate([side(q), side(k), side(v)], 1))
np.savez("bhnd.npz", q=np.stack([v, q]), k=np.stack([v, k]))
np.savez("bnhd.npz", q=q.transpose(1, 0, 2)[None], k=k.transpose(1, 0, 2)[None])
np.savez("grouped.npz", q=q, k=k[::2])
np.savez("repeated.npz", q=q, k=k[::2].repeat(2, 0))
np.savez("names.npz", alpha=q, beta=k)

# Names of a model's modules, layers 2, 9 and 10, and weights as the model has them.
scores = q.astype("f8") @ k.transpose(0, 2, 1).astype("f8")
weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
flax = "encoderblock_%d/MultiHeadDotProductAttention_0/%s"
model = {flax % (layer, name): t[None].transpose(0, 2, 1, 3) for layer in (2, 9, 10) for name, t in (("query", q), ("key", k))}
np.savez("flax.npz", **model)
safetensors("flax.safetensors", model)
np.savez("missing.npz", q=q, k=k, attn_weights=weights.astype("f4"))
np.savez("told.npz", q=side(q), k=side(k), attn_weights=weights.astype("f4"))
np.savez("unnamed.npz", q[1], k[1])
np.savez(
    "mixed.npz",
    **{"layers.0.q": q, "layers.0.k": k, "layers.1.attn_weights": weights[:2], "layers.2.attn_scores": scores[3]},
)
np.save("w.npy", weights[1])
np.save("s.npy", scores[3])

safetensors(
    "layers.safetensors",
    {"layers.0.q": q, "layers.0.k": k, "layers.1.q": q[:2, :3, :4], "layers.1.k": k[:2, :5, :4]},
)
safetensors("small.safetensors", {"q": q[:2, :3, :4], "k": k[:2, :5, :4]})

not_a_number = q.copy()
not_a_number[2, 3, 1] = np.nan
np.savez("nan.npz", q=not_a_number, k=k)

for count in (5, 6, 7):
    write("labels%d" % count, b"token\n" * count)

cut_short("short.safetensors", "one.safetensors", 8)
cut_short("short.npz", "one.npz", 60)
cut_short("short.npy", "q.npy", 8)
write("long.safetensors", struct.pack("<Q", 1 << 62) + b"{}")
write("words", b"hello there\n")
write("picture", b"\x89PNG\r\n\x1a\n" + bytes(50))
write("empty", b"")
