"""A fit on a Dask cluster of two workers beside the local fit with two threads: time, and the bytes that travel.

Each fit is run in a process of its own, in turns, so that a busy moment of the machine hurts both. Seconds are also
given of the processors, of all processes together, since these depend less on who else is on the machine::

    python benchmarks/massive_dask.py                         # 2,000,000 x 10: the figures of docs/dask.md
    python benchmarks/massive_dask.py --rows 200000 --rounds 1
    python benchmarks/massive_dask.py --bytes                 # what travels in a pass, of several numbers of atoms
    python benchmarks/massive_dask.py --passes                # what a pass costs, of several numbers of rows and atoms
"""

from __future__ import annotations

import argparse
import json
import pickle
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster
from distributed.comm import tcp
from million import N_FEATURES, N_TEST, NOISE, SEED, make_rows

from kernelpursuit import KernelPursuitRegressor, dictionary, kernels
from kernelpursuit import dask as on_dask
from kernelpursuit.dask import DaskSource
from kernelpursuit.pursuit.moments import ModelColumns, MomentsOf
from kernelpursuit.rows import ArraySource, block_size

N_WORKERS, ROWS_A_CHUNK = 2, 125_000
KINDS = ("local", "dask")


def rows_of_chunk(block_id: tuple[int, int], n_rows: int, column: int | None) -> np.ndarray:
    """Features, or noisy targets, of one chunk, made on the worker."""
    count = min(ROWS_A_CHUNK, n_rows - block_id[0] * ROWS_A_CHUNK)
    X, y = make_rows(count, SEED + 1000 * (1 + block_id[0]))
    if column is None:
        return X
    return y + NOISE * np.random.default_rng(SEED + 1000 * (1 + block_id[0]) + 1).normal(size=count)


def chunks_of(n_rows: int) -> tuple[da.Array, da.Array]:
    """Rows and targets, not made yet."""
    lengths = tuple(min(ROWS_A_CHUNK, n_rows - start) for start in range(0, n_rows, ROWS_A_CHUNK))
    X = da.map_blocks(
        rows_of_chunk,
        n_rows=n_rows,
        column=None,
        chunks=(lengths, (N_FEATURES,)),
        dtype=float,
        meta=np.empty((0, N_FEATURES)),
    )
    # One of the two is of all columns, so that both have block numbers of the same form.
    y = da.map_blocks(
        rows_of_chunk, n_rows=n_rows, column=0, chunks=(lengths,), dtype=float, meta=np.empty(0), name="targets"
    )
    return X, y


@contextmanager
def small_cluster() -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=N_WORKERS, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def cpu_seconds() -> float:
    """Seconds of processors that this process and its children have taken so far."""
    own = psutil.Process()
    times = [one.cpu_times() for one in (own, *own.children(recursive=True))]
    return float(sum(one.user + one.system for one in times))


