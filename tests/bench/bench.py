#!/usr/bin/env python3
"""Times attnviz against PyTorch and NumPy on the same work, one thread each.

    bench.py PATH/attnviz [--rounds N]

Rounds of `attnviz bench` and of the others alternate, so that a slow moment of
the machine meets all of them. Times are of the processor, all threads summed:
nobody gains from a second one, and other programs disturb less. A figure is
the median over the rounds of the shortest time in a round; a ratio below 1
means that attnviz is faster. Its figures for `attend` include all statistics
of the rows, the others' are softmax(q k^T / sqrt(d)) in float64 alone; those
for training include what a step's record holds, PyTorch's are steps alone.
"""
import argparse
import importlib.util
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time

OTHER_PYTHON = "/usr/bin/python3"
# Work is (stage of `attnviz bench`, n, d). Targets are printed, not tested.
SIZES = ((64, 64), (256, 256), (512, 1024))
SAMPLE = ("sample", 10_000, 1024)
# A run of 1600 steps with the scale, and one without it.
TRAINING = (("train_on", 8, 64), ("train_off", 8, 64))
# Heads whose rows are summed up with and without matrices.
LONG = ((2048, 64), (4096, 64), (4096, 128))
LONG_STAGES = ("train_on", "train_off", "materialised", "fused")  # timed once a round
TARGETS = {
    TRAINING[0]: "PyTorch: at most 0.33, 0.2 with AVX-512",
    TRAINING[1]: "PyTorch: at most 0.33, 0.2 with AVX-512",
    SAMPLE: "PyTorch: at most 0.33",
    ("attend", 64, 64): "PyTorch: below 1",
    ("attend", 256, 256): "PyTorch: below 1",
    ("attend", 512, 1024): "PyTorch: below 1 with AVX-512",
}


def present(module):
    return importlib.util.find_spec(module) is not None


def use_python_with_arrays():
    """Starts again under the system's Python when that one has more to offer."""
    if present("torch") or "BENCH_PYTHON" in os.environ or not os.access(OTHER_PYTHON, os.X_OK):
        return
    look = "import importlib.util as u; print(*[m for m in ('torch', 'numpy') if u.find_spec(m)])"
    found = subprocess.run([OTHER_PYTHON, "-c", look], capture_output=True, text=True).stdout.split()
    if "torch" in found or ("numpy" in found and not present("numpy")):
        os.environ["BENCH_PYTHON"] = OTHER_PYTHON
        os.execv(OTHER_PYTHON, [OTHER_PYTHON, *sys.argv])


