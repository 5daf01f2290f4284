#!/usr/bin/python3
"""Prints tests/unit/train_reference.h: training by PyTorch, in double precision.

    /usr/bin/python3 tests/reference/train_reference.py > tests/unit/train_reference.h

Needs NumPy and PyTorch: the gradients are autograd's, the optimisers torch's.
Data and matrices are drawn here anew, from
the definitions in the headers: Philox4x32-10 (Salmon et al. 2011), entries as
kernel_draw.c defines them, SplitMix64 for whole numbers.
"""
import itertools
import math

import numpy as np
import torch

torch.set_num_threads(1)
M64 = (1 << 64) - 1
f = np.float32

# ---- random numbers -----------------------------------------------------------


def philox(counter, key):
    """counter: four uint64 arrays that hold 32-bit words."""
    c = [np.asarray(x, np.uint64) for x in counter]
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0 = c[0] * np.uint64(0xD2511F53)
        p1 = c[2] * np.uint64(0xCD9E8D57)
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), p1 & low, (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), p0 & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return [x.astype(np.uint32) for x in c]


def minus_2_ln(w):
    u = w.astype(np.int32).astype(f) * f(2.0**-31) + f(2.0**-32)
    bits = u.view(np.int32)
    e = (bits - np.int32(0x3F3504F3)) >> 23
    x = (bits - (e << 23)).view(f) - f(1)
    x2 = x * x
    low = (x * f(1.00000727) - f(1.99999988)) + x2 * (x * f(0.499398172) - f(0.666701198))
    high = (x * f(0.345016599) - f(0.39800331)) + x2 * (x * f(0.202138036) - f(0.324451655))
    return (low + x2 * x2 * high) * x - e.astype(f) * f(1.38629436)


def direction(w):
    t = (w << np.uint32(2)).view(np.int32).astype(f) * f(2.0**-32)
    z = t * t
    s = (z * f(-0.64596349) + f(1.57079637)) + z * z * (z * f(-0.00460165786) + f(0.079680033))
    c = (z * f(-1.23369706) + f(1)) + z * z * (z * f(-0.0204083528) + f(0.25359863))
    sine = s * t
    cosine = np.where(w >> np.uint32(31) != 0, -c, c)
    exchange = (w >> np.uint32(30)) & np.uint32(1) != 0
    return np.where(exchange, sine, cosine), np.where(exchange, cosine, sine)


def draw(count, seed, tensor, row, normal=True):
    groups = (count + 63) // 64
    n = np.arange(16 * groups, dtype=np.uint64)
    one = np.ones_like(n)
    words = np.stack([w.reshape(groups, 16) for w in philox((n, one * np.uint64(row), one * np.uint64(tensor), 0 * n), seed)], 1)
    if normal:
        x = np.empty(words.shape, f)
        for pair in (0, 2):
            r = np.sqrt(minus_2_ln(words[:, pair] >> np.uint32(1)))
            a, b = direction(words[:, pair + 1])
            x[:, pair], x[:, pair + 1] = r * a, r * b
    else:
        x = (words | np.uint32(1)).view(np.int32).astype(f) * (f(2.0**-31) * f(1.73205081))
    return x.reshape(-1)[:count]


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & M64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & M64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & M64
    return x ^ (x >> 31)


def pick(seed, purpose, epoch, i, n):
    word = mix((mix((mix((mix(seed) + purpose) & M64) + epoch) & M64) + i) & M64)
    return ((word >> 32) * n) >> 32


# ---- tasks --------------------------------------------------------------------

TENSOR_CODE, TENSOR_MATRIX, TENSOR_DATA = 32, 33, 1 << 16
PICK_KEY, PICK_ORDER = 0, 1


