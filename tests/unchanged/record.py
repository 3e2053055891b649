"""Record what a broad set of fits gives, and compare it after a change: a tool for refactoring, no test.

    make unchanged-record FILE=/tmp/before.npz      before the change
    make unchanged-compare FILE=/tmp/before.npz     after each step of it

or without make, from the root of the repository:

    python tests/unchanged/record.py /tmp/before.npz
    python tests/unchanged/record.py --compare /tmp/before.npz
    python tests/unchanged/record.py --compare /tmp/before.npz --only "preset*" --only "loss huber*"

It takes about a minute on one core. Every number that a user can read off a model is compared (`observe.py`), of the
fits in `cases.py`. Two arrays are equal where they differ by at most 1e-9 of the largest absolute value in them; whole
numbers, words, infinite values and NaN have to be the same, and float32 arrays may differ by two roundings. Each
difference is listed with its fit, its array and its size, and the exit code is 1 if there is any.

A recording holds for one machine and one set of installed versions, so it is kept outside the repository and made anew
from the commit to compare with. pytest does not collect this folder. Where a change means to give other results, say
which and why in the message of its commit, and record again.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
from cases import Case, all_cases
from observe import Arrays
from threadpoolctl import threadpool_limits

TOLERANCE = 1e-9
SEPARATOR = " :: "


def difference(before: np.ndarray, now: np.ndarray, tolerance: float = TOLERANCE) -> str:
    """Say how two arrays differ, in a few words; empty where they are equal to the tolerance."""
    if before.shape != now.shape:
        return f"shape {before.shape} became {now.shape}"
    if before.dtype.kind != now.dtype.kind:
        return f"type {before.dtype} became {now.dtype}"
    if before.dtype.kind != "f":
        n_other = np.count_nonzero(before != now)
        return f"{n_other} of {before.size} values differ: {_first_two(before, now)}" if n_other else ""
    finite = np.isfinite(before)
    if not np.array_equal(before[~finite], now[~finite], equal_nan=True) or not np.isfinite(now[finite]).all():
        return "NaN or infinite values are elsewhere"
    if not finite.any():
        return ""
    largest = max(np.abs(before[finite]).max(), np.abs(now[finite]).max())
    apart = np.abs(before[finite].astype(float) - now[finite]).max()
    allowed = max(tolerance, 2 * np.finfo(now.dtype).eps if now.dtype == np.float32 else 0.0)
    return "" if apart <= allowed * largest else f"{apart / largest:.1e} of the largest value {largest:.3g}"


def _first_two(before: np.ndarray, now: np.ndarray) -> str:
    place = np.flatnonzero(np.atleast_1d(before != now).ravel())[0]
    return f"{before.ravel()[place]} became {now.ravel()[place]}"


def run(case: Case) -> Arrays:
    """The arrays of a case; where it fails, the error as its only one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return case.run()
    except Exception as error:
        traceback.print_exc()
        return {"failed": np.array(f"{type(error).__name__}: {error}")}


def record(cases: Sequence[Case], file: Path, show_times: bool) -> int:
    """Write the arrays of all cases into a file; return the number of cases that failed."""
    arrays, failed = {}, 0
    for case in cases:
        start = time.perf_counter()
        found = run(case)
        failed += "failed" in found
        arrays |= {case.name + SEPARATOR + name: value for name, value in found.items()}
        if show_times:
            print(f"{time.perf_counter() - start:7.2f} s  {case.name}", flush=True)
    np.savez_compressed(file, **arrays)
    print(f"{len(arrays)} arrays of {len(cases)} fits in {file}" + (f"; {failed} fits failed" if failed else ""))
    return failed


def compare(cases: Sequence[Case], file: Path, tolerance: float) -> int:
    """List what is not as it was recorded; return the number of differences."""
    recorded: dict[str, Arrays] = {}
    with np.load(file) as stored:
        for key in stored.files:
            case_name, name = key.split(SEPARATOR)
            recorded.setdefault(case_name, {})[name] = stored[key]
    n_different = n_arrays = 0
    for case in cases:
        before = recorded.pop(case.name, None)
        if before is None:
            print(f"{case.name}: not recorded")
            n_different += 1
            continue
        now = run(case)
        for name in (*before, *(name for name in now if name not in before)):
            n_arrays += 1
            if name not in now:
                said = "is missing"
            elif name not in before:
                said = "is new"
            else:
                said = difference(before[name], now[name], tolerance)
            if said:
                print(f"{case.name}: {name}: {said}", flush=True)
                n_different += 1
    print(f"{n_different} differences in {n_arrays} arrays of {len(cases)} fits")
    return n_different


def main(arguments: Sequence[str] | None = None) -> int:
    """Record or compare; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the recording, an .npz file")
    parser.add_argument("--compare", action="store_true", help="compare with the file instead of writing it")
    parser.add_argument("--only", action="append", metavar="PATTERN", help="fits whose name matches, as 'preset*'")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, help="relative to the largest value of an array")
    parser.add_argument("--times", action="store_true", help="show how long each fit takes")
    options = parser.parse_args(arguments)
    cases = [case for case in all_cases() if not options.only or any(fnmatch(case.name, p) for p in options.only)]
    # Sums of several threads depend on their number.
    with threadpool_limits(limits=1):
        if options.compare:
            return int(compare(cases, options.file, options.tolerance) > 0)
        return int(record(cases, options.file, options.times) > 0)


if __name__ == "__main__":
    sys.exit(main())
