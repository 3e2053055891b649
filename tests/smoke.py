"""What an installed wheel has to be able to do, with nothing but its required dependencies and no pytest.

`python tests/smoke.py` in any folder but the clone's, so that the installed package is the one that is found;
`--native` or `--numpy` says what the package has to compute with.
"""

import importlib.util
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np

import kernelpursuit
from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor, _native


def data():
    """A wave in the first of two features."""
    X = np.random.default_rng(0).uniform(0.0, 3.0, size=(150, 2))
    return X, np.sin(3.0 * X[:, 0])


def check(folder):
    """Fit, predict, save, load, export and report."""
    X, y = data()
    model = KernelPursuitRegressor(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.99, model.score(X, y)
    lower, upper = model.predict_interval(X, coverage=0.9)
    assert ((lower <= upper) & np.isfinite(upper)).all()

    classifier = KernelPursuitClassifier(gamma=1.0, max_atoms=20).fit(X, y > 0)
    assert classifier.score(X, y > 0) > 0.9
    np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1.0)

    model.save(folder / "model.kp")
    np.testing.assert_array_equal(kernelpursuit.load(folder / "model.kp").predict(X), model.predict(X))
    assert "double model_predict" in model.export(folder / "model.h").path.read_text()
    if importlib.util.find_spec("jinja2"):
        model.report(folder / "model.html", X, y)
        assert "<html" in (folder / "model.html").read_text(encoding="utf-8")


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        assert f"--{_native.BACKEND}" == wanted, f"{wanted} is wanted, and this is --{_native.BACKEND}"
    warnings.filterwarnings("ignore", "kernelpursuit runs on NumPy")
    with tempfile.TemporaryDirectory() as scratch:
        check(Path(scratch))
    used = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    print(f"kernelpursuit {kernelpursuit.__version__} ({_native.BACKEND}) works with {used}")
