"""Under a loss, atoms picked on a sample of the rows, and the coefficients of the model that is kept of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.kernels import RBF
from kernelpursuit.losses import Huber, Logistic, Loss, Poisson, Quantile, Softmax
from kernelpursuit.pursuit import AllRows, LoopSpec, TrainingRows, Watch, run_pursuit
from kernelpursuit.rows import ArraySource, sample_numbers
from kernelpursuit.stopping import Max

LOSSES = [Logistic(), Softmax(), Huber(delta=0.5), Poisson(), Quantile(q=0.8, width=0.3, unit=1.0)]
N, N_ATOMS = 3000, 12


def rows(rng, loss, n_rows=N):
    """Rows, and targets of shape (n_rows, n_targets) as the loss takes them."""
    X = rng.normal(size=(n_rows, 2))
    f = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1]
    if loss.kind == "classes":
        return X, np.eye(3)[(f[:, None] * [1, -1, 0] + rng.gumbel(size=(n_rows, 3))).argmax(axis=1)]
    if loss.kind == "margin":
        return X, np.where(f + rng.logistic(size=n_rows) > 0, 1.0, -1.0)[:, None]
    if loss.name == "poisson":
        return X, rng.poisson(np.exp(f)).astype(float)[:, None]
    return X, (f + 0.3 * rng.standard_t(2, size=n_rows))[:, None]


def spec(loss: Loss, **changes):
    told = {"dictionary": KernelAtoms(RBF(gamma=0.7)), "alpha": 1e-2, "rule": Max(), "loss": loss, **changes}
    return LoopSpec(told.pop("dictionary"), N_ATOMS, 0, fit_intercept=loss.has_constant, intervals=False, **told)


def with_sample(X, y, numbers, weights=None, source=None):
    part = None if weights is None else weights[numbers]
    total = float(len(y) if weights is None else weights.sum())
    source = source or ArraySource(X, y, weights)
    whole = AllRows(source, len(y), numbers, largest=np.abs(y).max(axis=0), total_weight=total)
    return TrainingRows(X[numbers], y[numbers], part, all_rows=whole)


def over_all_rows(X, y, weights, atoms, loss, **changes):
    """The plain loop over all rows, that picks these atoms."""
    dictionary = KernelAtoms(RBF(gamma=0.7), centers=X[atoms])
    return run_pursuit(TrainingRows(X, y, weights), spec(loss, dictionary=dictionary, **changes))


def scores(found, X):
    """Scores of the model that is kept; those of several classes sum to 0, since only differences count."""
    k, path = found.n_kept, found.path
    values = found.atoms.block(found.atoms.rows(X), path.members(k), n_threads=1)
    weights = path.weights(k)
    n_fixed = len(weights) - len(values)
    f = weights[:n_fixed].sum(axis=0) + values.T @ weights[n_fixed:]
    return f if f.shape[1] == 1 else f - f.mean(axis=1, keepdims=True)


def root_mean_square(values):
    return np.sqrt(np.mean(np.square(values)))


class TestCoefficients:
    @pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
    @pytest.mark.parametrize(("penalty", "weighted"), [("ridge", False), ("rkhs", True), (None, True)])
    def test_are_those_that_minimise_the_loss_of_all_rows(self, rng, loss, weighted, penalty):
        X, y = rows(rng, loss)
        weights = rng.uniform(0.2, 3, size=N) if weighted else None
        numbers = sample_numbers(np.arange(N), 600, 1)
        settings = {"penalty": penalty, "alpha": 0.0 if penalty is None else 1e-2}
        found = run_pursuit(with_sample(X, y, numbers, weights), spec(loss, **settings))
        atoms = numbers[found.path.atoms(found.n_kept)]
        again = over_all_rows(X, y, weights, atoms, loss, **settings)
        assert found.n_kept == again.n_kept == N_ATOMS
        assert root_mean_square(scores(found, X) - scores(again, X)) < 2e-3
        # The path is in the units of the sample, whose rows count as much as all.
        costs = [one.path.refits[N_ATOMS]["cost"] / one.path.total_weight for one in (found, again)]
        assert_allclose(costs[0], costs[1], rtol=1e-6)
        # With coefficients of the sample alone, this test would fail.
        alone = run_pursuit(TrainingRows(X[numbers], y[numbers]), spec(loss, **settings))
        assert root_mean_square(scores(alone, X) - scores(again, X)) > 1e-2

    @pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
    def test_with_all_rows_for_a_sample_are_those_of_the_plain_loop(self, rng, loss):
        X, y = rows(rng, loss, 400)
        plain = run_pursuit(TrainingRows(X, y), spec(loss))
        found = run_pursuit(with_sample(X, y, np.arange(400)), spec(loss))
        assert_array_equal(found.path.atom, plain.path.atom)
        assert_allclose(scores(found, X), scores(plain, X), atol=1e-3)
        assert_allclose(found.path.refits[N_ATOMS]["cost"], plain.path.refits[N_ATOMS]["cost"], rtol=1e-7)

    def test_are_the_same_whatever_the_blocks(self, rng):
        loss = Huber(delta=0.5)
        X, y = rows(rng, loss)
        numbers = sample_numbers(np.arange(N), 600, 1)
        whole, parted = (
            run_pursuit(with_sample(X, y, numbers, source=source), spec(loss))
            for source in (ArraySource(X, y), SmallBlocks(X, y))
        )
        assert_allclose(parted.path.weights(N_ATOMS), whole.path.weights(N_ATOMS), rtol=1e-8)

    def test_come_in_few_passes(self, rng):
        loss = Logistic()
        X, y = rows(rng, loss)
        source = CountingSource(X, y)
        run_pursuit(with_sample(X, y, sample_numbers(np.arange(N), 600, 1), source=source), spec(loss))
        assert 3 <= source.n_passes <= 16


class SmallBlocks(ArraySource):
    """Rows in blocks of 171, whatever is asked for."""

    def blocks(self, size, start=0):
        return super().blocks(171, start)


class CountingSource(ArraySource):
    """Rows that count how often they are passed over."""

    n_passes = 0

    def reduce(self, *args, **options):
        self.n_passes += 1
        return super().reduce(*args, **options)


class TestInterrupt:
    @pytest.mark.parametrize("n_passes", [0, 1, 3])
    def test_leaves_the_lowest_model_so_far(self, rng, n_passes):
        loss = Logistic()
        X, y = rows(rng, loss)
        numbers = sample_numbers(np.arange(N), 600, 1)
        watch = Watch()

        class Interrupted(CountingSource):
            def reduce(self, *args, **options):
                if self.n_passes == n_passes:
                    watch.interrupt()
                return super().reduce(*args, **options)

        source = Interrupted(X, y)
        found = run_pursuit(with_sample(X, y, numbers, source=source), spec(loss), callback=watch)
        full = run_pursuit(with_sample(X, y, numbers), spec(loss))
        alone = run_pursuit(TrainingRows(X[numbers], y[numbers]), spec(loss, alpha=1e-2 * 600 / N))

        def cost(one):
            f = scores(one, X)
            return loss.value(y.T, f.T).sum() + 1e-2 * np.square(one.path.weights(N_ATOMS)[1:]).sum()

        assert cost(full) <= cost(found) <= cost(alone) * (1 + 1e-6)
        assert found.n_kept == N_ATOMS
        if not n_passes:
            assert_allclose(scores(found, X), scores(alone, X), atol=1e-3)
            assert N_ATOMS not in found.path.refits
