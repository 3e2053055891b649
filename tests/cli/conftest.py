"""A command line in this process, and a small table with a model of it."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
import typer
from quick import NAMES

from kernelpursuit.cli.app import app


@dataclass
class Ran:
    """What a command has left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def sentence(self):
        """The one line on stderr, but for notes."""
        (line,) = [one for one in self.err.splitlines() if not one.startswith(("regression,", "classification,"))]
        return line


@pytest.fixture
def run(capsys):
    """Run a command, as a process would, and return its code and what it has written."""

    def call(*words):
        with pytest.raises(SystemExit) as ended:
            typer.main.get_command(app).main([str(word) for word in words], prog_name="kernelpursuit")
        captured = capsys.readouterr()
        return Ran(ended.value.code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def homes():
    """Features, a target of numbers and one of text."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(160, 3)).round(6)
    y = (np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=160)).round(6)
    return X, y, np.where(y > 0.3, "dear", np.where(y > -0.5, "fair", "low"))


@pytest.fixture(scope="session")
def files(tmp_path_factory, homes):
    """The table as files of every kind, and a model of each target."""
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet as pq
    from pyarrow import csv
    from sklearn.datasets import dump_svmlight_file

    from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
    from kernelpursuit.rows import open_rows

    folder = tmp_path_factory.mktemp("homes")
    X, y, town = homes
    table = pa.table({**{name: X[:, j] for j, name in enumerate(NAMES)}, "price": y})
    csv.write_csv(table, folder / "homes.csv")
    csv.write_csv(table.append_column("town", pa.array(town)), folder / "towns.csv")
    with pa.output_stream(folder / "homes.tsv.gz", compression="gzip") as out:
        csv.write_csv(table, out, csv.WriteOptions(delimiter="\t"))
    pq.write_table(table, folder / "homes.parquet")
    pyarrow.feather.write_feather(table, folder / "homes.feather")
    np.save(folder / "homes.npy", np.column_stack([X, y]))
    np.savez(folder / "homes.npz", X=X, price=y)
    dump_svmlight_file(X, y, str(folder / "homes.svm"))
    quick = {"gamma": 0.5, "max_atoms": 12, "random_state": 0}
    KernelPursuitRegressor(**quick).fit(open_rows(folder / "homes.csv", "price")).save(folder / "price.kp")
    towns = open_rows(folder / "towns.csv", "town", features=NAMES)
    KernelPursuitClassifier(**quick).fit(towns).save(folder / "town.kp")
    return folder
