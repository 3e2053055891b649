"""From validated rows to a fitted model: rows observed, parameters resolved, the loop, and what predictions need."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from kernelpursuit._types import Matrix
from kernelpursuit.dictionary import KernelAtoms
from kernelpursuit.estimators.checks import check_seed, comparable, digest, same_settings
from kernelpursuit.estimators.final_loss import validate_classes
from kernelpursuit.estimators.resolve import Resolved, learning_rows, resolve
from kernelpursuit.estimators.sampled import Whole, all_rows_of, for_a_loss, needs_memory, sampled
from kernelpursuit.estimators.spec import FitSpec, is_word, make_spec
from kernelpursuit.estimators.verdict import warn_if_constant
from kernelpursuit.learning import Observations, ValidationScores, observe
from kernelpursuit.losses import Loss
from kernelpursuit.model import FittedModel
from kernelpursuit.model.calibration import (
    Calibration,
    calibrate,
    choose_rows,
    larger_errors,
    loo_errors,
    process_errors,
)
from kernelpursuit.model.constants import MAX_PROCESS_ROWS, TARGET_MARGIN
from kernelpursuit.model.fitted import Origin
from kernelpursuit.model.outside import Outside, widened_range
from kernelpursuit.pursuit import (
    ALL_ROWS,
    Pursuit,
    Replay,
    TrainingRows,
    Watch,
    check_held_out,
    one_blas_thread,
    resolve_threads,
    run_pursuit,
)
from kernelpursuit.pursuit.checkpoint import key_of
from kernelpursuit.pursuit.watch import ASKED
from kernelpursuit.rows import RowBlock, dense
from kernelpursuit.stopping import ALL_LEARNED, ALL_PICKED, Max, as_rule


@dataclass(frozen=True)
class TrainingData:
    """Validated rows, and what is to be learned of them.

    X, y      rows, and targets or codes of classes, shape (n_rows, n_targets)
    weights   sample weights, or None
    loss      the loss that was asked for
    classes   labels of the classes, where targets are codes of these; None for numbers
    counts    how often each row was seen, where its weight says something else
    held_out  rows, targets and weights on which the stopping rule wants the error, or None
    names     of the features, or None
    numbers   that the caller has for the rows; None where these are 0, 1, ...
    scales    of the features, where they were learned for several models at once
    whole     all rows, where these are a sample of them; else None
    seed      of all that is drawn, where the sample was drawn with it; else None
    """

    X: Matrix
    y: np.ndarray
    weights: np.ndarray | None
    loss: Loss
    classes: np.ndarray | None = None
    counts: np.ndarray | None = None
    held_out: tuple[Any, Any, Any] | None = None
    names: np.ndarray | None = None
    numbers: np.ndarray | None = None
    scales: np.ndarray | None = None
    whole: Whole | None = None
    seed: int | None = None

    @property
    def has_codes(self) -> bool:
        """Whether targets are codes of classes."""
        return self.classes is not None


@dataclass(frozen=True)
class FitState:
    """What a fit was given and came to, for `warm_start`: two fits with the same `given` are parts of one path.

    given      the parameters, and digests of the data and of arrays among the parameters
    resolved   what "auto" and "learn" came to
    asked_for  what decides how many atoms are learned
    seed       of all that was drawn
    model      what was fitted; None where nothing can go on from it
    """

    given: dict[str, Any]
    resolved: Resolved
    asked_for: dict[str, Any]
    seed: int
    model: FittedModel | None

    def without_rows(self) -> FitState:
        """The parameters alone: nothing that has a number for every training row, and nothing to go on from."""
        return replace(self, resolved=replace(self.resolved, learned=None), model=None)

    def __getstate__(self) -> dict[str, Any]:
        """A pickle has nothing of the training rows, so that a fit after it starts from nothing."""
        bare = self.without_rows()
        return {field.name: getattr(bare, field.name) for field in fields(bare)}


def fit_model(estimator: Any, data: TrainingData, watch: Watch, last: FitState | None) -> tuple[FittedModel, FitState]:
    """Fit the model that an estimator's parameters describe; `last` is the state of an earlier fit, or None."""
    given = fitted_with(estimator, data)
    watch.rows = given["data"]
    asked_for = {"max_atoms": estimator.max_atoms, "all": not is_word(estimator.stop, "auto")}
    seed, before, replay = check_seed(estimator.random_state) if data.seed is None else data.seed, None, None
    if estimator.warm_start and last is not None and last.model is not None and same_settings(last.given, given):
        seed = last.seed
        # Atoms that were learned are as many as were asked for, and widths were tried with as many; other atoms are
        # picked one after the other.
        is_for_as_many = last.resolved.candidates_are_learned or last.resolved.width_is_searched
        if not is_for_as_many or same_settings(last.asked_for, asked_for):
            before, replay = last.resolved, Replay.of(last.model.path)
    if data.held_out is not None:
        check_held_out(data.held_out, data.X.shape[1], data.y.shape[1])
    spec = make_spec(estimator, data, seed)
    if spec.final_loss is not None:
        data, replay = _under_the_square(data, spec.final_loss), None
    watch.fit = key_of(sorted(given.items()), sorted(asked_for.items()), seed, version("kernelpursuit"))
    data = sampled(data, spec, estimator.sample_rows, seed)
    seen = observed(spec, data)
    resolved = resolve(spec, seen, watch, before)
    if watch.current != ALL_ROWS:
        watch.part(ALL_ROWS)
    learned, loss = resolved.learned, spec.loop.loss
    loop = replace(
        resolved.loop,
        units=seen.units,
        all_picked=ALL_LEARNED if resolved.candidates_are_learned else ALL_PICKED,
        margin=TARGET_MARGIN if resolved.is_process and not data.has_codes and spec.outside != "free" else None,
        by_moments=resolved.candidates_are_learned and loss is None,
    )
    resolved = replace(resolved, loop=loop)
    rows = TrainingRows(
        seen.X,
        seen.y,
        seen.weights,
        seen.counts,
        calibrates=None if learned is None else learned.is_validation,
        validation=data.held_out,
        all_rows=all_rows_of(data, seen, spec),
    )
    numbers = [learned.rows] if learned is not None and learned.atoms is not None else []
    numbers += [given_numbers for given_numbers in (seen.rows, data.numbers) if given_numbers is not None]
    # Callbacks see the path of the last loop, and of both where either may be the last.
    is_last = spec.final_loss is None or spec.chooses_loss
    # Coefficients under another loss have loops of their own.
    known = watch.keep_steps(None if spec.learns_classes else watch.fit)
    replay = known if replay is None else replay
    may_sample = is_word(estimator.sample_rows, "auto") and resolved.candidates_are_learned and not needs_memory(spec)
    if loss is not None and may_sample:
        rows = for_a_loss(rows, loop)
    square_share, validated_share = watch.shares_of_classes
    with watch.within(0.0, square_share if spec.learns_classes else 1.0, hidden=not is_last):
        outcome = run_pursuit(rows, loop, callback=watch, replay=replay)
    model = _model_of(outcome, numbers, data, spec=spec, resolved=resolved, watch=watch)
    was_asked_to_end = watch.has_ended or outcome.path.end_reason == ASKED
    if spec.learns_classes and not was_asked_to_end:
        with watch.within(square_share, validated_share):
            validated = validate_classes(model, rows, spec, resolved=resolved, watch=watch)
        final, final_rows = validated.resolved, validated.rows
        if final is not None and final_rows is not None:
            if may_sample:
                final_rows = for_a_loss(final_rows, final.loop)
            with watch.within(validated_share, 1.0):
                outcome = run_pursuit(final_rows, final.loop, callback=watch)
            square, model = model, _model_of(outcome, [model.numbers], data, spec=spec, resolved=final, watch=watch)
            if model.n_steps == square.n_steps and spec.stops_by_auto:
                # It has the atoms that the squared loss has kept, and so its reason.
                model = replace(model, reason=square.reason)
            was_asked_to_end = watch.has_ended or outcome.path.end_reason == ASKED
        if validated.scores is not None and rows.calibrates is None and model.n_steps:
            model = calibrated(model, validated.scores)
    elif spec.final_loss is not None and not spec.chooses_loss:
        model = replace(model, reason=f"{model.reason}; cut short before loss={spec.final_loss.name!r}")
    if learned is not None or spec.outside == "return":
        model = _with_data(model, data, seen, spec=spec, resolved=resolved)
    if learned is not None and spec.stops_by_auto and (seen.y != seen.y[0]).any() and not was_asked_to_end:
        warn_if_constant(
            type(estimator).__name__,
            model.path,
            model.n_steps,
            has_trend=model.always is not None,
            bears_outliers=loss is not None and loss.is_for_outliers,
        )
    # What was cut short is nothing to go on from.
    return model, FitState(given, resolved, asked_for, seed=seed, model=None if watch.has_ended else model)


