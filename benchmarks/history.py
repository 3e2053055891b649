"""Speed over commits: a few ratios to fixed references, one line a commit: `make bench-history`.

    python benchmarks/history.py                        # measure the source as it is
    python benchmarks/history.py --commits HASH,HASH    # build and measure other commits, a minute each
    python benchmarks/history.py --write                # draw the plot, and measure nothing

A ratio is of processor times in one process, in one thread, best of several taken in turns, so that it can be compared
across commits and, roughly, across machines. The references use NumPy and scikit-learn alone:

fit         100 steps of a fit by gain on 3,000 stored columns / 100 products of a matrix of that size with a vector
default     a default fit of 1,000 rows / a Gaussian kernel matrix of 1,000 rows and its Cholesky factor
prediction  50,000 predictions of a model with 200 atoms / the same by `rbf_kernel` and a product
moments     `partial_fit` of 20,000 rows to 200 atoms / the product of a 20,000 x 200 matrix with its transpose

Results are in `docs/history.csv`. A commit that lacks what a ratio needs has no figure there.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import cholesky
from sklearn.metrics.pairwise import rbf_kernel
from timing import best_times

ROOT = Path(__file__).parents[1]
STORED = ROOT / "docs" / "history.csv"
PICTURE = ROOT / "docs" / "images" / "history.png"
FIELDS = ("commit", "date", "fit", "default", "prediction", "moments", "numpy", "processor")
N_FEATURES, ATOMS = 8, 200
# What an older source raises where it lacks a name, a parameter or a value of one.
LACKING = (ImportError, AttributeError, TypeError, ValueError)
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}

Timed = tuple[Callable[[], Any], Callable[[], Any]]  # ours, and its reference


# What is measured


def problem(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and the noisy values of a smooth function."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, N_FEATURES))
    return X, np.sin(X[:, :4]).sum(axis=1) + 0.1 * rng.normal(size=n_rows)


def model(**params: Any) -> Any:
    from kernelpursuit import KernelPursuitRegressor

    return KernelPursuitRegressor(random_state=0, n_jobs=1, **params)


def fit(n_rows: int = 3000, steps: int = 100) -> Timed:
    from kernelpursuit import pursuit_path

    X, y = problem(n_rows)
    options = {"gamma": 1 / N_FEATURES, "max_atoms": steps, "penalty": None, "candidates": "all", "n_jobs": 1}
    A = np.ones((n_rows, n_rows), np.float32)
    v = np.ones(n_rows, np.float32)
    return lambda: pursuit_path(X, y, **options), lambda: [A @ v for _ in range(steps)]


def default(n_rows: int = 1000) -> Timed:
    X, y = problem(n_rows)
    return lambda: model().fit(X, y), lambda: cholesky(rbf_kernel(X) + np.eye(n_rows))


def prediction(n_rows: int = 50_000) -> Timed:
    X, y = problem(n_rows)
    fitted = model(gamma=1 / N_FEATURES, max_atoms=ATOMS, stop="max").fit(X[:1000], y[:1000])
    centers, coef = X[:ATOMS], np.ones(ATOMS)
    return lambda: fitted.predict(X), lambda: rbf_kernel(X, centers, gamma=1 / N_FEATURES) @ coef


def moments(n_rows: int = 20_000) -> Timed:
    X, y = problem(n_rows + 1000)
    fitted = model(gamma=1 / N_FEATURES, max_atoms=ATOMS, stop="max").fit(X[:1000], y[:1000])
    D = np.random.default_rng(1).normal(size=(n_rows, ATOMS))
    return lambda: fitted.partial_fit(X[1000:], y[1000:]), lambda: D.T @ D


MEASURES: dict[str, Callable[..., Timed]] = {
    "fit": fit,
    "default": default,
    "prediction": prediction,
    "moments": moments,
}


def measure(rounds: int = 5, names: tuple[str, ...] = tuple(MEASURES), *, is_older: bool = False) -> dict[str, str]:
    """Return all ratios of the source that is imported; only an older one may lack what a ratio needs."""
    found, tolerated = {}, LACKING if is_older else ()
    for name in names:
        try:
            ours, reference = MEASURES[name]()
            mine, other = best_times(ours, reference, rounds=rounds, repeats=1, clock=time.process_time)
        except tolerated as lacking:
            print(f"{name}: {lacking}", file=sys.stderr)
        else:
            found[name] = f"{mine / other:.4g}"
    return found


# Commits


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def about(commit: str) -> dict[str, str]:
    """Return a commit's short name and date, the versions and the processor."""
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    processor = names[0].split(":")[1].strip() if names else ""
    name, date = git("log", "-1", "--format=%h %cI", commit).split()
    return {"commit": name, "date": date, "numpy": np.__version__, "processor": processor}


