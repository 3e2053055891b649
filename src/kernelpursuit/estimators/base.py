"""What all estimators share: parameters, the fit, the path and the models on it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from kernelpursuit._validate import ByName, check_flag, unknown_parameter
from kernelpursuit.dictionary import Dictionary, Precomputed
from kernelpursuit.estimators.automatic import Settled, chosen_rule, is_word, settle
from kernelpursuit.estimators.checks import (
    ROWS,
    check_seed,
    digest,
    is_plain,
    one_sentence,
    same_settings,
)
from kernelpursuit.pursuit import (
    ALL_ROWS,
    Measure,
    PursuitPath,
    Script,
    Settings,
    Watch,
    as_fitted_loss,
    check_held_out,
    resolve_threads,
    run_pursuit,
)
from kernelpursuit.pursuit.system import require_known
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
    _n_steps: int
    _settled: Settled
    _asked_for: dict[str, Any]
    #: How often each row was seen, where its weight says something else.
    _counts: np.ndarray | None = None
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
        penalty: str | None = "ridge",
        alpha: Any = "auto",
        stop: Any = "auto",
        loss: Any = "squared",
        refine: Any = "auto",
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
            seed, before = self._seed, self._settled.learned
            # Atoms that were learned are as many as were asked for; others are picked one after the other.
            if before is None or before.atoms is None or same_settings(self._asked_for, self._atoms_asked_for()):
                extend = Script.of(self.path_)
            else:
                before = None
        fitted_loss = as_fitted_loss(loss, update)
        held_out = self._held_out_rows(chosen_rule(self.stop, has_atoms=False))
        if held_out is not None:
            check_held_out(held_out, X.shape[1], y.shape[1])
        settled = settle(
            self, X, y, weights, update=update, loss=fitted_loss, classes=classes, seed=seed, before=before, watch=watch
        )
        if watch.current != ALL_ROWS:
            watch.part(ALL_ROWS)
        rule, learned = settled.rule, settled.learned
        settings = Settings(
            dictionary=settled.dictionary,
            gamma=settled.gamma,
            max_atoms=settled.max_atoms,
            selection=self.selection,
            update=update,
            exchange=self.exchange,
            candidates="all" if settled.candidates_are_learned else self.candidates,
            penalty=self.penalty,
            alpha=settled.alpha,
            fit_intercept=self.fit_intercept,
            truncate=self.truncate,
            memory_budget=self.memory_budget,
            seed=seed,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            loss=fitted_loss,
            classes=classes,
            all_picked=ALL_LEARNED if settled.candidates_are_learned else ALL_PICKED,
        )
        outcome = run_pursuit(
            X,
            y,
            settings,
            rule,
            weights,
            held_out=held_out,
            counts=self._counts,
            judged=None if learned is None else learned.held_back,
            callback=watch,
            extend=extend if learned is None or learned.script is None else learned.script,
        )
        self._always = outcome.always
        self._measure = outcome.measure
        self._limits = outcome.limits
        self._seed = seed
        self._fitted_on = fitted_on
        self._asked_for = self._atoms_asked_for()
        self._set_settled(settled)
        self.path_ = outcome.path
        self._path_atoms = outcome.atoms
        self._dense = outcome.dense
        return self._keep(outcome.n_kept, watch.explain(outcome.reason))

    def _atoms_asked_for(self) -> dict[str, Any]:
        """What decides how many atoms are learned: where the rule is "auto", no more than lower the error."""
        return {"max_atoms": self.max_atoms, "all": not is_word(self.stop, "auto")}

    def _set_settled(self, settled: Settled) -> None:
        """Set the fitted attributes that say what was settled before the loop ran."""
        self._settled = settled
        self.alpha_ = settled.alpha
        self.kernel_ = settled.kernel
        self.feature_scales_ = None if settled.learned is None else settled.learned.scales

    def _fitted_with(
        self, X: Any, y: np.ndarray, weights: np.ndarray | None, rule: StoppingRule | None
    ) -> dict[str, Any]:
        """All that a path depends on: two fits in which it is the same are parts of one path."""
        free = {"max_atoms", "stop", "memory_budget", "warm_start", "n_jobs", "verbose"}
        settings = {name: value for name, value in self.get_params(deep=False).items() if name not in free}
        data = {"data": digest(X, y, weights), "held_out": None if rule is None else rule.validation_fraction()}
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
        self.center_indices_ = used if self._rows_of_atoms is None else self._rows_of_atoms[used]
        self.centers_ = self._atoms.centers
        self._set_weights(self.path_.coef(k).T, self.path_.intercept(k), self.path_.fixed_coef(k).T)
        return self

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
        rule = chosen_rule(rule, self._settled.candidates_are_learned, self._measure.loss)
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
        weights = weights / weights.sum()
        errors, wrong = [], []
        for scores in self._staged(X):
            errors.append(self._measure.losses(y, scores.T) @ weights)
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
        return self._truncated(out + np.atleast_1d(self.intercept_))

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
        for k in range(len(self.path_) + 1):
            fitted = values[self.path_.members(k)].T @ self.path_.coef(k) + self.path_.intercept(k)
            if always is not None:
                fitted += always.T @ self.path_.fixed_coef(k)
            yield self._truncated(fitted)
