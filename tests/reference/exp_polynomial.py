#!/usr/bin/python3
"""Coefficients of the exponential in src/math/kernel_softmax.c.

exp(r) = 1 + r + r^2 q(r) for |r| <= ln(2)/2, q of degree 9 with the smallest
largest relative error of exp(r) (Remez exchange in 60 digits), rounded to
doubles. Also splits ln 2 into a part whose products with 12-bit integers are
exact and the rest. Run: python3 exp_polynomial.py
"""
from mpmath import mp, mpf, exp, log, cos, pi, matrix, lu_solve

mp.dps = 60
DEGREE = 9
END = log(2) / 2 * mpf("1.0001")  # k = round(x / ln 2) may round the other way


def target(r):
    """(q(r) wanted, factor from an error of q to a relative one of exp)"""
    if abs(r) < mpf("1e-15"):
        return mpf(1) / 2 + r / 6, r * r
    return (exp(r) - 1 - r) / r**2, r * r / exp(r)


def error(c, r):
    want, factor = target(r)
    return (sum(ck * r**k for k, ck in enumerate(c)) - want) * factor


def solve(points):
    a, b = matrix(DEGREE + 2, DEGREE + 2), matrix(DEGREE + 2, 1)
    for i, r in enumerate(points):
        want, factor = target(r)
        for k in range(DEGREE + 1):
            a[i, k] = r**k * factor
        a[i, DEGREE + 1] = (-1) ** i
        b[i] = want * factor
    x = lu_solve(a, b)
    return [x[k] for k in range(DEGREE + 1)]


# The error has a double zero at 0; an even number of points keeps clear of it.
points = [END * cos(pi * (2 * i + 1) / (2 * (DEGREE + 2))) for i in range(DEGREE + 2)]
points = [r if abs(r) > END / 50 else END / 50 for r in points]
grid = [END * (2 * mpf(i) / 4000 - 1) for i in range(4001)]
for _ in range(30):
    c = solve(points)
    values = [(r, error(c, r)) for r in grid]
    runs = [[values[0]]]
    for v in values[1:]:
        if v[1] == 0:
            continue
        if (v[1] > 0) == (runs[-1][-1][1] > 0):
            runs[-1].append(v)
        else:
            runs.append([v])
    extremes = [max(run, key=lambda v: abs(v[1])) for run in runs]
    if len(extremes) < DEGREE + 2:
        break
    while len(extremes) > DEGREE + 2:
        extremes.pop(0 if abs(extremes[0][1]) < abs(extremes[-1][1]) else -1)
    new = [v[0] for v in extremes][::-1]
    if max(abs(p - q) for p, q in zip(new, points)) == 0:
        break
    points = new

rounded = [mpf(float(ck)) for ck in c]
print("largest relative error: %.3g (coefficients rounded to doubles: %.3g)"
      % (max(abs(error(c, r)) for r in grid), max(abs(error(rounded, r)) for r in grid)))
for k, ck in enumerate(rounded):
    print("c%d = %s  /* %.17g */" % (k, float(ck).hex(), float(ck)))
high = mpf(int(log(2) * mpf(2) ** 40)) / mpf(2) ** 40
print("ln2_high = %s, ln2_low = %s" % (float(high).hex(), float(log(2) - high).hex()))
