#!/usr/bin/python3
"""Rows under every bend with 1500 digits: the table tests/unit/bend_reference.h.
Run: python3 bend_reference.py > ../unit/bend_reference.h

Weights come from the definitions. Sparsemax and entmax are found by trying all
supports and taking the feasible point that is best: nearest to the logits, or
largest in w.z plus Tsallis entropy. Jacobians are central differences of the
weights, which know no formula of any derivative.
"""
from itertools import combinations

from mpmath import exp, log, log10, mp, mpf, sqrt, tanh

mp.dps = 1500
STEP = mpf(10) ** -400
NOISE = mpf(10) ** -790  # the differences' error lies below
INF = float("inf")


def masked(z):
    return z == -INF


def softmax(z, p=None, extra=None):
    seen = [v for v in z if not masked(v)] + ([] if extra is None else [extra])
    top = max(seen)
    e = [mpf(0) if masked(v) else exp(v - top) for v in z]
    s = sum(e) + (exp(extra - top) if extra is not None else 0)
    return [v / s for v in e]


def softcap(z, p):
    return softmax([v if masked(v) else p["c"] * tanh(v / p["c"]) for v in z])


def sink(z, p):
    return softmax(z, extra=p["logit"])


def supports(z):
    seen = [j for j, v in enumerate(z) if not masked(v)]
    return [s for k in range(1, len(seen) + 1) for s in combinations(seen, k)]


def sparsemax(z, p):
    top = max(v for v in z if not masked(v))
    best, found = None, None
    for s in supports(z):
        tau = (sum(z[j] - top for j in s) - 1) / len(s)
        w = [z[j] - top - tau if j in s else mpf(0) for j in range(len(z))]
        if min(w) >= 0:
            distance = sum((w[j] - (z[j] - top)) ** 2 for j in range(len(z)) if not masked(z[j]))
            if best is None or distance < best:
                best, found = distance, w
    return found


def entmax15(z, p):
    top = max(v for v in z if not masked(v))
    best, found = None, None
    for s in supports(z):
        y = {j: (z[j] - top) / 2 for j in s}
        mean = sum(y.values()) / len(s)
        spread = sum((v - mean) ** 2 for v in y.values())
        if spread > 1:
            continue
        tau = mean - sqrt((1 - spread) / len(s))
        if min(y.values()) < tau:
            continue
        w = [(y[j] - tau) ** 2 if j in s else mpf(0) for j in range(len(z))]
        value = sum(w[j] * (z[j] - top) for j in s) + sum(v - v * sqrt(v) for v in w) * 4 / 3
        if best is None or value > best:
            best, found = value, w
    return found


def sigmoid(z, p):
    return [mpf(0) if masked(v) else 1 / (1 + exp(-v - p["b"])) for v in z]


def clipped(z, p):
    return [
        mpf(0) if masked(v) else min(max((p["eta"] - p["gamma"]) * w + p["gamma"], mpf(0)), mpf(1))
        for v, w in zip(z, softmax(z))
    ]


def softpick(z, p):
    e = [mpf(0) if masked(v) else exp(v) - 1 for v in z]
    d = sum(abs(v) for v in e) + p["eps"]
    return [max(v, mpf(0)) / d for v in e]


def jacobian(bend, z, p):
    """J[j][l]; a softpick logit of 0 counts as one just below."""
    at = [v - STEP * 10 if bend is softpick and v == 0 else v for v in z]
    columns = []
    for l, v in enumerate(at):
        if masked(v):
            columns.append([mpf(0)] * len(z))
            continue
        up = bend(at[:l] + [v + STEP] + at[l + 1 :], p)
        down = bend(at[:l] + [v - STEP] + at[l + 1 :], p)
        columns.append([(a - b) / (2 * STEP) for a, b in zip(up, down)])
    return [[columns[l][j] if abs(columns[l][j]) > NOISE else mpf(0) for l in range(len(z))] for j in range(len(z))]


def text(v):
    return "-INF" if v == -INF else "%.17g" % float(v)


def logarithm(v):
    return log10(v) if v > NOISE else -INF


def table_row(name, bend, z, p):
    z = [v if masked(v) else mpf(v) for v in z]
    p = {k: mpf(v) for k, v in p.items()}
    w = bend(z, p)
    j = jacobian(bend, z, p)
    seen = [i for i, v in enumerate(z) if not masked(v)]
    top = max(w[i] for i in seen)
    total = sum(abs(v) for v in w)
    q = [abs(v) / total for v in w if v != 0]
    entropy = -sum(v * log(v) for v in q)
    trace = sum(j[i][i] for i in range(len(z)))
    fro = sqrt(sum(v * v for row in j for v in row))
    argmax = next(i for i in seen if float(w[i]) == float(top))
    small = [1 - top, entropy, trace, fro]
    stats = [len(seen), argmax, max(z[i] for i in seen), top, sum(v * v for v in w), sum(w)] + small
    print('{ "%s %s", av_bend_%s, %d,' % (bend.__name__, name, bend.__name__, len(z)))
    print("  { %s }," % ", ".join("." + k + " = " + text(v) for k, v in p.items() or [("b", 0)]))
    for values in [z, w, stats + [logarithm(v) for v in small], [v for row in j for v in row]]:
        print("  { %s }," % ", ".join(text(v) for v in values))
    sums = [sum(row) for row in j]
    print("  { %s } }," % ", ".join(text(v if abs(v) > NOISE else 0) for v in sums))


M = -INF
ROWS = {
    "facts": [-2, 0, 0.5],
    "ordinary": [1, 0.5, -0.5, 0.125, -1],
    "tied": [2, -1, 2, 2, 0.5],
    "all equal": [0.75, 0.75, 0.75, 0.75],
    "masked": [0.5, M, 1.25, M, -0.75],
    "one key": [M, 1.5, M],
    "gap 40": [3, 43, 2.5, 3],
    "gap 700": [700, 0, -1, 0],
    "gap 1000": [-3, 0, 1000, -0.5],
    "huge": [1e300, -1e300, 1e300, 3],
    "all low": [-300, -310.5, -300.25, -700, -302],
    "small": [1e-9, -2e-9, 3e-10, -1e-12],
}
PARAMETERS = [
    (softmax, [{}]),
    (softcap, [{"c": 50}, {"c": 2}, {"c": 1e6}]),
    (sink, [{"logit": 0}, {"logit": 3.5}, {"logit": -650}]),
    (sparsemax, [{}]),
    (entmax15, [{}]),
    (sigmoid, [{"b": 0}, {"b": -1.5}]),
    (clipped, [{"eta": 1, "gamma": -0.125}, {"eta": 1, "gamma": -2.4}, {"eta": 1.0625, "gamma": 0}]),
    (softpick, [{"eps": 1e-8}, {"eps": 0}]),
]

if __name__ == "__main__":
    print("/* bend_reference.h - rows under every bend, printed by tests/reference/bend_reference.py. */")
    print("/* clang-format off */")
    for bend, choices in PARAMETERS:
        for p in choices:
            for name, z in ROWS.items():
                label = name + "".join(", %s %g" % (k, v) for k, v in p.items())
                table_row(label, bend, z, p)
