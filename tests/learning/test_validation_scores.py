"""What validation rows say of a final loss: folds, coefficients of trials, log losses, and the width that is chosen."""

from dataclasses import replace

import numpy as np
import pytest
from oracles import refit
from scipy.optimize import minimize
from scipy.special import log_softmax

from kernelpursuit.learning import final_loss
from kernelpursuit.learning.constants import FINAL_LOSS_FOLDS, FINAL_LOSS_ROWS, FINAL_WIDTH_FACTORS, ONE_SPLIT_FROM
from kernelpursuit.learning.final_loss import (
    Columns,
    FinalLoss,
    Split,
    ValidationScores,
    choose_final_loss,
    deal_folds,
    sample_of,
    scores_under,
    square_scores,
    targets_of,
)
from kernelpursuit.losses import Logistic, Softmax, SquaredHinge
from kernelpursuit.pursuit import Watch
from kernelpursuit.rows import Distinct

STRENGTH = 0.3


def coded(y, n_classes):
    """Codes of -1 and +1, shape (n_targets, n_rows)."""
    codes = np.where(np.arange(n_classes)[:, None] == y, 1.0, -1.0)
    return codes[1:] if n_classes == 2 else codes


def columns(rng, n_rows=50, n_classes=2, n_atoms=4):
    """A constant and some atoms, whose penalty is no diagonal, and classes that go by them."""
    values = np.vstack([np.ones(n_rows), rng.normal(size=(n_atoms, n_rows))])
    y = np.argmax(values[1 : 1 + n_classes] + rng.normal(size=(n_classes, n_rows)), axis=0)
    root = rng.normal(size=(n_atoms, n_atoms))
    gram = root @ root.T + 0.1 * np.eye(n_atoms)
    return Columns(values, 1, gram, codes=coded(y, n_classes), weights=rng.uniform(0.5, 2, size=n_rows))


class TestFolds:
    def deal(self, y, weights=None, seed=0, X=None):
        X = np.arange(float(len(y)))[:, None] if X is None else X
        codes = coded(y, int(y.max()) + 1)
        return list(deal_folds(codes, Distinct.of(X, codes.T, weights), seed))

    def test_every_row_is_in_one(self):
        marks = self.deal(np.arange(101) % 3)
        assert len(marks) == FINAL_LOSS_FOLDS
        np.testing.assert_array_equal(np.sum(marks, axis=0), 1)

    def test_every_class_has_its_share_in_each(self):
        y = np.repeat([0, 1, 2], [80, 16, 4])
        for marks in self.deal(y):
            np.testing.assert_array_equal(np.bincount(y[marks]), [20, 4, 1])

    def test_rows_of_no_weight_are_in_none(self):
        weights = np.where(np.arange(60) % 5, 1.0, 0.0)
        np.testing.assert_array_equal(np.sum(self.deal(np.arange(60) % 2, weights), axis=0), weights)

    def test_copies_of_a_row_are_in_the_same(self):
        X, y = np.repeat(np.arange(30.0), 2)[:, None], np.repeat(np.arange(30) % 2, 2)
        for marks in self.deal(y, X=X):
            np.testing.assert_array_equal(marks[::2], marks[1::2])

    def test_they_are_no_matter_of_the_order_of_rows(self, rng):
        y, X, order = np.arange(60) % 3, rng.normal(size=(60, 2)), rng.permutation(60)
        for marks, other in zip(self.deal(y, X=X), self.deal(y[order], X=X[order])):
            np.testing.assert_array_equal(marks[order], other)

    def test_of_many_rows_one_is_enough(self):
        (marks,) = self.deal(np.arange(ONE_SPLIT_FROM) % 2)
        assert marks.sum() == ONE_SPLIT_FROM // FINAL_LOSS_FOLDS

    def test_another_seed_deals_others(self):
        y = np.arange(60) % 2
        assert (self.deal(y)[0] != self.deal(y, seed=1)[0]).any()

    def test_samples(self, rng):
        n = FINAL_LOSS_ROWS + 500
        X, marks = rng.normal(size=(n, 1)), np.arange(n) % 9 > 0
        codes, order = np.ones((n, 1)), rng.permutation(n)
        few = sample_of(np.arange(n) < 20, Distinct.of(X, codes, None), 0)
        np.testing.assert_array_equal(few, np.arange(20))
        one = sample_of(marks, Distinct.of(X, codes, None), 0)
        assert len(one) == min(FINAL_LOSS_ROWS, marks.sum())
        assert marks[one].all()
        other = sample_of(marks[order], Distinct.of(X[order], codes, None), 0)
        np.testing.assert_array_equal(one, np.sort(order[other]))


