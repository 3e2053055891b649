"""The estimate of a fit's time: operations counted by part, by a machine of given speed."""

import pytest

from kernelpursuit.learning import LearningSpec, make_plan, plan
from kernelpursuit.learning.constants import LIKELY_FINAL_LOSS
from kernelpursuit.pursuit.watch import ALL_ROWS


@pytest.fixture(autouse=True)
def _a_machine_of_given_speed(monkeypatch):
    monkeypatch.setattr(plan, "operations_a_second", lambda: 1.7e10)


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


# Processor seconds of fits by one thread on one machine, from which the constants were taken: of rows, features and
# outputs; numbers under the squared and another loss, and classes.
MEASURED = [
    ((1000, 10, 1, "squared"), 6.4),
    ((4000, 10, 1, "squared"), 7.5),
    ((20_000, 10, 1, "squared"), 16.5),
    ((300_000, 10, 1, "squared"), 30.5),
    ((1_000_000, 10, 1, "squared"), 51.4),
    ((600, 10, 1, "huber"), 4.3),
    ((3000, 10, 1, "huber"), 12.0),
    ((20_000, 10, 1, "huber"), 27.4),
    ((300_000, 10, 1, "huber"), 50.9),
    ((1000, 10, 1, "classes"), 4.6),
    ((3000, 10, 1, "classes"), 6.2),
    ((20_000, 10, 1, "classes"), 20.0),
    ((300_000, 10, 1, "classes"), 32.9),
    ((20_000, 10, 10, "classes"), 28.3),
    ((3000, 16, 26, "classes"), 11.1),
]


@pytest.mark.parametrize(("data", "seconds"), MEASURED)
def test_is_within_a_factor_of_two_of_what_was_measured(data, seconds):
    n_rows, n_features, n_outputs, kind = data
    settings = {
        "squared": {"by_evidence": True},
        "huber": {"has_loss": True},
        "classes": {"classes": True, "final_loss": LIKELY_FINAL_LOSS, "by_evidence": n_rows < 1500},
    }
    estimate = planned(
        min(n_rows, 200_000),
        n_features,
        n_outputs=n_outputs,
        n_all_rows=n_rows,
        n_loss_rows=30_000,
        **settings[kind],
    ).seconds()
    assert seconds / 2 < estimate < 2 * seconds


def test_shares_of_classes_add_up():
    known = planned(20_000, classes=True, final_loss=1.0)
    square, validated = known.shares_of_classes()
    assert 0 < square < validated < 1
    assert planned(20_000, classes=True).shares_of_classes()[1] == pytest.approx(1.0)
    final = known.seconds_by_part()[ALL_ROWS] * (1 - validated)
    without = planned(20_000, classes=True).seconds_by_part()[ALL_ROWS]
    assert without + final == pytest.approx(known.seconds_by_part()[ALL_ROWS])


def test_passes_over_all_rows_count():
    sampled = {"has_loss": True, "n_loss_rows": 30_000}
    few, many = (planned(200_000, n_all_rows=n, **sampled).seconds_by_part() for n in (200_000, 5_000_000))
    assert few[ALL_ROWS] < many[ALL_ROWS] < 25 * few[ALL_ROWS]
    assert {name: few[name] for name in few if name != ALL_ROWS} == {
        name: many[name] for name in many if name != ALL_ROWS
    }
    assert planned(200_000, n_threads=2).seconds() < planned(200_000).seconds()
