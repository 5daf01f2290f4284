#!/usr/bin/env python3
"""Reference values for tests/unit/test_density.c, as C initialisers.

f(x) at 40 digits from the finite sum that K_nu is for even d (DLMF 10.49.12)
and from mpmath's Bessel function for odd d; bin means by mpmath's adaptive
(tanh-sinh) quadrature of that, split at 0. Needs python3-mpmath.

    tests/reference/density_reference.py > tables.txt
"""
from mpmath import mp, mpf

mp.dps = 40


def besselk(d, x):
    """K_nu(x), nu = (d - 1) / 2"""
    if d % 2 == 1:
        return mp.besselk((d - 1) // 2, x)
    n = d // 2 - 1
    term = total = mpf(1)
    for k in range(1, n + 1):
        term *= mpf((n + k) * (n - k + 1)) / (2 * k * x)
        total += term
    return mp.sqrt(mp.pi / (2 * x)) * mp.exp(-x) * total


def density(d, x):
    x, nu = abs(mpf(x)), mpf(d - 1) / 2
    if x == 0:
        return mp.inf if d == 1 else mp.gamma(nu) / (2 * mp.sqrt(mp.pi) * mp.gamma(mpf(d) / 2))
    return x**nu * besselk(d, x) / (mp.sqrt(mp.pi) * mp.gamma(mpf(d) / 2) * mpf(2) ** nu)


def bin_mean(d, factor, lo, hi):
    """Mean over [lo, hi] of the density of factor * score."""
    a, b = mpf(lo) / factor, mpf(hi) / factor
    scale = mp.sqrt(d)
    points = sorted({a, b} | {p for p in (-8 * scale, -scale, mpf(0), scale, 8 * scale) if a < p < b})
    return mp.quad(lambda x: density(d, x), points) / (mpf(hi) - mpf(lo))


def c(x):
    return mp.nstr(x, 17)


print("/* d, x, f(x) */")
for d in (1, 2, 3, 4, 7, 64, 1000, 4096):
    for x in ("1e-12", "1e-3", "0.5", "3", "60", "700", "2000"):
        f = density(d, mpf(x))
        if f > mpf("1e-300"):
            print("{ %d, %s, %s }," % (d, x, c(f)))
print("/* d, f(0) */")
for d in (2, 3, 4, 64, 4096):
    print("{ %d, 0, %s }," % (d, c(density(d, 0))))
print("/* d, factor, lo, hi, mean over [lo, hi] */")
for d, factor, lo, hi in (
    (1, 1, "-0.08", "0.08"),
    (1, 1, "0", "0.25"),
    (1, 1, "0.25", "0.5"),
    (1, 2, "-3", "1"),
    (1, 1, "1e-9", "2e-9"),
    (1, 1, "1e-9", "1.0000001e-9"),
    (1, 1, "-40", "-30"),
    (2, 1, "-0.1", "0.3"),
    (3, 0.5, "-0.1", "0.3"),
    (3, 1, "-100", "100"),
    (64, 0.125, "1", "1.1"),
    (64, 0.125, "-8", "-7"),
    (64, 1, "1", "1.000001"),
    (64, 1, "-1e-7", "1e-7"),
    (64, 1, "40", "50"),
    (4096, 0.015625, "0", "10.24"),
    (4096, 0.015625, "10.24", "20.48"),
    (4096, 0.015625, "-256", "256"),
    (4096, 1, "32", "32.5"),
    (4096, 1, "33", "33.0001"),
):
    print("{ %d, %g, %s, %s, %s }," % (d, factor, lo, hi, c(bin_mean(d, mpf(factor), mpf(lo), mpf(hi)))))
