"""`status`: the progress of stored studies."""

from __future__ import annotations

from commands import make_study, refused

import manyarms as ma


def test_status_shows_all_studies_or_the_named_one(trained):
    make_study("another")
    names = [line.split()[0] for line in trained("status").out.splitlines()]
    assert names == ["study", "train", "another"]
    assert [row["study"] for row in trained("status", "--json").data] == ["train", "another"]
    (row,) = trained("status", "manyarms.db", "another", "--json").data
    assert row["pulls"] == row["steps"] == row["budget"] == row["arms"] == 10
    assert refused(trained("status", "manyarms.db", "none"), 1, "there is no study 'none'")


def test_status_names_the_most_frequent_failure(manyarms):
    make_study("shaky", lambda config: config["x"] if config["x"] < 0.5 else 1 / 0)
    answer = manyarms("status")
    assert answer.code == 0
    assert answer.err == "shaky: most frequent failure: ZeroDivisionError: division by zero\n"
    assert manyarms("status", "--json").data[0]["most frequent failure"] == "ZeroDivisionError: division by zero"


def test_status_shows_a_budget_of_time_or_cost_if_a_study_has_one(manyarms):
    make_study("steps")
    assert "budget in" not in manyarms("status").out
    space, limits = ma.Space(x=ma.Float(0, 1)), ma.Budget(seconds="2h", cost=5)
    with ma.Study(ma.RandomSearch(space, budget=3, seed=0), budget=limits, storage="manyarms.db", name="limited") as study:
        study.ask()
    row = manyarms("status", "manyarms.db", "limited", "--json").data[0]
    assert (row["budget"], row["budget in seconds"], row["budget in cost"]) == (3, 7200.0, 5)
    heading, *rows = manyarms("status").out.splitlines()
    assert "budget in seconds" in heading and len(rows) == 2
