"""Charts as SVG: every chart is drawn, nothing harmful is in it, and long studies give small images."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from manyarms.journal import Event
from manyarms.plots import CHARTS, Chart, History
from manyarms.plots.chart import Axis, Bars, Line, Panel, Points, Surface, empty_chart
from manyarms.plots.scales import scale_of
from manyarms.plots.svg_figure import is_wide, svg_figure


def long_history(pulls):
    history = History({"direction": "maximize"})
    for number in range(pulls):
        config = {f"p{place}": (number * (place + 7) % 101) / 101 for place in range(10)}
        parents = [number - 1] if number % 3 else []
        history.add(Event("asked", number, 0, 1, data={"config": config, "parents": parents}))
        where = {"ended": 1e9 + number, "worker": f"host:{number % 8}"}
        history.add(Event("told", number, 0, 1, (number % 997) / 997, 0.5, where))
    return history


def drawn(*layers, x=None, y=None, **options):
    html = svg_figure(Chart("A chart", (Panel(x or Axis("x"), y or Axis("y"), layers),), **options))
    ElementTree.fromstring(f"<div>{html}</div>")  # well-formed
    return html


def test_a_hundred_thousand_pulls_give_a_few_megabytes():
    history = long_history(100_000)
    names = [name for name in CHARTS if name not in ("importance", "contour")]
    total = sum(len(svg_figure(CHARTS[name](history))) for name in names)
    assert 200_000 < total < 5_000_000


def test_all_kinds_of_layers_are_drawn():
    some = np.arange(4.0)
    html = drawn(
        Surface(some, some, np.outer(some, some), "height"),
        Points(some, some, "points", values=some, scale="steps", texts=list("abcd")),
        Line(some, np.array([0, np.nan, 2, 3]), "line", steps=True),
        Bars(some, some, errors=some, name="bars"),
    )
    assert html.count("<circle") == 4 and html.count("<title>") == 4 and html.count("<rect x=") >= 4
    assert "steps 0" in html and "height 0" in html and ">line<" not in html and " line</li>" in html
    assert "nan" not in html


def test_harmful_names_are_text():
    name = "</svg><script>alert(1)</script>\x1b"
    html = drawn(Points(np.ones(1), np.ones(1), name, texts=[name]), x=Axis(name), y=Axis(categories=(name, "b")))
    assert "<script" not in html and "\x1b" not in html


@pytest.mark.parametrize("values", [[], [np.nan], [5.0], [0.0, 0.0], [-1e308, 1e308], [1e-320, 1e-310], [1e15, 1e15 + 2]])
@pytest.mark.parametrize("axis", [Axis(), Axis(log=True), Axis(reverse=True)])
def test_any_values_have_places_and_a_few_ticks(values, axis):
    scale = scale_of(axis, [np.array(values)], 0.0, 100.0, 0.04)
    places = scale(np.array(values))
    assert np.all(np.isnan(places) | ((places >= -1) & (places <= 101)))
    assert len(scale.ticks(5)) <= 12


@pytest.mark.parametrize(("seconds", "label"), [(4, "00:00:00"), (7_200, "00:00"), (1e6, "2001-09-11")])
def test_dates_have_round_ticks(seconds, label):
    midnight = 1_000_080_000.0
    scale = scale_of(Axis(is_date=True), [midnight + np.array([0.0, seconds])], 0.0, 100.0, 0.0)
    found = [label for _, label in scale.ticks(6)]
    assert 2 <= len(found) <= 8 and found[0] == label


def test_an_empty_chart_is_no_image():
    assert svg_figure(empty_chart("Nothing", "There is nothing yet.")) == "" and not is_wide(empty_chart("Nothing", ""))
