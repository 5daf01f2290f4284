#!/usr/bin/env python3
"""Layers of attention with exactly one fault each, or none, as .safetensors files.

usage: python3 tests/cli/make_faults.py DIRECTORY

Writes DIRECTORY/NAME.safetensors for every fault and the tensors that tell it, and
a line of DIRECTORY/list for each: NAME and the code that must be found (-: none).
Types, lengths, spreads and masks take turns. Needs NumPy. The numbers are the same
on every run.

A layer has 4 query heads on 2 key heads and is computed as a model of that type
computes it: queries and keys are rounded to the type, then their products, the
scores (times the multiplier, plus the mask), and, behind a softmax in single
precision, the weights.
"""
import json
import os
import struct
import sys

import numpy as np

HEADS, KEY_HEADS = 4, 2
LOWEST = {"F32": float(np.finfo(np.float32).min), "F16": -65504.0, "BF16": -(2.0 - 2.0**-7) * 2.0**127}  # finite


# ---- types ----------------------------------------------------------------------


def bfloat16(x):
    bits = np.asarray(x, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return np.where(np.isnan(x), np.float32(np.nan), rounded.astype(np.uint32).view(np.float32))


def rounded(x, dtype):
    x = np.asarray(x, np.float32)
    with np.errstate(over="ignore"):
        return x if dtype == "F32" else bfloat16(x) if dtype == "BF16" else x.astype(np.float16).astype(np.float32)


def entries(x, dtype):
    if dtype == "BF16":
        return (np.asarray(x, np.float32).view(np.uint32) >> 16).astype("<u2").tobytes()
    return np.asarray(x, {"F32": "<f4", "F16": "<f2"}[dtype]).tobytes()


def safetensors(path, tensors, dtype, metadata):
    header, data = {"__metadata__": metadata}, b""
    for name, x in tensors.items():
        part = entries(x, dtype)
        header[name] = {"dtype": dtype, "shape": list(x.shape), "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


# ---- a layer --------------------------------------------------------------------


def softmax(z, axis=-1):
    with np.errstate(all="ignore"):
        e = np.exp(z - z.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)


def rotated(x):
    """Rotary embedding of [heads, n, d] (Su et al. 2021)."""
    n, d = x.shape[1:]
    angle = np.arange(n)[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    even, odd = x[..., 0::2], x[..., 1::2]
    out = np.empty_like(x)
    out[..., 0::2] = even * np.cos(angle) - odd * np.sin(angle)
    out[..., 1::2] = even * np.sin(angle) + odd * np.cos(angle)
    return out


class Layer:
    """fault: a key of FAULTS; told: False: the file does not name the mask; open: there is none. std: of the
    logits within rows."""

    def __init__(self, fault, dtype="F32", n=64, d=32, std=1.0, causal=True, seed=0):
        causal = causal and not FAULTS[fault].get("open", False)
        self.fault, self.dtype, self.n, self.d, self.causal = FAULTS[fault], dtype, n, d, causal
        self.random = np.random.default_rng([seed, n, d, int(10 * std), causal])
        self.metadata = {"n_head": str(HEADS), "n_head_kv": str(KEY_HEADS)}
        if causal and self.fault.get("told", True):
            self.metadata["mask"] = "causal"
        self.entries(std)
        self.tensors = {}
        self.fault["make"](self, **self.fault.get("with", {}))

    def normal(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def entries(self, std):
        """Queries that look for the key before them and the first, on entries of a few larger dimensions."""
        size = 1 + 2 * (np.arange(self.d) % 8 == 3)
        k = self.normal(KEY_HEADS, self.n, self.d) * size + 0.3 * self.normal(KEY_HEADS, 1, self.d)
        q = self.normal(HEADS, self.n, self.d)
        before = np.roll(k, 1, axis=1).repeat(HEADS // KEY_HEADS, 0)
        q = q + 0.2 * before + 0.2 * k[:, :1].repeat(HEADS // KEY_HEADS, 0)
        self.multiplier = self.fault.get("multiplier", lambda d: d**-0.5)(self.d)
        z = self.multiplier * q @ k.repeat(HEADS // KEY_HEADS, 0).transpose(0, 2, 1)
        spread = z.std(axis=-1).mean()
        self.q = rounded(q * np.sqrt(std / spread), self.dtype)
        self.k = rounded(k * np.sqrt(std / spread), self.dtype)

    def keys_of_heads(self):
        return self.k.repeat(HEADS // KEY_HEADS, 0)

    def logits(self, q=None, k=None):
        q, k = self.q if q is None else q, self.keys_of_heads() if k is None else k
        return rounded(np.float32(self.multiplier) * (q @ k.transpose(0, 2, 1)), self.dtype)

    def hidden(self):
        return np.triu(np.full((self.n, self.n), self.causal), 1)

    def filling(self, fill):
        return np.float32(LOWEST[self.dtype] if fill == "lowest" else fill)

    def masked(self, z, fill=-np.inf):
        return rounded(np.where(self.hidden(), fill, z), self.dtype)

    def give(self, weights, scores=None):
        self.tensors = {"q": self.q, "k": self.k, "weights": rounded(weights, self.dtype)}
        if scores is not None:
            self.tensors["scores"] = scores


# ---- faults ---------------------------------------------------------------------


def plain(layer, fill=-np.inf, add=False):
    z = layer.logits()
    z = layer.masked(z, z + layer.filling(fill) if add else layer.filling(fill))
    layer.give(softmax(z), z)


def padded(layer, fill=-np.inf, left=False):
    """Padding keys are hidden from every row; left: so that the first rows see none."""
    fill, pad = layer.filling(fill), layer.n // 4
    z = layer.masked(layer.logits(), fill)
    z[..., slice(0, pad) if left else slice(layer.n - pad, layer.n)] = rounded(fill, layer.dtype)
    layer.give(softmax(z), z)


def padded_twice(layer):
    """Left padding and a causal mask are added, each as the lowest number: together -infinity."""
    fill, padding = layer.filling("lowest"), np.arange(layer.n) < layer.n // 4
    with np.errstate(over="ignore"):
        z = layer.logits() + fill * layer.hidden() + fill * padding
    layer.give(softmax(rounded(z, layer.dtype)))


def banded(layer, lowest, highest):
    """Keys of i + lowest .. i + highest."""
    offset = np.arange(layer.n)[None, :] - np.arange(layer.n)[:, None]
    z = rounded(np.where((offset >= lowest) & (offset <= highest), layer.logits(), layer.filling("lowest")), layer.dtype)
    layer.give(softmax(z), z)


def dropout(layer, p):
    w = softmax(layer.masked(layer.logits()))
    keep = layer.random.random(w.shape) >= p
    layer.give(rounded(w, layer.dtype) * keep / np.float32(1 - p))


def wrong_axis(layer):
    layer.give(softmax(layer.masked(layer.logits()), axis=-2))


def twice(layer, masked_again=True):
    w = rounded(softmax(layer.masked(layer.logits())), layer.dtype)
    layer.give(softmax(layer.masked(w) if masked_again else w))


def averaged(layer, batch=False):
    w = softmax(layer.masked(layer.logits())).mean(0)
    layer.give(w[None] if batch else w)


def over_heads(layer, fill=None):
    z = layer.logits()
    layer.give(softmax(z if fill is None else layer.masked(z, layer.filling(fill)), axis=0))


def swapped(layer):
    """As many key heads as query heads, and the names of the two exchanged."""
    k = layer.keys_of_heads()
    plain(layer)
    layer.metadata["n_head_kv"] = str(HEADS)
    layer.tensors["q"], layer.tensors["k"] = k, layer.q


def padded_queries(layer, fill):
    """The last quarter, keys and queries; a row of it has one weight for all keys."""
    z, first = layer.logits(), layer.n - layer.n // 4
    z[..., first:] = z[..., first:, :] = rounded(layer.filling(fill), layer.dtype)
    layer.give(softmax(z), z)


def not_finite(layer, tensor, value, at):
    plain(layer)
    x = layer.tensors[tensor].copy()
    x[at] = value
    layer.tensors[tensor] = x


def poisoned(layer, tensor):
    """A NaN among the queries or keys, and what a model makes of it."""
    x = layer.q if tensor == "q" else layer.k
    x[0, 5, 3] = np.nan
    plain(layer)


def unmasked(layer):
    z = layer.logits()
    layer.give(softmax(z), z)


def other_heads(layer):
    z = layer.masked(layer.logits(k=layer.k[np.arange(HEADS) % KEY_HEADS]))
    layer.give(softmax(z), z)


def other_keys(layer):
    k = layer.k
    plain(layer)
    layer.tensors["k"] = rounded(layer.normal(*k.shape) * k.std(), layer.dtype)


def rope_of_queries(layer):
    """Weights of queries and keys that are both rotated; the keys are given as they were before."""
    q = rounded(rotated(layer.q), layer.dtype)
    z = layer.masked(layer.logits(q, rotated(layer.keys_of_heads())))
    layer.q = q
    layer.give(softmax(z), z)


def alibi(layer):
    """Linear biases (Press et al. 2022)."""
    bias = np.arange(layer.n)[None, :] - np.arange(layer.n)[:, None]
    slopes = 2.0 ** (-8 * np.arange(1, HEADS + 1) / HEADS)
    z = layer.masked(layer.logits() - np.float32(slopes[:, None, None]) * np.abs(bias))
    layer.give(softmax(z), z)


def softcap(layer, cap):
    z = layer.masked(np.float32(cap) * np.tanh(layer.logits() / np.float32(cap)))
    layer.give(softmax(z), z)


def overflow(layer):
    size = np.sqrt(3e5 / np.abs(layer.q @ layer.keys_of_heads().transpose(0, 2, 1)).max())
    layer.q, layer.k = rounded(layer.q * size, layer.dtype), rounded(layer.k * size, layer.dtype)
    plain(layer)


def negative(layer):
    layer.give(layer.logits())


ALL = ("qkw", "w", "qks", "s")
OTHER = {"qkw": "mask_other", "w": None, "qks": None, "s": None}
LAST = (HEADS - 1, 2, 1)

# make, with: what makes it. multiplier: of q.k, if not 1/sqrt(d_k). codes: what must be found with these
# tensors kept (qk, w weights, s scores; None: nothing; ?: if a masked key has a weight that the type holds).
FAULTS = {
    "healthy": {"make": plain, "codes": dict.fromkeys(ALL + ("qk",))},
    "mask_1e4": {"make": plain, "with": {"fill": -1e4}, "codes": dict.fromkeys(ALL)},
    "mask_65504": {"make": plain, "with": {"fill": -65504}, "codes": dict.fromkeys(ALL)},
    "mask_min": {"make": plain, "with": {"fill": "lowest"}, "codes": dict.fromkeys(ALL)},
    "padded": {"make": padded, "codes": OTHER},
    "padded_1e4": {"make": padded, "with": {"fill": -1e4}, "codes": OTHER},
    "off_by_one": {"make": banded, "with": {"lowest": -1000, "highest": 1}, "open": True, "codes": OTHER},
    "off_by_one_told": {"make": banded, "with": {"lowest": -1000, "highest": 1}, "codes": {"qkw": "masked_weight"}},
    "strict": {"make": banded, "with": {"lowest": -1000, "highest": -1}, "told": False, "codes": OTHER},
    "upside_down": {"make": banded, "with": {"lowest": 0, "highest": 1000}, "open": True, "codes": OTHER},
    "window": {"make": banded, "with": {"lowest": -5, "highest": 0}, "codes": OTHER},
    "rope_on_both": {"make": lambda layer: (setattr(layer, "q", rounded(rotated(layer.q), layer.dtype)),
                                            setattr(layer, "k", rounded(rotated(layer.k), layer.dtype)),
                                            plain(layer)), "codes": dict.fromkeys(ALL)},
    "scale_missing": {"make": plain, "multiplier": lambda d: 1.0,
                      "codes": {"qkw": "scale_missing", "qks": "scale_missing", "w": None, "s": None}},
    "scale_twice": {"make": plain, "multiplier": lambda d: 1.0 / d,
                    "codes": {"qkw": "scale_twice", "qks": "scale_twice", "w": None, "s": None}},
    "scale_d_model": {"make": plain, "multiplier": lambda d: (HEADS * d) ** -0.5,
                      "codes": {"qkw": "scale_d_model", "qks": "scale_d_model", "w": None, "s": None}},
    "scale_inverted": {"make": plain, "multiplier": lambda d: d**0.5,
                       "codes": {"qkw": "scale_inverted", "qks": "scale_inverted", "w": None, "s": None}},
    "temperature": {"make": plain, "multiplier": lambda d: d**-0.5 / 1.7,
                    "codes": {"qkw": "scale_other", "qks": "scale_other", "w": None, "s": None}},
    "dropout_10": {"make": dropout, "with": {"p": 0.1}, "codes": {"qkw": "dropout", "w": "dropout"}},
    "dropout_50": {"make": dropout, "with": {"p": 0.5}, "codes": {"qkw": "dropout", "w": "dropout"}},
    "wrong_axis": {"make": wrong_axis, "codes": {"qkw": "softmax_wrong_axis", "w": "softmax_wrong_axis"}},
    "twice": {"make": twice, "codes": {"qkw": "softmax_twice", "w": "softmax_twice"}},
    "twice_unmasked": {"make": twice, "with": {"masked_again": False},
                       "codes": {"qkw": "softmax_twice", "w": "softmax_twice"}},
    "averaged": {"make": averaged, "codes": {"qkw": "averaged_over_heads", "w": None}},
    "averaged_missing": {"make": averaged, "multiplier": lambda d: 1.0, "codes": {"qkw": "averaged_over_heads", "w": None}},
    "averaged_batch": {"make": averaged, "with": {"batch": True}, "codes": {"qkw": "averaged_over_heads", "w": None}},
    "mask_100": {"make": plain, "with": {"fill": -100}, "codes": {"qkw": "mask_leak?", "w": "mask_leak?"}},
    "mask_10": {"make": plain, "with": {"fill": -10}, "codes": {"qkw": "mask_leak?", "w": "mask_leak?"}},
    "mask_10_added": {"make": plain, "with": {"fill": -10, "add": True},
                      "codes": {"qkw": "mask_leak?", "w": "masked_weight?"}},
    "untold_10": {"make": plain, "with": {"fill": -10}, "told": False, "codes": {"qkw": "mask_leak?"}},
    "untold_20": {"make": plain, "with": {"fill": -20}, "told": False, "codes": {"qkw": "mask_leak?"}},
    "untold_10_added": {"make": plain, "with": {"fill": -10, "add": True}, "told": False,
                        "codes": {"qkw": "mask_leak?"}},
    "untold_padded": {"make": padded, "with": {"fill": -12}, "told": False, "open": True, "codes": {"qkw": None}},
    "over_heads": {"make": over_heads, "open": True,
                   "codes": {"qkw": "softmax_wrong_axis", "w": "softmax_wrong_axis"}},
    "over_heads_masked": {"make": over_heads, "with": {"fill": "lowest"},
                          "codes": {"qkw": "softmax_wrong_axis", "w": "softmax_wrong_axis"}},
    "swapped": {"make": swapped, "codes": {"qkw": "weights_not_of_qk", "qks": "weights_not_of_qk"}},
    "no_key_untold": {"make": padded_queries, "with": {"fill": -1e4}, "open": True,
                      "codes": {"qkw": "rows_without_key"}},
    "unmasked": {"make": unmasked, "codes": {"qkw": "masked_weight", "w": "masked_weight"}},
    "no_key_nan": {"make": padded, "with": {"left": True},
                   "codes": {"qkw": "rows_without_weight", "w": "rows_without_weight"}},
    "no_key_min": {"make": padded, "with": {"left": True, "fill": "lowest"},
                   "codes": {"qkw": "rows_without_key", "w": "rows_without_key"}},
    "no_key_twice": {"make": padded_twice, "codes": {"qkw": "rows_without_key", "w": "rows_without_key"}},
    "no_key_twice_untold": {"make": padded_twice, "told": False, "codes": {"qkw": "rows_without_key"}},
    "nan_q": {"make": not_finite, "with": {"tensor": "q", "value": np.nan, "at": LAST},
              "codes": {"qkw": "nan_input", "qk": "nan_input", "qks": "nan_input"}},
    "nan_k": {"make": not_finite, "with": {"tensor": "k", "value": np.nan, "at": (KEY_HEADS - 1, 2, 1)},
              "codes": {"qkw": "nan_input", "qk": "nan_input", "qks": "nan_input"}},
    "inf_k": {"make": not_finite, "with": {"tensor": "k", "value": -np.inf, "at": (KEY_HEADS - 1, 2, 1)},
              "codes": {"qkw": "inf_input", "qk": "inf_input", "qks": "inf_input"}},
    "nan_weights": {"make": not_finite, "with": {"tensor": "weights", "value": np.nan, "at": LAST},
                    "codes": {"qkw": "nan_input", "w": "nan_input"}},
    "inf_weights": {"make": not_finite, "with": {"tensor": "weights", "value": np.inf, "at": LAST},
                    "codes": {"qkw": "inf_input", "w": "inf_input"}},
    "nan_scores": {"make": not_finite, "with": {"tensor": "scores", "value": np.nan, "at": LAST},
                   "codes": {"qks": "nan_input", "s": "nan_input"}},
    "inf_scores": {"make": not_finite, "with": {"tensor": "scores", "value": np.inf, "at": LAST},
                   "codes": {"qks": "inf_input", "s": "inf_input"}},
    "poisoned_q": {"make": poisoned, "with": {"tensor": "q"}, "codes": {"qkw": "nan_input", "qks": "nan_input"}},
    "poisoned_k": {"make": poisoned, "with": {"tensor": "k"}, "codes": {"qkw": "nan_input", "qks": "nan_input"}},
    "overflow": {"make": overflow, "codes": {"qk": "float16_overflow", "qkw": "float16_overflow"}},
    "negative": {"make": negative, "codes": {"qkw": "weights_negative", "w": "weights_negative"}},
    "other_heads": {"make": other_heads, "codes": {"qkw": "weights_not_of_qk", "qks": "weights_not_of_qk"}},
    "other_keys": {"make": other_keys, "codes": {"qkw": "weights_not_of_qk", "qks": "weights_not_of_qk"}},
    "rope_of_queries": {"make": rope_of_queries, "codes": {"qkw": "weights_not_of_qk", "qks": "weights_not_of_qk"}},
    "alibi": {"make": alibi, "codes": {"qkw": "weights_not_of_qk", "qks": "weights_not_of_qk"}},
    "softcap": {"make": softcap, "with": {"cap": 2}, "codes": {"qkw": "weights_not_of_qk", "qks": "weights_not_of_qk"}},
}


# ---- files ----------------------------------------------------------------------

PARTS = {"q": ("q", "k"), "w": ("weights",), "s": ("scores",)}
SETTINGS = (("F32", 48, 16, 1.0), ("BF16", 64, 32, 2.0), ("F16", 40, 64, 1.5), ("F32", 33, 128, 3.0),
            ("BF16", 24, 16, 1.0), ("F16", 72, 32, 3.0))


def setting(fault, turn):
    dtype, n, d, std = SETTINGS[turn % len(SETTINGS)]
    dtype = {"overflow": "BF16", "mask_100": "F32"}.get(fault, dtype)  # which narrower types do not hold
    return {"dtype": dtype, "n": n, "d": d, "std": std, "causal": "padded" in fault or "untold" in fault or turn % 4 != 3, "seed": turn}


def kept(layer, parts):
    names = [name for part, given in PARTS.items() if part in parts for name in given]
    return {name: layer.tensors[name] for name in names}


def expected(layer, code):
    if code is None or code.endswith("?") and not (layer.tensors["weights"] * layer.hidden()).any():
        return "-"
    return code.rstrip("?")


def main(directory):
    lines = []
    for i, (fault, row) in enumerate(FAULTS.items()):
        for j, (parts, code) in enumerate(row["codes"].items()):
            how = setting(fault, i + j)
            how["causal"] = how["causal"] or "mask" in fault or fault.startswith(("no_key", "off_by", "strict"))
            layer = Layer(fault, **how)
            name = f"{fault}-{parts}"
            path = os.path.join(directory, name + ".safetensors")
            safetensors(path, kept(layer, parts), how["dtype"], layer.metadata)
            lines.append(f"{name} {expected(layer, code)}\n")
    with open(os.path.join(directory, "list"), "w") as f:
        f.writelines(lines)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
