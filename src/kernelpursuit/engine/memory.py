"""How much memory a fit may take."""

from __future__ import annotations

import os
from pathlib import Path

from kernelpursuit._validate import check_number

FALLBACK_BYTES = 4 * 2**30


def free_memory() -> int:
    """Bytes that this process could still take: what the system has free, less where a container says so."""
    limits = [_system_available()]
    cgroup = Path("/sys/fs/cgroup")
    maximum, current = _read_number(cgroup / "memory.max"), _read_number(cgroup / "memory.current")
    if maximum is not None and current is not None:
        limits.append(maximum - current)
    return max(0, min(limits))


def resolve_budget(memory_budget: float | None) -> int:
    """Return the budget in bytes; a quarter of free memory where none is given."""
    if memory_budget is None:
        return free_memory() // 4
    return int(check_number("memory_budget", memory_budget, low=0))


def _system_available() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # not Linux: ask the next source
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return FALLBACK_BYTES


def _read_number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
