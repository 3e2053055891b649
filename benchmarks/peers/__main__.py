"""The command line: `python -m peers`, with the root of the repository and `benchmarks` in `PYTHONPATH`.

Libraries take the number of their threads from the environment, so `OMP_NUM_THREADS` and `OPENBLAS_NUM_THREADS` must
be 1: what is forked from a process with threads has none of them.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from defaults import some_of
from sets import BUNDLED, SETS, n_rows_of

from reproduce.data import DataMissing

from .methods import METHODS, VARIANTS
from .run import N_SPLITS, Plan, run
from .stored import JOURNAL, STORED

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def there(sets: list[str]) -> list[str]:
    """Return the sets whose data are there, and say which are not."""
    found = []
    for name in sets:
        try:
            n_rows_of(name)
            found.append(name)
        except DataMissing as missing:
            print(missing, file=sys.stderr)
    return found


def main(arguments: list[str]) -> int:
    """Run what is asked for, or write the page."""
    parser = argparse.ArgumentParser(prog="peers", description="Ours beside its peers; lists have commas.")
    parser.add_argument("--sets", type=some_of(SETS), default=list(SETS), help=f"at hand: {', '.join(BUNDLED)}")
    parser.add_argument("--methods", type=some_of(list(METHODS)), default=list(METHODS))
    parser.add_argument("--variants", type=some_of(list(VARIANTS)), default=list(VARIANTS))
    parser.add_argument("--splits", type=int, default=N_SPLITS, help="at most so many splits of each set")
    parser.add_argument("--again", type=some_of(list(METHODS)), default=[], help="fit these anew")
    parser.add_argument("--journal", type=Path, default=JOURNAL, help="where every fit is a line of JSON")
    parser.add_argument("--stored", type=Path, default=STORED, help="what is done; the journal overrides it")
    parser.add_argument("--write", action="store_true", help="write the stored results and the page, and fit nothing")
    options = parser.parse_args(arguments)
    if any(os.environ.get(name) != "1" for name in THREADS):
        sys.exit(f"Set {' and '.join(THREADS)} to 1: every fit is to have one thread.")
    if options.write:
        from .page import write

        write(options.journal, options.stored)
        return 0
    sets = there(options.sets)
    run(Plan(sets, options.methods, options.variants, options.splits, options.again, options.journal, options.stored))
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the fit at work ends as well
    sys.exit(main(sys.argv[1:]))
