"""Several models beside each other: error against the number of atoms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from kernelpursuit._types import Matrix
from kernelpursuit.estimators.checks import check_targets
from kernelpursuit.estimators.labels import check_known_kind
from kernelpursuit.model import OneVsRestModel
from kernelpursuit.plotting.frames import as_frame
from kernelpursuit.plotting.parts import (
    CLASS_COLOURS,
    LINE_STYLES,
    best_of,
    distinct_names,
    figure_and_axes,
    kernel_model,
    legend_above,
    literal,
    plain_ticks,
    tidy,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from sklearn.base import BaseEstimator

    from kernelpursuit.estimators.base import BaseKernelPursuit

# Models differ by more than their colour.
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")


@dataclass
class ComparisonDisplay:
    """Errors of several models along their paths, with a mark at the size that each keeps.

    Attributes
    ----------
    errors : dict of str to array
        By the name of each model, the error after every step, that of no atom first.
    sizes : dict of str to array
        Numbers of atoms after every step.
    kept : dict of str to int
        Steps that each keeps.
    error_name : str
        What the errors are.
    """

    errors: dict[str, np.ndarray]
    sizes: dict[str, np.ndarray]
    kept: dict[str, int]
    error_name: str
    ax_: Axes | None = field(default=None, repr=False)
    figure_: Figure | SubFigure | None = field(default=None, repr=False)

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, BaseEstimator],
        X: Matrix = None,
        y: ArrayLike | None = None,
        *,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the errors of models that were fitted to the same targets.

        Parameters
        ----------
        estimators : dict of str to fitted estimators
            Models by their names: all regressors, or all classifiers; pipelines and searches around them will do.
        X : array, CSR matrix or frame of shape (n_samples, n_features), optional
            Test rows, on which every size of every model is tried. Without them, errors are leave-one-out errors, which
            models under the squared loss have.
        y : array of shape (n_samples,) or (n_samples, n_targets), optional
            Their targets or classes.
        ax : matplotlib axes, optional
            Where to draw; by default new axes.

        Examples
        --------
        >>> from kernelpursuit import KernelPursuitRegressor
        >>> from kernelpursuit.data import make_friedman
        >>> from kernelpursuit.plotting import ComparisonDisplay
        >>> X, y = make_friedman(200)
        >>> names = ("rbf", "laplacian")
        >>> models = {name: KernelPursuitRegressor(kernel=name, gamma="scale").fit(X, y) for name in names}
        >>> display = ComparisonDisplay.from_estimators(models)
        """
        if not isinstance(estimators, Mapping) or not estimators:
            raise ValueError("estimators must be a dict of fitted models by their names, such as {'rbf': model}.")
        if (X is None) != (y is None):
            raise ValueError("X and y go together; give both, or neither for leave-one-out errors.")
        best = {name: best_of(one) for name, one in estimators.items()}
        models = {name: kernel_model(one) for name, one in best.items()}
        if len({hasattr(one, "classes_") for one in models.values()}) > 1:
            raise ValueError("estimators holds regressors and classifiers, whose errors differ; compare one kind.")
        errors, kept, word = {}, {}, ""
        for name, model in models.items():
            if isinstance(model.model_, OneVsRestModel):
                raise ValueError(f"{name!r} has a path for each class (multi_class='ovr'), and no path of its own.")
            kept[name] = model.model_.n_steps
            errors[name], word = _loo(name, model) if X is None else _tried(best[name], model, X, y)
        return cls(
            errors=errors,
            sizes={name: np.asarray(one.path_.size) for name, one in models.items()},
            kept=kept,
            error_name=word,
        ).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on new axes."""
        self.figure_, self.ax_ = figure_and_axes(ax)
        ax = self.ax_
        shorts = distinct_names(list(self.errors), 20)
        for i, ((name, error), short) in enumerate(zip(self.errors.items(), shorts)):
            colour, style = CLASS_COLOURS[i % len(CLASS_COLOURS)], LINE_STYLES[i % len(LINE_STYLES)]
            k, sizes = self.kept[name], self.sizes[name]
            label = f"{literal(short)}: {sizes[k]} atoms, {error[k]:.3g}"
            ax.plot(sizes, error, color=colour, ls=style, lw=1.7)
            mark: dict[str, Any] = {"marker": MARKS[i % len(MARKS)], "ms": 8, "mec": "white", "mew": 1.0, "zorder": 5}
            ax.plot(sizes[k], error[k], color=colour, ls=style, lw=1.7, label=label, **mark)
        shown = np.concatenate(list(self.errors.values()))
        shown = shown[np.isfinite(shown)]
        if len(shown) and shown.min() > 1e-9 * shown.max() and shown.max() > 3 * shown.min():
            ax.set_yscale("log")
            plain_ticks(ax)
        ax.set(xlabel="number of atoms", ylabel=self.error_name)
        ax.xaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
        ax.margins(x=0.02)
        tidy(ax)
        legend_above(ax, ncols=2)
        return self

    def frame(self) -> pd.DataFrame:
        """Return one row for every size of every model."""
        names = [np.repeat(name, len(error)) for name, error in self.errors.items()]
        is_kept = [np.arange(len(error)) == self.kept[name] for name, error in self.errors.items()]
        return as_frame(
            {
                "model": np.concatenate(names),
                "atoms": np.concatenate(list(self.sizes.values())),
                "error": np.concatenate(list(self.errors.values())),
                "is_kept": np.concatenate(is_kept),
            }
        )


def _loo(name: str, model: BaseKernelPursuit) -> tuple[np.ndarray, str]:
    """Leave-one-out errors of all sizes."""
    path = model.path_
    if path.loo is None or path.loss != "squared":
        raise ValueError(f"{name!r} has no leave-one-out error under the squared loss; give test rows X and y.")
    return np.sqrt(np.where(np.isfinite(path.loo), path.loo, np.nan)), "leave-one-out error (root mean square)"


def _tried(estimator: BaseEstimator, model: BaseKernelPursuit, X: Matrix, y: Any) -> tuple[np.ndarray, str]:
    """Errors of all sizes on test rows."""
    seen = estimator[:-1].transform(X) if isinstance(estimator, Pipeline) and len(estimator) > 1 else X
    n_rows = seen.shape[0] if hasattr(seen, "shape") else len(seen)
    if hasattr(model, "classes_"):
        labels = check_known_kind(y, n_rows, np.asarray(model.classes_))
        wrong = [np.mean(one != labels) for one in model.staged_predict(seen)]
        return np.array(wrong), "wrong classes (fraction of test rows)"
    targets = check_targets(model, y, n_rows).reshape(n_rows, -1)
    n_targets = model.path_.n_targets
    if targets.shape[1] != n_targets:
        raise ValueError(f"y has {targets.shape[1]} targets, but a model predicts {n_targets}; give as many.")
    # A column beside a vector would be subtracted from it row by row.
    squares = [np.mean(np.square(one.reshape(targets.shape) - targets)) for one in model.staged_predict(seen)]
    return np.sqrt(squares), "error on test rows (root mean square)"
