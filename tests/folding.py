"""Many small cases in one test: `every_case` is written as `pytest.mark.parametrize` and loops inside the test.

A test of its own costs about ten milliseconds of collecting, sending and reporting; a case in a loop costs nothing.
All cases run, also after one has failed. The failure that is shown is the first, with the names of all in its notes.
"""

import copy
import functools
import inspect
import unittest

import numpy as np
import pytest


def every_case(names, values, ids=None):
    """Run a test for each of the values, which are named as in `pytest.mark.parametrize`; several of these multiply.

    A random generator among the fixtures starts anew in every case; all other fixtures are shared by them.
    """
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    cases = [_as_case(value, len(names)) for value in values]
    labels = [_label(label, case, names, ids, place) for place, (label, case) in enumerate(cases)]
    assert cases, "a test of no case cannot fail"

    def fold(test):
        signature = inspect.signature(test)
        assert set(names) <= set(signature.parameters), f"{test.__name__} takes no {names}"

        @functools.wraps(test)
        def loop(*args, **fixtures):
            def run(case):
                test(*args, **{name: _anew(value) for name, value in fixtures.items()}, **dict(zip(names, case)))

            run_each(zip(labels, (case for _, case in cases)), run)

        left = [parameter for name, parameter in signature.parameters.items() if name not in names]
        loop.__signature__ = signature.replace(parameters=left)
        return loop

    return fold


def run_each(cases, run):
    """Call `run` for every (label, case); raise the first failure, with the labels of all that failed in its notes."""
    failures, n_skipped, n_cases = [], 0, 0
    for label, case in cases:
        n_cases += 1
        try:
            run(case)
        except (pytest.skip.Exception, unittest.SkipTest):
            n_skipped += 1
        except (Exception, pytest.fail.Exception) as failure:
            failures.append((label, failure))
    if failures:
        first = failures[0][1]
        first.add_note(f"{len(failures)} of {n_cases} cases failed: " + "; ".join(label for label, _ in failures))
        raise first
    if n_skipped == n_cases:
        pytest.skip("all cases were skipped")


def _as_case(value, n_names):
    """The label of a case, if it has one, and its values."""
    if isinstance(value, type(pytest.param())):
        assert not value.marks, "a case has no marks"
        return value.id, tuple(value.values)
    return None, (value,) if n_names == 1 else tuple(value)


def _label(label, case, names, ids, place):
    if label is not None:
        return label
    if ids is not None:
        return str([ids(value) for value in case] if callable(ids) else list(ids)[place])
    return ", ".join(f"{name}={value!r}"[:200] for name, value in zip(names, case))


def _anew(value):
    return copy.deepcopy(value) if isinstance(value, np.random.Generator) else value
