"""From a fitted model to the description of what its predictions compute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import solve_triangular

from kernelpursuit._types import EmbeddingOrigin
from kernelpursuit.dictionary import Constant, Dictionary, KernelAtoms, LinearTrend, Precomputed, Union
from kernelpursuit.export.description import (
    Affine,
    Block,
    Box,
    Circle,
    Description,
    Embedding,
    Interval,
    Line,
    Noise,
    Sum,
)
from kernelpursuit.export.expressions import Expr, name, substituted
from kernelpursuit.export.formulas import KERNELS, mean_of, one_vs_rest_probabilities, probabilities_of
from kernelpursuit.kernels import FormulaKernel, Kernel, Periodic
from kernelpursuit.kernels.composed import Composed
from kernelpursuit.model import FittedModel, OneVsRestModel
from kernelpursuit.rows import dense

INSTEAD = "use model.save() and kernelpursuit.load(), or fit with kernels of kernelpursuit.kernels"


def describe(
    model: FittedModel | OneVsRestModel,
    names: Sequence[str],
    *,
    is_flat: bool = True,
    coverage: float | None = None,
) -> Description:
    """What predictions of a model compute; a ValueError where that cannot be written in other languages.

    `is_flat` says whether one target has no dimension of its own, and `coverage` asks for intervals.
    """
    models, n_scores = model.models, sum(one.path.n_targets for one in model.models)
    blocks: list[Block] = []
    lines, bases = [], []
    first = 0
    for one in models:
        scores = slice(first, first + one.path.n_targets)
        parts, line = _atoms(one.kept, one.coef.T, len(names))
        blocks += [_placed(block, scores, n_scores) for block in parts]
        lines.append(_joined([line, *_always(one, one.n_steps, len(names))], one.intercept))
        bases.append(_joined(_always(one, 0, len(names)), one.path.intercept(0)))
        first = scores.stop
    base = _side_by_side(bases)
    found = Description(
        names=tuple(names),
        blocks=tuple(_merged(blocks)),
        line=_side_by_side(lines),
        box=_box(models, base),
        truncate=_truncate(models),
        is_flat=is_flat,
    )
    if isinstance(model, OneVsRestModel):
        factor = float(np.median([one.link.inverse_temperature for one in models]))
        return replace(found, classes=_plain(model.classes), probabilities=one_vs_rest_probabilities(factor))
    loss = model.measure.loss
    if model.classes is not None:
        probabilities = probabilities_of(loss, model.link.inverse_temperature, n_scores)
        if probabilities is None:
            raise ValueError(f"loss={loss!r} has probabilities of its own, which cannot be exported; {INSTEAD}.")
        return replace(found, classes=_plain(model.classes), probabilities=probabilities)
    mean = mean_of(loss)
    if mean is None:
        raise ValueError(f"loss={loss!r} has a mean of its own, which cannot be exported; {INSTEAD}.")
    most = None if model.outside is None or model.scores_are_targets else model.outside.ceiling
    interval = None if coverage is None else _interval(model, coverage, base, len(names))
    return replace(found, mean=mean, most=most, interval=interval)


def _plain(labels: np.ndarray) -> np.ndarray:
    """Labels of which no language has to know that they are scalars of NumPy, as arrays of objects may hold."""
    if labels.dtype.kind != "O":
        return labels
    found = np.empty(len(labels), dtype=object)
    found[:] = [one.item() if isinstance(one, np.generic) else one for one in labels]
    return found


# -- Atoms ------------------------------------------------------------------------------------------------------------


def _atoms(atoms: Dictionary, coef: np.ndarray, n_features: int) -> tuple[list[Block], Line]:
    """The blocks of a dictionary with weights of shape (n_atoms, n_targets), and what is linear in it."""
    blocks, lines, constant = [], [], np.zeros(coef.shape[1])
    for part, weights in _parts(atoms, coef):
        if not part.n_atoms:
            continue
        if isinstance(part, KernelAtoms):
            blocks.append(_block(part, weights, n_features))
        elif isinstance(part, LinearTrend):
            assert part.features is not None
            assert part.center is not None
            assert part.spread is not None
            which = part.features
            lines.append(Line(which, part.center[which], part.spread[which], coef=weights, constant=np.zeros(1)))
        elif isinstance(part, Constant):
            constant = constant + weights.sum(axis=0)
        elif isinstance(part, Precomputed):
            raise ValueError(
                "kernel='precomputed' has columns of your own in place of a function of the row, so that there is "
                "nothing to export; multiply them with coef_, or fit with a kernel."
            )
        else:
            raise ValueError(f"{part!r} is made of Python functions, which cannot be exported; {INSTEAD}.")
    return blocks, _joined(lines, constant)


def _parts(atoms: Dictionary, coef: np.ndarray) -> Iterator[tuple[Dictionary, np.ndarray]]:
    """Every part of a dictionary, and the weights of its atoms."""
    if not isinstance(atoms, Union):
        yield atoms, coef
        return
    placed = coef
    if atoms.order is not None:
        placed = np.empty_like(coef)
        placed[atoms.order] = coef
    for part, start, stop in zip(atoms.parts, atoms.starts[:-1], atoms.starts[1:]):
        yield part, placed[start:stop]


def _block(part: KernelAtoms, coef: np.ndarray, n_features: int) -> Block:
    kernel = part.kernel
    if not isinstance(kernel, Kernel):
        raise ValueError(f"kernel={kernel.name} is a Python function, which cannot be exported; {INSTEAD}.")
    embedding = tuple(_embedding(kernel, part.state()["origin"], n_features))
    centers = embedded(dense(part.centers, np.float64), embedding)
    sums, value = _formula(kernel, n_features)
    return _without_irrelevant_columns(Block(embedding, centers, sums, value=value, factors=part.factors, coef=coef))


def _embedding(kernel: Kernel, origin: EmbeddingOrigin, n_features: int) -> Iterator[Affine | Circle]:
    """How a kernel sees a row, term by term."""
    if isinstance(kernel, Composed):
        for term, one in zip(kernel.terms, origin if isinstance(origin, tuple) else (0.0,) * len(kernel.terms)):
            yield from _embedding(term, one, n_features)
        return
    every = np.arange(n_features)
    if type(kernel) is Periodic:
        period, radius = (np.broadcast_to(one, n_features).astype(np.float64) for one in kernel._circles())
        yield Circle(every, period, radius)
    elif isinstance(kernel, FormulaKernel) and type(kernel).embed is FormulaKernel.embed and kernel.kind in KERNELS:
        shift, scale = (
            np.broadcast_to(one, n_features).astype(np.float64) for one in (origin, kernel.feature_scales())
        )
        yield Affine(every, shift, scale)
    else:
        raise ValueError(f"kernel={kernel!r} sees rows in a way of its own, which cannot be exported; {INSTEAD}.")


def _formula(kernel: Kernel, n_features: int) -> tuple[tuple[Sum, ...], Expr]:
    """The sums of a kernel, and its value of what becomes of these."""
    sums: list[Sum] = []
    stack: list[Expr] = []
    start = 0
    for kind, p0, p1, columns in kernel.steps:
        if kind == "sum":
            upper = stack.pop()
            stack[-1] = stack[-1] + upper
        elif kind == "product":
            upper = stack.pop()
            stack[-1] = stack[-1] * upper
        elif kind == "multiple":
            stack[-1] = stack[-1] * p0
        else:
            formula, stop = KERNELS[kind](p0, p1), start + columns * n_features
            stack.append(substituted(formula.outer, {"a": name(f"a{len(sums)}")}))
            sums.append(Sum(formula.sums, start, stop, formula.inner))
            start = stop
    return tuple(sums), stack[0]


def embedded(X: np.ndarray, embedding: Embedding) -> np.ndarray:
    """Rows as columns of an embedding."""
    columns = [np.zeros((len(X), 0), dtype=X.dtype)]
    for part in embedding:
        x = X[:, part.features]
        if isinstance(part, Affine):
            columns.append((x - part.shift) * part.scale)
        else:
            half = np.pi * (np.fmod(x, part.period) / part.period)
            columns += [-2 * part.radius * np.square(np.sin(half)), part.radius * np.sin(2 * half)]
    return np.hstack(columns)


def _without_irrelevant_columns(block: Block) -> Block:
    """The block without columns that are 0 for every row, since their scale is."""
    parts: list[Affine | Circle] = []
    kept: list[np.ndarray] = []
    for part in block.embedding:
        live = (part.scale if isinstance(part, Affine) else part.radius) != 0
        if isinstance(part, Affine):
            parts.append(Affine(part.features[live], part.shift[live], part.scale[live]))
            kept.append(live)
        else:
            parts.append(Circle(part.features[live], part.period[live], part.radius[live]))
            kept.append(np.concatenate([live, live]))
    mask = np.concatenate(kept)
    before = np.concatenate([[0], np.cumsum(mask)])
    sums = tuple(replace(one, start=int(before[one.start]), stop=int(before[one.stop])) for one in block.sums)
    return replace(block, embedding=tuple(parts), centers=block.centers[:, mask], sums=sums)


# -- Several models, and lines ----------------------------------------------------------------------------------------


def _placed(block: Block, scores: slice, n_scores: int) -> Block:
    """The block with weights for all scores, those of the others 0."""
    coef = np.zeros((len(block.coef), n_scores))
    coef[:, scores] = block.coef
    return replace(block, coef=coef)


def _merged(blocks: list[Block]) -> list[Block]:
    """Blocks of the same kernel as one, and atoms that occur twice once: classes may share theirs."""
    groups: dict[object, list[Block]] = {}
    for block in blocks:
        arrays = tuple(array.tobytes() for part in block.embedding for array in vars(part).values())
        groups.setdefault((arrays, block.sums, block.value, block.factors is None), []).append(block)
    out = []
    for group in groups.values():
        centers, coef = np.vstack([one.centers for one in group]), np.vstack([one.coef for one in group])
        factors = None if group[0].factors is None else np.concatenate([one.factors for one in group])
        if len(group) > 1:
            keys = centers if factors is None else np.column_stack([centers, factors])
            _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
            total = np.zeros((len(first), coef.shape[1]))
            np.add.at(total, np.ravel(place), coef)
            centers, coef, factors = centers[first], total, None if factors is None else factors[first]
        out.append(replace(group[0], centers=centers, factors=factors, coef=coef))
    return out


def _always(model: FittedModel, k: int, n_features: int) -> list[Line]:
    """What is always in the model of a size, which must be linear."""
    if model.always is None:
        return []
    blocks, line = _atoms(model.always, model.path.fixed_coef(k), n_features)
    if blocks:
        raise ValueError(f"Kernels that are always in a model cannot be exported; {INSTEAD}.")
    return [line]


def _joined(lines: list[Line], constant: np.ndarray) -> Line:
    """The sum of lines with the same targets, and a constant."""
    lines = [line for line in lines if line is not None]
    n_targets, nothing = len(constant), np.zeros(0)
    coef = [line.coef for line in lines if len(line.features)]
    return Line(
        np.concatenate([np.zeros(0, dtype=np.intp), *(line.features for line in lines)]),
        np.concatenate([nothing, *(line.center for line in lines)]),
        np.concatenate([nothing, *(line.spread for line in lines)]),
        coef=np.vstack([np.zeros((0, n_targets)), *coef]),
        constant=np.array(constant + sum((line.constant for line in lines), np.zeros(n_targets))),
    )


def _side_by_side(lines: list[Line]) -> Line:
    """Lines of several models as one with all their scores."""
    widths = [len(line.constant) for line in lines]
    starts = np.cumsum([0, *widths])
    placed = []
    for line, start in zip(lines, starts):
        coef = np.zeros((len(line.features), int(starts[-1])))
        coef[:, start : start + len(line.constant)] = line.coef
        placed.append(replace(line, coef=coef, constant=np.zeros(int(starts[-1]))))
    return _joined(placed, np.concatenate([line.constant for line in lines]))


# -- Outside the data, limits, intervals ------------------------------------------------------------------------------


def _box(models: Sequence[FittedModel], base: Line) -> Box | None:
    outsides = [one.outside for one in models]
    first = outsides[0]
    if first is None or any(one is None for one in outsides):
        return None
    for other in outsides:
        assert other is not None
        same = (np.array_equal(getattr(first, key), getattr(other, key)) for key in ("features", "low", "high"))
        if not all(same):
            raise ValueError(f"Models of classes with different ranges of the data cannot be exported; {INSTEAD}.")
    clips = models[0].scores_are_targets
    return Box(
        first.features,
        first.low,
        first.high,
        base=base,
        floor=first.floor if clips else None,
        ceiling=first.ceiling if clips else None,
        limits=first.limits if clips else None,
    )


def _truncate(models: Sequence[FittedModel]) -> np.ndarray | None:
    limits = models[0].limits
    return None if limits is None else np.broadcast_to(limits, models[0].path.n_targets).astype(np.float64)


def _interval(model: FittedModel, coverage: float, base: Line, n_features: int) -> Interval:
    """What `FittedModel.half_widths` computes."""
    width = model.path.half_width(model.n_steps, coverage)
    scale = model.error_scale
    if scale is None:
        return Interval(width, base)
    now, then = np.sqrt(model.path.noise_variance(model.n_steps)), np.sqrt(scale.noise_variance)
    landmarks, factor = scale.landmarks, scale.landmarks.factor
    block = _block(landmarks.atoms, np.zeros((landmarks.atoms.n_atoms, 0)), n_features)
    columns = scale.columns
    return Interval(
        quantile=scale.half_width(coverage),
        base=base,
        landmarks=block,
        solve=solve_triangular(factor, np.eye(len(factor)), lower=True),
        near=landmarks.near,
        features=columns.features,
        center=columns.center,
        spread=columns.spread,
        low=columns.low,
        high=columns.high,
        knots=scale.knots,
        unit=scale.unit,
        noise=tuple(Noise(one.constant, one.coef, one.center, low=one.low, high=one.high) for one in scale.log_noise),
        target_spread=scale.spread,
        more=np.sqrt(np.fmax(now - then, 0.0)) * np.sqrt(np.fmax(now + then, 0.0)),
    )
