"""What a fitted classifier says of rows: scores, labels, probabilities and sets of classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from kernelpursuit._types import Matrix
from kernelpursuit.estimators.base import BaseKernelPursuit
from kernelpursuit.estimators.blocks import takes_sources
from kernelpursuit.estimators.checks import check_coverage
from kernelpursuit.model import OneVsRestModel
from kernelpursuit.model.probabilities import agreeing


class ClassPredictions(ClassifierMixin, BaseKernelPursuit):
    """Predictions of a classifier, all of them functions of its fitted model."""

    classes_: np.ndarray

    @takes_sources
    def decision_function(self, X: Matrix) -> np.ndarray:
        """Return the scores of the classes; the class with the largest is predicted.

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
        return self._margins(self.model_.scores(X, self._n_threads), X)

    def _rows_to_predict(self, X: Matrix) -> Any:
        rows = self._rows(X, self.n_atoms_)
        if isinstance(self.model_, OneVsRestModel) and rows.shape[1] != self.n_features_in_:
            return self.model_.all_columns(rows)
        return rows

    def _margins(self, scores: np.ndarray, X: Matrix) -> np.ndarray:
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

    @takes_sources
    def predict(self, X: Matrix) -> np.ndarray:
        """Predict class labels.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,)
        """
        return self._labels(self.decision_function(X))

    @takes_sources
    def predict_proba(self, X: Matrix) -> np.ndarray:
        """Predict the probability of every class; the notes of the class say how.

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
        scores = self.model_.scores(X, self._n_threads)
        p = self.model_.probabilities(scores)
        p = p.astype(np.float32) if X.dtype == np.float32 else p
        return agreeing(p, self._places(self._margins(scores, X)))

    @takes_sources
    def predict_set(self, X: Matrix, coverage: float = 0.9) -> np.ndarray:
        """Predict sets of classes that should contain the true class for a given fraction of new rows.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        coverage : float, default=0.9
            The fraction of rows whose class the sets should contain, between 0 and 1.

        Returns
        -------
        sets : bool array of shape (n_samples, n_classes)
            Whether each of `classes_` is in the set. The gap of a class is the difference between the largest score and
            its own. A class is in the set if its gap is at most a quantile of the gaps of the true classes of rows that
            are left out or held out, as in conformal prediction. Coverage is approximate, and n rows support none above
            n / (n + 1). The predicted class is always in the set, so coverage is higher than asked for if the predicted
            class is correct more often.
        """
        check_is_fitted(self)
        fraction = check_coverage("coverage", coverage)
        if isinstance(self.model_, OneVsRestModel):
            raise ValueError("predict_set needs scores of all classes at once; use multi_class='shared'.")
        X = self._rows_to_predict(X)
        return self.model_.class_sets(self.model_.scores(X, self._n_threads), fraction)

    def predict_log_proba(self, X: Matrix) -> np.ndarray:
        """Return the logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def staged_decision_function(self, X: Matrix) -> Iterator[np.ndarray]:
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
        if isinstance(self.model_, OneVsRestModel):
            raise ValueError("multi_class='ovr' has a path for each class; use those of estimators_.")
        X = self._rows(X, self.model_.atoms.n_atoms)
        for scores in self.model_.staged_scores(X, self._n_threads):
            yield self._margins(scores, X)

    def staged_predict(self, X: Matrix) -> Iterator[np.ndarray]:
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