def built(commit: str, folder: Path) -> Path:
    """Build a commit, and return the folder that it can be imported from."""
    source, target = folder / "source", folder / "installed"
    source.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(source)], input=archive, check=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps"]
    subprocess.run([*pip, "--target", str(target), str(source)], check=True)
    return target


def measure_commit(commit: str) -> dict[str, str]:
    """Build a commit and measure it in a process that sees it in place of the source beside this file."""
    with tempfile.TemporaryDirectory() as folder:
        target = built(commit, Path(folder))
        # -S keeps the editable install, which site-packages would bring along, out of the way.
        paths = os.pathsep.join([str(target), sysconfig.get_path("purelib")])
        command = [sys.executable, "-S", __file__, "--print", "--older"]
        settings = {"env": {**os.environ, **ONE_THREAD, "PYTHONPATH": paths}, "cwd": folder}
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, **settings)
    return json.loads(done.stdout)


# The stored results


def read(path: Path = STORED) -> list[dict[str, str]]:
    """Return all lines."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def append(line: dict[str, str], path: Path = STORED) -> None:
    """Add a line, and keep the lines in the order of their commits."""
    lines = sorted([*read(path), line], key=lambda one: one["date"])
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def draw(lines: list[dict[str, str]], path: Path = PICTURE) -> None:
    """Draw every ratio over commits, as a multiple of the first one."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from kernelpursuit.plotting.parts import CLASS_COLOURS, tidy

    commits = list(dict.fromkeys(one["commit"] for one in lines))
    figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for name, colour in zip(MEASURES, CLASS_COLOURS):
        points = [(commits.index(one["commit"]), float(one[name])) for one in lines if one[name]]
        if points:
            at, ratios = np.array(points).T
            label = f"{name}, {ratios[0]:.3g} at first"
            ax.plot(at, ratios / ratios[0], "o-", color=colour, ms=4, lw=1.2, label=label)
    ax.axhline(1.0, color="#CCCCCC", lw=0.8, zorder=0)
    ax.set_xticks(range(len(commits)), commits, rotation=45, ha="right", fontsize="small")
    ax.set_yscale("log", base=2)
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_ylabel("ratio to the reference,\nover the first one")
    ax.legend(frameon=False, fontsize="small")
    tidy(ax)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def main(arguments: list[str]) -> int:
    """Measure what is asked for, then draw."""
    parser = argparse.ArgumentParser(description="Speed over commits.")
    parser.add_argument("--commits", type=lambda text: text.split(","), default=[], help="build and measure these")
    parser.add_argument("--print", action="store_true", help="print the ratios of the source as it is, as JSON")
    parser.add_argument("--older", action="store_true", help="leave out a ratio that the source lacks something for")
    parser.add_argument("--write", action="store_true", help="draw the plot, and measure nothing")
    options = parser.parse_args(arguments)
    others = [name for name in ONE_THREAD if os.environ.get(name, os.environ.get("OMP_NUM_THREADS")) != "1"]
    if others and not options.write and not options.commits:
        parser.error(f"ratios are of one thread; set {others[0]}=1, as `make bench-history` does.")
    if options.print:
        print(json.dumps(measure(is_older=options.older)))
        return 0
    if not options.write:
        if options.commits:
            for commit in options.commits:
                append({**about(commit), **measure_commit(commit)})
        else:
            changed = git("status", "--porcelain", "--", "src")
            line = {**about("HEAD"), **measure()}
            append({**line, "commit": line["commit"] + ("+" if changed else "")})
    draw(read())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
