"""What has no right answer is refused in one sentence; the estimator and the inputs stay as they were."""

import copy
import re

import numpy as np
import pytest
import scipy.sparse as sp
from folding import every_case
from plain import plain_regressor

from kernelpursuit import pursuit_path
from kernelpursuit.dictionary import Functions, KernelAtoms
from kernelpursuit.kernels import RBF, CallableKernel, Polynomial, RationalQuadratic
from kernelpursuit.stopping import Loo, Tol, Validation

N = 30
X = np.random.default_rng(3).normal(size=(N, 3))
Y = np.sin(X[:, 0]) + X[:, 1]


def spoiled(array, value, at=(4,)):
    array = array.copy()
    array[at] = value
    return array


def overlong(X, C):
    return np.ones((len(X) + 1, len(C)))


def not_a_number(X, C):
    return np.full((len(X), len(C)), np.nan)


def now_and_then_infinite(X, C):
    return np.where(C[:, 0] > 1, np.inf, X @ C.T)


def text(X, C):
    return "values"


# What `fit` is given (parameters, X, y, weights), and what the refusal says.
BAD_DATA = {
    "NaN in X": ((spoiled(X, np.nan), Y, None), r"\bX\b.*NaN"),
    "infinity in X": ((spoiled(X, np.inf), Y, None), r"\bX\b.*infinity"),
    "NaN in sparse X": ((sp.csr_array(spoiled(X, np.nan)), Y, None), r"\bX\b.*NaN"),
    "NaN in y": ((X, spoiled(Y, np.nan), None), r"\by\b.*NaN"),
    "infinity in y": ((X, spoiled(Y, -np.inf), None), r"\by\b.*infinity"),
    "None in X": ((spoiled(X.astype(object), None), Y, None), r"\bX\b.*NaN"),
    "no rows": ((X[:0], Y[:0], None), r"\bX\b.*0 sample"),
    "no features": ((X[:, :0], Y, None), r"\bX\b.*0 feature"),
    "X with one dimension": ((X[:, 0], Y, None), r"\bX\b.*(2D|dimension)"),
    "X with three dimensions": ((X[:, :, None], Y, None), r"\bX\b.*dim"),
    "X a number": ((1.0, Y, None), r"\bX\b"),
    "X missing": ((None, Y, None), r"\bX\b"),
    "X of strings": ((np.full((N, 2), "a"), Y, None), r"\bX\b.*(string|number)"),
    "X of objects": (
        (np.full((N, 2), {}, dtype=object), Y, None),
        r"\bX\b.*number",
    ),
    "X complex": ((X + 1j, Y, None), r"\bX\b.*[Cc]omplex"),
    "X ragged": (([[1.0], [1.0, 2.0]], [1.0, 2.0], None), r"\bX\b"),
    "y too short": ((X, Y[:-1], None), rf"\by\b.*({N - 1}|{N})"),
    "y too long": ((X, np.append(Y, 1), None), rf"\by\b.*({N + 1}|{N})"),
    "y with three dimensions": ((X, np.ones((N, 2, 2)), None), r"\by\b.*(3|dim)"),
    "y with no targets": ((X, np.ones((N, 0)), None), r"\by\b"),
    "y a number": ((X, 1.0, None), r"\by\b"),
    "y missing": ((X, None, None), r"\by\b"),
    "y of strings": ((X, np.full(N, "a"), None), r"\by\b"),
    "y complex": ((X, Y + 1j, None), r"\by\b.*[Cc]omplex"),
    "weights negative": ((X, Y, spoiled(np.ones(N), -1)), r"sample_weight.*negative.*at least 0"),
    "weights NaN": ((X, Y, spoiled(np.ones(N), np.nan)), r"sample_weight.*non-finite"),
    "weights infinite": ((X, Y, spoiled(np.ones(N), np.inf)), r"sample_weight.*non-finite"),
    "weights all zero": ((X, Y, np.zeros(N)), r"sample_weight.*zero.*positive"),
    "weights too short": ((X, Y, np.ones(N - 1)), rf"sample_weight.*shape.*{N} rows"),
    "weights with two dimensions": ((X, Y, np.ones((N, 1))), rf"sample_weight.*shape.*{N} rows"),
    "weights of strings": ((X, Y, ["a"] * N), r"sample_weight"),
    "weights complex": ((X, Y, np.ones(N) + 1j), r"sample_weight"),
    "weight a negative number": ((X, Y, -1.0), r"sample_weight.*negative"),
}

