"""Callbacks in every stage of a fit, the time limit (by a clock that counts its calls), and the line of progress."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, pursuit_path
from kernelpursuit.callbacks import Callback, Stage, TimeLimit
from kernelpursuit.data import make_friedman
from kernelpursuit.learning import choose_kernel, plan, stages
from kernelpursuit.pursuit import progress, watch
from kernelpursuit.pursuit.watch import ALL_ROWS, Watch

STAGES = ["scales, round 1 of 2", "scales, round 2 of 2", "kernel 2 of 3", "widths", "atoms", ALL_ROWS]


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(plan.ScalesPlan, "__init__", short(plan.ScalesPlan, n_atoms=8, n_steps=3, n_rounds=2))
    monkeypatch.setattr(plan.RefinePlan, "__init__", short(plan.RefinePlan, n_steps=2, n_rounds=2))
    monkeypatch.setattr(plan, "THREE_KERNELS_FROM", 100)
    # So few rows would all be atoms, and other kernels be out before they have a round.
    for module in (stages, choose_kernel):
        monkeypatch.setattr(module, "EVERY_ROW_BELOW", 0)
    monkeypatch.setattr(choose_kernel, "CROSS_VALIDATED_BELOW", 0)
    monkeypatch.setattr(choose_kernel, "start_of_another", lambda kernel, model, *others, **named: model)


def short(kind, **settings):
    init = kind.__init__

    def begin(self, **given):
        init(self, **{**settings, **given})

    return begin


@pytest.fixture(scope="module")
def rows():
    X, y = make_friedman(120, seed=2)
    return X[:, :4], y


@pytest.fixture(scope="module")
def classes():
    return make_blobs(90, 2, centers=3, cluster_std=2.0, random_state=0)


def regressor(**settings):
    """A regressor with all stages: with other penalties than ridge, so few rows have few of them."""
    defaults = {"random_state": 0, "n_jobs": 1, "max_atoms": 12, "penalty": "ridge"}
    return KernelPursuitRegressor(**{**defaults, **settings})


def classifier(**settings):
    return KernelPursuitClassifier(**{"random_state": 0, "n_jobs": 1, "max_atoms": 6, **settings})


class Follows(Callback):
    """Notes every question, and ends the stages of one name, or raises there."""

    def __init__(self, ends=None, raises=None):
        self.ends, self.raises, self.seen, self.sizes, self.n_starts = ends, raises, [], [], 0

    def on_start(self):
        self.n_starts += 1

    def on_stage(self, stage):
        self.seen.append(stage)
        if self.raises is not None and stage.name.startswith(self.raises):
            raise KeyboardInterrupt
        return self.ends is not None and stage.name.startswith(self.ends)

    def __call__(self, path):
        self.sizes.append(path.n_steps)

    @property
    def names(self):
        return [name for name, _ in itertools.groupby(stage.name for stage in self.seen)]


class TestStages:
    def test_all_of_them_are_followed_in_order(self, rows):
        callback = Follows()
        model = regressor(stop="max").fit(*rows, callback=callback)
        wanted = [*STAGES[:3], "kernel 3 of 3", *STAGES[3:]]
        assert callback.names == wanted
        assert callback.n_starts == 1
        assert callback.sizes == list(range(1, len(model.path_) + 1))
        fractions = [stage.fraction for stage in callback.seen]
        assert fractions == sorted(fractions)
        assert all(0 <= stage.fraction <= stage.end <= 1 for stage in callback.seen)
        assert callback.seen[-1].end == 1

    def test_watching_changes_nothing(self, rows):
        X, y = rows
        alone, watched = regressor().fit(X, y), regressor().fit(X, y, callback=Follows())
        np.testing.assert_array_equal(watched.predict(X), alone.predict(X))
        assert watched.stop_reason_ == alone.stop_reason_

    def test_refinement_is_followed(self, rows):
        callback = Follows()
        regressor(refine=True).fit(*rows, callback=callback)
        assert "refining, round 1" in callback.names

    @pytest.mark.parametrize("stage", [*STAGES[:-1], "refining"])
    def test_each_may_be_ended_and_the_others_go_on(self, rows, stage):
        X, y = rows
        callback = Follows(ends=stage)
        model = regressor(refine=stage == "refining").fit(X, y, callback=callback)
        asked = [one for one in callback.seen if one.name.startswith(stage)]
        whole = Follows()
        regressor(refine=stage == "refining").fit(X, y, callback=whole)
        assert len(asked) < sum(one.name.startswith(stage) for one in whole.seen)
        assert model.n_atoms_ >= 1
        assert callback.names[-1] == ALL_ROWS
        part = "scales" if stage.startswith("scales") else "kernel" if stage.startswith("kernel") else stage
        assert model.stop_reason_.endswith(f"Follows cut short: {part}")
        assert np.isfinite(model.predict(X)).all()

    @pytest.mark.parametrize("stage", [*STAGES, "refining"])
    def test_an_interrupt_in_each_leaves_nothing_behind(self, rows, stage):
        model = regressor(refine=stage == "refining")
        with pytest.raises(KeyboardInterrupt):
            model.fit(*rows, callback=Follows(raises=stage))
        assert not hasattr(model, "path_")

    def test_refits_of_a_loss_ask_between_two_steps(self, classes):
        callback = Follows()
        model = classifier().fit(*classes, callback=callback)
        last = [stage for stage in callback.seen if stage.name == ALL_ROWS]
        assert len(last) > 2 * len(model.path_)

    def test_each_class_of_one_against_the_rest_has_a_stage(self, classes):
        callback = Follows()
        model = classifier(multi_class="ovr").fit(*classes, callback=callback)
        assert callback.names[-3:] == ["class 1 of 3", "class 2 of 3", "class 3 of 3"]
        assert callback.n_starts == 1
        assert callback.sizes == [k for one in model.estimators_ for k in range(1, len(one.path_) + 1)]

    def test_folds_are_followed(self, rows):
        callback = Follows()
        regressor(gamma="scale", stop="cv").fit(*rows, callback=callback)
        assert callback.names[1:6] == [f"fold {i} of 5" for i in range(1, 6)]


class TestCallbacks:
    def test_all_of_a_list_are_asked(self, rows):
        first, sizes = Follows(ends="atoms"), []
        model = regressor(stop="max").fit(*rows, callback=[first, lambda path: sizes.append(path.n_steps)])
        assert sizes == first.sizes == list(range(1, len(model.path_) + 1))

    def test_any_of_a_list_may_end_the_fit(self, rows):
        model = regressor(gamma="scale", stop="max").fit(
            *rows, callback=[Follows(), lambda path: path.n_steps == 3, Follows()]
        )
        assert model.n_atoms_ == 3

    @pytest.mark.parametrize("callback", [3, TimeLimit, [3], "soon"], ids=repr)
    def test_others_are_refused_before_anything_is_learned(self, rows, callback, monkeypatch):
        monkeypatch.setattr("kernelpursuit.estimators.resolve.learn", None)
        with pytest.raises(ValueError, match=r"^callback=.* is not usable; give a function of the path.*TimeLimit"):
            regressor().fit(*rows, callback=callback)


class TestTimeLimit:
    @staticmethod
    def clock():
        return itertools.count().__next__

    @pytest.mark.parametrize("seconds", [0.5, 5, 40])
    def test_ends_every_stage_in_time_and_says_so(self, rows, seconds):
        X, y = rows
        model = regressor().fit(X, y, callback=TimeLimit(seconds, clock=self.clock()))
        assert model.n_atoms_ >= 1
        assert f"TimeLimit({seconds:g}) cut short: " in model.stop_reason_
        assert ALL_ROWS not in model.stop_reason_, "the atoms that are learned by then are all fitted"
        assert np.isfinite(model.predict(X)).all()

    def test_the_last_stage_keeps_what_was_learned(self, rows):
        X, y = rows
        late = regressor().fit(X, y, callback=Follows(ends=ALL_ROWS))
        np.testing.assert_array_equal(late.predict(X), regressor().fit(X, y).predict(X))

    def test_a_longer_limit_lets_more_be_done(self, rows):
        sizes = [
            len(regressor(gamma="scale", stop="max").fit(*rows, callback=TimeLimit(s, clock=self.clock())).path_)
            for s in (2, 5, 9)
        ]
        assert sizes == [3, 6, 10]  # the first step after the time is over is the last

    def test_one_that_is_not_reached_changes_nothing(self, rows):
        X, y = rows
        alone, limited = regressor().fit(X, y), regressor().fit(X, y, callback=TimeLimit(1e6, clock=self.clock()))
        np.testing.assert_array_equal(limited.predict(X), alone.predict(X))
        assert limited.stop_reason_ == alone.stop_reason_

    @pytest.mark.parametrize("multi_class", ["shared", "ovr"])
    def test_is_shared_by_all_classes(self, classes, multi_class):
        X, y = classes
        model = classifier(multi_class=multi_class).fit(X, y, callback=TimeLimit(120, clock=self.clock()))
        assert "TimeLimit(120) cut short" in model.stop_reason_
        assert model.score(X, y) > 0.5
        if multi_class == "ovr":
            assert all(len(one.path_) >= 1 for one in model.estimators_)

    def test_starts_anew_with_each_fit(self, rows):
        limit = TimeLimit(5, clock=self.clock())
        lengths = [len(regressor(gamma="scale", stop="max").fit(*rows, callback=limit).path_) for _ in range(2)]
        assert lengths == [6, 6]

    def test_goes_with_the_plain_function(self, rows):
        path = pursuit_path(*rows, max_atoms=20, callback=TimeLimit(4, clock=self.clock()))
        assert path.n_steps == 5
        assert path.end_reason == "the callback asked to stop"

    @pytest.mark.parametrize("seconds", [0, -1, np.nan, np.inf, "ten", None])
    def test_refuses_what_is_no_time(self, seconds):
        with pytest.raises(ValueError, match=r"^seconds=.*above 0"):
            TimeLimit(seconds)

    def test_shows_itself(self):
        assert repr(TimeLimit(2.5)) == "TimeLimit(2.5)"


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


class TestLine:
    @pytest.fixture
    def clock(self, monkeypatch):
        clock = Clock()
        monkeypatch.setattr(watch, "time", clock)
        monkeypatch.setattr(progress, "time", clock)
        return clock

    def test_every_stage_is_shown(self, rows, capfd, monkeypatch):
        monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
        monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
        regressor(verbose=True).fit(*rows)
        out, err = capfd.readouterr()
        assert not out
        for name in STAGES[:-1]:
            assert f"kernelpursuit: {name}" in err
        assert "kernelpursuit: 1 of at most 12 atoms, relative residual" in err

    def test_nothing_is_shown_for_two_seconds(self, clock, capfd):
        seen = Watch(verbose=True)
        for clock.now in (0.0, 1.0, 1.9):
            seen.ask(clock.now / 10)
        assert capfd.readouterr().err == ""
        clock.now = 2.0
        seen.ask(0.2)
        assert capfd.readouterr().err == "kernelpursuit: fitting all rows, 2 s, about 8 s left\n"

    def test_what_is_left_comes_from_the_estimate_at_first(self, clock, capfd):
        seen = Watch(verbose=True)
        seen.expect({"scales": 50.0, ALL_ROWS: 50.0})
        seen.part("scales")
        clock.now = 3.0
        seen.ask(0.02)
        assert capfd.readouterr().err == "kernelpursuit: scales, 3 s, about 96 s left\n"

    def test_never_nothing_for_long(self, clock, capfd):
        """Where nothing moves, as many seconds are left as nothing has moved for."""
        seen = Watch(verbose=True)
        clock.now = 10.0
        seen.ask(0.999)
        clock.now = 70.0
        seen.ask(0.999)
        lines = capfd.readouterr().err.splitlines()
        assert lines[0].endswith("10 s, about 1 s left")
        assert lines[1].endswith("70 s, about 60 s left")

    def test_parts_have_their_share(self):
        seen, follows = Watch(), Follows()
        seen.callbacks = [follows]
        seen.expect({"scales": 1.0, "atoms": 1.0, ALL_ROWS: 2.0})
        seen.part("atoms")
        with seen.within(0.5, 1.0, "second half"):
            seen.ask(0.5)
        seen.part("unexpected")
        seen.ask(0.5)
        assert follows.seen == [Stage("second half", 0.4375, 0.5), Stage("unexpected", 0.5, 0.5)]
