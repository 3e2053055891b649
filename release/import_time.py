"""How long `import kernelpursuit` takes beside `import sklearn.base, scipy.linalg`, in fresh processes, in turn."""

import statistics
import subprocess
import sys
import time

BASE = "import sklearn.base, scipy.linalg"
STATEMENTS = (BASE, "import kernelpursuit", "from kernelpursuit import KernelPursuitRegressor")
SUMMARIES = (min, statistics.median)
REPEATS = int(sys.argv[1]) if len(sys.argv) > 1 else 11
# The second column is of processors, and hardly feels what else the machine does.
CLOCK = "import time; a, b = time.perf_counter(), time.process_time(); "
SHOW = "; print(time.perf_counter() - a, time.process_time() - b)"


def once(statement: str) -> list[float]:
    """Seconds on the clock, and of processors."""
    command = [sys.executable, "-c", CLOCK + statement + SHOW]
    return [float(word) for word in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()]


def main() -> None:
    """Print a table; the first round fills the caches and does not count."""
    rounds = [[once(statement) for statement in STATEMENTS] for _ in range(REPEATS + 1)][1:]
    print(time.strftime("%Y-%m-%d"), f"{REPEATS} processes each, milliseconds; ratios to the first line")
    print(f"{'':52}{'clock: best':>14}{'median':>14}{'cpu: best':>14}{'median':>14}")
    columns = [[[taken[s][c] for taken in rounds] for c in (0, 1)] for s in range(len(STATEMENTS))]
    base = [summary(one) for one in columns[0] for summary in SUMMARIES]
    for statement, both in zip(STATEMENTS, columns):
        values = [summary(one) for one in both for summary in SUMMARIES]
        cells = "".join(f"{1e3 * value:8.1f} {value / unit:4.2f}x" for value, unit in zip(values, base))
        print(f"{statement:52}{cells}")


if __name__ == "__main__":
    main()