def sequence(c, epoch, i):
    """Input and target of one sequence, float32 values."""
    n, d = c["seq_len"], c["d_model"]
    x = draw(n * d, c["seed"], TENSOR_DATA + epoch, i).reshape(n, d).copy()
    task = c["task"]
    if task == "reconstruct":
        target = x.copy()
    elif task == "average":
        target = np.repeat(x.astype(np.float64).mean(0, keepdims=True).astype(f), n, 0)
    elif task == "recall":
        key, half = pick(c["seed"], PICK_KEY, epoch, i, n - 1), d // 2
        target = np.zeros_like(x)
        target[-1, half:] = x[key, half:]
        x[-1, :half] = x[key, :half]
        x[-1, half:] = 0
    else:
        code = np.stack([draw(d, c["seed"], TENSOR_CODE, t) for t in range(n)])
        target = np.roll(x, 1, 0)
        x = x + code
    if c.get("layer_norm"):
        y = x.astype(np.float64)
        x = ((y - y.mean(1, keepdims=True)) / np.sqrt(y.var(1, keepdims=True) + 1e-5)).astype(f)
    return x, target


def batches(c):
    fresh = c["task"] != "reconstruct"
    n = c["sequences"]
    fixed = None if fresh else [sequence(c, 0, i) for i in range(n)]
    for epoch in range(c["epochs"]):
        order = list(range(n))
        if not fresh:
            for i in range(n - 1, 0, -1):
                j = pick(c["seed"], PICK_ORDER, epoch, i, i + 1)
                order[i], order[j] = order[j], order[i]
        for start in range(0, n, c["batch"]):
            part = [sequence(c, epoch, i) if fresh else fixed[i] for i in order[start : start + c["batch"]]]
            yield [torch.tensor(np.stack(z), dtype=torch.float64) for z in zip(*part)]


def matrices(c):
    d_model, d_k = c["d_model"], c["d_k"]
    std = {
        "pytorch": lambda i, o: 1 / math.sqrt(3 * i),
        "unit": lambda i, o: 1 / math.sqrt(i),
        "xavier": lambda i, o: math.sqrt(2 / (i + o)),
        "kaiming": lambda i, o: math.sqrt(2 / i),
    }[c["init"]]
    result = []
    for m in range(4):
        i, o = (d_model, d_k) if m < 3 else (d_k, d_model)
        w = np.stack([draw(o, c["seed"], TENSOR_MATRIX + m, r, c["init"] == "unit") for r in range(i)])
        result.append(torch.tensor(f(std(i, o)) * w, dtype=torch.float64).requires_grad_())
    return result


# ---- training -----------------------------------------------------------------


def train(c, scaled, steps=None):
    """A row of what is measured for every step, and the matrices after the last."""
    w = matrices(c)
    alpha = torch.tensor(c["d_k"] ** -0.5 if scaled else 1.0, dtype=torch.float64)
    parameters = list(w)
    if c.get("learn_scale"):
        alpha.requires_grad_()
        parameters.append(alpha)
    make = torch.optim.SGD if c.get("optimizer") == "sgd" else torch.optim.Adam
    optimizer = make(parameters, lr=c["lr"])
    first = c["seq_len"] - 1 if c["task"] == "recall" else 0
    rows = []
    for x, target in itertools.islice(batches(c), steps):
        optimizer.zero_grad()
        q, k, v = (x @ m for m in w[:3])
        q.retain_grad()
        k.retain_grad()
        logits = alpha * (q @ k.transpose(1, 2))
        p = torch.softmax(logits, -1)
        loss = ((p @ v @ w[3] - target)[:, first:] ** 2).mean()
        loss.backward()
        size = lambda ms: math.sqrt(sum(float((m.grad**2).sum()) for m in ms))
        with torch.no_grad():
            entropy = -(p * torch.log(p.clamp_min(1e-300))).sum(-1).mean() / math.log(c["seq_len"])
            d_q, d_k = q.grad[:, first:].norm(dim=-1).reshape(-1), k.grad.norm(dim=-1).reshape(-1)
            rows.append([
                loss.item(), size(parameters), size(w[:2]), entropy.item(), p.amax(-1).mean().item(),
                math.sqrt(logits.var(-1).mean().item()), alpha.item(),
                d_q.mean().item(), d_q.quantile(0.5).item(), d_k.mean().item(), d_k.quantile(0.5).item(),
                q.mean().item(), q.var().item(), k.mean().item(), k.var().item(),
            ])
        if c.get("clip"):
            # clip_grad_norm_ adds 1e-6 to the norm, which the definition does not
            norm = size(parameters)
            if norm > c["clip"]:
                for m in parameters:
                    m.grad *= c["clip"] / norm
        optimizer.step()
    return np.array(rows), [m.detach().numpy() for m in w]