def _under_the_square(data: TrainingData, loss: Loss) -> TrainingData:
    """The data with codes of -1 and +1, whatever the loss takes."""
    if loss.kind != "classes":
        return data
    held_out = None if data.held_out is None else (data.held_out[0], 2 * data.held_out[1] - 1, data.held_out[2])
    whole = data.whole
    if whole is not None:
        whole = replace(whole, source=whole.source.map(coded_by_signs))
    return replace(data, y=2 * data.y - 1, held_out=held_out, whole=whole)


def coded_by_signs(block: RowBlock) -> RowBlock:
    """A block with codes of -1 and +1 for those of 0 and 1."""
    return replace(block, y=2 * block.y - 1)


def _model_of(
    outcome: Pursuit, numbers: list[np.ndarray], data: TrainingData, *, spec: FitSpec, resolved: Resolved, watch: Watch
) -> FittedModel:
    """The model of a loop; each of `numbers` has those that the next knows its atoms by, and the last the caller."""
    atoms = outcome.path.used
    for known in numbers:
        atoms = known[atoms]
    return FittedModel(
        path=outcome.path,
        n_steps=outcome.n_kept,
        reason=watch.explain(outcome.reason),
        atoms=outcome.atoms,
        numbers=atoms,
        always=outcome.always,
        measure=outcome.measure,
        is_dense=outcome.dense,
        limits=outcome.limits,
        units=resolved.loop.units,
        origin=origin_of(spec, resolved),
        optimism=1.0 if resolved.learned is None else resolved.learned.optimism,
        classes=data.classes,
        feature_names=data.names,
    )


