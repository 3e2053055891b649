"""How much memory a pass over a file takes."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PASS = """
import sys
import pyarrow.dataset as ds
from kernelpursuit.rows import open_rows

def own():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon")) / 1024

path, small, kind = sys.argv[1:]
opened = {"path": str, "dataset": ds.dataset}[kind]
for block in open_rows(opened(small), "x0").blocks(2**13):
    pass
before = most = own()
n = 0
for block in open_rows(opened(path), "x0").blocks(2**13):
    most, n = max(most, own()), n + len(block)
assert n == 2**21
print(most - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_pass_takes_little_memory(tmp_path, rng):
    """Of a Parquet file of 128 MB in one row group, a few tens of megabytes are in memory at a time."""
    n, n_columns = 2**21, 8
    for name, rows in {"large": n, "small": 2**14}.items():
        columns = {f"x{j}": rng.normal(size=rows) for j in range(n_columns)}
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet", row_group_size=n)
    assert (tmp_path / "large.parquet").stat().st_size > 100 * 2**20
    for kind in ("path", "dataset"):
        files = [str(tmp_path / f"{name}.parquet") for name in ("large", "small")]
        done = subprocess.run([sys.executable, "-c", PASS, *files, kind], capture_output=True, text=True, check=True)
        assert float(done.stdout) < 48, kind
