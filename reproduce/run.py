"""Runs repetitions, both cores at a time, and keeps each as soon as it is done.

What is done is kept in `out/reproduce/`, one file a configuration and one line a repetition. A run that was
interrupted goes on where it stopped, and a full run takes over what a quick one did. A line counts only while the
settings, the experiment and the library are those it was made with.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config

import kernelpursuit
from reproduce.config import Config, Part, function
from reproduce.data import SPLITS, DataMissing, known, load, load_splits
from reproduce.experiment import Measured

HERE = Path(__file__).parent
JOURNALS = HERE.parent / "out" / "reproduce"


@dataclass(frozen=True)
class Task:
    """One repetition of one part of a table."""

    journal: str
    experiment: str
    part: Part
    repetition: int

    @property
    def key(self) -> str:
        """What it was made with; the same task has the same key."""
        data = [known()[name]["sha256"] for name in _files(self.part)]
        made_with = [self.experiment, _sources(self.experiment), data, dict(self.part.settings), self.repetition]
        return hashlib.sha256(json.dumps(made_with, sort_keys=True).encode()).hexdigest()


def tasks(config: Config, full: bool, at_most: int | None = None) -> list[Task]:
    """The repetitions that a configuration asks for."""
    return _tasks(config, config.name, config.parts, full, at_most)


def variant_tasks(config: Config, variant: str, at_most: int | None = None) -> tuple[list[Task], list[Task]]:
    """The repetitions of another reading of the paper, and the same ones of that which was chosen."""
    return (
        _tasks(config, f"{config.name}@{variant}", config.varied(variant), False, at_most),
        _tasks(config, config.name, config.touched(variant), False, at_most),
    )


def _tasks(config: Config, journal: str, parts: Sequence[Part], full: bool, at_most: int | None) -> list[Task]:
    most = sys.maxsize if at_most is None else at_most
    return [
        Task(journal, config.experiment, part, repetition)
        for part in parts
        for repetition in range(min(part.full if full else part.quick, most))
    ]


def run(wanted: Sequence[Task], jobs: int, progress: bool = True) -> dict[str, str]:
    """Run the tasks that are not done yet; return the problems by journal."""
    problems = _data_problems(wanted)
    before = {journal: _lines(journal).keys() for journal in {task.journal for task in wanted}}
    left = [task for task in wanted if task.journal not in problems and task.key not in before[task.journal]]
    # A part has few repetitions where each takes long; begun first, none is left to run alone at the end.
    left.sort(key=lambda task: task.part.quick)
    JOURNALS.mkdir(parents=True, exist_ok=True)
    possible = sum(task.journal not in problems for task in wanted)
    meter = _Meter(len(left), possible - len(left)) if progress else None
    with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
        finished = Parallel(return_as="generator_unordered", pre_dispatch="2*n_jobs")(
            delayed(_done)(task) for task in left
        )
        for task, line, problem in finished:
            if problem:
                problems.setdefault(task.journal, problem)
            else:
                _append(task.journal, line)
            if meter:
                meter.tick(task.journal)
    return problems


def done(wanted: Sequence[Task]) -> list[Measured]:
    """What is measured so far of some tasks, in their order."""
    journals = {journal: _lines(journal) for journal in {task.journal for task in wanted}}
    return [_measured(journals[task.journal][task.key]) for task in wanted if task.key in journals[task.journal]]


def _done(task: Task) -> tuple[Task, dict[str, Any], str]:
    """Run a task where it was sent; what goes wrong comes back as a sentence, and the other tasks go on."""
    started = time.perf_counter()
    try:
        measured = function(task.experiment, "experiments")(task.repetition, **task.part.settings)
    except DataMissing as error:
        return task, {}, str(error)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        return task, {}, f"repetition {task.repetition} of {dict(task.part.settings)} failed with {what}"
    return task, _line(task, measured, time.perf_counter() - started), ""


def _line(task: Task, measured: Measured, seconds: float) -> dict[str, Any]:
    return {
        "key": task.key,
        "repetition": task.repetition,
        "took": round(seconds, 3),
        "cells": [[*cell, float(value)] for cell, value in measured.cells.items()],
        "curves": dict(measured.curves),
        "seconds": {name: float(value) for name, value in measured.seconds.items()},
    }


def _measured(line: dict[str, Any]) -> Measured:
    cells = {(row, column): value for row, column, value in line["cells"]}
    return Measured(cells, line["curves"], line["seconds"])


def _lines(journal: str) -> dict[str, dict[str, Any]]:
    """The lines of a journal by key. The last may be cut short, where a run was killed while it wrote."""
    path = JOURNALS / f"{journal}.jsonl"
    found = {}
    for text in path.read_text(errors="replace").splitlines() if path.exists() else []:
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue
        if isinstance(line, dict) and "key" in line:
            found[line["key"]] = line
    return found


def _append(journal: str, line: dict[str, Any]) -> None:
    path = JOURNALS / f"{journal}.jsonl"
    with path.open("ab+") as file:
        # What a killed run left of a line must not swallow this one.
        torn = file.tell() > 0 and path.read_bytes()[-1:] != b"\n"
        text = ("\n" if torn else "") + json.dumps(line, default=np.ndarray.tolist) + "\n"
        file.write(text.encode())


def _data_problems(wanted: Sequence[Task]) -> dict[str, str]:
    """The journals whose data are not to be had, with the reason; nothing of them is started."""
    problems: dict[str, str] = {}
    for name in sorted({name for task in wanted for name in _files(task.part)}):
        try:
            load_splits(name.removesuffix(SPLITS)) if name.endswith(SPLITS) else load(name)
        except DataMissing as error:
            problems |= {task.journal: str(error) for task in wanted if name in _files(task.part)}
    return problems


def _files(part: Part) -> list[str]:
    """The data sets of a part, and the splits of those that come with some."""
    return [name for data in part.data for name in (data, data + SPLITS) if name in known()]


@cache
def _sources(experiment: str) -> str:
    """A hash of the experiment's module, of what loads its data, and of the library."""
    library = Path(kernelpursuit.__file__).parent
    files = [HERE / "experiments" / f"{experiment.partition(':')[0]}.py", HERE / "data.py"]
    files += [*sorted(library.rglob("*.[ch]pp")), *sorted(library.rglob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


class _Meter:
    """One line that says how far the run is, rewritten every second at most."""

    def __init__(self, left: int, before: int) -> None:
        self.left, self.done, self.started, self.shown = left, 0, time.monotonic(), 0.0
        print(f"{left} repetitions to run, {before} done before", file=sys.stderr)

    def tick(self, journal: str) -> None:
        self.done += 1
        now = time.monotonic()
        # A terminal's line is written over; in a file every line stays.
        pause = 1 if sys.stderr.isatty() else 20
        if now - self.shown < pause and self.done < self.left:
            return
        self.shown = now
        gone = now - self.started
        rest = gone / self.done * (self.left - self.done)
        end = "\n" if self.done == self.left or not sys.stderr.isatty() else ""
        print(
            f"\r{self.done}/{self.left}, {gone:.0f} s gone, about {rest:.0f} s left: {journal:<30}",
            end=end, file=sys.stderr, flush=True,
        )  # fmt: skip
