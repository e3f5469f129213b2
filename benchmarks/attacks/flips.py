"""Bit flips on disk: each must be reported, or not change what is read."""

from __future__ import annotations

import random
import shutil
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import optuna

import manyarms as ma
from manyarms.errors import ManyarmsError
from manyarms.study.verify import audit

from . import chain
from .score import Score

_COLUMNS = ("kind", "arm", "start", "stop", "reward", "seconds", "data")


def flips(n: int, directory: Path, rng: random.Random) -> Iterator[Score]:
    """Flip bits in three ways, `n` times in total."""
    chain.search(whole := f"{directory}/flipped.db")
    peer = _optuna_study(directory / "optuna-flipped.db")
    third = n // 3
    yield _attack("bit flips in stored rewards", third, Path(whole), _flip_reward, _ours, rng, (peer, _flip_value, _theirs))
    yield _attack("bit flips in other stored values", third, Path(whole), _flip_cell, _ours, rng)
    yield _attack(
        "bit flips anywhere in the file", n - 2 * third, Path(whole), _flip_byte, _ours, rng, (peer, _flip_byte, _theirs)
    )


Flip = Callable[[Path, random.Random], None]
Read = Callable[[Path], Any]


def _attack(
    attack: str, n: int, file: Path, flip: Flip, read: Read, rng: random.Random, peer: tuple[Path, Flip, Read] | None = None
) -> Score:
    score = Score(attack, n)
    score.failures = _unnoticed(n, file, flip, read, rng, ManyarmsError)
    if peer is not None:
        theirs = _unnoticed(n, *peer, rng, Exception)
        score.peer = f"{len(theirs)} of {n} changed what is read without an error"
    return score


def _unnoticed(n: int, file: Path, flip: Flip, read: Read, rng: random.Random, report: type[Exception]) -> list[str]:
    """Flip a bit `n` times. Returns what went wrong: different data without an error, or an unexpected error."""
    expected, copy, wrong = read(file), file.with_name(f"copy-of-{file.name}"), []
    for _ in range(n):
        shutil.copy(file, copy)
        flip(copy, rng)
        try:
            found = read(copy)
        except report:
            continue
        except Exception as error:
            wrong.append(f"{type(error).__name__}: {error}")
            continue
        if found is not None and found != expected:
            wrong.append("different data was read without an error")
    return wrong


def _ours(file: Path) -> Any:
    """The content of a study, or None if `verify` reports a problem."""
    with ma.load_study(str(file)) as view:
        if next(audit(view.journal), None) is not None:
            return None
        events = [(e.kind, e.arm, e.start, e.stop, e.reward, e.seconds, e.data) for e in view.journal.events()]
        return view.header, events, view.best_reward


def _theirs(file: Path) -> Any:
    study = optuna.load_study(study_name="study", storage=f"sqlite:///{file}")
    return [(t.number, t.value, t.params, t.state, t.datetime_start, t.datetime_complete) for t in study.trials]


def _flip_reward(file: Path, rng: random.Random) -> None:
    _flip_in(file, "manyarms_events", "reward", "kind = 'told'", rng)


def _flip_value(file: Path, rng: random.Random) -> None:
    _flip_in(file, "trial_values", "value", "1", rng)


def _flip_cell(file: Path, rng: random.Random) -> None:
    """Flip a bit of an event, the header, the head or a snapshot."""
    table, column = rng.choice(
        [("manyarms_events", column) for column in _COLUMNS]
        + [("manyarms_studies", "header"), ("manyarms_heads", "events"), ("manyarms_heads", "checksum")]
        + [("manyarms_snapshots", "text"), ("manyarms_snapshots", "covered")]
    )
    _flip_in(file, table, column, f"{column} IS NOT NULL", rng)


def _flip_in(file: Path, table: str, column: str, condition: str, rng: random.Random) -> None:
    """Flip one bit of one stored value."""
    key = "number" if table == "manyarms_events" else "rowid"
    with closing(sqlite3.connect(file)) as database, database:
        place, value = rng.choice(database.execute(f"SELECT {key}, {column} FROM {table} WHERE {condition}").fetchall())
        database.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", [_flipped(value, rng), place])


def _flipped(value: Any, rng: random.Random) -> Any:
    if isinstance(value, float):
        (bits,) = struct.unpack("<q", struct.pack("<d", value))
        (changed,) = struct.unpack("<d", struct.pack("<Q", (bits & (2**64 - 1)) ^ (1 << rng.randrange(64))))
        return changed
    if isinstance(value, int):
        return value ^ (1 << rng.randrange(16))
    at = rng.randrange(len(value))
    return value[:at] + chr(ord(value[at]) ^ (1 << rng.randrange(6))) + value[at + 1 :]


def _flip_byte(file: Path, rng: random.Random) -> None:
    with file.open("r+b") as stream:
        at = rng.randrange(file.stat().st_size)
        stream.seek(at)
        byte = stream.read(1)[0] ^ (1 << rng.randrange(8))
        stream.seek(at)
        stream.write(bytes([byte]))


def _optuna_study(file: Path) -> Path:
    study = optuna.create_study(storage=f"sqlite:///{file}", study_name="study", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=100)
    return file