class TestCoefficients:
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_squares(self, rng, n_classes):
        rows = columns(rng, n_classes=n_classes)
        want = refit(rows.values.T, rows.codes.T, rows.penalty(STRENGTH), rows.weights)
        np.testing.assert_allclose(rows.squares(STRENGTH), want, rtol=1e-6, atol=1e-8)

    @pytest.mark.parametrize(("loss", "n_classes"), [(Logistic(), 2), (Logistic(), 3), (Softmax(), 3)])
    @pytest.mark.parametrize("strength", [1.0, 1e-3])
    def test_other_losses(self, rng, loss, n_classes, strength):
        """To the three digits that a trial needs."""
        rows = columns(rng, n_classes=n_classes)
        y, L = targets_of(rows.codes, loss), rows.penalty(strength)

        def cost(w):
            w = w.reshape(len(rows.values), -1)
            return rows.weights @ loss.value(y, w.T @ rows.values) + (w * (L @ w)).sum()

        start = rows.start(loss)
        found = rows.under(loss, strength, start, Watch(None, False))
        least = minimize(cost, np.zeros(start.size), method="BFGS")
        assert least.fun - 1e-6 <= cost(found) < least.fun * (1 + 1e-5)

    def test_targets(self):
        codes = np.array([[-1.0, 1.0], [1.0, -1.0]])
        np.testing.assert_array_equal(targets_of(codes, Softmax()), [[0, 1], [1, 0]])
        np.testing.assert_array_equal(targets_of(codes, Logistic()), codes)


class TestScores:
    @pytest.fixture
    def splits(self, rng):
        """Two folds of the same rows."""
        rows = columns(rng, n_classes=3)
        halves = [np.arange(50) % 2 == i for i in (0, 1)]
        parts = [
            Columns(rows.values[:, half], 1, rows.gram, codes=rows.codes[:, half], weights=rows.weights[half])
            for half in halves
        ]
        return [Split(parts[0], parts[1]), Split(parts[1], parts[0])]

    def test_they_are_of_rows_that_were_not_fitted(self, splits):
        scores = square_scores(splits, STRENGTH).scores
        for i, split in enumerate(splits):
            want = split.fit.squares(STRENGTH).T @ split.validation.values
            np.testing.assert_allclose(scores[:, 25 * i : 25 * (i + 1)], want)

    def test_under_a_loss(self, splits):
        watch = Watch(None, False)
        found = scores_under(splits, Softmax(), STRENGTH, watch)
        first = splits[0].fit
        want = first.under(Softmax(), STRENGTH, first.start(Softmax()), watch).T @ splits[0].validation.values
        np.testing.assert_array_equal(found.scores[:, :25], want)
        assert found.inverse_temperature is None
        assert scores_under(splits, SquaredHinge(), STRENGTH, watch).inverse_temperature > 0

    def test_log_losses(self, splits):
        square = square_scores(splits, STRENGTH)
        weights, true = square.weights, square.codes.argmax(axis=0)
        for found in (square, scores_under(splits, Softmax(), STRENGTH, Watch(None, False))):
            factor = found.inverse_temperature or 1.0
            logs = log_softmax(factor * found.scores, axis=0)[true, np.arange(50)]
            assert found.log_loss == pytest.approx(-(weights @ logs) / weights.sum())
        # The inverse temperature is the best one, but for a little doubt.
        for factor in (0.8, 1.25):
            logs = log_softmax(factor * square.inverse_temperature * square.scores, axis=0)[true, np.arange(50)]
            assert -(weights @ logs) / weights.sum() > square.log_loss

    def test_a_loss_is_chosen_only_where_it_beats_its_rival(self, rng):
        rows, validation = columns(rng, 300), columns(np.random.default_rng(1), 300)
        splits = [Split(rows, replace(validation, gram=rows.gram))]
        own = scores_under(splits, Logistic(), 0.01, Watch(None, False))
        far_better = replace(own, scores=5 * own.codes)
        no_better = replace(own, scores=0.1 * own.scores)
        for rival, is_chosen in ((far_better, False), (own, False), (no_better, True), (None, True)):
            found = choose_final_loss(lambda factor: splits, Logistic(), Watch(None, False), rival)
            assert (found is not None) == is_chosen


