"""Pages in a real browser: they draw without an error, run nothing of users, and do what they are asked."""

from __future__ import annotations

import pytest
from tests.report.browser import Browser, found
from tests.report.runs import SCRIPT, branching, embedded, grouped, odd, plain, run_of

from hidim import Choice, Float, Result, Space, Vector
from hidim.report import write_report
from hidim.trial import History, Trial

pytestmark = pytest.mark.skipif(found() is None, reason="there is no Chromium to look at pages with")

TEXT = "document.getElementById('main').innerText"
FIRST = "document.querySelector('#trial-table tbody .open').textContent"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    made = Browser(found(), tmp_path_factory.mktemp("browser"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A run of forty trials, some of them failed."""
    return write_report(
        plain(n=40, failing=10, running=1), tmp_path_factory.mktemp("page") / "run.html", patience=0.0
    )


def middle(browser: Browser, selector: str) -> tuple[float, float]:
    """Where an element is on the screen, after it was brought there."""
    code = f"""(async () => {{
        const found = document.querySelector({selector!r});
        found.scrollIntoView({{block: "center"}});
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        const box = found.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    }})()"""
    return tuple(browser.run(code))


def click(browser: Browser, selector: str) -> None:
    x, y = middle(browser, selector)
    for kind in ("mousePressed", "mouseReleased"):
        browser.pointer(kind, x, y, button="left", clickCount=1)


def test_what_users_wrote_is_shown_and_not_run(browser, tmp_path):
    path = write_report(odd(), tmp_path / "run.html", title=SCRIPT, command=[SCRIPT], patience=0.0)
    browser.open(path)
    assert browser.errors() is None
    assert browser.run("document.querySelector('h1').textContent") == SCRIPT
    assert SCRIPT in browser.run(TEXT)
    assert browser.run("document.scripts.length") == 2
    assert not browser.run("[...document.querySelectorAll('*')].some((e) => e.onmouseover)")


def _single() -> Result:
    trial = Trial({"x": 0.5}, 0).completed(1.0, 0)
    return Result(trial, History([trial]), Space(x=Float(0, 1)))


def _labels(factor: float) -> Result:
    space = Space(c=Choice("a", "b", "c"), d=Choice("a", "b"))
    return run_of(space, lambda p: factor * (p["c"] == "a") - factor * (p["d"] == "b"), 12)


KINDS = {
    "single": _single,
    "embedded": embedded,
    "grouped": grouped,
    "branching": branching,
    "huge": lambda: _labels(1e308),
    "tiny": lambda: _labels(1e-310),
    "equal": lambda: _labels(0.0),
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())
def test_every_kind_of_run_is_drawn_in_both_widths(browser, tmp_path, make):
    path = write_report(make(), tmp_path / "run.html")
    for width, dark in ((1280, False), (400, True)):
        browser.open(path, width=width, dark=dark)
        assert browser.errors() is None
        assert browser.run("document.documentElement.dataset.theme") == ("dark" if dark else "light")
        assert browser.run("document.documentElement.scrollWidth") <= width
        drawn = browser.run("[...document.querySelectorAll('svg.chart *')].map((e) => e.outerHTML).join()")
        assert "NaN" not in drawn
        assert "Infinity" not in drawn


def test_the_table_is_sorted_and_searched(browser, page):
    browser.open(page, "#sort=-number")
    assert browser.run(FIRST) == "40"
    click(browser, "#sort-number")
    assert browser.run(FIRST) == "0"
    assert browser.run("document.querySelector('th[aria-sort=ascending]').innerText").startswith("Trial")
    click(browser, "#page-after")
    assert browser.run(FIRST) == "20"
    click(browser, "#search-trials")
    browser.call("Input.insertText", text="failed")
    assert browser.run("document.querySelectorAll('#trial-table tbody tr').length") == 4
    click(browser, "#trial-table .open")
    assert "took 1.5 s" in browser.run("document.querySelector('#trial-table .all').innerText")
    assert browser.errors() is None


def test_the_best_comes_first(browser, tmp_path):
    for maximize in (False, True):
        result = plain(n=4, maximize=maximize)
        browser.open(write_report(result, tmp_path / f"{maximize}.html", patience=0.0))
        assert browser.run(FIRST) == str(result.best.number)
        assert browser.run(FIRST.replace("tbody", "tr.leads")) == str(result.best.number)


def test_charts_answer_to_pointer_and_keyboard(browser, page):
    browser.open(page)
    x, y = middle(browser, "#convergence > svg .best")
    browser.pointer("mouseMoved", x, y)
    shown = "document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText"
    best = browser.run("DATA.head.number")
    assert browser.run(shown).startswith(f"Trial {best}")
    browser.press("Escape")
    assert browser.run(shown) == ""
    browser.run("document.querySelector('#convergence > svg').focus()")
    browser.press("Home")
    browser.press("ArrowRight")
    assert browser.run(shown).startswith("Trial 1\nfailed")


def test_everything_can_be_reached_by_keyboard(browser, page):
    browser.open(page)
    browser.press("Tab")
    assert browser.run("document.activeElement.textContent") == "Skip to the content"
    nameless = "(e) => !(e.textContent.trim() || e.getAttribute('aria-label'))"
    every = "[...document.querySelectorAll('button, input, a, [tabindex=\"0\"]')]"
    assert browser.run(f"{every}.length") > 30
    assert browser.run(f"{every}.filter({nameless}).map((e) => e.outerHTML)") == []
    assert browser.run("[...document.querySelectorAll('section')].every((e) => e.querySelector('h2'))")


def test_lines_can_be_brushed(browser, page):
    browser.open(page)
    lines = "document.querySelector('#parallel .legend').textContent"
    assert browser.run(lines).startswith("36 of 36")
    x, y = middle(browser, "#parallel .axis")
    browser.pointer("mousePressed", x, y, button="left")
    browser.pointer("mouseMoved", x, y + 60, button="left")
    browser.pointer("mouseReleased", x, y + 60, button="left")
    kept = int(browser.run(lines).split()[0])
    assert 0 < kept < 36
    assert browser.errors() is None


def test_any_of_many_parameters_is_found(browser, tmp_path):
    path = write_report(
        run_of(Space(w=Vector(300)), lambda p: p["w"][7], 4), tmp_path / "run.html", patience=0.0
    )
    browser.open(path)
    names = "document.querySelectorAll('.shares button').length"
    assert browser.run(names) == 12
    click(browser, "#show-all")
    assert browser.run(names) == 300
    click(browser, "#search-params")
    browser.call("Input.insertText", text="w[123]")
    assert browser.run(names) == 1
    click(browser, ".shares button")
    assert browser.run("document.querySelector('.detail h3').innerText") == "w[123]"
    assert "w[123]" in browser.run("document.querySelector('#trial-table thead').innerText")


def test_a_refreshed_page_keeps_its_view(browser, page):
    result = plain(n=4, running=1)
    path = write_report(result, page.with_name("live.html"), refresh=1, patience=0.0)
    browser.open(path)
    assert "refreshed every 1 s" in browser.run("document.getElementById('top').innerText")
    for press in ("theme", "sort-number"):
        browser.run(f"document.getElementById({press!r}).click()")
    browser.run("""
        const search = document.getElementById("search-trials");
        search.value = "complete";
        search.dispatchEvent(new Event("input"));
        window.scrollTo(0, 700);
        window.old = true;
    """)
    browser.wait("!window.old && document.documentElement.dataset.drawn")
    assert browser.run("document.documentElement.dataset.theme") == "dark"
    assert browser.run(FIRST) == "0"
    assert browser.run("document.getElementById('search-trials').value") == "complete"
    browser.wait("Math.round(window.scrollY) === 700")


def test_the_configuration_is_copied(browser, page):
    browser.open(page)
    click(browser, "#Form-python")
    assert browser.run("document.getElementById('config').textContent").startswith("{\n    'x': ")
    click(browser, "#copy")
    browser.wait("document.querySelector('#configuration [role=status]').textContent")
    assert browser.run("getSelection().toString()").startswith("{\n    'x': ")
