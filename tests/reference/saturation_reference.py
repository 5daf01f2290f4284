#!/usr/bin/env python3
"""Reference values for tests/unit/test_saturation.c, as C initialisers.

Mean normalised entropy and mean trace of rows of n sampled scores q . k, with
and without the scale 1/sqrt(d), at some temperature: the integrals of
theory_reference.py averaged over the length of q. Needs python3-numpy and
python3-mpmath.

    tests/reference/saturation_reference.py > table.txt
"""
import numpy as np

from theory_reference import chi_means

CASES = [
    # n, d, temperature
    (64, 64, 1),
    (64, 4, 1),
    (64, 1024, 1),
    (32, 16, 3),
    (512, 256, 0.5),
]

if __name__ == "__main__":
    for n, d, t in CASES:
        values = []
        for scale in (0, 1):
            sigma = (1 if scale else np.sqrt(d)) / t
            entropy, trace = chi_means(float(sigma), d, n)
            values.append("{ %.9g, %.9g }" % (entropy / np.log(n), trace))
        print("    { %d, %d, %g, { %s } }," % (n, d, t, ", ".join(values)))
