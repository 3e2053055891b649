"""`Loo(within=)`: the fewest atoms whose leave-one-out error is close to the least."""

import re

import numpy as np
import pytest
from made_paths import make_path
from plain import plain_regressor

from kernelpursuit.stopping import Loo

LOO = [10.0, 6.0, 4.1, 4.19, 4.02, 4.0, 4.5]


def path(loo=LOO, **more):
    return make_path(np.arange(len(loo), 0, -1.0), loo=loo, **more)


@pytest.mark.parametrize(
    ("within", "k"),
    [(0.0, 5), (0.004, 5), (0.005, 4), (0.02, 4), (0.025, 2), (0.5, 1), (1.49, 1), (1.5, 0), (100.0, 0)],
)
def test_keeps_the_fewest_atoms_within_the_part(within, k):
    assert Loo(within=within).choose(path()) == k


def test_the_first_that_is_close_and_not_the_last():
    assert Loo(within=0.05).choose(path([9.0, 1.04, 2.0, 1.0, 1.03])) == 1


def test_explains_what_was_kept_and_where_the_least_is():
    assert Loo(within=0.05).explain(path()) == "2 atoms: within 5 % of the least leave-one-out error, at 5"
    assert Loo(within=0.025).explain(path()) == "2 atoms: within 2.5 % of the least leave-one-out error, at 5"


def test_explains_as_before_where_the_least_is_kept():
    assert Loo(within=0.001).explain(path()) == Loo().explain(path())


def test_says_that_the_error_was_still_falling():
    words = Loo(within=0.1).explain(path([10.0, 1.05, 1.02, 1.0]))
    assert words.startswith("1 atom: within 10 % of the least leave-one-out error, at 3")
    assert "still falling" in words


def test_without_any_error_that_is_finite():
    for loo in ([np.inf] * 4, [np.inf]):
        rule = Loo(within=0.05)
        assert rule.choose(path(loo)) == Loo().choose(path(loo)) == 0
        assert rule.explain(path(loo)) == Loo().explain(path(loo))


def test_beside_errors_that_are_infinite():
    assert Loo(within=0.05).choose(path([np.inf, 3.0, 1.04, 1.0, np.inf])) == 2


@pytest.mark.parametrize("loo", [[2.0, -1.0, -1.9, -2.0], [3.0, 1e-300, 0.0, 1.0]])
def test_errors_of_losses_that_reach_zero_and_below(loo):
    k = Loo(within=0.06).choose(path(loo))
    assert k == 2


@pytest.mark.parametrize("within", [-0.01, np.nan, np.inf, "a", None, True])
def test_refuses_what_is_no_part(within):
    with pytest.raises(ValueError, match=r"^within=.* give a number of at least 0\.$"):
        Loo(within=within)


def test_is_shown_with_its_part():
    assert re.search(r"within=0\.05", repr(Loo(within=0.05)))
    assert Loo(within=0.05) == Loo(within=0.05) != Loo()


def test_as_the_rule_of_a_fit(some):
    X, y = some
    model = plain_regressor(max_atoms=40, alpha=1e-2, stop=Loo(within=0.2)).fit(X, y)
    loo = model.path_.loo
    assert loo[model.n_atoms_] <= 1.2 * loo.min()
    assert (loo[: model.n_atoms_] > 1.2 * loo.min()).all()
    assert model.n_atoms_ < int(loo.argmin())
    assert model.stop_reason_ == Loo(within=0.2).explain(model.path_)
    assert model.select(Loo(within=0.0)).n_atoms_ == int(loo.argmin())


def test_joined_with_patience(some):
    X, y = some
    model = plain_regressor(max_atoms=60, alpha=1e-2, stop=Loo(patience=5, within=0.2)).fit(X, y)
    assert len(model.path_) < 60
    assert model.path_.loo[model.n_atoms_] <= 1.2 * model.path_.loo.min()
