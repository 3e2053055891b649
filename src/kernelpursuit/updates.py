"""How weights follow when an atom is picked.

An update is a small object of settings, or its name. What it does to the weights is written in `pursuit/fits/`, one
class for each.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from kernelpursuit._validate import ByName, check_flag, check_number, check_option


@dataclass(frozen=True, repr=False)
class Update(ByName):
    """Base of all updates."""

    #: Name by which the update is given as `update=...`.
    name: ClassVar[str]
    #: Whether an atom may be picked again, so that steps are not bounded by atoms and no column is kept.
    repeats: ClassVar[bool] = False

    def __repr__(self) -> str:
        """Show the settings that are not the default."""
        changed = [f for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in changed)})"


SOLVERS = ("newton", "cg")


@dataclass(frozen=True, repr=False)
class Orthogonal(Update):
    """Refit all coefficients after each step (back-fitting), by an orthonormal basis of the picked atoms.

    Under another loss than the squared one, a step refits them to the local quadratic (IRLS) approximation of the loss
    around the last full refit.

    Parameters
    ----------
    rcond : float, optional
        End the fit before the first atom k for which the reciprocal condition number of `[Q, k / ||k||]` is below
        this, where Q holds the basis (Nair section 4.2). Without it, an atom that is numerically dependent on the
        picked ones is skipped, and the next best is picked.
    refit_every : int or "auto"
        Under another loss than the squared one, steps between full refits. "auto" refits at every step up to 16
        atoms, and then whenever the model has grown by an eighth. If the product of rows, targets and atoms is above a
        million, it refits whenever the model has doubled. The model that is kept is always refitted.
    solver : {"newton", "cg"}
        How that loss is minimised: by L-BFGS in coordinates in which its curvature is about one, or by conjugate
        gradients.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.updates import Orthogonal
    >>> settings = {"gamma": 0.1, "penalty": None, "stop": "max"}
    >>> model = KernelPursuitRegressor(update=Orthogonal(rcond=1e-6), **settings).fit(*make_chirp(200))
    >>> model.stop_reason_
    '10 atoms: the reciprocal condition number fell to 5.4e-07, below rcond=1e-06'
    """

    rcond: float | None = None
    refit_every: int | str = "auto"
    solver: str = "newton"
    name = "orthogonal"

    def __post_init__(self) -> None:
        if self.rcond is not None and not 0 < check_number("rcond", self.rcond, low=0, strict=True) < 1:
            raise ValueError(f"rcond={self.rcond!r} is too large; give a number between 0 and 1, or None.")
        if self.refit_every != "auto":
            check_number("refit_every", self.refit_every, low=1, integer=True)
        check_option("solver", self.solver, SOLVERS)


@dataclass(frozen=True, repr=False)
class Stagewise(Update):
    """Set only the coefficient of the new atom, or add to it if the atom is picked again (Vincent and Bengio fig. 1).

    Parameters
    ----------
    shrinkage : float
        Fraction of the optimal step that is taken, above 0 and up to 1.
    refit_every : int, optional
        Number of steps after which all coefficients are refitted, as are those of the kept model at the end (Vincent
        and Bengio figure 4). None never refits. For another loss than the squared one.
    solver : {"newton", "cg"}
        How that loss is minimised; see `Orthogonal`.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.updates import Stagewise
    >>> settings = {"gamma": 3.0, "penalty": None, "max_atoms": 60, "stop": "max"}
    >>> model = KernelPursuitRegressor(update=Stagewise(shrinkage=0.5), **settings).fit(*make_chirp(200))
    >>> model.stop_reason_  # atoms are picked again
    '26 atoms in 60 steps: max_atoms=60 reached'
    """

    shrinkage: float = 1.0
    refit_every: int | None = None
    solver: str = "newton"
    name = "stagewise"
    repeats = True

    def __post_init__(self) -> None:
        if not 0 < check_number("shrinkage", self.shrinkage, low=0, strict=True) <= 1:
            raise ValueError(f"shrinkage={self.shrinkage!r} is too large; give a number above 0 and up to 1.")
        if self.refit_every is not None:
            check_number("refit_every", self.refit_every, low=1, integer=True)
        check_option("solver", self.solver, SOLVERS)


@dataclass(frozen=True, repr=False)
class Rescale(Update):
    """Set the coefficient of the new atom and one factor for all the others, both optimal (Zhang algorithm 1).

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.updates import Rescale
    >>> settings = {"kernel": "rbf", "gamma": 3.0, "penalty": "rkhs", "alpha": 1e-3, "stop": "max"}
    >>> model = KernelPursuitRegressor(update=Rescale(), max_atoms=60, **settings).fit(*make_chirp(200))
    >>> model.stop_reason_
    '39 atoms in 60 steps: max_atoms=60 reached'
    """

    name = "rescale"
    repeats = True


@dataclass(frozen=True, repr=False)
class MinRes(Update):
    """Move all coefficients along the residual at their own rows, by the best step (Nair algorithm 2).

    Parameters
    ----------
    refit : bool
        Whether the coefficients of the model that is kept are recomputed by least squares at the end, as Nair advises.
        Other models of the path keep the coefficients of the iterations.

    Examples
    --------
    >>> from kernelpursuit import KernelPursuitRegressor
    >>> from kernelpursuit.data import make_chirp
    >>> from kernelpursuit.updates import MinRes
    >>> settings = {"kernel": "rbf", "gamma": 3.0, "selection": "residual", "penalty": None}
    >>> model = KernelPursuitRegressor(update=MinRes(), max_atoms=30, stop="max", **settings).fit(*make_chirp(200))
    >>> bool(model.path_.refits[30]["residual_norm"] <= model.path_.residual_norm[30])  # refitted at the end
    True
    """

    refit: bool = True
    name = "minres"

    def __post_init__(self) -> None:
        check_flag("refit", self.refit)


BY_NAME: dict[str, type[Update]] = {update.name: update for update in (Orthogonal, Stagewise, MinRes, Rescale)}


def as_update(update: object) -> Update:
    """Return the update for a name or an update."""
    return update if isinstance(update, Update) else BY_NAME[check_option("update", update, BY_NAME)]()


__all__ = ["BY_NAME", "MinRes", "Orthogonal", "Rescale", "Stagewise", "Update", "as_update"]
