"""Rows in memory with NaN or infinity are refused in a sentence that names the first one, the feature and the cure."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, LengthScaleSearch
from kernelpursuit.stopping import Validation

FILL = "drop these rows, or fill them first, as sklearn.impute.SimpleImputer does."


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).normal(size=(30, 3))
    bad = X.copy()
    bad[7, 1] = bad[9, 0] = np.nan
    return X, bad


def refusal(call):
    with pytest.raises(ValueError, match="usable") as refused:
        call()
    return str(refused.value)


@pytest.mark.parametrize(
    "kind",
    [np.asarray, np.float32, np.ndarray.tolist, sp.csr_array, sp.csc_array, np.asfortranarray, pd.DataFrame],
)
def test_rows_without_names(rows, kind):
    X, bad = rows
    words = f"X is not usable: it holds NaN in row 7, feature 1 (counted from 0), the first of 2 such rows; {FILL}"
    assert refusal(lambda: KernelPursuitRegressor().fit(kind(bad), X[:, 0])) == words


@pytest.mark.parametrize(
    "kind",
    [
        lambda frame: frame,
        lambda frame: frame.set_axis(np.arange(30) + 100),
        lambda frame: frame.astype("Float64"),
        lambda frame: frame.astype(object).where(frame.notna(), None),
        pl.DataFrame,
        pl.from_pandas,
    ],
)
def test_frames_name_the_feature(rows, kind):
    X, bad = rows
    frame = kind(pd.DataFrame(bad, columns=["a", "b", "c"]))
    words = f"X is not usable: it holds NaN in row 7, feature 'b' (counted from 0), the first of 2 such rows; {FILL}"
    assert refusal(lambda: KernelPursuitRegressor().fit(frame, X[:, 0])) == words


def test_one_row_and_infinity(rows):
    X, _ = rows
    bad = X.copy()
    bad[3, 2] = -np.inf
    words = "X is not usable: it holds infinity in row 3, feature 2 (counted from 0); drop this row, or put finite "
    assert refusal(lambda: KernelPursuitRegressor().fit(bad, X[:, 0])) == f"{words}numbers there."


def test_everywhere_rows_are_taken(rows):
    X, bad = rows
    y = X[:, 0]
    model = KernelPursuitRegressor(gamma=0.3, max_atoms=3).fit(X, y)
    for call in (
        lambda: KernelPursuitClassifier().fit(bad, y > 0),
        lambda: LengthScaleSearch(KernelPursuitRegressor(max_atoms=3)).fit(bad, y),
        lambda: model.predict(bad),
        lambda: model.partial_fit(bad, y),
    ):
        assert refusal(call).startswith("X is not usable: it holds NaN in row 7, feature 1 (counted from 0)")
    rule = Validation(X=bad, y=y)
    assert refusal(lambda: KernelPursuitRegressor(stop=rule).fit(X, y)).startswith("Validation's X is not usable: it h")


def test_targets(rows):
    X, bad = rows
    model = KernelPursuitRegressor()
    row = "y is not usable: it holds NaN in row 7"
    many = "(counted from 0), the first of 2 such rows; drop these rows."
    assert refusal(lambda: model.fit(X, bad[:, 1])) == f"{row} (counted from 0); drop this row."
    assert refusal(lambda: model.fit(X, pd.Series(bad[:, 1]))) == f"{row} (counted from 0); drop this row."
    assert refusal(lambda: model.fit(X, bad)) == f"{row}, target 1 {many}"
    assert refusal(lambda: model.fit(X, pd.DataFrame(bad, columns=list("uvw")))) == f"{row}, target 'v' {many}"
