"""What ours loses: where a peer has a lower error by more than noise, needs less time, or is smaller."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from defaults import table
from sets import CLASSES

from .methods import OUR_MODEL, TUNED, Model, title_of
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
        figures = [f"{mine:.4f}", f"{other:.4f}", f"{better[best].ratio('error'):.2f}"]
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
    counts = [f"{len(pairs)} of {len(tried)}"]
    counts += [str(sum(map(test, pairs))) for test in (behind_in_error, ahead_in_error)]
    return [title_of(model), *counts, *(of_sets(pairs, key) for key in ("fit_cpu", "predict_us", "numbers", "peak_mb"))]


def summary(results: Results) -> str:
    """Return the sentences that the page opens with."""
    sets = set_losses(results)
    n_classes = sum(line[0] in CLASSES for line in sets)
    pairs = [pair for model in results.peers for pair in results.pairs(model)]
    worse, better = (sum(map(test, pairs)) for test in (behind_in_error, ahead_in_error))
    counts = {key: sum(behind(pair, key) for pair in pairs) for key in ("fit_cpu", "predict_us", "numbers", "peak_mb")}
    n = len(pairs)
    return (
        f"Of {len(results.sets)} sets, {len(sets)} ({len(sets) - n_classes} of numbers, {n_classes} of classes) have a "
        f"peer whose error is lower than ours by more than {NOISE:g} standard errors. Of {n} comparisons, a peer on a "
        f"set, our error is higher by more than noise in {worse}, lower in {better}, and within noise in "
        f"{n - worse - better}. By more than {TIMES:g} times, our fit takes longer in {counts['fit_cpu']} of them, our "
        f"prediction in {counts['predict_us']}, and our fit needs more memory in {counts['peak_mb']}; our model is the "
        f"larger one in {counts['numbers']}.\n\n{how_far(results)}"
    )


def how_far(results: Results) -> str:
    """Return how much of a full run there is."""
    tuned = [model for model in results.peers if model[1] == TUNED]
    tried = [name for name in results.sets if any(results.tried(model, name) for model in tuned)]
    splits = max((len(results.tried(model, name)) for model in results.models for name in results.sets), default=0)
    most = max((results.tried(OUR_MODEL, name)[0]["rows"] for name in tried), default=0)
    return (
        f"So far: {splits} of {N_SPLITS} splits; tuned peers on {len(tried)} of {len(results.sets)} sets, of at most "
        f"{most:,} training rows. On larger sets, only the quick peers at their defaults may have been tried "
        "([what has been run](#what-has-been-run))."
    )


def tables(results: Results) -> str:
    """Return what ours loses: in sentences, by set, and by peer."""
    of_set = ("set", "best peer", "our error", "its error", "ratio", "standard errors", "also lower")
    of_peer = (
        "peer",
        "sets",
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
            "Sets on which a fit came to an end, of those where it was tried; on how many its error is lower, and "
            "higher, than ours by more than noise; and on how many it takes less, with our figure over its own there.",
            table(of_peer, [peer_line(model, results) for model in results.peers]),
        ]
    )
