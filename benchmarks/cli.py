"""The command line beside its parts: reading CSV against pyarrow alone, in one run, and the time of --help.

    python benchmarks/cli.py [--rows 1440000]

Both read the same columns as the same types, in turns, so that other work on the machine hurts both; figures are ratios
of the least times, by the clock and of all processors. What the command line does is reading, and handing on rows as
arrays; pyarrow alone hands on its own columns. The file is in the disk cache of the system after the first round, which
does not count.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from kernelpursuit.cli.columns import Columns
from kernelpursuit.cli.data import open_training
from kernelpursuit.rows import block_size
from kernelpursuit.rows.ahead import read_ahead

N_FEATURES = 10
ROUNDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_440_000, help="about 220 bytes each")
    n_rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write(path, n_rows)
        compare(path)
    answers()


def write(path: Path, n_rows: int, at_a_time: int = 90_000) -> None:
    """Write rows of random features and a target, with all digits."""
    names = [*(f"x{j}" for j in range(N_FEATURES)), "y"]
    rng = np.random.default_rng(0)
    with csv.CSVWriter(path, pa.schema([(name, pa.float64()) for name in names])) as file:
        for _ in range(0, n_rows, at_a_time):
            X = rng.normal(size=(at_a_time, N_FEATURES))
            file.write_table(pa.table([*X.T, np.sin(2 * X[:, 0]) + X[:, 1]], names=names))


def compare(path: Path) -> None:
    """Read a file by the command line's source of rows, and by pyarrow's streaming reader."""
    source = open_training(path, Columns(target=("y",))).source
    size = block_size(source.n_features + source.n_targets)
    names = [*source.feature_names, "y"]

    def alone() -> int:
        convert = csv.ConvertOptions(include_columns=names, column_types={name: pa.float64() for name in names})
        with csv.open_csv(path, convert_options=convert) as reader:
            return sum(batch.num_rows for batch in reader)

    ways: dict[str, Callable[[], int]] = {
        "pyarrow's streaming reader": alone,
        "blocks as a fit reads them": lambda: sum(len(block) for block in source.blocks(size)),
        "blocks as predict reads them": lambda: sum(len(block) for block in read_ahead(source.blocks(size))),
    }
    seconds: dict[str, list[list[float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS + 1):
        for name, read in ways.items():
            started = np.array([time.perf_counter(), time.process_time()])
            read()
            seconds[name].append((np.array([time.perf_counter(), time.process_time()]) - started).tolist())
    best = {name: np.min(times[1:], axis=0) for name, times in seconds.items()}
    base = best["pyarrow's streaming reader"]
    print(f"{path.stat().st_size / 1e6:,.0f} MB of CSV, {len(names)} columns of float64, best of {ROUNDS} rounds")
    for name, (clock, processors) in best.items():
        shares = f"{clock / base[0]:.2f} and {processors / base[1]:.2f} of pyarrow alone"
        print(f"  {name:<30} {clock:5.2f} s, processors {processors:5.2f} s: {shares}")


def answers() -> None:
    """Time what should answer at once."""
    for words in (["--help"], ["fit", "--help"], ["--version"]):
        times = []
        for _ in range(11):
            started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-m", "kernelpursuit.cli", *words], check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            computing = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
            times.append((time.perf_counter() - started, computing))
        clock, processor = np.sort(times, axis=0)[[0, 5]].T
        print(
            f"kernelpursuit {' '.join(words):<12} {clock[0]:.3f} s at best, {clock[1]:.3f} s in the middle; "
            f"of a processor {processor[0]:.3f} and {processor[1]:.3f} s"
        )


if __name__ == "__main__":
    main()
