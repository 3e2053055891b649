"""Draw every picture of docs/systems.md and docs/systems/, and write the measured tables into the page.

    python docs/make_systems.py             pictures and tables, two to three minutes
    python docs/make_systems.py --pictures  pictures alone

Everything but the times is the same in every run.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import measure_systems as measured
import numpy as np
from measure_systems import Run, build, draw
from PIL import Image
from system_panels import COLOURS, FRIEDMAN, RIGHT, draw_fit, finish

from kernelpursuit.plotting.parts import BLUE, GREEN

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
FAMILIES = {
    "Vincent and Bengio": ("kmp_basic", "kmp_backfit", "kmp_prefit"),
    "Nair, Choudhury and Keane": ("greedy_qr", "greedy_qr_exchange", "mrx", "ormp"),
    "Hagiwara": ("rfs", "ols", "tcr"),
    "Zhang": ("sparse_gp_greedy", "sparse_gp_random", "sparse_gp_kappa", "sparse_gp_subspace"),
    "Xu, Lin, Fang and Li": ("oga", "oga_ptr"),
}
LONG = 1500  # steps of a system that may pick an atom again, where atoms and not steps are compared
LABELS = {"mrx": "mrx, iterations"}


def save(figure: Any, name: str) -> None:
    """Write a picture with a palette of its own: a quarter of the size, and no difference to see."""
    target = IMAGES / f"systems-{name.replace('_', '-')}.png"
    figure.savefig(target, dpi=105)
    plt.close(figure)
    with Image.open(target) as picture:
        picture.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(target, optimize=True)


def by_atoms(name: str, make: Callable, n_samples: int, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of atoms, and the error at the last step with that many: a long run of a system that repeats atoms."""
    data = draw(make, n_samples)
    model = build(name, gamma, max_atoms=LONG, stop="max").fit(data.X, data.y)
    size, errors = model.path_.size, data.curve(model)
    last = np.flatnonzero(np.append(np.diff(size) > 0, True))
    return size[last], errors[last]


def page_picture(name: str) -> None:
    """The picture of one system: its fit on the chirp, and what is to be said of it."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.7), layout="constrained")
    draw_fit(left, name)
    RIGHT[name](right)
    save(figure, name)


def overview(runs: dict[tuple[str, str], Run]) -> None:
    """All systems on Friedman's function, a panel for each paper, and the atoms that an error takes."""
    figure, axes = plt.subplots(2, 3, figsize=(11, 6.4), layout="constrained")
    curves: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for name in (name for names in FAMILIES.values() for name in names):
        if name in ("kmp_basic", "sparse_gp_greedy", "sparse_gp_kappa"):
            curves[name] = by_atoms(name, *FRIEDMAN)
        else:
            errors = np.mean(runs[name, "friedman"].errors, axis=0)
            curves[name] = np.arange(len(errors)), errors
    for ax, (family, names) in zip(axes.flat, FAMILIES.items()):
        for k, errors in curves.values():
            ax.plot(k[1:], errors[1:], color="#DDDDDD", lw=1.0, zorder=1)
        for i, (name, colour) in enumerate(zip(names, COLOURS)):
            style = {"ls": "--" if name in ("greedy_qr_exchange", "tcr", "oga_ptr") else "-", "zorder": 3 + i}
            k, errors = curves[name]
            ax.plot(k[1:], errors[1:], color=colour, lw=1.8, label=LABELS.get(name, name), **style)
        if "mrx" in names:
            refits = runs["mrx", "friedman"].refits
            dots = [np.mean([refit[k] for refit in refits]) for k in measured.SIZES]
            ax.plot(measured.SIZES, dots, "o", color=GREEN, ms=6, zorder=9, label="mrx, refitted")
        ax.set(xlim=(0, 152), ylim=(0.9, 5.2))
        finish(ax, family, "atoms")
    needed(axes.flat[-1], curves, 1.6)
    figure.suptitle("Friedman's function, 1,000 rows: error on new rows against the number of atoms", fontsize="large")
    save(figure, "overview")


def needed(ax: Any, curves: dict[str, tuple[np.ndarray, np.ndarray]], error: float) -> None:
    """Bars: how many atoms a system needs to get down to an error."""
    atoms = {}
    for name, (k, errors) in curves.items():
        below = np.flatnonzero(errors <= error)
        atoms[name] = int(k[below[0]]) if len(below) else None
    order = sorted(atoms, key=lambda name: (atoms[name] is None, atoms[name] or 0), reverse=True)
    for place, name in enumerate(order):
        n = atoms[name]
        ax.barh(place, n or 0, color=BLUE, height=0.7)
        text = str(n) if n is not None else f"not by {int(curves[name][0][-1])}"
        ax.text((n or 0) + 2, place, text, va="center", fontsize="x-small", color="#444444")
    ax.set_yticks(range(len(order)), [LABELS.get(name, name) for name in order], fontsize="x-small")
    finish(ax, f"atoms needed for an error of {error:g}", "atoms", "", log=False)


def write_tables(tables: dict[str, str]) -> None:
    """Put the tables where the page has marks for them."""
    page = DOCS / "systems.md"
    text = page.read_text()
    for name, table in tables.items():
        pattern = re.compile(rf"(<!-- {name} -->).*?(<!-- end -->)", re.DOTALL)
        text, n_places = pattern.subn(lambda found, table=table: f"{found[1]}\n\n{table}\n\n{found[2]}", text)
        assert n_places == 1, f"{page.name} should have one place for {name}, and has {n_places}"
    page.write_text(text)


def main() -> None:
    """Draw, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", action="store_true", help="leave the tables as they are")
    parser.add_argument("--only", help="the picture of one system alone")
    options = parser.parse_args()
    for name in [options.only] if options.only else RIGHT:
        page_picture(name)
    if options.only:
        return
    runs = measured.measure()
    overview(runs)
    if not options.pictures:
        tables = {
            "errors": measured.error_table(runs),
            "rules": measured.rule_table(runs),
            "times": measured.time_table(),
            "large": measured.large_table(),
            "exchange": measured.exchange_table(),
        }
        print("\n\n".join(tables.values()))
        write_tables(tables)


if __name__ == "__main__":
    main()
