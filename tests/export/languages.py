"""Exported files, run: predictions of rows by ONNX, C, JavaScript, Python and SQL."""

import json
import shutil
import sqlite3
import subprocess

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pytest

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-std=c99", "-O2"]
REGRESSOR = """#include "{header}"
#include <stdio.h>
int main(void) {{
  {type} x[{n}], y[{m}];
  double v;
  int i, k;
  for (;;) {{
    for (i = 0; i < {n}; ++i) {{
      if (scanf("%lf", &v) != 1) return 0;
      x[i] = ({type})v;
    }}
    {call}
    for (k = 0; k < {m}; ++k) printf("%.17g ", (double)y[k]);
  }}
}}
"""


def run_onnx(model, rows, folder, **options):
    """All outputs, by name."""
    path = folder / "m.onnx"
    model.export(path, **options)
    return onnx_outputs(path.read_bytes(), rows, options.get("dtype", "float64"))


def onnx_outputs(content, rows, dtype="float64"):
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, settings, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    given = {session.get_inputs()[0].name: np.ascontiguousarray(rows, dtype=dtype)}
    return dict(zip(names, session.run(None, given)))


def run_c(model, rows, folder, **options):
    """Predictions, or class numbers and probabilities; with `interval`, lower ends of all targets and upper ones."""
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc here")
    model.export(folder / "m.h", **options)
    kind = "float" if options.get("dtype") == "float32" else "double"
    is_classifier = hasattr(model, "classes_")
    n = model.path_.n_targets if not is_classifier else None
    m = len(model.classes_) + 1 if is_classifier else n * (2 if options.get("interval") else 1)
    call = "y[0] = m_predict(x);" if not is_classifier and model._y_ndim == 1 else "m_predict(x, y);"
    call = f"y[0] = ({kind})m_predict(x, y + 1);" if is_classifier else call
    call = f"m_predict_interval(x, y, y + {n});" if options.get("interval") else call
    program = REGRESSOR.format(header="m.h", type=kind, n=rows.shape[1], m=m, call=call)
    (folder / "m.c").write_text(program)
    subprocess.run(["gcc", *STRICT, "-o", folder / "m", folder / "m.c", "-lm"], check=True)
    text = " ".join(map(repr, np.ravel(rows).astype(float).tolist()))
    done = subprocess.run([folder / "m"], input=text, capture_output=True, text=True, check=True)
    values = np.array(done.stdout.split(), dtype=float).reshape(len(rows), m)
    return (values[:, 0].astype(int), values[:, 1:]) if is_classifier else values


def run_javascript(model, rows, folder, **options):
    """Predictions, or labels and probabilities; with `interval`, lower ends of all targets and upper ones."""
    if shutil.which("node") is None:
        pytest.skip("there is no node here")
    path = folder / "m.mjs"
    model.export(path, **options)
    is_classifier = hasattr(model, "classes_")
    what = "rows.map((row) => [m.predict(row), m.predictProba(row)])" if is_classifier else "rows.map(m.predict)"
    what = "rows.map((row) => m.predictInterval(row).flat())" if options.get("interval") else what
    program = f"import * as m from {json.dumps(path.as_uri())}; const rows = {json.dumps(rows.tolist())};"
    program += f"console.log(JSON.stringify({what}));"
    done = subprocess.run(["node", "--input-type=module"], input=program, capture_output=True, text=True, check=True)
    answers = json.loads(done.stdout)
    if is_classifier:
        return np.array([one for one, _ in answers]), np.array([p for _, p in answers])
    return np.array(answers).reshape(len(rows), -1)


def run_python(model, rows, folder, **options):
    """The module."""
    model.export(folder / "m.py", **options)
    module = {}
    exec(compile((folder / "m.py").read_text(), "m.py", "exec"), module)
    return module


def run_sql(model, rows, folder, dialect, **options):
    """The answer as a frame, in the order of the rows."""
    model.export(folder / "m.sql", key="number", dialect=dialect, **options)
    names = getattr(model, "feature_names_in_", [f"x{i}" for i in range(rows.shape[1])])
    frame = pd.DataFrame(rows, columns=names).assign(number=np.arange(len(rows)))
    statement = (folder / "m.sql").read_text()
    if dialect == "duckdb":
        with duckdb.connect() as connection:
            connection.execute("SET threads = 1")
            connection.register("rows", frame)
            found = connection.execute(statement).df()
    else:
        connection = sqlite3.connect(":memory:")
        frame.to_sql("rows", connection, index=False)
        found = pd.read_sql_query(statement, connection)
        connection.close()
    return found.sort_values("number").reset_index(drop=True)


def numbers_by(target, model, rows, folder):
    """Predictions of a regressor in any language, shape (n_rows, n_targets)."""
    if target == "onnx":
        found = run_onnx(model, rows, folder)["prediction"]
    elif target == "python":
        found = run_python(model, rows, folder)["predict"](rows)
    elif target in ("duckdb", "sqlite"):
        frame = run_sql(model, rows, folder, target)
        found = frame[[one for one in frame if one.startswith("prediction")]].to_numpy()
    else:
        found = {"c": run_c, "javascript": run_javascript}[target](model, rows, folder)
    return np.reshape(found, (len(rows), -1))


def intervals_by(target, model, rows, folder, coverage):
    """Lower and upper ends of intervals in any language, shape (2, n_rows, n_targets)."""
    if target == "onnx":
        found = run_onnx(model, rows, folder, interval=coverage)
        ends = [found["lower"], found["upper"]]
    elif target == "python":
        ends = run_python(model, rows, folder, interval=coverage)["predict_interval"](rows)
    elif target in ("duckdb", "sqlite"):
        frame = run_sql(model, rows, folder, target, interval=coverage)
        ends = [frame[[one for one in frame if one.startswith(word)]].to_numpy() for word in ("lower", "upper")]
    else:
        found = {"c": run_c, "javascript": run_javascript}[target](model, rows, folder, interval=coverage)
        ends = np.split(found, 2, axis=1)
    return np.reshape(ends, (2, len(rows), -1))


def classes_by(target, model, rows, folder):
    """Labels and probabilities of a classifier in any language."""
    if target == "onnx":
        found = run_onnx(model, rows, folder)
        return found["label"], found["probability"]
    if target == "python":
        module = run_python(model, rows, folder)
        return module["predict"](rows), module["predict_proba"](rows)
    if target in ("duckdb", "sqlite"):
        frame = run_sql(model, rows, folder, target)
        chances = frame[[one for one in frame if one.startswith("probability")]].to_numpy()
        return frame["label"].to_numpy(), chances
    if target == "c":
        numbers, chances = run_c(model, rows, folder)
        return model.classes_[numbers], chances
    return run_javascript(model, rows, folder)
