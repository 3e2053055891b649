"""Clocks, best of several times, peak memory of a child process, a line of a table: what the benchmarks share."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, Self


def cpu_seconds() -> float:
    """Processor seconds of this process and of its children that have ended; the latter are counted in hundredths."""
    return time.process_time() + sum(os.times()[2:4])


class Clock:
    """Wall seconds and processor seconds, of children as well, of a `with` block."""

    def __enter__(self) -> Self:
        self._wall, self._cpu = time.perf_counter(), cpu_seconds()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall = time.perf_counter() - self._wall
        self.cpu = cpu_seconds() - self._cpu


def best_times(
    *functions: Callable[[], object],
    rounds: int = 5,
    repeats: int = 3,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Return the best time of each function, in seconds, over rounds that take them in turn.

    The machine is noisy, and noise only ever adds; in turns, a busy moment hurts all of them. `time.process_time` for a
    clock leaves out what other processes had.
    """
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for k, function in enumerate(functions):
            for _ in range(repeats):
                start = clock()
                function()
                best[k] = min(best[k], clock() - start)
    return best


def microseconds_a_row(predict: Callable[[], Any], n_rows: int) -> float:
    """Best time of a prediction of all test rows, a row: of three where it is slow, else of thirty."""
    (first,) = best_times(predict, rounds=1, repeats=1)
    rounds = 1 if first > 0.2 else 10
    return 1e6 * min(first, *best_times(predict, rounds=rounds, repeats=3)) / n_rows


def peak_bytes_of(code: str) -> int:
    """Peak resident memory of a fresh Python process that runs `code` (Linux).

    Read from the process's own memory map: getrusage() would report the parent's peak where that was higher.
    """
    report = "\nprint(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    done = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1]) * 1024


def row(what: str, measured: str, target: str, reached: bool) -> None:
    """Print one line of the table."""
    print(f"{what:<66} {measured:<42} {target:<22} {'reached' if reached else 'MISSED'}", flush=True)
