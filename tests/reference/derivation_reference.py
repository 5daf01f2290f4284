#!/usr/bin/env python3
"""Reference values for tests/unit/test_derivation.c, as C initialisers.

Brute force: queries and keys drawn by NumPy, thousands of matrices of scores
for each setting, their moments over a random unmasked pair and the variance
within rows, each with its standard error over 40 batches. Needs python3-numpy.

    tests/reference/derivation_reference.py > tables.txt
"""
import numpy as np

BATCHES, PER_BATCH = 40, 300

SETTINGS = [
    {},
    {"q_std": 2},
    {"k_std": 0.5},
    {"q_mean": 0.5},
    {"k_mean": 0.5},
    {"q_mean": 0.5, "k_mean": 0.5},
    {"q_mean": -1, "k_mean": 2, "q_std": 0.5},
    {"corr": 0.3},
    {"corr": -0.7},
    {"corr": 1},
    {"corr": 0.5, "q_mean": 0.5, "k_mean": 0.5},
    {"corr": 0.3, "q_mean": -0.5, "k_mean": 1, "q_std": 2},
    {"dist": "laplace"},
    {"dist": "rademacher"},
    {"dist": "uniform"},
    {"dist": "laplace", "corr": 0.6},
    {"dist": "rademacher", "corr": 0.6},
    {"dist": "rademacher", "q_mean": 0.5, "k_mean": -0.5},
    {"dist": "laplace", "k_mean": 0.5},
    {"mask": "causal"},
    {"mask": "causal", "corr": 0.5},
    {"mask": "causal", "corr": 0.5, "n_q": 8, "n_k": 20, "k_mean": 1},
    {"d_k": 4, "corr": 0.5, "n_q": 4, "n_k": 6},
    {"d_k": 1},
]

DRAW = {
    "normal": lambda r, s: r.standard_normal(s),
    "laplace": lambda r, s: r.laplace(0, 1 / np.sqrt(2), s),
    "rademacher": lambda r, s: r.choice([-1.0, 1.0], s),
    "uniform": lambda r, s: r.uniform(-np.sqrt(3), np.sqrt(3), s),
}


def moments(p, rng):
    """Raw moments 1 .. 4 of a pair and the variance within rows, of one batch."""
    n_q, n_k, d, c = p.get("n_q", 32), p.get("n_k", 32), p.get("d_k", 64), p.get("corr", 0)
    draw = DRAW[p.get("dist", "normal")]
    n = max(n_q, n_k)
    x = draw(rng, (PER_BATCH, n, d))
    y = c * x + np.sqrt(1 - c * c) * draw(rng, (PER_BATCH, n, d))
    q = p.get("q_mean", 0) + p.get("q_std", 1) * x[:, :n_q]
    k = p.get("k_mean", 0) + p.get("k_std", 1) * y[:, :n_k]
    s = q @ k.transpose(0, 2, 1)
    seen = np.ones((n_q, n_k), bool)
    if p.get("mask") == "causal":
        seen = np.arange(n_k) <= np.arange(n_q)[:, None] + n_k - n_q
    flat = s[:, seen]
    squares = freedom = 0
    for i in range(n_q):
        row = s[:, i, seen[i]]
        if row.shape[1] > 1:
            squares += ((row - row.mean(axis=1, keepdims=True)) ** 2).sum()
            freedom += PER_BATCH * (row.shape[1] - 1)
    return [(flat**j).mean() for j in (1, 2, 3, 4)] + [squares / freedom]


def quantities(m):
    m1, m2, m3, m4, row = m
    var = m2 - m1**2
    fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
    return np.array([m1, var, fourth / var**2 - 3, row])


def main():
    rng = np.random.default_rng(20240607)
    for p in SETTINGS:
        batches = np.array([moments(p, rng) for _ in range(BATCHES)])
        best = quantities(batches.mean(axis=0))
        # Jackknife over batches.
        rest = (batches.sum(axis=0) - batches) / (BATCHES - 1)
        values = np.array([quantities(m) for m in rest])
        se = np.sqrt((BATCHES - 1) / BATCHES * ((values - values.mean(axis=0)) ** 2).sum(axis=0))
        names = ", ".join(f'"{name}={value}"' for name, value in p.items())
        numbers = ", ".join(f"{v:.6g}, {e:.2g}" for v, e in zip(best, se))
        print(f"    {{ {{ {names + ', ' if names else ''}NULL }}, {{ {numbers} }} }},", flush=True)


main()
