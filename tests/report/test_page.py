"""The page as a file: whole, small, by itself, and harmless whatever names are in it; what it refuses."""

import re
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from report.reported import IRIS, LABELS, MODELS, NAMES, TWO, X, Y, content_in, fitted
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kernelpursuit
from kernelpursuit import KernelPursuitClassifier, KernelPursuitRegressor
from kernelpursuit.report import rows
from kernelpursuit.report.facts import MOST_NAME

ENDINGS = {"with rows": True, "alone": False}


def page_of(path, name, with_rows=True, **options):
    """The text of a page."""
    estimator, X, y = fitted(name)
    estimator.report(path / "r.html", *((X, y) if with_rows else ()), **options)
    return (path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("with_rows", ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_page_of_its_own(name, with_rows, tmp_path):
    page = page_of(tmp_path, name, with_rows)
    assert len(page) < 1e6
    # Nothing is loaded from elsewhere; the only address is the name of the SVG elements.
    assert set(re.findall(r"\w+://[^\s\"'<)]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|img|iframe|object|embed|script)\b[^>]*\b(src|href)=(?!\"data:)", page)
    assert content_in(page)["states"]["n_path"] >= 1
    assert page.count("</script>") == 2
    assert (content_in(page).get("rows") is not None) == with_rows
    assert ("On the rows given" in page) == with_rows


def test_names_and_labels_are_text(tmp_path):
    page = page_of(tmp_path, "hostile", title="<script>alert(1)</script> & {{ 1 / 0 }}")
    assert page.count("<script") == 2
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; {{ 1 / 0 }}" in page
    named = {curve["name"] for curve in content_in(page)["curves"]["features"]}
    assert named <= {" ".join(name.split())[: MOST_NAME - 1] + "…" if len(name) > MOST_NAME else name for name in NAMES}
    labels = page_of(tmp_path, "hostile labels")
    assert labels.count("<script") == 2
    assert content_in(labels)["classes"] == sorted(set(LABELS))


def test_a_lone_surrogate_is_replaced(tmp_path):
    frame_names = np.array(["a\ud800", "b", "c", "d", "e"], dtype=object)
    model = KernelPursuitRegressor(gamma=0.5, max_atoms=3).fit(X, Y)
    model.feature_names_in_ = frame_names
    model.report(tmp_path / "r.html", title="\udfff")
    assert content_in((tmp_path / "r.html").read_text(encoding="utf-8"))["curves"]


def test_a_loaded_model_has_the_same_page(tmp_path):
    estimator, rows, y = fitted("learned")
    estimator.save(tmp_path / "m.kp")
    loaded = kernelpursuit.load(tmp_path / "m.kp")
    for given in ((), (rows, y)):
        estimator.report(tmp_path / "a.html", *given)
        loaded.report(tmp_path / "b.html", *given)
        assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_many_rows_are_sampled_and_said_to_be(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "MEASURED_ROWS", 90)
    page = page_of(tmp_path, "regressor")
    assert "Errors are on 90 of the 110 rows given" in page
    found = content_in(page)["rows"]
    assert (found["n_given"], found["n_measured"], len(found["numbers"])) == (110, 90, 90)
    truth = np.array(found["targets"][0]["true"])
    np.testing.assert_allclose(truth, Y[found["numbers"]], rtol=1e-8)


def test_long_paths_and_many_targets_stay_small(tmp_path):
    rng = np.random.default_rng(0)
    wide, many = rng.normal(size=(300, 12)), rng.normal(size=(300, 9))
    model = KernelPursuitRegressor(gamma=0.1, max_atoms=250, stop="max").fit(wide, many)
    model.report(tmp_path / "r.html", wide, many)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert len(page) < 1e6
    found = content_in(page)
    assert len(found["outputs"]) == 8
    assert found["states"]["n_slider"] < found["states"]["n_path"] == 251
    assert "of 251 sizes the page has" in page
    assert "the first 8 of 9 targets" in page


def test_sparse_rows(tmp_path):
    rows = sp.csr_array(np.where(X > 0.5, X, 0.0))
    model = KernelPursuitRegressor(gamma=0.5, max_atoms=6).fit(rows, Y)
    for given in ((), (rows, Y)):
        model.report(tmp_path / "r.html", *given)
        assert len(content_in((tmp_path / "r.html").read_text(encoding="utf-8"))["curves"]["features"]) == 5


def test_warnings(tmp_path):
    assert "predicts a constant" in page_of(tmp_path, "constant")
    assert "a larger max_atoms may lower the error" in page_of(tmp_path, "regressor")
    estimator, rows, y = fitted("learned")
    estimator.report(tmp_path / "r.html", rows + 2.0, y + 10.0)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "rows lie far outside the training rows" in page
    estimator.report(tmp_path / "r.html", rows, y + 10 * np.random.default_rng(0).normal(size=len(y)))
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "times the leave-one-out error" in page
    assert "Intervals of 90 % hold" in page
    classes, rows, labels = fitted("classes")
    classes.report(tmp_path / "r.html", rows[labels == 1], 2 * labels[labels == 1])
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "are put in a wrong class" in page
    assert "2 classes of the model are not among the rows given" in page


def test_what_is_refused(tmp_path, monkeypatch):
    model, goal = fitted("regressor")[0], tmp_path / "r.html"
    refused = {
        "y is missing; give it beside X": lambda: model.report(goal, X),
        "X is missing; give it beside y": lambda: model.report(goal, y=Y),
        "y has shape": lambda: model.report(goal, X, Y[:5]),
        "y has 2 targets, but the model was fitted with 1": lambda: model.report(goal, X, TWO),
        "X has 3 features": lambda: model.report(goal, X[:, :3], Y),
        "a source of rows": lambda: model.report(goal, "rows.parquet", "y"),
        "title=7": lambda: model.report(goal, title=7),
        "y holds the label 7": lambda: fitted("classes")[0].report(goal, IRIS[0], IRIS[1] + 7),
    }
    for words, call in refused.items():
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(NotFittedError):
        clone(model).report(goal)
    with pytest.raises(ValueError, match="path=3"):
        model.report(3)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match="kernelpursuit\\[report\\]"):
        model.report(goal)
    assert not goal.exists()


def test_exports_that_do_not_work_are_not_offered(tmp_path):
    assert "cannot be exported" in page_of(tmp_path, "functions")
    assert "export(&#34;model.onnx&#34;)" in page_of(tmp_path, "regressor")
    model = KernelPursuitClassifier(gamma=0.5, max_atoms=4).fit(*IRIS)
    model.report(tmp_path / "r.html")
    for code in re.findall(r'data-code="([^"]*)"', (tmp_path / "r.html").read_text(encoding="utf-8")):
        compile(code.replace("&#34;", '"').replace("{model}", "model.at(3)"), "snippet", "exec")
