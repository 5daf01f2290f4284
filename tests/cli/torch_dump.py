"""Runs the lines of Python in README.md's section on PyTorch and JAX, in the folder given.

usage: torch_dump.py README.md FOLDER

Prints a line for each command that follows them there, its fields between tabs:
"run", the command's words, and the mean normalised entropy of every head, computed
here from what the model itself made; or "skip", the words, and what is missing.
"""

import importlib
import math
import os
import sys

import numpy
import torch

HEADING = "### From PyTorch and JAX in three lines"
WIDTH, HEADS, TOKENS = 32, 4, 9


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = torch.nn.Linear(WIDTH, WIDTH)
        self.k_proj = torch.nn.Linear(WIDTH, WIDTH)
        self.attn_weights = torch.nn.Identity()

    def forward(self, x):
        self.made = self.q_proj(x), self.k_proj(x)
        q, k = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.made)
        w = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(q.shape[-1]), -1)
        return x + self.attn_weights(w).mean(1) @ self.made[0]


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(Attention() for _ in range(11))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def entropies(q, k):
    """Of [tokens, heads * d] each, head by head."""
    q, k = (t.double().reshape(TOKENS, HEADS, -1).transpose(0, 1) for t in (q, k))
    return of_weights(torch.softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]), -1))


def of_weights(w):
    return (torch.special.entr(w.double()).sum(-1) / math.log(TOKENS)).mean(-1).tolist()


def of_model(seen):
    return [h for layer in seen["model"].layers for h in entropies(layer.made[0][0], layer.made[1][0])]


def of_layer(seen):
    """Of the first sequence; the layer gives the columns that it made, the queries' first."""
    layer = seen["layer"].self_attn
    x = seen["x"] if layer.batch_first else seen["x"].transpose(0, 1)
    q, k, _ = torch.nn.functional.linear(x[0], layer.in_proj_weight, layer.in_proj_bias).chunk(3, -1)
    return entropies(q, k)


def of_jax(seen):
    side = [torch.tensor(numpy.asarray(seen[name])).transpose(0, 1).reshape(TOKENS, -1) for name in "qk"]
    return entropies(*side)


# By the file that a command reads: what its lines need, and what must come out.
EXPECTED = {
    "qk.npz": ((), of_model),
    "qk.safetensors": (("safetensors.numpy",), of_model),
    "mha.npz": ((), of_layer),
    "jax.npz": (("jax",), of_jax),
}


def blocks(path):
    """Indented blocks of the section, a list of lines each."""
    with open(path) as file:
        section = file.read().split(HEADING + "\n", 1)[1].split("\n## ", 1)[0].split("\n### ", 1)[0]
    found = [[]]
    for line in section.splitlines():
        if line.startswith("    "):
            found[-1].append(line[4:])
        elif found[-1]:
            found.append([])
    return [block for block in found if block]


def layers():
    """What the lines for nn.TransformerEncoderLayer are run with, by the file's new name."""
    kind = lambda **options: torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 64, **options).eval()
    x = torch.randn(HEADS, TOKENS, WIDTH)
    yield "batch_first.npz", kind(batch_first=True), x
    yield "tokens_first.npz", kind(), x.transpose(0, 1)
    yield "one_sequence.npz", kind(), x[:1].transpose(0, 1)
    yield "bf16.npz", kind(batch_first=True).bfloat16(), x.bfloat16()


def tell(words, seen, expected):
    print("run", " ".join(words), " ".join("%.12f" % h for h in expected(seen)), sep="\t")


def lacks(modules):
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError:
            return name
    return None


def main(readme, folder):
    parts = blocks(readme)
    os.chdir(folder)
    torch.manual_seed(5)
    seen = {"torch": torch, "numpy": numpy, "model": Model(), "x": torch.randn(HEADS, TOKENS, WIDTH)}
    for lines, command in zip(parts[::2], parts[1::2]):
        words = command[0].split()[1:]
        modules, expected = EXPECTED[words[0]]
        missing = lacks(modules)
        if missing is not None:
            print("skip", " ".join(words), "no " + missing, sep="\t")
            continue
        if "jax" in modules:
            random = importlib.import_module("jax").random
            for i, name in enumerate("qk"):
                seen[name] = random.normal(random.PRNGKey(i), (HEADS, TOKENS, 8))
        elif modules:
            seen["safetensors"] = importlib.import_module("safetensors")
        code = "\n".join(lines)
        if expected is not of_layer:
            exec(code, seen)
            tell(words, seen, expected)
            continue
        for name, layer, x in layers():
            inside = {**seen, "layer": layer, "x": x}
            exec(code, inside)
            os.rename(words[0], name)
            tell([name] + words[1:], inside, expected)


if __name__ == "__main__":
    main(*sys.argv[1:])
