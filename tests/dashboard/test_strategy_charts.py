"""What a strategy knows is drawn in another process, in the background, and never from code of the study."""

from __future__ import annotations

import json

import pytest
from dashboards import SPACE, client_of, make_network_study, make_study
from waiting import wait_until

import manyarms as ma
from manyarms.dashboard import strategy_charts as module
from manyarms.dashboard.strategy_charts import CUSTOM, REBUILDING, StrategyCharts, figures, titles
from manyarms.journal.database import parse_url

STRATEGIES = {
    "adaptive": (lambda: ma.AdaptiveMutantUCB(SPACE, budget=120, max_steps=4, seed=0), {"predictions"}),
    "mutant": (lambda: ma.MutantUCB(SPACE, budget=120, max_steps=3, seed=0), set()),
    "thompson": (lambda: ma.DTTTS(SPACE, budget=60, seed=0), {"posteriors"}),
    "tree": (lambda: ma.TreeUCB(SPACE, budget=60, seed=0), {"boxes"}),
    "cascade": (lambda: ma.Cascade({"a": ma.RandomSearch(SPACE), "b": ma.DTTTS(SPACE)}, budget=60, seed=0), set()),
}


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self):
        return self.now


class OwnSearch(ma.RandomSearch):
    """A strategy that is not built in. It must not be run."""

    def scores(self):
        raise AssertionError("code of the study was run")


def run(strategy, storage):
    study = ma.Study(strategy, storage=storage)
    study.optimize(lambda pull: 0.5 + pull.arm.id % 7 / 20, progress=False)
    study.close()
    return study


def url(storage):
    return parse_url(storage).render_as_string(hide_password=False)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_shows_its_charts(name, storage):
    make, others = STRATEGIES[name]
    study = run(make(), storage)
    names = titles(study.header)
    assert set(names) == {"scores", "latest_pulls"} | others
    found = figures(url(storage), "study", list(names))
    assert found["events"] == study.counts.events
    assert found["figures"].keys() == names.keys() and all(figure["data"] for figure in found["figures"].values())
    json.dumps(found, allow_nan=False)


def test_random_search_shows_its_latest_pulls_only():
    assert set(titles({"strategy": "RandomSearch"})) == {"latest_pulls"}


@pytest.mark.parametrize("name", ["os.system", "Study", "__doc__", "own.Search", None, 3, ""])
def test_a_header_that_names_anything_else_has_no_charts(name):
    assert "scores" not in titles({"strategy": name})


def test_the_code_of_a_custom_strategy_is_not_run(storage):
    run(OwnSearch(SPACE, budget=10, seed=0), storage)
    with client_of(storage) as client:
        study = client.get("/api/study/1").json()
        assert study["strategy_note"] == CUSTOM and set(study["strategy_charts"]) == {"decisions"}
        assert client.get("/api/study/1/chart/scores").status_code == 404


def test_a_custom_part_is_not_run_either(storage):
    class OwnSpace:
        def sample(self, rng):
            return {"x": rng.random()}

        def mutate(self, config, rng):
            return self.sample(rng)

    run(ma.MutantUCB(OwnSpace(), budget=60, max_steps=2, seed=0), storage)
    assert figures(url(storage), "study", ["scores"]) == {"note": CUSTOM}


def test_a_study_of_networks_shows_its_strategy(storage):
    make_network_study(storage)
    assert figures(url(storage), "networks", ["scores"])["figures"]["scores"]["data"]


def drawn(client, name):
    """A chart of the page, after it was drawn."""

    def is_drawn():
        return client.get(f"/api/study/1/chart/{name}").json()["figure"]["note"] != REBUILDING

    assert wait_until(is_drawn)
    return client.get(f"/api/study/1/chart/{name}").json()


def test_the_page_gets_a_chart_from_another_process_without_waiting(storage):
    make_study(storage)
    with client_of(storage) as client:
        assert client.get("/api/study/1").json()["strategy_charts"]["scores"] == "Value and exploration bonus"
        first = client.get("/api/study/1/chart/scores").json()
        assert first["figure"]["note"] == REBUILDING and first["drawn"] < first["events"]
        answer = drawn(client, "scores")
        assert answer["figure"]["data"] and answer["drawn"] == answer["events"] == answer["length"]
        assert drawn(client, "latest_pulls")["figure"]["data"]


def test_charts_are_drawn_again_only_when_their_cost_allows(storage, monkeypatch):
    clock, drawings = Clock(), []

    def answer(self):
        drawings.append(None)
        clock.now += 4
        return {"events": events[0], "figures": {"scores": {}, "latest_pulls": {}}}

    monkeypatch.setattr(StrategyCharts, "_answer", answer)
    charts, events = StrategyCharts("", "study", {"strategy": "MutantUCB"}, clock), [100]

    def ask(number):
        events[0] = number
        found = charts.figure("scores", number)
        assert wait_until(lambda: charts._thread is None)
        return found

    assert charts.figure("posteriors", 100) is None and drawings == []
    assert ask(100).events == -1 and ask(100).events == 100 and len(drawings) == 1
    ask(150)
    assert len(drawings) == 1
    clock.now += 4 * 24 - 1
    ask(1000)
    assert len(drawings) == 1
    clock.now += 2
    ask(1000)
    assert len(drawings) == 2 and ask(1000).events == 1000


@pytest.mark.parametrize("command", ["raise SystemExit(1)", "print('nothing')"])
def test_a_process_that_fails_is_explained(command, monkeypatch, storage):
    monkeypatch.setattr(module, "_COMMAND", command)
    make_study(storage, budget=8)
    with client_of(storage) as client:
        assert drawn(client, "scores")["figure"] == module.empty_figure("The state of the strategy could not be rebuilt.")


def test_a_study_that_another_version_decided_differently_is_explained(storage):
    from contextlib import closing

    from manyarms.journal import Event
    from manyarms.journal.sql import SqlJournal

    make_study(storage, budget=8)
    with closing(SqlJournal(url(storage), "study")) as journal:
        journal.append([Event("asked", 999, 0, 1, data={"config": {"rate": 1, "depth": 1, "act": "relu"}})])
    with client_of(storage) as client:
        assert "could not be rebuilt: event" in drawn(client, "scores")["figure"]["note"]


def test_a_process_is_ended_when_the_study_is_closed(storage, monkeypatch):
    monkeypatch.setattr(module, "_COMMAND", "import time; time.sleep(1000)")
    charts = StrategyCharts(url(storage), "study", {"strategy": "MutantUCB"})
    charts.figure("scores", 1)
    assert wait_until(lambda: charts._process is not None)
    charts.close()
    assert wait_until(lambda: charts._thread is None) and charts._process is None
