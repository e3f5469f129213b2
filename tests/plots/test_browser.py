"""Plotly figures in a real browser."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from manyarms.plots import Chart, plotly_figure
from manyarms.plots.chart import Axis, Bars, Panel

pytest.importorskip("plotly", reason="plotly is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="the browser is driven with playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

NOTES = ["", "A note.", "A note in two lines. " * 8]
TOPS = """() => [...document.querySelectorAll(".js-plotly-plot")].map(
  (plot) => plot.querySelector(".gtitle").getBoundingClientRect().top - plot.getBoundingClientRect().top)"""


def test_titles_are_not_cut_off(tmp_path):
    layers = (Bars(np.zeros(1), np.ones(1)),)
    charts = [Chart("Title", (Panel(Axis("x"), Axis("y"), layers),), note=note, height=200) for note in NOTES]
    parts = (plotly_figure(chart).to_html(full_html=False, include_plotlyjs=chart is charts[0]) for chart in charts)
    page = tmp_path / "charts.html"
    page.write_text(f"<meta charset=utf-8>{''.join(parts)}", encoding="utf-8")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"])
        opened = browser.new_page()
        opened.goto(page.as_uri())
        opened.wait_for_function('document.querySelectorAll(".gtitle").length === 3')
        tops = opened.evaluate(TOPS)
        browser.close()
    assert min(tops) >= 5
