"""Many rows: time, peak memory and error of fits in memory and from files, growth with the rows, and live data.

Each fit is run in a process of its own, so that no peak is hidden behind an earlier one::

    python benchmarks/massive.py                      # all parts, up to 10,000,000 x 10; some 20 minutes
    python benchmarks/massive.py --parts million live
    python benchmarks/massive.py --largest 1000000    # a shorter curve of growth

million   1,000,000 rows in memory: the default, a given width with 500 atoms, and `Nystroem(500)` with `Ridge`
growth    the default from Parquet files, 100,000 rows and more
casp      casp 25 times with jitter, in memory: ours and `Nystroem(500)` with `Ridge`
sample    atoms picked on a sample beside atoms picked on all rows, 400 of them
live      rows a second of `partial_fit`
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.million import MEGABYTE, N_TEST, NOISE, Peak, make_rows

SEED, ATOMS, GAMMA = 7, 500, 0.05
SETS = ("casp", "house_8L", "house_16H", "elevators")
Report = dict[str, Any]


def model(name: str) -> Any:
    """An estimator by its name."""
    if name == "nystroem":
        from sklearn.kernel_approximation import Nystroem
        from sklearn.linear_model import Ridge
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), Nystroem(n_components=500, random_state=0), Ridge(alpha=1e-3))
    from kernelpursuit import KernelPursuitRegressor

    if name == "width":
        return KernelPursuitRegressor(gamma=GAMMA, max_atoms=ATOMS, alpha=1e-3, stop="max", random_state=0)
    return KernelPursuitRegressor(random_state=0)


def fit_arrays(name: str, kind: str, n_rows: int) -> Report:
    """Fit rows in memory."""
    X, y, X_test, f_test = casp_rows() if kind == "casp" else made_rows(n_rows)
    estimator = model(name)
    with Peak() as peak:
        start = time.perf_counter()
        estimator.fit(X, y)
        seconds = time.perf_counter() - start
    error = float(np.sqrt(np.mean((estimator.predict(X_test) - f_test) ** 2)))
    return _report(seconds, peak, error, estimator)


def fit_file(path: str) -> Report:
    """Fit a Parquet file."""
    estimator = model("default")
    with Peak() as peak:
        start = time.perf_counter()
        estimator.fit(path, "y")
        seconds = time.perf_counter() - start
    X, f = make_rows(N_TEST, SEED + 1)
    return _report(seconds, peak, float(np.sqrt(np.mean((estimator.predict(X) - f) ** 2))), estimator)


def _report(seconds: float, peak: Peak, error: float, estimator: Any) -> Report:
    megabytes = (peak.most - peak.before) / MEGABYTE
    return {
        "seconds": round(seconds, 1),
        "megabytes": round(megabytes),
        "rmse": round(error, 4),
        "atoms": int(getattr(estimator, "n_atoms_", 500)),
    }


def made_rows(n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Generated rows with noise, and others without."""
    X, f = make_rows(n_rows, SEED)
    f += NOISE * np.random.default_rng(SEED + 2).normal(size=n_rows)
    return X, f, *make_rows(N_TEST, SEED + 1)