BAD_PARAMETERS = [
    *(({"kernel": value}, r"kernel=.*(did you mean|use one of)") for value in ("rfb", "gauss", "", 3, None)),
    ({"kernel": RBF}, r"kernel=RBF is a class; call it"),
    ({"stop": Loo}, r"stop=Loo is a class; call it"),
    ({"kernel": []}, r"kernel=\[\].*at least one kernel"),
    ({"kernel": ["rbf", "nope"]}, r"kernel='nope'"),
    ({"kernel": ["rbf", "precomputed"]}, r"kernel='precomputed'.*union"),
    ({"kernel": overlong}, rf"kernel=overlong.*shape \({N + 1}, .*must return"),
    ({"kernel": not_a_number}, r"kernel=not_a_number.*NaN.*must be finite"),
    ({"kernel": now_and_then_infinite}, r"kernel=now_and_then_infinite.*infinity"),
    ({"kernel": text}, r"kernel=text"),
    ({"kernel": CallableKernel(overlong)}, r"kernel=overlong.*shape"),
    ({"kernel": Functions(np.sum)}, r"function sum.*shape"),
    ({"kernel": KernelAtoms("rbf", centers=np.ones((4, 2)))}, r"centers.*3 features"),
    ({"kernel": KernelAtoms("rbf", centers=np.full((4, 3), np.nan))}, r"centers.*NaN"),
    ({"kernel": KernelAtoms("rbf", centers=np.ones((0, 3)))}, r"centers"),
    ({"kernel": Polynomial(degree=400), "gamma": 100.0}, r"overflow.*(scale X|smaller)"),
    (
        {"kernel": Polynomial(degree=400), "gamma": 100.0, "selection": "random"},
        r"overflow.*(scale X|smaller)",
    ),
    *(
        (
            {"kernel": Polynomial(degree=400), "gamma": 100.0, "penalty": penalty},
            r"overflow.*(scale X|smaller)",
        )
        for penalty in (None, "rkhs", "nugget")
    ),
    ({"kernel": Polynomial(degree=120), "gamma": 100.0}, r"overflow.*(scale X|smaller)"),
    *(({"selection": value}, r"selection=.*(did you mean|use one of)") for value in ("gains", "best", None, 1)),
    *(({"penalty": value}, r"penalty=.*(did you mean|use one of)") for value in ("rigde", "l1", 1.0, True)),
    *(({"update": value}, r"update=.*(did you mean|use one of)") for value in ("ortogonal", "newton", None)),
    *(({"stop": value}, r"stop=.*(did you mean|use one of)") for value in ("lo", "kfold", None, 5, "loo | nope")),
    *(({"gamma": value}, r"gamma=.*positive") for value in (-1.0, 0.0, np.nan, np.inf, [1.0, -1.0, 1.0], [0.0] * 3)),
    *(({"gamma": value}, r"gamma has shape.*3 features") for value in ([1.0, 2.0], np.ones((3, 3)), [])),
    *(({"gamma": value}, r"gamma=.*('scale'|positive)") for value in ("auto", "scales", None, {}, "1.0")),
    ({"gamma": 1 + 1j}, r"gamma="),
    ({"kernel": RBF(gamma=2.0), "gamma": 3.0}, r"gamma=3\.0 would be ignored"),
    ({"kernel": RBF(gamma=-2.0)}, r"gamma=-2\.0"),
    *(({"max_atoms": value}, r"max_atoms=.*whole number of at least 1") for value in (0, -1, 1.5, True, None, "9")),
    *(({"max_atoms": value}, r"max_atoms=.*whole number") for value in (np.nan, np.inf, 10.0)),
    *(({"alpha": value}, r"alpha=.*number of at least 0") for value in (-1e-9, np.nan, np.inf, None, "1", True)),
    ({"alpha": 1e300, "penalty": "nugget"}, r"alpha|overflow"),
    *(({"candidates": value}, r"candidates") for value in ("some", 0, -3, [], [[1]], 1.5, [0.5], None, True)),
    *(({"candidates": value}, rf"candidates.*(there are {N}|numbered from 0)") for value in ([N], [0, -1], [10**9])),
    ({"candidates": [True, False]}, r"candidates"),
    *(({"n_jobs": value}, r"n_jobs=") for value in (0, 1.5, "all")),
    *(({"memory_budget": value}, r"memory_budget=.*at least 0") for value in (-1, np.nan, "1GB", True)),
    *(({"verbose": value}, r"verbose=") for value in ("no", None, -1, 0.5)),
    *(({"fit_intercept": value}, r"fit_intercept=") for value in ("no", None, np.nan)),
    *(({"random_state": value, "selection": "random"}, r"random_state") for value in ("seed", -1, 1.5)),
]


def names(cases):
    return [re.sub(r"\s+|0x\w+", " ", str(settings))[:80] for settings, _ in cases]


def assert_refused(fit, pattern, *inputs):
    """`fit` fails with one sentence that matches; nothing is written to the inputs."""
    before = copy.deepcopy(inputs)
    with pytest.raises((ValueError, TypeError), match=pattern) as refusal:
        fit()
    message = str(refusal.value)
    assert type(refusal.value) in (ValueError, TypeError), "an error of numpy's or scipy's own"
    assert "\n" not in message
    assert message.endswith((".", "?")), "not a sentence"
    for now, then in zip(inputs, before):
        if isinstance(now, np.ndarray) and now.dtype != object:
            np.testing.assert_array_equal(now, then)


