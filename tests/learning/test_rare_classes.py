"""Samples that hold enough of rare classes, and few numbers in place of the codes of many."""

import numpy as np
import pytest

from kernelpursuit import KernelPursuitClassifier
from kernelpursuit.learning import with_fewer_common_rows, with_unseen_rows
from kernelpursuit.learning.constants import COMMON_ROWS, MAX_CODES
from kernelpursuit.learning.stages import _few_codes
from kernelpursuit.rows import Distinct


def distinct_of(classes, weights=None):
    """Rows that are all different."""
    return Distinct.of(np.arange(float(len(classes)))[:, None], classes[:, None].astype(float), weights)


class TestFewerCommonRows:
    def test_classes_that_are_all_common_keep_their_weights(self, rng):
        weights = rng.uniform(size=20_000)
        classes = rng.integers(3, size=20_000)
        assert with_fewer_common_rows(classes, weights, distinct_of(classes, weights), 0) is weights
        assert with_fewer_common_rows(classes, None, distinct_of(classes), 0) is None

    @pytest.mark.parametrize("is_weighted", [False, True])
    def test_sums_of_weights_stay(self, rng, is_weighted):
        classes = (np.arange(20_000) % 1000 == 0).astype(int)
        weights = rng.uniform(0.5, 2.0, size=20_000) if is_weighted else np.ones(20_000)
        weights[:10] = 0.0
        left = with_fewer_common_rows(classes, weights, distinct_of(classes, weights), 0)
        np.testing.assert_allclose(left[classes == 1], weights[classes == 1])
        assert np.count_nonzero(left[classes == 0]) == COMMON_ROWS
        assert not left[:10].any()
        assert left[classes == 0].sum() == pytest.approx(weights[classes == 0].sum())

    def test_validation_rows_have_every_class_in_its_share(self, rng):
        classes = (np.arange(20_000) % 500 == 0).astype(int)
        seen = with_fewer_common_rows(classes, None, distinct_of(classes), 0)
        marks = np.zeros(20_000, dtype=bool)
        for label in (0, 1):
            of_class = np.flatnonzero((classes == label) & (seen > 0))
            marks[of_class[: len(of_class) // 5]] = True
        more = with_unseen_rows(marks, seen, None, distinct_of(classes))
        assert (more[seen > 0] == marks[seen > 0]).all()
        assert more[classes == 0].mean() == pytest.approx(0.2, abs=0.005)
        assert more[classes == 1].mean() == pytest.approx(0.2, abs=0.005)


class TestManyCodes:
    class Task:
        classes, seed = True, 0

    def test_few_stay_as_they_are(self, rng):
        y = rng.normal(size=(10, MAX_CODES))
        assert _few_codes(y, self.Task()) is y

    def test_distances_between_rows_are_kept_on_average(self, rng):
        y = np.eye(400)[rng.integers(400, size=3000)]
        few = _few_codes(y, self.Task())
        assert few.shape == (3000, MAX_CODES)
        assert np.square(few).sum() * 400 / MAX_CODES == pytest.approx(np.square(y).sum(), rel=0.05)

    def test_a_hundred_classes_are_told_apart(self, rng):
        means = 4 * rng.normal(size=(100, 6))
        y = np.arange(3000) % 100
        X = means[y] + rng.normal(size=(3000, 6))
        model = KernelPursuitClassifier(max_atoms=150, random_state=0, n_jobs=1).fit(X[:1500], y[:1500])
        assert model.score(X[1500:], y[1500:]) > 0.9
