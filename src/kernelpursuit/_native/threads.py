"""Threads: how many the native core has, one for the BLAS while both take turns (oversubscription), work in parts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController  # comes with scikit-learn

from kernelpursuit._native import backend

Found = TypeVar("Found")

_lock = threading.Lock()
_n_inside = 0
_limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let the BLAS compute with one thread, until the last who asked for it has left.

    Between two products its threads wait for the next one in a busy loop, at the expense of the native core: a fit
    that takes both in turn was measured to be 2.5 times slower with two of them than with one. The number of threads
    belongs to the whole process, so that of several fits at once the first sets it and the last restores it. What
    others set meanwhile is lost. Built with OpenMP, a BLAS has a number for each thread that calls it.
    """
    global _n_inside, _limit
    shared, own = _libraries()
    with own.limit(limits=1):
        with _lock:
            if _n_inside == 0:
                _limit = shared.limit(limits=1)
                _let_go(shared)
            _n_inside += 1
        try:
            yield
        finally:
            with _lock:
                _n_inside -= 1
                if _n_inside == 0:
                    _limit.restore_original_limits()
                    _let_go(shared)


def limit_this_thread() -> None:
    """Make a thread that was started inside of `one_blas_thread`, and ends there, like the one that started it."""
    _libraries()[1].limit(limits=1)


@cache
def _libraries() -> tuple[ThreadpoolController, ThreadpoolController]:
    """BLAS libraries whose number of threads is the process's, and those for which each thread has its own.

    Looking for them takes some milliseconds.
    """
    blas = ThreadpoolController().select(user_api="blas")
    own = blas.select(threading_layer="openmp")
    paths = {library.filepath for library in own.lib_controllers}
    return blas.select(
        filepath=[path for library in blas.lib_controllers if (path := library.filepath) not in paths]
    ), own


def _let_go(controller: ThreadpoolController) -> None:
    """Let any thread set the number next: from threadpoolctl 3.8 on only the one that did so last might, else."""
    for library in controller.lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread()


def resolve_threads(n_jobs: int | None) -> int:
    """Number of threads for `n_jobs`: None and -1 mean all there are, -2 all but one, and so on."""
    available = backend.max_threads()
    if n_jobs is None:
        return available
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} is not usable; give a number of threads, or -1 for all.")
    return int(n_jobs) if n_jobs > 0 else max(1, available + 1 + int(n_jobs))


def in_parts(n_columns: int, n_parts: int, n_threads: int | None, work: Callable[[slice], Found]) -> list[Found]:
    """What `work` returns for about equal parts of the columns, in order; `n_threads` as for the native core."""
    ends = np.linspace(0, n_columns, n_parts + 1).astype(int)
    parts = [slice(int(start), int(end)) for start, end in pairwise(ends)]
    n_threads, warnings = min(backend.resolve_threads(n_threads), n_parts), np.geterr()
    found: dict[int, Found] = {}
    raised: list[BaseException] = []

    def every_nth(first: int) -> None:
        try:
            with np.errstate(**warnings):
                for number in range(first, n_parts, n_threads):
                    found[number] = work(parts[number])
        except BaseException as error:  # raised below, in the thread of the caller
            raised.append(error)

    def in_a_thread(first: int) -> None:
        limit_this_thread()
        every_nth(first)

    # A pool would refuse work once the main thread has ended.
    others = [threading.Thread(target=in_a_thread, args=(first,)) for first in range(1, n_threads)]
    for thread in others:
        thread.start()
    every_nth(0)
    for thread in others:
        thread.join()
    if raised:
        raise raised[0]
    return [found[number] for number in range(n_parts)]
