"""Charts are drawn from the events so far, without waiting for each other, and again only if something happened."""

from __future__ import annotations

import pytest

from manyarms.dashboard import charts as module
from manyarms.dashboard.charts import Charts, copied
from manyarms.dashboard.forest_charts import forest_chart
from manyarms.journal import Event
from manyarms.plots import History

HEADER = {"direction": "maximize", "settings": {}, "space": None, "strategy": "RandomSearch"}


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self):
        return self.now


def pulls(arms):
    """The events of arms with one pull each."""
    for arm in arms:
        yield Event("asked", arm, 0, 1, data={"config": {"x": arm / 10, "y": (7 * arm) % 5}})
        yield Event("told", arm, 0, 1, arm / 10, 1.0)


def charts_of(arms, clock):
    charts = Charts(HEADER, clock)
    for event in pulls(arms):
        charts.add(event)
    return charts


def test_a_chart_is_drawn_again_only_if_there_are_new_events():
    charts = charts_of(range(5), Clock())
    first = charts.figure("history")
    assert first.events == charts.events == 10 and charts.figure("history") is first
    charts.add(Event("asked", 9, 0, 1, data={"config": {"x": 0.5}}))
    assert charts.figure("history").events == 11


def test_a_chart_that_takes_long_is_drawn_again_later(monkeypatch):
    clock = Clock()

    def slow(history):
        clock.now += 3
        return module.PAGE_CHARTS["curves"](history)

    monkeypatch.setitem(module.PAGE_CHARTS, "history", slow)
    charts = charts_of(range(5), clock)
    first = charts.figure("history")
    charts.add(Event("asked", 9, 0, 1, data={"config": {"x": 0.5}}))
    clock.now += 29
    assert charts.figure("history") is first
    clock.now += 1
    assert charts.figure("history").events == 11
    for event in pulls(range(10, 20)):
        charts.add(event)
    assert charts.figure("history").events == 31  # most events are new


def test_events_are_added_while_a_chart_is_being_drawn(monkeypatch):
    charts = charts_of(range(5), Clock())

    def describe(history):
        for event in pulls(range(5, 1005)):
            charts.add(event)
        assert history.events == 10
        return module.PAGE_CHARTS["curves"](history)

    monkeypatch.setitem(module.PAGE_CHARTS, "history", describe)
    assert charts.figure("history").events == 10 and charts.events == 2010
    assert charts.figure("curves").events == 2010


def test_a_copy_does_not_change_with_the_original():
    history = History(HEADER)
    for event in pulls(range(3)):
        history.add(event)
    copy = copied(history)
    for event in [*pulls(range(3, 6)), Event("asked", 0, 1, 2), Event("failed", 0, 1, 2, None, 1.0, {"reason": "odd"})]:
        history.add(event)
    assert (copy.arms, copy.pulls, copy.events, copy.reasons, copy.in_flight) == (3, 3, 6, {}, {})
    assert copy.column("reward").tolist() == [0.0, 0.1, 0.2] and copy.best_rewards().tolist() == [0.0, 0.1, 0.2]
    assert history.arms == 6 and type(copy.reasons) is type(history.reasons)


def test_every_chart_has_a_title():
    titles = Charts(HEADER).titles | module.strategy_titles({"space": {"joint": {}}})
    assert titles.keys() == module.PAGE_CHARTS.keys() and all(titles.values())
    assert "algorithms" not in module.strategy_titles(HEADER)


def test_charts_of_a_forest_are_drawn_in_another_process():
    pytest.importorskip("sklearn", reason="the forest comes from scikit-learn")
    history = History(HEADER)
    for event in pulls(range(30)):
        history.add(event)
    figure = forest_chart("importance", history)
    assert figure["data"] and figure["title"]


def test_a_chart_that_cannot_be_drawn_says_so(monkeypatch):
    monkeypatch.setattr("manyarms.dashboard.forest_charts._COMMAND", "raise SystemExit(1)")
    figure = forest_chart("importance", History(HEADER))
    assert figure["data"] == [] and figure["note"] == "This chart could not be drawn."
