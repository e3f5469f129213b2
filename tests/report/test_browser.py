"""The report in a real browser, opened from disk. Each visit fails if the page logs an error or asks for anything else."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from waiting import PATIENCE

import manyarms as ma
from manyarms.report.content import read_content
from manyarms.report.page import study_page

playwright = pytest.importorskip("playwright.sync_api", reason="the browser is driven with playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

SPACE = ma.Space(rate=ma.Float(1e-3, 1, log=True), depth=ma.Int(1, 5), act=ma.Choice("relu", "<img src=x onerror=alert(1)>"))


def train(pull):
    if pull["depth"] == 5:
        raise RuntimeError("</script><script>alert(2)</script>")
    return (1 - abs(pull["rate"] - 0.1)) * (1 - 0.5**pull.stop)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A report on a study with failures and harmful text."""
    place = tmp_path_factory.mktemp("report")
    ma.tune(train, SPACE, budget=150, max_steps=4, seed=0, storage=str(place / "study.db"), name="study", progress=False)
    path = Path(place / "study.html")
    path.write_text(study_page(read_content(str(place / "study.db"), "study")), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def visit(address):
    """Opens the report, and checks at the end what it logged and asked for."""
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"])

        @contextmanager
        def visit(width=1280, **options):
            context = browser.new_context(viewport={"width": width, "height": 900}, **options)
            context.set_default_timeout(1000 * PATIENCE)
            page = context.new_page()
            problems, asked = [], []
            page.on("console", lambda message: problems.append(message.text))
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("dialog", lambda dialog: problems.append("a script ran"))
            page.on("request", lambda request: asked.append(request.url))
            page.goto(address)
            yield page
            context.close()
            assert problems == [] and {url.partition("#")[0] for url in asked} == {address}

        yield visit
        browser.close()


def cells(page, column):
    return page.locator(f"table.arms tbody tr:visible :is(td, th):nth-child({column})").all_inner_texts()


def test_arms_are_sorted_and_filtered_with_the_mouse_and_the_keyboard(visit):
    with visit() as page:
        rewards = [float(text) for text in cells(page, 3) if text != "–"]
        assert rewards == sorted(rewards, reverse=True)
        arm = page.get_by_role("button", name="Arm", exact=True)
        arm.click()
        ids = [int(text) for text in cells(page, 1)]
        assert ids == sorted(ids, reverse=True)
        arm.focus()
        page.keyboard.press("Enter")
        assert [int(text) for text in cells(page, 1)] == sorted(ids)
        assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
        page.get_by_role("button", name="Best reward").click()
        page.get_by_role("button", name="Best reward").click()
        assert cells(page, 3)[-1] == "–"  # arms without a reward are last in both orders
        page.get_by_label("Status").select_option("failed")
        assert set(cells(page, 2)) == {"failed"}
        page.get_by_label("Status").select_option("")
        page.get_by_label("Filter by config or arm").fill("relu")
        assert page.locator("output").inner_text() == f"{len(cells(page, 1))} of {len(ids)} rows"
        assert 0 < len(cells(page, 1)) < len(ids)


def test_harmful_text_does_nothing(visit):
    with visit() as page:
        assert page.locator("img").count() == 0 and page.evaluate("document.scripts.length") == 1
        page.locator("summary", has_text="Traceback").first.click()
        assert "alert(2)" in page.locator(".failures pre").first.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_it_fits_every_window_in_both_color_schemes(visit, width, scheme):
    with visit(width=width, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (background == "rgb(17, 22, 28)") == (scheme == "dark")
        outside = "[...document.querySelectorAll('svg.image text')].filter(text => {"
        outside += " const box = text.getBoundingClientRect(), image = text.ownerSVGElement.getBoundingClientRect();"
        outside += " return box.left < image.left - 1 || box.right > image.right + 1; }).map(text => text.textContent)"
        assert page.evaluate(outside) == []


def test_it_can_be_read_without_javascript_and_printed(visit):
    with visit(java_script_enabled=False) as page:
        assert page.locator("table.arms tbody tr").count() > 10 and page.locator(".tools").is_hidden()
    with visit() as page:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details:not([open])").count() == 0 and page.locator(".tools").is_hidden()
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("details[open]").count() == 0
