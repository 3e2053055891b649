"""Best-of-several times, peak memory of a child process, and a table: what every benchmark here shares."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable


def best_of(call: Callable[[], object], repeats: int = 5) -> float:
    """Least seconds of several calls: the machine is noisy, and noise only ever adds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def peak_bytes_of(code: str) -> int:
    """Peak resident memory of a fresh Python process that runs `code`."""
    report = "\nimport resource\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1]) * 1024


def own_peak_bytes() -> int:
    """Peak resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def row(what: str, measured: str, target: str, reached: bool) -> None:
    """Print one line of the table."""
    print(f"{what:<66} {measured:<42} {target:<22} {'reached' if reached else 'MISSED'}", flush=True)
