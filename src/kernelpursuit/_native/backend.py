"""Which implementation runs, on which instruction set and how many threads; decided once, at import."""

from __future__ import annotations

import importlib
import numbers
import os
import warnings
from types import ModuleType

from kernelpursuit._native import numpy_twin


def _load_core() -> ModuleType | None:
    """Import the native core, whose OpenMP reads its settings at that moment.

    Its threads should sleep between operations: spinning, they take the cores from whoever works next (BLAS, other
    processes), which costs far more than waking them. Whoever has set a policy keeps it.
    """
    policy_is_ours = "OMP_WAIT_POLICY" not in os.environ
    if policy_is_ours:
        os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        return importlib.import_module("kernelpursuit._native._core")
    except ImportError:
        return None
    finally:
        if policy_is_ours:
            del os.environ["OMP_WAIT_POLICY"]


def _choose() -> tuple[ModuleType, str]:
    asked = os.environ.get("KERNELPURSUIT_BACKEND") or None
    if asked not in (None, "native", "numpy"):
        raise ValueError(f"KERNELPURSUIT_BACKEND={asked!r} is not known; set it to 'native' or 'numpy'.")
    core = None if asked == "numpy" else _load_core()
    if core is None:
        if asked == "native":
            raise ValueError(
                "KERNELPURSUIT_BACKEND='native' was asked for, but the native core was not built; "
                "reinstall where a C++ compiler is available."
            )
        return numpy_twin, "numpy"
    isas = core.isas()
    isa = os.environ.get("KERNELPURSUIT_ISA") or isas[0]
    if isa not in isas:
        raise ValueError(f"KERNELPURSUIT_ISA={isa!r} is not available here; use one of {', '.join(isas)}.")
    core.use_isa(isa)
    return core, isa


implementation, ISA = _choose()
BACKEND = "numpy" if implementation is numpy_twin else "native"

_slow_by_accident = BACKEND == "numpy" and os.environ.get("KERNELPURSUIT_BACKEND") != "numpy"
_warned = False

# More would only take memory: each thread has scratch of its own.
MOST_THREADS = 1024

_forked = False


def _after_fork() -> None:
    global _forked
    _forked = True


# The threads of an OpenMP run-time do not survive a fork, and waiting for them would never end.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def max_threads() -> int:
    """Return how many threads an operation uses when it is not told; ``OMP_NUM_THREADS`` is obeyed."""
    return implementation.max_threads()


def resolve_threads(n_threads: int | None) -> int:
    """Return the number of threads to use, 1 in a forked process."""
    if n_threads is None:
        n_threads = max_threads()
    elif not isinstance(n_threads, numbers.Integral) or n_threads < 1:
        raise ValueError(f"n_threads={n_threads!r} is not usable; give a whole number of at least 1, or None.")
    return 1 if _forked else min(int(n_threads), MOST_THREADS)


def warn_once_if_slow() -> None:
    """Warn, once in a process, that the NumPy twin runs only because the native core was not built."""
    global _warned
    if _slow_by_accident and not _warned:
        _warned = True
        warnings.warn(
            "kernelpursuit runs on NumPy because its native core was not built; it works, several times "
            "slower: reinstall where a C++ compiler is available.",
            UserWarning,
            stacklevel=2,
        )
