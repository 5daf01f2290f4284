#!/usr/bin/python3
"""Attention by every variant, in double: the table tests/unit/attend_reference.h.
Run: python3 attend_reference.py > ../unit/attend_reference.h

Written from the variants' formulas with 120 digits; derivatives are central
differences of them, so that saturated rows are as exact as any other.
"""
from mpmath import exp, floor, log, mp, mpf, sqrt, tanh

mp.dps = 120
STEP = mpf(10) ** -45


class Setup:
    """Sizes, and what holds for every variant tried with them."""

    def __init__(self, n_q, n_k, d, causal=False, scale=True, head=0, n_head=1, temperature=1.0, offset=0.0, key=0,
                 key_offset=0.0):
        self.__dict__.update(locals())


SETUPS = [
    Setup(4, 4, 6),
    Setup(3, 5, 4, causal=True, head=2, n_head=4, temperature=1.3, offset=0.3, key=1, key_offset=0.7),
    Setup(5, 5, 8, causal=True, scale=False, head=1, n_head=2, temperature=2.5),
    Setup(4, 4, 2, temperature=2.0),
]

# A variant, and its parameters where their defaults would show nothing.
CASES = [
    ("softmax", ""), ("none", ""), ("sqrt", ""), ("mup", "mup.factor=3"), ("fixed", "fixed.scalar=7"),
    ("inverse_layer", "inverse_layer.layer=3"), ("learned", "learned.gain=0.5 learned.gain_last=2"),
    ("mixed", "mixed.exponent=0.9 mixed.exponent_last=0.1 mixed.temperature=0.5 mixed.temperature_last=3"),
    ("logn", "logn.L=2"), ("ssmax", ""), ("yarn", ""), ("llama4", "llama4.floor=2 llama4.scale=0.7"),
    ("llama4", "llama4.floor=2 llama4.scale=0.7 llama4.start=9"),
    ("qk_l2", ""), ("qk_l2", "qk_l2.L=2.5"), ("qk_l2", "qk_l2.L=9"), ("qk_l2", "qk_l2.g=-3"), ("cosine", ""),
    ("swin2", ""), ("swin2", "swin2.tau=1.5"), ("swin2", "swin2.tau=5"),
    ("qk_rms", ""), ("qk_rms", "qk_rms.eps=0.3"), ("qk_layernorm", ""), ("qk_layernorm", "qk_layernorm.eps=0.3"),
    ("score_layernorm", "score_layernorm.eps=0.3"), ("score_batchnorm", ""),
    ("score_batchnorm", "score_batchnorm.eps=0.8"),
    ("softcap", ""), ("softcap", "softcap.c=1.5"), ("softmax1", ""), ("sink", "sink.logit=1.2"), ("sparsemax", ""),
    ("entmax15", ""), ("sigmoid", ""), ("sigmoid", "sigmoid.b=0.4"), ("clipped", ""),
    ("clipped", "clipped.eta=1.1 clipped.gamma=-0.05"), ("softpick", ""), ("softpick", "softpick.eps=0.1"),
    ("differential", ""), ("differential", "differential.depth=4"), ("differential", "differential.lambda=-0.7"),
    ("alibi", ""), ("window", "window.size=2"), ("lsh", "lsh.buckets=1"), ("linformer", "linformer.k=2"),
    ("linformer", "linformer.k=3"),
    ("mup+softcap", "softcap.c=2"), ("fixed+softcap", "softcap.c=3"), ("yarn+sink+window", "window.size=3"),
    ("qk_rms+sink+alibi", ""), ("ssmax+sparsemax", ""), ("logn+differential", "logn.L=2"), ("sqrt+differential", ""),
    ("qk_layernorm+differential", ""), ("qk_l2+differential", ""),
    ("score_layernorm+differential", "score_layernorm.eps=0.3"), ("qk_l2+linformer", "linformer.k=2"),
    ("cosine+entmax15", ""), ("score_layernorm+lsh", "lsh.buckets=1 score_layernorm.eps=0.3"),
    ("qk_rms+lsh", "lsh.buckets=1"), ("differential+lsh", "lsh.buckets=1"),
    ("score_layernorm+softmax1+linformer", "linformer.k=3 score_layernorm.eps=0.3"),
    ("learned+qk_l2+sigmoid+window", "window.size=2 learned.gain=-1.5 learned.gain_last=2"),
    ("llama4+alibi", "llama4.floor=2"), ("score_batchnorm+clipped+window", "window.size=3 clipped.gamma=-0.1"),
    ("swin2+softpick", ""), ("score_layernorm+sigmoid", "score_layernorm.eps=0.3"),
]