SMALL = dict(seq_len=6, d_model=16, d_k=8, batch=8, sequences=20, epochs=4, lr=1e-2, init="pytorch")
STEPS = [
    dict(SMALL, task="reconstruct", seed=1),
    dict(SMALL, task="average", seed=2, init="unit"),
    dict(SMALL, task="recall", seed=3, init="xavier", learn_scale=1),
    dict(SMALL, task="copy_previous", seed=4, init="kaiming"),
    dict(SMALL, task="reconstruct", seed=5, layer_norm=1, clip=0.05, optimizer="sgd", lr=1.0),
    dict(SMALL, task="average", seed=6, learn_scale=1, clip=0.02, optimizer="sgd", lr=0.5),
    dict(SMALL, task="recall", seed=7, init="unit", clip=0.1, learn_scale=1, d_model=15, seq_len=5),
    dict(SMALL, task="copy_previous", seed=(1 << 64) - 1, layer_norm=1, init="unit"),
]
LONG = dict(task="reconstruct", seed=42, seq_len=8, d_model=32, d_k=16, batch=32, sequences=500, epochs=100, lr=1e-3, init="pytorch")
LONG_EPOCHS = (1, 2, 5, 10, 20, 50, 100)


def text(values):
    return "{ " + ", ".join(f"{v:.12g}" for v in values) + " }"


def settings(c):
    return '"' + " ".join(f"{k}={v}" for k, v in c.items()) + '"'


def main():
    print("/* train_reference.h - training by PyTorch in double: tests/reference/train_reference.py wrote it. */")
    print("/* clang-format off */")
    print("#ifndef TRAIN_REFERENCE_H\n#define TRAIN_REFERENCE_H\n")
    print('#include "attnviz/train.h"\n')
    print("enum { REFERENCE_STEPS = 10 };\n")
    print("/* Steps 1 to 10, scaled and unscaled, and the first entry of every matrix after them. */")
    print("static const struct {\n    const char *settings;\n    double steps[AV_TWINS][REFERENCE_STEPS][AV_TRAIN_FIELDS];")
    print("    double matrices[AV_TWINS][4];\n} reference_steps[] = {")
    for c in STEPS:
        on = {k: ("on" if k in ("learn_scale", "layer_norm") else v) for k, v in c.items()}
        runs = [train(c, scaled, 10) for scaled in (True, False)]
        print("    {", settings(on), ", {")
        for rows, _ in runs:
            print("        {" + ",\n          ".join(text(r) for r in rows) + " },")
        print("      }, {", ", ".join(text([m[0, 0] for m in w]) for _, w in runs), "} },")
    print("};\n")
    print("/* Means over epochs of 1600 steps in all, scaled and unscaled. */")
    print("static const char reference_long_settings[] =", settings(LONG) + ";")
    print("static const struct {\n    size_t epoch;\n    double means[AV_TWINS][AV_TRAIN_FIELDS];\n} reference_long[] = {")
    runs = [train(LONG, scaled)[0].reshape(LONG["epochs"], -1, 15).mean(1) for scaled in (True, False)]
    for epoch in LONG_EPOCHS:
        print("    {", epoch, ", {", ",\n        ".join(text(r[epoch - 1]) for r in runs), "} },")
    print("};\n\n#endif")


if __name__ == "__main__":
    main()
