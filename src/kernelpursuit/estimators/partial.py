"""`partial_fit`: rows that come a block at a time."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from kernelpursuit._types import Matrix
from kernelpursuit._validate import check_flag
from kernelpursuit.estimators.base import BaseKernelPursuit
from kernelpursuit.estimators.checks import ROWS, check_range, check_targets, one_sentence
from kernelpursuit.estimators.labels import ClassWeights, check_labels, class_loss, codes_of
from kernelpursuit.estimators.named import apart
from kernelpursuit.estimators.parameters import check_forgetting
from kernelpursuit.estimators.relearning import learned_again, usual_rows
from kernelpursuit.estimators.spec import MOST_LEARNED, is_word
from kernelpursuit.losses import Squared
from kernelpursuit.model import FittedModel
from kernelpursuit.model.latest import begun
from kernelpursuit.model.live import LiveModel
from kernelpursuit.penalties import as_penalty
from kernelpursuit.pursuit import check_weights
from kernelpursuit.rows import RowBlock, is_source
from kernelpursuit.updates import Orthogonal, as_update

# Rows, targets or codes of shape (n_rows, n_targets), and weights.
Rows = tuple[Matrix, np.ndarray, np.ndarray | None]


def updated(
    estimator: BaseKernelPursuit, X: Matrix, y: np.ndarray, weights: np.ndarray | None, *, new_atoms: bool
) -> LiveModel:
    """The live model of a fitted estimator after more rows, which were validated."""
    check_flag("new_atoms", new_atoms)
    forgetting = check_forgetting(estimator.forgetting)
    model = estimator.model_
    assert isinstance(model, FittedModel), "one-against-the-rest has no partial_fit"
    live = estimator._live
    if live is None or live.model is not model:
        live = LiveModel.of(model, round(model.path.n_units), estimator._first_rows)
    block = _block(live.n_seen, X, y, weights)
    if not len(block):
        return live
    most = MOST_LEARNED if is_word(estimator.max_atoms, "auto") else estimator.max_atoms
    live = live.updated(
        block, forgetting=forgetting, max_atoms=most, new_atoms=new_atoms, n_threads=estimator._n_threads
    )
    return learned_again(estimator, live) if new_atoms else live


def first_rows(estimator: BaseKernelPursuit, rows: Rows | None) -> tuple[RowBlock, RowBlock] | None:
    """What a first call keeps of its rows, for calls to come: weights are in the unit that the sums of the fit have."""
    if rows is None:
        return None
    block = _block(0, *rows)
    if not hasattr(estimator, "classes_"):
        block = usual_rows(block)
    unit = block.total_weight / estimator.path_.total_weight
    return begun(replace(block, weights=None if block.weights is None else block.weights / unit))


def _block(start: int, X: Matrix, y: np.ndarray, weights: np.ndarray | None) -> RowBlock:
    """Rows from number `start` on, without those of weight 0."""
    if weights is None or weights.all():
        return RowBlock(start, X, y, weights=weights)
    kept = np.flatnonzero(weights)
    return RowBlock(start, X[kept], y[kept], weights=weights[kept])


def can_follow(estimator: BaseKernelPursuit) -> bool:
    """Whether rows can be added to models with these parameters, or an AttributeError that says why not.

    What is added up are products under the squared loss, of atoms that stay.
    """
    reason = None
    try:
        penalty = None if is_word(estimator.penalty, "auto") else as_penalty(estimator.penalty)
        if not (is_word(estimator.loss, "squared") or type(estimator.loss) is Squared):
            reason = f"loss={estimator.loss!r}; use loss='squared'"
        elif type(as_update(estimator.update)) is not Orthogonal:
            reason = f"update={estimator.update!r}; use update='orthogonal'"
        elif estimator.exchange is True:
            reason = "exchange=True; use exchange=False"
        elif penalty is not None and (penalty.depends_on_order or penalty.changes_dictionary):
            reason = f"penalty={estimator.penalty!r}; use penalty='ridge'"
        elif is_word(estimator.kernel, "precomputed"):
            reason = "kernel='precomputed'; give rows"
        elif is_word(getattr(estimator, "multi_class", None), "ovr"):
            reason = "multi_class='ovr'; use multi_class='shared'"
        elif isinstance(getattr(estimator, "class_weight", None), str):
            reason = "class_weight='balanced', which needs all rows at once; give a dict"
    except ValueError:
        return True  # which a fit refuses in its own words
    if reason is not None:
        raise AttributeError(f"partial_fit does not go with {reason}.")
    return True


class FollowsNumbers(BaseKernelPursuit):
    """A regressor that goes on with more rows."""

    @available_if(can_follow)
    def partial_fit(self, X: Matrix, y: Any, sample_weight: Any = None, *, new_atoms: bool = True) -> Self:
        """Go on with more rows: the weights of the atoms are those of all rows so far, and new atoms may come.

        The first call, without a `fit` before it, is one: kernel, scales, penalty and atoms are learned from its rows,
        which should be some hundreds or thousands. In later calls the weights follow exactly, since all that least
        squares need of rows adds up: without `forgetting`, the order of rows does not matter. Where the first rows told
        too little, all is learned again from the latest 2,000, unless `new_atoms=False`. Where new rows are predicted
        worse than the model expects, or twice as many have come, atoms at the latest 2,000 rows are tried on the
        leave-one-out error of these, and added where it falls clearly, up to `max_atoms`; of the rows before these, 500
        stand for all. `path_` is then that of the kept atoms, its `loo` an approximation (generalised cross-validation,
        times what that was off by in the first fit).

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            More rows.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Their targets.
        sample_weight : array of shape (n_samples,), optional
            Their weights, in the same unit as those of rows before; where something is learned, that is their mean in
            the first call.
        new_atoms : bool, default=True
            Whether atoms may be added.

        Returns
        -------
        self
        """
        X, y, sample_weight = apart(X, y, sample_weight, several=True)
        if not hasattr(self, "model_"):
            self.fit(X, y, sample_weight)
            self._first_rows = None if is_source(X) else first_rows(self, self._more_rows(X, y, sample_weight))
            return self
        rows = self._more_rows(X, y, sample_weight)
        if rows is None:
            return self
        X, targets, weights = rows
        if targets.shape[1] != self.path_.n_targets:
            raise ValueError(f"y has {targets.shape[1]} targets, but the model has {self.path_.n_targets}.")
        return self._follow(updated(self, X, targets, weights, new_atoms=new_atoms))

    def _more_rows(self, X: Matrix, y: Any, sample_weight: Any) -> Rows | None:
        """Rows, targets of shape (n_samples, n_targets) and weights, checked."""
        with one_sentence("X", X):
            X = validate_data(self, X, reset=False, ensure_min_samples=0, **ROWS)
        if not X.shape[0]:
            return None  # what filters leave of a stream may be nothing
        check_range(X)
        y = check_targets(self, y, X.shape[0])
        weights = None if sample_weight is None else check_weights(sample_weight, X.shape[0])
        return X, y[:, None] if y.ndim == 1 else y, weights


class FollowsLabels(BaseKernelPursuit):
    """A classifier that goes on with more rows."""

    classes_: np.ndarray
    class_weight: Any
    _class_weights: ClassWeights

    @available_if(can_follow)
    def partial_fit(
        self, X: Matrix, y: Any, classes: Any = None, sample_weight: Any = None, *, new_atoms: bool = True
    ) -> Self:
        """Go on with more rows: the weights of the atoms are those of all rows so far, and new atoms may come.

        For `loss="squared"`. The first call fits the model to its rows; later ones, and calls after a `fit`, add rows,
        as for `KernelPursuitRegressor.partial_fit`.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            More rows.
        y : array of shape (n_samples,)
            Their labels.
        classes : array of shape (n_classes,), optional
            All labels that may ever come, in the first call; by default those of its rows.
        sample_weight : array of shape (n_samples,), optional
            Their weights.
        new_atoms : bool, default=True
            Whether atoms may be added.

        Returns
        -------
        self
        """
        X, y, sample_weight = apart(X, y, sample_weight)
        if not hasattr(self, "model_"):
            fitted = copy.copy(self)
            fitted._fit_labels(X, y, sample_weight, None, known=np.asarray(y if classes is None else classes))
            fitted._first_rows = None if is_source(X) else first_rows(fitted, fitted._more_rows(X, y, sample_weight))
            return self._take_over(fitted)
        if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError("classes are not those of the first call; leave classes out, or give the same.")
        rows = self._more_rows(X, y, sample_weight)
        return self if rows is None else self._follow(updated(self, *rows, new_atoms=new_atoms))

    def _more_rows(self, X: Matrix, y: Any, sample_weight: Any) -> Rows | None:
        """Rows, codes of their classes and weights, checked."""
        with one_sentence("X", X):
            X = validate_data(self, X, reset=False, ensure_min_samples=0, **ROWS)
        if not X.shape[0]:
            return None
        check_range(X)
        labels = check_labels(y, X.shape[0])
        unseen = np.setdiff1d(labels, self.classes_)
        if len(unseen):
            raise ValueError(
                f"y holds the label {unseen.tolist()[0]!r}, which is not among the classes of the first call; name all "
                "of them there (classes=...)."
            )
        weights = None if sample_weight is None else check_weights(sample_weight, len(labels))
        weights = self._class_weights.for_rows(labels, weights, "sample_weight")
        return X, codes_of(labels, self.classes_, class_loss("squared", len(self.classes_))), weights

    def _fit_labels(
        self, X: Matrix, y: Any, sample_weight: Any, callback: Any, known: np.ndarray | None = None
    ) -> None:
        raise NotImplementedError


def checked_classes(known: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """All classes that may come, sorted; labels of no class, and fewer than two classes, are refused."""
    classes = np.unique(known)
    unseen = np.setdiff1d(labels, classes)
    if len(unseen):
        raise ValueError(f"y holds the label {unseen.tolist()[0]!r}, which is not among `classes`; name all labels.")
    if len(classes) < 2:
        raise ValueError(
            f"there is one class only, {classes.tolist()[0]!r}; name all that may come in the first call (classes=...)."
        )
    return classes
