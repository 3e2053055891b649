"""What docs/systems.md says in numbers: every preset on the same draws of the bundled data.

Errors are root mean squared distances to the function without noise, on 4,000 new rows, means over five draws.
Times are ratios to `greedy_qr` in the same run. `make_systems.py` runs this and writes the tables into the page.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelpursuit import KernelPursuitRegressor, presets
from kernelpursuit.data import make_chirp, make_friedman, make_peaks
from kernelpursuit.updates import MinRes

# Name, generator, rows, gamma.
SETS = [("chirp", make_chirp, 400, 3.0), ("peaks", make_peaks, 600, 2.0), ("friedman", make_friedman, 1000, 0.5)]
SEEDS = range(5)
STEPS = 150
SIZES = (20, 50, 100)
ALPHA = 1e-4  # of every penalised preset that does not set its own

VARIANTS: dict[str, tuple[presets.Preset, dict[str, Any]]] = {
    "mrx, never refitted": (presets.mrx, {"update": MinRes(refit=False)}),
    "sparse_gp_kappa, refitted": (presets.sparse_gp_kappa, {"update": "orthogonal"}),
}
SYSTEMS = {preset.name: (preset, {}) for preset in presets.ALL if preset is not presets.kmp_tanh} | VARIANTS


@dataclass
class Draw:
    """One draw of a data set: training rows with centred targets, and new rows without noise."""

    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    truth: np.ndarray

    def error(self, values: np.ndarray) -> float:
        """Root mean squared distance to the function without noise."""
        return float(np.sqrt(np.mean(np.square(values - self.truth))))

    def curve(self, model: Any) -> np.ndarray:
        """Error of every model on a path."""
        return np.array([self.error(values) for values in model.staged_predict(self.X_new)])


def draw(make: Callable, n_samples: int, seed: int = 0) -> Draw:
    """Return a draw; presets fit no intercept, so the mean of the training targets is taken off."""
    X, y = make(n_samples, seed=seed)
    X_new, truth = make(4000, seed=100 + seed, noise=0.0)
    return Draw(X, y - y.mean(), X_new, truth - y.mean())


def build(name: str, gamma: float, **params: Any) -> KernelPursuitRegressor:
    """Return the unfitted estimator of a row of the tables."""
    preset, settings = SYSTEMS[name]
    own = {} if "alpha" in preset.settings else {"alpha": ALPHA}
    return preset(**{"gamma": gamma, "random_state": 0, **own, **settings, **params})


@dataclass
class Run:
    """What one system did on one data set, a list entry for every draw.

    errors  by step of the path; for MRX, iterations only
    sizes   number of atoms by step
    refits  MRX alone: error of the refitted model by number of steps
    kept    by rule, (atoms, error)
    swaps   number of exchanges
    """

    errors: list[np.ndarray] = field(default_factory=list)
    sizes: list[np.ndarray] = field(default_factory=list)
    refits: list[dict[int, float]] = field(default_factory=list)
    kept: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    swaps: list[int] = field(default_factory=list)

    def at(self, k: int) -> str:
        """Mean error after k steps; where a path ended earlier, at its end, with the number of steps in brackets."""
        last = [min(k, len(errors) - 1) for errors in self.errors]
        if self.refits:
            return f"{np.mean([refits[k] for refits in self.refits]):.3f}"
        mean = np.mean([errors[i] for errors, i in zip(self.errors, last)])
        return f"{mean:.3f}" + (f" ({np.mean(last):.0f})" if min(last) < k else "")

    def under(self, rule: str) -> str:
        """Mean number of atoms and error that a rule keeps."""
        if rule not in self.kept:
            return "-"
        atoms, errors = np.mean(self.kept[rule], axis=0)
        return f"{atoms:.0f}: {errors:.3f}"


def run(name: str, make: Callable, n_samples: int, gamma: float) -> Run:
    """Fit one system on every draw of one data set."""
    result = Run()
    for seed in SEEDS:
        data = draw(make, n_samples, seed)
        model = build(name, gamma, max_atoms=STEPS, stop="max").fit(data.X, data.y)
        iterations = build(name, gamma, max_atoms=STEPS, stop="max", update=MinRes(refit=False))
        errors = data.curve(iterations.fit(data.X, data.y) if name == "mrx" else model)
        result.errors.append(errors)
        result.sizes.append(model.path_.size.copy())
        result.swaps.append(sum(when <= 100 for when, *_ in model.path_.swaps))
        rules = ["mdl"] + (["loo"] if model.path_.loo is not None else [])
        rules += [rule] if (rule := SYSTEMS[name][0].settings.get("stop")) else []
        if name == "mrx":
            sizes = {k: build(name, gamma, max_atoms=k).fit(data.X, data.y) for k in SIZES}
            result.refits.append({k: data.error(fitted.predict(data.X_new)) for k, fitted in sizes.items()})
            for k, fitted in sizes.items():  # the refit leaves dependent atoms out
                result.sizes[-1][k] = fitted.n_atoms_
        for rule in rules:
            chosen = model.select(rule)
            if name == "mrx":  # the model that is kept is the one that is refitted
                chosen = build(name, gamma, max_atoms=STEPS, stop=rule).fit(data.X, data.y)
            entry = chosen.n_atoms_, data.error(chosen.predict(data.X_new))
            result.kept.setdefault(rule, []).append(entry)
    return result


def measure() -> dict[tuple[str, str], Run]:
    """Run every system on every data set."""
    return {(name, data): run(name, *rest) for data, *rest in SETS for name in SYSTEMS}


def seconds(name: str, data: Draw, **params: Any) -> float:
    """Time of a fit of 100 steps."""
    model = build(name, 0.5, max_atoms=100, stop="max", **params)
    start = time.perf_counter()
    model.fit(data.X, data.y)
    return time.perf_counter() - start


def table(header: list[str], rows: Iterator[list[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def error_table(runs: dict[tuple[str, str], Run]) -> str:
    """Errors after 20, 50 and 100 steps."""
    header = ["system", *(f"{data}, {k}" for data, *_ in SETS for k in SIZES), "atoms in 100 steps"]

    def rows() -> Iterator[list[str]]:
        for name in SYSTEMS:
            cells = [runs[name, data].at(k) for data, *_ in SETS for k in SIZES]
            sizes = [np.mean([s[min(100, len(s) - 1)] for s in runs[name, data].sizes]) for data, *_ in SETS]
            yield [named(name), *cells, ", ".join(f"{size:.0f}" for size in sizes)]

    return table(header, rows())


def rule_table(runs: dict[tuple[str, str], Run]) -> str:
    """Atoms and error under rules that choose on the path."""
    header = ["system", *(f"{data}, `{rule}`" for data, *_ in SETS for rule in ("mdl", "loo"))]
    cells = ([named(name), *(runs[name, d].under(r) for d, *_ in SETS for r in ("mdl", "loo"))] for name in SYSTEMS)
    own = (
        [f"`{name}` by its own rule", *(cell for d, *_ in SETS for cell in (runs[name, d].under(rule), "-"))]
        for name, rule in (("tcr", "tcr"), ("oga_ptr", "ptr"))
    )
    return table(header, iter([*cells, *own]))


def time_table() -> str:
    """Time of 100 steps on 4,000 rows, as a ratio, with kernel values kept and computed again."""
    data, budgets = draw(make_friedman, 4000), ({}, {"memory_budget": 0})
    times: dict[tuple[str, int], list[float]] = {}
    for _ in range(2):  # in turns, and the least of each, so that what else the machine does counts little
        for name in SYSTEMS:
            for i, budget in enumerate(budgets):
                times.setdefault((name, i), []).append(seconds(name, data, **budget))
    one = min(times["greedy_qr", 0])
    rows = ([named(name), *(f"{min(times[name, i]) / one:.1f}" for i in range(2))] for name in SYSTEMS)
    return table(["system", "values kept", "values computed again"], rows)


def large_table(n_samples: int = 100_000) -> str:
    """Time, peak of what the fit allocates, and error of 100 steps on many rows."""
    data = draw(make_friedman, n_samples)
    names = ["greedy_qr", "greedy_qr_exchange", "mrx", "sparse_gp_random", "sparse_gp_kappa"]
    names.append("sparse_gp_kappa, refitted")

    def rows() -> Iterator[list[str]]:
        for name in names:
            taken = seconds(name, data, alpha=1e-6)
            tracemalloc.start()
            model = build(name, 0.5, max_atoms=100, alpha=1e-6).fit(data.X, data.y)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            error = data.error(model.predict(data.X_new))
            yield [named(name), f"{taken:.1f} s", f"{peak / 1e6:.0f} MB", f"{error:.2f}", str(model.n_atoms_)]

    return table(["system", "time", "peak memory", "error", "atoms"], rows())


def exchange_table() -> str:
    """How often atoms are exchanged in 100 steps, by width of the kernel."""

    def rows() -> Iterator[list[str]]:
        for data_name, make, n_samples, gamma in SETS:
            for factor in (0.1, 1.0, 10.0):
                swaps: dict[str, list[int]] = {"greedy_qr_exchange": [], "mrx": []}
                changes, steps = [], []
                for seed in SEEDS:
                    data = draw(make, n_samples, seed)
                    models = {
                        name: build(name, factor * gamma, max_atoms=100).fit(data.X, data.y)
                        for name in ("greedy_qr", *swaps)
                    }
                    for name, counts in swaps.items():
                        counts.append(len(models[name].path_.swaps))
                    plain, exchanged = models["greedy_qr"], models["greedy_qr_exchange"]
                    before, after = (data.error(m.predict(data.X_new)) for m in (plain, exchanged))
                    changes.append(after / before - 1)
                    steps.append(len(exchanged.path_))
                cells = [f"{np.mean(counts):.1f}" for counts in swaps.values()]
                change = " to ".join(f"{round(100 * c, 1) + 0.0:g}" for c in (min(changes), max(changes))) + " %"
                yield [data_name, f"{factor * gamma:g}", f"{np.mean(steps):.0f}", cells[0], change, cells[1]]

    header = ["data", "gamma", "QR: steps", "QR: exchanges", "QR: change of error", "MRX: exchanges"]
    return table(header, rows())


def named(name: str) -> str:
    """The name as code, what is different about it behind."""
    first, *rest = name.split(", ")
    return ", ".join([f"`{first}`", *rest])
