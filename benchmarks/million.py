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
import threading
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


class Peak:
    """Follows how much memory of its own this process has, files that are mapped left out (Linux)."""

    def __init__(self) -> None:
        self.before = self.most = _status("RssAnon")
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._follow)

    def _follow(self) -> None:
        while not self._done.wait(0.005):
            self.most = max(self.most, _status("RssAnon"))

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def _status(field: str) -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field)) * 1024


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
        with Peak() as peak:
            start, cpu = time.perf_counter(), time.process_time()
            model = fit(X, y)
            seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    error = float(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)) / y_test.std())
    size = int(getattr(model, "n_atoms_", COMPONENTS))
    return {
        "seconds": seconds,
        "cpu": cpu,
        "megabytes": (peak.most - peak.before) / MEGABYTE,
        "error": error,
        "atoms": size,
    }


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
        time_taken = f"{figures['seconds']:7.1f} s  {figures['cpu']:7.1f} s of processors"
        memory = f"{figures['megabytes']:7.0f} MB beyond the data"
        print(f"{name:<10} {time_taken}  {memory}  error {figures['error']:.4f}  {figures['atoms']:.0f} atoms")
    ratio, busy = (found["ours"][key] / found["nystroem"][key] for key in ("seconds", "cpu"))
    print(f"against Nystroem + Ridge: {ratio:.2f} times the time, {busy:.2f} times that of processors")


if __name__ == "__main__":
    main()
