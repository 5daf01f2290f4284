#!/usr/bin/env python3
"""Times attnviz against PyTorch and NumPy on the same work, one thread each.

    bench.py --bin PATH/bench_stages [--rounds N]

Rounds of bench_stages and of the others alternate, so that a slow moment of
the machine meets all of them. Times are of the processor, all threads summed:
nobody gains from a second one, and other programs disturb less. A figure is
the median over the rounds of the shortest time in a round; a ratio below 1
means that attnviz is faster. Its figures for `attend` include all statistics
of the rows, the others' are softmax(q k^T / sqrt(d)) in float64 alone.
"""
import argparse
import importlib.util
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time

OTHER_PYTHON = "/usr/bin/python3"
SIZES = ((64, 64), (256, 256), (512, 1024))
SAMPLES = (2, 10_000, 1024)


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


def with_torch():
    import torch

    torch.set_num_threads(1)
    x = torch.empty(SAMPLES)
    works = {"draw": (lambda: torch.randn(SAMPLES, out=x), 1)}
    for n, d in SIZES:
        q, k = (torch.randn(n, d, dtype=torch.float64) for _ in "qk")
        works[f"attend {n} {d}"] = (
            lambda q=q, k=k, d=d: torch.softmax(q @ k.T / math.sqrt(d), -1),
            max(1, 100_000 // (n * n)),
        )
    return f"PyTorch {torch.__version__}", works


def with_numpy():
    import numpy as np

    rng = np.random.default_rng(42)
    x = np.empty(SAMPLES, np.float32)

    def attend(q, k, d):
        z = q @ k.T / math.sqrt(d)
        z -= z.max(-1, keepdims=True)
        np.exp(z, out=z)
        z /= z.sum(-1, keepdims=True)
        return z

    works = {"draw": (lambda: rng.standard_normal(SAMPLES, np.float32, x), 1)}
    for n, d in SIZES:
        q, k = (rng.standard_normal((n, d)) for _ in "qk")
        works[f"attend {n} {d}"] = (
            lambda q=q, k=k, d=d: attend(q, k, d),
            max(1, 100_000 // (n * n)),
        )
    return f"NumPy {np.__version__}", works


def shortest(work, times, repeats=5):
    """ns of one run, the shortest of a few, each of `times` runs in a row."""
    best = math.inf
    for _ in range(repeats):
        start = time.process_time_ns()
        for _ in range(times):
            work()
        best = min(best, (time.process_time_ns() - start) / times)
    return best


def run_own(path):
    """{name: shortest ns} of one run of bench_stages, and its kernels' name."""
    out = subprocess.run([path, "5"], check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = [line.split("\t") for line in out.splitlines()]
    return {row[0]: float(row[1]) for row in rows[1:]}, rows[0][1]


def show(own, others):
    names = [name for name, _ in others]
    print(f"{'ms':24}{'attnviz':>10}" + "".join(f"{name:>20}{'ratio':>8}" for name in names))
    for work, figures in own.items():
        mine = statistics.median(figures)
        line = f"{work:24}{mine * 1e-6:10.4f}"
        for _, theirs in others:
            if work in theirs:
                other = statistics.median(theirs[work])
                line += f"{other * 1e-6:20.4f}{mine / other:8.2f}"
        print(line)
    first, again = (statistics.median(own[w]) for w in ("compute 512 1024", "temperature 512 1024"))
    print(f"\na change of temperature costs {first / again:.1f} times less than the first computation")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="the program bench_stages")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()

    use_python_with_arrays()
    kind = bind_to_one_thread()
    libraries = [make() for make, module in ((with_torch, "torch"), (with_numpy, "numpy")) if present(module)]
    others = [(name, {work: [] for work in works}) for name, works in libraries]
    own = {}
    for _ in range(options.rounds):
        figures, kernels = run_own(options.bin)
        for work, ns in figures.items():
            own.setdefault(work, []).append(ns)
        for (_, works), (_, theirs) in zip(libraries, others):
            for work, (run, times) in works.items():
                theirs[work].append(shortest(run, times))

    print(f"one thread each, attnviz with {kernels} kernels")
    if libraries:
        blas = loaded_blas()
        print(f"BLAS: {', '.join(blas) or 'unknown'}; OPENBLAS_CORETYPE={kind or '(unset)'}")
        if blas and not any(re.search("openblas|mkl|blis", name) for name in blas):
            print("That is the slow reference BLAS: install OpenBLAS for a fair comparison.")
    else:
        print("No PyTorch and no NumPy here: nothing to compare with.")
    print()
    show(own, others)


if __name__ == "__main__":
    main()
