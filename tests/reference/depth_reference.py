#!/usr/bin/python3
"""Prints tests/unit/depth_reference.h: stacks of layers by PyTorch, in double precision.

    /usr/bin/python3 tests/reference/depth_reference.py > tests/unit/depth_reference.h

Needs NumPy and PyTorch: the gradients are autograd's. The numbers that a stack
starts from are drawn by train_reference.py, from their definitions.
"""
import math

import numpy as np
import torch

from train_reference import draw

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

INPUT, TOP, MATRIX = 40, 41, 64


def rows(count, length, seed, tensor, normal=True):
    x = [draw(length, seed, tensor, i, normal) for i in range(count)]
    return torch.tensor(np.array(x, np.float64))


def matrix(c, layer, which, fan_in, fan_out):
    std = {
        "unit": 1 / math.sqrt(fan_in),
        "xavier": math.sqrt(2 / (fan_in + fan_out)),
        "kaiming": math.sqrt(2 / fan_in),
        "pytorch": 1 / math.sqrt(3 * fan_in),
    }[c["init"]]
    w = std * rows(fan_in, fan_out, c["seed"], MATRIX + 8 * layer + which, c["init"] == "unit")
    return w.requires_grad_()


def size(*parts):
    return math.sqrt(sum((m.grad**2).sum().item() for m in parts))


def stack(c, scaled):
    n, d, d_k, count = c["tokens"], c["d_model"], c["d_k"], c["layers"]
    alpha = d_k ** -c["exponent"] if scaled else 1.0
    factor = 1 / math.sqrt(2 * count) if c["residual_scale"] == "on" else 1.0
    layer_norm = torch.nn.LayerNorm(d, eps=1e-5, elementwise_affine=False)

    def branch(x, f):
        y = factor * f(layer_norm(x) if c["norm"] == "pre" else x)
        y = x + y if c["residual"] == "on" else y
        return layer_norm(y) if c["norm"] == "post" else y

    x = rows(n, d, c["seed"], INPUT).requires_grad_()
    top = rows(n, d, c["seed"], TOP)
    inputs, matrices, told = [], [], []
    for layer in range(count):
        x.retain_grad()
        inputs.append(x)
        w = [matrix(c, layer, i, d, d_k) for i in range(3)] + [matrix(c, layer, 3, d_k, d)]
        seen = {}

        def attention(h):
            z = alpha * (h @ w[0]) @ (h @ w[1]).T
            p = torch.softmax(z, -1)
            centred = z - z.mean(1, keepdim=True)
            seen["std"] = math.sqrt((centred**2).sum().item() / (n * (n - 1)))
            seen["entropy"] = (-torch.special.xlogy(p, p).sum().item() / n) / math.log(n)
            return p @ (h @ w[2]) @ w[3]

        x = branch(x, attention)
        if c["mlp"] == "on":
            w += [matrix(c, layer, 4, d, 4 * d), matrix(c, layer, 5, 4 * d, d)]
            x = branch(x, lambda h: torch.nn.functional.gelu(h @ w[4]) @ w[5])
        u = x / x.norm(dim=1, keepdim=True)
        cosine = ((u @ u.T).sum().item() - n) / (n * (n - 1))
        matrices.append(w)
        told.append([cosine, math.sqrt((x**2).mean().item()), seen["std"], seen["entropy"]])
    x.backward(top)
    total = size(*[m for w in matrices for m in w])
    shortened = min(1, c["clip"] / total) if c["clip"] > 0 else 1
    table = []
    for w, at, rest in zip(matrices, inputs, told):
        norms = [size(w[0], w[1]), size(w[0]), size(w[1]), size(w[2]), size(w[3]), size(*w[4:]) if w[4:] else math.nan]
        table.append([shortened * v for v in norms] + [size(at)] + rest)
    return table, total


SMALL = dict(layers=3, tokens=5, d_model=12, d_k=7, exponent=0.5, init="unit", residual="off", norm="none")
SMALL.update(residual_scale="off", mlp="off", clip=0, seed=1)
STACKS = [
    dict(SMALL),
    dict(SMALL, residual="on", seed=2, init="pytorch"),
    dict(SMALL, residual="on", norm="pre", seed=3, init="xavier", tokens=6),
    dict(SMALL, residual="on", norm="post", seed=4, init="kaiming"),
    dict(SMALL, norm="pre", mlp="on", seed=5, exponent=0.7),
    dict(SMALL, norm="post", seed=6, clip=0.5),
    dict(SMALL, residual="on", norm="pre", residual_scale="on", mlp="on", seed=(1 << 64) - 1, layers=4, clip=2),
    dict(SMALL, residual="on", norm="post", residual_scale="on", mlp="on", seed=8, d_model=9, d_k=11),
    dict(SMALL, residual="on", mlp="on", seed=9, layers=2),
    dict(SMALL, residual="on", norm="pre", seed=42, layers=8, tokens=32, d_model=128, d_k=64),
]


def number(v):
    return "(double)NAN" if math.isnan(v) else f"{v:.12g}"


def main():
    print("/* depth_reference.h - stacks by PyTorch in double: tests/reference/depth_reference.py wrote it. */")
    print("/* clang-format off */")
    print("#ifndef DEPTH_REFERENCE_H\n#define DEPTH_REFERENCE_H\n")
    print('#include "attnviz/depth.h"\n\n#include <math.h>\n')
    print("enum { REFERENCE_LAYERS = 8 };\n")
    print("/* Without the scale and with it: the norm of all gradients, and every layer. */")
    print("static const struct {\n    const char *settings;\n    double norm[2];")
    print("    double layers[2][REFERENCE_LAYERS][AV_DEPTH_FIELDS];\n} reference_stacks[] = {")
    for c in STACKS:
        runs = [stack(c, scaled) for scaled in (False, True)]
        print('    { "' + " ".join(f"{k}={v}" for k, v in c.items()) + '",')
        print("      {", ", ".join(number(total) for _, total in runs), "}, {")
        for table, _ in runs:
            print("        {" + ",\n          ".join("{ " + ", ".join(map(number, r)) + " }" for r in table) + " },")
        print("      } },")
    print("};\n\n#endif")


if __name__ == "__main__":
    main()
