#!/usr/bin/python3
"""Divergences of heads in NumPy, for tests/unit/test_diversity.c.

Four query heads over two key heads, of sines that the test makes too. The
divergence is a difference of entropies here: heads differ by enough for that."""
import numpy as np

HEADS, K_HEADS, N_Q, N_K, D = 4, 2, 4, 5, 3
h, i, c = np.meshgrid(range(HEADS), range(N_Q), range(D), indexing="ij")
Q = 2 * np.sin(1 + 7 * h + 3 * i + 5 * c)
h, j, c = np.meshgrid(range(K_HEADS), range(N_K), range(D), indexing="ij")
K = 2 * np.cos(2 + 11 * h + 5 * j + 3 * c)
S = np.einsum("hid,hjd->hij", Q, np.repeat(K, HEADS // K_HEADS, axis=0)) / np.sqrt(D)


def softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(z):
    n = np.isfinite(z).sum(-1, keepdims=True)
    w = 1 / (1 + np.exp(-(z - np.log(n))))
    return w / w.sum(-1, keepdims=True)


def entropy(p):
    return -np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(-1)


def measure(bend, causal, factor=1.0, raised=0.0):
    z = S.copy()
    z[:, :, 2] += raised
    z *= factor
    if causal:
        z[:, np.arange(N_K)[None, :] > np.arange(N_Q)[:, None] + N_K - N_Q] = -np.inf
    p = bend(z)
    keys = np.isfinite(z).sum(-1)
    pairs, shared = [], []
    for a in range(HEADS):
        for b in range(a + 1, HEADS):
            pairs.append((entropy((p[a] + p[b]) / 2) - (entropy(p[a]) + entropy(p[b])) / 2).mean())
            shared.append((p[a].argmax(-1) == p[b].argmax(-1)).mean())
    return pairs, np.mean(shared), entropy(p).mean(-1), (entropy(p) / np.log(keys)).mean(-1), p.max(-1).mean(-1)


def numbers(v):
    return "{ " + ", ".join("%.15g" % x for x in v) + " }"


for name, bend, causal in (("softmax", softmax, False), ("softmax", softmax, True), ("sigmoid", sigmoid, False)):
    pairs, shared, own, norm, largest = measure(bend, causal)
    factors = [np.mean(measure(bend, causal, factor=10.0 ** (4 * n / 32 - 2))[0]) for n in (12, 20, 32)]
    raised = [np.mean(measure(bend, causal, raised=30 * n / 32)[0]) for n in (0, 4, 8)]
    print('    { "variant=%s", "mask=%s",' % (name, "causal" if causal else "none"))
    print("      %s, %.15g, %s, %s, %s," % (numbers(pairs), shared, numbers(own), numbers(norm), numbers(largest)))
    print("      %s, %s }," % (numbers(factors), numbers(raised)))
