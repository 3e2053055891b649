"""Benchmarks run on a tiny case and fill their pages, and that of the five papers has the figures of its results."""

import dataclasses
import importlib
import os
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
MARKS = ("numbers", "classes", "sets")


@pytest.fixture
def five_papers(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("five_papers")


@pytest.fixture
def page(five_papers):
    return importlib.import_module("five_papers_page")


def test_a_run_of_two_small_sets_fills_the_page(five_papers, page, tmp_path, monkeypatch):
    monkeypatch.setattr(five_papers, "n_splits", lambda name: 2 if name == "diabetes" else 1)
    monkeypatch.setattr(five_papers, "MOST_ATOMS", 10)
    monkeypatch.setattr(five_papers, "GRID_ROWS", 60)
    results = tmp_path / "results.csv"
    systems = ["default", "greedy_qr", "tcr", "kernel ridge", "SVM"]
    assert five_papers.run(["diabetes", "iris"], systems, learned=False, again=[], path=results)
    five_papers.write_results(results)
    found = five_papers.read_results(results)
    # tcr and kernel ridge are for numbers only.
    assert len(found) == 2 * len(systems) + len(systems) - 2
    assert all(0 <= float(one["error"]) < 1.5 and float(one["cpu_seconds"]) > 0 for one in found.values())

    monkeypatch.setattr(page, "ROOT", tmp_path)
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(page, "PICTURE", tmp_path / "picture.png")
    page.PAGE.write_text("\n".join(f"<!-- {mark}: begin -->\n<!-- {mark}: end -->" for mark in MARKS))
    page.write_page(found)
    text = page.PAGE.read_text()
    assert "| `tcr` | Hagiwara |" in text
    assert page.PICTURE.stat().st_size > 0


def test_a_run_does_what_is_not_there(five_papers, tmp_path, monkeypatch):
    monkeypatch.setattr(five_papers, "n_splits", lambda name: 1)
    results = tmp_path / "results.csv"
    for again, n_lines in (([], 2), ([], 2), (["SVM"], 3)):
        assert five_papers.run(["iris"], ["SVM"], learned=False, again=again, path=results)
        assert len(results.read_text().splitlines()) == n_lines
    five_papers.write_results(results)
    assert len(results.read_text().splitlines()) == 2


def test_the_second_variant_asks_for_learned_scales(five_papers):
    fits = five_papers.fits_for("diabetes", learned=True)
    assert {variant for _, variant in fits} == {"learned"}
    split = five_papers.split_of("diabetes", 0)
    assert five_papers.unfitted("rfs", split, gamma="learn").gamma == "learn"


def test_the_page_has_the_figures_of_its_results(five_papers, page):
    results = page.Results(five_papers.read_results())
    text = page.PAGE.read_text()
    for kind in page.KINDS:
        assert page.summary(results, kind) in text
    assert page.whole_tables(results) in text


@pytest.fixture
def classify(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("classify")


@pytest.fixture
def classify_page(classify):
    return importlib.import_module("classify_page")


def small_set(folder):
    """A set of three classes in a file of the folder."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    np.savez(folder / "three.npz", X=X, y=np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])])


def test_classification_fills_its_page(classify, classify_page, tmp_path, monkeypatch):
    small_set(tmp_path)
    results = tmp_path / "results.jsonl"
    given = ["--folder", str(tmp_path), "--results", str(results), "--sets", "iris,three", "--splits", "2"]
    for methods in (["--methods", "default,svc,logistic"], ["--ours", "loss=squared,max_atoms=5"]):
        assert classify.main([*given, *methods, "--tag", "a"]) == 0
    found = classify.read_journal(results, classify.key_of)
    assert len(found) == 2 * 2 * 4
    assert {key[3] for key in found if key[2] in ("svc", "logistic")} == {""}
    assert all(one["size"] <= 5 for key, one in found.items() if key[2] == "loss=squared,max_atoms=5")
    for one in found.values():
        assert classify_page.wrong_rows(one).mean() == one["error"]
        assert sum(rows for rows, _, _ in one["bins"]) == one["test_rows"]

    monkeypatch.setattr(classify_page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(classify_page, "PICTURE", tmp_path / "picture.png")
    classify_page.PAGE.write_text(f"{classify_page.BEGIN}\n{classify_page.END}")
    assert classify.main([*given, "--tag", "a", "--write"]) == 0
    text = classify_page.PAGE.read_text()
    assert "| SVC | error no higher, within a standard error | 2 of 2 |" in text
    assert "| set | `default` | `loss=squared,max_atoms=5` | SVC | logistic |" in text
    assert classify_page.PICTURE.stat().st_size > 0


def test_peers_are_kept_and_ours_go_by_their_tag(classify, tmp_path):
    results = tmp_path / "results.jsonl"
    given = ["--sets", "iris", "--splits", "1", "--results", str(results), "--methods", "default,logistic", "--tag"]
    for more, n_lines in ((["a"], 2), (["a"], 2), (["b"], 3), (["b", "--again", "logistic"], 4)):
        assert classify.main([*given, *more]) == 0
        assert len(results.read_text().splitlines()) == n_lines


@pytest.mark.parametrize("given", [["--ours", "squared"], ["--ours", "depth=3"], ["--sets", "nowhere"]])
def test_unknown_variants_and_sets_are_refused(classify, given):
    with pytest.raises(SystemExit):
        classify.main(given)


def test_calibration_error_of_true_and_of_sure_probabilities(classify):
    methods = importlib.import_module("classify_methods")
    rng = np.random.default_rng(0)
    p = rng.uniform(size=30_000)
    y = (rng.uniform(size=len(p)) < p).astype(int)
    both = np.column_stack([1 - p, p])
    assert methods.calibration_error(methods.reliability_bins(both, y)) < 0.02
    sure = (both > 0.5).astype(float)  # right in three of four
    assert methods.calibration_error(methods.reliability_bins(sure, y)) == pytest.approx(0.25, abs=0.01)


def test_the_standard_error_of_a_difference_is_over_test_rows(classify_page):
    def result(wrong):
        packed = np.packbits(np.array(wrong, dtype=bool)).tobytes().hex()
        return {"error": np.mean(wrong), "test_rows": len(wrong), "wrong": packed}

    one, other = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    pair = classify_page.Pair("made", [result(one)] * 2, [result(other)] * 2)
    expected = np.std(np.subtract(one, other), ddof=1) / np.sqrt(20)
    assert pair.standard_error == pytest.approx(expected)
    assert pair.no_higher(1) == (expected >= 0.1)
    assert not pair.no_higher(0)


@pytest.fixture
def peers(monkeypatch):
    """The module of the package with the name that is called for."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    return lambda name: importlib.import_module(f"peers.{name}")


PEERS = ("kernelpursuit", "svm", "omp", "gpr")


@pytest.fixture
def small_sets(peers, tmp_path, monkeypatch):
    """A run of a few peers on small sets, one too large for a peer; twice, and the second has nothing to do."""
    run, methods = peers("run"), peers("methods")
    monkeypatch.setitem(methods.METHODS, "gpr", dataclasses.replace(methods.METHODS["gpr"], most_rows=300))
    journal = tmp_path / "peers.jsonl"
    given = ["--sets", "diabetes,iris,wine", "--methods", ",".join(PEERS), "--splits", "1"]
    given += ["--journal", str(journal), "--stored", str(tmp_path / "none.csv")]
    keys = list(run.Plan(["diabetes", "iris", "wine"], PEERS, n_splits=1).jobs())
    for _ in range(2):
        assert peers("__main__").main(given) == 0
        assert len(journal.read_text().splitlines()) == len(keys)
    return keys, journal


def test_peers_fill_their_page(peers, small_sets, tmp_path):
    keys, journal = small_sets
    # Ours has no search; Gaussian processes and matching pursuit are for numbers. Quick ones come first.
    assert len(keys) == (1 + 2 * 3) + 2 * (1 + 2)
    quick = [("iris", "kernelpursuit"), ("wine", "kernelpursuit"), ("diabetes", "kernelpursuit")]
    assert [(name, method) for name, _, method, _ in keys[:3]] == quick

    page, written, stored = peers("page"), tmp_path / "peers.md", tmp_path / "peers.csv"
    names = ("losses", "summary", "pictures", "measured", "coverage", "sets")
    written.write_text("\n".join(mark for name in names for mark in page.marks(name)))
    (tmp_path / "images").mkdir()
    page.write(journal, stored, written)
    text = written.read_text()
    assert text.index("### Sets where a peer is more accurate") < text.index("### diabetes")
    assert "not tried above 300 rows: diabetes" in text
    assert f"scikit-learn {version('scikit-learn')}" in text
    assert {path.name for path in (tmp_path / "images").iterdir()} >= {"peers-numbers-size.png", "peers-ranks.png"}

    # The page of the stored results alone is the same one.
    written.write_text("\n".join(mark for name in names for mark in page.marks(name)))
    page.write(tmp_path / "none.jsonl", stored, written)
    assert written.read_text() == text


def test_what_is_stored_is_done(peers, small_sets, tmp_path):
    keys, journal = small_sets
    results, stored, new = peers("stored"), tmp_path / "peers.csv", tmp_path / "elsewhere" / "peers.jsonl"
    results.merge(journal, stored)
    given = ["--sets", "diabetes", "--splits", "1", "--journal", str(new), "--stored", str(stored), "--methods"]
    assert peers("__main__").main([*given, ",".join(PEERS)]) == 0
    assert not new.exists()

    # A new peer has ours fitted beside it, for the errors of its rows; all that was stored stays.
    assert peers("__main__").main([*given, ",".join((*PEERS, "nystroem"))]) == 0
    fitted = results.known(new, tmp_path / "none.csv")
    assert [key[2:] for key in fitted] == [("kernelpursuit", "default"), ("nystroem", "default"), ("nystroem", "tuned")]
    before = results.known(tmp_path / "none.jsonl", stored)
    results.merge(new, stored)
    after = results.known(tmp_path / "none.jsonl", stored)
    assert after.keys() == before.keys() | fitted.keys() == {*keys, *fitted}
    assert all(after[key] == before[key] for key in keys if key not in fitted)
    assert all(after[key]["difference_se"] > 0 for key in fitted if key[2] == "nystroem")


def test_a_fit_that_ends_badly_says_how(peers, monkeypatch):
    one_fit, methods, fitted = peers("one_fit"), peers("methods"), peers("fitted")

    def fit(split, tuned):
        if len(split.train) == 60:  # warming up
            return fitted.Fitted(lambda rows: rows[:, 0], 1, 1)
        if what == "time":
            while True:
                pass
        if what == "death":
            os._exit(3)
        if what == "memory":
            np.ones(2**30)
        if what == "predictions":
            return fitted.Fitted(lambda rows: np.full(len(rows), np.nan), 1, 1)
        raise ValueError(what)

    monkeypatch.setattr(methods.Method, "load", lambda self: fit)
    rows = np.random.default_rng(0).normal(size=(30, 2))
    split = importlib.import_module("sets").Split(rows, rows[:, 0], rows, rows[:, 0], False, 0)
    limits = one_fit.Limits(seconds=0.2, wall=20, megabytes=4000)
    expected = {
        "time": "fit out of time",
        "death": "failed: the process ended with 3",
        "memory": "out of memory",
        "predictions": "failed: ValueError: predictions are not finite",
        "no reason": "failed: ValueError: no reason",
    }
    for what, status in expected.items():  # noqa: B007 that `fit` reads
        assert one_fit.fit_once(("svm", "default"), split, limits)["status"] == status

    def missing(self):
        raise ImportError("No module named 'nowhere'")

    monkeypatch.setattr(methods.Method, "load", missing)
    assert one_fit.fit_once(("svm", "default"), split, limits)["status"].startswith("not installed: ")


def stored_line(method, name, error, split=0, variant="default", status="ok", **more):
    """A stored result with figures that say little."""
    about = {"set": name, "split": split, "method": method, "variant": variant, "status": status, "path": ""}
    figures = {
        "rows": 90,
        "test_rows": 10,
        "features": 3,
        "error": error,
        "fit_cpu": 1.0,
        "predict_us": 1.0,
        "peak_mb": 1.0,
    }
    return {**about, **figures, "numbers": 10, "size": 1, "difference_se": 0.01, **more}


def test_ours_beside_a_peer(peers):
    results, losses = peers("results"), peers("losses")
    # Behind on iris, alike on wine, ahead on sonar and larger there.
    errors = {"iris": 0.2, "wine": 0.11, "sonar": 0.05}
    lines = [stored_line("kernelpursuit", name, error) for name, error in errors.items()]
    lines += [stored_line("svm", name, 0.1, numbers=9 if name == "sonar" else 10) for name in errors]
    found = results.Results(lines)
    assert [one[0] for one in losses.set_losses(found)] == ["iris"]
    _, *cells = losses.peer_line(("svm", "default"), found)
    assert cells == ["3 of 3", "3", "1", "1", "0", "0", "1 (median 1.11 times)", "0"]
    # A peer with one set would leave only that one to compare the others on.
    found = results.Results([*lines, stored_line("rvm", "iris", 0.3)])
    ranks = peers("ranks").ranks(found, found.peers, list(errors))
    assert ranks.models == [("svm", "default"), ("kernelpursuit", "default")]
    assert ranks.average == pytest.approx([4 / 3, 5 / 3])
    assert ranks.cliques() == [(0, 1)]


def test_errors_of_a_comparison_are_of_common_splits(peers):
    results, page = peers("results"), peers("page")
    ours, svm, rvm = ("kernelpursuit", "default"), ("svm", "default"), ("rvm", "default")
    errors = {"iris": (0.1, 0.5), "wine": (0.2, 0.2)}  # of ours, on two splits
    lines = [stored_line("kernelpursuit", name, e, i) for name, both in errors.items() for i, e in enumerate(both)]
    lines += [stored_line("svm", name, 0.3, split) for name in errors for split in (0, 1)]
    lines += [stored_line("lightgbm", name, 0.3, split) for name in errors for split in (0, 1)]
    lines += [stored_line("rvm", name, 0.15) for name in errors]
    found = results.Results(lines)
    assert found.pair(rvm, "iris").both("error") == pytest.approx((0.1, 0.15))
    assert found.pair(svm, "iris").both("error") == pytest.approx((0.3, 0.3))
    assert found.pair(svm, "iris", beside=[rvm]).both("error") == pytest.approx((0.1, 0.3))
    # Those with two splits come first; the peer with one is beside ours on that one alone.
    assert list(found.tables("iris")) == [([ours, svm, ("lightgbm", "default")], [0, 1]), ([ours, rvm], [0])]
    assert "| kernelpursuit | 0.1000 |" in page.set_part("iris", found)
    ranks = peers("ranks").ranks(found, [svm, rvm], list(errors))
    assert (ranks.n_sets, ranks.n_splits) == (2, 2)
    assert dict(zip(ranks.models, ranks.average)) == {ours: 1.5, rvm: 1.5, svm: 3.0}


def test_what_was_not_tried_has_not_failed(peers):
    results, page = peers("results"), peers("page")
    lines = [stored_line(method, name, 0.1) for method in ("kernelpursuit", "svm") for name in ("boston", "abalone")]
    why = {"gpr": "not tried above 300 rows", "kernel_ridge": "not installed: no module", "lasso": "fit out of time"}
    lines += [
        stored_line(method, name, None, status=one) for method, one in why.items() for name in ("boston", "abalone")
    ]
    found = results.Results(lines)
    assert found.models == [("kernelpursuit", "default"), ("svm", "default"), ("lasso", "default")]
    ranks = peers("ranks").ranks(found, [(method, "default") for method in ("svm", *why)], ["boston", "abalone"])
    assert ranks.models == [("kernelpursuit", "default"), ("svm", "default"), ("lasso", "default")]
    assert ranks.average == pytest.approx([1.5, 1.5, 3])
    assert "LASSO on kernel columns, default: fit out of time." in page.set_part("boston", found)
    for method in ("gpr", "kernel_ridge"):
        assert f"{why[method]}: boston, abalone" in page.reasons((method, "default"), found)


def test_geometric_means_are_of_the_peer_over_ours_on_sets_of_both_variants(peers):
    results, page = peers("results"), peers("page")
    lines = [stored_line("kernelpursuit", name, 0.1) for name in ("iris", "wine", "sonar")]
    sizes = {"iris": 40, "wine": 10, "sonar": 1000}
    lines += [stored_line("svm", name, 0.1, numbers=size) for name, size in sizes.items()]
    lines += [stored_line("svm", name, 0.1, variant="tuned") for name in ("iris", "wine")]
    # Sonar is left out: the tuned variant has not been tried there.
    line = page.summary_line(("svm", "default"), results.Results(lines))
    assert line == ["SVR / SVC, default", "2", "2", "3 of 3", "1", "1", "1", "2", "1"]


def test_noise_is_known_where_all_standard_errors_are(peers):
    results, losses = peers("results"), peers("losses")
    lines = [stored_line("kernelpursuit", "iris", 0.5, split) for split in (0, 1)]
    lines += [stored_line("svm", "iris", 0.1, split, difference_se=se) for split, se in enumerate((0.03, 0.04))]
    lines += [stored_line("lightgbm", "iris", 0.1, split, difference_se=se) for split, se in enumerate((0.03, None))]
    found = results.Results(lines)
    known, unknown = (found.pair((method, "default"), "iris") for method in ("svm", "lightgbm"))
    assert known.standard_error == pytest.approx(0.05 / 2)
    assert known.standard_errors_behind == pytest.approx(16)
    assert losses.unknown_in_error(unknown)
    assert not losses.behind_in_error(unknown)
    expected = "higher by more than noise in 1, lower in 0, and within noise in 0, and cannot be told in 1."
    assert losses.compared(found, "default").endswith(expected)


def test_the_standard_error_is_over_rows_and_goes_when_ours_is_newer(peers, tmp_path):
    stored = peers("stored")
    journal, path = tmp_path / "peers.jsonl", tmp_path / "peers.csv"
    lines = {method: stored_line(method, "iris", 0.1, when="", source="") for method in ("kernelpursuit", "svm")}
    stored.store(lines.values(), path)
    stored.merge(journal, path)
    assert [one["difference_se"] for one in stored.read(path)] == [0.01, 0.01]  # there is nothing newer

    keys = {method: stored.key_of(one) for method, one in lines.items()}
    (tmp_path / "peers").mkdir()
    np.save(stored.rows_file(keys["kernelpursuit"], journal), np.zeros(4))
    defaults = importlib.import_module("defaults")
    defaults.append_to_journal(lines["kernelpursuit"], journal)
    stored.merge(journal, path)
    assert [one["difference_se"] for one in stored.read(path)] == [0, 0.01]  # ours is the same as before
    defaults.append_to_journal({**lines["kernelpursuit"], "source": "another"}, journal)
    np.save(stored.rows_file(keys["svm"], journal), np.array([0, 2, 0, 2]))
    assert stored.with_difference(lines["svm"], journal)["difference_se"] == pytest.approx(3**-0.5)
    stored.rows_file(keys["svm"], journal).unlink()
    stored.merge(journal, path)
    assert [one["difference_se"] for one in stored.read(path)] == [0, None]


def test_rows_add_to_an_error_to_first_order(peers):
    sets = importlib.import_module("sets")
    split = sets.Split(np.zeros((2, 1)), np.zeros(2), np.zeros((2, 1)), np.zeros(2), False, 0)
    error, of_rows = split.error(np.array([0, 8**0.5]))
    assert error == pytest.approx(2)
    assert of_rows == pytest.approx([0, 8 / (2 * 2)])


def test_ours_of_another_source_is_fitted_anew(peers, tmp_path, monkeypatch):
    run, stored = peers("run"), peers("stored")
    path, journal = tmp_path / "peers.csv", tmp_path / "peers.jsonl"
    ours, svm = (stored_line(name, "iris", 0.1, when="", source=run.SOURCE) for name in ("kernelpursuit", "svm"))
    absent = stored_line("rvm", "iris", None, status="not installed: no module")
    stored.store([ours, svm, absent], path)

    def left(*methods):
        plan = run.Plan(["iris"], methods, ["default"], n_splits=1, journal=journal, stored=path)
        return [method for _, _, method, _ in plan.left()]

    file = stored.rows_file(stored.key_of(ours), journal)
    file.parent.mkdir()
    file.touch()
    assert left("kernelpursuit", "svm", "rvm") == ["rvm"]  # which may be installed by now
    monkeypatch.setattr(run, "SOURCE", "another")
    assert left("kernelpursuit", "svm") == ["kernelpursuit"]
    assert left("svm", "lightgbm", "nystroem") == ["kernelpursuit", "lightgbm", "nystroem"]  # ours once, for both


def test_more_threads_than_one_are_refused(peers, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    with pytest.raises(SystemExit, match="OPENBLAS_NUM_THREADS"):
        peers("__main__").main(["--sets", "iris"])


def made_split(n_classes):
    """A split of a smooth function of two features, or of classes at its levels."""
    sets, rng = importlib.import_module("sets"), np.random.default_rng(0)
    rows = rng.normal(size=(200, 2))
    values = np.sin(2 * rows[:, 0]) + rows[:, 1]
    y = (values - values.mean()) / values.std()
    if n_classes:
        y = np.array(["a", "b", "c"])[np.digitize(y, [0] if n_classes == 2 else [-0.5, 0.5])]
    return sets.Split(rows[:120], y[:120], rows[120:], y[120:], n_classes > 0, 0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("method", "n_classes", "most"),
    [
        *(("lasso", 0, 0.28), ("omp", 0, 0.25), ("svm", 0, 0.25), ("nystroem", 0, 0.15), ("l1_logistic", 2, 0.08)),
        *(("l1_logistic", 3, 0.18), ("svm", 3, 0.18)),
    ],
)
def test_a_tuned_peer_learns(peers, method, n_classes, most):
    split = made_split(n_classes)
    fitted = peers("methods").METHODS[method].load()(split, True)
    assert split.error(fitted.predict(split.test))[0] < most
    n_outputs = n_classes if n_classes > 2 else 1
    if method in ("lasso", "omp", "l1_logistic"):
        assert 1 < fitted.size <= 120
        assert fitted.numbers == fitted.size * (2 + n_outputs) + n_outputs
    if method == "nystroem":
        assert fitted.numbers == 120 * 2 + 121 * n_outputs


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("package", "method", "n_classes", "most"),
    [
        *(("gpytorch", "sgpr", 0, 0.2), ("gpytorch", "svgp", 0, 0.35), ("gpytorch", "svgp", 3, 0.25)),
        *(("lightgbm", "lightgbm", 0, 0.45), ("lightgbm", "lightgbm", 3, 0.2)),
        *(("fastrvm", "rvm", 0, 0.3), ("fastrvm", "rvm", 3, 0.2)),
    ],
)
def test_a_peer_that_is_installed_learns(peers, package, method, n_classes, most, monkeypatch):
    pytest.importorskip(package)
    fit, split = peers("methods").METHODS[method].load(), made_split(n_classes)
    if method == "svgp":
        monkeypatch.setattr(peers("gaussian"), "STEPS", 200)
    assert split.error(fit(split, False).predict(split.test))[0] < most


def test_history_measures_and_draws(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    history = importlib.import_module("history")
    small = {name: partial(history.MEASURES[name], 1500) for name in ("prediction", "moments")}
    monkeypatch.setattr(history, "MEASURES", {**small, "fit": lambda: history.no_such_thing})
    found = history.measure(rounds=1, names=("prediction", "moments", "fit"), is_older=True)
    assert found.keys() == small.keys()
    assert all(float(ratio) > 0 for ratio in found.values())
    with pytest.raises(AttributeError):
        history.measure(rounds=1, names=("fit",))

    stored, picture = tmp_path / "history.csv", tmp_path / "history.png"
    for commit, date in (("b", "2026-02-02"), ("a", "2026-01-01")):
        history.append({"commit": commit, "date": date, **found}, stored)
    lines = history.read(stored)
    assert [one["commit"] for one in lines] == ["a", "b"]
    history.draw(lines, picture)
    assert picture.stat().st_size > 0


def test_history_is_of_one_thread(monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    history = importlib.import_module("history")
    monkeypatch.setattr(history, "measure", lambda is_older: {"fit": "1", "older": is_older})
    for name in history.ONE_THREAD:
        monkeypatch.delenv(name, raising=False)
    for settings in ({}, {"OMP_NUM_THREADS": "2"}, {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "2"}):
        with monkeypatch.context() as context:
            for name, value in settings.items():
                context.setenv(name, value)
            with pytest.raises(SystemExit):
                history.main(["--print"])
        assert "ratios are of one thread; set O" in capsys.readouterr().err
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert history.main(["--print", "--older"]) == 0
    assert '"older": true' in capsys.readouterr().out


@pytest.fixture
def growth(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("growth")


def test_functions_for_more_atoms_are_drawn_by_the_seed(growth, monkeypatch):
    monkeypatch.setattr(growth, "N_TEST", 50)
    for name, case in growth.CASES.items():
        short = dataclasses.replace(case, n_rows=100)
        first, again, other = (growth.drawn(short, seed) for seed in (0, 0, 1))
        assert first[0].shape == (100, case.n_features), name
        assert all(np.array_equal(one, two) for one, two in zip(first, again)), name
        assert not np.array_equal(first[3], other[3]), name
        assert np.isfinite(first[1]).all(), name
        assert len(np.unique(first[3])) > 1, name


def test_more_atoms_that_are_not_tried_change_nothing(growth, monkeypatch):
    monkeypatch.setattr(growth, "N_TEST", 100)
    monkeypatch.setitem(growth.CASES, "a network", growth.Case(growth.network, n_rows=100, n_features=2, noise=0.1))
    found = growth.measure("a network", 0)
    assert found["512"]["error"] == found["auto"]["error"]
    assert found["standard_errors"] == 0
    assert "| a network | 100 x 2 | 0, 0 of 1 |" in growth.as_table([{"case": "a network", **found}])


def test_ratios_of_two_sides_are_of_rounds_in_which_neither_failed(monkeypatch, capsys):
    massive = importlib.import_module("benchmarks.massive")
    seconds = {("a", 0): 1.0, ("b", 0): 2.0, ("a", 1): 3.0, ("b", 1): 2.0, ("a", 2): 1.0}

    def in_a_process(side, number):
        if (side, number) not in seconds:
            return {"failed": "no memory"}
        return {"seconds": seconds[side, number], "cpu": 1.0, "megabytes": 0, "rmse": 0.5}

    monkeypatch.setattr(massive, "in_a_process", in_a_process)
    massive.in_turns("made", {"a": ("a",), "b": ("b",)}, n_rounds=3)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("made, a / b")
    assert '"seconds": {"median": 1.0, "of": [0.5, 1.5]}' in last


def test_atoms_of_a_sample_and_of_all_rows_are_as_many(monkeypatch):
    massive = importlib.import_module("benchmarks.massive")
    rows = np.random.default_rng(0).normal(size=(700, 2))
    monkeypatch.setattr(massive, "_standardised", lambda name: (rows, np.sin(rows[:, 0])))
    monkeypatch.setattr(massive, "SAMPLE_ROWS", {"sample": 500, "all": None})
    monkeypatch.setattr(massive, "SAMPLE_ATOMS", 5)
    found = {words: massive.fit_sample("made", words, split=0, shortlist=16) for words in massive.SAMPLE_ROWS}
    assert {one["rows"] for one in found.values()} == {630}
    assert found["sample"]["atoms"] == found["all"]["atoms"] == 5
