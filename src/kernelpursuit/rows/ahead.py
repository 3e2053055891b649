"""Blocks that a thread reads while the caller computes."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import TypeVar

Item = TypeVar("Item")

# Blocks that wait to be taken, beside the one that is read.
N_WAITING = 2
# Seconds after which the thread looks whether it is still needed.
PATIENCE = 0.1


def read_ahead(items: Iterator[Item], n_waiting: int = N_WAITING) -> Iterator[Item]:
    """Yield items in their order, a few of which a thread makes ahead.

    An error of the thread is raised where its item would have been. When the caller stops early, so does the thread,
    which closes what it reads.
    """
    waiting: queue.Queue[tuple[Item | None, BaseException | None]] = queue.Queue(n_waiting)
    stopped = threading.Event()

    def hand_over(item: Item | None, error: BaseException | None = None) -> bool:
        while not stopped.is_set():
            try:
                waiting.put((item, error), timeout=PATIENCE)
                return True
            except queue.Full:
                continue
        return False

    def read() -> None:
        try:
            for item in items:
                if not hand_over(item):
                    break
            else:
                hand_over(None, StopIteration())
        except BaseException as error:  # whatever it is, it is the caller's
            hand_over(None, error)
        finally:
            if hasattr(items, "close"):
                items.close()

    thread = threading.Thread(target=read, name="kernelpursuit-read-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item, error = waiting.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item  # type: ignore[misc]
    finally:
        stopped.set()
        thread.join()