def bind_to_one_thread():
    """Must come before the import: BLAS libraries read these when they load.
    OpenBLAS takes the slow generic path where it misjudges the machine."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ.pop("OPENBLAS_CORETYPE", None)
    if platform.machine() not in ("x86_64", "AMD64"):
        return None
    try:
        with open("/proc/cpuinfo") as f:
            cpu = f.read()
    except OSError:
        return None
    kind = None
    if " avx512vl" in cpu:
        kind = "SkylakeX"
    elif " avx2" in cpu:
        kind = "Zen" if "AuthenticAMD" in cpu else "Haswell"
    if kind:
        os.environ["OPENBLAS_CORETYPE"] = kind
    return kind


def loaded_blas():
    """Names of the BLAS libraries that this process has loaded."""
    try:
        with open("/proc/self/maps") as f:
            names = set(re.findall(r"/([^/\n]*(?:blas|mkl|blis)[^/\n]*\.so[^/\n]*)", f.read()))
    except OSError:
        return []
    return sorted(n for n in names if not n.startswith(("_", "libtorch")))


def torch_training(scale):
    """The run that `attnviz train` does with its defaults."""
    import torch

    sequences, n, d_model, d_k, batch = 500, 8, 128, 64, 32
    data = torch.randn(sequences, n, d_model)
    w = [(2 * torch.rand(d_model, d_k) - 1) / math.sqrt(d_model) for _ in "qkv"]
    w.append((2 * torch.rand(d_k, d_model) - 1) / math.sqrt(d_k))
    for m in w:
        m.requires_grad_()
    alpha = 1 / math.sqrt(d_k) if scale else 1.0
    optimizer = torch.optim.Adam(w, lr=1e-3)
    for _ in range(100):
        for part in torch.randperm(sequences).split(batch):
            x = data[part]
            q, k, v = x @ w[0], x @ w[1], x @ w[2]
            y = torch.softmax(alpha * (q @ k.transpose(1, 2)), -1) @ v @ w[3]
            loss = torch.nn.functional.mse_loss(y, x)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()


def with_torch():
    import torch

    torch.set_num_threads(1)
    shape = (2, *SAMPLE[1:])
    x = torch.empty(shape)
    works = {SAMPLE: (lambda: torch.randn(shape, out=x), 1)}
    for n, d in SIZES:
        q, k = (torch.randn(n, d, dtype=torch.float64) for _ in "qk")
        works["attend", n, d] = (
            lambda q=q, k=k, d=d: torch.softmax(q @ k.T / math.sqrt(d), -1),
            max(1, 100_000 // (n * n)),
        )
    for work in TRAINING:
        works[work] = (lambda work=work: torch_training(work == TRAINING[0]), 1)
    return f"PyTorch {torch.__version__}", works


def statistics_of_rows(np, q, k, block):
    """What `attnviz bench` calls materialised (one block of all queries) and
    fused: moments of the scores, and of each row the largest weight, entropy,
    sum of squares and the Jacobian's Frobenius norm."""
    rows = []
    for i in range(0, len(q), block):
        z = q[i : i + block] @ k.T / math.sqrt(q.shape[1])
        moments = z.mean(), z.var(), z.min(), z.max()
        z -= z.max(-1, keepdims=True)
        e = np.exp(z)
        total = e.sum(-1)
        entropy = np.log(total) - np.einsum("ij,ij->i", e, z) / total
        e /= total[:, None]
        square = e * e
        p2 = square.sum(-1)
        p3 = np.einsum("ij,ij->i", square, e)
        rows.append((moments, e.max(-1), entropy, p2, np.sqrt(np.maximum(p2 - 2 * p3 + p2 * p2, 0))))
    return rows


