#!/usr/bin/python3
"""Statistics of softmax rows with 1200 digits: the tables of
tests/unit/test_softmax.c. Run: python3 softmax_reference.py

Everything is computed from its definition, not by the formulas of rowstats.h;
only 1 - p and log p of the largest weight are taken as sums of positive terms,
since 1200 digits are not enough for their differences either.
"""
from mpmath import mp, mpf, exp, log, log10, sqrt

mp.dps = 1200
INF = float("inf")

# name, logits
LITERAL = [
    ("ordinary", [1, 0.5, -0.5]),
    ("shifted", [100, 99.5, 98.5]),
    ("all equal", [0, 0, 0, 0]),
    ("four", [3, 1, -2, 0.5]),
    ("near tie", [40, 39.999, 0]),
    ("saturated", [20, 0, 0]),
    ("deep", [200, 0, -3]),
    ("last normal", [700, 0, 0]),
    ("beyond doubles", [1000, 0, 0]),
    ("two, tie", [7.25, 7.25]),
    ("two", [0, 0.1]),
    ("tie and dust", [-3, -900, -3, -40.5]),
    ("tie of three far up", [1e30, -1e30, 1e30, 0, 1e30]),
    ("one far up", [0, 1e30, 3]),
    ("largest doubles", [1.7e308, -1.7e308, -1.7e308]),
    ("half the range", [1e308, 0, -1e308]),
    ("runner-up far down", [0, -1e308, -1.1e308]),
    ("masked", [-INF, 2, -INF, 1, -1, -INF]),
    ("masked, saturated", [-INF, 353.75, -0.3, -INF, -0.7]),
    ("gap not a double", [511.3, -200.00000000000003, -200.1]),
    ("denormal values", [0, -709.5, -711, -1500]),
    ("smallest denormals", [0.25, -743.5, -744]),
    ("half underflows", [0, -746, -745.9]),
    ("log of 1 - max near 0", [0.01, 0.005, 0, -0.01, 0.002]),
    ("tiny differences", [1, 1 + 2**-52, 1 - 2**-53]),
    ("denormal logits", [5e-324, 0, -5e-324]),
]

# name, keys, scale, boost of key 0, every which key is masked (0: none)
GENERATED = [
    ("17 spread", 17, 1.0, 0.0, 0),
    ("64 narrow", 64, 0.001, 0.0, 0),
    ("100 wide", 100, 40.0, 0.0, 0),
    ("257 masked", 257, 0.5, 0.0, 3),
    ("1024", 1024, 1.0, 0.0, 0),
    ("1025 saturated", 1025, 1.0, 150.0, 0),
    ("2048 narrow", 2048, 0.0625, 0.0, 0),
    ("2048 mixture", 2048, 3.0, 20.0, 5),
    ("2048 nearly gone", 2048, 0.25, 712.0, 0),
    ("2048 gone", 2048, 0.25, 3000.0, 0),
]


def generated(n, scale, boost, every):
    state, z = n, []
    for j in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        z.append(float(state >> 40) * 2.0**-20 * scale)
        if every and j % every == every - 1:
            z[j] = -INF
    z[0] += boost
    return z


def log1p(t):
    return t - t * t / 2 + t**3 / 3 if t < mpf(10) ** -500 else log(1 + t)


def stats(z):
    finite = [v for v in z if v != -INF]
    a = z.index(max(finite))
    e = [mpf(0) if v == -INF else exp(mpf(v) - mpf(z[a])) for v in z]
    rest = sum(e[:a] + e[a + 1:])
    total = 1 + rest
    p = [v / total for v in e]
    q = [rest / total if j == a else 1 - p[j] for j in range(len(z))]
    entropy = sum(
        p[j] * (log1p(rest) if j == a else log1p(rest) + mpf(z[a]) - mpf(z[j]))
        for j in range(len(z)) if z[j] != -INF)
    p2 = [v * v for v in p]
    sum_p2 = sum(p2)
    fro2 = sum(p2[j] * q[j] ** 2 for j in range(len(z)))  # the diagonal, then the rest
    others = sum(p2[:a] + p2[a + 1:])
    fro2 += 2 * p2[a] * others
    fro2 += others**2 - sum(v * v for j, v in enumerate(p2) if j != a)
    trace = sum(p[j] * q[j] for j in range(len(z)))
    values = [q[a], entropy, trace, sqrt(fro2)]
    return [len(finite), a, p[a], sum_p2] + values + [log10(v) for v in values]


def text(v):
    return str(v) if isinstance(v, int) else "%.17g" % float(v)


def c_number(v):
    return "-HUGE_VAL" if v == -INF else repr(float(v)).removesuffix(".0")


print("/* literal_rows: keys argmax max sum_p2, then 1-max entropy trace fro, then their log10 */")
for name, z in LITERAL:
    row = stats([float(v) for v in z])
    print('{ "%s", %d, { %s },\n { %s } },' % (name, len(z), ", ".join(c_number(v) for v in z), ", ".join(map(text, row))))
print("/* generated_rows */")
for name, n, scale, boost, every in GENERATED:
    row = stats(generated(n, scale, boost, every))
    print('{ "%s", %d, %s, %s, %d,\n { %s } },' % (name, n, c_number(scale), c_number(boost), every, ", ".join(map(text, row))))
