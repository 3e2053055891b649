"""Ctrl-C in a fit: the first ends it with what it has, the second at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def on_interrupt(told: Callable[[], None]) -> Iterator[None]:
    """Call a function at the first Ctrl-C, and let the next one through.

    Only where Python itself would raise `KeyboardInterrupt`: in the main thread, with nobody else's handler.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def first(number: int, frame: FrameType | None) -> Any:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        told()

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
