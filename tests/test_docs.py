"""Every example runs: in docstrings, in the README, on the pages of the documentation."""

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
import textwrap
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

import kernelpursuit

ROOT = Path(__file__).parents[1]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ["kernelpursuit", *(m.name for m in pkgutil.walk_packages(kernelpursuit.__path__, "kernelpursuit."))]
PAGES = sorted(path.relative_to(ROOT) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
# A block, and what it prints, if the page shows that: lines that are indented by four, after an empty one.
BLOCK = re.compile(
    r"^```(?:python|py)\b[^\n]*\n(?P<code>.*?)^```\n?(?P<printed>\n(?: {4}[^\n]*\n|\n(?= {4}))+)?",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d*)?(?:e[+-]?\d+)?")
# How far a printed number may be from that of the page: with other processors and versions, learned fits differ in
# digits, and in a fifth of the atoms. What is below the least of these is rounding error.
RELATIVE, LEAST = 0.25, 1e-6


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
        code = block["code"]
        line = text.count("\n", 0, block.start("code"))
        if ">>>" in code:
            test = doctest.DocTestParser().get_doctest(code, namespace, str(page), str(page), line)
            assert doctest.DocTestRunner(optionflags=FLAGS).run(test, clear_globs=False).failed == 0
            namespace.update(test.globs)
        else:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * line + code, str(page), "exec"), namespace)
            if block["printed"] is not None:
                compare(printed.getvalue(), textwrap.dedent(block["printed"]), f"{page}:{line}")


def compare(printed, shown, place):
    """What a block prints is what the page shows: words exactly, numbers nearly."""
    told = f"{place} prints\n{printed}\nand not\n{shown}"
    assert words(printed) == words(shown), told
    for found, wanted in zip(NUMBER.findall(printed), NUMBER.findall(shown)):
        found, wanted = (word.rstrip(",") for word in (found, wanted))
        assert abs(number(found) - number(wanted)) <= tolerance(wanted), f"{found}, not {wanted}: {told}"


def words(text):
    """The words without numbers; arrays have spaces before numbers of fewer digits, and after."""
    return re.sub(r"\s*([\[\](),#])\s*", r"\1", NUMBER.sub("#", text)).split()


def number(word):
    return float(word.replace(",", ""))


def tolerance(word):
    """As far as a number may be off: relatively, or by one in its last digit."""
    mantissa, _, exponent = word.replace(",", "").partition("e")
    digit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return max(RELATIVE * abs(number(word)), 1.01 * digit, LEAST)


def test_printed_numbers_are_compared():
    compare("score 0.951, 1,203 rows\n", "score 0.95, 1,200 rows", "here")
    compare("[1e-12]", "[3e-11]", "here")
    for printed in ("score 1.26", "score 0.95 and", "scores 0.95", "score -0.95", ""):
        with pytest.raises(AssertionError, match="here prints"):
            compare(printed, "score 0.95", "here")


def test_readme_shows_an_example():
    assert BLOCK.search((ROOT / "README.md").read_text())


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", (ROOT / page).read_text()):
            assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


def test_no_page_is_overwritten_by_those_that_sphinx_makes():
    assert not {page for page in PAGES if page.stem in ("search", "genindex", "py-modindex")}