def peak_megabytes() -> float:
    """The most memory that this process ever had, run on every worker."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(kind: str, n_rows: int) -> dict[str, float]:
    """Fit once, here and now."""
    X, y = chunks_of(n_rows)
    X_test, y_test = make_rows(N_TEST, SEED + 2)
    with small_cluster() as client:
        X, y = client.persist([X, y])
        if kind == "dask":
            model = on_dask.KernelPursuitRegressor(random_state=0)
        else:
            X, y = X.compute(), y.compute()
            model = KernelPursuitRegressor(random_state=0, n_jobs=N_WORKERS)
        small = min(n_rows, 6000)
        model.fit(X[:small], y[:small])  # what is loaded and started once is no part of the figures
        before = client.run(peak_megabytes)
        start, cpu = time.perf_counter(), cpu_seconds()
        model.fit(X, y)
        seconds, cpu = time.perf_counter() - start, cpu_seconds() - cpu
        more = max(peak - before[worker] for worker, peak in client.run(peak_megabytes).items())
    error = float(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)) / y_test.std())
    return {"seconds": seconds, "cpu": cpu, "error": error, "atoms": float(model.n_atoms_), "worker": more}


def compare(n_rows: int, n_rounds: int) -> None:
    """Fit in turns, and print medians over the rounds: of each side, and of the ratios of one round."""
    found: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    for number in range(n_rounds):
        for kind in KINDS:
            command = [sys.executable, __file__, "--rows", str(n_rows), "--only", kind]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found[kind].append(json.loads(done.stdout.splitlines()[-1]))
            print(f"round {number}  {words_of(kind, found[kind][-1])}", flush=True)
    for kind, rounds in found.items():
        print(words_of(kind, {key: float(np.median([one[key] for one in rounds])) for key in rounds[0]}))
    for key, words in (("seconds", "the time"), ("cpu", "that of processors")):
        ratios = [there[key] / here[key] for here, there in zip(found["local"], found["dask"])]
        each = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"Dask against local: {np.median(ratios):.2f} times {words} ({each})")


def words_of(kind: str, figures: dict[str, float]) -> str:
    """Return a line of figures."""
    return (
        f"{kind:<6} {figures['seconds']:7.1f} s  {figures['cpu']:7.1f} s of processors  "
        f"error {figures['error']:.5f}  {figures['atoms']:.0f} atoms  "
        f"{figures['worker']:.0f} MB more on a worker"
    )


@dataclass
class Traffic:
    """Bytes that this process, which has the client and the scheduler, has written and read."""

    written: int = 0
    read: int = 0


@contextmanager
def counted() -> Iterator[Traffic]:
    """Count bytes of all connections of this process; what client and scheduler say to each other counts twice."""
    traffic, write, from_frames = Traffic(), tcp.TCP.write, tcp.from_frames

    async def counting_write(self: tcp.TCP, *given: object, **named: object) -> int:
        n_bytes = await write(self, *given, **named)
        traffic.written += n_bytes
        return n_bytes

    async def counting_read(frames: list[memoryview], *given: object, **named: object) -> object:
        traffic.read += sum(memoryview(frame).nbytes for frame in frames)
        return await from_frames(frames, *given, **named)

    tcp.TCP.write, tcp.from_frames = counting_write, counting_read
    try:
        yield traffic
    finally:
        tcp.TCP.write, tcp.from_frames = write, from_frames


def pass_of(n_atoms: int) -> MomentsOf:
    """The pass that finds products of so many atoms."""
    centers, _ = make_rows(n_atoms, SEED + 3)
    atoms = dictionary.KernelAtoms(kernels.RBF(gamma=0.1), centers=centers)
    columns = ModelColumns(atoms, np.arange(n_atoms), None, True)
    return MomentsOf(columns.orthonormal(np.eye(n_atoms + 1)))


def show_bytes() -> None:
    """What travels in one pass, for several numbers of rows, chunks and atoms."""
    print("rows       chunks  atoms    bytes read and written   of k x k x 8   pickled work   pickled sum")
    with small_cluster() as client:
        for n_rows in (250_000, 500_000, 1_000_000, 2_000_000):
            X, y = client.persist(list(chunks_of(n_rows)))
            source = DaskSource(X, y)
            for n_atoms in (64, 128, 256, 512) if n_rows == 2_000_000 else (256,):
                work = pass_of(n_atoms)
                source.reduce(work, block_size(n_atoms))
                with counted() as traffic:
                    total = source.reduce(work, block_size(n_atoms))
                    time.sleep(1.0)
                both, square = traffic.written + traffic.read, 8 * (n_atoms + 1) ** 2
                print(
                    f"{n_rows:<10,} {X.numblocks[0]:<7} {n_atoms:<8} {both:<24,} {both / square:<14.1f} "
                    f"{len(pickle.dumps(work)):<14,} {len(pickle.dumps(total)):,}"
                )


def show_passes() -> None:
    """Seconds of one pass for moments, on two workers and with two threads here."""
    print("rows       atoms   Dask, s   local, s   of processors, ns for each row and atom²: Dask, local")
    with small_cluster() as client:
        for n_rows in (250_000, 500_000, 1_000_000, 2_000_000):
            X, y = client.persist(list(chunks_of(n_rows)))
            source, here = DaskSource(X, y), ArraySource(X.compute(), y.compute())
            for n_atoms in (128, 256, 512):
                work, found = pass_of(n_atoms), []
                for one, n_threads in ((source, None), (here, N_WORKERS)):
                    best = (np.inf, np.inf)
                    for _ in range(2):
                        start, cpu = time.perf_counter(), cpu_seconds()
                        one.reduce(work, block_size(n_atoms), n_threads=n_threads)
                        now = time.perf_counter() - start, cpu_seconds() - cpu
                        best = min(best[0], now[0]), min(best[1], now[1])
                    found.append(best)
                scale = 1e9 / (n_rows * n_atoms**2)
                times, costs = [one[0] for one in found], [one[1] * scale for one in found]
                print(f"{n_rows:<10,} {n_atoms:<7} {times[0]:<9.2f} {times[1]:<10.2f} {costs[0]:.3f}, {costs[1]:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bytes", action="store_true", help="count the bytes that travel in a pass")
    parser.add_argument("--passes", action="store_true", help="time passes of several sizes")
    parser.add_argument("--only", choices=KINDS, help="measure one of them in this process")
    given = parser.parse_args()
    if given.only:
        print(json.dumps(measure(given.only, given.rows)))
    elif given.bytes:
        show_bytes()
    elif given.passes:
        show_passes()
    else:
        compare(given.rows, given.rounds)


if __name__ == "__main__":
    main()
