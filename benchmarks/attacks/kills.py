"""SIGKILL at random and at chosen moments: the study must end with the journal and the model of one that was left alone."""

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
"""What a study does on disk: a kill just before or just after one of these is the worst moment there is."""


def kills(n: int, directory: Path, rng: random.Random) -> Iterator[Score]:
    """All kinds of kills, `n` in total."""
    alone, pair = f"{directory}/alone.db", f"{directory}/pair.db"
    chain.search(alone)
    chain.search(pair, workers=2)
    at_random, with_workers = int(n * 0.4), int(n * 0.2)
    yield random_kills("kill -9 at random moments", at_random, directory / "random.db", alone, 1, rng)
    yield random_kills("kill -9 with 2 worker processes", with_workers, directory / "workers.db", pair, 2, rng)
    chosen = n - at_random - with_workers
    yield chosen_kills("kill -9 while a checkpoint or an event is written", chosen, directory, alone)


def random_kills(attack: str, n: int, storage: Path, whole: str, workers: int, rng: random.Random) -> Score:
    """Kill the study a few pulls after it started, again and again; when it ends, start a new one."""
    score, lives = Score(attack), 0
    while score.attempts < n:
        lives += 1
        file = f"{storage}-{lives}"
        while score.attempts < n and _dies(lambda file=file: chain.search(file, workers, callbacks=[_stamp]), rng):
            score.attempts += 1
        _finish(file, whole, workers, score)
    if workers == 1:
        score.peer = _optuna(n, storage.with_name("optuna.db"), rng)
    return score


def chosen_kills(attack: str, n: int, directory: Path, whole: str) -> Score:
    """Kill the study at its k-th sync, rename or write, just before it or just after it."""
    score = Score(attack)
    for k in range(n):
        name, after, call = _MOMENTS[k % len(_MOMENTS)], bool(k // len(_MOMENTS) % 2), 1 + k // (2 * len(_MOMENTS))
        file = f"{directory}/chosen-{k}.db"
        if _run(lambda file=file, name=name, after=after, call=call: _kill_at(file, name, after, call)):
            score.attempts += 1
        _finish(file, whole, 1, score)
    return score


def _finish(file: str, whole: str, workers: int, score: Score) -> None:
    chain.search(file, workers)
    if (wrong := chain.difference(file, whole)) is not None:
        score.failures.append(wrong)


def _kill_at(file: str, name: str, after: bool, call: int) -> None:
    """Search, and end this process at the `call`-th use of a function."""
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


_told = -1


def _stamp(*_: Any) -> None:
    os.write(_told, b".")


def _dies(life: Callable[[], None], rng: random.Random) -> bool:
    """Run in a forked process and kill it a few pulls after it started; whether it was killed before it ended."""
    global _told
    heard, _told = os.pipe()
    pulls, delay = rng.randrange(12), rng.uniform(0, 0.02)
    child = _fork(life)
    os.close(_told)
    for _ in range(pulls):
        if not os.read(heard, 1):
            break  # it ended
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.close(heard)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _run(life: Callable[[], None]) -> bool:
    """Run in a forked process; whether it was killed."""
    return os.WIFSIGNALED(os.waitpid(_fork(life), 0)[1])


def _fork(life: Callable[[], None]) -> int:
    """Forking from a process that has imported everything makes a life cost milliseconds."""
    child = os.fork()
    if child == 0:
        try:
            life()
        finally:
            os._exit(0)
    return child


def _optuna(n: int, storage: Path, rng: random.Random) -> str:
    """The same with Optuna: a trial that was running when its process died stays so for ever."""
    url = f"sqlite:///{storage}"
    optuna.create_study(storage=url, study_name="study")
    killed = sum(_dies(lambda: _optuna_life(url), rng) for _ in range(n))
    with sqlite3.connect(storage) as database:
        left = database.execute("SELECT COUNT(*) FROM trials WHERE state = 'RUNNING'").fetchone()[0]
    return f"{left} of {killed} kills left a trial running for ever"


def _optuna_life(url: str) -> None:
    study = optuna.load_study(storage=url, study_name="study", sampler=optuna.samplers.RandomSampler())

    def objective(trial: optuna.Trial) -> float:
        time.sleep(0.002)
        return trial.suggest_float("x", 0, 1)

    study.optimize(objective, n_trials=100, callbacks=[_stamp])


def fit_kills(n: int, directory: Path, rng: random.Random) -> Score:
    """Kill `manyarms fit` while it searches; run again, it must end with a study that is sound and a model that predicts."""
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


def _dies_after(seconds: float, life: Callable[[], None]) -> bool:
    child = _fork(life)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def fork_command(arguments: list[str], output: Path, seconds: float) -> int:
    """The exit code of a command of manyarms, whose output goes to a file; it is killed after so many seconds."""
    child = _fork(lambda: _command(*arguments, output=output))
    killer = threading.Timer(seconds, lambda: os.kill(child, signal.SIGKILL))
    killer.start()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    killer.cancel()
    return code


def _command(*arguments: str, output: Path = Path(os.devnull)) -> None:
    """Run a command of manyarms in this process, which ends with it."""
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
