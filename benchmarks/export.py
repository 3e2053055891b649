"""Exported models beside what m2cgen, emlearn and skl2onnx make of SVR, LightGBM and forests: bytes and microseconds.

    pip install m2cgen emlearn lightgbm skl2onnx onnxmltools
    python benchmarks/export.py            # the table of docs/export.md
    python benchmarks/export.py --quick    # one small set, short loops

Times are of one prediction, in processor time and one thread: in C of a loop over test rows (gcc -O2); in onnxruntime,
Python and SQL of calls with one row and, in brackets, of one row among 1,000 in a call. A tool that is not installed,
or fails, is left out and named.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnxruntime
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from kernelpursuit import KernelPursuitRegressor

MAIN = """#define _POSIX_C_SOURCE 199309L
{include}
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static {type} rows[{n}][{d}] = {{{rows}}};
int main(void) {{
  volatile {type} sum = 0;
  struct timespec a, b;
  int i, r;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
  for (r = 0; r < {rounds}; ++r)
    for (i = 0; i < {n}; ++i) sum += {call};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
  printf("%.17g", ((b.tv_sec - a.tv_sec) * 1e6 + (b.tv_nsec - a.tv_nsec) * 1e-3) / ({rounds} * {n}));
  return 0;
}}
"""


def sets(quick: bool) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    yield ("diabetes, 331 x 10", *load_diabetes(return_X_y=True))
    if not quick:
        yield ("Friedman 1, 3,000 x 10", *make_friedman1(4000, 10, noise=1.0, random_state=0))


def in_c(
    include: str, call: str, rows: np.ndarray, folder: Path, kind: str = "double", rounds: int = 20
) -> tuple[int, float]:
    """Bytes of the compiled model, and microseconds of a prediction."""
    rows = rows[:100]
    values = ", ".join("{" + ", ".join(f"{v!r}" for v in row) + "}" for row in rows.astype(float).tolist())
    n, d = rows.shape
    source = MAIN.format(include=include, type=kind, n=n, d=d, rows=values, rounds=rounds, call=call)
    empty = MAIN.format(include="#include <math.h>", type=kind, n=n, d=d, rows=values, rounds=rounds, call="rows[i][0]")
    sizes = []
    for name, text in (("empty", empty), ("main", source)):
        (folder / f"{name}.c").write_text(text)
        flags = ["-O2", "-w", "-std=gnu99", f"-I{folder}"]
        subprocess.run(["gcc", *flags, "-c", "-o", folder / f"{name}.o", folder / f"{name}.c"], check=True)
        measured = subprocess.run(["size", folder / f"{name}.o"], capture_output=True, text=True, check=True).stdout
        sizes.append(sum(map(int, measured.splitlines()[1].split()[:2])))
    subprocess.run(["gcc", "-o", folder / "main", folder / "main.o", "-lm"], check=True)
    times = [
        float(subprocess.run([folder / "main"], capture_output=True, text=True, check=True).stdout) for _ in range(3)
    ]
    return sizes[1] - sizes[0], min(times)


def in_onnx(content: bytes, rows: np.ndarray, dtype: type) -> tuple[float, float]:
    """Microseconds of a prediction, called with one row, and with 1,000."""
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, settings, providers=["CPUExecutionProvider"])
    name, many = session.get_inputs()[0].name, np.resize(rows, (1000, rows.shape[1])).astype(dtype)
    one = many[:1].copy()
    return timed(lambda: session.run(None, {name: one})), timed(lambda: session.run(None, {name: many})) / 1000


def timed(call: Callable[[], object]) -> float:
    """Microseconds of a call: the best of five loops."""
    call()
    start = time.process_time()
    call()
    n = max(1, int(0.05 / max(time.process_time() - start, 1e-5)))
    best = np.inf
    for _ in range(5):
        start = time.process_time()
        for _ in range(n):
            call()
        best = min(best, (time.process_time() - start) / n)
    return 1e6 * best


def ours(model: KernelPursuitRegressor, rows: np.ndarray, folder: Path) -> Iterator[tuple[str, int, str]]:
    said = model.export(folder / "m.onnx", dtype="float32")
    one, many = in_onnx((folder / "m.onnx").read_bytes(), rows, np.float32)
    yield "ONNX", said.n_bytes, f"{one:.1f} ({many:.2f})"
    for words, options in {
        "C, double": {},
        "C, float": {"dtype": "float32"},
        "C, float, int16 centres": {"dtype": "float32", "quantise": True},
    }.items():
        model.export(folder / "m.h", **options)
        kind = "float" if "dtype" in options else "double"
        n_bytes, microseconds = in_c('#include "m.h"', "m_predict(rows[i])", rows, folder, kind, rounds=200)
        yield words, n_bytes, f"{microseconds:.2f}"
    said = model.export(folder / "m.mjs")
    data = folder / "rows.json"
    data.write_text(str(rows[:100].tolist()))
    program = (
        f"import {{predict}} from '{(folder / 'm.mjs').as_uri()}'; import {{readFileSync}} from 'fs';"
        f"const rows = JSON.parse(readFileSync('{data}')); let s = 0;"
        "const run = () => rows.forEach((row) => s += predict(row));"
        "for (let i = 0; i < 100; ++i) run(); const a = process.cpuUsage(); for (let i = 0; i < 500; ++i) run();"
        "console.log(process.cpuUsage(a).user / (500 * rows.length));"
    )
    done = subprocess.run(["node", "--input-type=module"], input=program, capture_output=True, text=True, check=True)
    yield "JavaScript", said.n_bytes, f"{float(done.stdout):.2f}"
    said = model.export(folder / "m.py")
    module: dict = {}
    exec((folder / "m.py").read_text(), module)
    one, many = rows[:1], np.resize(rows, (1000, rows.shape[1]))
    yield (
        "Python",
        said.n_bytes,
        f"{timed(lambda: module['predict'](one)):.0f} ({timed(lambda: module['predict'](many)) / 1000:.2f})",
    )
    import duckdb

    said = model.export(folder / "m.sql")
    statement, names = (folder / "m.sql").read_text(), [f"x{i}" for i in range(rows.shape[1])]
    with duckdb.connect() as connection:
        import pandas as pd

        connection.execute("SET threads = 1")
        connection.register("one", pd.DataFrame(one, columns=names))
        connection.register("many", pd.DataFrame(many, columns=names))
        each = []
        for table, n in (("one", 1), ("many", 1000)):
            query = statement.replace('FROM "rows"', f"FROM {table}")
            each.append(timed(lambda query=query: connection.execute(query).fetchall()) / n)
    yield "SQL, DuckDB", said.n_bytes, f"{each[0]:.0f} ({each[1]:.1f})"


def by_skl2onnx(model: object, rows: np.ndarray, folder: Path) -> tuple[int, str]:
    import skl2onnx

    content = skl2onnx.to_onnx(model, rows[:1].astype(np.float32)).SerializeToString()
    one, many = in_onnx(content, rows, np.float32)
    return len(content), f"{one:.1f} ({many:.2f})"


def by_onnxmltools(model: object, rows: np.ndarray, folder: Path) -> tuple[int, str]:
    from onnxmltools import convert_lightgbm
    from onnxmltools.convert.common.data_types import FloatTensorType

    found = convert_lightgbm(model, initial_types=[("X", FloatTensorType([None, rows.shape[1]]))])
    content = found.SerializeToString()
    one, many = in_onnx(content, rows, np.float32)
    return len(content), f"{one:.1f} ({many:.2f})"


def by_m2cgen(model: object, rows: np.ndarray, folder: Path) -> tuple[int, str]:
    import m2cgen

    sys.setrecursionlimit(100_000)
    (folder / "other.h").write_text(m2cgen.export_to_c(model))
    n_bytes, microseconds = in_c('#include "other.h"', "score(rows[i])", rows, folder)
    return n_bytes, f"{microseconds:.2f}"


def by_emlearn(model: object, rows: np.ndarray, folder: Path) -> tuple[int, str]:
    import emlearn

    made = emlearn.convert(model, method="inline", dtype="float")
    made.save(file=str(folder / "forest.h"), name="forest")
    for header in Path(emlearn.includedir).glob("*.h"):
        shutil.copy(header, folder)
    include = '#include <eml_trees.h>\n#include "forest.h"'
    text = (folder / "forest.h").read_text()
    word = next(one for one in ("forest_predict", "forest_regress1") if one in text)
    n_bytes, microseconds = in_c(include, f"{word}(rows[i], {rows.shape[1]})", rows, folder, "float")
    return n_bytes, f"{microseconds:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    for name, X, y in sets(quick):
        train, test, y_train, y_test = train_test_split(X, y, random_state=0)
        print(f"\n{name}\n\n| model | error | as | bytes | µs |\n|---|---|---|---|---|")

        def error(model: object, test: np.ndarray = test, y_test: np.ndarray = y_test) -> str:
            return f"{np.sqrt(np.mean((model.predict(test) - y_test) ** 2)) / np.std(y_test):.3f}"

        model = KernelPursuitRegressor(random_state=0).fit(train, y_train)
        words, score = f"kernelpursuit, {model.n_atoms_} atoms", error(model)
        with tempfile.TemporaryDirectory() as folder:
            for target, n_bytes, times in ours(model, test, Path(folder)):
                print(f"| {words} | {score} | {target} | {n_bytes:,} | {times} |", flush=True)
                words, score = "", ""
        scaler = StandardScaler().fit(train)
        svr = SVR(C=float(np.ptp(y_train)), epsilon=0.1 * float(np.std(y_train)), gamma="scale")
        svr.fit(scaler.transform(train), y_train)
        forest = RandomForestRegressor(50, random_state=0, max_leaf_nodes=64).fit(train, y_train)
        peers = [
            (f"SVR, {len(svr.support_)} vectors", make_pipeline(scaler, svr), "ONNX by skl2onnx", by_skl2onnx, None),
            ("", make_pipeline(scaler, svr), "C by m2cgen", by_m2cgen, svr),
            ("forest, 50 trees of 64 leaves", forest, "ONNX by skl2onnx", by_skl2onnx, None),
            ("", forest, "C by emlearn", by_emlearn, None),
        ]
        try:
            from lightgbm import LGBMRegressor
        except (ImportError, OSError) as failed:
            print(f"lightgbm is left out: {failed}")
        else:
            boosted = LGBMRegressor(random_state=0, verbose=-1, n_jobs=1).fit(train, y_train)
            peers.append(("LightGBM, 100 trees", boosted, "ONNX by onnxmltools", by_onnxmltools, None))
            peers.append(("", boosted, "C by m2cgen", by_m2cgen, None))
        for words, model, target, convert, inner in peers:
            # Some of these tools let NumPy raise on underflow, and leave it like that.
            with tempfile.TemporaryDirectory() as folder, np.errstate():
                try:
                    rows = test if inner is None else scaler.transform(test)
                    n_bytes, times = convert(model if inner is None else inner, rows, Path(folder))
                except Exception as failed:
                    print(
                        f"{target} of {type(model).__name__} is left out: {type(failed).__name__}: {str(failed)[:200]}"
                    )
                    continue
            print(f"| {words} | {error(model) if words else ''} | {target} | {n_bytes:,} | {times} |", flush=True)


if __name__ == "__main__":
    main()
