"""A default fit of a million rows beside `Nystroem(500)` and `Ridge`: time, peak memory beyond the data, test error.

Each is run in a process of its own, in turns, so that a busy moment of the machine hurts both and no peak is hidden
behind an earlier one::

    python benchmarks/million.py                      # 1,000,000 x 10, the figures of docs/architecture.md
    python benchmarks/million.py --rows 100000 --rounds 1
    python benchmarks/million.py --memmap             # the rows in a file: what is read of them is no peak of ours
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

N_FEATURES, N_TEST, NOISE, SEED = 10, 20_000, 0.1, 7
COMPONENTS = 500
MEGABYTE = 2**20


def make_rows(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and the values of a smooth function of seven of their ten features, without noise."""
    generator = np.random.default_rng(seed)
    X = np.empty((n_rows, N_FEATURES))
    y = np.empty(n_rows)
    for start in range(0, n_rows, 100_000):  # so that making them leaves no peak
        part = slice(start, min(start + 100_000, n_rows))
        X[part] = generator.normal(size=(part.stop - part.start, N_FEATURES))
        a, b, c, d, e, f, g = X[part, :7].T
        y[part] = np.sin(2 * a) + 0.5 * np.cos(b * c) + 0.4 * d * e + np.tanh(3 * f) * 0.7 + 0.3 * g
    return X, y


def peak() -> int:
    """Most memory that this process has had resident since `forget_peak`, in bytes (Linux)."""
    return _status("VmHWM")


def resident() -> int:
    """Memory that this process has resident that is no file, in bytes."""
    return _status("RssAnon")


def _status(field: str) -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field)) * 1024


def forget_peak() -> None:
    """Let the peak begin anew."""
    Path("/proc/self/clear_refs").write_text("5")


def ours() -> Callable[[np.ndarray, np.ndarray], Any]:
    from kernelpursuit import KernelPursuitRegressor

    return KernelPursuitRegressor(random_state=0).fit


def nystroem() -> Callable[[np.ndarray, np.ndarray], Any]:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    features = Nystroem(n_components=COMPONENTS, gamma=1.0 / N_FEATURES, random_state=0)
    return make_pipeline(StandardScaler(), features, Ridge(alpha=1e-3)).fit


MODELS = {"ours": ours, "nystroem": nystroem}


def measure(name: str, n_rows: int, in_file: bool) -> dict[str, float]:
    """Fit once, here and now."""
    X, y = make_rows(n_rows, SEED)
    y += NOISE * np.random.default_rng(SEED + 1).normal(size=n_rows)
    X_test, y_test = make_rows(N_TEST, SEED + 2)
    fit = MODELS[name]()
    small = min(n_rows, 6000)
    fit(X[:small], y[:small])  # what is loaded and started once is no part of the figures
    with tempfile.TemporaryDirectory() as folder:
        if in_file:
            np.save(Path(folder) / "X.npy", X)
            X = np.load(Path(folder) / "X.npy", mmap_mode="r")
        forget_peak()
        before, start = resident(), time.perf_counter()
        model = fit(X, y)
        seconds, most = time.perf_counter() - start, peak() - _status("RssFile") * in_file
    error = float(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)) / y_test.std())
    size = int(getattr(model, "n_atoms_", COMPONENTS))
    return {"seconds": seconds, "megabytes": (most - before) / MEGABYTE, "error": error, "atoms": size}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--memmap", action="store_true", help="keep X in a file")
    parser.add_argument("--only", choices=sorted(MODELS), help="measure one of them in this process")
    given = parser.parse_args()
    if given.only:
        print(json.dumps(measure(given.only, given.rows, given.memmap)))
        return
    found: dict[str, dict[str, float]] = {}
    for _ in range(given.rounds):
        for name in MODELS:
            command = [sys.executable, __file__, "--rows", str(given.rows), "--only", name]
            command += ["--memmap"] * given.memmap
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            one = json.loads(done.stdout.splitlines()[-1])
            best = found.setdefault(name, one)
            found[name] = {key: min(best[key], one[key]) for key in one}
    for name, figures in found.items():
        print(
            f"{name:<10} {figures['seconds']:7.1f} s  {figures['megabytes']:7.0f} MB beyond the data  "
            f"relative error {figures['error']:.4f}  {figures['atoms']:.0f} atoms"
        )
    print(f"time against Nystroem + Ridge: {found['ours']['seconds'] / found['nystroem']['seconds']:.2f}")


if __name__ == "__main__":
    main()
