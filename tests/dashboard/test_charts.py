"""Charts are drawn from the events so far, without waiting for each other, and again only if something happened."""

from __future__ import annotations

import threading

import pytest
from waiting import wait_until

from manyarms.dashboard import charts as module
from manyarms.dashboard.charts import Charts, Drawn, copied
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
    clock.now += 24 * 3 - 1
    assert charts.figure("history") is first
    clock.now += 1
    assert charts.figure("history").events == 11


def test_a_chart_is_drawn_again_at_once_when_all_events_have_been_read():
    clock = Clock()
    charts = charts_of(range(5), clock)
    charts._drawn["history"] = partial = Drawn({}, 4, clock.now, 3.0, complete=False)
    assert charts.figure("history", complete=False) is partial
    complete = charts.figure("history", complete=True)
    assert complete.events == 10 and complete.complete


def test_a_chart_of_a_forest_is_drawn_in_the_background(monkeypatch):
    drawn = threading.Event()

    def slow(name, history):
        assert drawn.wait(10)
        return {"name": name}

    monkeypatch.setattr(module, "forest_chart", slow)
    charts = charts_of(range(20), Clock())
    assert charts.figure("importance", complete=False).figure["note"] == module.DRAWING
    assert not charts._drawing["importance"].locked()  # it waits until all events were read
    assert charts.figure("importance").events == -1
    drawn.set()
    assert wait_until(lambda: charts.figure("importance").figure == {"name": "importance"})


def test_a_forest_is_not_needed_while_there_are_few_arms(monkeypatch):
    monkeypatch.setattr(module, "forest_chart", None)
    charts = charts_of(range(5), Clock())
    assert wait_until(lambda: "at least 10 arms" in charts.figure("importance").figure["note"])


@pytest.mark.parametrize(
    ("events", "complete", "now", "recent"),
    [(10, True, 1e9, True), (11, True, 123.9, True), (11, True, 124.1, False), (11, False, 123.9, True)],
)
def test_how_long_a_chart_is_recent(events, complete, now, recent):
    assert Drawn({}, 10, ended=100.0, seconds=1.0).is_recent(events, complete, now) is recent


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
