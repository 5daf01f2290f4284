#!/usr/bin/python3
"""Prints tests/unit/train_variants_reference.h: training with variants by PyTorch, in double.

    /usr/bin/python3 tests/reference/train_variants_reference.py > tests/unit/train_variants_reference.h

Needs NumPy and PyTorch. Data and matrices are those of train_reference.py; each
variant is written down here as its paper has it, and its gradients are
autograd's: of singular values, too.
"""
import itertools
import math

import numpy as np
import torch

from train_reference import SMALL, batches, matrices, text


def unit(x):
    return x / x.norm(dim=-1, keepdim=True)


def rms(x, eps):
    return x / torch.sqrt((x**2).mean(-1, keepdim=True) + eps)


def layer_norm(x, eps):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], eps=eps)


def with_sink(z, logit):
    extra = torch.zeros_like(z[..., :1]) + logit
    return torch.softmax(torch.cat([z, extra], -1), -1)[..., :-1]


def sparsemax(z):
    s, _ = torch.sort(z, descending=True, dim=-1)
    k = torch.arange(1, z.shape[-1] + 1, dtype=z.dtype)
    inside = 1 + k * s > s.cumsum(-1)
    count = inside.sum(-1, keepdim=True)
    tau = ((s * inside).sum(-1, keepdim=True) - 1) / count
    return torch.clamp(z - tau, min=0)


def distance(n):
    i = torch.arange(n)
    return (i[:, None] - i[None, :]).abs()


class Variant:
    """Softmax; alpha is d_k^-1/2 with the scale on, and 1 with it off."""

    learned = ()  # further scalars that are learned, with their values at the start
    tau = None  # of qk_clip
    reparam = False

    def alpha(self, c, scaled):
        return c["d_k"] ** -0.5 if scaled else 1.0

    def multiplier(self, x):  # of what is learned
        return x

    def start(self, alpha):  # what is learned, from the multiplier
        return alpha

    def logits(self, q, k, alpha):
        return alpha * (q @ k.transpose(1, 2))

    def weights(self, z, scalars):
        return torch.softmax(z, -1)

    def run(self, q, k, alpha, scalars):
        """Weights, and all logits on the way, parts side by side."""
        z = self.logits(q, k, alpha)
        return self.weights(z, scalars), z[None]


class Softcap(Variant):
    def weights(self, z, scalars):
        return torch.softmax(1.5 * torch.tanh(z / 1.5), -1)


class Sink(Variant):
    learned = (0.5,)

    def weights(self, z, scalars):
        return with_sink(z, scalars[0])


class QkL2(Variant):
    def alpha(self, c, scaled):
        n = c["seq_len"]
        return math.log2(n * n - n) if scaled else 1.0

    def logits(self, q, k, alpha):
        return alpha * (unit(q) @ unit(k).transpose(1, 2))


class Swin2(QkL2):
    def alpha(self, c, scaled):
        return 10.0 if scaled else 1.0

    def multiplier(self, x):
        return torch.exp(torch.clamp(x, max=math.log(100)))

    def start(self, alpha):
        return math.log(alpha)


class QkLayernorm(Variant):
    def logits(self, q, k, alpha):
        return alpha * (layer_norm(q, 1e-6) @ layer_norm(k, 1e-6).transpose(1, 2))


class ScoreLayernorm(Variant):
    def alpha(self, c, scaled):
        return 1.0

    def logits(self, q, k, alpha):
        return alpha * layer_norm(q @ k.transpose(1, 2), 1e-5)


class Sparsemax(Variant):
    def weights(self, z, scalars):
        return sparsemax(z)


class Sigmoid(Variant):
    def weights(self, z, scalars):
        return torch.sigmoid(z - math.log(z.shape[-1]))


class Differential(Variant):
    def alpha(self, c, scaled):
        return (c["d_k"] / 2) ** -0.5 if scaled else 1.0

    def run(self, q, k, alpha, scalars):
        half = q.shape[-1] // 2
        z = torch.stack([self.logits(q[..., s], k[..., s], alpha) for s in (slice(0, half), slice(half, None))])
        p = torch.softmax(z, -1)
        return p[0] - 0.2 * p[1], z  # lambda = 0.8 - 0.6 exp(0)


class Alibi(Variant):
    def logits(self, q, k, alpha):
        return alpha * (q @ k.transpose(1, 2)) - 2.0**-8 * distance(q.shape[1])


class Ssmax(Variant):
    """What is learned is sigma."""

    def alpha(self, c, scaled):
        self.unit = (c["d_k"] ** -0.5 if scaled else 1.0) * math.log(c["seq_len"])
        return 0.43 * self.unit

    def multiplier(self, x):
        return self.unit * x

    def start(self, alpha):
        return alpha / self.unit


class SigmaReparam(Variant):
    reparam = True


class QkClip(Variant):
    tau = 0.5


