"""The estimate of a fit's time: operations counted by part, by a machine of given speed."""

import pytest

from kernelpursuit.learning import LearningSpec, make_plan, plan
from kernelpursuit.pursuit.watch import ALL_ROWS


@pytest.fixture(autouse=True)
def _a_machine_of_given_speed(monkeypatch):
    monkeypatch.setattr(plan, "operations_a_second", lambda: 4e10)


def planned(n_rows=4000, n_features=10, n_kernels=3, **settings):
    given = {"max_atoms": 512, "picks_atoms": True, "refine": "auto", **settings}
    return make_plan(LearningSpec(n_rows, n_features, n_kernels, **given))


def test_parts_are_those_that_a_fit_has():
    assert list(planned().seconds_by_part()) == ["starts", "scales", "kernel", "widths", "atoms", ALL_ROWS]
    refined = planned(20_000).seconds_by_part()
    assert list(refined) == ["starts", "scales", "kernel", "atoms", "refining", ALL_ROWS]
    assert all(seconds > 0 for seconds in refined.values())
    assert list(planned(picks_atoms=False, n_outputs=3, has_loss=True).seconds_by_part()) == [
        "starts",
        "scales",
        "kernel",
        ALL_ROWS,
    ]


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ({}, {"has_loss": True}),
        ({"has_loss": True}, {"has_loss": True, "n_outputs": 26}),
        ({}, {"n_rows": 40_000}),
        ({"max_atoms": 50}, {}),
        ({"refine": False, "n_rows": 9000}, {"n_rows": 9000, "refine": True, "all_atoms": True}),
    ],
)
def test_more_work_takes_longer(less, more):
    assert planned(**less).seconds() < planned(**more).seconds()


# Processor seconds of fits by one thread on one machine, from which the constants were taken.
MEASURED = [
    ((442, 10, 1, False), 0.6),
    ((1000, 10, 1, False), 1.2),
    ((4000, 10, 1, False), 2.7),
    ((20_000, 10, 1, False), 4.8),
    ((600, 10, 1, True), 2.9),
    ((3000, 10, 1, True), 8.7),
    ((1797, 64, 10, True), 14.9),
    ((2000, 10, 5, True), 11.7),
    ((2000, 16, 26, True), 22.5),
    ((10_000, 20, 1, True), 10.5),
    ((6000, 16, 26, True), 49.0),
]


@pytest.mark.parametrize(("data", "seconds"), MEASURED)
def test_is_within_a_factor_of_two_of_what_was_measured(data, seconds):
    n_rows, n_features, n_outputs, has_loss = data
    estimate = planned(n_rows, n_features, n_outputs=n_outputs, has_loss=has_loss).seconds()
    assert seconds / 2 < estimate < 2 * seconds