def entries(n, d, seed):
    """Multiples of 1/64 in [-2, 2), as the test has them."""
    out = []
    for _ in range(n * d):
        seed = (seed * 1103515245 + 12345) % 2**31
        out.append(mpf((seed >> 16) % 256) / 64 - 2)
    return [out[i * d:(i + 1) * d] for i in range(n)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def mean(x):
    return sum(x) / len(x)


def var(x):
    return mean([(v - mean(x)) ** 2 for v in x])


def softmax(z):
    e = [exp(v - max(z)) for v in z]
    return [v / sum(e) for v in e]


def unit(x):
    return [v / sqrt(dot(x, x)) for v in x]


def layernorm(x, eps):
    return [(v - mean(x)) / sqrt(var(x) + eps) for v in x]


def sparsemax(z):
    """tau by bisection, then once more from the support that it leaves."""
    low, high = max(z) - 1, max(z)
    for _ in range(400):
        tau = (low + high) / 2
        low, high = (tau, high) if sum(max(v - tau, 0) for v in z) > 1 else (low, tau)
    return [max(v - tau, 0) for v in z]


def entmax15(z):
    low, high = max(z) / 2 - 1, max(z) / 2
    for _ in range(400):
        tau = (low + high) / 2
        low, high = (tau, high) if sum(max(v / 2 - tau, 0) ** 2 for v in z) > 1 else (low, tau)
    return [max(v / 2 - tau, 0) ** 2 for v in z]


def derivative_norm(f, x):
    """|df/dx|_F, x and f(x) lists."""
    squares = mpf(0)
    for c in range(len(x)):
        up, down = (f([v + (sign * STEP if i == c else 0) for i, v in enumerate(x)]) for sign in (1, -1))
        squares += sum(((u - d) / (2 * STEP)) ** 2 for u, d in zip(up, down))
    return sqrt(squares)


class Attention:
    def __init__(self, setup, names, params):
        self.at, self.names, self.params = setup, names, params

    def of(self, name, default=None):
        return self.params.get(name, None if default is None else mpf(default))

    def has(self, *names):
        return any(name in self.names for name in names)

    # ---- queries and keys

    def normalised(self, x):
        if self.has("qk_l2", "cosine", "swin2"):
            return unit(x)
        if self.has("qk_rms"):
            return [v / sqrt(dot(x, x) / len(x) + self.of("qk_rms.eps", 1e-6)) for v in x]
        if self.has("qk_layernorm"):
            return layernorm(x, self.of("qk_layernorm.eps", 1e-6))
        return x

    def keys(self, q, k):
        """As constants; every row one column of the scores."""
        if self.has("lsh"):
            return [unit(self.normalised(x)) for x in q]
        k = [self.normalised(x) for x in k]
        if self.has("linformer"):
            b = int(self.of("linformer.k"))
            ends = [j * len(k) // b for j in range(b + 1)]
            k = [[mean(column) for column in zip(*k[ends[j]:ends[j + 1]])] for j in range(b)]
        return k

    # ---- which keys

    def mask_length(self, i):
        return max(0, min(self.at.n_k, i + 1 + self.at.n_k - self.at.n_q)) if self.at.causal else self.at.n_k

    def seen(self, i):
        length = self.mask_length(i)
        if self.has("linformer"):
            b = int(self.of("linformer.k"))
            return [j for j in range(b) if (j + 1) * self.at.n_k // b <= length]
        keys = range(length)
        if self.has("window"):
            keys = [j for j in keys if abs(i + self.at.n_k - self.at.n_q - j) < self.of("window.size")]
        return list(keys)

    # ---- the multiplier

    def replaced(self):
        at, d = self.at, mpf(self.at.d)
        if not at.scale:
            return mpf(1)
        share = mpf(at.head) / (at.n_head - 1) if at.n_head > 1 else 0
        if self.has("none"):
            return mpf(1)
        if self.has("sqrt"):
            return 1 / sqrt(d)
        if self.has("mup"):
            return self.of("mup.factor", 8) / d
        if self.has("fixed"):
            return 1 / sqrt(self.of("fixed.scalar", 256))
        if self.has("inverse_layer"):
            return 1 / (sqrt(d) * self.of("inverse_layer.layer"))
        if self.has("learned"):
            a, b = self.of("learned.gain"), self.of("learned.gain_last")
            return (a + share * (b - a)) / sqrt(d)
        if self.has("mixed"):
            a, b = self.of("mixed.exponent"), self.of("mixed.exponent_last")
            ta, tb = self.of("mixed.temperature"), self.of("mixed.temperature_last")
            return d ** -(a + share * (b - a)) / (ta * (tb / ta) ** share)
        if self.has("qk_l2"):
            length = self.of("qk_l2.L", at.n_k)
            auto = mpf(1) if length < 3 else log(length * length - length) / log(2)
            return self.params.get("qk_l2.g", auto)
        if self.has("cosine"):
            return mpf(10)
        if self.has("swin2"):
            return exp(min(self.params.get("swin2.tau", log(10)), log(100)))
        if self.has("score_layernorm", "score_batchnorm"):
            return mpf(1)
        return 1 / sqrt(d / 2) if self.has("differential") else 1 / sqrt(d)

    def multiplier(self, i, n):
        m = self.replaced()
        if self.has("logn"):
            m *= max(1, log(n) / log(self.of("logn.L", 64)))
        if self.has("ssmax"):
            m *= mpf(0.43) * log(n)
        if self.has("yarn"):
            m *= (log(4) / 10 + 1) ** 2
        if self.has("llama4"):
            position = self.of("llama4.start", 0) + i + self.at.n_k - self.at.n_q
            m *= 1 + self.of("llama4.scale", 0.1) * log(1 + floor((position + 1) / self.of("llama4.floor")))
        return m

    # ---- from scores to weights, of the keys seen

    def logits(self, s, i, keys, moments):
        at = self.at
        if self.has("score_layernorm"):
            s = layernorm(s, self.of("score_layernorm.eps"))
        if self.has("score_batchnorm"):
            s = [(v - moments[0]) / sqrt(moments[1] + self.of("score_batchnorm.eps", 1e-5)) for v in s]
        z = []
        for v, j in zip(s, keys):
            add = mpf(at.offset) + (mpf(at.key_offset) if j == at.key else 0)
            if self.has("alibi"):
                add -= mpf(2) ** (mpf(-8 * (at.head + 1)) / at.n_head) * abs(i + at.n_k - at.n_q - j)
            if self.has("lsh") and i == j:
                z.append(-50000 + add / mpf(at.temperature))
            else:
                z.append((self.multiplier(i, len(keys)) * v + add) / mpf(at.temperature))
        return z

    def bend(self, z):
        n = len(z)
        if self.has("softcap"):
            c = self.of("softcap.c", 50)
            return softmax([c * tanh(v / c) for v in z])
        if self.has("softmax1", "sink"):
            return softmax(z + [self.of("sink.logit", 0) if self.has("sink") else mpf(0)])[:-1]
        if self.has("sparsemax"):
            return sparsemax(z)
        if self.has("entmax15"):
            return entmax15(z)
        if self.has("sigmoid"):
            return [1 / (1 + exp(-(v + self.of("sigmoid.b", -log(n))))) for v in z]
        if self.has("clipped"):
            eta, gamma = self.of("clipped.eta", 1), self.of("clipped.gamma", mpf(-12) / n)
            return [min(max((eta - gamma) * v + gamma, 0), 1) for v in softmax(z)]
        if self.has("softpick"):
            e = [exp(v) - 1 for v in z]
            return [max(v, 0) / (sum(abs(u) for u in e) + self.of("softpick.eps", 1e-8)) for v in e]
        return softmax(z)

    def halves(self, x):
        return [x[:len(x) // 2], x[len(x) // 2:]] if self.has("differential") else [x]

    def together(self, z):
        """Weights from the logits of one half, or of both, end to end."""
        if not self.has("differential"):
            return self.bend(z)
        by_depth = mpf(0.8) - mpf(0.6) * exp(mpf(-0.3) * self.of("differential.depth", 0))
        share = self.params.get("differential.lambda", by_depth)
        first, second = (self.bend(half) for half in self.halves(z))
        return [a - share * b for a, b in zip(first, second)]

    def row(self, q, k, i):
        keys = self.seen(i)
        raw = [dot(q[r], k[j]) for r in range(self.at.n_q) for j in range(self.mask_length(r))]
        moments = mean(raw), var(raw)
        k_hat = [self.keys(q, k)[j] for j in keys]

        def scores(query):
            query = self.halves(self.normalised(query))
            return [dot(query[h], self.halves(key)[h]) for h in range(len(query)) for key in k_hat]

        def logits(s):
            return [z for half in self.halves(s) for z in self.logits(half, i, keys, moments)]

        s = scores(q[i])
        z = logits(s)
        w = self.together(z)
        digest = [sqrt(j + 2) for j in keys]
        return [len(keys), self.multiplier(i, len(keys)) / mpf(self.at.temperature), dot(digest, z), dot(digest, w),
                derivative_norm(self.together, z), derivative_norm(lambda x: self.together(logits(x)), s),
                derivative_norm(lambda x: self.together(logits(scores(x))), q[i])]


def text(x):
    return repr(x) if isinstance(x, int) else repr(float(x) if abs(x) > mpf(10) ** -60 else 0)


print("""/* attend_reference.h - rows of attention by every variant; made by attend_reference.py. */
#ifndef ATTEND_REFERENCE_H
#define ATTEND_REFERENCE_H

/* Of one row: keys seen, multiplier over temperature, sums over the keys seen of
 * sqrt(j + 2) times logit and times weight, |dw/dz|, |dw/ds|, |dw/dq|. */
struct reference_row {
    int keys;
    double multiplier, logits, weights, fro, d_scores, dq;
};

/* clang-format off */
static const struct reference {
    const char *variant, *assignments;
    int setup;
    struct reference_row rows[5];
} REFERENCE[] = {""")
for variant, assignments in CASES:
    for number, setup in enumerate(SETUPS):
        names = variant.split("+")
        if "lsh" in names and setup.n_q != setup.n_k:
            continue
        params = {a.split("=")[0]: mpf(float(a.split("=")[1])) for a in assignments.split()}
        a = Attention(setup, names, params)
        q, k = entries(setup.n_q, setup.d, 11 + number), entries(setup.n_k, setup.d, 77 + number)
        print(f'    {{ "{variant}", "{assignments}", {number}, {{')
        for i in range(setup.n_q):
            if a.seen(i):
                print("        { " + ", ".join(text(x) for x in a.row(q, k, i)) + " },")
            else:
                print("        { 0, 0, 0, 0, 0, 0, 0 },")
        print("    } },")
print("""};
/* clang-format on */

#endif""")
