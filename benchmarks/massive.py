"""Many rows: time, peak memory and error of fits in memory and from files, growth with the rows, and live data.

Each fit is run in a process of its own, so that no peak is hidden behind an earlier one. Where two are compared, they
run in turns, so that a busy moment of the machine hurts both, and the medians of their ratios are printed::

    python -m benchmarks.massive                      # all parts, up to 10,000,000 x 10; an hour
    python -m benchmarks.massive --parts million live
    python -m benchmarks.massive --largest 1000000    # a shorter curve of growth
    python -m benchmarks.massive --parts casp sample --rounds 3

million   1,000,000 rows in memory: the default, a given width with 500 atoms, and `Nystroem(500)` with `Ridge`
growth    the default from Parquet files, 100,000 rows and more
casp      casp 25 times with jitter, in memory: ours and `Nystroem(500)` with `Ridge`
sample    400 atoms picked at a sample of 10,000 rows beside 400 picked at any of up to 40,000, a split each round
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
SAMPLE_ATOMS = 400
SAMPLE_ROWS = {"sample": 10_000, "all": None}
BUDGET = 2 * 2**30  # bytes of stored kernel values, so that picking at all rows leaves room for others
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


class Measured:
    """Wall seconds, processor seconds and memory of a `with` block."""

    def __enter__(self) -> Measured:
        self._peak = Peak().__enter__()
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self._wall, self._cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        self._peak.__exit__()

    def report(self, estimator: Any, X: np.ndarray, y: np.ndarray) -> Report:
        """What was measured, and the error on test rows."""
        return {
            "seconds": round(self._wall, 1),
            "cpu": round(self._cpu, 1),
            "megabytes": round((self._peak.most - self._peak.before) / MEGABYTE),
            "rmse": round(float(np.sqrt(np.mean((estimator.predict(X) - y) ** 2))), 4),
            "atoms": int(getattr(estimator, "n_atoms_", ATOMS)),
        }


def fit_arrays(name: str, kind: str, n_rows: int) -> Report:
    """Fit rows in memory."""
    X, y, *test = casp_rows() if kind == "casp" else made_rows(n_rows)
    estimator = model(name)
    with Measured() as measured:
        estimator.fit(X, y)
    return measured.report(estimator, *test)


def fit_file(path: str) -> Report:
    """Fit a Parquet file."""
    estimator = model("default")
    with Measured() as measured:
        estimator.fit(path, "y")
    return measured.report(estimator, *make_rows(N_TEST, SEED + 1))


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


def fit_sample(name: str, words: str, split: int, shortlist: int) -> Report:
    """Atoms at rows of a sample, or at any rows; one split of a set, at most nine tenths of it for training."""
    from kernelpursuit import KernelPursuitRegressor

    X, y = _standardised(name)
    order = np.random.default_rng(SEED + split).permutation(len(y))
    train, test = np.split(order, [min(40_000, 9 * len(y) // 10)])
    estimator = KernelPursuitRegressor(
        gamma=1.0 / X.shape[1], max_atoms=SAMPLE_ATOMS, alpha=1e-3, stop="max", random_state=split
    )
    estimator.set_params(sample_rows=SAMPLE_ROWS[words], shortlist=shortlist or None, memory_budget=BUDGET)
    with Measured() as measured:
        estimator.fit(X[train], y[train])
    return {"rows": len(train), **measured.report(estimator, X[test], y[test])}


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


def in_turns(title: str, sides: dict[str, tuple[object, ...]], n_rounds: int) -> None:
    """Measure two sides so many times, each with the number of the round for its last argument; print their ratios."""
    rounds = []
    for number in range(n_rounds):
        found = {side: in_a_process(*arguments, number) for side, arguments in sides.items()}
        for side, one in found.items():
            say(f"{title}, {side}, round {number}", one)
        rounds.append(list(found.values()))
    well = [(ours, theirs) for ours, theirs in rounds if "failed" not in ours and "failed" not in theirs]
    keys = ("seconds", "cpu", "megabytes", "rmse") if well else ()
    ratios = {key: [round(ours[key] / max(theirs[key], 1e-9), 3) for ours, theirs in well] for key in keys}
    say(f"{title}, {' / '.join(sides)}", {key: {"median": np.median(one), "of": one} for key, one in ratios.items()})


def say(name: str, found: Report) -> None:
    """Print what was found."""
    print(f"{name:<44}", json.dumps(found), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", nargs="+", default=["million", "growth", "casp", "sample", "live"])
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3, help="of casp and sample")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="of sample")
    parser.add_argument("--shortlist", type=int, default=0, help="of sample; 0 for the exact loop")
    parser.add_argument("--one", nargs="+", help="run one part in this process")
    given = parser.parse_args()
    if given.one:
        what, *rest = given.one
        run = {"arrays": lambda: fit_arrays(rest[0], rest[1], int(rest[2])), "file": lambda: fit_file(rest[0])}
        run |= {"sample": lambda: fit_sample(rest[1], rest[2], int(rest[3]), int(rest[0])), "live": live}
        print(json.dumps(run[what]()))
        return
    if "million" in given.parts:
        for name in ("default", "width", "nystroem"):
            say(f"1,000,000 rows in memory, {name}", in_a_process("arrays", name, "made", 1_000_000))
    if "casp" in given.parts:
        sides = {name: ("arrays", name, "casp") for name in ("default", "nystroem")}
        in_turns("casp 25 times", sides, given.rounds)
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
        for name in given.sets:
            sides = {words: ("sample", given.shortlist, name, words) for words in SAMPLE_ROWS}
            in_turns(f"{SAMPLE_ATOMS} atoms of {name}", sides, given.rounds)
    if "live" in given.parts:
        say("partial_fit, 10,000 rows at a time", in_a_process("live"))


if __name__ == "__main__":
    main()
