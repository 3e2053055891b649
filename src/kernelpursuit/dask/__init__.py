"""Fits of rows that lie on the workers of a Dask cluster: the same estimators, and the rows stay where they are.

estimators  `KernelPursuitRegressor` and `KernelPursuitClassifier` of Dask arrays and frames
partitions  arrays and frames as partitions of rows, with the targets and weights that go with each
source      partitions as a source of rows, which adds up on the workers
work        what runs on a worker
lazy        predictions that are made when they are asked for
connection  the client, and what is said where a worker fails
"""

try:
    import dask.array
    import dask.dataframe  # noqa: F401
    import distributed  # noqa: F401
except ImportError:
    raise ImportError("kernelpursuit.dask needs Dask: pip install 'kernelpursuit[dask]'") from None

from kernelpursuit.dask.estimators import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.dask.source import DaskSource

__all__ = ["DaskSource", "KernelPursuitClassifier", "KernelPursuitRegressor"]