CASES = [
    (Softcap(), "softcap", "softcap.c=1.5", dict(task="average", seed=2, init="unit")),
    (Sink(), "sink", "sink.logit=0.5", dict(task="recall", seed=3, init="xavier", learn_scale=1)),
    (QkL2(), "qk_l2", "", dict(task="reconstruct", seed=1, learn_scale=1)),
    (Swin2(), "swin2", "", dict(task="copy_previous", seed=4, learn_scale=1)),
    (QkLayernorm(), "qk_layernorm", "", dict(task="reconstruct", seed=5)),
    (ScoreLayernorm(), "score_layernorm", "", dict(task="average", seed=6, init="unit")),
    (Sparsemax(), "sparsemax", "", dict(task="copy_previous", seed=7, init="unit")),
    (Sigmoid(), "sigmoid", "", dict(task="average", seed=8, clip=0.02)),
    (Differential(), "differential", "", dict(task="reconstruct", seed=9, init="unit")),
    (Alibi(), "alibi", "", dict(task="copy_previous", seed=10)),
    (Ssmax(), "ssmax", "", dict(task="recall", seed=11, init="unit", learn_scale=1)),
    (SigmaReparam(), "sigma_reparam", "sigma_reparam.gamma=1.5", dict(task="reconstruct", seed=12, init="unit", lr=1e-3)),
    (QkClip(), "qk_clip", "qk_clip.tau=0.5", dict(task="average", seed=13, init="unit")),
]


def train(v, c, scaled, steps):
    """What is measured in each step, and the matrices in use after the last."""
    w = matrices(c)
    at = v.alpha(c, scaled)
    x_alpha = torch.tensor(v.start(at), dtype=torch.float64)
    scalars = [torch.tensor(s, dtype=torch.float64) for s in v.learned]
    gammas = [torch.tensor(1.5, dtype=torch.float64).requires_grad_() for _ in w] if v.reparam else []
    parameters = w + gammas
    if c.get("learn_scale"):
        parameters += [s.requires_grad_() for s in [x_alpha] + scalars]
    optimizer = torch.optim.Adam(parameters, lr=c["lr"])
    first = c["seq_len"] - 1 if c["task"] == "recall" else 0
    used = lambda: [g * m / torch.linalg.matrix_norm(m, 2) for g, m in zip(gammas, w)] if v.reparam else w
    rows = []
    for x, target in itertools.islice(batches(c), steps):
        optimizer.zero_grad()
        now = used()
        q, k, value = (x @ m for m in now[:3])
        q.retain_grad()
        k.retain_grad()
        alpha = v.multiplier(x_alpha)
        p, z = v.run(q, k, alpha, scalars)
        loss = ((p @ value @ now[3] - target)[:, first:] ** 2).mean()
        loss.backward()
        size = lambda ms: math.sqrt(sum(float((m.grad**2).sum()) for m in ms))
        with torch.no_grad():
            share = p.abs() / p.abs().sum(-1, keepdim=True)
            entropy = -torch.special.xlogy(share, share).sum(-1).mean() / math.log(c["seq_len"])
            d_q, d_k = q.grad[:, first:].norm(dim=-1).reshape(-1), k.grad.norm(dim=-1).reshape(-1)
            rows.append([
                loss.item(), size(parameters), size(w[:2]), entropy.item(), p.amax(-1).mean().item(),
                math.sqrt(z.var(-1).mean().item()), alpha.item(),
                d_q.mean().item(), d_q.quantile(0.5).item(), d_k.mean().item(), d_k.quantile(0.5).item(),
                q.mean().item(), q.var().item(), k.mean().item(), k.var().item(), p.sum(-1).mean().item(),
            ])
        if c.get("clip") and size(parameters) > c["clip"]:
            factor = c["clip"] / size(parameters)
            for m in parameters:
                m.grad *= factor
        optimizer.step()
        with torch.no_grad():
            if v.tau is not None and z.max() > v.tau:
                for m in w[:2]:
                    m *= math.sqrt(v.tau / z.max())
    return np.array(rows), [m.detach().numpy() for m in used()]


def main():
    print("/* train_variants_reference.h - training with variants by PyTorch in double:")
    print(" * tests/reference/train_variants_reference.py wrote it. */")
    print("/* clang-format off */")
    print("#ifndef TRAIN_VARIANTS_REFERENCE_H\n#define TRAIN_VARIANTS_REFERENCE_H\n")
    print('#include "attnviz/train.h"\n')
    print("/* Steps 1 and 10, scaled and unscaled, and the first entry of every matrix after them. */")
    print("static const struct {\n    const char *settings;\n    double steps[AV_TWINS][2][AV_TRAIN_FIELDS];")
    print("    double matrices[AV_TWINS][4];\n} variant_steps[] = {")
    for v, name, more, settings in CASES:
        c = dict(SMALL, **settings)
        runs = [train(v, c, scaled, 10) for scaled in (True, False)]
        words = [f"{k}={'on' if k == 'learn_scale' else x}" for k, x in c.items()]
        print('    { "' + " ".join(words + [f"variant={name}", more]).strip() + '", {')
        for rows, _ in runs:
            print("        {" + ",\n          ".join(text(rows[i]) for i in (0, 9)) + " },")
        print("      }, {", ", ".join(text([m[0, 0] for m in w]) for _, w in runs), "} },")
    print("};\n\n#endif")


if __name__ == "__main__":
    main()
