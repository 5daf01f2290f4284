#!/usr/bin/env python3
"""Numbers of a head under a few variants, for tests/unit/test_model_variants.c.

Queries and keys are sines, so that the test can make the same ones. Weights
are computed from the formulas, row by row in float64, and every Jacobian by
PyTorch's automatic differentiation. Prints the rows of the test's table.
"""
import math

import torch

torch.set_default_dtype(torch.float64)
N_Q, N_K, D, T, OFFSET = 7, 9, 6, 0.8, 0.3
Q = torch.tensor([[1.5 * math.sin(0.7 * i + 1.3 * c + 0.1 * i * c) for c in range(D)] for i in range(N_Q)])
K = torch.tensor([[math.cos(0.9 * j + 0.4 * c + 0.17 * j * c) for c in range(D)] for j in range(N_K)])
ROOT = 1 / math.sqrt(D)


def softmax(z, _):
    return torch.softmax(z, 0)


def softcap(z, _, c=2.0):
    return torch.softmax(c * torch.tanh(z / c), 0)


def sink(z, _, logit=0.5):
    return torch.softmax(torch.cat([z, torch.tensor([logit])]), 0)[:-1]


def sigmoid(z, n):
    return torch.sigmoid(z - math.log(n))


def clipped(z, n):
    gamma = -0.4
    return torch.clip((1.1 - gamma) * torch.softmax(z, 0) + gamma, 0, 1)


def softpick(z, _):
    top = z.max().detach()
    grown, one = torch.exp(z - top), torch.exp(-top)
    return torch.relu(grown - one) / (torch.abs(grown - one).sum() + 1e-8 * one)


def on_support(z, weigh):
    """The largest support whose weights are all positive."""
    order = torch.argsort(z, descending=True)
    for k in range(len(z), 0, -1):
        chosen = order[:k]
        w = weigh(z[chosen])
        if w is not None:
            return torch.zeros_like(z).scatter(0, chosen, w)
    raise AssertionError


def sparsemax(z, _):
    def weigh(x):
        gap = x - (x.sum() - 1) / len(x)
        return gap if gap.min() > 0 else None
    return on_support(z, weigh)


def entmax15(z, _):
    def weigh(x):
        half = x / 2
        room = 1 - ((half - half.mean()) ** 2).sum()
        if room < 0:
            return None
        gap = half - half.mean() + torch.sqrt(room / len(x))
        return gap ** 2 if gap.min() > 0 else None
    return on_support(z, weigh)


def rms(x):
    return x / torch.sqrt((x * x).mean() + 1e-6)


def cosine(x):
    return x / x.norm()


def same(x):
    return x


def layernorm(s):
    return (s - s.mean()) / torch.sqrt(s.var(unbiased=False) + 1e-5)


# name, settings, multiplier(n), normalise, score normalisation, bias(i, j), bend, is (i, j) seen
SEEN = lambda i, j: j <= i + N_K - N_Q
NEAR = lambda i, j: SEEN(i, j) and abs(i + N_K - N_Q - j) < 4
CASES = [
    ("qk_rms+softcap", ["softcap.c=2"], lambda n: ROOT, rms, same, None, softcap, SEEN),
    ("ssmax+sink", ["sink.logit=0.5"], lambda n: ROOT * 0.43 * math.log(n), same, same, None, sink, SEEN),
    ("mup+sigmoid", ["mup.factor=3"], lambda n: 3 / D, same, same, None, sigmoid, SEEN),
    ("cosine+sparsemax", ["cosine.g=1"], lambda n: 1.0, cosine, same, None, sparsemax, SEEN),
    ("entmax15+window", ["window.size=4"], lambda n: ROOT, same, same, None, entmax15, NEAR),
    ("score_layernorm+clipped", ["clipped.eta=1.1", "clipped.gamma=-0.4"], lambda n: 1.0, same, layernorm, None,
     clipped, SEEN),
    ("softpick+alibi", [], lambda n: ROOT, same, same, lambda i, j: -(2.0 ** -8) * abs(i + N_K - N_Q - j), softpick,
     SEEN),
    ("logn", ["logn.L=3"], lambda n: ROOT * max(1, math.log(n) / math.log(3)), same, same, None, softmax, SEEN),
]


def measure(case):
    name, settings, multiplier, normalise, of_scores, bias, bend, seen = case
    rows, logits = [], []
    for i in range(N_Q):
        js = [j for j in range(N_K) if seen(i, j)]
        n = len(js)
        add = torch.tensor([bias(i, j) if bias else 0.0 for j in js])

        def scores(q):
            return torch.stack([normalise(q) @ normalise(K[j]) for j in js])

        def to_logits(s):
            return (multiplier(n) * of_scores(s) + add + OFFSET) / T

        def weigh(z):
            return bend(z, n)

        jac = torch.autograd.functional.jacobian
        s = scores(Q[i])
        z = to_logits(s)
        w = weigh(z)
        size = w.abs() / w.abs().sum()
        entropy = -(size[size > 0] * size[size > 0].log()).sum()
        rows.append([w.sum(), (w != 0).double().mean(), entropy / math.log(n), w.max(), jac(weigh, z).norm(),
                     jac(lambda x: weigh(to_logits(x)), s).norm(),
                     jac(lambda q: weigh(to_logits(scores(q))), Q[i]).norm()])
        logits.append(z)
    t = torch.stack([torch.stack(r) for r in rows])
    median = t.quantile(0.5, dim=0)
    z = torch.cat(logits)
    numbers = [t[:, 0].mean(), t[:, 1].mean(), t[:, 2].mean(), median[3], median[4], median[5], median[6], z.mean(),
               z.std()]
    assignments = "".join(f' "{x}",' for x in ["variant=" + name] + settings)
    print(f"    {{ {{{assignments} NULL }},\n      {{ " + ", ".join(f"{float(x):.15g}" for x in numbers) + " } },")


for case in CASES:
    measure(case)
