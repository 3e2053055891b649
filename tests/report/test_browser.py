"""The page in a browser: slider, rules, sorting by keys, paper, dark and narrow screens; nothing else is loaded."""

import shutil
from itertools import pairwise

import numpy as np
import pytest
from report.reported import MODELS, NAMES, content_in, fitted

from kernelpursuit.model.sizes import sized
from kernelpursuit.report.facts import clipped

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
)
# Models whose page is also looked at without rows.
ALONE = ("regressor", "constant", "precomputed", "classes", "ovr")
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--headless=new", "--disable-sync", *FLAGS])
        yield found
        found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages by name, written once."""
    folder, written = tmp_path_factory.mktemp("pages"), {}

    def write(name, with_rows=True):
        key = name, with_rows
        if key not in written:
            estimator, X, y = fitted(name)
            written[key] = folder / f"{len(written)}.html"
            estimator.report(written[key], *((X, y) if with_rows else ()))
        return written[key]

    return write


@pytest.fixture
def show(browser, pages):
    """Open a page; at the end nothing may have been said on the console or asked of the network."""
    contexts, said = [], []

    def open_page(name, with_rows=True, **options):
        contexts.append(browser.new_context(**{"viewport": DESK, **options}))
        page = contexts[-1].new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else said.append(asked.url))
        page.goto(pages(name, with_rows).as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


def settled(page):
    """Wait until what was asked for is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def tiles(page):
    """The numbers that the page shows, by what they are."""
    found = page.evaluate(
        "() => [...document.querySelectorAll('.tiles > div')].map("
        "(one) => [one.querySelector('dt').textContent, one.querySelector('dd').dataset.value])"
    )
    return {label: float(value) for label, value in found}


def test_every_page_is_drawn(show, pages):
    page = show("regressor")
    for name in MODELS:
        for with_rows in (True, False) if name in ALONE else (True,):
            page.goto(pages(name, with_rows).as_uri())
            n_atoms = fitted(name)[0].n_atoms_
            assert page.locator("#atoms-now").inner_text() == f"{n_atoms}", name
            assert page.locator("#path svg .line").count() >= 1
            assert page.locator("#predicted .point").count() == (110 if page.locator("#predicted").count() else 0), name
            assert page.locator("svg [d*=NaN], svg [cx*=NaN], svg [y1*=NaN]").count() == 0, name


def test_the_slider_moves_and_numbers_follow(show):
    estimator, X, y = fitted("regressor")
    page = show("regressor")
    page.locator("#size").focus()
    page.keyboard.press("Home")
    seen = []
    for k in range(len(estimator.path_) + 1):
        settled(page)
        this = estimator.at(k)
        assert page.locator("#atoms-now").inner_text() == str(k)
        found = tiles(page)
        rmse = np.sqrt(np.mean(np.square(y - this.predict(X))))
        assert found["root mean squared error on the rows given"] == pytest.approx(rmse, rel=1e-7)
        left_out = np.sqrt(estimator.path_.loo[k])
        assert found["root mean squared error, each row left out"] == pytest.approx(left_out, rel=1e-7)
        assert page.locator("#size").get_attribute("aria-valuetext") == f"{k} atom{'' if k == 1 else 's'}"
        seen.append([page.locator(one).inner_html() for one in ("#predicted svg", "#residuals svg", "#curve-0 svg")])
        page.keyboard.press("ArrowRight")
    assert all(a != b for before, after in pairwise(seen) for a, b in zip(before, after))
    page.get_by_role("button", name="One size less").click()
    settled(page)
    assert page.locator("#atoms-now").inner_text() == str(k - 1)


def test_tables_have_the_numbers_of_the_plots(show):
    estimator, X, y = fitted("regressor")
    page = show("regressor")
    page.get_by_role("button", name="max").click()
    page.locator("#predicted summary").press("Enter")
    settled(page)
    rows = page.evaluate(
        "() => [...document.querySelectorAll('#predicted tbody tr')]"
        ".map((row) => [...row.cells].map((one) => Number(one.dataset.value)))"
    )
    numbers, targets, predictions, residuals = np.array(rows).T
    numbers = numbers.astype(int)
    wanted = estimator.select("max").predict(X)[numbers]
    np.testing.assert_allclose(targets, y[numbers], rtol=1e-8)
    np.testing.assert_allclose(predictions, wanted, atol=1e-6)
    np.testing.assert_allclose(residuals, y[numbers] - wanted, atol=1e-6)


@pytest.mark.parametrize("name", ["regressor", "learned", "classes", "ovr"])
def test_rules_show_what_they_keep(name, show):
    estimator = fitted(name)[0]
    page = show(name)
    for button in page.locator("button[data-rule]").all():
        rule = button.inner_text().split()[0]
        button.click()
        settled(page)
        chosen = estimator.select(rule)
        assert page.locator("#atoms-now").inner_text() == str(chosen.n_atoms_), rule
        assert button.get_attribute("aria-pressed") == "true"
        assert chosen.stop_reason_ in button.get_attribute("title")
        assert " atom" in page.locator("#why").inner_text()


