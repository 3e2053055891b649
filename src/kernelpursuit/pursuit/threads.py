"""Who computes: the threads of the native core, and those of the BLAS that would be in their way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits  # comes with scikit-learn


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let the BLAS compute with one thread.

    Between two products its threads wait for the next one in a busy loop, at the expense of the native core: a fit
    that takes both in turn was measured to be 2.5 times slower with two of them than with one.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        yield
