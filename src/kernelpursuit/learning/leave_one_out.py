"""The leave-one-out error of a penalised least-squares fit, in closed form, and its derivative by every kernel value.

With the k columns of a model as the rows of K (times the root of the working weights, the constant projected out) and
`A = K K' + alpha I`, the weights are `w = A^-1 K t'`, the residuals `e = t - w'K`, and with `W = A^-1 K` the leverages
`h_i = sum_j W_ji K_ji`. The leave-one-out error of row i is `e_i / (1 - h_i)` (`pursuit/working.py`). With `a = dL/de`,
`c = dL/dh` and `v = W a'`,

    dL/dK = 2 W diag(c) - (2 W diag(c) W' - w v') K - w a - v e

so that an error and its derivative take two products `K K'` and two `k x k` by `k x n`. All of it is BLAS level 3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, eigh, qr
from scipy.linalg.blas import dger, dtrsm
from scipy.linalg.lapack import dpotri

from kernelpursuit.learning.constants import MAX_ERROR_RANGES, MIN_TRIMMED, TRIMMED_FRACTION
from kernelpursuit.losses import Loss
from kernelpursuit.pursuit import Objective, inner_products, product, subtract_products
from kernelpursuit.pursuit.working import loo_prediction, one_minus_leverage

# A row that the others say nothing of has an error without bound; 1 - h is at least this, so that a minimisation can go
# on. Leverages have a rounding error of eps times the condition of A, and this is its size where that is 1e10.
MIN_ONE_MINUS_LEVERAGE = 1e-6
# Beside the largest squared length of a column, less penalty than this is lost in rounding: A has k such columns, and
# Cholesky's method needs it positive definite by more than k eps.
SMALLEST_PENALTY = 1e-13
# A fixed function of which less than this fraction is independent of the others is a sum of them: what rounding leaves
# of such a sum is some n_rows eps, 1e-12 for thousands of rows, and a hundredfold of it is taken for it.
DEPENDENT_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Losses:
    """Leave-one-out losses of rows, and how much each counts; their shares sum to one."""

    values: np.ndarray
    shares: np.ndarray

    @property
    def mean(self) -> float:
        """The error."""
        return float(self.values @ self.shares)

    def are_clearly_below(self, others: Losses, fraction: float, standard_errors: float = 2.0) -> bool:
        """Whether the mean is lower by this fraction, and by some standard errors of the difference, row by row.

        So few rows, or a few outliers, decide nothing.
        """
        less = others.values - self.values
        mean = float(less @ self.shares)
        # Relative to the largest, since a loss may be the square of a large number itself.
        size = float(np.abs(less).max()) or 1.0
        error = size * float(np.sqrt(np.square(self.shares) @ np.square((less - mean) / size)))
        return mean > fraction * abs(others.mean) and mean > standard_errors * error


def joined_losses(several: Sequence[Losses]) -> Losses:
    """Losses of several samples as one, each sample of the same share."""
    values = np.concatenate([losses.values for losses in several])
    return Losses(values, np.concatenate([losses.shares for losses in several]) / len(several))


@dataclass(frozen=True)
class Observed:
    """What is known of a sample of rows before any model.

    y          targets as the loss takes them, shape (n_targets, n_rows)
    weights    of the rows in the loss
    loss       None for the squared one
    validation_weights  how much each row's leave-one-out error counts, beside its weight: 0 for no validation row
    intercept  whether there is a constant that is not penalised
    counts     how often each row was seen: left out, a row of weight 2 goes once; None where its weight says it
    trend      values of other functions that are in every model, unpenalised, shape (n_functions, n_rows), or None
    """

    y: np.ndarray
    weights: np.ndarray
    loss: Loss | None
    validation_weights: np.ndarray
    intercept: bool
    counts: np.ndarray | None = None
    trend: np.ndarray | None = None


class Target:
    """What a sample of rows says: the local quadratic approximation of its loss around given scores.

    response         the working response, shape (n_targets, n_rows); for the squared loss the targets themselves
    working_weights  weights of the rows in the approximation
    counts           how often each row was seen
    validation_share the share of each row's leave-one-out error in their mean
    most             largest error of every target that counts as what it is under the squared loss, (n_targets, 1)

    Parameters
    ----------
    observed : Observed
        The rows.
    scores : array of shape (n_targets, n_rows), optional
        What the loss is expanded around; the squared loss does not look at it.
    """

    def __init__(self, observed: Observed, scores: np.ndarray | None = None):
        self.y, self.weights, self.loss = observed.y, observed.weights, observed.loss
        self.intercept, self.trend = observed.intercept, observed.trend
        self.working_weights, self.response = observed.weights, observed.y
        if self.loss is not None:
            assert scores is not None, "another loss than the squared one is expanded around scores"
            local = Objective(self.loss, self.y, self.weights).around(scores)
            self.working_weights, self.response = local.weights, local.response
        share = observed.validation_weights * observed.weights
        self.validation_share = share / share.sum()
        self.counts = np.maximum(observed.weights, 1.0) if observed.counts is None else observed.counts
        self.most = _largest_counted_error(self.y)

    def fixed(self) -> np.ndarray:
        """Values of what every model has, unpenalised, shape (n_fixed, n_rows): the constant, then the trend."""
        ones = np.ones((int(self.intercept), len(self.weights)))
        return ones if self.trend is None else np.vstack([ones, self.trend])

    def losses(self, loo_scores: np.ndarray) -> Losses:
        """Losses of leave-one-out predictions."""
        if self.loss is None:
            return Losses(
                np.square(np.clip(loo_scores - self.y, -self.most, self.most)).mean(axis=0), self.validation_share
            )
        return Losses(self.loss.value(self.y, loo_scores), self.validation_share)

    def gradient(self, loo_scores: np.ndarray) -> np.ndarray:
        """The derivative of the mean loss by such predictions."""
        if self.loss is None:
            error = loo_scores - self.y
            return np.where(np.abs(error) < self.most, 2 * error * self.validation_share / len(loo_scores), 0.0)
        return self.loss.gradient(self.y, loo_scores) * self.validation_share


class Fitted(ABC):
    """What is minimised: a function of the kernel values of some atoms, whose weights are fitted, and of the penalty.

    Parameters
    ----------
    target : Target
        What is to be predicted.
    n_threads : int, default=1
        Threads for the large products.
    """

    def __init__(self, target: Target, n_threads: int = 1):
        self.target = target
        self.n_threads = n_threads
        self._root = np.sqrt(target.working_weights)
        self._is_plain = bool((target.working_weights == 1.0).all())
        self._fixed = orthonormal(target.fixed() * self._root)
        response = target.response * self._root
        self._response = response - (response @ self._fixed.T) @ self._fixed

    @property
    def n_observations(self) -> float:
        """How many rows of equal weight the validation rows come to."""
        return 1.0 / float(np.square(self.target.validation_share).sum())

    def _weigh(self, K: np.ndarray) -> np.ndarray:
        """Make kernel values the columns of the fit, in place: times the root of the weights, without what is fixed."""
        K = np.ascontiguousarray(K, dtype=np.float64)
        if not self._is_plain:
            K *= self._root
        for function in self._fixed:
            dger(-1.0, function, K @ function, a=K.T, overwrite_x=0, overwrite_a=1)
        return K

    def _factor(self, weighted: np.ndarray, alpha: float) -> np.ndarray | None:
        """R with `R'R = K K' + alpha I`; None where that is singular."""
        A = inner_products(weighted, weighted, self.n_threads)
        A[np.diag_indices_from(A)] += max(alpha, SMALLEST_PENALTY * A.diagonal().max())
        try:
            return cholesky(A, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None

    @abstractmethod
    def gradient(self, K: np.ndarray, alpha: float) -> tuple[float, np.ndarray, float]:
        """The value, its derivative by every entry of K of shape (k, n_rows), and by log alpha; K is written over."""


class PenalisedCost(Fitted):
    """What the fit itself minimises, `min_w ||t - K'w||² + alpha ||w||²`, a row.

    At the minimum the weights do not matter to first order, so that the derivative is `-2 w e'`: a sixth of the work
    of the leave-one-out error's. It knows nothing of what the fit owes to having seen a row, and is of use where rows
    are many times the atoms.
    """

    def gradient(self, K: np.ndarray, alpha: float) -> tuple[float, np.ndarray, float]:
        """The cost a row and its derivative by every entry of K; the penalty is taken as given."""
        weighted = self._weigh(K)
        R = self._factor(weighted, alpha)
        if R is None:
            return np.inf, np.zeros_like(K), 0.0
        w = cho_solve((R, False), weighted @ self._response.T, check_finite=False)
        residual = self._response - w.T @ weighted
        total = float(self.target.weights.sum())
        cost = float(np.square(residual).sum() + alpha * np.square(w).sum())
        return cost / total, np.matmul(w * (-2 / total), residual * self._root, out=K), 0.0


class LeaveOneOut(Fitted):
    """The leave-one-out error of the fit."""

    def losses(self, K: np.ndarray, alpha: float) -> Losses:
        """The losses alone; `K` of shape (k, n_rows), one row an atom. Infinite where the fit is singular."""
        weighted = self._weigh(K.copy())
        R = self._factor(weighted, alpha)
        if R is None:
            return Losses(np.full(K.shape[1], np.inf), self.target.validation_share)
        V = dtrsm(1.0, R, weighted.T, side=1, overwrite_b=1).T
        residual = self._response - (self._response @ V.T) @ V
        return self.target.losses(self._loo_scores(residual, self._one_minus_leverage(np.einsum("ij,ij->j", V, V))))

    def without_atoms(self) -> Losses:
        """The losses of what is fixed alone."""
        return self.target.losses(self._loo_scores(self._response, self._one_minus_leverage(np.zeros(len(self._root)))))

    def errors(self, K: np.ndarray, alphas: np.ndarray) -> list[float]:
        """The errors with several penalties, by one eigendecomposition."""
        weighted = self._weigh(K.copy())
        squares, Q = eigh(inner_products(weighted, weighted, self.n_threads), overwrite_a=True, check_finite=False)
        V = product(Q.T, weighted, self.n_threads)
        b, share, errors = V @ self._response.T, np.square(V), []
        for alpha in alphas:
            # Squares of what is dependent are zero but for rounding.
            inverse = 1.0 / (np.maximum(squares, 0.0) + max(alpha, SMALLEST_PENALTY * squares[-1]))
            residual = self._response - (b.T * inverse) @ V
            errors.append(
                self.target.losses(self._loo_scores(residual, self._one_minus_leverage(inverse @ share))).mean
            )
        return errors

    def gradient(self, K: np.ndarray, alpha: float) -> tuple[float, np.ndarray, float]:
        """The error, its derivative by every entry of K, and by log alpha; infinite where the fit is singular."""
        weighted = self._weigh(K)
        R = self._factor(weighted, alpha)
        if R is None:
            return np.inf, np.zeros_like(K), 0.0
        W = product(inverse_of_square(R), weighted, self.n_threads)
        w = W @ self._response.T
        residual = self._response - w.T @ weighted
        one_minus_h = self._one_minus_leverage(np.einsum("ij,ij->j", W, weighted))
        loo_scores = self._loo_scores(residual, one_minus_h)
        # The score without row i is (t_i - e_i / (1 - h_i)) / root_i.
        a = -self.target.gradient(loo_scores) / (self._root * one_minus_h)
        c = (a * residual / one_minus_h).sum(axis=0) / self.target.counts
        v = W @ a.T
        if self.target.loss is None:  # then no c is negative, and the product is symmetric to BLAS as well
            scaled = W * np.sqrt(c)
            B = inner_products(scaled, scaled, self.n_threads)
        else:
            B = inner_products(W * c, W, self.n_threads)
        by_alpha = alpha * float((v * w).sum() - np.trace(B))
        # What goes from the derivative with what is fixed: its product with that, to which K and e are orthogonal.
        along = W @ (2 * c * self._fixed).T - w @ (a @ self._fixed.T)
        G = W
        G *= 2 * c
        few = np.column_stack([w, v, along]), np.vstack([a, residual, self._fixed])
        subtract_products(G, [(2 * B - w @ v.T, weighted), few], self.n_threads)
        if not self._is_plain:
            G *= self._root
        return self.target.losses(loo_scores).mean, G, by_alpha

    def _one_minus_leverage(self, leverage: np.ndarray) -> np.ndarray:
        """`1 - h` of every row, with what is fixed, when one observation is left out."""
        fixed = np.einsum("ij,ij->j", self._fixed, self._fixed)
        return one_minus_leverage(leverage + fixed, self.target.counts, at_least=MIN_ONE_MINUS_LEVERAGE)

    def _loo_scores(self, residual: np.ndarray, one_minus_h: np.ndarray) -> np.ndarray:
        """Leave-one-out predictions of all rows."""
        return loo_prediction(self.target.response, residual, one_minus_h, self._root)


def orthonormal(functions: np.ndarray) -> np.ndarray:
    """An orthonormal basis of functions given by their values, one a row; dependent ones are left out."""
    if len(functions) < 2:
        return functions / np.linalg.norm(functions, axis=1, keepdims=True)
    Q, R, _ = qr(functions.T, mode="economic", pivoting=True)
    sizes = np.abs(R.diagonal())
    return np.ascontiguousarray(Q[:, sizes > DEPENDENT_TOLERANCE * sizes[0]].T)


def _largest_counted_error(y: np.ndarray) -> np.ndarray:
    """The error of every target, shape (n_targets, 1), beyond which a row counts no more: one wild row decides nothing.

    Infinite where all but a few targets are the same, as of rare events.
    """
    n = y.shape[1]
    few = max(MIN_TRIMMED, int(TRIMMED_FRACTION * n))
    if n <= 2 * few + 1:
        return np.full((len(y), 1), np.inf)
    ordered = np.partition(y, (few, n - few - 1), axis=1)
    spread = ordered[:, n - few - 1] - ordered[:, few]
    return np.where(spread > 0, MAX_ERROR_RANGES * spread, np.inf)[:, None]


def inverse_of_square(R: np.ndarray) -> np.ndarray:
    """The inverse of `R'R`."""
    upper, _ = dpotri(R)
    # Below its diagonal, R is zero.
    inverse = upper + upper.T
    inverse[np.diag_indices_from(inverse)] *= 0.5
    return inverse
