"""How much of the data each stage of learning looks at, and about how long it will take."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

from kernelpursuit.learning.constants import (
    CLASS_CANDIDATES,
    CLASSICAL_ATOMS,
    CLASSICAL_CANDIDATES,
    GROW_FROM,
    GROW_UP_TO,
    GROWN_ATOMS,
    KEPT_FRACTION,
    LIKELY_KERNEL_ROUNDS,
    LIKELY_REFINE_ROUNDS,
    LIKELY_SETTLING_ROUNDS,
    LIKELY_STARTS,
    LIKELY_STEPS,
    LIKELY_WIDTH_TRIALS,
    MAX_ATOMS_A_ROW,
    MAX_FAST_ATOMS,
    MAX_FAST_FEATURES,
    MAX_START_ROWS,
    MAX_VALIDATION_ROWS,
    MIN_START_ROWS,
    PICKED_FRACTION,
    REFINE_CLASSES_FROM,
    REFINE_FROM,
    ROWS_AN_ATOM,
    SETTLE_FROM,
    SETTLING_ROUNDS,
    THREE_KERNELS_FROM,
    VALIDATION_FRACTION,
    VALIDATION_FRACTION_OF_TIME,
    VALIDATION_FROM,
    WIDTH_SEARCH_ROWS,
)
from kernelpursuit.learning.cost import Speed, operations_a_second
from kernelpursuit.pursuit import ALL_ROWS

# Parts of a fit, by the names under which they are shown.
STARTS_STAGE, SCALES_STAGE, KERNEL_STAGE, WIDTHS_STAGE, ATOMS_STAGE = "starts", "scales", "kernel", "widths", "atoms"
SIMPLE_STAGE, REFINE_STAGE, GROWTH_STAGE = "simple models", "refining", "more atoms"
WIDTH_SEARCH_STAGE = "width for this loop"


@dataclass(frozen=True)
class ScalesPlan:
    """Rounds of a search for scales: rows of a sample, atoms and where they may be, and steps of the search.

    An atom is picked for every `rows_an_atom` rows of a sample, up to `n_atoms`.
    """

    n_rows: int = 3000
    n_atoms: int = 128
    n_candidates: int = 800
    rows_an_atom: int = 4
    n_steps: int = 10
    n_rounds: int = 3

    def with_atoms_for(self, dof: float, n_rows: int, n_features: int) -> ScalesPlan:
        """The plan with as many atoms as a function of so many degrees of freedom takes, and at every second row.

        Of more than a few features, an atom at every row has many more degrees of freedom than atoms that are picked.
        """
        dof = dof if n_features == 1 else min(dof, MAX_FAST_ATOMS) if n_features <= MAX_FAST_FEATURES else 0.0
        if dof <= min(self.n_atoms, min(self.n_rows, n_rows) // self.rows_an_atom):
            return self
        return replace(self, n_atoms=int(dof), rows_an_atom=2, n_rows=min(self.n_rows, int(8 * dof)), n_steps=6)


@dataclass(frozen=True)
class EvidencePlan:
    """Scales by evidence: rows on which kernels are compared, rows of the last search, and the steps of both.

    Atoms are then picked at up to `n_candidates` rows, by the loop over all of them.
    """

    n_first: int = 400
    n_rows: int = 1000
    n_steps: int = 15
    n_last_steps: int = 15
    n_candidates: int = 1000


@dataclass(frozen=True)
class WidthsPlan:
    """A trial of several widths: atoms, on how many rows, and at how many of them they may be."""

    n_atoms: int = 128
    n_rows: int = 2000
    n_candidates: int = 1000


@dataclass(frozen=True)
class AtomsPlan:
    """Atoms to pick: how many, on how many rows, at how many of them they may be, and how many in vain at the end.

    Where `patience` is None, as many as were asked for are picked.
    """

    n_atoms: int
    n_rows: int = 4000
    n_candidates: int = 1000
    patience: int | None = 64


@dataclass(frozen=True)
class RefinePlan:
    """Rounds of refinement: rows of a sample, for every atom and at least and at most, and steps of the search.

    There are up to `n_settling_rounds` more while scales still move. `tries_finer` says whether the first round starts
    from finer scales as well.
    """

    rows_an_atom: int = 32
    least_rows: int = 6000
    n_rows: int = 16_000
    n_steps: int = 6
    n_rounds: int = 3
    n_settling_rounds: int = 0
    tries_finer: bool = False

    def sample_for(self, n_atoms: int) -> int:
        """Rows of a sample: atoms that may move have many numbers to fit to it."""
        return min(max(self.rows_an_atom * n_atoms, self.least_rows), self.n_rows)


@dataclass(frozen=True)
class LearningSpec:
    """What is to be learned, and the shape of the data.

    n_rows, n_features   of the data; copies of a row are one row
    n_kernels      kernels to choose from; none where scales are given
    max_atoms      the largest number of atoms
    may_grow       whether there may be more than that where validation rows gain by it
    picks_atoms    whether atoms are learned too
    refine         whether they are refined; "auto" where that has been measured to pay
    all_atoms      whether as many atoms are wanted as `max_atoms` allows, whatever they are good for
    by_evidence    whether scales may be those of a Gaussian process, as they are where no atoms are picked, or rows are
                   too few to refine them
    searches_width whether width and penalty are then tried with the loop
    classes        whether targets are codes of classes
    has_loss       whether there is another loss than the squared one

    What changes the time alone, and not what is looked at:

    n_outputs      targets or scores a row
    n_all_rows     where the data are a sample, the number of all rows; 0 for the data as they are
    n_loss_rows    most rows that a loop under a loss goes over
    final_loss     how likely classes have coefficients under another loss at the end, from 0 to 1
    n_threads      threads that take blocks of rows in turn
    """

    n_rows: int
    n_features: int
    n_kernels: int
    max_atoms: int = 512
    may_grow: bool = False
    picks_atoms: bool = True
    refine: bool | str = "auto"
    all_atoms: bool = False
    by_evidence: bool = False
    searches_width: bool = False
    classes: bool = False
    has_loss: bool = False
    n_outputs: int = 1
    n_all_rows: int = 0
    n_loss_rows: int = sys.maxsize
    final_loss: float = 0.0
    n_threads: int = 1


@dataclass(frozen=True)
class Plan:
    """All stages; those that are None are left out.

    wanted          what is to be learned
    n_kernels       kernels to choose from, the first of those that are offered
    more            more atoms than `atoms`, that are tried where those are too few
    n_validation    number of validation rows
    picks_from_all  whether atoms are picked from those as well
    """

    wanted: LearningSpec
    n_kernels: int
    scales: ScalesPlan | None
    evidence: EvidencePlan | None
    widths: WidthsPlan
    atoms: AtomsPlan | None
    more: AtomsPlan | None
    refine: RefinePlan | None
    n_validation: int
    picks_from_all: bool

    def with_atoms_for(self, dof: float) -> Plan:
        """The plan with more atoms and patience for a function of many degrees of freedom: its first atoms gain little.

        No more atoms than `MOST_OF_ROWS` of the rows, nor than were asked for.
        """
        if self.atoms is None or self.atoms.patience is None:
            return self
        n_atoms = max(
            self.atoms.n_atoms, min(int(dof), int(MAX_ATOMS_A_ROW * self.wanted.n_rows), self.wanted.max_atoms)
        )
        patience = max(self.atoms.patience, int(dof / 2))
        more = None if self.more is None else replace(self.more, patience=patience)
        return replace(self, atoms=replace(self.atoms, n_atoms=n_atoms, patience=patience), more=more)

    def seconds(self) -> float:
        """About how long a fit takes on this machine."""
        return sum(self.seconds_by_part().values())

    def seconds_by_part(self) -> dict[str, float]:
        """About how long each part of a fit takes on this machine, in their order."""
        wanted, parts = self.wanted, dict[str, float]()
        speed = Speed(wanted.n_outputs, wanted.has_loss, operations_a_second())
        n, d = wanted.n_rows, wanted.n_features
        if self.scales is not None:
            size = min(self.scales.n_rows, n)
            k = min(self.scales.n_atoms, max(1, size // self.scales.rows_an_atom))
            a_round = speed.loop(k, size / 2, min(self.scales.n_candidates, size / 2))
            a_round += speed.minimisation(self.scales.n_steps, size, k, 6.0 * k + 20.0 * d + 50.0)
            start = speed.inverses(LIKELY_STARTS, min(max(n // 2, MIN_START_ROWS), MAX_START_ROWS, n))
            # Another kernel is commonly seen to be no better before it has its round.
            kernels = LIKELY_KERNEL_ROUNDS * (self.n_kernels - 1) * a_round
            parts = {STARTS_STAGE: start, SCALES_STAGE: self.scales.n_rounds * a_round, KERNEL_STAGE: kernels}
        if self.evidence is not None:
            few, more = min(self.evidence.n_first, n), min(self.evidence.n_rows, n)
            search = self.n_kernels * speed.evidence(self.evidence.n_steps, few, d)
            search += speed.evidence(self.evidence.n_last_steps, more, d) if more > few else 0.0
            parts = {STARTS_STAGE: parts[STARTS_STAGE], SCALES_STAGE: search}
        if self.evidence is not None and self.atoms is not None:
            loop = speed.loop(LIKELY_STEPS * n**0.5, n, min(n, self.evidence.n_candidates))
            return {**parts, ALL_ROWS: loop}
        if self.atoms is None:
            # What is left is a loop for each class, over a classical dictionary.
            alone = Speed(1, wanted.has_loss, speed.operations)
            if wanted.searches_width:
                size = min(n, WIDTH_SEARCH_ROWS)
                parts[WIDTH_SEARCH_STAGE] = LIKELY_WIDTH_TRIALS * alone.loop(
                    min(CLASSICAL_ATOMS, wanted.max_atoms), size, size
                )
            loop = alone.loop(CLASSICAL_ATOMS, n, min(n, CLASSICAL_CANDIDATES))
            return {**parts, ALL_ROWS: wanted.n_outputs * loop}
        if self.refine is None and self.n_validation:
            rows = min(self.widths.n_rows, n - self.n_validation)
            parts[WIDTHS_STAGE] = 2 * speed.loop(self.widths.n_atoms, rows, min(self.widths.n_candidates, rows))
        size, likely = min(self.atoms.n_rows, n), 1.0
        if self.atoms.patience is not None:
            likely = PICKED_FRACTION
        k = max(1, round(likely * self.atoms.n_atoms))
        parts[ATOMS_STAGE] = speed.loop(k, size, min(self.atoms.n_candidates, size))
        if self.refine is not None:
            size = min(self.refine.sample_for(k), n)
            a_round = speed.minimisation(self.refine.n_steps, size, k, 1.0 * k + 20.0 * d + 50.0)
            n_rounds = LIKELY_REFINE_ROUNDS + min(self.refine.n_settling_rounds, LIKELY_SETTLING_ROUNDS)
            parts[REFINE_STAGE] = n_rounds * a_round
        return {**parts, ALL_ROWS: sum(self._seconds_on_all_rows(speed))}

    def shares_of_classes(self) -> tuple[float, float]:
        """Where the loop over all rows ends, of the time that classes take on these, and validation after it."""
        speed = Speed(self.wanted.n_outputs, self.wanted.has_loss, operations_a_second())
        loop, validation, final = self._seconds_on_all_rows(speed)
        total = loop + validation + final
        return loop / total, (loop + validation) / total

    def _seconds_on_all_rows(self, speed: Speed) -> tuple[float, float, float]:
        """Seconds of the loop over all rows, of validation where there are classes, and of coefficients after it."""
        assert self.atoms is not None
        wanted = self.wanted
        n, k = max(wanted.n_rows, wanted.n_all_rows), max(1, round(KEPT_FRACTION * self.atoms.n_atoms))
        rows_of_loss = min(n, wanted.n_loss_rows)
        under_a_loss = replace(speed, has_loss=True).under_a_loss(k, rows_of_loss, n, wanted.n_threads)
        loop = under_a_loss if wanted.has_loss else speed.squared(k, n, wanted.n_threads)
        if not wanted.classes:
            return loop, 0.0, 0.0
        return loop, VALIDATION_FRACTION_OF_TIME * loop, wanted.final_loss * under_a_loss

    def __str__(self) -> str:
        """Say in one line what will be done."""
        n, words = self.wanted.n_rows, []
        by = self.scales if self.evidence is None else self.evidence
        if by is not None:
            seen = min(by.n_rows, n)
            words.append(f"learning the scales of {self.wanted.n_features} features on {seen} of {n} rows")
        if self.atoms is not None and self.evidence is None:
            further = "" if self.more is None else f" ({self.more.n_atoms} where that pays)"
            words.append(f"picking up to {self.atoms.n_atoms} atoms{further} on {min(self.atoms.n_rows, n)}")
            if self.refine is not None:
                seen = min(self.refine.sample_for(self.atoms.n_atoms), n)
                words.append(f"refining them on up to {seen} at a time while that pays")
        return f"{', '.join(words)}, fitting all rows: about {_rounded(self.seconds())} s"


def make_plan(wanted: LearningSpec) -> Plan:
    """Decide how much of the data each stage looks at."""
    n_rows, max_atoms = wanted.n_rows, wanted.max_atoms
    n_validation = min(int(VALIDATION_FRACTION * n_rows), MAX_VALIDATION_ROWS)
    scales = ScalesPlan()
    if n_rows < THREE_KERNELS_FROM:
        # The fewer rows there are, the cheaper atoms are.
        scales = replace(scales, n_atoms=2 * scales.n_atoms)
    atoms = None
    if wanted.picks_atoms:
        atoms = AtomsPlan(max(1, min(max_atoms, n_rows if wanted.all_atoms else n_rows // ROWS_AN_ATOM)))
        if wanted.classes:
            atoms = replace(atoms, n_candidates=CLASS_CANDIDATES)
        twice = 2 * atoms.n_atoms
        atoms = replace(atoms, n_rows=max(atoms.n_rows, twice), n_candidates=max(atoms.n_candidates, twice))
        atoms = replace(atoms, patience=None) if wanted.all_atoms else atoms
    refine_from = REFINE_CLASSES_FROM if wanted.classes else REFINE_FROM
    refines = wanted.refine if isinstance(wanted.refine, bool) else n_rows >= refine_from
    wants_all = atoms is not None and atoms.n_atoms > n_rows - n_validation
    by_evidence = wanted.by_evidence and wanted.n_kernels and (n_rows < refine_from or not wanted.picks_atoms)
    return Plan(
        wanted=wanted,
        n_kernels=wanted.n_kernels if n_rows >= THREE_KERNELS_FROM else min(wanted.n_kernels, 2),
        scales=scales if wanted.n_kernels else None,
        evidence=EvidencePlan() if by_evidence else None,
        widths=WidthsPlan(n_atoms=max(1, min(WidthsPlan.n_atoms, max_atoms, (n_rows - n_validation) // ROWS_AN_ATOM))),
        atoms=atoms,
        more=_more_atoms(wanted) if refines else None,
        refine=_refine_plan(wanted) if wanted.picks_atoms and refines else None,
        n_validation=n_validation,
        picks_from_all=(n_rows < VALIDATION_FROM and not refines) or wants_all,
    )


def _refine_plan(wanted: LearningSpec) -> RefinePlan:
    """Rounds of refinement; where rows are many, scales were learned from a small part of them, and have to settle."""
    if wanted.has_loss or wanted.n_rows < SETTLE_FROM:
        return RefinePlan()
    return replace(RefinePlan(), n_settling_rounds=SETTLING_ROUNDS, tries_finer=True)


def _more_atoms(wanted: LearningSpec) -> AtomsPlan | None:
    """More atoms, under the squared loss, for rows that are enough for them, and not so many that it takes too long."""
    is_open = wanted.may_grow and wanted.picks_atoms and not wanted.all_atoms and not wanted.has_loss
    if not is_open or not GROW_FROM <= wanted.n_rows <= GROW_UP_TO:
        return None
    return AtomsPlan(GROWN_ATOMS, n_candidates=2 * GROWN_ATOMS)


def _rounded(seconds: float) -> str:
    return f"{max(seconds, 0.1):.1f}" if seconds < 3 else f"{seconds:.0f}"
