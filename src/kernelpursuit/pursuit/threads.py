"""Who computes: the threads of the native core, and those of the BLAS that would be in their way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController  # comes with scikit-learn

_lock = threading.Lock()
_n_inside = 0
_controller: Any = None  # knows the libraries; looking for them takes some milliseconds
_limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let the BLAS compute with one thread, until the last who asked for it has left.

    Between two products its threads wait for the next one in a busy loop, at the expense of the native core: a fit
    that takes both in turn was measured to be 2.5 times slower with two of them than with one. The number of threads
    belongs to the whole process, so that of several fits at once the first sets it and the last restores it.
    """
    global _n_inside, _controller, _limit
    with _lock:
        if _n_inside == 0:
            _controller = _controller or ThreadpoolController().select(user_api="blas")
            _limit = _controller.limit(limits=1)
            _let_go()
        _n_inside += 1
    try:
        yield
    finally:
        with _lock:
            _n_inside -= 1
            if _n_inside == 0:
                _limit.restore_original_limits()
                _let_go()


def _let_go() -> None:
    """Let any thread set the number next: from threadpoolctl 3.8 on only the one that did so last might, else."""
    for library in _controller.lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread()