def casp_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Nine tenths of casp 25 times, each with a jitter of a hundredth of the spread, and the last tenth as it is."""
    X, y = _standardised("casp")
    order = np.random.default_rng(SEED).permutation(len(y))
    train, test = order[: 9 * len(y) // 10], order[9 * len(y) // 10 :]
    jitter = np.random.default_rng(SEED + 1)
    many = np.vstack([X[train] + 0.01 * jitter.normal(size=X[train].shape) for _ in range(25)])
    return many, np.tile(y[train], 25), X[test], y[test]


def _standardised(name: str) -> tuple[np.ndarray, np.ndarray]:
    folder = next(p / "shared" / "data" for p in Path(__file__).resolve().parents if (p / "shared" / "data").is_dir())
    table = np.genfromtxt(next(folder.glob(f"{name}.csv*")), delimiter=",", skip_header=1)
    X, y = table[:, :-1], table[:, -1]
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), (y - y.mean()) / y.std()


def compare_samples(name: str) -> Report:
    """400 atoms at rows of a sample, and at any of the rows."""
    from kernelpursuit import KernelPursuitRegressor

    X, y = _standardised(name)
    order = np.random.default_rng(SEED).permutation(len(y))
    n_train = min(40_000, 9 * len(y) // 10)
    train, test = order[:n_train], order[n_train:]
    found: Report = {"rows": n_train}
    for words, sample_rows in (("sample", 10_000), ("all", None)):
        estimator = KernelPursuitRegressor(
            gamma=1.0 / X.shape[1], max_atoms=400, alpha=1e-3, sample_rows=sample_rows, random_state=0
        )
        start = time.perf_counter()
        estimator.fit(X[train], y[train])
        error = float(np.sqrt(np.mean((estimator.predict(X[test]) - y[test]) ** 2)))
        found[words] = {"seconds": round(time.perf_counter() - start, 1), "rmse": round(error, 4)}
    found["ratio"] = round(found["sample"]["rmse"] / found["all"]["rmse"], 3)
    return found


def live() -> Report:
    """`partial_fit` of 10,000 rows at a time, 200 atoms and 10 features; the best of ten."""
    from kernelpursuit import KernelPursuitRegressor

    X, y, _, _ = made_rows(110_000)
    estimator = KernelPursuitRegressor(gamma=GAMMA, max_atoms=200, stop="max", random_state=0).fit(X[:5000], y[:5000])
    times = []
    for start in range(10_000, 110_000, 10_000):
        begun = time.perf_counter()
        estimator.partial_fit(X[start : start + 10_000], y[start : start + 10_000])
        times.append(time.perf_counter() - begun)
    return {
        "atoms": estimator.n_atoms_,
        "rows_a_second": round(10_000 / min(times)),
        "median": round(10_000 / np.median(times)),
    }


def write_file(path: Path, n_rows: int) -> None:
    """Write generated rows to a Parquet file, some at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer, noise = None, np.random.default_rng(SEED + 2)
    for number, start in enumerate(range(0, n_rows, 500_000)):
        size = min(500_000, n_rows - start)
        X, y = make_rows(size, 1000 * SEED + number)
        y += NOISE * noise.normal(size=size)
        table = pa.table({**{f"x{j}": X[:, j] for j in range(X.shape[1])}, "y": y})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=100_000)
    assert writer is not None
    writer.close()


def in_a_process(*arguments: object) -> Report:
    """What one part reports, run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.massive", "--one", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"}
    return json.loads(done.stdout.splitlines()[-1])


def say(name: str, found: Report) -> None:
    """Print what was found."""
    print(f"{name:<44}", json.dumps(found), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", nargs="+", default=["million", "growth", "casp", "sample", "live"])
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--one", nargs="+", help="run one part in this process")
    given = parser.parse_args()
    if given.one:
        what, *rest = given.one
        run = {"arrays": lambda: fit_arrays(rest[0], rest[1], int(rest[2])), "file": lambda: fit_file(rest[0])}
        run |= {"sample": lambda: compare_samples(rest[0]), "live": live}
        print(json.dumps(run[what]()))
        return
    if "million" in given.parts:
        for name in ("default", "width", "nystroem"):
            say(f"1,000,000 rows in memory, {name}", in_a_process("arrays", name, "made", 1_000_000))
    if "casp" in given.parts:
        for name in ("default", "nystroem"):
            say(f"casp 25 times, {name}", in_a_process("arrays", name, "casp", 0))
    if "growth" in given.parts:
        curve = []
        for n_rows in (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000):
            if n_rows > given.largest:
                break
            with tempfile.TemporaryDirectory() as folder:
                write_file(Path(folder) / "rows.parquet", n_rows)
                found = in_a_process("file", Path(folder) / "rows.parquet")
            say(f"{n_rows:,} rows from Parquet, default", found)
            curve.append((n_rows, found.get("seconds"), found.get("megabytes")))
        if len(curve) > 1 and all(None not in one for one in curve):
            sizes, seconds, megabytes = (np.log([one[i] for one in curve]) for i in range(3))
            say("exponents", {"time": np.polyfit(sizes, seconds, 1)[0], "memory": np.polyfit(sizes, megabytes, 1)[0]})
    if "sample" in given.parts:
        for name in SETS:
            say(f"400 atoms of {name}", in_a_process("sample", name))
    if "live" in given.parts:
        say("partial_fit, 10,000 rows at a time", in_a_process("live"))


if __name__ == "__main__":
    main()
