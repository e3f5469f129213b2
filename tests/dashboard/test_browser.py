"""The page in a real browser. Each test also fails if the page logs an error or asks another host for anything."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager

import pytest
from dashboards import HOSTILE, make_network_study, make_study, open_study, pull_once, server_of
from waiting import PATIENCE, wait_until

import manyarms as ma
from manyarms.html import format

playwright = pytest.importorskip("playwright.sync_api", reason="the browser is driven with playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A server for a storage with two finished studies, which no test changes."""
    storage = str(tmp_path_factory.mktemp("storage") / "study.db")
    make_study(storage, "first", budget=300)
    make_study(storage, "second", budget=12)
    with server_of(storage) as address:
        yield address


@pytest.fixture
def visit(browser):
    """Opens pages, and checks at the end what they logged and asked for."""
    pages = []

    @contextmanager
    def visit(address, path="/", width=1280, expected=(), **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        context.set_default_timeout(1000 * PATIENCE)
        page = context.new_page()
        errors, asked = [], []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        pages.append(page)
        page.goto(address + path)
        yield page
        context.close()
        assert [error for error in errors if not any(word in error for word in expected)] == []
        assert asked and all(url.startswith(address) for url in asked)

    return visit


def expect(locator):
    return playwright.expect(locator)


@pytest.fixture(autouse=True)
def patience():
    playwright.expect.set_options(timeout=1000 * PATIENCE)


def cells(page, column):
    return page.locator(f"table.arms tbody tr td:nth-child({column})").all_inner_texts()


def fits(page):
    """Whether nothing is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_list_leads_to_a_study_and_back(visit, finished):
    with visit(finished) as page:
        expect(page.locator(".study")).to_have_count(2)
        expect(page.locator(".study").first).to_contain_text("second")
        expect(page.locator(".study .badge").first).to_have_text("finished")
        page.get_by_role("link", name="first").click()
        expect(page.get_by_role("heading", name="first", level=1)).to_be_visible()
        expect(page.locator(".facts")).to_contain_text("300 of 300 steps")
        page.get_by_role("link", name="Studies").click()
        expect(page.locator(".study")).to_have_count(2)


def test_charts_are_drawn_under_the_strict_policy(visit, finished):
    with visit(finished, "/#/study/1/charts") as page:
        expect(page.locator("[data-chart=history] .main-svg").first).to_be_visible()
        expect(page.locator("[data-chart=curves] .main-svg").first).to_be_visible()
        for name in ("slices", "parallel_coordinates", "rungs", "family", "failures", "timeline"):
            page.locator(f"figure[data-chart={name}]").scroll_into_view_if_needed()
            expect(page.locator(f"[data-chart={name}] .main-svg").first).to_be_visible()
        assert page.evaluate("typeof Plotly.version") == "string"
        assert page.locator("text=WebGL is not supported").count() == 0


def test_the_strategy_shows_what_it_knows_under_the_strict_policy(visit, finished):
    with visit(finished, "/#/study/1/strategy") as page:
        for name in ("scores", "latest_pulls", "predictions", "decisions"):
            page.locator(f"figure[data-chart={name}]").scroll_into_view_if_needed()
            expect(page.locator(f"[data-chart={name}] .main-svg").first).to_be_visible()
        expect(page.locator("[data-chart=scores] .note")).to_contain_text("Shows the 50 highest of")
        page.set_viewport_size({"width": 400, "height": 800})
        assert wait_until(lambda: fits(page))  # charts are drawn again in the new width
        page.get_by_role("link", name="Charts").click()
        expect(page.locator("[data-chart=history] .main-svg").first).to_be_visible()
        expect(page.locator("[data-chart=decisions]")).to_have_count(0)


def test_a_network_is_drawn_as_an_image_with_a_text_alternative(visit, tmp_path):
    storage = str(tmp_path / "networks.db")
    study = make_network_study(storage)
    mutant = next(record.arm.id for record in study.counts.arms.values() if record.arm.parents)
    with server_of(storage) as address, visit(address, f"/#/study/1/arms/{mutant}") as page:
        image = page.locator("#panel img")
        expect(image).to_be_visible()
        assert image.get_attribute("alt").startswith("Network with")
        assert wait_until(lambda: image.evaluate("image => image.complete && image.naturalWidth > 0"))
        expect(page.locator("#panel")).to_contain_text("green: added")
        page.set_viewport_size({"width": 400, "height": 800})
        assert fits(page) and image.evaluate("image => image.getBoundingClientRect().right <= window.innerWidth")


def test_the_table_sorts_filters_pages_and_hides_columns(visit, finished):
    with visit(finished, "/#/study/1/arms") as page:
        expect(page.locator("th[aria-sort=descending]")).to_have_text("Best reward▼")
        page.get_by_role("button", name="Steps").click()
        expect(page.locator("th[aria-sort=descending]")).to_contain_text("Steps")
        page.get_by_role("button", name="Arm", exact=True).click()
        page.get_by_role("button", name="Arm", exact=True).click()
        expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Arm")
        assert cells(page, 1)[:3] == ["0", "1", "2"]
        page.get_by_role("button", name="Next page").click()
        expect(page.locator(".pages")).to_contain_text("101–")
        expect(page.locator("table.arms tbody tr").first).to_contain_text("100")
        page.locator("#arm-status").select_option("failed")
        expect(page.locator("table.arms .badge.failed").first).to_be_visible()
        expect(page.locator("table.arms .badge:not(.failed)")).to_have_count(0)
        page.locator("#arm-status").select_option("")
        page.get_by_label("Filter by config or arm").fill("tanh")
        expect(page.locator(".pages")).to_contain_text("in total")
        page.get_by_label("Filter by config or arm").fill("nothing like this")
        expect(page.get_by_text("No arm matches")).to_be_visible()
        page.get_by_role("button", name="Clear filters").click()
        page.locator("summary", has_text="Columns").click()
        page.get_by_label("depth (config)").uncheck()
        expect(page.get_by_role("columnheader", name="depth")).to_have_count(0)
        page.keyboard.press("Escape")
        expect(page.locator(".menu")).to_be_hidden()
        expect(page.locator("summary", has_text="Columns")).to_be_focused()
        page.locator("summary", has_text="Columns").click()
        page.locator("h1").click()
        expect(page.locator(".menu")).to_be_hidden()
        page.reload()
        expect(page.locator("table.arms")).to_be_visible()
        expect(page.get_by_role("columnheader", name="depth")).to_have_count(0)


def test_an_arm_opens_shows_its_parent_and_closes_with_escape(visit, finished):
    with visit(finished, "/#/study/1/arms") as page:
        page.locator("table.arms tbody tr", has=page.locator("[aria-label^=Parent]")).first.locator("a").first.click()
        panel = page.locator("#panel")
        expect(panel.get_by_role("heading", name="Learning curve")).to_be_visible()
        expect(panel.locator(".main-svg").first).to_be_visible()
        expect(panel.locator("tr.changed").first).to_be_visible()
        name = panel.locator("h2").inner_text()
        panel.locator("dd a").first.click()
        expect(panel.locator("h2")).not_to_have_text(name)
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()
        assert page.evaluate("document.activeElement.tagName") == "A"


def test_failures_have_a_traceback(visit, finished):
    with visit(finished, "/#/study/1/failures") as page:
        expect(page.locator(".failure .reason")).to_have_text("RuntimeError: too deep")
        page.locator("summary", has_text="Traceback").click()
        expect(page.locator("pre")).to_contain_text("raise RuntimeError")


def test_the_keyboard_is_enough(visit, finished):
    with visit(finished) as page:
        expect(page.locator(".study")).to_have_count(2)
        page.keyboard.press("Tab")
        expect(page.locator("#skip")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.locator(".study a").first).to_be_focused()
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="first", level=1)).to_be_visible()
        page.locator(".tabs a", has_text="Arms").focus()
        page.keyboard.press("Enter")
        expect(page.locator("table.arms")).to_be_visible()
        page.get_by_role("button", name="Steps").focus()
        page.keyboard.press("Space")
        expect(page.locator("th[aria-sort]")).to_contain_text("Steps")
        expect(page.get_by_role("button", name="Steps")).to_be_focused()
        page.locator("table.arms tbody a").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator("#panel")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Close arm details")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#panel")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/#/study/1/charts", "/#/study/1/arms", "/#/study/1/failures", "/#/study/1/arms/0"])
def test_a_narrow_window_shows_everything_in_both_color_schemes(visit, finished, path, scheme):
    with visit(finished, path, width=400, color_scheme=scheme) as page:
        expect(page.locator("main h1")).to_be_visible()
        expect(page.locator("main > p", has_text="Loading")).to_have_count(0)
        assert fits(page)
        background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (background == "rgb(17, 22, 28)") == (scheme == "dark")


def test_a_running_study_updates_the_page_and_keeps_what_the_user_does(visit, storage):
    with open_study(storage) as study, server_of(storage) as address:
        for _ in range(40):
            pull_once(study)
        with visit(address, "/#/study/1/arms") as page:
            expect(page.locator(".tabs")).to_contain_text("Arms (40)")
            field = page.get_by_label("Filter by config or arm")
            field.fill("0.")
            for _ in range(2):  # the second click puts new arms last, so that scrolling stays the same
                page.get_by_role("button", name="Arm", exact=True).click()
            expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Arm")
            field.focus()
            page.evaluate("document.querySelector('.scroll').scrollTop = 123")
            for _ in range(5):
                pull_once(study)
            expect(page.locator(".tabs")).to_contain_text("Arms (45)")
            expect(page.locator("table.arms tbody tr")).to_have_count(45)
            expect(page.locator("main .badge").first).to_have_text("running")
            expect(page.locator("th[aria-sort]")).to_contain_text("Arm")
            expect(field).to_be_focused()
            expect(field).to_have_value("0.")
            assert page.evaluate("document.querySelector('.scroll').scrollTop") == 123
            expect(page.locator("#announcer")).to_contain_text("45 pulls")


def test_charts_of_a_running_study_show_all_its_events(visit, storage):
    drawn = "document.querySelector('.plot[data-chart=history]')._fullData?.[0].x.length"
    with open_study(storage) as study, server_of(storage) as address:
        for _ in range(20):
            pull_once(study)
        with visit(address, "/#/study/1/charts") as page:
            expect(page.locator("[data-chart=history] .main-svg").first).to_be_visible()
            assert wait_until(lambda: page.evaluate(drawn) == 20)
            for _ in range(3):
                pull_once(study)
            assert wait_until(lambda: page.evaluate(drawn) == 23)


def test_the_page_rests_after_work_in_proportion_to_its_cost(visit, finished):
    with visit(finished) as page:
        rest = "async ([took, least]) => (await import('/static/pace.js')).restAfter(took, least)"
        assert [page.evaluate(rest, pair) for pair in ([100, 0], [1, 1000], [1e6, 0])] == [2400, 1000, 60000]
        moving = "document.getAnimations().filter(one => one.effect.getTiming().iterations === Infinity).length"
        assert page.evaluate(moving) == 0  # an endless animation keeps a processor busy


def test_a_new_study_appears_in_the_list(visit, storage):
    make_study(storage, "first", budget=8)
    with server_of(storage) as address, visit(address) as page:
        expect(page.locator(".study")).to_have_count(1)
        make_study(storage, "second", budget=8)
        expect(page.locator(".study")).to_have_count(2)


def test_a_storage_that_disappears_shows_a_banner_until_it_returns(visit, storage):
    make_study(storage, budget=8)
    with server_of(storage) as address, visit(address, expected=["503"]) as page:
        expect(page.locator(".study")).to_have_count(1)
        os.rename(storage, storage + ".away")
        expect(page.locator("#banner")).to_contain_text("The storage cannot be read at the moment")
        expect(page.locator(".study")).to_have_count(1)
        os.rename(storage + ".away", storage)
        expect(page.locator("#banner")).to_be_hidden()


def test_harmful_text_is_shown_as_text(visit, storage):
    def train(pull):
        if pull["x"] > 0.5:
            raise RuntimeError(HOSTILE)
        return {"reward": pull["x"], HOSTILE[:28]: 1.0}

    space = ma.Space(x=ma.Float(0, 1), word=ma.Choice(HOSTILE, "</script><script>alert(2)</script>"))
    make_study(storage, HOSTILE[:28], budget=30, function=train, space=space, max_steps=1, strategy="random")
    with server_of(storage) as address, visit(address) as page:
        page.on("dialog", lambda dialog: pytest.fail("a script ran"))
        expect(page.locator(".study a")).to_have_text(HOSTILE[:28])
        page.locator(".study a").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE[:28])
        for name in ("slices", "parallel_coordinates", "failures"):
            page.locator(f"figure[data-chart={name}]").scroll_into_view_if_needed()
            expect(page.locator(f"[data-chart={name}] .main-svg").first).to_be_visible()
        page.locator(".tabs a", has_text="Failures").click()
        expect(page.locator(".failure .reason")).to_contain_text("<img src=x onerror=alert(1)>\\x1b[2J\\u202e")
        page.locator(".tabs a", has_text="Arms").click()
        page.locator("table.arms tbody a").first.click()
        expect(page.locator("#panel h2")).to_be_visible()
        expect(page.locator("#panel")).to_contain_text("Learning curve")
        assert page.locator("img").count() == 0 and page.evaluate("document.scripts.length") == 2


def test_a_storage_without_studies_and_an_unknown_study_say_so(visit, storage):
    with open_study(storage, "empty"):
        pass
    with server_of(storage) as address:
        with visit(address, "/#/study/1/arms") as page:
            expect(page.get_by_text("No arms yet")).to_be_visible()
        with visit(address, "/#/study/7", expected=["404"]) as page:
            expect(page.get_by_text("There is no such study.")).to_be_visible()


def test_a_token_opens_the_page_once_and_for_all(visit, storage):
    make_study(storage, budget=8)
    with server_of(storage, token="secret-token") as address, visit(address, "/?token=secret-token") as page:
        expect(page.locator(".study")).to_have_count(1)
        assert "secret" not in page.url and "secret" not in page.evaluate("document.cookie")


def test_durations_and_sizes_read_as_in_reports(finished, visit):
    seconds = [0.0123, 0.9994, 0.9996, 59.9, 59.97, 75, 119.7, 3599.4, 3599.7, 7195, 90_000]
    sizes = [999, 1234, 99_940, 99_960, 999_400, 999_600, 4_560_000_000]
    with visit(finished) as page:
        script = "async ([name, values]) => values.map((await import('/static/format.js'))[name])"
        assert page.evaluate(script, ["duration", seconds]) == [format.duration(value) for value in seconds]
        assert page.evaluate(script, ["bytes", sizes]) == [format.size(value) for value in sizes]


def test_the_pulls_of_an_arm_are_aligned_with_their_titles(finished, visit):
    with visit(finished, "/#/study/1/arms/0") as page:
        pulls = page.get_by_role("region", name="Pulls")
        pulls.locator("td").first.wait_for()
        heads, cells = (pulls.locator(f"{part} tr").first.locator(kind) for part, kind in (("thead", "th"), ("tbody", "td")))
        align = "elements => elements.map((element) => getComputedStyle(element).textAlign === 'right')"
        assert heads.evaluate_all(align) == cells.evaluate_all(align)
        assert "Time" in heads.all_inner_texts()
