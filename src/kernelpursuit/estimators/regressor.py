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
from kernelpursuit.estimators.named import apart, to_score
from kernelpursuit.estimators.parameters import check_parameters, losses_for
from kernelpursuit.estimators.partial import FollowsNumbers
from kernelpursuit.estimators.spec import chosen_rule
from kernelpursuit.losses import as_loss
from kernelpursuit.model import FittedModel
from kernelpursuit.pursuit import check_weights
from kernelpursuit.rows import is_source, open_rows


class KernelPursuitRegressor(MultiOutputMixin, RegressorMixin, FollowsNumbers):
    """Sparse kernel regression by greedy selection of atoms.

    The model is `f(x) = intercept + sum_j coef_j k(x, center_j)` with a few dozen or hundred centres. They are picked
    one at a time to lower `sum_i s_i (y_i - f(x_i))² + w' L w` most; the number of them is set by `stop`, up to
    `max_atoms`. By default, kernel, feature scales, penalty and atoms are learned from samples of the rows, in whatever
    units those are; with a `gamma` of your own, nothing is learned beforehand.

    Parameters
    ----------
    kernel : str, Kernel, callable, list of these, "precomputed" or Dictionary, default="auto"
        The functions that the model may be a sum of. "auto" is Matern 5/2, Gaussian or Matern 3/2, whichever has the
        most evidence or the least leave-one-out error; with a `gamma` of your own, Gaussian. A name ("rbf",
        "laplacian", "matern12", "matern32", "matern52", "rational_quadratic", "polynomial", "linear", "sigmoid"), a
        kernel object or a callable `f(X, C)` stands for that kernel at every training row; a list, for each of its
        members there; "precomputed", for the columns of X, of any number; and a `kernelpursuit.dictionary` object for
        anything else.
    gamma : "learn", "scale", float or array of shape (n_features,), default="learn"
        Inverse width `exp(-gamma ||x - c||²)`, one for all features or one for each, of every kernel that has none of
        its own. "learn" finds one for each: for fewer than 5,000 rows under the squared loss by the evidence of a
        Gaussian process, else by gradient steps on the leave-one-out error of samples, on which atoms are picked too.
        It is for one kernel of `x - c` (else it is "scale"). With another `selection`, `update`, `exchange`,
        `candidates` or `penalty`, as the presets have, scales and penalty are learned, and the loop picks its own
        atoms at the training rows. More than 1,000 features have one in common.
        "scale" is `1 / (n_features * X.var())`, so standardise X first where features differ in unit.
    max_atoms : int or "auto", default="auto"
        Most steps on the path, of one atom each; "auto" is 512 where atoms are learned, and else 200. With 10,000 to
        100,000 rows and `stop="auto"` it goes on to 1,024 learned atoms where validation rows clearly gain by them.
    selection : {"gain", "correlation", "residual", "random"}, default="gain"
        How the next atom is picked: by exactly what the cost drops by when it is added and all weights are refitted;
        by correlation with what is left; at the row with the largest residual; or at random.
    update : {"orthogonal", "stagewise", "minres", "rescale"} or Update, default="orthogonal"
        How weights follow: all are refitted after each step; only that of the new atom is set; all move along the
        residual at their own rows; or all but the new one's are scaled alike. Only the first gives leave-one-out
        errors and standard deviations. Objects of `kernelpursuit.updates` have parameters: `Stagewise(shrinkage=0.5)`.
    exchange : bool, default=False
        Whether every step ends with an attempt to swap the atom with the smallest residual for the row with the
        largest (Nair algorithm 1); for `update` "orthogonal" and "minres".
    candidates : {"auto", "all"}, int or array of int, default="auto"
        Which atoms are looked at: all of them; that many, drawn anew each step; or just those named. "auto" is all,
        and where there are more than 10,000, a random 10,000.
    shortlist : int, optional
        Steps, at most, that one pass over all candidates serves, for many rows and candidates. After a pass all scores
        are exact; between passes the best of a list of candidates is picked, whose scores alone are brought up to date.
        None and 1 are a pass a step, which is exact; 16 is a good value, see the documentation on massive data. It is
        for `selection` "gain" and "correlation" and `update="orthogonal"`, and where atoms are learned it has nothing
        to do, since these are few.
    penalty : {"auto", "ridge", "rkhs", "nugget", "ols"} or None, default="auto"
        What is added to the cost. "ridge" is `L = alpha I`, "rkhs" `L = n alpha K`; "auto" is "rkhs" where kernel,
        scales and noise of a Gaussian process are learned (the squared loss, fewer than 5,000 rows, `alpha="auto"`,
        `refine` not True), and else "ridge". "nugget" is no L, but `K + alpha I` in place of K; "ols" is alpha times
        the squared weights of the atoms orthogonalised one after the other (Hagiwara's regularised orthogonal least
        squares). The intercept is never penalised.
    alpha : float or "auto", default="auto"
        Strength of the penalty; of no effect with `penalty=None`. "auto" is learned with `gamma="learn"` under the
        squared loss, and else 1e-3.
    stop : str or StoppingRule, default="auto"
        How many atoms to keep. "auto" is `stopping.Loo(within=0.002)` where atoms are learned: the fewest whose
        leave-one-out error is within 0.2 % of the least; and else, and under the losses "huber" and "quantile", "loo".
        Others are: as many as give the least leave-one-out error ("loo"); the fewest within one standard error of that
        ("one-se"); the least of a criterion ("mdl", "aic", "fpe", "hdaic", "tr1"), of the error on held-out rows
        ("validation") or over folds ("cv"); until steps look like noise ("tcr", "tr3", "tr4"), or the residual is small
        ("tol", "tr2"); a number that grows with the rows ("ptr"); or `max_atoms` ("max"). Rules join with `|`;
        `kernelpursuit.stopping` has them as objects. `select` applies another rule after the fit.
    loss : str or Loss, default="squared"
        What is minimised, summed over rows, in place of the squared error: "huber" for targets with outliers,
        "quantile" for a quantile or, by `losses.Quantile(q=0.9)`, another one than the median, "poisson" for counts,
        or an object of `kernelpursuit.losses`. `predict` returns the mean that the scores stand for.
    refine : bool or "auto", default="auto"
        Whether atoms are moved after they were picked: their centres, one width for each, and the feature scales, by
        the gradient of the cost on samples of the rows, for as long as rows that are held back gain from it. "auto"
        tries that with `gamma="learn"` from 5,000 rows on, below which it was measured not to pay.
    outside : {"auto", "return", "free"}, default="auto"
        What predictions are outside the training rows. With "return" they go back to the mean of the targets (or to
        the fit of functions that are always in): the model counts in full up to a quarter of the range of a feature
        beyond its least and largest training value, less and less from there, and not at all from one range on. No
        prediction leaves the range of the training targets by more than half of it. With "free" predictions are those
        of the model everywhere. "auto" is "return" where something was learned, and else "free".
    trend : {"auto", "linear"} or None, default="auto"
        Whether every model has a straight line in it, unpenalised (`dictionary.LinearTrend`): always, never, or where
        something is learned and validation rows gain from it. A line that was asked for goes on outside the training
        rows; one that "auto" has found ends at the limits of `outside`. `fixed_coef_` are its weights, for features of
        mean 0 and standard deviation 1.
    fit_intercept : bool, default=True
        Whether to fit a constant.
    truncate : float, "auto" or None, default=None
        Largest absolute prediction, beyond which predictions are cut off; "auto" is the largest absolute target of
        the training rows (Xu's truncation at M).
    sample_rows : int, "auto" or None, default="auto"
        Rows, drawn with `random_state`, on which scales are learned and atoms picked; coefficients, leave-one-out
        errors and the stopping rule are those of all rows, in passes over blocks. "auto" takes up to 200,000 rows where
        scales are learned, and with a given width 10,000 of more than 50,000. None picks atoms on all rows, as do
        losses and loops that need all of them in memory.
    memory_budget : int, optional
        Bytes that the fit may take for dictionary values; a quarter of free memory by default. It changes the time
        a fit takes, never its result; but of a source of rows, an eighth of it is for the sample.
    warm_start : bool, default=False
        Whether `fit` goes on from the path of the last fit where only `max_atoms` or `stop` have changed since. It
        saves time and never changes the result: where anything else changed, `fit` starts from scratch.
    forgetting : float, default=1.0
        In `partial_fit`, how much a row counts beside the one after it: with 0.999, rows a thousand back count a third.
    checkpoint : str or Path, optional
        A file in which a fit keeps, twice a minute, the sums of its passes over rows and the steps of its loop. The
        same fit, begun again after it was killed, goes on from there with the same result, where `random_state` is a
        number. The file is removed at the end.
    random_state : int, RandomState instance or None, default=None
        Used for the samples that are learned from (of numbers, from 1,000 rows on), by `selection="random"`, by drawn
        candidates, and to hold out rows or deal them to folds.
    n_jobs : int, optional
        Threads; None or -1 for all. A process forked from this one uses one.
    verbose : bool, default=False
        Whether to say on stderr what will be learned and about how long it will take, and show progress once two
        seconds have passed.

    Attributes
    ----------
    centers_ : array of shape (`n_atoms_`, n_features)
        Centres of the kept atoms; NaN for an atom that has none.
    center_indices_ : array of shape (`n_atoms_`,)
        Number of each kept atom in the dictionary: the training row, or the column of a precomputed X. Where atoms
        were refined, the training row that each started from.
    kernel_ : Kernel or Dictionary
        The kernel, with one gamma for each feature where those were learned; else what `kernel` stands for.
    penalty_ : str or None
        The penalty: what "auto" stands for.
    alpha_ : float
        Its strength.
    feature_scales_ : array of shape (n_features,) or None
        How fast the model varies with each feature, in units of its standard deviation: 0 for one that has no say.
        None where nothing was learned.
    coef_ : array of shape (`n_atoms_`,) or (n_targets, `n_atoms_`)
        Weights.
    intercept_ : float or array of shape (n_targets,)
        Constant.
    fixed_coef_ : array of shape (n_functions,) or (n_targets, n_functions)
        Weights of the functions that are always in (`dictionary.Always`).
    n_atoms_ : int
        Number of atoms kept.
    path_ : PursuitPath
        What happened, step by step.
    stop_reason_ : str
        How many atoms were kept, and why.
    model_ : FittedModel
        All that predictions are made of; see `kernelpursuit.model`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Their names, where X has string column names.

    See Also
    --------
    KernelPursuitClassifier : The same for classes.
    kernelpursuit.presets : The systems of the papers as configurations of this class.
    kernelpursuit.pursuit_path : The plain function under this class.

    Notes
    -----
    Fitting costs one pass over the n x M dictionary per atom; predicting, `n_atoms_` kernel values a row. Ties go to
    the lowest atom number, and an atom that is numerically dependent on the picked ones is skipped and recorded.

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

    def fit(self, X: Matrix, y: Any = None, sample_weight: Any = None, *, callback: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features), frame, path, or other source of rows
            Training rows; with `kernel="precomputed"`, values of every atom, one column each. What
            `kernelpursuit.rows.open_rows` takes is read a block at a time.
        y : array of shape (n_samples,) or (n_samples, n_targets), or names of columns of X
            Targets; several of them share their atoms.
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows (but for `penalty="nugget"`, where each has a nugget of its own), one
            of weight 0 as none. Where something is learned, only the ratios of weights count.
        callback : callable, Callback or list of these, optional
            Called with the path after every step of the loop over all rows; a true answer ends the fit there. Objects
            of `kernelpursuit.callbacks` are asked in every stage before as well: `TimeLimit(10)` ends a fit after
            about ten seconds.

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
        """R² of the predictions, the mean over targets; `y` and `sample_weight` may name columns of X, as in `fit`."""
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
            The fraction of new targets that intervals should hold, to return these as well; see `predict_interval`.
            As a parameter of `predict` it passes through a `Pipeline`.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Predictions; float32 for float32 rows.
        std : array of the same shape
            Only with `return_std`, and only where weights are refitted. Where nothing was learned, it is
            `sigma sqrt(1 + phi(x)' (D'D + L)^{-1} phi(x))`, where phi(x) holds the intercept and the atoms at x and
            `sigma² = RSS / (n - dof)`: the standard deviation of a new observation at x in the Bayesian linear
            model of the kept atoms with noise sigma, which takes their choice as given. Where something was learned,
            sigma follows the size of errors at x, and far from the training rows the standard deviation of the targets
            is added in squares.
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
        """Predict intervals that hold a given fraction of new targets.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows, as for `predict`.
        coverage : float, default=0.9
            The fraction of targets that intervals should hold, between 0 and 1.

        Returns
        -------
        lower, upper : arrays of shape (n_samples,) or (n_samples, n_targets)
            Conformal intervals from the errors that training rows have, each left out; no refit is needed. Where
            something was learned they are the prediction less and plus `q s(x)`: s(x) is a scale of the error at x, and
            q the quantile of the errors in units of it. They are wider where errors are larger, and far from the
            training rows. Else they have one width, the quantile of the errors themselves; without bound where a
            training row is interpolated, so that nothing is left to say what its error would be.
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
        """Weights of the kept atoms; one dimension for one target."""
        return self._of_targets(super().coef_)

    @property
    def intercept_(self) -> Any:
        """The constant, or one for each target."""
        constants = super().intercept_
        return float(constants[0]) if self._y_ndim == 1 else constants

    @property
    def fixed_coef_(self) -> np.ndarray:
        """Weights of the functions that are always in; one dimension for one target."""
        return self._of_targets(super().fixed_coef_)

    def _of_targets(self, weights: np.ndarray) -> np.ndarray:
        return weights[0] if self._y_ndim == 1 else weights

    def _shaped(self, values: np.ndarray, X: Matrix) -> np.ndarray:
        """One dimension for one target; float32 for float32 rows."""
        values = values[:, 0] if self._y_ndim == 1 else values
        return values.astype(np.float32) if X.dtype == np.float32 else values