def test_a_model_for_each_class_has_sizes_of_its_own(show):
    estimator, X, y = fitted("ovr")
    page = show("ovr")
    states = content_in(page.content())["states"]
    own = [i for i, rule in enumerate(states["rules"]) if rule["state"] >= states["n_slider"]]
    assert own
    place = own[-1]
    page.locator(f"button[data-rule='{place}']").click()
    settled(page)
    this = estimator._with_model(sized(estimator.model_, states["sizes"][states["rules"][place]["state"]]))
    wrong = np.mean(this.predict(X) != y)
    assert tiles(page)["wrong class on the rows given"] == pytest.approx(wrong, abs=1e-9)
    assert "Steps of each class" in page.locator("#why").inner_text()


def test_centres_are_sorted_by_keys(show):
    page = show("regressor")
    head = page.locator("#atoms thead button").nth(2)
    column = """() => [...document.querySelectorAll('#atoms tbody tr:not([hidden])')]
        .map((row) => Number(row.cells[2].dataset.value))"""
    for order, sign in (("ascending", 1), ("descending", -1)):
        head.focus()
        page.keyboard.press("Enter")
        assert page.locator("#atoms thead th").nth(2).get_attribute("aria-sort") == order
        values = sign * np.array(page.evaluate(column))
        assert (np.diff(values) >= 0).all()
    estimator = fitted("regressor")[0]
    page.locator("#size").focus()
    page.keyboard.press("Home")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    settled(page)
    weights = np.array(page.evaluate(column))
    np.testing.assert_allclose(weights, np.sort(estimator.at(4).coef_)[::-1], rtol=1e-5)
    page.get_by_label("show atoms that are not in the model").check()
    settled(page)
    assert page.locator("#atoms tbody tr:not([hidden])").count() == len(estimator.path_)


def test_names_are_text_in_the_browser(show):
    page = show("hostile")
    assert page.title() == f"A kernel model of {fitted('hostile')[0].n_atoms_} atoms"
    heads = page.locator("#atoms thead button").all_inner_texts()
    assert clipped(NAMES[0]) in heads
    assert page.locator("main b:not(.rules b)").count() == 0
    labels = show("hostile labels")
    assert "{{ 3 * 3 }}" in labels.locator("#confusion thead").inner_text()


def test_lines_follow_and_are_copied(show):
    page = show("regressor", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#size").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    settled(page)
    page.get_by_role("button", name="Copy: Save this size").click()
    page.wait_for_function("() => [...document.querySelectorAll('.copy')].some((one) => one.textContent === 'Copied')")
    assert page.evaluate("() => navigator.clipboard.readText()") == 'model.at(1).save("model.kp")'


def test_pressing_the_path_shows_a_size(show):
    page = show("regressor")
    box = page.locator("#path .plot svg").bounding_box()
    page.mouse.click(box["x"] + 0.99 * box["width"], box["y"] + 0.5 * box["height"])
    settled(page)
    assert page.locator("#atoms-now").inner_text() == "12"


def test_targets_and_classes_are_picked(show):
    estimator, X, y = fitted("two targets")
    page = show("two targets")
    page.locator("#output").select_option("1")
    settled(page)
    rmse = np.sqrt(np.mean(np.square(y[:, 1] - estimator.predict(X)[:, 1])))
    assert tiles(page)["root mean squared error on the rows given"] == pytest.approx(rmse, rel=1e-7)
    page = show("classes")
    before = page.locator("#reliability svg").inner_html()
    page.locator("#reliability-of").select_option("2")
    settled(page)
    assert page.locator("#reliability svg").inner_html() != before


def test_everything_has_a_name_and_can_be_reached(show):
    nameless = """() => [...document.querySelectorAll('button, input, select, svg[role=img], [role=region], th')]
        .filter((one) => !(one.ariaLabel || one.labels?.length || one.textContent.trim()))
        .map((one) => one.outerHTML.slice(0, 90))"""
    for name in ("regressor", "classes"):
        page = show(name)
        assert page.evaluate(nameless) == []
        levels = page.evaluate(
            "() => [...document.querySelectorAll('h1, h2, h3')].map((one) => Number(one.tagName[1]))"
        )
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert max(np.diff(levels)) <= 1
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement.className") == "skip"
        assert page.evaluate("() => document.documentElement.lang") == "en"


@pytest.mark.parametrize("name", ["learned", "classes"])
def test_paper(name, show, tmp_path):
    page = show(name, color_scheme="dark")
    content = page.pdf(path=tmp_path / "r.pdf", prefer_css_page_size=True, print_background=True)
    n_pages = content.count(b"/Type /Page\n") + content.count(b"/Type /Page ")
    assert 3 <= n_pages <= 7
    # As wide as A4 between its margins, nothing sticks out, and what is dark on the screen is light.
    page.set_viewport_size({"width": 695, "height": 1000})
    page.emulate_media(media="print")
    settled(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 695
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    wide = """() => Math.max(
        ...[...document.querySelectorAll('svg, table')].map((one) => one.getBoundingClientRect().right))"""
    assert page.evaluate(wide) <= 696


@pytest.mark.parametrize("name", ["learned", "two targets", "classes", "ovr", "hostile", "hostile labels"])
def test_a_phone_in_the_dark(name, show):
    page = show(name, viewport=PHONE, color_scheme="dark")
    settled(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    shades = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert max(int(one) for one in shades.strip("rgb()").split(",")) < 60
