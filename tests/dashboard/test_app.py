"""The JSON that the page shows, for ordinary and for odd studies."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from dashboards import HOSTILE, client_of, make_study, open_study, pull_once, train
from rechaining import rechain
from waiting import wait_until

import manyarms as ma
from manyarms.journal import Event
from manyarms.journal.sql import SqlJournal
from manyarms.study.header import make_header


def refuse(constant):
    raise AssertionError(f"{constant} is not JSON")


def get(client, path, code=200, **parameters):
    answer = client.get(path, params=parameters)
    assert answer.status_code == code, answer.text
    return json.loads(answer.text, parse_constant=refuse)


def ids(page):
    return [row["arm"] for row in page["rows"]]


def write(storage, events, name="study", direction="maximize"):
    """A study with these events, which no search wrote."""
    strategy = ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=1000, max_steps=4, seed=0)
    with closing(SqlJournal(storage, name)) as journal:
        if journal.header is None:
            journal.create(make_header(strategy, 0, direction, None))
        journal.append(events)


def test_a_storage_without_studies_has_an_empty_list(storage, client):
    with closing(sqlite3.connect(storage)) as connection:
        connection.execute("CREATE TABLE other (x)")
    assert get(client, "/api/studies")["studies"] == []
    get(client, "/api/study/1", 404)


def test_the_list_has_the_newest_study_first_and_its_totals(storage, client):
    make_study(storage, "first")
    second = make_study(
        storage, "second", budget=20, function=lambda pull: pull["rate"], direction="minimize", strategy="random"
    )
    found, other = get(client, "/api/studies")["studies"]
    assert (found["name"], other["name"]) == ("second", "first")
    assert found["state"] == "finished" and found["steps"] == 20 and found["limits"] == {"steps": 20}
    assert found["pulls"] == second.counts.pulls and found["arms"] == len(second.counts.arms) and found["in_flight"] == 0
    assert found["best_reward"] == min(record.best_reward for record in second.counts.arms.values())
    assert other["failures"] > 0 and found["failures"] == 0


def test_a_study_has_its_facts_settings_charts_and_recommendation(storage, client):
    study = make_study(storage)
    facts = get(client, "/api/study/1")
    assert facts["strategy"] == "AdaptiveMutantUCB" and facts["seed"] == 0 and facts["direction"] == "maximize"
    assert facts["settings"]["max_steps"] == 4 and {"history", "curves"} <= facts["charts"].keys()
    assert facts["recommended"]["arm"] == study.best().id and facts["recommended"]["is_newest"]
    assert facts["recommended"]["reward"] == study.best_reward


def test_the_table_of_arms_agrees_with_the_study(storage, client):
    study = make_study(storage)
    page = get(client, "/api/study/1/arms", limit=500)
    assert page["total"] == page["matching"] == len(study.counts.arms)
    names = [column["name"] for column in page["columns"]]
    assert {"config:rate", "config:depth", "config:act", "metric:loss"} <= set(names)
    for row in get(client, "/api/study/1/arms", limit=500, column=["arm", "steps", "best_reward", "best_step", "config:rate"])[
        "rows"
    ]:
        record = study.counts.arms[row["arm"]]
        best_step = record.best_step if record.best_reward is not None else None
        assert row["cells"] == [row["arm"], record.steps, record.best_reward, best_step, record.arm.config["rate"]]


@pytest.mark.parametrize(
    "sort", ["arm", "steps", "best_reward", "seconds", "status", "config:rate", "config:act", "metric:loss", "parents"]
)
def test_arms_are_sorted_both_ways_with_missing_values_last(storage, client, sort):
    make_study(storage)
    for order in ("asc", "desc"):
        rows = get(client, "/api/study/1/arms", sort=sort, order=order, limit=500, column=["arm", sort])["rows"]
        values = [min(row["cells"][-1], default=None) if sort == "parents" else row["cells"][-1] for row in rows]
        there = [value for value in values if value is not None]
        assert values == there + [None] * (len(values) - len(there))
        if sort == "status":
            there = [["running", "failed", "done", "paused"].index(status) for status in there]
        assert there == sorted(there, reverse=order == "desc")


def test_arms_are_filtered_by_status_by_words_of_the_config_and_by_id(storage, client):
    study = make_study(storage)
    arms = study.counts.arms
    failed = get(client, "/api/study/1/arms", status="failed", limit=500)
    assert set(ids(failed)) == {id for id, record in arms.items() if record.failed} and failed["matching"] == len(
        failed["rows"]
    )
    tanh = get(client, "/api/study/1/arms", text="TANH", limit=500)
    assert set(ids(tanh)) == {id for id, record in arms.items() if record.arm.config["act"] == "tanh"}
    assert 0 < tanh["matching"] < tanh["total"] == len(arms)
    assert 7 in ids(get(client, "/api/study/1/arms", text="7", limit=500))
    assert ids(get(client, "/api/study/1/arms", text="tanh relu")) == []
    assert ids(get(client, "/api/study/1/arms", text="100%_")) == []


def test_a_filter_finds_arms_that_were_added_later_and_other_alphabets(storage, client):
    write(storage, [Event("asked", 0, 0, 1, data={"config": {"word": "Größe"}})])
    assert ids(get(client, "/api/study/1/arms", text="Größe")) == [0]
    write(
        storage, [Event("asked", 1, 0, 1, data={"config": {"word": "Größe 2"}}), Event("asked", 2, 0, 1, data={"config": {}})]
    )
    assert wait_until(lambda: get(client, "/api/study/1/arms")["total"] == 3)  # the same dashboard notices
    assert sorted(ids(get(client, "/api/study/1/arms", text="Größe"))) == [0, 1]


def test_pages_follow_each_other_and_one_past_the_end_is_the_last(storage, client):
    make_study(storage)
    every = ids(get(client, "/api/study/1/arms", sort="arm", order="asc", limit=500))
    pages = [ids(get(client, "/api/study/1/arms", sort="arm", order="asc", limit=10, offset=offset)) for offset in (0, 10)]
    assert pages == [every[:10], every[10:20]]
    last = get(client, "/api/study/1/arms", sort="arm", order="asc", limit=10, offset=10_000)
    assert ids(last) == every[last["offset"] :] and last["rows"]


@pytest.mark.parametrize(
    "wrong", [{"offset": "-1"}, {"limit": "many"}, {"offset": "9" * 30}, {"status": "fine"}, {"limit": "١"}]
)
def test_wrong_parameters_are_refused(storage, client, wrong):
    make_study(storage, budget=8)
    assert client.get("/api/study/1/arms", params=wrong).status_code == 400


def test_unknown_columns_are_ignored(storage, client):
    make_study(storage, budget=8)
    page = get(client, "/api/study/1/arms", sort="config:nothing", column=["arm", "config:nothing", "__class__"])
    assert all(row["cells"] == [row["arm"]] for row in page["rows"])


def test_an_arm_has_its_config_lineage_curve_pulls_and_difference_to_its_parent(storage, client):
    study = make_study(storage, budget=120)
    child = next(record for record in study.counts.arms.values() if record.arm.parents and record.stops)
    parent = study.counts.arms[child.arm.parents[0]]
    found = get(client, f"/api/study/1/arm/{child.arm.id}")
    assert json.loads(found["config"]) == child.arm.config and found["parents"] == list(child.arm.parents)
    changed = {value["name"]: value["before"] for value in found["values"] if value["changed"]}
    assert changed == {
        name: parent.arm.config[name] for name, value in child.arm.config.items() if value != parent.arm.config[name]
    }
    assert found["curve"]["steps"] == list(child.stops) and found["curve"]["rewards"][-1] == child.reward
    assert found["curve"]["point_rewards"][0] == child.arm.config["rate"] / 2
    assert [pull["stop"] for pull in found["pull_rows"]] == list(child.stops) and found["pull_rows"][-1]["metrics"]["loss"]
    assert found["checkpoint_bytes"] == child.checkpoint_bytes > 0
    assert child.arm.id in get(client, f"/api/study/1/arm/{parent.arm.id}")["children"]
    assert "no arm 99999" in get(client, "/api/study/1/arm/99999", 404)["error"]


def test_failures_are_grouped_by_reason_and_have_a_traceback(storage, client):
    study = make_study(storage)
    found = get(client, "/api/study/1/failures")
    (group,) = found["groups"]
    assert found["total"] == group["count"] == study.counts.failures and group["reason"] == "RuntimeError: too deep"
    assert "Traceback" in group["details"] and "too deep" in group["details"]
    arm = get(client, f"/api/study/1/arm/{group['arm']}")
    assert arm["status"] == "failed" and "Traceback" in arm["pull_rows"][-1]["details"]


@pytest.mark.parametrize(
    "name", ["history", "curves", "slices", "parallel_coordinates", "rungs", "family", "timeline", "failures"]
)
def test_charts_are_figures_that_need_no_webgl(storage, client, name):
    make_study(storage)
    answer = get(client, f"/api/study/1/chart/{name}")
    assert answer["drawn"] == answer["events"] and answer["figure"]["data"]
    assert not {trace["type"] for trace in answer["figure"]["data"]} & {"scattergl", "parcoords"}


def test_there_is_no_chart_with_another_name(storage, client):
    make_study(storage, budget=8)
    get(client, "/api/study/1/chart/nothing", 404)


ODD = {
    "empty": [],
    "one pull in flight": [Event("asked", 0, 0, 1, data={"config": {"x": 0.5}})],
    "a config that is a list": [Event("asked", 0, 0, 1, data={"config": [1, [2, HOSTILE]]}), Event("told", 0, 0, 1, 0.5, 1.0)],
    "a config that is text": [Event("asked", 0, 0, 1, data={"config": HOSTILE}), Event("told", 0, 0, 1, 0.5, 1.0)],
    "a config that is null": [Event("asked", 0, 0, 1, data={"config": None}), Event("told", 0, 0, 1, 0.5, 1.0)],
    "a long config": [Event("asked", 0, 0, 1, data={"config": {"x" * 10_000: "y" * 10_000, "list": [0.5] * 10_000}})],
    "many values": [Event("asked", 0, 0, 1, data={"config": {f"x{i}": i for i in range(1_000)}})],
    "large numbers": [Event("asked", 0, 0, 1, data={"config": {"x": 2**80, "y": 10**400, "z": -1e300}})],
    "unknown arms": [Event("told", 5, 0, 1, 0.5, 1.0), Event("failed", 6, 0, 1)],
    "odd data": [
        Event("asked", 0, 0, 1, data={"config": {"x": 1}, "parents": "none"}),
        Event("told", 0, 0, 1, 0.5, 1.0, {"metrics": [1], "curve": 5, "attributes": 3, "checkpoint_bytes": "1", "ended": ""}),
        Event("budget", data={"budget": "lots"}),
    ],
    "all failed": [
        event
        for arm in range(3)
        for event in (
            Event("asked", arm, 0, 1, data={"config": {"x": arm}}),
            Event("failed", arm, 0, 1, None, 0.1, {"reason": HOSTILE, "details": HOSTILE}),
        )
    ],
}  # fmt: skip


@pytest.mark.parametrize("case", ODD)
def test_odd_studies_are_shown(storage, client, case):
    write(storage, ODD[case])
    (row,) = get(client, "/api/studies")["studies"]
    assert row["events"] == row["counted"] == len(ODD[case])
    facts = get(client, "/api/study/1")
    get(client, "/api/study/1/failures")
    page = get(client, "/api/study/1/arms", column=["arm", "config:config", "config:x"])
    for arm in ids(page):
        get(client, f"/api/study/1/arm/{arm}")
    for chart in set(facts["charts"]) - {"importance", "contour"}:
        get(client, f"/api/study/1/chart/{chart}")


def test_a_corrupt_length_of_one_study_leaves_the_others_readable(storage, client):
    for name in ("first", "second"):
        make_study(storage, name).close()
    with closing(sqlite3.connect(storage)) as connection, connection:
        connection.execute("UPDATE manyarms_heads SET events = 'many' WHERE study = 1")
    assert len(get(client, "/api/studies")["studies"]) == 2
    assert "corrupt" in get(client, "/api/study/1", 503)["detail"]
    get(client, "/api/study/2/arms")


def test_nan_and_infinity_in_a_file_from_somebody_else_are_no_numbers(storage, client):
    write(
        storage,
        [Event("asked", 0, 0, 1, data={"config": {"x": 0.5}}), Event("told", 0, 0, 1, 0.5, 1.0, {"metrics": {"loss": 0.5}})],
    )
    with closing(sqlite3.connect(storage)) as connection, connection:
        connection.execute("UPDATE manyarms_events SET data = replace(data, '0.5', 'NaN')")
        connection.execute("UPDATE manyarms_events SET reward = 9e999, seconds = -9e999 WHERE kind = 'told'")
    assert "corrupt" in get(client, "/api/study/1/arms", 503)["detail"]
    rechain(storage)
    with client_of(storage) as fresh:
        (row,) = get(fresh, "/api/study/1/arms", column=["best_reward", "metric:loss", "config:x"])["rows"]
        assert row["cells"] == [None, None, "NaN"]
        arm = get(fresh, "/api/study/1/arm/0")
        assert arm["reward"] is None and arm["curve"]["rewards"] == [] and "NaN" in arm["config"]
        (study,) = get(fresh, "/api/studies")["studies"]
        assert study["best_reward"] is None
        for chart in set(get(fresh, "/api/study/1")["charts"]) - {"importance", "contour"}:
            get(fresh, f"/api/study/1/chart/{chart}")


def test_harmful_text_is_sent_as_text_without_control_characters(storage, client):
    write(storage, ODD["all failed"])
    write(storage, ODD["a config that is text"], name=f"study {HOSTILE[:28]}")
    for path in (
        "/api/studies",
        "/api/study/1/failures",
        "/api/study/1/arm/0",
        "/api/study/2/arm/0",
        "/api/study/2/arms?column=config:config",
    ):
        answer = client.get(path)
        assert answer.headers["content-type"] == "application/json"
        assert "\x1b" not in answer.text and "\u202e" not in answer.text and "<img" in answer.text


@pytest.mark.parametrize("chart", ["failures", "slices", "parallel_coordinates", "curves"])
def test_text_in_charts_has_no_tags_that_plotly_would_interpret(storage, client, chart):
    events = []
    for arm, word in enumerate([HOSTILE, "<b>bold</b>", "plain"]):
        events.append(Event("asked", arm, 0, 1, data={"config": {HOSTILE: word, "x": arm}}))
        events.append(Event("told", arm, 0, 1, arm / 3, 1.0))
    write(storage, [*events, Event("asked", 0, 1, 2), Event("failed", 0, 1, 2, None, 1.0, {"reason": HOSTILE})])
    text = client.get(f"/api/study/1/chart/{chart}").text
    assert "<img" not in text and "<b>" not in text and "\x1b" not in text


def test_a_study_that_is_being_written_is_read_event_by_event(storage, client):
    with open_study(storage) as study:
        for pulls in range(1, 4):
            pull_once(study)
            assert wait_until(lambda pulls=pulls: get(client, "/api/study/1/arms")["total"] == pulls)
            page = get(client, "/api/study/1/arms")
            assert page["events"] == page["length"] == 2 * pulls
        assert get(client, "/api/studies")["studies"][0]["state"] == "running"


def test_a_password_in_the_storage_is_shown_nowhere():
    storage = "postgresql://user:secret@127.0.0.1:1/base?password=secret&connect_timeout=2"
    with client_of(storage) as client:
        for path in ("/api/studies", "/api/study/1", "/api/study/1/arms"):
            answer = client.get(path)
            assert answer.status_code == 503 and "secret" not in answer.text
            assert answer.json()["error"] == "The storage cannot be read at the moment."


def test_a_study_runs_no_code(storage, client, monkeypatch):
    """Nothing that is stored is unpickled, and no strategy or space is made from it."""
    import pickle

    make_study(storage, budget=12, function=train)
    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr(pickle, "load", refuse)
    monkeypatch.setattr("manyarms.study.restored_strategy.restored_strategy", refuse)
    for path in ("/api/studies", "/api/study/1", "/api/study/1/arms", "/api/study/1/arm/0", "/api/study/1/failures"):
        get(client, path)
