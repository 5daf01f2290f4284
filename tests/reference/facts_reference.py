#!/usr/bin/env python3
"""Reference values for tests/unit/test_study_facts.c: claims' quantities in NumPy.

Given a query q, the scores of independent normal keys are N(0, |q|^2), and
|q|^2 is chi-squared with d_k degrees of freedom: 40,000 rows are drawn so,
each with keys of its own. Prints claim, setting, value, standard error.

    tests/reference/facts_reference.py > table.txt
"""
import numpy as np

rng = np.random.default_rng(2026)
ROWS = 40000


def rows(n, d, q_std=1.0, k_std=1.0, count=ROWS):
    norm = np.sqrt(rng.chisquare(d, size=(count, 1)))
    return q_std * k_std * norm * rng.standard_normal((count, n))


def softmax(z, dtype=np.float64):
    z = z.astype(dtype)
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)




def fro(p):
    """|diag(p) - p p^T|_F without cancellation: sum_j p_j^2 ((1 - p_j)^2 + sum of the other p_k^2)."""
    q = np.sort(p, axis=1)
    rest = np.empty_like(q)  # 1 - p_j as a sum
    squares = np.empty_like(q)
    total, total2 = q.sum(axis=1), (q * q).sum(axis=1)
    rest[:] = total[:, None] - q
    squares[:] = total2[:, None] - q * q
    rest[:, -1] = q[:, :-1].sum(axis=1)
    squares[:, -1] = (q[:, :-1] ** 2).sum(axis=1)
    return np.sqrt((q * q * (rest * rest + squares)).sum(axis=1))


def entropy_norm(p):
    return -(np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0)).sum(axis=1) / np.log(p.shape[1])


def say(claim, setting, values, f=np.mean):
    parts = [f(v) for v in np.array_split(np.asarray(values), 20)]
    print(f"{claim:16} {setting} {f(values):.6g} {np.std(parts, ddof=1) / np.sqrt(20):.1g}")


def share(n, d, limit, **k):
    return softmax(rows(n, d, **k)).max(axis=1) > limit


def log_median(v):
    return np.log10(np.median(v))


say("one-hot", 0, share(8, 64, .9))
say("one-hot", 1, share(128, 512, .9))
say("one-hot", 2, share(8, 4096, .9))
for i, n in enumerate((8, 128, 512)):
    say("weight-512", i, share(n, 512, .999))
for i, d in enumerate((64, 512)):
    z = rows(512, d)
    say("more-keys", i, (softmax(z).max(axis=1) > .9) * 1.0 - (softmax(z[:, :8]).max(axis=1) > .9))
for i, (times, n) in enumerate(((1, 32), (1, 512), (8, 32), (8, 512))):
    z = rows(n, 64) / 8 * times * np.sqrt(2 * np.log(n))
    say("freezing", i, softmax(z).max(axis=1), np.median)
say("unsaturated", 1, softmax(rows(32, 64, 8) / 8).max(axis=1) > .9)
say("unsaturated", 2, softmax(rows(32, 64, 4, 4) / 8).max(axis=1) > .9)
for i, d in enumerate((4, 64, 1024)):
    z = rows(32, d)
    say("exponent-1", i, entropy_norm(softmax(z / d)) - entropy_norm(softmax(z / np.sqrt(d))))
for i, n in enumerate((2, 8, 128)):
    say("gradient-512", i, fro(softmax(rows(n, 512))), log_median)
for i, d in enumerate((64, 512, 2048)):
    z = rows(32, d)
    a, b = fro(softmax(z / np.sqrt(d))), fro(softmax(z))
    pair = np.stack([a, b], axis=1)
    say("orders", i, pair, lambda v: log_median(v[:, 0]) - log_median(v[:, 1]))
    if d == 512:
        say("orders", 3, pair, lambda v: np.log10(v[:, 0].mean() / v[:, 1].mean()))
for i, d in enumerate((16, 64, 1024)):
    z = rows(32, d)
    pair = np.stack([fro(softmax(z / np.sqrt(d))) / np.sqrt(d), fro(softmax(z))], axis=1)
    say("score-gradient", i, pair, lambda v: log_median(v[:, 1]) - log_median(v[:, 0]))
for i, n in enumerate((2, 32, 128)):
    equal = fro(np.full((1, n), 1 / n))[0]
    say("equal-weights", i, fro(softmax(rows(n, 64) / 8 * 2)) / equal)
say("shift-99", 0, softmax(rows(8, 64) / 8).max(axis=1))
say("peak-4", 1, np.log(np.exp(rows(99, 64, count=4000) / 8).sum(axis=1)))
z = rows(8, 512)
p = softmax(z, np.float32).max(axis=1)
say("zero-gradient", 0, p * (np.float32(1) - p) == 0)
p = softmax(z).max(axis=1)
say("zero-gradient", 1, p * (1 - p) == 0)
swaps = []
for _ in range(200):
    q, k = rng.standard_normal((64, 64)), rng.standard_normal((64, 64))
    a, b = softmax(q @ k.T), softmax(q @ k.T / 8)
    swaps.append(np.mean((a[1:] > a[:-1]) != (b[1:] > b[:-1])))
say("order", 1, swaps)
