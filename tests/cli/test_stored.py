"""`status`, `arms`, `best`, `verify` and `gc`, on studies that are stored."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy as sa
from commands import make_study, refused
from rich.text import Text

import manyarms as ma
from manyarms.journal import Event
from manyarms.journal.sql import SqlJournal
from manyarms.study.recommendation import Recommendation
from manyarms.study.replay import StudyState

QUIET = ("failed", "in", "flight", "retrained")  # heads of columns in which nothing happened


def test_status_shows_every_study_or_the_one_named(trained):
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


def test_a_name_is_needed_where_there_are_several_studies(trained):
    make_study("another")
    for command in ("arms", "best", "verify", "gc", "resume"):
        assert refused(trained(command), 1, "the storage holds 2 studies, name one of them: 'train', 'another'")
        assert trained(command, "manyarms.db", "train").code == 0


def test_arms_are_listed_best_first_whatever_the_direction(manyarms):
    make_study("up", lambda config: config["x"] if config["x"] < 0.8 else None, budget=30)
    make_study("down", lambda config: config["x"] if config["x"] < 0.8 else None, budget=30, direction="minimize")
    for name, sign in [("up", -1), ("down", 1)]:
        rows = manyarms("arms", "manyarms.db", name, "--top", 0, "--json").data
        assert len(rows) == 30
        rewards = [row["reward"] for row in rows if row["reward"] is not None]
        assert rewards == sorted(rewards, key=lambda reward: sign * reward)
        assert [row["status"] for row in rows] == ["done"] * len(rewards) + ["failed"] * (30 - len(rewards))
        assert rows[0]["config"] == manyarms("best", "manyarms.db", name, "--json").data["config"]


def test_arms_shows_as_many_as_asked_for_and_says_how_many_more_there_are(manyarms):
    make_study("many", budget=30)
    for top, shown in [(20, 20), (3, 3), (0, 30), (99, 30)]:
        answer = manyarms("arms", "--top", top)
        assert len(answer.out.splitlines()) == 1 + shown
        assert answer.err == ("" if shown == 30 else f"{30 - shown} more arms: --top 0 shows all\n")
        assert len(manyarms("arms", "--top", top, "--json").data) == shown
    assert refused(manyarms("arms", "--top", "-1"), 2, "--top must be at least 0, got -1")


def test_best_names_a_checkpoint_that_is_there(trained):
    answer = trained("best", "--json").data
    assert list(answer) == ["arm", "reward", "best step", "steps", "config", "checkpoint"]
    assert (Path(answer["checkpoint"]) / "state.pickle").exists()
    assert f"checkpoint: {answer['checkpoint']}\n" in trained("best").out
    (Path(answer["checkpoint"]) / "manyarms.json").unlink()
    assert trained("best", "--json").data["checkpoint"] is None


def test_a_study_without_a_reward_can_be_looked_at(manyarms):
    ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=5), storage="manyarms.db").close()
    assert manyarms("status").code == manyarms("verify").code == manyarms("gc").code == 0
    assert manyarms("arms").out == "nothing here yet\n"
    assert refused(manyarms("best"), 1, "no pull has ended yet")


def on_a_terminal(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")  # that makes a terminal of any output
    return lambda answer: [line.rstrip() for line in Text.from_ansi(answer.out).plain.splitlines()]


@pytest.mark.parametrize("width", [80, 120])
def test_tables_fit_the_terminal_and_cut_nothing(trained, monkeypatch, width):
    head, row = (line.split() for line in trained("status").out.splitlines())
    arms = trained("arms").out.split()
    lines = on_a_terminal(monkeypatch, width)
    printed = lines(trained("status"))
    assert max(map(len, printed)) <= width
    if width == 80:  # no room for what did not happen
        head, row = [name for name in head if name not in QUIET], [*row[:-4], row[-1]]
    assert [line.split() for line in printed] == [head, row]
    printed = lines(trained("arms"))
    assert max(map(len, printed)) <= width
    assert " ".join(printed).split() == arms


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_name_or_a_config_too_long_for_the_terminal_is_shown_whole(manyarms, monkeypatch, width):
    long, space = "a" * 50, ma.Space(**{f"parameter_{i}": ma.Float(0, 1) for i in range(6)})
    for name in ("short", long):
        with ma.Study(ma.RandomSearch(space, budget=20, seed=0), storage="manyarms.db", name=name) as study:
            study.optimize(lambda config: 1 / (config["parameter_0"] > 0.5), progress=False)
    lines = on_a_terminal(monkeypatch, width)
    printed = lines(manyarms("status"))
    assert max(map(len, printed)) <= width
    assert sum(long in line for line in printed) == 1
    if width <= 80:
        assert [line.split() for line in printed if "study" in line] == [["study", "short"], ["study", long]]
        assert sum(line.startswith("failed ") for line in printed) == 2
    printed = lines(manyarms("arms", "manyarms.db", "short"))
    assert max(map(len, printed)) <= width
    for row in manyarms("arms", "manyarms.db", "short", "--json").data:
        assert all(any(str(value) in line for line in printed) for value in row["config"].values())


@pytest.mark.parametrize(
    "name",
    ["[bold]loud[/bold]", "[/red]", 'it\'s "quoted"', "<script>alert(1)</script>", ":bug:", "back\\", "é 🦾", "-5", "a/../b"],
)
def test_any_name_is_shown_as_it_is(manyarms, name):
    answer = manyarms("run", "train.py:train", "--budget", 12, "--max-steps", 3, f"--name={name}")
    assert answer.code == 0, answer.err
    for table in (answer.out, manyarms("status").out):
        assert table.splitlines()[1].partition("AdaptiveMutantUCB")[0].rstrip() == name
    for command in ("arms", "best", "verify", "gc", "resume"):
        assert manyarms(command, "--", "manyarms.db", name).code == 0
    assert Path(manyarms("best", "--json").data["checkpoint"]).is_relative_to(Path("manyarms.db-checkpoints").absolute())


def test_a_corrupt_study_is_refused_in_one_line_that_names_the_row(trained):
    query("UPDATE manyarms_events SET data = '{' WHERE number = 0")
    for command in ("status", "arms", "best", "resume", "gc"):
        assert refused(trained(command), 1, "is corrupt: event 0")


# -- verify and gc


def test_verify_says_that_all_is_well(trained):
    answer = trained("verify")
    assert answer.code == 0
    assert answer.out.startswith("train: ")
    assert answer.out.endswith(" events, all is well\n")


def saved():
    return {path.name for path in Path("manyarms.db-checkpoints").glob("*/arm-*")}


def test_gc_deletes_what_is_left_over_and_nothing_else(trained):
    before = saved()
    (next(Path("manyarms.db-checkpoints").iterdir()) / "arm-0-step-9-ffffffff.part").mkdir()
    assert trained("gc", "--dry-run").out.startswith("1 checkpoints would go, 0 of ")
    assert len(saved()) == len(before) + 1
    assert trained("gc").out.startswith("1 checkpoints deleted, 0 of ")
    assert saved() == before


def test_gc_keeps_the_best_and_the_search_can_still_go_on(trained):
    best, before = Path(trained("best", "--json").data["checkpoint"]), saved()
    trained("gc", "--max-bytes", "1KB")
    assert best.name in saved() < before
    assert sum(path.stat().st_size for path in best.parent.rglob("*") if path.is_file()) <= 1000
    trained("gc", "--best-only")
    assert saved() == {best.name}
    assert refused(trained("gc", "--max-bytes", "much"), 2, "max_bytes must be a number of bytes or a string such as")
    assert trained("resume", "--budget", 60).code == 0
    assert trained("verify").code == 0


# -- long studies


@pytest.fixture
def long(place, manyarms, monkeypatch):
    """A study that is too long to be replayed for a look at it; replaying it is an error."""

    def refuse(*_, **__):
        raise AssertionError("the study was replayed")

    strategy = ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=1_500, seed=0)
    with ma.Study(strategy, storage="manyarms.db", name="long") as study:
        study.optimize(lambda config: config["x"], runner=ma.SimulatedRunner(workers=100), progress=False)
        rewards = sorted((record.reward for record in study.counts.arms.values()), reverse=True)
    monkeypatch.setattr(StudyState, "replay", refuse)
    return SimpleNamespace(command=manyarms, rewards=rewards)


def test_a_long_study_is_not_replayed_to_be_looked_at(long):
    (row,) = long.command("status", "--json").data
    assert (row["best"], row["arms"], row["pulls"]) == (long.rewards[0], 1_500, 1_500)
    assert [arm["reward"] for arm in long.command("arms", "--json").data] == long.rewards[:20]
    answer = long.command("best")
    assert answer.code == 0 and f"reward: {long.rewards[0]}\n" in answer.out and answer.err == ""
    assert "the study was replayed" in long.command("verify").err
    assert long.command("verify", "--quick").out == "long: 3000 events, all is well\n"


def test_the_best_arm_of_a_long_study_that_was_killed_is_the_one_stored_last(long):
    query("DELETE FROM manyarms_snapshots")
    answer = long.command("best")
    assert f"reward: {long.rewards[0]}\n" in answer.out
    assert answer.err == "the study has stored no recommendation yet: this is the arm with the best reward\n"
    with closing(SqlJournal("manyarms.db", "long")) as journal:
        journal.save_recommendation(2_990, Recommendation(7, 1, 0.5, by_mean=False).text())
    answer = long.command("best")
    assert answer.out.startswith("arm: 7\n")
    assert answer.err == "the study has not ended: this is without its last 10 events\n"


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


def test_the_best_arm_of_a_space_of_ones_own_is_by_the_rule_of_the_strategy(manyarms):
    class Walk:
        def sample(self, rng):
            return {"x": float(rng.random())}

        def mutate(self, config, rng):
            return {"x": float(rng.random())}

    with ma.Study(ma.MutantUCB(Walk(), budget=40, max_steps=4, seed=3), storage="manyarms.db") as study:
        study.optimize(lambda pull: pull["x"] / pull.stop, progress=False)
    assert manyarms("best", "--json").data["arm"] == study.best().id


def test_verify_finds_a_recommendation_that_is_not_the_strategys(trained):
    with closing(SqlJournal("manyarms.db", "train")) as journal:
        covered, text = journal.recommendation()
        best = json.loads(text)
        journal.save_recommendation(covered, json.dumps({**best, "arm": best["arm"] + 1}))
    answer = trained("verify")
    assert answer.code == 1
    found = [f"arm {arm} at step {best['step']}" for arm in (best["arm"] + 1, best["arm"])]
    assert f"{found[0]} with reward" in answer.err and f"but the strategy recommends {found[1]}" in answer.err
    assert trained("verify", "--quick").code == 0


def test_verify_shows_its_progress_on_a_terminal(trained, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = Text.from_ansi(trained("verify").err).plain
    for stage in ("reading events", "replaying decisions", "reading checkpoints"):
        assert stage in shown


def test_a_changed_reward_is_found_by_every_command(trained):
    query("UPDATE manyarms_events SET reward = 6e307 WHERE number = 7")
    for command in ("status", "arms", "best", "resume", "gc"):
        assert refused(trained(command), 1, "is corrupt: event 7 does not match its checksum")
    assert "event 7" in trained("verify", "--quick").err


# -- upgrade


def test_upgrade_gives_an_old_storage_todays_tables(manyarms, place):
    shutil.copy(Path(__file__).parents[1] / "journal/layout-1.sqlite3", place / "manyarms.db")
    assert refused(manyarms("status"), 1, "upgrade it with `manyarms upgrade`")
    assert manyarms("upgrade").out == "manyarms.db: upgraded\n"
    assert manyarms("upgrade").out == "manyarms.db: up to date\n"
    assert [row["study"] for row in manyarms("status", "--json").data] == ["finished", "interrupted", "empty"]
    assert refused(manyarms("upgrade", "missing.db"), 1, "there is no file 'missing.db'")
    assert not Path("missing.db").exists()


def test_upgrade_writes_nothing_to_what_holds_no_studies(manyarms, place):
    with closing(sqlite3.connect("foreign.db")) as connection, connection:
        connection.execute("CREATE TABLE theirs (a)")
    (place / "empty.db").touch()
    (place / "text.db").write_text("x")
    before = {path.name: path.read_bytes() for path in place.iterdir() if path.suffix == ".db"}
    assert len(before) == 3
    for name in before:
        assert manyarms("upgrade", name).code == 1
    assert {path.name: path.read_bytes() for path in place.iterdir() if path.suffix == ".db"} == before


def query(statement):
    with closing(sqlite3.connect("manyarms.db")) as connection, connection:
        connection.execute(statement)
