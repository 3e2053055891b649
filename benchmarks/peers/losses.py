"""What ours loses: where a peer has a lower error by more than noise, needs less time, or is smaller."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from defaults import table
from sets import CLASSES, OWN_SPLIT, SETS

from .methods import DEFAULT, METHODS, MODELS, TUNED, Model, title_of
from .results import Pair, Results
from .run import N_SPLITS

NOISE = 2.0  # standard errors of a difference that count as noise
TIMES = 1.25  # times that count as noise: the machine had other work


def behind_in_error(pair: Pair) -> bool:
    """Whether our error is higher by more than noise."""
    return pair.standard_errors_behind > NOISE


def ahead_in_error(pair: Pair) -> bool:
    """Whether our error is lower by more than noise."""
    return pair.standard_errors_behind < -NOISE


def unknown_in_error(pair: Pair) -> bool:
    """Whether the standard error of the difference is not known."""
    return bool(np.isnan(pair.standard_errors_behind))


def behind(pair: Pair, key: str) -> bool:
    """Whether ours is more by more than noise: of time, numbers to store, or memory."""
    return pair.ratio(key) > (1.0 if key == "numbers" else TIMES)


def set_losses(results: Results) -> list[list[str]]:
    """Return a line for every set on which a peer has a lower error, beyond noise: the best of them, and all others."""
    lines = []
    for name in results.sets:
        pairs = {model: results.pair(model, name) for model in results.peers}
        better = {model: pair for model, pair in pairs.items() if pair and behind_in_error(pair)}
        if not better:
            continue
        best = min(better, key=lambda model: better[model].both("error")[1])
        mine, other = better[best].both("error")
        others = [title_of(model) for model in better if model != best]
        figures = [str(len(better[best].ours)), f"{mine:.4f}", f"{other:.4f}", f"{better[best].ratio('error'):.2f}"]
        figures.append(f"{better[best].standard_errors_behind:.1f}")
        lines.append([name, title_of(best), *figures, "; ".join(others)])
    return lines


def of_sets(pairs: Sequence[Pair], key: str) -> str:
    """Return on how many sets ours is more, and by how much in the middle of these."""
    ratios = [pair.ratio(key) for pair in pairs if behind(pair, key)]
    return f"{len(ratios)} (median {figure(float(np.median(ratios)))} times)" if ratios else "0"


def figure(value: float) -> str:
    """Return a ratio in three digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def peer_line(model: Model, results: Results) -> list[str]:
    """Return what ours loses to a peer, over all sets that both have."""
    pairs = results.pairs(model)
    tried = [name for name in results.sets if results.tried(model, name)]
    counts = [f"{len(pairs)} of {len(tried)}", str(sum(len(pair.ours) for pair in pairs))]
    counts += [str(sum(map(test, pairs))) for test in (behind_in_error, ahead_in_error)]
    return [title_of(model), *counts, *(of_sets(pairs, key) for key in ("fit_cpu", "predict_us", "numbers", "peak_mb"))]


def compared(results: Results, variant: str) -> str:
    """Return in how many comparisons with peers of a variant ours is behind."""
    pairs = [pair for model in results.peers if model[1] == variant for pair in results.pairs(model)]
    tests = (behind_in_error, ahead_in_error, unknown_in_error)
    worse, better, unknown = (sum(map(test, pairs)) for test in tests)
    of_peers = "tuned peers" if variant == TUNED else "peers at their defaults"
    also = f", and cannot be told in {unknown}" if unknown else ""
    return (
        f"Of {len(pairs)} comparisons with {of_peers}, a peer on a set, our error is higher by more than noise in "
        f"{worse}, lower in {better}, and within noise in {len(pairs) - worse - better - unknown}{also}."
    )


def costs(results: Results) -> str:
    """Return in how many comparisons ours needs more time, memory, or numbers."""
    pairs = [pair for model in results.peers for pair in results.pairs(model)]
    counts = {key: sum(behind(pair, key) for pair in pairs) for key in ("fit_cpu", "predict_us", "numbers", "peak_mb")}
    return (
        f"By more than {TIMES:g} times, our fit takes longer in {counts['fit_cpu']} of all {len(pairs)} comparisons, "
        f"our prediction in {counts['predict_us']}, and our fit needs more memory in {counts['peak_mb']}; "
        f"our model is the larger one in {counts['numbers']}."
    )


def summary(results: Results) -> str:
    """Return the sentences that the page opens with."""
    lost = [line[0] for line in set_losses(results)]
    n_classes = sum(name in CLASSES for name in lost)
    of_sets = (
        f"Of {len(results.sets)} sets, {len(lost)} ({len(lost) - n_classes} of numbers, {n_classes} of classes) have a "
        f"peer whose error is lower than ours by more than {NOISE:g} standard errors."
    )
    parts = [compared(results, TUNED), compared(results, DEFAULT), f"{of_sets} {costs(results)}", how_far(results)]
    return "\n\n".join(parts)


def how_far(results: Results) -> str:
    """Return how much of a full run there is."""
    tried = sum(len(results.tried(model, name)) for model in results.models for name in results.sets)
    n_models = {name: sum(METHODS[method].is_for(name) for method, _ in MODELS) for name in SETS}
    wanted = sum(n * (1 if name in OWN_SPLIT else N_SPLITS) for name, n in n_models.items())
    return (
        f"So far, {tried:,} of {wanted:,} fits have been tried. Slow peers have fewer splits, and fewer large sets "
        "([what has been run](#what-has-been-run))."
    )


def tables(results: Results) -> str:
    """Return what ours loses: in sentences, by set, and by peer."""
    of_set = ("set", "best peer", "splits", "our error", "its error", "ratio", "standard errors", "also lower")
    of_peer = (
        "peer",
        "sets",
        "splits",
        "lower error",
        "higher error",
        "fits faster",
        "predicts faster",
        "smaller",
        "less memory",
    )
    return "\n\n".join(
        [
            summary(results),
            "### Sets where a peer is more accurate",
            table(of_set, set_losses(results), n_words=2),
            "### What each peer does better",
            "Sets on which a fit came to an end, of those where it was tried, and the splits there that both have; on "
            "how many sets its error is lower, and higher, than ours by more than noise; and on how many it takes "
            "less, with our figure over its own there.",
            table(of_peer, [peer_line(model, results) for model in results.peers]),
        ]
    )
