"""`best`: the recommended arm of a stored study."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import sqlalchemy as sa
from commands import query

import manyarms as ma
from manyarms.journal import Event
from manyarms.journal.sql import SqlJournal
from manyarms.study.recommendation import Recommendation


def test_best_names_a_checkpoint_only_if_it_exists(trained):
    answer = trained("best", "--json").data
    assert list(answer) == ["arm", "reward", "best step", "steps", "config", "checkpoint"]
    assert (Path(answer["checkpoint"]) / "state.pickle").exists()
    assert f"checkpoint: {answer['checkpoint']}\n" in trained("best").out
    (Path(answer["checkpoint"]) / "manyarms.json").unlink()
    assert trained("best", "--json").data["checkpoint"] is None


def test_the_best_arm_of_a_long_study_that_was_killed_is_the_last_one_stored(long):
    query("DELETE FROM manyarms_snapshots")
    answer = long.command("best")
    assert f"reward: {long.rewards[0]}\n" in answer.out
    assert answer.err == "manyarms: The study has stored no recommendation yet. This is the arm with the best reward.\n"
    with closing(SqlJournal("manyarms.db", "long")) as journal:
        journal.save_recommendation(2_990, Recommendation(7, 1, 0.5, by_mean=False).text())
    answer = long.command("best")
    assert answer.out.startswith("arm: 7\n")
    assert answer.err == "manyarms: The study has not ended. This recommendation does not include its last 10 events.\n"


def test_an_arm_that_failed_later_is_not_the_best_of_a_long_study_without_a_recommendation(long):
    query("DELETE FROM manyarms_snapshots")
    with closing(SqlJournal("manyarms.db", "long")) as journal:
        best = journal.select(sa.text("SELECT arm FROM manyarms_events ORDER BY reward DESC LIMIT 1"))[0][0]
        journal.append([Event("asked", best, 1, 2), Event("failed", best, 1, 2, seconds=0.0, data={"reason": "late"})])
    assert f"reward: {long.rewards[1]}\n" in long.command("best").out


def test_a_short_study_that_was_killed_is_replayed_for_its_best_arm(trained):
    best = trained("best", "--json").data
    query("DELETE FROM manyarms_snapshots")
    assert trained("best", "--json").data == best
    assert trained("best").err == ""


def test_the_best_arm_of_a_custom_space_follows_the_rule_of_the_strategy(manyarms):
    class Walk:
        def sample(self, rng):
            return {"x": float(rng.random())}

        def mutate(self, config, rng):
            return {"x": float(rng.random())}

    with ma.Study(ma.MutantUCB(Walk(), budget=40, max_steps=4, seed=3), storage="manyarms.db") as study:
        study.optimize(lambda pull: pull["x"] / pull.stop, progress=False)
    assert manyarms("best", "--json").data["arm"] == study.best().id
