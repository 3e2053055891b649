"""Files of one idea, functions with few parameters, and calls that name what they pass."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "kernelpursuit"
MOST_LINES, MOST_PARAMETERS, MOST_POSITIONAL = 400, 7, 4
# The public interface has as many parameters as users have choices.
PUBLIC = {
    "estimators/base.py:__init__",
    "estimators/portable.py:export",
    "estimators/classifier.py:__init__",
    "pursuit/api.py:pursuit_path",
    "search/length_scales.py:__init__",
    "bounds/report.py:gap_report",
    "dask/estimators.py:__init__",
    "cli/cv.py:cv",
    "cli/export.py:export",
    "cli/fit.py:fit",
    "cli/predict.py:predict",
}
FILES = sorted(path for path in SOURCE.rglob("*") if path.suffix in (".py", ".cpp", ".hpp"))
PYTHON = [path for path in FILES if path.suffix == ".py"]


def name_of(path):
    return str(path.relative_to(SOURCE))


def test_files_are_short():
    long = {name_of(path): n for path in FILES if (n := len(path.read_text().splitlines())) > MOST_LINES}
    assert not long


def parameters(function):
    """Names of the parameters, without self and cls."""
    arguments = function.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return [name for name in names if name not in ("self", "cls")]


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_functions_have_few_parameters(path):
    many = {
        f"{name_of(path)}:{node.name}": len(parameters(node))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and len(parameters(node)) > MOST_PARAMETERS
    }
    assert not many.keys() - PUBLIC, many


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_calls_name_what_they_pass(path):
    many = [
        f"{name_of(path)}:{node.lineno} passes {len(node.args)} arguments by position"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and len(node.args) > MOST_POSITIONAL
        if not any(isinstance(one, ast.Starred) for one in node.args)
    ]
    assert not many
