"""Control characters in a database never reach the terminal."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from commands import SCRIPT, make_study
from rechaining import rechain

import manyarms as ma
from manyarms.cli import fit
from manyarms.study.progress import Progress

EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\r"
SHOWN = r"\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\r"


def is_harmless(text):
    return all(line.isprintable() for line in text.split("\n"))


@pytest.fixture
def hostile(manyarms):
    """Runs a command on a study with escapes in its name, strategy, space, checkpoints, configs and failures."""
    make_study("mine", lambda config: config["x"] if config["x"] < 0.5 else 1 / 0)
    with closing(sqlite3.connect("manyarms.db")) as database, database:
        header = json.loads(database.execute("SELECT header FROM manyarms_studies").fetchone()[0])
        header |= {"strategy": f"mine.{EVIL}", "manyarms": EVIL, "own": [["strategy"], ["space"]], "space": {EVIL: EVIL}}
        header["checkpoints"] = f"{header['checkpoints']}{EVIL}"
        database.execute("UPDATE manyarms_studies SET name = ?, header = ?", [f"study{EVIL}", json.dumps(header)])
        for number, kind, data in database.execute("SELECT number, kind, data FROM manyarms_events").fetchall():
            content = json.loads(data or "{}")
            content |= (
                {"config": {"x": EVIL}} if kind == "asked" else {"checkpoint": EVIL} if kind == "told" else {"reason": EVIL}
            )
            database.execute("UPDATE manyarms_events SET data = ? WHERE number = ?", [json.dumps(content), number])
    rechain("manyarms.db")
    return manyarms


LINES = ["status", "arms", "best", "verify", "gc --dry-run", "resume", "status --json", "arms --json", "best --json"]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("terminal", [True, False])
def test_no_command_prints_the_escapes_of_a_storage(hostile, monkeypatch, line, terminal):
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "200")
    answer = hostile(*line.split())
    printed = answer.out + answer.err
    if terminal:  # added by rich for bold headings
        printed = printed.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert is_harmless(printed), printed
    assert "Traceback" not in printed
    assert "evil" in printed or line.startswith("gc")


def test_escapes_are_shown_as_text(hostile):
    status = hostile("status")
    assert f"study{SHOWN}" in status.out and f"mine.{SHOWN}" in status.out
    assert status.err == f"study{SHOWN}: most frequent failure: {SHOWN}\n"
    assert hostile("verify").out.startswith(f"study{SHOWN}: ")
    assert json.dumps({"x": EVIL}) in hostile("best").out
    assert hostile("best", "--json").data["config"] == {"x": EVIL}


@pytest.mark.filterwarnings("default")
def test_errors_and_warnings_keep_their_lines_but_no_escapes(manyarms):
    make_study("mine")
    for arguments in [("best", "manyarms.db", f"no{EVIL}"), ("best", f"{EVIL}.db"), ("run", f"{EVIL}.py:train", "--budget", 5)]:
        answer = manyarms(*arguments)
        assert answer.code in (1, 2)
        assert is_harmless(answer.err) and "evil" in answer.err

    Path("faulty.py").write_text(f"import warnings\nwarnings.warn({EVIL + chr(10)!r} 'line 2')\nraise ValueError({EVIL!r})")
    lines = manyarms("run", "faulty.py:train", "--budget", 5).err.split("\n")
    assert lines[:2] == [f"manyarms: {SHOWN}", "line 2"]
    assert lines[-2] == "ValueError: " + SHOWN.removesuffix(r"\r")
    assert is_harmless("\n".join(lines))


def test_a_reason_of_failures_is_printed_without_escapes(manyarms):
    Path("faulty.py").write_text(f"{SCRIPT}\n\ndef evil(config):\n    raise OSError({EVIL!r})\n")
    answer = manyarms("run", "faulty.py:evil", "--budget", 5)
    assert answer.code == 1
    assert is_harmless(answer.err)
    assert "OSError: " in answer.err


def test_a_table_with_escapes_is_described_without_them(capsys):
    pandas = pytest.importorskip("pandas")
    from types import SimpleNamespace

    target = pandas.Series([f"a{EVIL}", "b"] * 3, name=f"y{EVIL}")
    problem = SimpleNamespace(task="classification", target=target, reason=EVIL, test=None, rows=target.to_frame())
    fit._describe(f"{EVIL}.csv", problem, "accuracy", True)
    printed = capsys.readouterr().out
    assert is_harmless(printed) and printed.count("\n") == 4


def test_the_progress_line_has_no_escapes():
    from io import StringIO

    from rich.console import Console

    with ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=5)) as study:
        study.name = f"[bold]{EVIL}"
        console = Console(file=StringIO(), force_terminal=True, width=200, color_system=None)
        with Progress(study, True, console=console):
            pass
    drawn = console.file.getvalue()
    assert f"[bold]{SHOWN}" in drawn
    assert not {"\x07", "\x9b", "\u202e"} & set(drawn)
