"""Studies from a stranger: whatever their files say, nothing outside of them is read or deleted, and nothing hangs."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from rechaining import rechain  # in tests/support

from manyarms.errors import ManyarmsError

from . import chain
from .kills import fork_command
from .score import Score

_PATIENCE = 300  # seconds after which a command hangs
_COMMANDS = (["status"], ["arms"], ["best"], ["verify"], ["gc", "--best-only"], ["verify", "--quick"])
_BUDGET = 40


def crafted_files(n: int, directory: Path, rng: random.Random) -> Score:
    """Craft `n` studies, each in one of a dozen ways, and use each with all commands; then resume it."""
    score = Score("crafted files from a stranger")
    (directory / "honest").mkdir()
    chain.search(f"{directory}/honest/study.db", budget=_BUDGET)
    crafts = list(_CRAFTS.items())
    for i in range(n):
        name, craft = crafts[i % len(crafts)]
        place = directory / f"crafted-{i}"
        shutil.copytree(directory / "honest", place / "sent", symlinks=True)
        victim = _victim(place)
        before = _listing(victim)
        craft(place / "sent", victim, rng)
        wrong = [_used(place / "sent" / "study.db", command) for command in _COMMANDS]
        wrong.append(_resumed(place / "sent" / "study.db"))
        if _listing(victim) != before:
            wrong.append("files of somebody else were changed")
        score.attempts += 1
        score.failures += [f"{name}: {problem}" for problem in wrong if problem is not None]
    return score


def _victim(place: Path) -> Path:
    """Somebody's own directory, with files that look like ours."""
    victim = place / "victim"
    for name in ("arm-0-step-1-0123abcd", "arm-1-step-2-0123abcd.part", "thesis"):
        (victim / name).mkdir(parents=True)
        (victim / name / "state.pickle").write_bytes(b"irreplaceable")
        (victim / name / "manyarms.json").write_text("{}")
    return victim


def _listing(victim: Path) -> list[Any]:
    return sorted((str(path.relative_to(victim)), path.read_bytes() if path.is_file() else b"") for path in victim.rglob("*"))


def _used(storage: Path, command: list[str]) -> str | None:
    """What went wrong when a command was used on the study: a hang, a crash, or an escape sequence in its output."""
    output = storage.with_name("output")
    code = fork_command([*command[:1], str(storage), *command[1:]], output, _PATIENCE)
    if code not in (0, 1, 2):
        return f"manyarms {command[0]} ended with {code}" + (" (it hung)" if code == -signal.SIGKILL else "")
    if "Traceback" in output.read_text(errors="replace"):
        return f"manyarms {command[0]} crashed"
    return "an escape sequence reached the terminal" if b"\x1b" in output.read_bytes() else None


def _resumed(storage: Path) -> str | None:
    """A crafted study may be refused, or resumed: anything but a crash."""
    try:
        chain.search(str(storage), budget=_BUDGET + 10)
    except (ManyarmsError, ValueError):
        return None
    except Exception as error:
        return f"resuming it: {type(error).__name__}: {error}"
    return None


def _edit(sent: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    with closing(sqlite3.connect(sent / "study.db")) as database, database:
        change(database)
    rechain(sent / "study.db")


def _header(sent: Path, **entries: Any) -> None:
    def change(database: sqlite3.Connection) -> None:
        header = json.loads(database.execute("SELECT header FROM manyarms_studies").fetchone()[0])
        database.execute("UPDATE manyarms_studies SET header = ?", [json.dumps({**header, **entries})])

    _edit(sent, change)


def _data(sent: Path, rng: random.Random, **entries: Any) -> None:
    """Add entries to the data of some of the events that tell a reward."""

    def change(database: sqlite3.Connection) -> None:
        rows = database.execute("SELECT number, data FROM manyarms_events WHERE kind = 'told'").fetchall()
        for number, data in rng.sample(rows, 5):
            merged = json.dumps({**json.loads(data or "{}"), **entries})
            database.execute("UPDATE manyarms_events SET data = ? WHERE number = ?", [merged, number])

    _edit(sent, change)


def _home(sent: Path) -> Path:
    return next(path for path in sent.glob("study.db-checkpoints/*") if path.is_dir())


def _linked_home(sent: Path, victim: Path, rng: random.Random) -> None:
    home = _home(sent)
    shutil.rmtree(home)
    home.symlink_to(victim)


def _linked_checkpoint(sent: Path, victim: Path, rng: random.Random) -> None:
    checkpoint = rng.choice([path for path in _home(sent).iterdir() if path.is_dir()])
    shutil.rmtree(checkpoint)
    checkpoint.symlink_to(victim / "arm-0-step-1-0123abcd")


def _manifest(content: Callable[[Path], dict[str, Any]]) -> Callable[[Path, Path, random.Random], None]:
    def craft(sent: Path, victim: Path, rng: random.Random) -> None:
        for checkpoint in _home(sent).iterdir():
            if checkpoint.is_dir():
                os.mkfifo(checkpoint / "pipe")
                (checkpoint / "manyarms.json").write_text(json.dumps(content(victim)))

    return craft


_CRAFTS: dict[str, Callable[[Path, Path, random.Random], None]] = {
    "a linked directory": _linked_home,
    "a linked checkpoint": _linked_checkpoint,
    "a header that points elsewhere": lambda sent, victim, rng: _header(sent, checkpoints=str(victim)),
    "a header that points above": lambda sent, victim, rng: _header(sent, checkpoints="../victim"),
    "a header with another id": lambda sent, victim, rng: _header(sent, id="../../victim"),
    "a header of an unknown strategy": lambda sent, victim, rng: _header(sent, strategy="\x1b[31mos.system"),
    "a header that is not one": lambda sent, victim, rng: _edit(
        sent, lambda database: database.execute("UPDATE manyarms_studies SET header = '[]'")
    ),
    "a checkpoint named ../../victim": lambda sent, victim, rng: _data(sent, rng, checkpoint="../../../victim"),
    "a checkpoint with an absolute name": lambda sent, victim, rng: _data(sent, rng, checkpoint=str(victim / "thesis")),
    "a reason with escapes": lambda sent, victim, rng: _edit(
        sent,
        lambda database: database.execute(
            "UPDATE manyarms_events SET kind = 'failed', reward = NULL, data = ? WHERE number = "
            "(SELECT max(number) FROM manyarms_events)",
            [json.dumps({"reason": "\x1b]0;owned\x07\x1b[2J"})],
        ),
    ),
    "a manifest of /dev/zero": _manifest(lambda victim: {"/dev/zero": [10**12, "0" * 32]}),
    "a manifest of a pipe": _manifest(lambda victim: {"pipe": [5, "0" * 32]}),
    "a manifest of others' files": _manifest(lambda victim: {str(victim / "thesis/state.pickle"): [13, "0" * 32]}),
}
