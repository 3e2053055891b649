"""The client of a cluster: which one it is, and what is said where a worker fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from distributed import CancelledError, Client, KilledWorker, default_client

# Seconds that a fit waits for the first worker; a cluster that scales by itself may start with none.
WAIT_FOR_A_WORKER = 300.0


def connected(client: Client | None) -> Client:
    """The client that was given, or the current one, once it has a worker."""
    if client is None:
        try:
            client = default_client()
        except ValueError:
            raise ValueError(
                "there is no Dask client; make one first, with distributed.Client(), or give one as client=."
            ) from None
    if not isinstance(client, Client):
        raise ValueError(f"client={client!r} is not usable; give a distributed.Client, or None for the current one.")
    if client.asynchronous:
        raise ValueError("client is asynchronous; give one that was made without asynchronous=True.")
    if client.status != "running":
        raise ValueError(f"client is {client.status}; give one that is connected to a cluster.")
    try:
        client.wait_for_workers(1, timeout=WAIT_FOR_A_WORKER)
    except TimeoutError:
        raise ValueError(
            f"the cluster has had no worker for {WAIT_FOR_A_WORKER:.0f} s; add one, with cluster.scale(1) for example."
        ) from None
    return client


@contextmanager
def workers_may_fail() -> Iterator[None]:
    """Say in a sentence which worker failed for good; Dask itself has tried again where that could help."""
    try:
        yield
    except KilledWorker as error:
        worker = getattr(error.last_worker, "address", error.last_worker)
        raise RuntimeError(
            f"worker {worker} died over the same rows as {error.allowed_failures} others before it, most likely for "
            "want of memory; give workers more of it, or X in smaller chunks."
        ) from error
    except CancelledError as error:
        raise RuntimeError(
            "rows were lost with the worker that had them, and Dask cannot make them again; give X and y that are "
            "read or computed on the workers, and not scattered."
        ) from error
