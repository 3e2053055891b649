"""`KernelPursuitClassifier`: sparse kernel classification, one atom at a time."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import log_expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelpursuit._validate import check_option
from kernelpursuit.dictionary import Precomputed
from kernelpursuit.estimators.automatic import Settled, chosen_rule, is_word, settle
from kernelpursuit.estimators.base import BaseKernelPursuit
from kernelpursuit.estimators.checks import ROWS, check_range, check_seed, one_sentence, unchanged_by_failure
from kernelpursuit.estimators.parameters import check_parameters, losses_for
from kernelpursuit.estimators.probabilities import agreeing
from kernelpursuit.losses import Logistic, Loss, Softmax, as_loss
from kernelpursuit.pursuit import ALL_ROWS, Watch, as_fitted_loss, check_weights
from kernelpursuit.stopping import count_atoms
from kernelpursuit.updates import as_update


class _Log(Logistic):
    """Stands for `loss="log"` where parameters are checked, whatever the number of classes will be."""

    name = "log"


class KernelPursuitClassifier(ClassifierMixin, BaseKernelPursuit):
    """Sparse kernel classification by greedy selection of atoms.

    The scores of a row are `intercept + sum_j coef_j k(x, center_j)` with a few dozen centres, shared by all classes.
    They are picked one at a time to lower a loss; the number of them is set by `stop`, up to `max_atoms`.

    Parameters
    ----------
    kernel, gamma, max_atoms, selection, update, exchange, candidates, penalty, refine, trend
        As for `KernelPursuitRegressor`. With a loss other than "squared", `selection="gain"` goes by the weighted
        square that equals the loss around the last refit, and `update="orthogonal"` refits all weights to the loss
        every few steps; see `kernelpursuit.updates`.
    alpha : float or "auto", default="auto"
        Strength of the penalty; "auto" is 0.1, and with `loss="squared"` it is learned beside gamma. Labels say less
        than numbers: with few rows or much noise, larger values give better probabilities; where classes hardly
        overlap, smaller ones make fewer errors with as many atoms.
    stop : str or StoppingRule, default="auto"
        How many atoms to keep. "auto" is the fewest whose leave-one-out loss is within 0.2 % of the least where
        atoms are learned, and else "loo". Others are: those with the least leave-one-out loss ("loo"), or the
        fewest within one standard error of it ("one-se"); those that put the fewest rows in a wrong class, each
        left out ("loo-error"); the least loss on held-out rows ("validation") or over folds ("cv"), or the
        fewest errors there by `stopping.Validation(of="error")`; or all ("max"). With `loss="squared"`, every
        rule of the regressor will do.
    loss : str or Loss, default="log"
        What is minimised, summed over rows. "log" is the log-likelihood, by "logistic" for two classes and "softmax"
        for more. Others are "squared" (fastest; leave-one-out is exact), "squared_hinge", "hinge", "exponential",
        "tanh" and "doom2", for more than two classes summed over each against the rest, or an object of
        `kernelpursuit.losses`.
    multi_class : {"shared", "ovr"}, default="shared"
        With more than two classes, whether all share their atoms (one small set of centres), or each has atoms of its
        own, picked to tell it from the rest; `max_atoms` then counts for each.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes, by which the weights of their rows are multiplied; "balanced" gives all classes the same
        sum.
    outside : {"auto", "return", "free"}, default="auto"
        What scores are outside the training rows, as for `KernelPursuitRegressor`: with "return" they go back to the
        best constant, and so probabilities to the shares of the classes. They are not clipped.
    fit_intercept : bool, default=True
        Whether to fit a constant. With `loss="doom2"` there is none in any case: that loss falls forever, and a
        constant would run away to the larger class.
    memory_budget, warm_start, random_state, n_jobs, verbose
        As for `KernelPursuitRegressor`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted.
    centers_ : array of shape (n_atoms_, n_features)
        Centres of the kept atoms; NaN for an atom that has none.
    center_indices_ : array of shape (n_atoms_,)
        Number of each kept atom in the dictionary: the training row, or the column of a precomputed X. Where atoms
        were refined, the training row that each started from.
    kernel_, alpha_, feature_scales_
        As for `KernelPursuitRegressor`; with `multi_class="ovr"`, shared by all classes.
    coef_ : array of shape (n_scores, n_atoms_)
        Weights; two classes have one score, that of the second, or with `loss="softmax"` one each.
    intercept_ : array of shape (n_scores,)
        Constants.
    fixed_coef_ : array of shape (n_scores, n_functions)
        Weights of the functions that are always in (`dictionary.Always`).
    n_atoms_ : int
        Number of atoms kept.
    path_ : PursuitPath
        What happened, step by step; with `multi_class="ovr"`, a list of paths, one for each class.
    estimators_ : list of KernelPursuitClassifier
        One for each class, with `multi_class="ovr"` and more than two classes.
    stop_reason_ : str
        How many atoms were kept, and why.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where X has string column names.

    See Also
    --------
    KernelPursuitRegressor : The same for numbers.
    kernelpursuit.losses : The losses.

    Notes
    -----
    Probabilities are the loss's own for "log", "logistic" and "softmax". For others they are `softmax(t s)` of the
    scores s, or of -s and s where there is one; the factor t is fitted to the leave-one-out scores along the path (with
    `update="stagewise"`, which has none, to the scores of the training rows), so that no refit is needed and every
    model of the path has its own.

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
    classes_: np.ndarray
    estimators_: list[KernelPursuitClassifier]

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
        penalty: str | None = "auto",
        alpha: Any = "auto",
        stop: Any = "auto",
        loss: Any = "log",
        refine: Any = "auto",
        trend: Any = "auto",
        outside: str = "auto",
        multi_class: str = "shared",
        class_weight: Any = None,
        fit_intercept: bool = True,
        memory_budget: int | None = None,
        warm_start: bool = False,
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
            penalty=penalty,
            alpha=alpha,
            stop=stop,
            loss=loss,
            refine=refine,
            trend=trend,
            outside=outside,
            fit_intercept=fit_intercept,
            memory_budget=memory_budget,
            warm_start=warm_start,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.multi_class = multi_class
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, callback: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Training rows; with `kernel="precomputed"`, values of every atom, one column each.
        y : array of shape (n_samples,)
            Class labels: numbers or strings.
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows, one of weight 0 as none. Where something is learned, only the ratios
            of weights count.
        callback : callable, Callback or list of these, optional
            Called with the path after every step of the loop over all rows; a true answer ends the fit there. Objects
            of `kernelpursuit.callbacks` are asked in every stage before as well: `TimeLimit(10)` ends a fit after
            about ten seconds.

        Returns
        -------
        self
        """
        with unchanged_by_failure(self):
            if isinstance(getattr(self, "path_", None), list):
                # One path cannot go on from those of several classes, nor keep their models.
                for name in ("estimators_", "_fitted_on"):
                    self.__dict__.pop(name, None)
            if y is None:
                raise ValueError("KernelPursuitClassifier requires y to be passed, but the target y is None.")
            own_atoms = check_option("multi_class", self.multi_class, ("shared", "ovr")) == "ovr"
            check_parameters(self, _Log() if is_word(self.loss, "log") else self._resolve_loss(), classes=True)
            with one_sentence("X", X):
                X = validate_data(self, X, **ROWS)
            check_range(X)
            labels = self._check_labels(y, X.shape[0])
            weights = self._weights_of_rows(labels, sample_weight)
            seen = labels if weights is None else labels[weights > 0]
            self.classes_ = np.unique(seen)
            if len(self.classes_) < 2:
                raise ValueError(
                    f"y holds one class only, {self.classes_.tolist()[0]!r} (rows of weight 0 do not count); "
                    "give rows of at least two classes."
                )
            if weights is not None and len(self.classes_) < len(np.unique(labels)):
                # Rows of weight zero may have labels that no other row has: they are left out, whatever they say.
                labels = np.where(np.isin(labels, self.classes_), labels, self.classes_[0])
            if own_atoms and len(self.classes_) > 2:
                return self._fit_each(X, labels, weights, callback)
            self._loss = self._resolve_loss()
            return self._fit(X, self._codes(labels), weights, callback, self._loss, classes=True)

    def _check_labels(self, y: Any, n_rows: int, name: str = "y") -> np.ndarray:
        """Labels as an array of one dimension."""
        with one_sentence(name):
            labels = column_or_1d(y, warn=True)
            assert_all_finite(labels, input_name=name)
            check_classification_targets(labels)
        if len(labels) != n_rows:
            raise ValueError(f"{name} has {len(labels)} labels, but X has {n_rows} rows; give one label for each row.")
        return labels

    def _weights_of_rows(self, labels: np.ndarray, sample_weight: Any) -> np.ndarray | None:
        weights = None if sample_weight is None else check_weights(sample_weight, len(labels))
        self._weight_of_class: dict[Any, float] | None = None
        self._counts = None
        if self.class_weight is None:
            return weights
        # class_weight says how much a row matters, and not how often it was seen: left out, it goes as a whole.
        self._counts = counted = np.ones(len(labels)) if weights is None else weights
        known, which = np.unique(labels[counted > 0], return_inverse=True)
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            sums = np.bincount(which, weights=counted[counted > 0])
            by_class = (sums.sum() / (len(known) * sums))[which]
        else:
            try:
                by_label = {label: float(self.class_weight[label]) for label in self.class_weight}
            except (ValueError, TypeError, LookupError):
                raise ValueError(
                    f"class_weight={self.class_weight!r} is not usable; give a dict by label, 'balanced' or None."
                ) from None
            # A fold may lack a class of the dict; but where y has one that is not there either, it is a slip.
            strange = [label for label in by_label if label not in known.tolist()]
            if strange and any(label not in by_label for label in known.tolist()):
                raise ValueError(f"class_weight={self.class_weight!r} names {strange[0]!r}, which is no label of y.")
            by_class = np.array([by_label.get(label, 1.0) for label in known.tolist()])[which]
        self._weight_of_class = dict(zip(labels[counted > 0].tolist(), by_class.tolist()))
        full = np.zeros(len(labels))
        full[counted > 0] = by_class
        return check_weights(full * counted, len(labels), "class_weight")

    def _resolve_loss(self) -> Loss:
        """The loss object for as many classes as there are."""
        if is_word(self.loss, "log"):
            return Logistic() if len(self.classes_) == 2 else Softmax()
        loss = as_loss(self.loss, ("log", *losses_for(lambda loss: loss.takes_codes)))
        if not loss.takes_codes:
            raise ValueError(f"loss={self.loss!r} is for numbers; use KernelPursuitRegressor, or loss='log'.")
        return loss

    def _codes(self, labels: np.ndarray) -> np.ndarray:
        """Labels as targets, shape (n_rows, n_scores): 0 and 1 for softmax, else -1 and +1."""
        if self._loss.kind == "classes":
            return (labels[:, None] == self.classes_).astype(np.float64)
        shown = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return np.where(labels[:, None] == shown, 1.0, -1.0)

    def _held_out(self, X: Any, y: Any, weights: Any) -> tuple[Any, np.ndarray, Any]:
        """Labels of held-out rows as codes, each seen in training, and weights that class_weight is in."""
        name = "Validation's y"
        labels = self._check_labels(y, X.shape[0], name)
        with one_sentence(name):
            unseen = np.setdiff1d(labels, self.classes_)
        if len(unseen):
            raise ValueError(
                f"{name} holds the label {unseen.tolist()[0]!r}, which no training row has; leave such rows out."
            )
        if self._weight_of_class is not None:
            given = np.ones(len(labels)) if weights is None else check_weights(weights, len(labels), name)
            weights = given * np.array([self._weight_of_class[label] for label in labels.tolist()])
        return X, self._codes(labels), weights

    def _fit_each(self, X: Any, labels: np.ndarray, weights: np.ndarray | None, callback: Any) -> Self:
        """Fit a model of its own for each class against the rest."""
        if self.loss != "log" and self._resolve_loss().kind == "classes":
            raise ValueError(f"loss={self.loss!r} has all classes at once; use multi_class='shared', or loss='log'.")
        self._refuse_given_rows(chosen_rule(self.stop, has_atoms=False))
        watch = Watch(callback, self.verbose)
        try:
            return self._fit_watched_classes(X, labels, weights, watch)
        finally:
            watch.close()

    def _fit_watched_classes(self, X: Any, labels: np.ndarray, weights: np.ndarray | None, watch: Watch) -> Self:
        self._loss = self._resolve_loss()
        update = as_update(self.update)
        seen = self._observe(X, self._codes(labels), weights, update, as_fitted_loss(self._loss, update), True)
        X, weights, labels = seen.X, seen.weights, labels if seen.rows is None else labels[seen.rows]
        self._rows_seen = seen.rows
        settled = self._settle_for_all(X, labels, weights, watch, seen.each)
        returns = self.outside == "return" or (self.outside == "auto" and settled.learned is not None)
        self.estimators_ = []
        watch.part(ALL_ROWS)
        n_classes = len(self.classes_)
        for i, label in enumerate(self.classes_):
            params = {
                **self.get_params(deep=False),
                "class_weight": None,
                "multi_class": "shared",
                "kernel": settled.dictionary,
                "gamma": settled.gamma,
                "alpha": settled.alpha,
                "max_atoms": settled.max_atoms,
                "stop": settled.rule,
                "refine": False,
                "trend": None,
                "outside": "return" if returns else "free",
            }
            one = type(self)(**params)
            one.n_features_in_, one.classes_ = X.shape[1], np.array([False, True])
            one._counts, one._weight_of_class, one._loss = seen.counts, None, one._resolve_loss()
            one._shared_scales = self.feature_scales_
            with watch.within(i / n_classes, (i + 1) / n_classes, f"class {i + 1} of {n_classes}"):
                one._fit(X, one._codes(labels == label), weights, watch, one._loss, classes=True)
            one._rows_seen = seen.rows
            one._keep(one._n_steps, one.stop_reason_)
            self.estimators_.append(one)
        self._gather()
        self.stop_reason_ = watch.explain(self.stop_reason_)
        return self

    def _settle_for_all(
        self, X: Any, labels: np.ndarray, weights: np.ndarray | None, watch: Watch, counts: np.ndarray | None
    ) -> Settled:
        """What is learned of all classes at once, and shared by their models: kernel, scales and penalty."""
        update = as_update(self.update)
        settled = settle(
            self,
            X,
            self._codes(labels),
            weights,
            update=update,
            loss=as_fitted_loss(self._loss, update),
            classes=True,
            seed=check_seed(self.random_state),
            picks_atoms=False,
            watch=watch,
            counts=counts,
        )
        self._set_settled(settled)
        return settled

    @staticmethod
    def _refuse_given_rows(rule: Any) -> None:
        if rule.validation_set() is not None:
            raise ValueError(
                "multi_class='ovr' holds rows out by itself; give Validation a fraction in place of X and y."
            )

    def _gather(self) -> Self:
        """Put the models of all classes together: their distinct atoms, and weights that are zero for most."""
        first = self.estimators_[0]
        self.path_ = [one.path_ for one in self.estimators_]  # type: ignore[assignment]
        used = np.concatenate([one.center_indices_ for one in self.estimators_])
        self.center_indices_, where = np.unique(used, return_index=True)
        self.n_atoms_ = len(where)
        centers = [one.centers_ for one in self.estimators_]
        self.centers_ = None
        if first.centers_ is not None:
            stack = sp.vstack(centers, format="csr") if sp.issparse(first.centers_) else np.vstack(centers)
            self.centers_ = stack[where]
        self.coef_ = np.zeros((len(self.classes_), self.n_atoms_))
        for row, one in zip(self.coef_, self.estimators_):
            row[np.searchsorted(self.center_indices_, one.center_indices_)] = one.coef_[0]
        self.intercept_ = np.array([one.intercept_[0] for one in self.estimators_])
        self.fixed_coef_ = np.vstack([one.fixed_coef_[0] for one in self.estimators_])
        each = ", ".join(f"{label} has {one.n_atoms_}" for label, one in zip(self.classes_, self.estimators_))
        self.stop_reason_ = f"{count_atoms(self.n_atoms_)} in all, each counted once: {each}"
        return self

    @property
    def _is_ovr(self) -> bool:
        return isinstance(self.path_, list)

    def at(self, k: int) -> Self:
        """Return the fitted model with the first `k` atoms of the path; nothing is refitted."""
        check_is_fitted(self)
        return self._each(lambda one: one.at(k)) if self._is_ovr else super().at(k)

    def select(self, rule: Any) -> Self:
        """Return the fitted model that another stopping rule keeps of this path; nothing is refitted."""
        check_is_fitted(self)
        if not self._is_ovr:
            return super().select(rule)
        self._refuse_given_rows(chosen_rule(rule, has_atoms=False))
        return self._each(lambda one: one.select(rule))

    def _each(self, change: Any) -> Self:
        model = copy.copy(self)
        model.estimators_ = [change(one) for one in self.estimators_]
        return model._gather()

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes: the largest names the predicted one.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows; with `kernel="precomputed"`, all columns or just the picked ones, in the order of `center_indices_`.

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            For two classes one number a row, above 0 for the second class.
        """
        check_is_fitted(self)
        X = self._rows_to_predict(X)
        return self._margins(self._decision(X), X)

    def _rows_to_predict(self, X: Any) -> Any:
        if not self._is_ovr:
            return self._check_rows(X, self.n_atoms_)
        shape: tuple[int, ...] = getattr(X, "shape", ())
        precomputed = isinstance(self.estimators_[0]._path_atoms, Precomputed)
        with one_sentence("X", X):
            if not (precomputed and len(shape) == 2 and shape[1] == self.n_atoms_ != self.n_features_in_):
                return validate_data(self, X, reset=False, **ROWS)
            picked = check_array(X, ensure_min_features=0, **ROWS)
        # The classes' own models take all columns: the others are not looked at.
        place = sp.csr_array(
            (np.ones(self.n_atoms_), self.center_indices_, np.arange(self.n_atoms_ + 1)),
            shape=(self.n_atoms_, self.n_features_in_),
            dtype=picked.dtype,
        )
        return picked @ place

    def _decision(self, X: Any) -> np.ndarray:
        """Scores of the model, or of each class's own."""
        if self._is_ovr:
            return np.hstack([one._decision(X) for one in self.estimators_])
        return super()._decision(X)

    def _margins(self, scores: np.ndarray, X: Any) -> np.ndarray:
        """One column for two classes; float32 for float32 rows."""
        if len(self.classes_) == 2:
            scores = scores[:, -1] - scores[:, 0] if scores.shape[1] == 2 else scores[:, 0]
        return scores.astype(np.float32) if X.dtype == np.float32 else scores

    def _labels(self, margins: np.ndarray) -> np.ndarray:
        return self.classes_[self._places(margins)]

    @staticmethod
    def _places(margins: np.ndarray) -> np.ndarray:
        """Places in `classes_` of the classes that scores name."""
        return (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Predict class labels.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,)
        """
        return self._labels(self.decision_function(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probability of every class; see the notes of the class for where they come from.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        p : array of shape (n_samples, n_classes)
            In the order of `classes_`; rows add up to one. The predicted class is always the first of the largest.
        """
        check_is_fitted(self)
        X = self._rows_to_predict(X)
        scores = self._decision(X)
        if self._is_ovr:
            # One factor for all classes, so that the largest score stays the most probable; in logarithms, so that
            # rows add up to one where every class is next to impossible.
            factor = float(np.median([one._factor for one in self.estimators_]))
            p = softmax(log_expit(2 * factor * scores), axis=1)
        else:
            p = self._probabilities(scores)
        p = p.astype(np.float32) if X.dtype == np.float32 else p
        return agreeing(p, self._places(self._margins(scores, X)))

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        return self._measure.probabilities(scores.T, self._factor).T

    @property
    def _factor(self) -> float:
        """What scores are multiplied by before they become probabilities."""
        return 1.0 if self.path_.temperature is None else float(self.path_.temperature[self._n_steps])

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the scores of the models after 0, 1, ... steps, along the whole path.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples,) or (n_samples, n_classes)
            In step with the arrays of `path_`.
        """
        check_is_fitted(self)
        if self._is_ovr:
            raise ValueError("multi_class='ovr' has a path for each class; use those of estimators_.")
        X = self._check_rows(X, self._path_atoms.n_atoms)
        for scores in self._staged(X):
            yield self._margins(scores, X)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the labels that the models after 0, 1, ... steps predict, along the whole path.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples,)
            In step with the arrays of `path_`.
        """
        for margins in self.staged_decision_function(X):
            yield self._labels(margins)
