"""The evidence of kernel values: how well a Gaussian process explains rows, whatever function of it they are from.

Let K be the kernel over all rows, `C = K + alpha diag(1 / w)`, and F the values of what every model has, unpenalised.
With the variance of the process profiled out and flat priors for F (restricted maximum likelihood), N rows of weight
one and m functions have

    -2 log evidence = (N - m) log(y'P y) + log|C| + log|F'C⁻¹F| + constant,  P = C⁻¹ - C⁻¹F (F'C⁻¹F)⁻¹ F'C⁻¹

whose derivative by C is `P - (N - m) P y y'P / y'P y` (Rasmussen and Williams, Gaussian Processes for Machine Learning,
2006, sections 2.7 and 5.4). Of n rows with other weights, each likelihood is raised to the power of its weight, where
weights sum to the number N of equal ones that say as much: that adds `(N - n) log alpha`, and a row of hardly any
weight says hardly anything.

Several targets share alpha. Those of numbers share the variance of the process as well, in units of their spreads:
`y'P y` is then their mean. With a variance each, a target without noise would gain without bound from an alpha that
fits the noise of the others.

The evidence integrates over all functions of a kernel, and so tells kernels and scales apart by far fewer rows than the
leave-one-out error does, which looks at one function of each. What is left of row i is `alpha (P y)_i / w_i`, and its
leverage `1 - alpha P_ii / w_i`: so leave-one-out errors are in closed form, as for any other fit.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.blas import dtrsm

from kernelpursuit.learning.constants import ALPHA_LIMITS, MAX_ROUNDING_NOISE, ROUNDING_NOISE_FRACTION
from kernelpursuit.learning.leave_one_out import MIN_ONE_MINUS_LEVERAGE, Losses, Target, inverse_of_square, orthonormal
from kernelpursuit.learning.sample import CONSTANT_TOLERANCE, effective_size, usual_weights, without_wild_values
from kernelpursuit.pursuit.working import loo_prediction, one_minus_leverage

# The largest logarithm of an error: exp overflows from 709.8 on.
MAX_LOG_ERROR = 700.0
# Most noise of a row, beside that of one of weight one: it bounds the condition of C, so that six digits are left.
MAX_NOISE = 1e10
# Values that differ by less than this fraction of their spread are the same but for rounding, which is eps times the
# ratio of their size to their spread: below 1e-9 for ratios of up to 1e6.
SAME_VALUE_TOLERANCE = 1e-9


class Evidence:
    """The evidence of kernel values over all rows, and leave-one-out losses.

    Parameters
    ----------
    target : Target
        What is to be predicted under the squared loss, in any number of targets. Its weights should be those of
        `Rows.of_unit_noise`.
    shares_variance : bool
        Whether targets share the variance of the process; else the logarithms of theirs are averaged.
    """

    def __init__(self, target: Target, shares_variance: bool = False):
        self.target = target
        weights = usual_weights(target.weights)
        size = effective_size(weights, target.counts)
        self._noise = np.minimum(1.0 / weights, MAX_NOISE)
        self._log_noise = float(np.log(self._noise).sum())
        self._fixed = orthonormal(target.fixed())
        # Targets that do not vary say nothing. A normal distribution takes one wild value for a sign of much noise.
        varies = np.ptp(target.y, axis=1) > CONSTANT_TOLERANCE * np.abs(target.y).max(axis=1)
        self._y = without_wild_values(target.y[varies] if varies.any() else target.y)
        self._shares_variance = shares_variance and len(self._y) > 1
        if self._shares_variance:
            spread = self._y.std(axis=1, keepdims=True)
            self._y = self._y / np.where(spread > 0, spread, 1.0)
        #: The number of independent observations.
        self.n_observations = max(size - len(self._fixed), 1.0)
        # Rows beyond those that the weights come to.
        self._beyond = size - len(self._noise)
        self.least_noise = _least_noise(self._y)

    def error(self, K: np.ndarray, alpha: float) -> float:
        """`exp(-2 log evidence / (N - m))`, in the unit of a squared target; infinite where C is singular."""
        R = self._factor(K.copy(), alpha)
        if R is None:
            return np.inf
        # With R'R = C: P y is what is left of R⁻ᵀy beside R⁻ᵀF.
        both = dtrsm(1.0, R, np.vstack([self._fixed, self._y]).T, trans_a=1).T
        fixed, y = both[: len(self._fixed)], both[len(self._fixed) :]
        S = fixed @ fixed.T
        try:
            left = y - np.linalg.solve(S, fixed @ y.T).T @ fixed
        except np.linalg.LinAlgError:
            return np.inf
        log_det = 2 * float(np.log(R.diagonal()).sum()) + float(np.linalg.slogdet(S)[1])
        return self._error(np.einsum("ij,ij->i", left, left), log_det, alpha)

    def gain(self, K: np.ndarray, alpha: float) -> float:
        """What -2 log evidence is lower by with these kernel values than without any."""
        # Without a kernel, C is the noise, whatever alpha is.
        root = 1.0 / np.sqrt(self._noise)
        fixed, y = self._fixed * root, self._y * root
        S = fixed @ fixed.T
        left = y - np.linalg.lstsq(S, fixed @ y.T, rcond=None)[0].T @ fixed
        nothing = self._error(np.einsum("ij,ij->i", left, left), self._log_noise + float(np.linalg.slogdet(S)[1]), 1.0)
        return self.minus_two_log(nothing) - self.minus_two_log(self.error(K, alpha))

    def gradient(self, K: np.ndarray, alpha: float) -> tuple[float, np.ndarray, float]:
        """The same, its derivative by every entry of K, and by log alpha; K is written over."""
        found = self._project(K, alpha)
        if found is None:
            return np.inf, np.zeros_like(K), 0.0
        P, log_det = found
        Py = self._y @ P
        cost = self._joined(np.einsum("ij,ij->i", Py, self._y))
        error = self._error(cost, log_det, alpha)
        if not np.isfinite(error):
            return np.inf, np.zeros_like(K), 0.0
        P *= error / self.n_observations
        P -= (Py.T * (error / (len(cost) * cost))) @ Py
        return error, P, alpha * float(self._noise @ P.diagonal()) + error * self._beyond / self.n_observations

    def losses(self, K: np.ndarray, alpha: float) -> Losses:
        """Leave-one-out losses of the posterior mean; infinite where C is singular."""
        found = self._project(K.copy(), alpha)
        if found is None:
            return Losses(np.full(len(K), np.inf), self.target.validation_share)
        noise, y = alpha * self._noise, self.target.y
        leverage = 1.0 - noise * found[0].diagonal()
        left = one_minus_leverage(leverage, self.target.counts, at_least=MIN_ONE_MINUS_LEVERAGE)
        return self.target.losses(loo_prediction(y, noise * (y @ found[0]), left))

    def minus_two_log(self, error: float) -> float:
        """`-2 log evidence` for an error, but for a constant."""
        return self.n_observations * float(np.log(error))

    def _joined(self, cost: np.ndarray) -> np.ndarray:
        """The variance of each process, times their number of rows: `y'P y`, or its mean where they share one."""
        return np.full_like(cost, cost.mean()) if self._shares_variance else cost

    def _error(self, cost: np.ndarray, log_det: float, alpha: float) -> float:
        cost = self._joined(cost)
        if not (cost > 0).all():
            return np.inf
        log_det += self._beyond * np.log(alpha) - self._log_noise
        log_error = float(np.log(cost).mean() + log_det / self.n_observations)
        return float(np.exp(log_error)) if log_error < MAX_LOG_ERROR else np.inf

    def _factor(self, K: np.ndarray, alpha: float) -> np.ndarray | None:
        """R with `R'R = C`; None where C is singular. K is written over."""
        K[np.diag_indices_from(K)] += alpha * self._noise
        try:
            return cholesky(K, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None

    def _project(self, K: np.ndarray, alpha: float) -> tuple[np.ndarray, float] | None:
        """P, and the logarithms of both determinants; None where C is singular. K is written over."""
        R = self._factor(K, alpha)
        if R is None:
            return None
        log_det = 2 * float(np.log(R.diagonal()).sum())
        P = inverse_of_square(R)
        if len(self._fixed):
            along = self._fixed @ P
            S = along @ self._fixed.T
            log_det += float(np.linalg.slogdet(S)[1])
            try:
                P -= along.T @ np.linalg.solve(S, along)
            except np.linalg.LinAlgError:
                return None
        return P, log_det


def _least_noise(y: np.ndarray) -> float:
    """The least noise that targets, shape (n_targets, n_rows), are taken to have, beside the variance of the process.

    Discrete values, labels above all, are the same at many rows; a process without noise fits that all too well. Of the
    variance that rounding to steps has, `step² / 12`, a fraction is taken for granted.
    """
    least = []
    for values in y:
        steps, spread = np.diff(np.unique(values)), float(values.std())
        # Two values that differ by rounding alone are one.
        step = steps[steps > SAME_VALUE_TOLERANCE * spread].min(initial=np.inf)
        least.append(ROUNDING_NOISE_FRACTION * (step / spread) ** 2 / 12 if np.isfinite(step) and spread > 0 else 0.0)
    return float(np.clip(min(least), ALPHA_LIMITS[0], MAX_ROUNDING_NOISE))
