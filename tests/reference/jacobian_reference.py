#!/usr/bin/python3
"""Jacobians of softmax rows with 900 digits: the tables of
tests/unit/test_jacobian.c and test_sensitivity.c. Run: python3 jacobian_reference.py

Entries come from their definition p_i ([i = j] - p_j), checked against central
differences of the softmax; the largest eigenvalue of J from bisection on the
number of eigenvalues above a guess (the signs in an LDL^T factorisation of
J - x I, Sylvester's law of inertia), which knows nothing of the secular
equation.
"""
from mpmath import mp, mpf, exp, log, log10

mp.dps = 900

ROWS = [
    ("ordinary", [1, 0.5, -0.5]),
    ("shifted", [100, 99.5, 98.5]),
    ("all equal", [0, 0, 0, 0]),
    ("four", [3, 1, -2, 0.5]),
    ("near tie", [40, 39.999, 0]),
    ("saturated", [20, 0, 0]),
    ("deep", [200, 0, -3]),
    ("last normal", [700, 0, 0]),
    ("beyond doubles", [1000, 0, 0]),
    ("two tie far up", [1000, 1000, 0]),
    ("two keys", [0.25, -40]),
    ("five spread", [-300, -310.5, -300.25, -700, -302]),
]


def softmax(z):
    top = max(z)
    e = [exp(mpf(v) - top) for v in z]
    s = sum(e)
    return [v / s for v in e]


def jacobian(z):
    p = softmax(z)
    n = len(z)
    return [[p[i] * (sum(p[:i] + p[i + 1:]) if i == j else -p[j]) for j in range(n)] for i in range(n)]


def differences(z):
    h = mpf(10) ** -400
    n = len(z)
    j = [[0] * n for _ in z]
    for c in range(n):
        up = softmax([mpf(v) + (h if k == c else 0) for k, v in enumerate(z)])
        down = softmax([mpf(v) - (h if k == c else 0) for k, v in enumerate(z)])
        for r in range(n):
            j[r][c] = (up[r] - down[r]) / (2 * h)
    return j


def above(j, x):
    """How many eigenvalues are greater than x."""
    a = [row[:] for row in j]
    n = len(a)
    count = 0
    for k in range(n):
        a[k][k] -= x
    for k in range(n):
        pivot = a[k][k]
        count += pivot > 0
        for r in range(k + 1, n):
            f = a[r][k] / pivot
            for c in range(k, n):
                a[r][c] -= f * a[k][c]
    return count


def spectral(j):
    hi = max(sum(abs(v) for v in row) for row in j) * mpf("1.0000001")
    lo = mpf(0)
    for _ in range(90):
        mid = (lo + hi) / 2
        if above(j, mid) > 0:
            lo = mid
        else:
            hi = mid
    return hi


def text(v):
    return "%.17g" % float(v)


print("/* name, n, logits, entries 00 01 10.. as value and log10, |J|_1 |J|_2 and their log10 */")
for name, z in ROWS:
    z = [mpf(v) for v in z]
    j = jacobian(z)
    d = differences(z)
    flat = [v for row in j for v in row]
    assert all(abs(a - b) < abs(a) * mpf(10) ** -20 + mpf(10) ** -850 for a, b in zip(flat, [v for r in d for v in r]))
    one = max(sum(abs(v) for v in row) for row in j)
    two = spectral(j)
    print('{ "%s", %d, { %s },' % (name, len(z), ", ".join(text(v) for v in z)))
    print("  { %s }," % ", ".join(text(v) for v in flat))
    print("  { %s }," % ", ".join(text(log10(abs(v))) for v in flat))
    print("  { %s, %s, %s, %s } }," % (text(one), text(two), text(log10(one)), text(log10(two))))

print("/* spikes: n, x, p, 1 - p, slope, and their log10: one key at x, n - 1 at 0 */")
for n, x in [(100, 0), (100, 4), (100, 10), (100, -30), (2, 0), (2048, 8), (3, 900), (3, -900), (7, 40)]:
    p = exp(mpf(x)) / (exp(mpf(x)) + n - 1)
    q = (n - 1) / (exp(mpf(x)) + n - 1)
    print("{ %d, %d, { %s } }," % (n, x, ", ".join(text(v) for v in [p, q, p * q, log10(p), log10(q), log10(p * q)])))
