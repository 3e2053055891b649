"""A loop over cases fails where a case does, and says which."""

import unittest

import numpy as np
import pytest
from folding import every_case, run_each


@every_case("a", [1, 2])
@every_case(("b", "c"), [(3, 4), pytest.param(5, 6, id="large")])
def product(seen, a, b, c):
    seen.append((a, b, c))


def test_all_cases_run_in_all_combinations():
    seen = []
    product(seen)
    assert sorted(seen) == [(1, 3, 4), (1, 5, 6), (2, 3, 4), (2, 5, 6)]


def test_the_first_failure_is_raised_with_the_names_of_all():
    @every_case("number", [1, -2, 3, -4])
    def positive(number):
        assert number > 0, f"{number} is not"

    with pytest.raises(AssertionError, match="-2 is not") as failure:
        positive()
    assert failure.value.__notes__ == ["2 of 4 cases failed: number=-2; number=-4"]


def test_a_refusal_that_does_not_come_is_a_failure():
    @every_case("number", [1, 2], ids=["one", "two"])
    def refused(number):
        with pytest.raises(ZeroDivisionError):
            1 / (number - 1)

    with pytest.raises(pytest.fail.Exception) as failure:
        refused()
    assert failure.value.__notes__ == ["1 of 2 cases failed: two"]


def test_a_generator_starts_anew_in_every_case():
    seen = []

    @every_case("case", range(3))
    def draws(case, rng):
        seen.append(rng.normal())

    draws(rng=np.random.default_rng(0))
    assert seen == [np.random.default_rng(0).normal()] * 3


def test_only_a_loop_of_which_all_is_skipped_is_skipped():
    def run(skipped):
        if skipped:
            raise unittest.SkipTest

    run_each([("a", True), ("b", False)], run)
    with pytest.raises(pytest.skip.Exception):
        run_each([("a", True), ("b", True)], run)


def test_no_cases_are_refused():
    with pytest.raises(AssertionError, match="no case"):
        every_case("a", [])


class TestInAClass:
    @every_case("number", [1, 2])
    @pytest.mark.parametrize("factor", [2, 3])
    def test_beside_other_parameters_and_fixtures(self, number, factor, tmp_path):
        assert tmp_path.exists()
        assert number * factor in (2, 3, 4, 6)
