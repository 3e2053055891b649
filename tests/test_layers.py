"""Imports go one way, and importing the package costs nobody what he does not use."""

import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

import kernelpursuit

ROOT = Path(__file__).parents[1]
# Rooms below the estimators that compute.
LAYERS = ("_native", "rows", "kernels", "dictionary", "engine", "stopping", "losses", "pursuit")
# What extras bring, and what is slow to import.
TABLES = {"pandas", "polars", "pyarrow", "h5py", "zarr"}
TABLE_FILES = ("columns.py", "parts.py", "files.py", "streams.py", "table.py", "writing.py")
NOT_AT_IMPORT = TABLES | {"matplotlib", "dask", "distributed", "onnx", "typer", "rich", "jinja2", "playwright"}


def test_contracts(capfd):
    code = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert code == 0, capfd.readouterr().out


def modules_after(statement):
    """Top-level modules of a fresh interpreter after running a statement."""
    report = "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    command = [sys.executable, "-W", "error", "-c", f"{statement}; {report}"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_importing_the_package_is_light():
    assert not modules_after("import kernelpursuit") & {"numpy", "scipy", "sklearn"}
    loaded = modules_after("from kernelpursuit import *")
    assert "kernelpursuit" in loaded
    # scikit-learn itself imports pandas where that is installed.
    ours = loaded - modules_after("import sklearn.base, sklearn.utils.validation")
    assert not ours & NOT_AT_IMPORT, ours & NOT_AT_IMPORT
    assert not loaded & {"matplotlib", "dask"}


def test_names_that_are_imported_late():
    statement = "import kernelpursuit; all(hasattr(kernelpursuit, name) for name in dir(kernelpursuit)) or exit(1)"
    assert "sklearn" in modules_after(statement)
    assert "kernelpursuit" in modules_after("import kernelpursuit; kernelpursuit.stopping.Loo")
    assert set(kernelpursuit.__all__) <= set(dir(kernelpursuit))
    with pytest.raises(AttributeError, match="has no attribute 'stoping'"):
        kernelpursuit.stoping  # noqa: B018


@pytest.mark.parametrize("module", LAYERS)
def test_lower_layers_are_in_the_package(module):
    """Every layer that the contracts name exists: a renamed folder would pass them unseen."""
    layer = ROOT / "src" / "kernelpursuit" / module
    assert layer.is_dir() or layer.with_suffix(".py").is_file()


def test_only_numpy_and_scipy_below_the_estimators():
    """The files below the estimators import nothing else from outside, not even inside a function."""
    allowed = {"numpy", "scipy", "kernelpursuit", "__future__", *sys.stdlib_module_names}
    # Rows may come from anywhere; what reads them is imported when it is asked to.
    tables = {name: {"pyarrow", "polars"} for name in TABLE_FILES}
    optional = {"path.py": {"pandas"}, "threads.py": {"threadpoolctl"}, "arrays.py": {"h5py", "zarr"}, **tables}
    for folder in LAYERS:
        for file in (ROOT / "src" / "kernelpursuit" / folder).rglob("*.py"):
            words = (line.split() for line in file.read_text().splitlines())
            imported = {w[1].partition(".")[0] for w in words if len(w) > 1 and w[0] in ("import", "from")}
            assert imported <= allowed | optional.get(file.name, set()), file
