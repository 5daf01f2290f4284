#!/usr/bin/env python3
"""Reference values for tests/unit/test_theory.c, as C initialisers.

Not the way of src/math/theory_table.c: with L(sigma) = E ln sum exp(sigma x_j),
Stein's identity gives E trace = L' / sigma and E entropy = L - sigma L', and

    L = integral over u of exp(-e^u) - phi(u)^n,  phi(u) = E exp(-exp(u + sigma x)),

here by plain sums in 80-bit arithmetic on grids several times finer than they
need be. Two keys and the limit of large sigma have one-dimensional integrals,
taken by mpmath. Needs python3-numpy and python3-mpmath.

    tests/reference/theory_reference.py > tables.txt
"""
import numpy as np
from mpmath import mp, mpf

mp.dps = 30
ld = np.longdouble
SMALL = 0.02  # below it the means are parabolas in sigma to 1e-7 of what they change by


def means(sigma, ns):
    """[(E entropy, E trace) for n in ns] when all logits have this sigma."""
    if sigma < SMALL:
        share = (sigma / SMALL) ** 2
        flat = [(np.log(ld(n)), 1 - 1 / ld(n)) for n in ns]
        bent = means(SMALL, ns)
        return [tuple(f + share * (b - f) for f, b in zip(*pair)) for pair in zip(flat, bent)]
    s = ld(sigma)
    h = ld(min(0.2, 0.6 * sigma))
    below, above = int((12 * s + 45) / h) + 1, int((12 * s + 6) / h) + 1
    k = int(12.5 * s / h) + 1
    u = np.arange(-below, above + 1).astype(ld) * h
    y = np.arange(-below - k, above + k + 1).astype(ld) * h
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        g = np.exp(-np.exp(y))
        slope = -np.exp(y) * g
    slope[~np.isfinite(slope)] = 0
    x = np.arange(-k, k + 1).astype(ld) * h / s
    normal = np.exp(-x * x / 2) / np.sqrt(2 * np.arccos(ld(-1))) * h / s
    phi = np.array([np.dot(normal, g[i : i + 2 * k + 1]) for i in range(len(u))])
    phi_sigma = np.array([np.dot(normal * x, slope[i : i + 2 * k + 1]) for i in range(len(u))])
    out = []
    for n in ns:
        power = phi ** (ld(n) - 1)
        big_l = h * np.sum(np.exp(-np.exp(u)) - power * phi)
        big_l1 = -h * ld(n) * np.sum(power * phi_sigma)
        out.append((big_l - s * big_l1, big_l1 / s))
    return out


def chi_means(sigma, d, n):
    """Averaged over r = |x| / sqrt(d), by Gauss-Legendre panels in r."""
    if d < 8:
        edges = [0, 0.01, 0.03, 0.1, 0.3, 0.6, 1, 1.5, 2.5, 4, 6.5]
    else:
        edges = sorted({max(0.0, 1 + e / np.sqrt(2 * d)) for e in range(-8, 9, 2)})
    points, weights = np.polynomial.legendre.leggauss(14)
    total = entropy = trace = ld(0)
    for a, b in zip(edges, edges[1:]):
        for p, w in zip(points, weights):
            r = ld((a + b) / 2 + (b - a) / 2 * p)
            density = ld(w * (b - a) / 2) * np.exp((d - 1) * np.log(r) - d * (r * r - 1) / 2)
            h, t = means(float(sigma * r), [n])[0]
            total, entropy, trace = total + density, entropy + density * h, trace + density * t
    return entropy / total, trace / total


def two_keys(sigma):
    def mean(f):
        cuts = [0] + [mpf(c) / sigma for c in (1, 5, 20, 60) if mpf(c) / sigma < 1] + [1, 4, 14]
        return 2 * mp.quad(lambda x: f(sigma * mp.sqrt(2) * x) * mp.npdf(x), cuts)

    def entropy(z):
        p = 1 / (1 + mp.exp(z))
        return mp.log1p(mp.exp(-z)) + z * p

    return mean(entropy), mean(lambda z: 2 * mp.exp(-z) / (1 + mp.exp(-z)) ** 2)


def limit(n):
    """sigma times the trace for large sigma."""
    f = lambda w: mp.ncdf(-w) ** (n - 2) * mp.npdf(w) ** 2
    return mpf(n) * (n - 1) * mp.quad(f, [-10, -6, -5, -4, -3, -2, 0, 3, 9])


if __name__ == "__main__":
    print("/* n, sigma, entropy, trace */")
    KEYS = [2, 3, 8, 64, 512, 1024, 131072]
    for sigma in (0.03, 0.25, 0.5, 1, 2, 3, 4, 5.5, 8, 16, 32, 128):
        for n, (h, t) in zip(KEYS, means(sigma, KEYS)):
            print("{ %d, %g, %.14g, %.14g }," % (n, sigma, h, t), flush=True)
    for sigma in (0.001, 1000, 1e6, 1e10):
        h, t = two_keys(mpf(sigma))
        print("{ 2, %g, %s, %s }," % (sigma, mp.nstr(h, 14), mp.nstr(t, 14)))
    print("/* n, limit of sigma trace */")
    for n in (2, 3, 32, 2048, 131072):
        print("{ %d, %s }," % (n, mp.nstr(limit(n), 14)))
    print("/* n, d, sigma, entropy, trace averaged over |q| */")
    for n, d, sigma in ((2, 1, 1), (32, 1, 20), (128, 3, 5), (1024, 16, 4), (64, 64, 8), (64, 64, 1), (8, 512, 22.627417)):
        h, t = chi_means(sigma, d, n)
        print("{ %d, %d, %.9g, %.12g, %.12g }," % (n, d, sigma, h, t), flush=True)
    print("/* causal: first length, last length, sigma, entropy, trace, entropy / ln n */")
    for lo, hi, sigma in ((2, 16, 3), (2, 300, 1), (2, 2048, 4), (1500, 2500, 8)):
        rows = means(sigma, range(lo, hi + 1))
        h, t = (sum(r[i] for r in rows) / len(rows) for i in (0, 1))
        norm = sum(r[0] / np.log(ld(n)) for n, r in zip(range(lo, hi + 1), rows)) / len(rows)
        print("{ %d, %d, %g, %.12g, %.12g, %.12g }," % (lo, hi, sigma, h, t, norm), flush=True)
