"""`status`: the progress of stored studies."""

from __future__ import annotations

from commands import make_study, refused


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
