"""Writes tests/unit/given_reference.h: a head of scores, what their softmax comes
to, and what is left of it in narrower types and after dropout. Needs NumPy."""

import numpy as np

N = 12
i, j = np.mgrid[0:N, 0:N]
scores = ((7 * i + 5 * j) % 11 - 5) / 2 + (i == j)


def softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def bfloat16(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32).astype(float)


def entropy(w):
    p = np.abs(w) / np.abs(w).sum()
    p = p[p > 0]
    return -(p * np.log(p)).sum()


def numbers(rows, every):
    """Of rows that count, the weights of the keys that each sees; of every row."""
    live = [w for w in rows if np.abs(w).sum() > 0]
    return [
        len(rows),
        np.mean([w.sum() for w in rows]),
        max(abs(w.sum() - 1) for w in every),
        np.mean([entropy(w) for w in live]),
        np.mean([w.max() for w in rows]),
        np.mean([(w * (1 - w)).sum() for w in rows]),
        np.median([np.linalg.norm(np.diag(w) - np.outer(w, w)) for w in rows]),
    ]


def masked(w):
    return [w[r, : r + 1] for r in range(N)]


w = softmax(scores)
dropped = np.where((i + 2 * j) % 7 == 0, 0, w / 0.9)
silent = np.where((i == 3) | (i == 8), 0, w)
cut = np.where(j <= i, scores, -np.inf)
holed = [softmax(scores)[r] for r in range(N) if r != 4]
cases = [
    ("softmax", list(w)),
    ("bfloat16", list(bfloat16(w))),
    ("dropout", list(dropped)),
    ("zeros", list(silent)),
    ("masked", masked(w)),
    ("scores", list(w)),
    ("colder", list(softmax(scores / 0.5))),
    ("probed", list(softmax(scores + 2 * (j == 3)))),
    ("cut", [softmax(cut[r, : r + 1]) for r in range(N)]),
    ("holed", holed),
]

print("/* given_reference.h - made by tests/reference/given_reference.py. */")
print("#ifndef GIVEN_REFERENCE_H\n#define GIVEN_REFERENCE_H\n")
print("/* Rows that count, mean sum, largest |sum - 1|, mean entropy, mean largest weight,")
print(" * mean trace, median |J|_F. */")
print("static const struct given_reference {\n    const char *name;\n    double at[7];\n} given_reference[] = {")
for name, rows in cases:
    print('    { "%s", { %s } },' % (name, ", ".join("%.17g" % x for x in numbers([w for w in rows if len(w) > 1], rows))))
print("};\n\n#endif")
