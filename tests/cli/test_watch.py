"""`status --watch`: a display that is replaced, or a line for each change."""

from __future__ import annotations

import signal
from io import StringIO
from pathlib import Path

import pytest
from commands import make_study, query, refused, start
from rich.console import Console
from rich.text import Text
from waiting import wait_until

import manyarms as ma
from manyarms.cli.watch import watch

STORAGE = "manyarms.db"


def watched(*events, name=None, every=2.0, width=100, height=24, terminal=True):
    """What is drawn each time, if one of these events happens while it waits. Ctrl-C follows the last one."""
    console = Console(file=StringIO(), force_terminal=terminal, width=width, height=height, color_system=None)
    drawn, waiting, asked = [], iter(events), []

    def sleep(seconds):
        asked.append(seconds)
        drawn.append(console.file.getvalue())
        console.file.seek(0)
        console.file.truncate()
        event = next(waiting, None)
        if event is None:
            raise KeyboardInterrupt
        event()

    with pytest.raises(KeyboardInterrupt):
        watch(STORAGE, name, every, console, sleep=sleep)
    assert asked == [every] * (len(events) + 1)
    return [[line.rstrip() for line in Text.from_ansi(text).plain.splitlines() if line.strip()] for text in drawn]


def more(name="digits", budget=20):
    return lambda: make_study(name, budget=budget)


def test_a_study_is_drawn_again_as_it_continues(place):
    make_study("digits")
    first, second, third = watched(more(), lambda: None)
    assert first[0].startswith("digits ━") and first[0].endswith(" 10/10 steps")
    assert first[-1] == "Updates every 2s. Press Ctrl-C to stop."
    assert second[0].endswith(" 20/20 steps") and "Last change 0s ago." in second[-1]
    assert third[0] == second[0]


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize("studies", [1, 4, 30])
def test_the_display_fits_the_terminal(place, width, studies):
    for number in range(studies):
        make_study(f"[bold]study number {number}", lambda config: 1 / (config["x"] > 0.5), budget=3)
    for drawn in watched(more("[bold]study number 0", 6), width=width):
        assert len(drawn) <= 23 and all(Text(line).cell_len <= width for line in drawn)
        assert sum("[bol" in line for line in drawn) == min(studies, 21)


def test_of_too_many_studies_those_that_were_written_last_are_shown(place):
    for number in range(8):
        make_study(f"study {number}", budget=3)
    first, second = watched(more("study 1", 6), height=6)
    assert [line.split(":")[0] for line in first] == ["study 5", "study 6", "study 7", "more studies", first[-1]]
    assert [line.split(":")[0] for line in second][:3] == ["study 1", "study 6", "study 7"]


def test_a_storage_that_disappears_and_returns_is_read_again(place):
    make_study("digits")
    path, elsewhere = Path(STORAGE), Path("elsewhere.db")

    def corrupt():
        elsewhere.write_bytes(path.read_bytes())
        path.write_bytes(b"SQLite format 3\0" + b"x" * 5000)

    events = [lambda: path.rename(elsewhere), lambda: elsewhere.rename(path), corrupt, lambda: elsewhere.rename(path)]
    first, gone, back, broken, mended = watched(*events, more())[:5]
    assert gone[:-1] == first[:-1] and gone[-1].startswith("Cannot read the storage: there is no file 'manyarms.db'")
    assert gone[-1].endswith(". Retrying.")
    assert back == mended == first
    assert broken[:-1] == first[:-1] and broken[-1] != first[-1]


def test_a_storage_without_studies_is_watched_until_there_is_one(place):
    make_study("digits")
    for table in ("studies", "heads", "events", "snapshots"):
        query(f"DELETE FROM manyarms_{table}")
    first, second = watched(more("new"))
    assert first == ["No studies yet. Updates every 2s. Press Ctrl-C to stop."]
    assert second[0].startswith("new ")


def test_without_a_terminal_there_is_a_line_for_each_change(place, capsys):
    make_study("digits")
    make_study("other")
    path, elsewhere = Path(STORAGE), Path("elsewhere.db")
    move = [lambda: path.rename(elsewhere), lambda: None, lambda: elsewhere.rename(path)]
    watched(lambda: None, more("other"), *move, terminal=False)
    printed = capsys.readouterr()
    lines = [line[20:].partition(" · best")[0] for line in printed.out.splitlines()]
    assert lines == ["digits: 10/10 steps", "other: 10/10 steps", "other: 20/20 steps"]
    assert printed.err.startswith("manyarms: Cannot read the storage: there is no file") and printed.err.count("\n") == 1


def test_control_characters_are_shown_as_text(place, capsys):
    make_study("digits")
    query("UPDATE manyarms_studies SET name = 'a' || char(27) || '[2J'")
    for drawn in watched(width=80):
        assert drawn[0].startswith(r"a\x1b[2J")
    watched(terminal=False)
    assert r"a\x1b[2J: 10/10 steps" in capsys.readouterr().out


def test_the_command_takes_a_name_and_the_time_between_readings(manyarms, monkeypatch):
    make_study("digits")
    make_study("other")
    waited = []

    def interrupt(seconds):
        waited.append(seconds)
        raise KeyboardInterrupt

    monkeypatch.setattr("manyarms.cli.watch.watch.__defaults__", (None, lambda: 0.0, interrupt))
    for options, seconds in (((), 2), (("--every", "10"), 10), (("--every", "1.5"), 1.5), (("--every", "1m"), 60)):
        answer = manyarms("status", STORAGE, "other", "--watch", *options)
        assert (answer.code, answer.err) == (130, "") and waited[-1] == seconds
        assert answer.out.count("\n") == 1 and "other: 10/10 steps" in answer.out


@pytest.mark.parametrize("every", ["0", "-1", "inf", "nan", "often", ""])
def test_a_wrong_time_between_readings_is_refused(manyarms, every):
    make_study("digits")
    assert refused(manyarms("status", "--watch", f"--every={every}"), 2, "--every must be")


def test_options_that_do_not_go_together_are_refused(manyarms):
    make_study("digits")
    assert refused(manyarms("status", "--every", "5"), 2, "--every needs --watch")
    answer = manyarms("status", "--watch", "--json")
    assert answer.code == 2 and "not allowed with argument" in answer.err


def test_a_storage_that_was_never_there_is_an_error(manyarms):
    assert refused(manyarms("status", "none.db", "--watch"), 1, "there is no file 'none.db'")
    make_study("digits")
    assert refused(manyarms("status", STORAGE, "none", "--watch"), 1, "there is no study 'none'")


def test_ctrl_c_ends_it_quietly_while_a_search_writes(place):
    strategy = ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=1000, seed=0)
    with ma.Study(strategy, storage=STORAGE, name="digits") as study:
        study.tell(study.ask(), 0.5)
        process = start("status", "--watch", "--every", "0.05", stderr=-1)
        try:
            assert "digits: 1/1000 steps" in process.stdout.readline()
            study.tell(study.ask(), 0.75)
            assert "digits: 2/1000 steps" in process.stdout.readline()
            process.send_signal(signal.SIGINT)
            assert wait_until(lambda: process.poll() is not None)
            assert process.returncode == 130 and process.stderr.read() == ""
        finally:
            process.kill()
            process.communicate()
