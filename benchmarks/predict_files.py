"""Predictions from a Parquet file to another: time beside reading, computing and writing measured apart, and memory.

`python benchmarks/predict_files.py [rows]`; ten million rows of 10 features and 200 atoms by default.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from million import MEGABYTE, Peak

from kernelpursuit import KernelPursuitRegressor
from kernelpursuit.rows import open_rows

N_FEATURES, N_ATOMS, AT_A_TIME, N_ROUNDS = 10, 200, 2**16, 3
NAMES = [f"x{j}" for j in range(N_FEATURES)]


def write_rows(path, n_rows, rng):
    with pq.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in NAMES])) as writer:
        for first in range(0, n_rows, 10**6):
            columns = rng.normal(size=(N_FEATURES, min(10**6, n_rows - first)))
            writer.write_table(pa.table(list(columns), names=NAMES))


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def read(path):
    for _ in open_rows(path).blocks(AT_A_TIME):
        pass


def compute(model, rows, n_rows):
    for _ in range(0, n_rows, len(rows)):
        model.predict(rows)


def write(path, values, n_rows):
    with pq.ParquetWriter(path, pa.schema([("prediction", pa.float64())])) as writer:
        for first in range(0, n_rows, len(values)):
            writer.write_table(pa.table({"prediction": values[: n_rows - first] + first}))


def main(n_rows):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(4000, N_FEATURES)), columns=NAMES)
    model = KernelPursuitRegressor(kernel="rbf", gamma=0.1, max_atoms=N_ATOMS, stop="max")
    model.fit(X, np.sin(X["x0"]) + X["x1"])
    warm = pd.DataFrame(rng.normal(size=(AT_A_TIME, N_FEATURES)), columns=NAMES)
    values = np.tile(model.predict(warm), 4)
    with tempfile.TemporaryDirectory() as folder:
        rows, out = Path(folder) / "rows.parquet", Path(folder) / "out.parquet"
        write_rows(rows, n_rows, rng)
        heads = ["read (s)", "compute (s)", "write (s)", "sum (s)", "file to file (s)", "ratio", "memory (MB)"]
        print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
        for _ in range(N_ROUNDS):
            apart = [
                seconds(lambda: read(rows)),
                seconds(lambda: compute(model, warm, n_rows)),
                seconds(lambda: write(out, values, n_rows)),
            ]
            with Peak() as peak:
                whole = seconds(lambda: model.predict_to(rows, out))
            times = " | ".join(f"{one:.1f}" for one in [*apart, sum(apart), whole])
            memory = (peak.most - peak.before) / MEGABYTE
            print(f"| {times} | {whole / sum(apart):.2f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7)
