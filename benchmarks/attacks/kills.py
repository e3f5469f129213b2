"""SIGKILL at random and at chosen moments: the study must end with the journal and model of an uninterrupted one."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import optuna
from sklearn.datasets import load_iris

from manyarms import cli
from manyarms.journal.sql import SqlJournal

from . import chain
from .score import Score

_MOMENTS = ("fsync", "rename", "write_text", "write_bytes", "append")
"""Functions that write to disk. The worst moments for a kill are just before and just after them."""


def kills(n: int, directory: Path, rng: random.Random) -> Iterator[Score]:
    """Kill studies in three ways, `n` times in total."""
    alone, pair = f"{directory}/alone.db", f"{directory}/pair.db"
    chain.search(alone)
    chain.search(pair, workers=2)
    at_random, with_workers = int(n * 0.4), int(n * 0.2)
    yield random_kills("kill -9 at random moments", at_random, directory / "random.db", alone, 1, rng)
    yield random_kills("kill -9 with 2 worker processes", with_workers, directory / "workers.db", pair, 2, rng)
    chosen = n - at_random - with_workers
    yield chosen_kills("kill -9 while a checkpoint or an event is written", chosen, directory, alone)


def random_kills(attack: str, n: int, storage: Path, reference: str, workers: int, rng: random.Random) -> Score:
    """Kill the study a few pulls after each start. When it has ended, start a new one."""
    score, studies = Score(attack), 0
    while score.attempts < n:
        studies += 1
        file = f"{storage}-{studies}"
        while score.attempts < n and _dies(lambda file=file: chain.search(file, workers, callbacks=[_stamp]), rng):
            score.attempts += 1
        _finish(file, reference, workers, score)
    if workers == 1:
        score.peer = _optuna(n, storage.with_name("optuna.db"), rng)
    return score


def chosen_kills(attack: str, n: int, directory: Path, reference: str) -> Score:
    """Kill the study just before or just after its k-th sync, rename or write."""
    score = Score(attack)
    for k in range(n):
        name, after, call = _MOMENTS[k % len(_MOMENTS)], bool(k // len(_MOMENTS) % 2), 1 + k // (2 * len(_MOMENTS))
        file = f"{directory}/chosen-{k}.db"
        if _run(lambda file=file, name=name, after=after, call=call: _kill_at(file, name, after, call)):
            score.attempts += 1
        _finish(file, reference, 1, score)
    return score


def _finish(file: str, reference: str, workers: int, score: Score) -> None:
    chain.search(file, workers)
    if (wrong := chain.difference(file, reference)) is not None:
        score.failures.append(wrong)


def _kill_at(file: str, name: str, after: bool, call: int) -> None:
    """Search, and kill this process at the `call`-th call of a function."""
    owner: Any = {"fsync": os, "append": SqlJournal}.get(name, Path)
    original, calls = getattr(owner, name), [0]

    def counting(*arguments: Any, **more: Any) -> Any:
        calls[0] += 1
        if calls[0] == call and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = original(*arguments, **more)
        if calls[0] == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    setattr(owner, name, counting)
    chain.search(file)


_writer = -1


def _stamp(*_: Any) -> None:
    os.write(_writer, b".")


def _dies(function: Callable[[], None], rng: random.Random) -> bool:
    """Run in a forked process, and kill it a few pulls after its start. Returns whether it was killed before it ended."""
    global _writer
    reader, _writer = os.pipe()
    pulls, delay = rng.randrange(12), rng.uniform(0, 0.02)
    child = _fork(function)
    os.close(_writer)
    for _ in range(pulls):
        if not os.read(reader, 1):
            break  # it ended
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.close(reader)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _run(function: Callable[[], None]) -> bool:
    """Run in a forked process. Returns whether it was killed."""
    return os.WIFSIGNALED(os.waitpid(_fork(function), 0)[1])


def _fork(function: Callable[[], None]) -> int:
    """Run in a forked process, which starts in milliseconds because everything is imported. Returns its id."""
    child = os.fork()
    if child == 0:
        try:
            function()
        finally:
            os._exit(0)
    return child


def _optuna(n: int, storage: Path, rng: random.Random) -> str:
    """The same with Optuna, where a trial whose process was killed stays in the state RUNNING."""
    url = f"sqlite:///{storage}"
    optuna.create_study(storage=url, study_name="study")
    killed = sum(_dies(lambda: _optuna_search(url), rng) for _ in range(n))
    with sqlite3.connect(storage) as database:
        left = database.execute("SELECT COUNT(*) FROM trials WHERE state = 'RUNNING'").fetchone()[0]
    return f"{left} of {killed} kills left a trial in the state RUNNING"


def _optuna_search(url: str) -> None:
    study = optuna.load_study(storage=url, study_name="study", sampler=optuna.samplers.RandomSampler())

    def objective(trial: optuna.Trial) -> float:
        time.sleep(0.002)
        return trial.suggest_float("x", 0, 1)

    study.optimize(objective, n_trials=100, callbacks=[_stamp])


def fit_kills(n: int, directory: Path, rng: random.Random) -> Score:
    """Kill `manyarms fit`, and run it again: it must end with a sound study and a model that predicts."""
    score, table = Score("kill -9 inside manyarms fit"), directory / "iris.csv"
    load_iris(as_frame=True).frame.to_csv(table, index=False)
    run = 0
    while score.attempts < n:
        run += 1
        out, answers = str(directory / f"fit-{run}"), directory / f"answers-{run}.csv"
        command = ["fit", str(table), "--target", "target", "--budget", "8", "--out", out, "--quiet"]
        while score.attempts < n and _dies_after(rng.uniform(0.1, 4.0), lambda command=command: _command(*command)):
            score.attempts += 1
        steps = (command, ["verify", f"{out}/study.db"], ["predict", out, str(table), "--out", str(answers)])
        for arguments in steps:
            if (code := fork_command(arguments, directory / "output", seconds=600)) != 0:
                score.failures.append(f"manyarms {arguments[0]} ended with {code}")
    return score


def _dies_after(seconds: float, function: Callable[[], None]) -> bool:
    child = _fork(function)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def fork_command(arguments: list[str], output: Path, seconds: float) -> int:
    """Run a command, with its output in a file, and kill it after this many seconds. Returns its exit code."""
    child = _fork(lambda: _command(*arguments, output=output))
    killer = threading.Timer(seconds, lambda: os.kill(child, signal.SIGKILL))
    killer.start()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    killer.cancel()
    return code


def _command(*arguments: str, output: Path = Path(os.devnull)) -> None:
    """Run a command, and exit."""
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.stdout = sys.stderr = os.fdopen(1, "w", closefd=False)
    try:
        cli.main(arguments)
    except SystemExit as end:
        sys.stdout.flush()
        os._exit(int(end.code or 0))
    except BaseException:
        traceback.print_exc()
        sys.stdout.flush()
        os._exit(70)
