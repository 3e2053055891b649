"""`KernelPursuitClassifier`: sparse kernel classification, one atom at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from kernelpursuit._files import PathLike
from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_option
from kernelpursuit.dictionary import Dictionary
from kernelpursuit.estimators.base import BaseKernelPursuit
from kernelpursuit.estimators.checks import ROWS, check_range, one_sentence
from kernelpursuit.estimators.class_predictions import ClassPredictions
from kernelpursuit.estimators.fitting import TrainingData
from kernelpursuit.estimators.from_source import labels_from
from kernelpursuit.estimators.labels import ClassWeights, check_labels, class_loss, codes_of, seen_classes
from kernelpursuit.estimators.named import apart, columns_beside, to_score
from kernelpursuit.estimators.one_vs_rest import fit_one_vs_rest
from kernelpursuit.estimators.parameters import check_parameters
from kernelpursuit.estimators.partial import FollowsLabels, checked_classes
from kernelpursuit.estimators.reasons import WithReason
from kernelpursuit.estimators.spec import chosen_rule, is_word
from kernelpursuit.losses import Logistic, Loss
from kernelpursuit.model import FittedModel, OneVsRestModel
from kernelpursuit.model.one_vs_rest import refuse_validation_rows
from kernelpursuit.rows import is_source, open_rows


class _Log(Logistic):
    """Stands for `loss="log"` where parameters are checked, whatever the number of classes will be."""

    name = "log"


class _Auto(_Log):
    """Stands for `loss="auto"` there."""

    name = "auto"


# What the losses that go by the number of classes are checked as.
STAND_INS: dict[str, Loss] = {"log": _Log(), "auto": _Auto()}


class KernelPursuitClassifier(FollowsLabels, ClassPredictions):
    """Sparse kernel classification by greedy selection of atoms.

    The scores of a row are `intercept + sum_j coef_j k(x, center_j)` with a few dozen centres, shared by all classes.
    The fit picks them one at a time to lower a loss. `stop` chooses their number, up to `max_atoms`.

    Parameters
    ----------
    kernel, gamma, max_atoms, selection, update, exchange, candidates, shortlist, penalty, refine, trend
        As for `KernelPursuitRegressor`. With `gamma="learn"`, the fit learns kernel, scales and atoms under the squared
        loss on codes of -1 and +1, and then fits coefficients under `loss`. With a given `gamma` and a loss other than
        "squared", `selection="gain"` uses the local quadratic approximation of the loss around the last refit, and
        `update="orthogonal"` refits all coefficients to the loss every few steps; see `kernelpursuit.updates`.
    alpha : float or "auto", default="auto"
        Strength of the penalty. "auto" is learned with `gamma="learn"`, on validation rows that no atom was picked
        from; else it is 0.1. With few rows or much noise, larger values give better probabilities; if classes hardly
        overlap, smaller values make fewer errors with as many atoms.
    stop : str or StoppingRule, default="auto"
        The rule that chooses the number of atoms. "auto" is the fewest whose leave-one-out error under the squared loss
        is within 0.2 % of the least if atoms are learned, else "loo". Others: the least leave-one-out loss ("loo"), or
        the fewest atoms within one standard error of it ("one-se"); the fewest leave-one-out classification errors
        ("loo-error"); the least loss on validation rows ("validation") or over folds ("cv"), or the fewest errors
        there with `stopping.Validation(of="error")`; all atoms ("max"). With `loss="squared"`, every rule of the
        regressor works.
    loss : str or Loss, default="auto"
        The loss to minimise, summed over rows. "auto" is "log" or "squared", whichever has the better probabilities on
        validation rows that no atom was picked from; if `gamma` or `alpha` is given, it is "log". `loss_` says which.
        "log" is the negative log-likelihood: "logistic" for two classes and "softmax" for more. Others are "squared"
        (fastest; leave-one-out is exact), "squared_hinge", "hinge", "exponential", "tanh" and "doom2", for more than
        two classes summed over each against the rest, or an object of `kernelpursuit.losses`.
    multi_class : {"shared", "ovr"}, default="shared"
        With more than two classes, whether all share their atoms (one small set of centres), or each has its own,
        picked for this class against the rest; `max_atoms` then counts for each class.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes, which multiply the weights of their rows; "balanced" gives all classes the same sum.
    outside : {"auto", "return", "free"}, default="auto"
        How to predict outside the training rows, as for `KernelPursuitRegressor`. With "return", scores return to the
        best constant, so probabilities return to the class frequencies. Scores are not clipped.
    fit_intercept : bool, default=True
        Whether to fit a constant. `loss="doom2"` never has one: this loss decreases without end, so a constant would
        diverge towards the larger class.
    sample_rows, memory_budget, warm_start, forgetting, checkpoint, random_state, n_jobs, verbose
        As for `KernelPursuitRegressor`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted.
    loss_ : str
        The loss under which coefficients were fitted.
    n_atoms_, centers_, center_indices_, stop_reason_, kernel_, penalty_, alpha_, feature_scales_, model_
        As for `KernelPursuitRegressor`; with `multi_class="ovr"`, kernel, penalty and scales are shared by all classes.
    coef_ : array of shape (n_scores, `n_atoms_`)
        Coefficients; two classes have one score, that of the second, or with `loss="softmax"` one each.
    intercept_ : array of shape (n_scores,)
        Constants.
    fixed_coef_ : array of shape (n_scores, n_functions)
        Coefficients of the functions that are always in (`dictionary.Always`).
    path_ : PursuitPath
        Models and criteria of every size, step by step; with `multi_class="ovr"`, a list of one path for each class.
    estimators_ : list of KernelPursuitClassifier
        One for each class, with `multi_class="ovr"` and more than two classes.
    n_features_in_, feature_names_in_
        Number of features seen in `fit`, and their names, if X has string column names.

    See Also
    --------
    KernelPursuitRegressor : The same for regression.
    kernelpursuit.losses : The losses.

    Notes
    -----
    The losses "log", "logistic" and "softmax" have their own probabilities. For others, they are `softmax(t s)` of the
    scores s, or of -s and s for two classes. The inverse temperature t is fitted to the leave-one-out scores, for every
    size of the path and without a refit (with `update="stagewise"`, which has none, to the scores of the training
    rows). If atoms are learned, t is fitted to validation rows that no atom was picked from.

    References
    ----------
    P. Vincent, Y. Bengio, Kernel matching pursuit, Machine Learning 48, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kernelpursuit import KernelPursuitClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KernelPursuitClassifier(max_atoms=20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.97)
    True
    >>> model.predict_proba(X[:2]).shape
    (2, 2)
    """

    _alpha = 0.1
    _fitted_names = (*BaseKernelPursuit._fitted_names, "classes_", "_class_weights", "_class_params")
    _class_weights: ClassWeights
    #: Parameters of the classifiers of single classes.
    _class_params: dict[str, Any]
    partial_fit = WithReason(FollowsLabels, "partial_fit")

    def __init__(
        self,
        *,
        kernel: Any = "auto",
        gamma: Any = "learn",
        max_atoms: Any = "auto",
        selection: str = "gain",
        update: Any = "orthogonal",
        exchange: bool = False,
        candidates: Any = "auto",
        shortlist: int | None = None,
        penalty: str | None = "auto",
        alpha: Any = "auto",
        stop: Any = "auto",
        loss: Any = "auto",
        refine: Any = "auto",
        trend: Any = "auto",
        outside: str = "auto",
        multi_class: str = "shared",
        class_weight: Any = None,
        fit_intercept: bool = True,
        sample_rows: int | str | None = "auto",
        memory_budget: int | None = None,
        warm_start: bool = False,
        forgetting: float = 1.0,
        checkpoint: PathLike | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ):
        super().__init__(
            kernel=kernel,
            gamma=gamma,
            max_atoms=max_atoms,
            selection=selection,
            update=update,
            exchange=exchange,
            candidates=candidates,
            shortlist=shortlist,
            penalty=penalty,
            alpha=alpha,
            stop=stop,
            loss=loss,
            refine=refine,
            trend=trend,
            outside=outside,
            fit_intercept=fit_intercept,
            sample_rows=sample_rows,
            memory_budget=memory_budget,
            warm_start=warm_start,
            forgetting=forgetting,
            checkpoint=checkpoint,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.multi_class = multi_class
        self.class_weight = class_weight

    def fit(self, X: Matrix, y: Any = None, sample_weight: Any = None, *, callback: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features), frame, path, or other source of rows
            Training rows; with `kernel="precomputed"`, values of every atom, one column each. What
            `kernelpursuit.rows.open_rows` accepts is read a block at a time.
        y : array of shape (n_samples,), or the name of a column of X
            Class labels: numbers or strings.
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows, one of weight 0 as none. In a learned fit, only the ratios of weights
            count.
        callback : callable, Callback or list of these, optional
            Called with the path after every step of the loop over all rows; a true result ends the fit there. With
            `loss="auto"` this is the loop of the squared loss, and then that of the log loss, if there is one.
            Objects of `kernelpursuit.callbacks` are also called in every earlier stage: `TimeLimit(10)` ends a fit
            after about ten seconds. A fit that ends before the stage of the final loss keeps the squared one.

        Returns
        -------
        self
        """
        fitted = copy.copy(self)
        fitted._fit_labels(X, y, sample_weight, callback)
        return self._take_over(fitted)

    def _fit_labels(
        self, X: Matrix, y: Any, sample_weight: Any, callback: Any, known: np.ndarray | None = None
    ) -> None:
        """Fit labels; with all that are known to come, under the squared loss, to which rows can be added."""
        if y is None and not is_source(X):
            raise ValueError("KernelPursuitClassifier requires y to be passed, but the target y is None.")
        own_atoms = check_option("multi_class", self.multi_class, ("shared", "ovr")) == "ovr"
        check_parameters(self, STAND_INS[self.loss] if self._is_log else class_loss(self.loss, 2), classes=True)
        rule = chosen_rule(self.stop)
        self._named_columns = columns_beside(X, y, sample_weight)
        if is_source(X):
            if own_atoms:
                raise ValueError("multi_class='ovr' needs rows in memory; use multi_class='shared'.")
            with self._watching(callback) as watch:
                data, self._class_weights, self.classes_ = labels_from(self, open_rows(X, y, sample_weight), watch)
                self._fit(replace(data, held_out=self._validation_rows(rule)), watch)
            return
        X, y, sample_weight = apart(X, y, sample_weight)
        with one_sentence("X", X):
            X = validate_data(self, X, **ROWS)
        check_range(X)
        labels = check_labels(y, X.shape[0])
        weights = ClassWeights.of(self.class_weight, labels, sample_weight)
        if known is None:
            self.classes_, labels = seen_classes(labels, weights.rows)
        else:
            self.classes_ = checked_classes(known, labels)
        self._class_weights = weights.without_rows()
        is_ovr = own_atoms and len(self.classes_) > 2
        loss = class_loss(self.loss, len(self.classes_))
        if is_ovr and not self._is_log and loss.kind == "classes":
            raise ValueError(f"loss={self.loss!r} has all classes at once; use multi_class='shared', or loss='log'.")
        if is_ovr:
            refuse_validation_rows(rule)
        data = TrainingData(
            X,
            codes_of(labels, self.classes_, loss),
            weights.rows,
            loss,
            classes=self.classes_,
            counts=weights.counts,
            held_out=self._validation_rows(rule),
            names=getattr(self, "feature_names_in_", None),
        )
        if is_ovr:
            self._fit_one_vs_rest(data, labels, callback)
        else:
            self._fit(data, callback)

    def score(self, X: Matrix, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy; `y` and `sample_weight` may name columns of X, as in `fit`."""
        return float(super().score(*to_score(X, y, sample_weight)))

    @property
    def _is_log(self) -> bool:
        """Whether the loss goes by the number of classes."""
        return is_word(self.loss, "log") or is_word(self.loss, "auto")

    def _fit_one_vs_rest(self, data: TrainingData, labels: np.ndarray, callback: Any) -> None:
        with self._watching(callback) as watch:
            self.model_, self._class_params = fit_one_vs_rest(self, data, labels, watch)
            self._state = None

    @property
    def loss_(self) -> str:
        """The loss under which coefficients were fitted."""
        measure = self._fitted_model.models[0].measure
        return "squared" if measure.loss is None else measure.loss.name

    def _validation_targets(self, X: Matrix, y: Any, weights: Any) -> tuple[Any, np.ndarray, Any]:
        """Labels of validation rows as codes, each seen in training, and weights that class_weight is in."""
        name = "Validation's y"
        labels = check_labels(y, X.shape[0], name)
        with one_sentence(name):
            unseen = np.setdiff1d(labels, self.classes_)
        if len(unseen):
            raise ValueError(
                f"{name} holds the label {unseen.tolist()[0]!r}, which no training row has; leave such rows out."
            )
        codes = codes_of(labels, self.classes_, class_loss(self.loss, len(self.classes_)))
        return X, codes, self._class_weights.for_rows(labels, weights, name)

    @property
    def estimators_(self) -> list[KernelPursuitClassifier]:
        """One classifier for each class against the rest, with `multi_class="ovr"`."""
        if not isinstance(self._fitted_model, OneVsRestModel):
            raise AttributeError("estimators_ is for multi_class='ovr' with more than two classes.")
        return [self._of_class(one) for one in self._fitted_model.models]

    def _of_class(self, model: FittedModel) -> KernelPursuitClassifier:
        names = {"feature_names_in_": self.feature_names_in_} if hasattr(self, "feature_names_in_") else {}
        return type(self)._already_fitted(
            self._class_params,
            n_features_in_=self.n_features_in_,
            classes_=np.array([False, True]),
            model_=model,
            _state=None,
            _class_weights=ClassWeights(None, None, None),
            **names,
        )

    def as_if_fitted_with(self, params: dict[str, Any], change: Callable[[Dictionary], Dictionary]) -> Self:
        """Return this fitted estimator as a fit with other parameters would have left it, those of classes too."""
        other = super().as_if_fitted_with(params, change)
        if isinstance(self.model_, OneVsRestModel):
            other._class_params = {**self._class_params, **params}
        return other
