"""What all estimators share: parameters, the fit, the path and the models on it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelpursuit._validate import ByName, check_flag, unknown_parameter
from kernelpursuit.dictionary import Dictionary, Precomputed
from kernelpursuit.estimators.automatic import (
    Settled,
    chosen_rule,
    is_word,
    learns,
    rule_of,
    settings_of,
    settle,
    without_held_out,
)
from kernelpursuit.estimators.checks import (
    ROWS,
    check_seed,
    digest,
    is_plain,
    one_sentence,
    same_settings,
)
from kernelpursuit.estimators.outside import MARGIN, Outside, widened_range
from kernelpursuit.estimators.verdict import warn_if_constant
from kernelpursuit.learning import Observations, observe
from kernelpursuit.losses import Loss
from kernelpursuit.pursuit import (
    ALL_ROWS,
    Measure,
    PursuitPath,
    Script,
    Watch,
    as_fitted_loss,
    check_held_out,
    resolve_threads,
    run_pursuit,
)
from kernelpursuit.pursuit.system import require_known
from kernelpursuit.pursuit.watch import ASKED
from kernelpursuit.stopping import ALL_LEARNED, ALL_PICKED, StoppingRule, as_rule, count_atoms
from kernelpursuit.updates import Update, as_update

# Rows predicted at a time: what is made of them on the way stays below this.
PREDICT_BYTES = 64 * 2**20


class BaseKernelPursuit(ByName, BaseEstimator):
    """Greedy sparse kernel model; see the subclasses."""

    path_: PursuitPath
    n_atoms_: int
    stop_reason_: str
    center_indices_: np.ndarray
    centers_: Any
    coef_: np.ndarray
    intercept_: Any
    fixed_coef_: np.ndarray
    _path_atoms: Dictionary
    _always: Dictionary | None
    _measure: Measure
    _seed: int
    _fitted_on: dict[str, Any]
    _dense: bool
    _limits: np.ndarray | None
    _outside: Outside | None
    _n_steps: int
    _settled: Settled
    _asked_for: dict[str, Any]
    #: How often each row was seen, where its weight says something else.
    _counts: np.ndarray | None = None
    #: Which of the given rows were fitted, and the units of the targets; None for all of them, and for none.
    _rows_seen: np.ndarray | None = None
    _units: np.ndarray | None = None
    #: Feature scales that were learned for several models at once.
    _shared_scales: np.ndarray | None = None
    #: What alpha="auto" is where it is not learned.
    _alpha = 1e-3

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
        loss: Any = "squared",
        refine: Any = "auto",
        trend: Any = "auto",
        outside: str = "auto",
        fit_intercept: bool = True,
        truncate: Any = None,
        memory_budget: int | None = None,
        warm_start: bool = False,
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
        self.penalty = penalty
        self.alpha = alpha
        self.stop = stop
        self.loss = loss
        self.refine = refine
        self.trend = trend
        self.outside = outside
        self.fit_intercept = fit_intercept
        self.truncate = truncate
        self.memory_budget = memory_budget
        self.warm_start = warm_start
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

    def _fit(
        self, X: Any, y: np.ndarray, weights: np.ndarray | None, callback: Any, loss: Any, classes: bool = False
    ) -> Self:
        """Run the pursuit on validated arrays and set the fitted attributes.

        `y` are the targets of shape (n_rows, n_targets), or where `classes` is true, their codes.
        """
        watch, update = Watch.of(callback, self.verbose), as_update(self.update)
        try:
            return self._fit_watched(X, y, weights, watch, loss, classes, update)
        finally:
            if watch is not callback:
                watch.close()

    def _fit_watched(
        self, X: Any, y: np.ndarray, weights: np.ndarray | None, watch: Watch, loss: Any, classes: bool, update: Update
    ) -> Self:
        fitted_on = self._fitted_with(X, y, weights, None if is_word(self.stop, "auto") else as_rule(self.stop))
        extend, seed, before = None, check_seed(self.random_state), None
        if check_flag("warm_start", self.warm_start) and same_settings(getattr(self, "_fitted_on", None), fitted_on):
            seed, before = self._seed, self._settled
            # Atoms that were learned are as many as were asked for, and widths were tried with as many; other atoms are
            # picked one after the other.
            goes_on = not (before.candidates_are_learned or before.is_suited)
            if goes_on or same_settings(self._asked_for, self._atoms_asked_for()):
                extend = Script.of(self.path_)
            else:
                before = None
        fitted_loss = as_fitted_loss(loss, update)
        held_out = self._held_out_rows(chosen_rule(self.stop, has_atoms=False))
        if held_out is not None:
            check_held_out(held_out, X.shape[1], y.shape[1])
        seen = self._observe(X, y, weights, update, fitted_loss, classes)
        X, y, weights = seen.X, seen.y, seen.weights
        settled = settle(
            self,
            X,
            seen.standardised,
            weights,
            update=update,
            loss=fitted_loss,
            classes=classes,
            seed=seed,
            before=before,
            watch=watch,
            counts=seen.each,
        )
        if watch.current != ALL_ROWS:
            watch.part(ALL_ROWS)
        rule, learned = settled.rule, settled.learned
        if self.outside == "return" and isinstance(settled.dictionary, Precomputed):
            raise ValueError("outside='return' does not go with kernel='precomputed'; leave outside at 'auto'.")
        settings = replace(
            settings_of(self, settled, update, fitted_loss, classes, seed),
            units=seen.units,
            all_picked=ALL_LEARNED if settled.candidates_are_learned else ALL_PICKED,
            margin=MARGIN if settled.is_process and not classes and self.outside != "free" else None,
            by_moments=settled.candidates_are_learned and fitted_loss is None,
        )
        outcome = run_pursuit(
            X,
            y,
            settings,
            rule,
            weights,
            held_out=held_out,
            counts=seen.counts,
            judged=None if learned is None else learned.held_back,
            callback=watch,
            extend=extend,
        )
        self._always = outcome.always
        self._measure = outcome.measure
        self._limits = outcome.limits
        self._rows_seen, self._units = seen.rows, seen.units
        self._seed = seed
        # What was cut short is nothing to go on from.
        self._fitted_on = {**fitted_on, "cut_short": watch.has_ended}
        self._asked_for = self._atoms_asked_for()
        self._set_settled(settled)
        self.path_ = outcome.path
        self._path_atoms = outcome.atoms
        self._dense = outcome.dense
        self._outside = None
        self._keep(outcome.n_kept, watch.explain(outcome.reason))
        if learned is not None or self.outside == "return":
            kept = without_held_out(self.stop, y, weights, seed, classes)
            used = None if kept is None or kept.all() else np.flatnonzero(kept)
            self._know_data(X if used is None else X[used], y if used is None else y[used], used, kept, seen.each)
        was_asked_to_end = watch.has_ended or outcome.path.end_reason == ASKED
        if learned is not None and is_word(self.stop, "auto") and (y != y[0]).any() and not was_asked_to_end:
            warn_if_constant(
                type(self).__name__,
                self.path_,
                self._n_steps,
                has_trend=self._always is not None,
                bears_outliers=fitted_loss is not None and fitted_loss.is_for_outliers,
            )
        return self

    def _observe(
        self, X: Any, y: np.ndarray, weights: np.ndarray | None, update: Update, loss: Loss | None, classes: bool
    ) -> Observations:
        """Rows as the fit takes them: where nothing is learned, as they were given."""
        if not learns(self, update):
            return Observations(X, y, weights, self._counts, None, None)
        return observe(
            X,
            y,
            weights,
            self._counts,
            squared=loss is None and not classes,
            bears_outliers=classes or (loss is not None and loss.is_for_outliers),
            names=getattr(self, "feature_names_in_", None),
        )

    def _know_data(
        self,
        X: Any,
        y: np.ndarray,
        used: np.ndarray | None,
        weights: np.ndarray | None,
        counts: np.ndarray | None,
    ) -> None:
        """Remember of the training rows what predictions elsewhere need.

        `used` are the numbers of these rows among all that were given, None for all; `weights` are those of all, and
        `counts` say how many observations each stands for, None for one.
        """
        learned = self._settled.learned
        if self.outside == "return" or (self.outside == "auto" and learned is not None):
            targets = y - self._base(X) if self._scores_are_targets else y
            self._outside = Outside.of(X, targets, self._shared_scales if learned is None else learned.scales)
            if learned is not None and learned.trend is not None and is_word(self.trend, "auto"):
                self._outside = replace(self._outside, limits=widened_range(y))

    def _atoms_asked_for(self) -> dict[str, Any]:
        """What decides how many atoms are learned: where the rule is "auto", no more than lower the error."""
        return {"max_atoms": self.max_atoms, "all": not is_word(self.stop, "auto")}

    def _set_settled(self, settled: Settled) -> None:
        """Set the fitted attributes that say what was settled before the loop ran."""
        self._settled = settled
        self.alpha_ = settled.alpha
        self.penalty_ = settled.penalty
        self.kernel_ = settled.kernel
        self.feature_scales_ = settled.scales

    def _fitted_with(
        self, X: Any, y: np.ndarray, weights: np.ndarray | None, rule: StoppingRule | None
    ) -> dict[str, Any]:
        """All that a path depends on: two fits in which it is the same are parts of one path."""
        free = {"max_atoms", "stop", "memory_budget", "warm_start", "n_jobs", "verbose"}
        settings = {name: value for name, value in self.get_params(deep=False).items() if name not in free}
        data = {"data": digest(X, y, weights), "held_out": None if rule is None else rule.validation_fraction()}
        data["cut_short"] = False
        # Arrays may be changed in place after the fit, so what is compared by value is copied.
        return {**data, **{name: copy.deepcopy(v) if is_plain(v) else v for name, v in settings.items()}}

    def _held_out_rows(self, rule: StoppingRule) -> tuple[Any, Any, Any] | None:
        """The rule's held-out set, its rows validated as rows to predict are."""
        given = rule.validation_set()
        if given is None:
            return None
        X, y, weights = given
        with one_sentence("Validation's X", X):
            X = validate_data(self, X, reset=False, **ROWS)
        return self._held_out(X, y, weights)

    def _held_out(self, X: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
        """Targets and weights of held-out rows as the fit takes them."""
        return X, y, weights

    def _keep(self, k: int, reason: str) -> Self:
        """Set the fitted attributes to the model after the first k steps of the path."""
        members = self.path_.members(k)
        self._n_steps = k
        self.n_atoms_ = len(members)
        self.stop_reason_ = reason
        self._atoms: Dictionary = self._path_atoms.take(members)
        used = self.path_.used[members]
        self.center_indices_ = self._given_rows(used if self._rows_of_atoms is None else self._rows_of_atoms[used])
        self.centers_ = self._atoms.centers
        self._set_weights(self.path_.coef(k).T, self.path_.intercept(k), self.path_.fixed_coef(k).T)
        return self

    def _given_rows(self, rows: np.ndarray) -> np.ndarray:
        """Numbers that the caller has for rows that were fitted."""
        return rows if self._rows_seen is None else self._rows_seen[rows]

    @property
    def _rows_of_atoms(self) -> np.ndarray | None:
        """The training row that each atom comes from, where atoms were learned."""
        learned = self._settled.learned
        return None if learned is None or learned.atoms is None else learned.rows

    def _set_weights(self, coef: np.ndarray, intercept: Any, fixed: np.ndarray) -> None:
        """Set the fitted weights, one row for each target."""
        self.coef_ = coef
        self.intercept_: Any = intercept
        self.fixed_coef_ = fixed

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted means that a fit has succeeded."""
        return hasattr(self, "path_")

    def __sklearn_tags__(self) -> Any:
        """Sparse input, several outputs, and square matrices where the kernel is precomputed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def at(self, k: int) -> Self:
        """Return the fitted model with the first `k` atoms of the path; nothing is refitted.

        `k` may be larger than `n_atoms_`, up to the length of the path. Where an atom may be picked again (`update`
        "stagewise" or "rescale"), `k` counts steps, and the model may have fewer atoms. Under another loss than the
        squared one, weights between two refits are near the minimum of the loss and not at it, but for those of the
        model that `fit` kept; `update=Orthogonal(refit_every=1)` has all of them there.
        """
        check_is_fitted(self)
        k = self.path_.check_size(k)
        return copy.copy(self)._keep(k, f"{count_atoms(int(self.path_.size[k]))}: asked for by at({k})")

    def select(self, rule: Any) -> Self:
        """Return the fitted model that another stopping rule keeps of this path; nothing is refitted."""
        check_is_fitted(self)
        rule = rule_of(rule, self._measure.loss, self._settled.learned)
        require_known(rule, as_update(self._fitted_on["update"]), self._measure.loss)
        model = copy.copy(self)
        model.path_ = self._path_for(rule)
        return model._keep(model.path_.check_size(rule.choose(model.path_)), rule.explain(model.path_))

    def _path_for(self, rule: StoppingRule) -> PursuitPath:
        """The path, with the errors on the rule's own held-out rows where it has some."""
        given = self._held_out_rows(rule)
        if given is None:
            return self.path_
        X, y, weights = check_held_out(given, self.n_features_in_, self.path_.n_targets)
        weights = weights / weights.max()
        weights, unit = weights / weights.sum(), 1.0 if self._units is None else self._units[:, None]
        errors, wrong = [], []
        for scores in self._staged(X):
            errors.append(self._measure.losses(y / unit, scores.T / unit) @ weights)
            wrong.append(self._measure.wrong(y, scores.T) @ weights)
        return self.path_.with_validation(np.array(errors), np.array(wrong) if self._measure.classes else None)

    def _check_rows(self, X: Any, n_atoms: int) -> Any:
        """Validate rows to predict with `n_atoms` atoms."""
        shape: tuple[int, ...] = getattr(X, "shape", ())
        picked_only = isinstance(self._path_atoms, Precomputed) and len(shape) == 2 and shape[1] == n_atoms
        with one_sentence("X", X):
            if picked_only and n_atoms != self.n_features_in_:
                # Beside all columns of a precomputed dictionary, just the picked ones will do.
                return check_array(X, ensure_min_features=0, **ROWS)
            return validate_data(self, X, reset=False, **ROWS)

    def _chunks(self, X: Any, atoms: Dictionary) -> Iterator[tuple[slice, Any]]:
        """Yield slices of rows and those rows as the model saw the training rows."""
        step = max(1, PREDICT_BYTES // (8 * max(X.shape[1], atoms.n_atoms, 1)))
        for start in range(0, X.shape[0], step):
            rows = slice(start, min(start + step, X.shape[0]))
            part = X[rows]
            yield rows, part.toarray() if self._dense and sp.issparse(part) else part

    def _decision(self, X: Any) -> np.ndarray:
        """Values of the model, shape (n_rows, n_targets)."""
        coef = np.ascontiguousarray(np.atleast_2d(self.coef_).T)
        fixed = np.atleast_2d(self.fixed_coef_).T
        out = np.empty((X.shape[0], coef.shape[1]))
        n_threads = resolve_threads(self.n_jobs)
        for rows, part in self._chunks(X, self._atoms):
            out[rows] = self._atoms.matvec(self._atoms.rows(part), coef, n_threads) if self.n_atoms_ else 0.0
            if self._always is not None:
                out[rows] += self._always.matvec(self._always.rows(part), fixed, n_threads)
        return self._truncated(self._near_base(out + np.atleast_1d(self.intercept_), X))

    def _base(self, X: Any) -> np.ndarray:
        """Values of the model without atoms, to which predictions return: a constant, and what is always in."""
        constant = np.broadcast_to(self.path_.intercept(0), (X.shape[0], self.path_.n_targets))
        return (
            constant if self._always is None else constant + self._values(X, self._always).T @ self.path_.fixed_coef(0)
        )

    def _near_base(self, values: np.ndarray, X: Any) -> np.ndarray:
        """Scores of rows as they are outside the training data."""
        if self._outside is None:
            return values
        return self._outside.hold(values, self._base(X), self._fade(X), clips=self._scores_are_targets)

    def _fade(self, X: Any) -> np.ndarray:
        """What is left of the model at each row: 1 where the data are, 0 far outside."""
        out = np.ones(X.shape[0])
        if self._outside is not None:
            for rows, part in self._chunks(X, self._atoms):
                out[rows] = self._outside.fade(part)
        return out

    @property
    def _scores_are_targets(self) -> bool:
        """Whether scores are in the units of the targets: not for classes, nor where a loss has another mean."""
        measure = self._measure
        return not measure.classes and (measure.loss is None or type(measure.loss).mean is Loss.mean)

    def _truncated(self, values: np.ndarray) -> np.ndarray:
        """Values kept within the limits that `truncate` set."""
        return values if self._limits is None else np.clip(values, -self._limits, self._limits)

    def _values(self, X: Any, atoms: Dictionary) -> np.ndarray:
        """Values of atoms on rows, shape (n_atoms, n_rows)."""
        out = np.empty((atoms.n_atoms, X.shape[0]))
        for rows, part in self._chunks(X, atoms):
            if atoms.n_atoms:
                out[:, rows] = self._block(part, atoms)
        return out

    def _block(self, part: Any, atoms: Dictionary) -> np.ndarray:
        """Values of atoms on rows from `_chunks`, shape (n_atoms, n_rows)."""
        return atoms.block(atoms.rows(part), np.arange(atoms.n_atoms), n_threads=resolve_threads(self.n_jobs))

    def _staged(self, X: Any) -> Iterator[np.ndarray]:
        """Values of the models after 0, 1, ... steps, along the whole path, shape (n_rows, n_targets) each."""
        values = self._values(X, self._path_atoms)
        always = None if self._always is None else self._values(X, self._always)
        outside, base, fade = self._outside, np.zeros(()), np.zeros(())
        if outside is not None:
            base, fade = self._base(X), self._fade(X)
        for k in range(len(self.path_) + 1):
            fitted = values[self.path_.members(k)].T @ self.path_.coef(k) + self.path_.intercept(k)
            if always is not None:
                fitted += always.T @ self.path_.fixed_coef(k)
            if outside is not None:
                fitted = outside.hold(fitted, base, fade, clips=self._scores_are_targets)
            yield self._truncated(fitted)
