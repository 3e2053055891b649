"""Every test of this folder draws without a window, and leaves no figure behind."""

import pytest


@pytest.fixture(autouse=True)
def _no_window():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    yield
    plt.close("all")
