"""The pictures of docs/systems/: on the left a fit, alike for every system; on the right what is to be said of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from measure_systems import SEEDS, SETS, build, draw

from kernelpursuit.bounds import certificate, gap_report
from kernelpursuit.data import make_chirp, make_friedman, make_peaks
from kernelpursuit.plotting.parts import BLUE, GREEN, GREY, ORANGE, plain_ticks, tidy
from kernelpursuit.stopping import PTR, TCR
from kernelpursuit.updates import MinRes, Stagewise

PURPLE = "#AA4499"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
N_SHOWN = 20  # steps of the fit on the left of every picture
SMALL = {"fontsize": "small", "color": GREY}


def finish(ax: Any, title: str, x: str = "steps", y: str = "error on new rows", log: bool = True) -> None:
    """Title, labels and legend, alike in every picture."""
    if log:
        ax.set_yscale("log")
        plain_ticks(ax)
    ax.set_title(title, fontsize="medium", loc="left")
    ax.set(xlabel=x, ylabel=y)
    ax.margins(x=0.02)
    tidy(ax)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize="small", labelspacing=0.3)


def draw_fit(ax: Any, name: str, **params: Any) -> None:
    """The system after 20 steps on the chirp."""
    data = draw(make_chirp, 400)
    model = build(name, 3.0, max_atoms=N_SHOWN, **params).fit(data.X, data.y)
    grid = np.linspace(0, 10, 500)[:, None]
    ax.plot(data.X[:, 0], data.y, ".", color="#444444", ms=4, mew=0, alpha=0.5)
    ax.plot(grid[:, 0], model.predict(grid), color=BLUE, lw=1.8)
    style = {"ms": 7, "mfc": ORANGE, "mec": "white", "mew": 1.0, "ls": "none", "zorder": 5}
    ax.plot(model.centers_[:, 0], model.predict(model.centers_), "o", **style)
    steps = "" if model.n_atoms_ == len(model.path_) else f" in {len(model.path_)} steps"
    title = f"{name} on the chirp: {model.n_atoms_} centres{steps}, error {data.error(model.predict(data.X_new)):.3f}"
    finish(ax, title, "x", "target", log=False)


def means(name: str, make: Callable, n_samples: int, gamma: float, steps: int, **params: Any) -> np.ndarray:
    """Mean error over draws, as far as all paths go."""
    curves = []
    for seed in SEEDS:
        data = draw(make, n_samples, seed)
        curves.append(data.curve(build(name, gamma, max_atoms=steps, stop="max", **params).fit(data.X, data.y)))
    shortest = min(map(len, curves))
    return np.mean([curve[:shortest] for curve in curves], axis=0)


CHIRP, PEAKS, FRIEDMAN = (tuple(rest) for _, *rest in SETS)


def compare(ax: Any, lines: dict[str, tuple[str, dict[str, Any]]], data: tuple, steps: int, title: str) -> None:
    """Mean errors of a few systems against the number of steps."""
    for (label, (name, params)), colour in zip(lines.items(), COLOURS):
        errors = means(name, *data, steps, **params)
        ax.plot(np.arange(len(errors))[1:], errors[1:], color=colour, lw=1.7, label=label)
    finish(ax, title)


def kmp_basic(ax: Any) -> None:
    """Basic, with smaller steps, and refitted."""
    lines = {
        "kmp_basic": ("kmp_basic", {}),
        "kmp_basic, shrinkage 0.3": ("kmp_basic", {"update": Stagewise(shrinkage=0.3)}),
        "kmp_backfit": ("kmp_backfit", {}),
    }
    compare(ax, lines, FRIEDMAN, 100, "Friedman: what refitting buys")


def kmp_backfit(ax: Any) -> None:
    """The three of Vincent and Bengio."""
    lines = {name: (name, {}) for name in ("kmp_backfit", "kmp_prefit", "kmp_basic")}
    compare(ax, lines, FRIEDMAN, 100, "Friedman: Vincent and Bengio's three")


def kmp_prefit(ax: Any) -> None:
    """How the error rises again without a penalty."""
    lines = {
        "kmp_prefit": ("kmp_prefit", {}),
        "kmp_backfit": ("kmp_backfit", {}),
        "rfs, alpha=0.01": ("rfs", {"alpha": 0.01}),
    }
    compare(ax, lines, PEAKS, 150, "peaks: nothing holds the weights back")


def greedy_qr(ax: Any) -> None:
    """What ends the path."""
    for gamma, colour in zip((0.3, 1.0, 3.0), COLOURS):
        data = draw(make_chirp, 400)
        model = build("greedy_qr", gamma, max_atoms=100).fit(data.X, data.y)
        path = model.path_
        ax.plot(np.arange(1, len(path) + 1), path.rcond[1:], color=colour, lw=1.7, label=f"gamma={gamma:g}")
        ax.plot(len(path), path.rcond[-1], "o", color=colour, ms=5)
    ax.axhline(1e-8, color=GREY, lw=1, ls="--")
    ax.text(60, 8e-9, "rcond=1e-8: where the next atom is below, the path ends", **SMALL, ha="right", va="top")
    ax.set(xlim=(0, 60), ylim=(1e-9, 3))
    finish(ax, "chirp: wide kernels end the path early", "atoms", "reciprocal condition number")


def greedy_qr_exchange(ax: Any) -> None:
    """How often atoms are exchanged, by width of the kernel."""
    widths = (0.05, 0.15, 0.5, 1.5, 5.0)
    for name, colour in (("greedy_qr_exchange", BLUE), ("mrx", ORANGE)):
        counts = []
        for gamma in widths:
            draws = [draw(make_friedman, 1000, seed) for seed in SEEDS]
            counts.append([len(build(name, gamma, max_atoms=100).fit(d.X, d.y).path_.swaps) for d in draws])
        ax.plot(widths, np.mean(counts, axis=1), "o-", color=colour, lw=1.7, ms=5, label=name)
    ax.set_xscale("log")
    ax.set_xticks(widths, [f"{gamma:g}" for gamma in widths])
    ax.minorticks_off()
    finish(ax, "Friedman: exchanges in 100 steps", "gamma", "exchanges, mean of five draws", log=False)


def mrx(ax: Any) -> None:
    """Iterations, and the refit at the end."""
    errors = means("mrx", *FRIEDMAN, 150, update=MinRes(refit=False))
    sizes = (10, 20, 35, 50, 75, 100, 125, 150)
    refits = []
    for k in sizes:
        draws = [draw(make_friedman, 1000, seed) for seed in SEEDS]
        fits = [(d, build("mrx", 0.5, max_atoms=k).fit(d.X, d.y)) for d in draws]
        refits.append(np.mean([d.error(model.predict(d.X_new)) for d, model in fits]))
    ax.plot(np.arange(1, len(errors)), errors[1:], color=GREY, lw=1.5, label="mrx, iterations alone")
    ax.plot(sizes, refits, "o-", color=BLUE, lw=1.7, ms=5, label="mrx, refitted at the end")
    qr = means("greedy_qr", *FRIEDMAN, 150)
    ax.plot(np.arange(1, len(qr)), qr[1:], color=ORANGE, lw=1.7, label="greedy_qr")
    finish(ax, "Friedman: what the last refit is worth")


def ormp(ax: Any) -> None:
    """Three ways to pick, one way to refit."""
    lines = {
        "by gain: ormp": ("ormp", {}),
        "by correlation: kmp_backfit": ("kmp_backfit", {}),
        "by residual: greedy_qr": ("greedy_qr", {}),
    }
    compare(ax, lines, CHIRP, 45, "chirp: the same refit, three ways to pick")


def rfs(ax: Any) -> None:
    """The strength of the penalty."""
    lines: dict[str, tuple[str, dict[str, Any]]] = {
        f"alpha={alpha:g}": ("rfs", {"alpha": alpha}) for alpha in (0.1, 1e-3, 1e-6)
    }
    lines["no penalty (kmp_prefit)"] = ("kmp_prefit", {})
    compare(ax, lines, PEAKS, 150, "peaks: the penalty decides what too many atoms cost")


def ols(ax: Any) -> None:
    """Penalties of orthogonalised atoms and of atoms."""
    for name, colour in (("ols", BLUE), ("rfs", ORANGE)):
        for alpha, style in ((1.0, "-"), (1e-2, "--")):
            errors = means(name, *CHIRP, 80, alpha=alpha)
            ax.plot(np.arange(1, len(errors)), errors[1:], color=colour, ls=style, lw=1.7, label=f"{name}, {alpha=:g}")
    finish(ax, "chirp: the same alpha, two penalties")


def tcr(ax: Any) -> None:
    """Cost reductions and their threshold."""
    data = draw(make_chirp, 400)
    model = build("tcr", 3.0, max_atoms=60).fit(data.X, data.y)
    rule, path = TCR(), model.path_
    k, kept = np.arange(1, len(path) + 1), model.n_atoms_
    ax.plot(k, rule.reductions(path), ".-", color=BLUE, lw=1.2, ms=5, label="what a step takes off, root of the cost")
    ax.plot(k, rule.thresholds(path), color=ORANGE, lw=1.5, label="what noise could take off")
    ax.axvline(kept, color=ORANGE, lw=0.8, ls=":")
    ax.axvline(rule.least(path), color=GREY, lw=0.8, ls=":")
    ax.set_ylim(0.03, 30)
    ax.text(kept - 0.7, 0.036, f"kept: {kept}", fontsize="small", color=ORANGE, ha="right")
    least = rule.least(path)
    ax.text(least + 0.7, 1.5, f"least leave-one-out error: {least}", **SMALL)
    finish(ax, "chirp: the last step above the threshold", y="root of the cost reduction")


def gaps(ax: Any, names: dict[str, str], title: str, certified: bool = False) -> None:
    """How far from the exact Gaussian process, by steps."""
    data = draw(make_friedman, 500)
    for (name, label), colour in zip(names.items(), COLOURS):
        model = build(name, 0.5, alpha=1e-3, max_atoms=100).fit(data.X, data.y)
        report = gap_report(model, data.X, data.y)
        assert report.actual is not None, "500 rows are few enough for the exact solution"
        ax.plot(np.arange(1, len(report.actual)), report.actual[1:], color=colour, lw=1.7, label=label)
        if certified:
            sizes = [1, 2, 5, 10, 20, 30, 40, 60, 80, 100]
            found = [certificate(model.at(k), data.X, data.y).gap for k in sizes]
            ax.plot(sizes, found, "o", color=ORANGE, ms=5, label="certificate, without the exact solution")
    finish(ax, title, y="gap to the exact process")


def sparse_gp_greedy(ax: Any) -> None:
    """Rescaled against refitted, as a distance to the exact process."""
    names = {"sparse_gp_greedy": "sparse_gp_greedy, rescaled", "sparse_gp_subspace": "sparse_gp_subspace, all refitted"}
    gaps(ax, names, "Friedman, 500 rows: how far from the exact process")


def sparse_gp_subspace(ax: Any) -> None:
    """The gap, and what can be known of it without the exact solution."""
    gaps(ax, {"sparse_gp_subspace": "the gap"}, "Friedman, 500 rows: the gap, and a bound on it", certified=True)


def sparse_gp_random(ax: Any) -> None:
    """The spread over random orders."""
    data = draw(make_friedman, 1000)
    fits = [build("sparse_gp_random", 0.5, max_atoms=150, random_state=s).fit(data.X, data.y) for s in range(10)]
    curves = np.array([data.curve(model) for model in fits])
    k = np.arange(1, curves.shape[1])
    spread = (curves.min(axis=0)[1:], curves.max(axis=0)[1:])
    ax.fill_between(k, *spread, color=BLUE, alpha=0.2, lw=0, label="least to largest of ten seeds")
    ax.plot(k, curves.mean(axis=0)[1:], color=BLUE, lw=1.7, label="sparse_gp_random, mean")
    model = build("sparse_gp_subspace", 0.5, max_atoms=150).fit(data.X, data.y)
    ax.plot(k, data.curve(model)[1:], color=ORANGE, lw=1.7, label="sparse_gp_subspace")
    finish(ax, "Friedman: ten random orders, one draw of the data")


def sparse_gp_kappa(ax: Any) -> None:
    """The number of candidates, and the refit."""
    refit = {"update": "orthogonal"}
    lines = {
        "kappa=59, rescaled (the preset)": ("sparse_gp_kappa", {}),
        "kappa=5, all refitted": ("sparse_gp_kappa", {"candidates": 5, **refit}),
        "kappa=59, all refitted": ("sparse_gp_kappa", refit),
        "all candidates, all refitted": ("sparse_gp_subspace", {}),
    }
    compare(ax, lines, FRIEDMAN, 100, "Friedman: the refit matters more than kappa")


def oga(ax: Any) -> None:
    """What truncating the predictions does."""
    X, y = make_chirp(60, seed=3)
    grid = np.linspace(-0.5, 10.5, 600)[:, None]
    ax.plot(X[:, 0], y, ".", color="#444444", ms=5, mew=0, alpha=0.7, label="60 rows")
    for truncate, colour in ((None, ORANGE), ("auto", BLUE)):
        model = build("oga", 3.0, max_atoms=45, truncate=truncate).fit(X, y)
        label = "truncated (oga)" if truncate else "not truncated (kmp_backfit)"
        ax.plot(grid[:, 0], model.predict(grid), color=colour, lw=1.5, label=f"{label}")
    ax.set_ylim(-4.5, 6)
    finish(ax, f"chirp, 60 rows: {model.n_atoms_} atoms are too many", "x", "target", log=False)


def oga_ptr(ax: Any) -> None:
    """The sizes that are tried."""
    data = draw(make_peaks, 600)
    model = build("oga_ptr", 2.0, max_atoms=100).fit(data.X, data.y)
    longer = build("oga_ptr", 2.0, max_atoms=60, stop="max").fit(data.X, data.y)
    tried, errors = np.unique(PTR().sizes(longer.path_)), data.curve(longer)
    ax.plot(np.arange(1, len(errors)), errors[1:], color=GREY, lw=1.5, label="error on new rows")
    ax.plot(tried, errors[tried], "o", color=BLUE, ms=5, label="sizes that PTR tries")
    ax.plot(model.n_atoms_, errors[model.n_atoms_], "o", color=ORANGE, ms=9, label=f"kept: {model.n_atoms_}")
    finish(ax, f"peaks, 600 rows: PTR ends the loop at {tried[-1]} atoms")


RIGHT: dict[str, Callable] = {
    function.__name__: function
    for function in (
        kmp_basic, kmp_backfit, kmp_prefit, greedy_qr, greedy_qr_exchange, mrx, ormp, rfs, ols, tcr,
        sparse_gp_greedy, sparse_gp_random, sparse_gp_kappa, sparse_gp_subspace, oga, oga_ptr,
    )
}  # fmt: skip
