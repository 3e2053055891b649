"""`KernelPursuitRegressor`: sparse kernel regression, one atom at a time."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from kernelpursuit._types import Matrix
from kernelpursuit.estimators.base import BaseKernelPursuit
from kernelpursuit.estimators.blocks import takes_sources
from kernelpursuit.estimators.checks import check_coverage, check_rows_and_targets
from kernelpursuit.estimators.fitting import TrainingData
from kernelpursuit.estimators.from_source import numbers_from
from kernelpursuit.estimators.named import apart, columns_beside, to_score
from kernelpursuit.estimators.parameters import check_parameters, losses_for
from kernelpursuit.estimators.partial import FollowsNumbers
from kernelpursuit.estimators.reasons import WithReason
from kernelpursuit.estimators.spec import chosen_rule
from kernelpursuit.losses import as_loss
from kernelpursuit.model import FittedModel
from kernelpursuit.pursuit import check_weights
from kernelpursuit.rows import is_source, open_rows


class KernelPursuitRegressor(MultiOutputMixin, RegressorMixin, FollowsNumbers):
    """Sparse kernel regression by greedy selection of atoms.

    The model is `f(x) = intercept + sum_j coef_j k(x, center_j)` with a few dozen or hundred centres. The fit picks
    them one at a time, each to lower `sum_i s_i (y_i - f(x_i))² + w' L w` most. `stop` chooses their number, up to
    `max_atoms`. By default, the fit learns kernel, feature scales, penalty and atoms from samples of the rows, in any
    units. If you give `gamma`, it learns none of these.

    Parameters
    ----------
    kernel : str, Kernel, callable, list of these, "precomputed" or Dictionary, default="auto"
        The functions that the model may be a sum of. "auto" is Matern 5/2, Gaussian or Matern 3/2, whichever has the
        most evidence or the least leave-one-out error; with a given `gamma`, Gaussian. A name ("rbf",
        "laplacian", "matern12", "matern32", "matern52", "rational_quadratic", "polynomial", "linear", "sigmoid"), a
        kernel object or a callable `f(X, C)` stands for that kernel at every training row; a list, for each of its
        members there; "precomputed", for the columns of X, of any number; and a `kernelpursuit.dictionary` object for
        anything else.
    gamma : "learn", "scale", float or array of shape (n_features,), default="learn"
        Inverse width `exp(-gamma ||x - c||²)`, one for all features or one for each, of every kernel without its own.
        "learn" finds one for each feature: below 5,000 rows under the squared loss by the evidence of a Gaussian
        process, else by minimising the leave-one-out error of samples, from which atoms are picked too. It needs one
        kernel of `x - c` (else it means "scale"). With another `selection`, `update`, `exchange`, `candidates` or
        `penalty`, as in the presets, the fit learns scales and penalty, and the loop picks its atoms at the training
        rows. More than 1,000 features share one value.
        "scale" is `1 / (n_features * X.var())`, so standardise X first if features differ in unit.
    max_atoms : int or "auto", default="auto"
        Upper limit on the steps of the path, which add one atom each. "auto" is 512 if atoms are learned, else 200.
        With 10,000 to 100,000 rows and `stop="auto"`, it is 1,024 if these clearly lower the error of validation rows.
    selection : {"gain", "correlation", "residual", "random"}, default="gain"
        How the next atom is picked: by the exact decrease of the cost after all coefficients are refitted; by its
        correlation with the residual; at the row with the largest residual; or at random.
    update : {"orthogonal", "stagewise", "minres", "rescale"} or Update, default="orthogonal"
        How coefficients change in a step: all are refitted; only that of the new atom is set; all move along the
        residual at their own rows; or the new one is set and one factor scales the others. Only the first gives
        leave-one-out errors and standard deviations. Objects of `kernelpursuit.updates` have parameters:
        `Stagewise(shrinkage=0.5)`.
    exchange : bool, default=False
        Whether every step ends with an attempt to swap the atom with the smallest residual for the row with the
        largest (Nair algorithm 1); for `update` "orthogonal" and "minres".
    candidates : {"auto", "all"}, int or array of int, default="auto"
        Which atoms a step compares: all of them; that many, drawn in each step; or those with these numbers. "auto" is
        all, or a random 10,000 if there are more.
    shortlist : int, optional
        Largest number of steps for one pass over all candidates, to save time with many rows and candidates. After a
        pass all scores are exact. Between passes, only the scores of a list of the best candidates are updated, and
        the best of these is picked. None and 1 mean a pass in each step, which is exact; 16 is a good value, see the
        documentation on massive data. It needs `selection` "gain" or "correlation" and `update="orthogonal"`, and has
        no effect on learned atoms, which are few.
    penalty : {"auto", "ridge", "rkhs", "nugget", "ols"} or None, default="auto"
        The penalty in the cost. "ridge" is `L = alpha I`, "rkhs" is `L = n alpha K`. "auto" is "rkhs" if the fit learns
        kernel, scales and noise of a Gaussian process (the squared loss, fewer than 5,000 rows, `alpha="auto"`,
        `refine` not True), else "ridge". "nugget" uses `K + alpha I` in place of K, without L. "ols" is alpha times
        the squared coefficients of the successively orthogonalised atoms (Hagiwara's regularised orthogonal least
        squares). The intercept is never penalised.
    alpha : float or "auto", default="auto"
        Strength of the penalty; no effect with `penalty=None`. "auto" is learned with `gamma="learn"` under the squared
        loss, else 1e-3.
    stop : str or StoppingRule, default="auto"
        The rule that chooses the number of atoms. "auto" is `stopping.Loo(within=0.002)` if atoms are learned: the
        fewest whose leave-one-out error is within 0.2 % of the least. Otherwise, and under the losses "huber" and
        "quantile", it is "loo", the least leave-one-out error. Others: the fewest within one standard error of the
        least ("one-se"); the minimum of a criterion ("mdl", "aic", "fpe", "hdaic", "tr1"), of the error on validation
        rows ("validation") or over folds ("cv"); until steps look like noise ("tcr", "tr3", "tr4") or the residual is
        small ("tol", "tr2"); a number that grows with the rows ("ptr"); `max_atoms` ("max"). Combine rules with `|`;
        `kernelpursuit.stopping` has them as objects. `select` applies another rule after the fit.
    loss : str or Loss, default="squared"
        The loss to minimise, summed over rows: "squared"; "huber" for targets with outliers; "quantile" for the median
        (`losses.Quantile(q=0.9)` for another quantile); "poisson" for counts; or an object of `kernelpursuit.losses`.
        `predict` returns the mean that belongs to the scores.
    refine : bool or "auto", default="auto"
        Whether to refine the picked atoms: L-BFGS optimises their centres, one width for each, and the feature scales,
        on samples of the rows, as long as this lowers the error of validation rows. "auto" tries it with
        `gamma="learn"` from 5,000 rows on; below that it did not pay in measurements.
    outside : {"auto", "return", "free"}, default="auto"
        How to predict outside the training rows. With "return", predictions return to the mean of the targets (or to
        the fit of functions that are always in). The model counts in full up to a quarter of the range of a feature
        beyond its least and largest training value, then less and less, and not at all from one range on. No
        prediction leaves the range of the training targets by more than half of it. "free" does not change
        predictions. "auto" is "return" if scales were learned, else "free".
    trend : {"auto", "linear"} or None, default="auto"
        Whether every model includes an unpenalised straight line (`dictionary.LinearTrend`): always ("linear"), never
        (None), or if a learned fit gains from it on validation rows ("auto"). The line of "linear" goes on outside the
        training rows; the line of "auto" ends at the limits of `outside`. `fixed_coef_` are its coefficients, for
        features of mean 0 and standard deviation 1.
    fit_intercept : bool, default=True
        Whether to fit a constant.
    truncate : float, "auto" or None, default=None
        Limit at which absolute predictions are clipped; "auto" is the largest absolute target of the training rows
        (Xu's truncation at M).
    sample_rows : int, "auto" or None, default="auto"
        Number of random rows from which scales are learned and atoms picked. Coefficients, leave-one-out errors and the
        stopping rule use all rows, in passes over blocks; under another loss than the squared one, only coefficients
        do. "auto" is up to 200,000 rows if scales are learned, and with a given width 10,000 (under a loss, 30,000) of
        more than 50,000. None picks atoms on all rows. Loops that need all of them at every
        step raise an error for a number.
    memory_budget : int, optional
        Bytes for stored dictionary values; a quarter of free memory by default. It changes the time of a fit, not its
        result, except that a fit of a source of rows uses an eighth of it for the sample.
    warm_start : bool, default=False
        Whether `fit` extends the path of the last fit if only `max_atoms` or `stop` have changed since. It saves time
        and never changes the result: if anything else changed, `fit` starts from scratch.
    forgetting : float, default=1.0
        In `partial_fit`, the weight of a row relative to the next one: with 0.999, rows a thousand back count a third.
    checkpoint : str or Path, optional
        A file in which the fit saves, twice a minute, what it has learned, the sums of its passes over rows and the
        steps of its loop. If the fit is killed, the same call resumes from there with the same result, if
        `random_state` is a number. The file is removed at the end.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples that learning uses (for regression, from 1,000 rows on), of `selection="random"`, of random
        candidates, and of validation rows and folds.
    n_jobs : int, optional
        Number of threads; None or -1 for all. A process forked from this one uses one.
    verbose : bool, default=False
        Whether to print on stderr what the fit will learn and about how long it will take, and to show progress from
        two seconds on.

    Attributes
    ----------
    centers_ : array of shape (`n_atoms_`, n_features)
        Centres of the kept atoms; NaN for an atom that has none.
    center_indices_ : array of shape (`n_atoms_`,)
        Number of each kept atom in the dictionary: the training row, or the column of a precomputed X. Where atoms
        were refined, the training row that each started from.
    kernel_ : Kernel or Dictionary
        The kernel, with one gamma for each feature if these were learned; else what `kernel` stands for.
    penalty_ : str or None
        The penalty that "auto" chose, or the one given.
    alpha_ : float
        Its strength.
    feature_scales_ : array of shape (n_features,) or None
        How fast the model varies with each feature, in units of its standard deviation; 0 for an irrelevant feature.
        None if no scales were learned.
    coef_ : array of shape (`n_atoms_`,) or (n_targets, `n_atoms_`)
        Coefficients of the atoms.
    intercept_ : float or array of shape (n_targets,)
        Constant.
    fixed_coef_ : array of shape (n_functions,) or (n_targets, n_functions)
        Coefficients of the functions that are always in (`dictionary.Always`).
    n_atoms_ : int
        Number of atoms kept.
    path_ : PursuitPath
        Models and criteria of every size, step by step.
    stop_reason_ : str
        How many atoms were kept, and why.
    model_ : FittedModel
        What predictions need; see `kernelpursuit.model`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Their names, if X has string column names.

    See Also
    --------
    KernelPursuitClassifier : The same for classification.
    kernelpursuit.presets : The systems of the papers as configurations of this class.
    kernelpursuit.pursuit_path : The plain function under this class.

    Notes
    -----
    Fitting costs one pass over the n x M dictionary for each atom; predicting costs `n_atoms_` kernel values a row.
    Ties go to the lowest atom number. An atom that is numerically dependent on the picked ones is skipped and recorded.

    References
    ----------
    P. Vincent, Y. Bengio, Kernel matching pursuit, Machine Learning 48, 2002.
    P. Nair, A. Choudhury, A. Keane, Some greedy learning algorithms for sparse regression and classification with
    Mercer kernels, JMLR 3, 2002.
    T. Zhang, Approximation bounds for some sparse kernel regression algorithms, Neural Computation 14, 2002.
    K. Hagiwara, A sparse modeling method based on reduction of cost function in regularized forward selection, IEICE
    Transactions E97.D, 2014.
    C. Xu, S. Lin, J. Fang, R. Li, Prediction-based termination rule for greedy learning with massive data, Statistica
    Sinica 26, 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelPursuitRegressor(random_state=0).fit(X, y)
    >>> lower, upper = model.predict_interval(X, coverage=0.9)
    >>> model.feature_scales_.shape
    (10,)
    >>> model.at(5).n_atoms_
    5
    """

    _fitted_names = (*BaseKernelPursuit._fitted_names, "_y_ndim")
    model_: FittedModel
    _y_ndim: int
    partial_fit = WithReason(FollowsNumbers, "partial_fit")

    def fit(self, X: Matrix, y: Any = None, sample_weight: Any = None, *, callback: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features), frame, path, or other source of rows
            Training rows; with `kernel="precomputed"`, values of every atom, one column each. What
            `kernelpursuit.rows.open_rows` accepts is read a block at a time.
        y : array of shape (n_samples,) or (n_samples, n_targets), or names of columns of X
            Targets; several of them share their atoms.
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows (except with `penalty="nugget"`, where each has its own nugget), one of
            weight 0 as none. In a learned fit, only the ratios of weights count.
        callback : callable, Callback or list of these, optional
            Called with the path after every step of the loop over all rows; a true result ends the fit there. Objects
            of `kernelpursuit.callbacks` are also called in every earlier stage: `TimeLimit(10)` ends a fit after about
            ten seconds.

        Returns
        -------
        self
        """
        fitted = copy.copy(self)
        fitted._fit_numbers(X, y, sample_weight, callback)
        return self._take_over(fitted)

    def _fit_numbers(self, X: Matrix, y: Any, sample_weight: Any, callback: Any) -> None:
        loss = as_loss(self.loss, losses_for(lambda loss: loss.kind == "real"))
        if loss.kind != "real":
            raise ValueError(f"loss={self.loss!r} is for classes; use KernelPursuitClassifier.")
        check_parameters(self, loss, classes=False)
        self._named_columns = columns_beside(X, y, sample_weight, several=True)
        if is_source(X):
            source = open_rows(X, y, sample_weight)
            self._y_ndim = 2 if source.n_targets > 1 or getattr(y, "ndim", 1) == 2 else 1
            with self._watching(callback) as watch:
                data = numbers_from(self, source, loss, watch)
                self._fit(replace(data, held_out=self._validation_rows(chosen_rule(self.stop))), watch)
            return
        X, y, sample_weight = apart(X, y, sample_weight, several=True)
        X, y = check_rows_and_targets(self, X, y)
        weights = None if sample_weight is None else check_weights(sample_weight, X.shape[0])
        self._y_ndim = y.ndim
        data = TrainingData(
            X,
            y[:, None] if y.ndim == 1 else y,
            weights,
            loss,
            held_out=self._validation_rows(chosen_rule(self.stop)),
            names=getattr(self, "feature_names_in_", None),
        )
        self._fit(data, callback)

    def score(self, X: Matrix, y: Any, sample_weight: Any = None) -> float:
        """Return the mean R² over targets; `y` and `sample_weight` may name columns of X, as in `fit`."""
        return float(super().score(*to_score(X, y, sample_weight, several=True)))

    @takes_sources
    def predict(self, X: Matrix, return_std: bool = False, interval: float | None = None) -> Any:
        """Predict targets.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows; with `kernel="precomputed"`, all columns or just the picked ones, in the order of `center_indices_`.
        return_std : bool, default=False
            Whether to return standard deviations of the predictions as well.
        interval : float, optional
            The fraction of new targets that intervals should contain, to return intervals as well; see
            `predict_interval`. As a parameter of `predict`, it works through a `Pipeline`.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Predictions; float32 for float32 rows.
        std : array of the same shape
            Only with `return_std`, and only if coefficients are refitted. If no atoms were learned, it is
            `sigma sqrt(1 + phi(x)' (D'D + L)^{-1} phi(x))`, where phi(x) holds the intercept and the atoms at x and
            `sigma² = RSS / (n - dof)`: the standard deviation of a new observation at x in the Bayesian linear
            model of the kept atoms with noise sigma, which takes their choice as given. If atoms were learned, sigma
            follows the size of errors at x, and far from the training rows the standard deviation of the targets is
            added in squares.
        lower, upper : arrays of the same shape
            Only with `interval`: `predict(X, interval=0.9)` returns `(y, lower, upper)`, and with `return_std=True` as
            well, `(y, std, lower, upper)`.
        """
        check_is_fitted(self)
        coverage = None if interval is None else check_coverage("interval", interval)
        X, model = self._rows(X, self.n_atoms_), self.model_
        mean = model.mean(model.scores(X, self._n_threads))
        out = [mean]
        if return_std:
            out.append(model.deviations(X, mean, self._n_threads))
        if coverage is not None:
            half = model.half_widths(X, mean, coverage, self._n_threads)
            out += [mean - half, mean + half]
        shaped = tuple(self._shaped(values, X) for values in out)
        return shaped if len(shaped) > 1 else shaped[0]

    @takes_sources
    def predict_interval(self, X: Matrix, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Predict intervals that should contain a given fraction of new targets.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows, as for `predict`.
        coverage : float, default=0.9
            The fraction of new targets that intervals should contain, between 0 and 1.

        Returns
        -------
        lower, upper : arrays of shape (n_samples,) or (n_samples, n_targets)
            Conformal intervals from the leave-one-out errors of training rows, without a refit. If atoms were learned,
            they are the prediction -/+ `q s(x)`: s(x) is a scale of the error at x, and q the quantile of the errors
            in units of it. They are wider where errors are larger, and far from the training rows. Up to 1,000 rows,
            the errors are those of a Gaussian process with an atom at every row, if it was learned by evidence. If no
            atoms were learned, intervals have constant width, the quantile of the errors themselves; they are infinite
            if a training row is interpolated, because its error is then unknown.
        """
        check_is_fitted(self)
        fraction, model = check_coverage("coverage", coverage), self.model_
        model.path.half_width(model.n_steps, fraction)
        X = self._rows(X, self.n_atoms_)
        mean = model.mean(model.scores(X, self._n_threads))
        half = model.half_widths(X, mean, fraction, self._n_threads)
        return self._shaped(mean - half, X), self._shaped(mean + half, X)

    def staged_predict(self, X: Matrix) -> Iterator[np.ndarray]:
        """Yield the predictions of the models after 0, 1, ... steps, along the whole path.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples,) or (n_samples, n_targets)
            In step with the arrays of `path_`.
        """
        check_is_fitted(self)
        X = self._rows(X, self.model_.atoms.n_atoms)
        for scores in self.model_.staged_scores(X, self._n_threads):
            yield self._shaped(self.model_.mean(scores), X)

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the kept atoms; one dimension for one target."""
        return self._of_targets(super().coef_)

    @property
    def intercept_(self) -> Any:
        """The constant, or one for each target."""
        constants = super().intercept_
        return float(constants[0]) if self._y_ndim == 1 else constants

    @property
    def fixed_coef_(self) -> np.ndarray:
        """Coefficients of the functions that are always in; one dimension for one target."""
        return self._of_targets(super().fixed_coef_)

    def _of_targets(self, weights: np.ndarray) -> np.ndarray:
        return weights[0] if self._y_ndim == 1 else weights

    def _shaped(self, values: np.ndarray, X: Matrix) -> np.ndarray:
        """One dimension for one target; float32 for float32 rows."""
        values = values[:, 0] if self._y_ndim == 1 else values
        return values.astype(np.float32) if X.dtype == np.float32 else values
