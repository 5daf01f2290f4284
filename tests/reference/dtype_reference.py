#!/usr/bin/python3
"""Roundings: the table of tests/unit/test_dtype.c. Run: python3 dtype_reference.py

float16 and float32 are NumPy's and agree with exact rationals, which make bfloat16.

PyTorch makes a bfloat16 of a double by way of a float, which rounds twice; its
bfloat16 of a float is right, and is compared with the rationals here."""
from fractions import Fraction
import math

import numpy
import torch


def exact(x, digits, least, most):
    """x rounded to nearest, ties to even, by whole-number arithmetic."""
    if math.isnan(x) or math.isinf(x) or x == 0:
        return x
    f = abs(Fraction(x))
    e = least
    while Fraction(2) ** (e + 1) <= f and e <= most:
        e += 1
    unit = Fraction(2) ** (e - digits + 1)
    n, rest = divmod(f / unit, 1)
    n += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and n % 2 == 1)
    value = n * unit
    largest = (2 - Fraction(2) ** (1 - digits)) * Fraction(2) ** most
    return math.copysign(math.inf if value > largest else float(value), x)


FORMATS = {"f32": (24, -126, 127), "bf16": (8, -126, 127), "f16": (11, -14, 15)}

values = [0.0, -0.0, 1.0, -1.0, 1 / 3, math.pi, -1e-3, 0.1, 65504.0, 65519.99, 65520.0, -65520.0, 65536.0, 2049.0,
          2051.0, 2049.0000001, 6.103515625e-05, 6.1e-05, 5.9604644775390625e-08, 2.98023223876953125e-08,
          2.9802322387695316e-08, 8.940696716308594e-08, -1e-8, 257.0, 259.0, 257.00000000000006, 1 + 2.0**-8,
          1 + 2.0**-8 + 2.0**-40, 1 + 3 * 2.0**-8, (2 - 2.0**-7) * 2.0**127, (2 - 2.0**-8) * 2.0**127,
          (2 - 2.0**-8) * 2.0**127 - 2.0**75, 3.4028234663852886e+38, 3.4028235677973366e+38, 3.4028235677973362e+38,
          16777217.0, 16777219.0, 1.1754943508222875e-38, 1.1754942807573643e-38, 9.183549615799121e-41,
          4.591774807899561e-41, 4.591774807899562e-41, 1.401298464324817e-45, 7.006492321624085e-46,
          7.006492321624087e-46, 1e-300, 5e-324, 1e300, math.inf, -math.inf]

for x in values:
    with numpy.errstate(over="ignore", under="ignore"):
        f32, f16 = float(numpy.float32(x)), float(numpy.float16(numpy.float64(x)))
    assert f32 == exact(x, *FORMATS["f32"]) and f16 == exact(x, *FORMATS["f16"]), x
    bf16 = exact(x, *FORMATS["bf16"])
    assert float(torch.tensor(f32).to(torch.bfloat16)) == exact(f32, *FORMATS["bf16"]), x
    print("    { %s, %s, %s, %s }," % tuple("(double)INFINITY" if v == math.inf else "-(double)INFINITY"
                                          if v == -math.inf else v.hex() for v in (x, f32, bf16, f16)))
