"""One fit in a process of its own, under limits of time and memory.

The process is forked from one that has the data and the libraries loaded, and every method fitted once to a few made
rows, so that neither is in the figures. Time is processor time of one thread, limited by the operating system. Memory
is the peak of the fit beyond what the process began with. What is known is sent in parts: the fit, then predictions,
so that a fit whose predictions end badly keeps its figures.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import resource
import signal
import sys
import time
import warnings
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from sets import Split
from timing import Clock, microseconds_a_row

from .fitted import Fitted
from .methods import METHODS, TUNED
from .results import NOT_INSTALLED

PREDICT_SECONDS = 60
TIMED_ROWS = 1000  # most test rows whose prediction is timed
MEGABYTE = 2**20


@dataclass(frozen=True)
class Limits:
    """Seconds of processor time and of the wall, and megabytes, that a fit may take."""

    seconds: float
    wall: float
    megabytes: int


def memory_of(key: str) -> float:
    """Return a figure of this process's memory in MB: VmRSS now, VmHWM at its peak since it was forgotten."""
    status = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith(key)).split()[1]) / 1024


def forget_peak() -> None:
    """Let the peak of memory begin anew."""
    Path("/proc/self/clear_refs").write_text("5")


def give_back_freed_memory() -> None:
    """Return freed memory to the system, where the C library can: a fit that took it again would not raise the peak."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)


def allow_seconds(seconds: float) -> None:
    """Have this process end after so many further seconds of processor time."""
    limit = int(np.ceil(time.process_time() + seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def allow_memory(megabytes: int) -> None:
    """Have allocations fail beyond so much."""
    resource.setrlimit(resource.RLIMIT_DATA, (megabytes * MEGABYTE, resource.RLIM_INFINITY))


def small_split(is_classes: bool) -> Split:
    """Return a few made rows."""
    rows = np.random.default_rng(0).normal(size=(60, 3))
    y = (rows[:, 0] > 0).astype(float) if is_classes else rows[:, 0]
    return Split(rows, y, rows, y, is_classes, 0)


def fit_small(method: str, is_classes: bool) -> None:
    """Fit a method to a few rows."""
    small = small_split(is_classes)
    METHODS[method].load()(small, False).predict(small.test)


@cache
def warm_up(method: str, is_classes: bool) -> None:
    """Fit a method to a few rows, so that a library has loaded whatever it loads when it is first used."""
    fit_small(method, is_classes)


def measured_fit(method: str, variant: str, split: Split) -> tuple[Fitted, dict[str, Any]]:
    """Fit, and return the model with time, memory and size."""
    fit = METHODS[method].load()
    give_back_freed_memory()
    forget_peak()
    before = memory_of("VmRSS")
    with Clock() as clock:
        fitted = fit(split, variant == TUNED)
    found = {"fit_cpu": clock.cpu, "fit_wall": clock.wall, "peak_mb": max(0.0, memory_of("VmHWM") - before)}
    return fitted, {**found, "size": fitted.size, "numbers": fitted.numbers, "chosen": in_words(fitted.chosen)}


def in_words(chosen: dict[str, Any]) -> str:
    """Return the parameters that a search has chosen."""
    values = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in chosen.items()}
    return " ".join(f"{name.split('__')[-1]}={value}" for name, value in values.items())


def path_of(fitted: Fitted, split: Split) -> str:
    """Return atoms:numbers:error of the models of one fit, up to the one that it kept."""
    from .ours import STEPS, float32_bytes

    assert fitted.at is not None
    found = []
    for k in (*(step for step in STEPS if step < fitted.size), fitted.size):
        model = fitted.at(k)
        found.append(f"{k}:{float32_bytes(model) // 4}:{split.error(model.predict(split.test))[0]:.5g}")
    return " ".join(found)


def measured_predictions(fitted: Fitted, split: Split) -> tuple[dict[str, Any], np.ndarray]:
    """Return error and time of predictions, and what each test row adds to the error."""
    error, of_rows = split.error(fitted.predict(split.test))
    if not np.isfinite(error):
        raise ValueError("predictions are not finite")
    rows = split.test[:TIMED_ROWS]
    found = {"error": error, "predict_us": microseconds_a_row(lambda: fitted.predict(rows), len(rows))}
    if fitted.at is not None:
        found["path"] = path_of(fitted, split)
    return found, of_rows


def status_of(failed: Exception) -> str:
    """Say in a few words why a fit has failed."""
    text = " ".join(str(failed).split())[:120]
    if isinstance(failed, MemoryError) or any(word in text for word in ("allocate", "bad_alloc", "bad allocation")):
        return "out of memory"
    return f"failed: {type(failed).__name__}: {text}"


def work(key: tuple[str, str], split: Split, limits: Limits, sent: Connection) -> None:
    """Do a job in the child, and send what came of it."""
    warnings.simplefilter("ignore")
    method, variant = key
    try:
        fit_small(method, split.is_classes)  # maps the pages of libraries, which a fork does not, into this process
        allow_memory(limits.megabytes)
        allow_seconds(limits.seconds)
        fitted, found = measured_fit(method, variant, split)
        sent.send(found)
        allow_seconds(PREDICT_SECONDS)
        found, of_rows = measured_predictions(fitted, split)
        sent.send({**found, "of_rows": of_rows.astype(np.float32), "status": "ok"})
    except Exception as failed:  # whatever a peer raises is a line of the table
        sent.send({"status": status_of(failed)})


def ended(code: int | None, has_fitted: bool) -> str:
    """Say how a process ended that did not say so itself; None is one that the clock on the wall has ended."""
    if code is None or code == -signal.SIGXCPU:
        return f"{'predictions' if has_fitted else 'fit'} out of time"
    return "out of memory" if code == -signal.SIGKILL else f"failed: the process ended with {code}"


def received(process: Any, receive: Connection, wall: float) -> dict[str, Any]:
    """Return what a process has sent, with the status of one that has ended, or had to be ended, without a word."""
    found: dict[str, Any] = {}
    end = time.monotonic() + wall
    code = None
    try:
        while "status" not in found and receive.poll(max(0.0, end - time.monotonic())):
            found |= receive.recv()
    except EOFError:
        process.join()
        code = process.exitcode
    finally:  # also where this process is to end
        if "status" not in found:
            process.kill()
        process.join()
    return {"status": ended(code, "fit_cpu" in found), **found}


def fit_once(key: tuple[str, str], split: Split, limits: Limits) -> dict[str, Any]:
    """Fit a method in a variant to a split in a process of its own, and return what came of it."""
    method, _ = key
    try:
        METHODS[method].load()
        if METHODS[method].may_be_forked:
            warm_up(method, split.is_classes)
    except ImportError as missing:
        return {"status": f"{NOT_INSTALLED}: {missing}"}
    except Exception as failed:
        return {"status": status_of(failed)}
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(key, split, limits, send))
    sys.stdout.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that a fork leaves behind: none is at work
        process.start()
    send.close()
    return received(process, receive, limits.wall)
