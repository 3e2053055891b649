"""The order in which the gallery shows its pages."""

from __future__ import annotations

from pathlib import Path

ORDER = {
    "everyday": "table time_series map counts quantiles anomalies active_learning surrogate",
    "rarities": "margins three_pursuits far_cluster several_widths kernel_per_class indefinite_kernels semi_parametric "
    "functions_beside_kernels random_subset strings graphs counts_and_quantiles intervals",
}


class ReadingOrder:
    """Sort the scripts of a folder as `ORDER` has them, and others after them."""

    def __init__(self, folder: str) -> None:
        self.names = ORDER.get(Path(folder).name, "").split()

    def __call__(self, file: str) -> tuple[int, str]:
        """Return the key of a script, by its file name."""
        name = Path(file).stem.removeprefix("plot_")
        return (self.names.index(name) if name in self.names else len(self.names)), name