def calibrated(model: FittedModel, scores: ValidationScores) -> FittedModel:
    """The model with probabilities and sets of classes as validation rows ask for."""
    path = model.path.calibrated(model.n_steps, scores.inverse_temperature, scores.gap_quantiles)
    return replace(model, path=path)


def origin_of(spec: FitSpec, resolved: Resolved) -> Origin:
    """What a model says of how it was fitted."""
    return Origin(
        kernel=resolved.kernel,
        penalty=resolved.loop.penalty,
        alpha=resolved.loop.alpha,
        scales=resolved.scales,
        update=spec.loop.update,
        auto_rule=spec.auto_rule(resolved.learned) if resolved.loop.loss is None or not spec.learns_classes else Max(),
    )


def fitted_with(estimator: Any, data: TrainingData) -> dict[str, Any]:
    """All that a path depends on: two fits in which it is the same are parts of one path."""
    rule = None if is_word(estimator.stop, "auto") else as_rule(estimator.stop)
    free = {"max_atoms", "stop", "memory_budget", "warm_start", "n_jobs", "verbose", "checkpoint", "forgetting"}
    settings = {name: value for name, value in estimator.get_params(deep=False).items() if name not in free}
    held_out = None if rule is None else rule.validation_fraction()
    kept = {name: comparable(value) for name, value in settings.items()}
    # Of rows that are not in memory, their number and sums tell whether they are others.
    whole = None if data.whole is None else np.array([data.whole.n_rows, data.whole.mean_weight, data.whole.total])
    return {"data": digest(data.X, data.y, data.weights, whole), "held_out": held_out, **kept}


