#!/usr/bin/env python3
"""Reference values for tests/unit/test_origin.c, as C initialisers.

What PyTorch does: nn.Linear as it is made, nn.init.xavier_uniform_,
nn.init.kaiming_uniform_ (nonlinearity "relu") and N(0, 1/fan_in), over inputs
with and without nn.LayerNorm, many drawings. For each: variance of w, mean
square of q, mean square of s for i != j, variance within rows of s, mean square
of s after QK-norm, each with its standard error over drawings. Then quantiles
of Student's t. Needs python3-torch and python3-mpmath.

    tests/reference/origin_reference.py > tables.txt
"""
import math

import torch
from mpmath import mp, mpf, betainc, erfc, findroot, sqrt

TOKENS, DRAWINGS = 16, 4000

SETTINGS = [
    {"d_model": 128, "d_k": 64},
    {"d_model": 64, "d_k": 128, "input_mean": 0.5},
    {"d_model": 32, "d_k": 16, "input_std": 2},
    {"d_model": 16, "d_k": 4, "input_mean": 1, "input_std": 0.01},
    {"d_model": 4, "d_k": 16, "input_std": 0.003},
    {"d_model": 2, "d_k": 8, "input_std": 0.01},
]

INITS = ["pytorch", "unit", "xavier", "kaiming"]


def matrix(init, fan_in, fan_out):
    linear = torch.nn.Linear(fan_in, fan_out, bias=False)
    w = linear.weight
    with torch.no_grad():
        if init == "unit":
            w.normal_(0, 1 / math.sqrt(fan_in))
        elif init == "xavier":
            torch.nn.init.xavier_uniform_(w)
        elif init == "kaiming":
            torch.nn.init.kaiming_uniform_(w, nonlinearity="relu")
    return w.detach().double()


def off_diagonal(s):
    n = s.shape[0]
    return s.flatten()[1:].view(n - 1, n + 1)[:, :-1].reshape(n, n - 1)


def drawing(p, init, norm):
    d, out = p["d_model"], p["d_k"]
    x = p.get("input_mean", 0) + p.get("input_std", 1) * torch.randn(TOKENS, d, dtype=torch.float64)
    if norm:
        x = torch.nn.functional.layer_norm(x, (d,))
    w_q, w_k = matrix(init, d, out), matrix(init, d, out)
    q, k = x @ w_q.T, x @ w_k.T
    s = off_diagonal(q @ k.T)
    q_hat = q / q.pow(2).mean(dim=1, keepdim=True).sqrt()
    k_hat = k / k.pow(2).mean(dim=1, keepdim=True).sqrt()
    normed = off_diagonal(q_hat @ k_hat.T)
    values = [w_q.pow(2).mean(), q.pow(2).mean(), s.pow(2).mean(), s.var(dim=1).mean(), normed.pow(2).mean()]
    return torch.stack(values)


def limit(freedom):
    """What |t| exceeds as rarely as a normal variable exceeds 4.5."""
    mp.dps = 30
    rare = erfc(mpf("4.5") / sqrt(2))
    tail = lambda t: betainc(mpf(freedom) / 2, 0.5, 0, freedom / (freedom + t * t), regularized=True) - rare
    return findroot(tail, (4.5, 4.5 * (1 + 40 / freedom**2)), solver="anderson", tol=1e-20)


def main():
    torch.manual_seed(20240607)
    for p in SETTINGS:
        sizes = f"{p['d_model']}, {p['d_k']}, {p.get('input_mean', 0)}, {p.get('input_std', 1)}"
        for norm in (0, 1):
            for i, init in enumerate(INITS):
                values = torch.stack([drawing(p, init, norm) for _ in range(DRAWINGS)])
                mean, se = values.mean(dim=0), values.std(dim=0) / math.sqrt(DRAWINGS)
                numbers = ", ".join(f"{v:.6g}, {e:.2g}" for v, e in zip(mean.tolist(), se.tolist()))
                print(f"    {{ {sizes}, {i}, {norm}, {{ {numbers} }} }},", flush=True)
    for n in (6, 8, 16, 32, 128):
        print(f"    {{ {n}, {float(limit(n - 1)):.6g} }},")


main()
