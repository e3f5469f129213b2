"""Charts in a real browser."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from manyarms.html.page import stylesheet
from manyarms.plots import Chart, plotly_figure
from manyarms.plots.chart import Axis, Bars, Panel
from manyarms.plots.svg_figure import svg_figure

pytest.importorskip("plotly", reason="plotly is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="the browser is driven with playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

NOTES = ["", "A note.", "A note in two lines. " * 8]
TOPS = """() => [...document.querySelectorAll(".js-plotly-plot")].map(
  (plot) => plot.querySelector(".gtitle").getBoundingClientRect().top - plot.getBoundingClientRect().top)"""


@pytest.fixture(scope="module")
def page():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"])
        yield browser.new_page()
        browser.close()


@pytest.mark.parametrize(
    "name", ["<b>momentum</b>", "MAX_DEPTH_OF_TREES", "mmmmmmmmmmmm", "学習率のスケジュール", "width_multiplier"]
)
def test_labels_of_images_are_not_cut_off(page, name):
    bars = Bars(np.arange(2.0), np.ones(2))
    chart = Chart("Title", (Panel(Axis("x"), Axis(categories=(name, "b")), (bars,)),))
    page.set_content(f"<style>{stylesheet()}</style>{svg_figure(chart)}")
    lefts = page.evaluate(
        "() => [...document.querySelectorAll('.image, .image text')].map((e) => e.getBoundingClientRect().left)"
    )
    assert len(lefts) > 3 and lefts[0] == min(lefts)


def test_titles_are_not_cut_off(page, tmp_path):
    layers = (Bars(np.zeros(1), np.ones(1)),)
    charts = [Chart("Title", (Panel(Axis("x"), Axis("y"), layers),), note=note, height=200) for note in NOTES]
    parts = (plotly_figure(chart).to_html(full_html=False, include_plotlyjs=chart is charts[0]) for chart in charts)
    file = tmp_path / "charts.html"
    file.write_text(f"<meta charset=utf-8>{''.join(parts)}", encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_function('document.querySelectorAll(".gtitle").length === 3')
    assert min(page.evaluate(TOPS)) >= 5