def observed(spec: FitSpec, data: TrainingData) -> Observations:
    """Rows as the fit takes them: where not all is learned, as they were given."""
    loss = spec.loop.loss
    if not spec.joins_rows:
        return Observations(data.X, data.y, data.weights, counts=data.counts, rows=None, units=None)
    return observe(
        data.X,
        data.y,
        data.weights,
        data.counts,
        squared=loss is None and not data.has_codes,
        bears_outliers=spec.bears_outliers,
        names=None if data.names is None else data.names.tolist(),
    )


def _with_data(
    model: FittedModel, data: TrainingData, seen: Observations, spec: FitSpec, resolved: Resolved
) -> FittedModel:
    """The model with what predictions outside the rows need, and with the size of errors where atoms were learned."""
    learned = resolved.learned
    weights = learning_rows(spec, seen.y, seen.weights)
    fitted = slice(None) if weights is None or weights.all() else np.flatnonzero(weights)
    X, y = seen.X[fitted], seen.y[fitted]
    n_threads = resolve_threads(spec.loop.n_jobs)
    if spec.outside == "return" or (spec.outside == "auto" and learned is not None):
        targets = y - model.base(X, n_threads) if model.scores_are_targets else y
        outside = Outside.of(X, targets, data.scales if learned is None else learned.scales)
        if learned is not None and learned.trend is not None and spec.trend is None:
            outside = replace(outside, limits=widened_range(y))
        model = replace(model, outside=outside)
    if learned is None or data.has_codes or model.measure.loss is not None:
        return model
    # Weights as the loop took them, in whatever units that is.
    given = np.ones(len(y)) if weights is None else weights[fitted]
    n_all = len(y) if data.whole is None else data.whole.n_rows
    given = given * (model.path.total_weight / n_all / given.mean())
    each = np.ones(len(y)) if seen.each is None else seen.each[fitted]
    is_validation = None if learned.is_validation is None else learned.is_validation[fitted]
    rows, n_unseen = choose_rows(len(y), is_validation)
    with one_blas_thread():
        part = X[rows]
        f, R = model.scores(part, n_threads), model.path.factor(model.n_steps).R
        values = np.vstack([model.fixed_values(part, n_threads), model.values(part, model.kept, n_threads)])
        errors = loo_errors(y, given, each, rows=rows, f=f, R=R, values=values)
        if learned.is_process and model.n_atoms and data.whole is None and len(y) <= MAX_PROCESS_ROWS:
            assert isinstance(model.atoms, KernelAtoms), "a process has a kernel at rows"
            everywhere = model.atoms.with_centers(dense(X, np.float64) if model.is_dense else X)
            fixed, K = model.fixed_values(X, n_threads), model.values(X, everywhere, n_threads)
            found = process_errors(y, given, each, fixed, K=K, strength=given.sum() * model.origin.alpha)
            errors = errors if found is None else larger_errors(errors, found[rows], given[rows])
        calibration = Calibration(
            X=part,
            y=y[rows],
            weights=given[rows] / given[rows].mean(),
            n_unseen=n_unseen,
            f=f,
            base=model.base(part, n_threads),
            errors=learned.optimism * errors,
            noise_variance=model.path.noise_variance(model.n_steps),
        )
        return replace(model, error_scale=calibrate(calibration, learned.kernel, learned.scales, n_threads))
