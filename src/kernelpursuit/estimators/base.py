"""What all estimators share: parameters, the fitted model, and the models of other sizes."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelpursuit._files import PathLike
from kernelpursuit._types import Matrix
from kernelpursuit._validate import ByName, check_flag, unknown_parameter
from kernelpursuit.dictionary import Dictionary
from kernelpursuit.estimators.blocks import BlockPredictions
from kernelpursuit.estimators.checks import ROWS, comparable, one_sentence
from kernelpursuit.estimators.fitting import FitState, TrainingData, fit_model
from kernelpursuit.estimators.named import without_columns
from kernelpursuit.estimators.portable import Portable
from kernelpursuit.estimators.spec import chosen_rule
from kernelpursuit.exceptions import InterruptedFitWarning
from kernelpursuit.model import FittedModel, OneVsRestModel
from kernelpursuit.model.live import LiveModel
from kernelpursuit.pursuit import Watch, check_held_out, resolve_threads
from kernelpursuit.pursuit.checkpoint import Checkpoint
from kernelpursuit.pursuit.interrupt import on_interrupt
from kernelpursuit.rows import RowBlock
from kernelpursuit.stopping import StoppingRule


class BaseKernelPursuit(BlockPredictions, Portable, ByName, BaseEstimator):
    """Greedy sparse kernel model; see the subclasses."""

    #: Attributes that a fit sets, all of them at its end.
    _fitted_names: ClassVar[Sequence[str]] = (
        "n_features_in_",
        "feature_names_in_",
        "model_",
        "_state",
        "_live",
        "_first_rows",
        "_named_columns",
    )
    model_: FittedModel | OneVsRestModel
    _state: FitState | None
    #: What `partial_fit` goes on from, where it was the last to change the model.
    _live: LiveModel | None = None
    #: The latest rows of a first call of it, and a few that stand for the others.
    _first_rows: tuple[RowBlock, RowBlock] | None = None
    #: Columns that the fit took for targets or weights, by their names; rows to predict may have them too.
    _named_columns: tuple[str, ...] = ()
    #: What alpha="auto" is where it is not learned.
    _alpha: ClassVar[float] = 1e-3

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
        loss: Any = "squared",
        refine: Any = "auto",
        trend: Any = "auto",
        outside: str = "auto",
        fit_intercept: bool = True,
        truncate: Any = None,
        sample_rows: int | str | None = "auto",
        memory_budget: int | None = None,
        warm_start: bool = False,
        forgetting: float = 1.0,
        checkpoint: PathLike | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.max_atoms = max_atoms
        self.selection = selection
        self.update = update
        self.exchange = exchange
        self.candidates = candidates
        self.shortlist = shortlist
        self.penalty = penalty
        self.alpha = alpha
        self.stop = stop
        self.loss = loss
        self.refine = refine
        self.trend = trend
        self.outside = outside
        self.fit_intercept = fit_intercept
        self.truncate = truncate
        self.sample_rows = sample_rows
        self.memory_budget = memory_budget
        self.warm_start = warm_start
        self.forgetting = forgetting
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; see scikit-learn."""
        known = self.get_params(deep=True)
        for name in params:
            if name not in known and "__" not in name:
                raise ValueError(unknown_parameter(type(self).__name__, name, self.get_params(deep=False)))
        return super().set_params(**params)

    def _fit(self, data: TrainingData, callback: Any) -> None:
        """Fit the model to validated rows, and set what comes of it."""
        with self._watching(callback) as watch:
            self.model_, self._state = fit_model(self, data, watch, getattr(self, "_state", None))
            self._live = self._first_rows = None

    @contextmanager
    def _watching(self, callback: Any) -> Iterator[Watch]:
        """Watch a fit, or go on with who watches it: progress, callbacks, a checkpoint, and Ctrl-C."""
        if isinstance(callback, Watch):
            yield callback
            return
        checkpoint = None if self.checkpoint is None else Checkpoint(self.checkpoint)
        with closing(Watch(callback, self.verbose, checkpoint)) as watch, on_interrupt(watch.interrupt):
            yield watch
        if watch.is_interrupted:
            warnings.warn(
                "the fit was interrupted, and the model is the best found so far (see stop_reason_); interrupt twice "
                "to get none.",
                InterruptedFitWarning,
                stacklevel=5,
            )
        elif checkpoint is not None:
            checkpoint.remove()

    def _take_over(self, fitted: Self) -> Self:
        """Take what the fit of a copy has set: a fit that fails leaves nothing behind."""
        for name in self._fitted_names:
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
            elif hasattr(self, name):
                delattr(self, name)
        return self

    @classmethod
    def _already_fitted(cls, params: dict[str, Any], **fitted: Any) -> Self:
        """An estimator with these parameters, as a fit that has set these attributes would have left it."""
        estimator = cls(**params)
        for name, value in fitted.items():
            setattr(estimator, name, value)
        return estimator

    def _with_model(self, model: FittedModel | OneVsRestModel) -> Self:
        """An estimator like this one with another model."""
        other = copy.copy(self)
        other.model_, other._live, other._first_rows = model, None, None
        return other

    def _follow(self, live: LiveModel) -> Self:
        """Take the model of more rows; a warm start cannot go on from it."""
        self.model_, self._live, self._first_rows, self._state = live.model, live, None, None
        return self

    def as_if_fitted_with(self, params: dict[str, Any], change: Callable[[Dictionary], Dictionary]) -> Self:
        """Return this fitted estimator as a fit with other parameters would have left it; nothing is refitted.

        `params` are those that it would have had, and `change` gives its atoms as the dictionary of that fit has them.
        """
        other = self._with_model(self.model_.with_atoms(change))
        for name, value in params.items():
            setattr(other, name, value)
        if self._state is not None:
            # What a later fit with warm_start=True is compared with.
            known = {name: comparable(value) for name, value in params.items() if name in self._state.given}
            assert isinstance(other.model_, FittedModel)
            other._state = replace(self._state, given={**self._state.given, **known}, model=other.model_)
        return other

    def _validation_rows(self, rule: StoppingRule) -> tuple[Any, Any, Any] | None:
        """The rule's own validation rows, validated as rows to predict are."""
        given = rule.validation_set()
        if given is None:
            return None
        X, y, weights = given
        with one_sentence("Validation's X", X):
            X = validate_data(self, X, reset=False, **ROWS)
        return self._validation_targets(X, y, weights)

    def _validation_targets(self, X: Matrix, y: Any, weights: Any) -> tuple[Any, Any, Any]:
        """Targets and weights of validation rows as the fit takes them."""
        return X, y, weights

    # -- What was fitted -------------------------------------------------------------------------------------------

    @property
    def _fitted_model(self) -> FittedModel | OneVsRestModel:
        """The model, or an AttributeError as for any attribute that is not there."""
        if not hasattr(self, "model_"):
            raise AttributeError(f"{type(self).__name__} is not fitted; call fit(X, y) first.")
        return self.model_

    @property
    def path_(self) -> Any:
        """Models and criteria of every size; with `multi_class="ovr"`, a list with one path for each class."""
        return self._fitted_model.path

    @property
    def n_atoms_(self) -> int:
        """Number of atoms kept."""
        return self._fitted_model.n_atoms

    @property
    def stop_reason_(self) -> str:
        """How many atoms were kept, and why."""
        return self._fitted_model.reason

    @property
    def center_indices_(self) -> np.ndarray:
        """Number of each kept atom in the dictionary (of one kernel: its training row)."""
        return self._fitted_model.center_indices

    @property
    def centers_(self) -> Any:
        """Centres of the kept atoms."""
        return self._fitted_model.centers

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the kept atoms."""
        return self._fitted_model.coef

    @property
    def intercept_(self) -> Any:
        """Constants."""
        return self._fitted_model.intercept

    @property
    def fixed_coef_(self) -> np.ndarray:
        """Coefficients of the functions that are always in."""
        return self._fitted_model.fixed_coef

    @property
    def kernel_(self) -> Any:
        """The kernel, or the dictionary."""
        return self._fitted_model.origin.kernel

    @property
    def penalty_(self) -> Any:
        """The penalty."""
        return self._fitted_model.origin.penalty

    @property
    def alpha_(self) -> float:
        """The strength of the penalty."""
        return self._fitted_model.origin.alpha

    @property
    def feature_scales_(self) -> np.ndarray | None:
        """How fast the model varies with each feature, if scales were learned."""
        return self._fitted_model.origin.scales

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted means that a fit has succeeded."""
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        """Sparse input, several outputs, and square matrices where the kernel is precomputed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    # -- Other sizes -----------------------------------------------------------------------------------------------

    def at(self, k: int, *, keep_path: bool = True) -> Self:
        """Return the fitted model with the first `k` atoms of the path; nothing is refitted.

        Parameters
        ----------
        k : int
            Number of atoms; with `multi_class="ovr"`, of each class. It may be larger than `n_atoms_`, up to the length
            of the path. Where an atom may be picked again (`update` "stagewise" or "rescale"), `k` counts steps, and
            the model may have fewer atoms.
        keep_path : bool, default=True
            Whether the model keeps the whole path. Without the steps after the first `k` it is small, and so is its
            pickle; it can become smaller, but not larger again.

        Returns
        -------
        An estimator like this one. Under another loss than the squared one, weights between two refits are near the
        minimum of the loss and not at it, but for those of the model that `fit` kept;
        `update=Orthogonal(refit_every=1)` has all of them there.
        """
        check_is_fitted(self)
        smaller = self._with_model(self.model_.at(k, keep_path=check_flag("keep_path", keep_path)))
        return smaller if keep_path else smaller._without_state()

    def select(self, rule: Any) -> Self:
        """Return the fitted model that another stopping rule keeps of this path; nothing is refitted."""
        check_is_fitted(self)
        self.model_.check_rule(chosen_rule(rule))
        given = self._validation_rows(chosen_rule(rule))
        if given is None:
            return self._with_model(self.model_.select(rule))
        assert isinstance(self.model_, FittedModel), "models of single classes take no validation rows"
        given = check_held_out(given, self.n_features_in_, self.path_.n_targets)
        return self._with_model(self.model_.select(rule, given))

    def _without_state(self) -> Self:
        """Forget what a warm start could go on from."""
        self._state = None if self._state is None else self._state.without_rows()
        return self

    # -- Rows to predict -------------------------------------------------------------------------------------------

    def _rows(self, X: Matrix, n_picked: int) -> Any:
        """Validate rows to predict; of a precomputed matrix, all columns or just those of the `n_picked` atoms."""
        X = without_columns(X, self._named_columns)
        shape: tuple[int, ...] = getattr(X, "shape", ())
        is_picked = self.model_.is_precomputed and len(shape) == 2 and shape[1] == n_picked != self.n_features_in_
        with one_sentence("X", X):
            if is_picked:
                return check_array(X, ensure_min_features=0, **ROWS)
            return validate_data(self, X, reset=False, **ROWS)

    @property
    def _n_threads(self) -> int:
        return resolve_threads(self.n_jobs)
