"""How far the score of the true class is below the largest: by hand, on the path, and by fits without each row."""

from dataclasses import replace

import numpy as np
import pytest
from made_paths import make_path
from oracles import refit
from plain import plain_classifier
from sklearn.metrics.pairwise import rbf_kernel

from kernelpursuit.pursuit.measure import score_gaps
from kernelpursuit.pursuit.reducers import LEVELS


def with_quantiles(n_steps=3, **arrays):
    """A path with gaps that grow with the level, and are smaller after more steps."""
    quantiles = np.outer(1.0 / np.arange(1, n_steps + 2), LEVELS)[:, :, None]
    return replace(make_path(np.ones(n_steps + 1)), loo_quantiles=quantiles, **arrays)


class TestGaps:
    def test_of_several_scores(self):
        scores = np.array([[1.0, 0.0, 2.0], [3.0, 0.0, 1.0], [2.0, 0.0, 5.0]])
        codes = 2.0 * np.eye(3)[:, [0, 1, 2]] - 1
        np.testing.assert_array_equal(score_gaps(codes, scores), [[2.0, 0.0, 0.0]])

    def test_of_two_classes_with_one_score(self):
        """Which are -s and s."""
        scores, codes = np.array([[0.5, -0.5, 2.0]]), np.array([[1.0, 1.0, -1.0]])
        np.testing.assert_array_equal(score_gaps(codes, scores), [[0.0, 1.0, 4.0]])


class TestPath:
    def test_levels_between_those_that_are_kept(self):
        path = with_quantiles()
        for k in range(4):
            for coverage in (0.5, 0.8123, 0.9, 0.999):
                assert path.score_gap(k, coverage) == pytest.approx(coverage / (k + 1))

    def test_it_needs_leave_one_out_scores(self):
        with pytest.raises(ValueError, match=r"update='orthogonal'\.$"):
            make_path(np.ones(3)).score_gap(1, 0.9)

    def test_calibrated_for_one_size(self):
        """That size has what validation rows say; others are as much less sure."""
        path = with_quantiles(inverse_temperature=np.array([1.0, 2.0, 4.0, 8.0]))
        wanted = 0.7 * LEVELS[:, None]
        found = path.calibrated(2, 2.0, wanted)
        np.testing.assert_allclose(found.loo_quantiles[2], wanted)
        np.testing.assert_allclose(found.inverse_temperature, [0.5, 1.0, 2.0, 4.0])
        np.testing.assert_allclose(found.loo_quantiles[1] - path.loo_quantiles[1], wanted - path.loo_quantiles[2])
        assert (found.loo_quantiles >= 0).all()
        np.testing.assert_array_equal(path.inverse_temperature, [1.0, 2.0, 4.0, 8.0])

    def test_gaps_are_never_below_zero(self):
        assert (with_quantiles().calibrated(0, None, 0.0 * LEVELS[:, None]).loo_quantiles == 0).all()

    def test_what_is_not_known_stays_so(self):
        path = with_quantiles()
        path.loo_quantiles[2] = np.inf
        found = path.calibrated(2, 3.0, LEVELS[:, None])
        np.testing.assert_array_equal(found.loo_quantiles, path.loo_quantiles)
        assert found.inverse_temperature is None


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_quantiles_are_those_of_fits_without_each_row(rng, n_classes, weighted):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % n_classes
    weights = 1.0 + np.arange(40) % 2 if weighted else np.ones(40)
    model = plain_classifier(gamma=0.5, alpha=0.1, max_atoms=5, stop="max", loss="squared").fit(X, y, weights)
    codes = np.where(y[:, None] == np.arange(n_classes), 1.0, -1.0)
    codes = codes[:, 1:] if n_classes == 2 else codes
    for k in range(1, 6):
        part = model.at(k)
        D = np.column_stack([np.ones(40), rbf_kernel(X, part.centers_, gamma=0.5)])
        L = 0.1 * np.diag(np.r_[0.0, np.ones(k)])
        gaps = np.empty(40)
        for i in range(40):
            s = D[i] @ refit(D, codes, L, weights - (np.arange(40) == i))
            s = np.array([-s[0], s[0]]) if n_classes == 2 else s
            gaps[i] = s.max() - s[y[i]]
        each = np.sort(gaps.repeat(weights.astype(int)))
        for coverage in (0.5, 0.8, 0.9):
            rank = int(np.ceil(coverage * (len(each) + 1) - 1e-9))
            assert model.path_.score_gap(k, coverage) == pytest.approx(each[rank - 1], abs=1e-8)
