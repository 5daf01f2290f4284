#!/usr/bin/python3
"""Jensen-Shannon divergences with 60 digits (mpmath), for tests/unit/test_divergence.c."""
from mpmath import mp, mpf, log, exp

mp.dps = 60


def entropy(p):
    return -sum(x * log(x) for x in p if x > 0)


def jsd(p, q):
    p, q = [mpf(x) for x in p], [mpf(x) for x in q]
    return entropy([(a + b) / 2 for a, b in zip(p, q)]) - (entropy(p) + entropy(q)) / 2


def row(name, p, q):
    text = lambda v: "{ " + ", ".join(repr(float(x)) for x in v) + " }"
    # Of the doubles as the test has them, not made to sum to 1.
    p, q = [float(x) for x in p], [float(x) for x in q]
    print('    { "%s", %d, %s, %s, %s },' % (name, len(p), text(p), text(q), mp.nstr(jsd(p, q), 17)))


row("two", [0.25, 0.75], [0.5, 0.5])
row("three", [0.1, 0.2, 0.7], [0.6, 0.3, 0.1])
row("no key shared", [1, 0, 0], [0, 0.5, 0.5])
row("one shared", [0.5, 0.5, 0], [0, 0.5, 0.5])
row("nearly uniform", [0.25 + 2**-30, 0.25 - 2**-30, 0.25, 0.25], [0.25, 0.25, 0.25, 0.25])
row("closer still", [0.5 + 2**-50, 0.5 - 2**-50], [0.5, 0.5])
row("the same key", [1 - 2**-40, 2**-40, 0], [1 - 2**-40, 0, 2**-40])
row("tiny weights", [1, 1e-300, 3e-300], [1, 3e-300, 1e-300])
row("at the seam", [0.5, 0.5], [0.3, 0.7])
row("close to apart", [1 - 2**-52, 2**-52], [2**-52, 1 - 2**-52])
