#!/usr/bin/python3
"""Rows in narrow arithmetic: tests/unit/imitate_reference.h. Run: python3 imitate_reference.py

Half precision is NumPy's float16, single its float32, int8 its integers; a
bfloat16 is rounded by exact rationals (dtype_reference.py). Nothing is
vectorised: every operation is one on two scalars.
"""
import contextlib
import io
import math

import numpy as np

with contextlib.redirect_stdout(io.StringIO()):
    from dtype_reference import FORMATS, exact

D, N = 9, 20


class Bf16:
    """A number whose operations round like those of float16 in NumPy."""

    def __init__(self, x):
        self.x = exact(float(x), *FORMATS["bf16"])

    def __float__(self):
        return self.x

    def __add__(self, other):
        return Bf16(self.x + other.x)

    def __sub__(self, other):
        return Bf16(self.x - other.x)

    def __truediv__(self, other):
        return Bf16(self.x / other.x)


TYPES = {"F64": np.float64, "F32": np.float32, "BF16": Bf16, "F16": np.float16, "INT8": np.float32}


def entry(i):
    return np.float32(((i * 2654435761 + 12345) % 2**32) / 2.0**31 - 1)


def softmax(z, kind, last):
    z = [kind(float(x)) for x in z]
    largest = max(z, key=float)
    if any(math.isnan(float(x)) for x in z):
        largest = kind(math.nan)
    e = [kind(math.exp(d) if d == d else d) for d in (float(x - largest) for x in z)]
    total = kind(0)
    for x in e:
        total = total + x
    return [float(last(float(x / total))) for x in e]


def row(dtype, order, softmax_f32, smooth, std, mean, m, temperature, offset):
    kind = TYPES[dtype]
    q = [std * float(entry(c)) + mean for c in range(D)]
    k = [[std * float(entry(D + j * D + c)) + mean for c in range(D)] for j in range(N)]
    if smooth and dtype != "F64":
        for c in range(D):
            centre = sum(k[j][c] for j in range(N)) / N
            for j in range(N):
                k[j][c] -= centre
    factor = (lambda x: float(np.float32(x))) if dtype != "F64" else float
    held = [kind(x) for x in q]
    if order == "QUERY":
        held = [kind(float(x) * factor(m)) for x in held]
    times = factor(1 / temperature if order == "QUERY" else m / temperature)
    wide = np.float64 if dtype == "F64" else np.float32
    scores = []
    for j in range(N):
        key = [kind(x) for x in k[j]]
        if dtype == "INT8":
            scores.append(int8_score(held, key))
            continue
        total = wide(0)
        for a, b in zip(held, key):
            total = total + wide(float(a)) * wide(float(b))
        scores.append(kind(float(total)))
    z = [kind(float(s) * times) for s in scores]
    if offset:
        z = [x + kind(offset / temperature) for x in z]
    inner = np.float32 if softmax_f32 and dtype != "F64" else kind
    return [float(x) for x in z], softmax(z, inner, kind)


def int8_score(q, k):
    def quantised(x):
        x = np.array([float(v) for v in x])
        scale = np.abs(x).max() / 127
        return np.rint(x / scale).astype(np.int32), np.float32(scale)
    (a, a_scale), (b, b_scale) = quantised(q), quantised(k)
    return np.float32(int((a * b).sum())) * a_scale * b_scale


CASES = [("F64", "PRODUCT", 0, 0, 2, 0, 0.3, 0.7, 3),
         ("F32", "PRODUCT", 0, 0, 2, 0, 0.3, 0.7, 3),
         ("F32", "QUERY", 0, 1, 2, 0, 0.3, 0.7, 0),
         ("BF16", "PRODUCT", 0, 0, 2, 0, 0.3, 0.7, 0),
         ("BF16", "QUERY", 1, 0, 2, 0, 0.3, 0.7, 100),
         ("F16", "PRODUCT", 0, 0, 2, 0, 0.3, 0.7, 0),
         ("F16", "PRODUCT", 1, 0, 2, 0, 0.3, 1, 500),
         ("F16", "QUERY", 0, 1, 2, 1, 0.3, 0.7, 0),
         ("F16", "PRODUCT", 0, 0, 300, 0, 0.001, 1, 0),
         ("F16", "QUERY", 0, 0, 300, 0, 0.001, 1, 0),
         ("INT8", "PRODUCT", 0, 0, 2, 1, 0.3, 0.7, 0),
         ("INT8", "QUERY", 0, 1, 2, 1, 0.3, 0.7, 3)]


def text(x):
    return "(double)NAN" if x != x else "(double)INFINITY" if x == math.inf else \
        "-(double)INFINITY" if x == -math.inf else x.hex()


print("/* imitate_reference.h - made by tests/reference/imitate_reference.py; of each case logits and weights. */")
print("enum { D = %d, N = %d };" % (D, N))
print("static const struct expected {\n    enum av_dtype dtype;\n    enum av_scale_order order;"
      "\n    int softmax_f32, smooth_k;\n    double std, mean, multiplier, temperature, offset;"
      "\n    double row[N][2];\n} expected[] = {")
for case in CASES:
    with np.errstate(all="ignore"):
        z, w = row(*case)
    print("    { AV_DTYPE_%s, AV_SCALE_%s, %d, %d, %g, %g, %g, %g, %g, {" % case)
    for a, b in zip(z, w):
        print("        { %s, %s }," % (text(a), text(b)))
    print("    } },")
print("};")