def with_numpy():
    import numpy as np

    rng = np.random.default_rng(42)
    shape = (2, *SAMPLE[1:])
    x = np.empty(shape, np.float32)

    def attend(q, k, d):
        z = q @ k.T / math.sqrt(d)
        z -= z.max(-1, keepdims=True)
        np.exp(z, out=z)
        z /= z.sum(-1, keepdims=True)
        return z

    works = {SAMPLE: (lambda: rng.standard_normal(shape, np.float32, x), 1)}
    for n, d in SIZES:
        q, k = (rng.standard_normal((n, d)) for _ in "qk")
        works["attend", n, d] = (
            lambda q=q, k=k, d=d: attend(q, k, d),
            max(1, 100_000 // (n * n)),
        )
    for n, d in LONG:
        q, k = (rng.standard_normal((n, d)) for _ in "qk")
        works["materialised", n, d] = (lambda q=q, k=k: statistics_of_rows(np, q, k, len(q)), 1)
        works["fused", n, d] = (lambda q=q, k=k: statistics_of_rows(np, q, k, 256), 1)
    return f"NumPy {np.__version__}", works


def shortest(work, times, repeats):
    """ns of one run, the shortest of a few, each of `times` runs in a row."""
    best = math.inf
    for _ in range(repeats):
        start = time.process_time_ns()
        for _ in range(times):
            work()
        best = min(best, (time.process_time_ns() - start) / times)
    return best


def run_own(program):
    """Of one run of `attnviz bench`: {work: shortest ns}, {(variant, stage, n):
    times plain softmax}, its kernels' name, and what share of the core's limit
    products of matrices reach."""
    command = [program, "bench", "--no-config", "--format", "json"]
    out = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    stages = [row for row in out["stages"] if "variant" not in row]
    times = {(row["stage"], row["n_q"], row["d_k"]): 1e6 * row["fastest_ms"] for row in stages}
    rates = {row["stage"]: row["gflops"] for row in stages}
    ratios = {(row["variant"], row["stage"], row["n_q"]): row["ratio"] for row in out["stages"] if "variant" in row}
    return times, ratios, out["kernels"], rates["products"] / rates["multiply_add"]


def show(own, others, share):
    columns = "".join(f"{name:>20}{'ratio':>8}" for name, _ in others)
    print(f"{'stage':14}{'n':>6}{'d_k':>6}{'attnviz ms':>12}{columns}  target")
    for work, figures in own.items():
        stage, n, d = work
        mine = statistics.median(figures)
        line = f"{stage:14}{n:6}{d:6}{mine * 1e-6:12.4f}"
        for _, theirs in others:
            if work in theirs:
                other = statistics.median(theirs[work])
                line += f"{other * 1e-6:20.4f}{mine / other:8.2f}"
            else:
                line += " " * 28
        print((line + "  " + TARGETS.get(work, "")).rstrip())
    print()
    ratio = statistics.median(own["distributions", *SAMPLE[1:]]) / statistics.median(own[SAMPLE])
    print(f"10000 pairs, d_k up to 1024: the study costs {ratio:.2f} times their drawing (target: at most 1.5)")
    print(f"training: products of matrices reach {100 * share:.0f}% of the core's multiply-adds (target: at least 60%)")
    on, off = (statistics.median(own[work]) for work in TRAINING)
    print(f"training: saturated, without the scale, a run takes {off / on:.2f} times as long (target: 1)")
    first = statistics.median(own["seed", 512, 1024])
    for stage in ("temperature", "scale"):
        ratio = first / statistics.median(own[stage, 512, 1024])
        print(f"512 queries and keys, d_k 1024: all stages cost {ratio:.1f} times a change of {stage} (target: at least 5)")


def show_variants(ratios):
    """A line a variant: its cost over plain softmax's, from scores that are there."""
    columns = list(dict.fromkeys((stage, n) for _, stage, n in ratios))
    print()
    print("variant, times plain softmax" + "".join(f"{stage + ' ' + str(n):>14}" for stage, n in columns))
    for variant in dict.fromkeys(variant for variant, _, _ in ratios):
        print(f"{variant:28}" + "".join(f"{statistics.median(ratios[(variant, *at)]):14.2f}" for at in columns))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="attnviz")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    use_python_with_arrays()
    kind = bind_to_one_thread()
    libraries = [make() for make, module in ((with_torch, "torch"), (with_numpy, "numpy")) if present(module)]
    others = [(name, {work: [] for work in works}) for name, works in libraries]
    own, variants, shares = {}, {}, []
    for _ in range(options.rounds):
        figures, ratios, kernels, share = run_own(options.program)
        shares.append(share)
        for work, ns in figures.items():
            own.setdefault(work, []).append(ns)
        for at, ratio in ratios.items():
            variants.setdefault(at, []).append(ratio)
        for (_, works), (_, theirs) in zip(libraries, others):
            for work, (run, times) in works.items():
                theirs[work].append(shortest(run, times, 1 if work[0] in LONG_STAGES else 5))

    print(f"one thread each, attnviz with {kernels} kernels")
    if libraries:
        blas = loaded_blas()
        print(f"BLAS: {', '.join(blas) or 'unknown'}; OPENBLAS_CORETYPE={kind or '(unset)'}")
        if blas and not any(re.search("openblas|mkl|blis", name) for name in blas):
            print("That is the slow reference BLAS: install OpenBLAS for a fair comparison.")
    else:
        print("No PyTorch and no NumPy here: nothing to compare with.")
    print()
    show(own, others, statistics.median(shares))
    show_variants(variants)


if __name__ == "__main__":
    main()
