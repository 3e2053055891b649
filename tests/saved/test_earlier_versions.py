"""Files of every release are read, and predict what they predicted then."""

import numpy as np
import pytest
from saved.make_files import FILES, answers

import kernelpursuit

SAVED = sorted(FILES.glob("*/*.kp"))


def test_this_format_has_files():
    assert {path.stem for path in SAVED} >= {"regressor", "classifier", "one_vs_rest"}


@pytest.mark.parametrize("path", SAVED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_predictions_stay(path):
    model = kernelpursuit.load(path)
    with np.load(path.with_suffix(".npz"), allow_pickle=False) as known:
        found = answers(model, known["rows"])
        for name in known.files:
            if name == "rows":
                continue
            if known[name].dtype.kind == "f":
                # Machines differ in the last bits of exponentials and sums.
                np.testing.assert_allclose(found[name], known[name], rtol=1e-10, atol=1e-12, err_msg=name)
            else:
                np.testing.assert_array_equal(found[name], known[name], err_msg=name)
