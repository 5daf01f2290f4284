#!/usr/bin/env python3
"""Reference values for tests/unit/test_pair_sums.c, as C initialisers.

Moments, slope and jackknife errors by their definitions, each from the
numbers themselves and never from sums of powers, at 50 digits. Needs
python3-mpmath.

    tests/reference/pair_sums_reference.py > tables.txt
"""
from mpmath import mp, mpf

mp.dps = 50
GROUPS = 50
D = (1, 2, 5)


def series(pairs, offset):
    """Scores of each pair at the three d_k, doubles as the test makes them."""
    state, out = 1, []
    for _ in range(pairs):
        total, row = offset, []
        for c in range(max(D)):
            factors = []
            for _ in "qk":
                state = (state * 1664525 + 1013904223) % 2**32
                factors.append((state - 2**32 * (state >= 2**31)) * 2.0**-30)
            total += factors[0] * factors[1]
            if c + 1 in D:
                row.append(total)
        out.append(row)
    return out


def moments(x):
    n = mpf(len(x))
    mean = mp.fsum(x) / n
    m2, m4 = (mp.fsum((v - mean) ** k for v in x) for k in (2, 4))
    return mean, m2 / (n - 1), n * m4 / m2**2 - 3


def slope(variances):
    x, y = [mp.log(d) for d in D], [mp.log(v) for v in variances]
    x_mean, y_mean = mp.fsum(x) / len(x), mp.fsum(y) / len(y)
    return mp.fsum((a - x_mean) * (b - y_mean) for a, b in zip(x, y)) / mp.fsum((a - x_mean) ** 2 for a in x)


def estimates(rows):
    columns = [moments([mpf(v) for v in column]) for column in zip(*rows)]
    return [m for kind in zip(*columns) for m in kind] + [slope([m[1] for m in columns])]


def jackknife(rows):
    without = [estimates([row for r, row in enumerate(rows) if r % GROUPS != g]) for g in range(GROUPS)]
    out = []
    for values in zip(*without):
        mean = mp.fsum(values) / GROUPS
        out.append(mp.sqrt(mp.fsum((v - mean) ** 2 for v in values) * (GROUPS - 1) / GROUPS))
    return out


for pairs, offset in ((1003, 0.0), (1003, 1e6), (100, 0.0)):
    rows = series(pairs, offset)
    print("/* %d pairs, offset %g: means, variances, kurtoses of three, slope */" % (pairs, offset))
    for value, se in zip(estimates(rows), jackknife(rows)):
        print("{ %s, %s }," % (mp.nstr(value, 17), mp.nstr(se, 17)))
