"""Every example runs: in docstrings, in the README, on the pages of the documentation."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

import kernelpursuit

ROOT = Path(__file__).parents[1]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ["kernelpursuit", *(m.name for m in pkgutil.walk_packages(kernelpursuit.__path__, "kernelpursuit."))]
PAGES = sorted(path.relative_to(ROOT) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```(?:python|py)\b[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def _scratch(tmp_path, monkeypatch):
    """Examples write where nobody minds and draw where nobody looks."""
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    yield
    plt.close("all")


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("._core")])
def test_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=FLAGS, report=True)
    assert failed == 0


def test_docstring_examples_are_found():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for estimator in (kernelpursuit.KernelPursuitRegressor, kernelpursuit.pursuit_path):
        assert any(test.examples for test in finder.find(estimator)), f"{estimator.__name__} has no example"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_pages(page):
    text = (ROOT / page).read_text()
    namespace = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        code = block.group(1)
        line = text.count("\n", 0, block.start(1))
        if ">>>" in code:
            test = doctest.DocTestParser().get_doctest(code, namespace, str(page), str(page), line)
            assert doctest.DocTestRunner(optionflags=FLAGS).run(test, clear_globs=False).failed == 0
            namespace.update(test.globs)
        else:
            exec(compile("\n" * line + code, str(page), "exec"), namespace)


def test_readme_shows_an_example():
    assert BLOCK.search((ROOT / "README.md").read_text())


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", (ROOT / page).read_text()):
            assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


def test_no_page_is_overwritten_by_those_that_sphinx_makes():
    assert not {page for page in PAGES if page.stem in ("search", "genindex", "py-modindex")}