@every_case("case", BAD_DATA)
def test_bad_data(case):
    data, pattern = BAD_DATA[case]
    model = plain_regressor()
    assert_refused(lambda: model.fit(*data), pattern, *data)
    assert vars(model) == model.get_params(deep=False)


@every_case("case", BAD_DATA)
def test_bad_data_for_the_plain_function(case):
    (rows, targets, weights), pattern = BAD_DATA[case]
    pattern = r"\bX\b|\by\b|sample_weight"
    assert_refused(lambda: pursuit_path(rows, targets, sample_weight=weights), pattern, rows, targets, weights)


@every_case(("settings", "pattern"), BAD_PARAMETERS, ids=names(BAD_PARAMETERS))
def test_bad_parameter(settings, pattern):
    model = plain_regressor(**settings)
    assert_refused(lambda: model.fit(X, Y), pattern, X, Y)
    assert vars(model) == model.get_params(deep=False)


@every_case(("settings", "pattern"), BAD_PARAMETERS, ids=names(BAD_PARAMETERS))
def test_bad_parameter_for_the_plain_function(settings, pattern):
    assert_refused(lambda: pursuit_path(X, Y, **settings), pattern, X, Y)


@every_case(
    ("make", "pattern"),
    [
        (lambda: Tol(-1), r"tol=-1.*at least 0"),
        (lambda: Tol(np.nan), r"tol=nan"),
        (lambda: Loo(patience=0), r"patience=0.*at least 1"),
        (lambda: Loo(patience=1.5), r"patience=1.5.*whole number"),
        (lambda: Validation(fraction=0), r"fraction=0"),
        (lambda: Validation(fraction=1.0), r"fraction=1.0.*between 0 and 1"),
        (lambda: Validation(X), r"Validation needs both X and y"),
        (lambda: Validation(y=Y), r"Validation needs both X and y"),
        (lambda: Validation() | Validation(), r"[Vv]alidation.*joined"),
        (lambda: Loo() | "nope", r"stop='nope'"),
        (lambda: Loo() | 3, r"stop=3"),
        (lambda: Polynomial(degree=0), r"degree=0"),
        (lambda: Polynomial(degree=2.5), r"degree=2.5"),
        (lambda: Polynomial(coef0=np.nan), r"coef0=nan"),
        (lambda: RationalQuadratic(shape=0), r"shape=0"),
        (lambda: Functions(3), r"Functions.*3"),
        (lambda: Functions(), r"Functions\(\) is empty"),
    ],
)
def test_bad_parts(make, pattern):
    assert_refused(make, pattern)


def test_an_error_in_a_kernel_comes_through():
    """The user's own error is shown as it is: it says more than any sentence of ours."""

    def broken(X, C):
        raise ZeroDivisionError("in the user's own code")

    model = plain_regressor(kernel=broken)
    with pytest.raises(ZeroDivisionError, match="user's own code"):
        model.fit(X, Y)
    assert vars(model) == model.get_params(deep=False)


@every_case("kernel", ["rbf", "precomputed"])
@every_case(
    ("rows", "pattern"),
    [
        (X[0], r"[Rr]eshape|2D"),
        (X[:, :1], r"1 features.*expecting 3"),
        (spoiled(X, np.nan), r"\bX\b.*NaN"),
        (X[:0], r"0 sample"),
        (None, r"\bX\b|2D"),
        (X[None], r"dim"),
    ],
    ids=["one dimension", "features", "NaN", "empty", "None", "three dimensions"],
)
def test_bad_rows_to_predict(kernel, rows, pattern):
    model = plain_regressor(kernel=kernel, max_atoms=2, stop="max").fit(X, Y)
    for call in (model.predict, lambda rows: next(model.staged_predict(rows)), model.at(0).predict):
        with pytest.raises(ValueError, match=pattern):
            call(rows)


BEYOND = {
    "X 1e200": (1e200, 1.0),
    "X 1e-200": (1e-200, 1.0),
    "X 1e300": (1e300, 1.0),
    "X 1e-310": (1e-310, 1.0),
    "y 1e200": (1.0, 1e200),
    "y 1e300": (1.0, 1e300),
    "y 1e-200": (1.0, 1e-200),
    "y 1e-300": (1.0, 1e-300),
    "y 1e-310": (1.0, 1e-310),
}


@every_case("case", BEYOND)
def test_scales_whose_squares_leave_the_range(case):
    """Beyond what squares can hold: the prediction of the same data in other units, or one sentence."""
    of_X, of_y = BEYOND[case]
    model, plain = (plain_regressor(max_atoms=6, stop="max") for _ in range(2))
    refusal = None
    try:
        model.fit(of_X * X, of_y * Y)
    except ValueError as error:
        refusal = str(error)
    if refusal is None:
        prediction = model.predict(of_X * X) / of_y
        np.testing.assert_allclose(prediction, plain.fit(X, Y).predict(X), rtol=1e-6, atol=1e-6)
    else:
        assert re.search(rf"(\b{case[0]}\b|gamma).*\.$", refusal)
        assert "\n" not in refusal
