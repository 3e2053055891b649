"""Figures 5 to 7 of Vincent and Bengio (2002): those of the examples of the same names."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from reproduce.experiment import Measured

EXAMPLES = Path(__file__).parents[2] / "examples"


def losses(measured: Sequence[Measured], **_: Any) -> Figure:
    """Figure 5: losses as functions of the margin."""
    return _drawn_by("kmp_figure_5")


def plane(measured: Sequence[Measured], **_: Any) -> Figure:
    """Figure 6: three ways to pursue, and a support vector machine, on the plane."""
    return _drawn_by("kmp_figure_6")


def far_cluster(measured: Sequence[Measured], **_: Any) -> Figure:
    """Figure 7: a far cluster draws the line of the squared error."""
    return _drawn_by("kmp_figure_7")


def _drawn_by(name: str) -> Figure:
    """The figure that an example draws."""
    figure, _ = _loaded(name).draw()
    plt.close(figure)  # pyplot need not keep it
    return figure


def _loaded(name: str) -> ModuleType:
    """An example as a module of its own; examples are scripts, and import what they share from their own folder."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(EXAMPLES))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(EXAMPLES))
    return module