class TestWidth:
    """Wider atoms are taken as long as they are as good, within a hundredth of the least loss."""

    @pytest.mark.parametrize(
        ("losses", "width"),
        [
            ([1.0, 1.5, 0.1], 1.0),
            ([1.0, 1.005, 1.015], 2.0),
            ([1.0, 0.9, 0.93], 2.0),
            ([1.0, 0.9, 0.8], 4.0),
            ([1.0, 1.0, 1.0], 4.0),
        ],
    )
    def test_is_the_largest_that_is_as_good(self, monkeypatch, losses, width):
        of_width = dict(zip((1.0, *FINAL_WIDTH_FACTORS), losses))

        class Scores:
            def __init__(self, mean_loss):
                self.mean_loss = mean_loss

        monkeypatch.setattr(
            final_loss, "_best_penalty", lambda factor, *others: FinalLoss(1.0, 0.1, Scores(of_width[factor]))
        )
        found = choose_final_loss(lambda factor: factor, Logistic(), Watch(None, False))
        assert (found.width_factor, found.scores.mean_loss) == (width, of_width[width])

    def test_the_penalty_is_that_of_the_least_loss(self, rng):
        """On either side of the first, while the loss falls by a hundredth."""
        rows, validation = columns(rng, 400), columns(np.random.default_rng(1), 400)
        validation = Columns(validation.values, 1, rows.gram, codes=validation.codes, weights=validation.weights)
        splits = [Split(rows, validation)]
        found = choose_final_loss(lambda factor: splits, Logistic(), Watch(None, False))
        weaker = scores_under(splits, Logistic(), 0.1 * found.strength, Watch(None, False))
        stronger = scores_under(splits, Logistic(), 10 * found.strength, Watch(None, False))
        assert 0.99 * found.scores.mean_loss <= min(weaker.mean_loss, stronger.mean_loss) + 1e-6


class TestClearlyBelow:
    """The log loss is taken where it is lower by 2 %, or by two standard errors of the difference."""

    @staticmethod
    def scores(n_rows, gain, rng):
        """Scores of two models: log losses of 0.7 on average, those of the second lower by `gain`."""
        codes, noise = np.ones((1, n_rows)), 0.2 * rng.normal(size=n_rows)
        log_losses = np.log(2) + 0.1 * rng.normal(size=n_rows), np.log(2) - gain + noise - noise.mean()
        # All rows are of one class, whose probability exp(-log loss) is 1 / (1 + exp(-2 score)).
        return [
            ValidationScores(-0.5 * np.log(np.expm1(np.abs(one)))[None, :], codes, np.ones(n_rows), Logistic())
            for one in log_losses
        ]

    @pytest.mark.parametrize(
        ("n_rows", "gain", "is_clear"),
        [(200, 0.004, False), (200, 0.05, True), (40_000, 0.01, True), (40_000, -0.01, False)],
    )
    def test_by_a_fraction_or_by_no_chance(self, rng, n_rows, gain, is_clear):
        rival, scores = self.scores(n_rows, gain, rng)
        np.testing.assert_allclose(scores.log_loss, scores.log_losses.mean())
        assert scores.is_clearly_below(rival) is is_clear
