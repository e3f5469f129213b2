"""The cost of resuming a study of 100,000 pulls on SQLite: seconds to open it, and memory.

The study is opened from its snapshot, as after a clean end, and by replaying the whole journal, as without a snapshot. Each
is measured in a new process that has opened a small study before, so that imports do not count. Memory is the growth of the
process per pull. Seconds are wall-clock time, with CPU time in brackets; they differ on a busy machine.

The peer is Optuna's `load_study` and `.trials` with 10,000 trials on SQLite. Its seconds are scaled to the number of our
pulls, and its memory is per trial.

To save time, our study runs in memory and its journal is copied to the databases. Adding the trials of Optuna takes a minute.
"""

from __future__ import annotations

import multiprocessing
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import optuna
import psutil
import sqlalchemy as sa
from problem import DISTRIBUTIONS, REWARDS, mutant_ucb, noisy, random_study
from report import AtMost, Row, parser, show

import manyarms as ma
from manyarms.journal import MemoryJournal
from manyarms.journal.sql import SqlJournal

FULL = 100_000  # pulls that the target in seconds is for
BATCH = 10_000  # events written at once


class Opening(NamedTuple):
    """What opening a study took."""

    seconds: float
    processor: float
    bytes: int

    def time(self, scale: float = 1.0) -> str:
        return f"{self.seconds * scale:.2f} s ({self.processor * scale:.2f} s)"


class Stored(NamedTuple):
    """A study of ours in two databases."""

    replayed: str
    snapshot: str
    pulls: int
    arms: int


def build(directory: Path, name: str, pulls: int) -> Stored:
    """Run a study in memory and store it with and without its snapshot."""
    reward, memory = REWARDS[name], MemoryJournal()
    study = ma.Study(mutant_ucb(budget=pulls), storage=memory, checkpoints=str(directory / "checkpoints"))
    with warnings.catch_warnings(category=ma.ManyarmsWarning, action="ignore"):  # rising rewards are meant to be a trap
        study.optimize(lambda pull: reward(pull.config, pull.stop), progress=False)
    replayed, snapshot = directory / f"{reward.__name__}-replayed.db", directory / f"{reward.__name__}-snapshot.db"
    _copy(memory, replayed)
    shutil.copy(replayed, snapshot)
    stored = SqlJournal(str(snapshot), memory.name)
    stored.save_snapshot(*memory.snapshot())
    stored.close()
    return Stored(str(replayed), str(snapshot), study.counts.pulls, len(study.counts.arms))


def _copy(memory: MemoryJournal, file: Path) -> None:
    stored, events = SqlJournal(str(file), memory.name), memory.events()
    stored.create(memory.header)
    while batch := list(islice(events, BATCH)):
        stored.append(batch)
    stored.close()


def build_peer(url: str, trials: int) -> None:
    """Store a study of Optuna, without its waits for the disk."""
    storage = optuna.storages.RDBStorage(url)
    sa.event.listen(storage.engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
    storage.engine.dispose()
    study, sampler = random_study(storage), random_study()
    for _ in range(trials):
        parameters = sampler.ask(DISTRIBUTIONS).params
        study.add_trial(optuna.create_trial(params=parameters, distributions=DISTRIBUTIONS, value=noisy(parameters)))


def open_ours(file: str, budget: int, pulls: int) -> Opening:
    """Open a stored study for writing, in this process."""
    ma.Study(mutant_ucb(budget=1000), storage="sqlite://").close()
    opening, study = _measured(lambda: ma.Study(mutant_ucb(budget=budget), storage=file))
    assert study.counts.pulls == pulls
    return opening


def open_peer(url: str, trials: int) -> Opening:
    """Load a study of Optuna and its trials, in this process."""
    random_study("sqlite://")
    opening, loaded = _measured(lambda: optuna.load_study(study_name=None, storage=url).trials)
    assert len(loaded) == trials
    return opening


def _measured(opening: Callable[[], Any]) -> tuple[Opening, Any]:
    memory = psutil.Process().memory_info
    before, began, processor = memory().rss, time.perf_counter(), time.process_time()
    opened = opening()
    return Opening(time.perf_counter() - began, time.process_time() - processor, memory().rss - before), opened


def in_fresh_processes(rounds: int, function: Callable[..., Opening], *arguments: Any) -> Opening:
    """The medians over some rounds, each in a process of its own."""
    openings = []
    for _ in range(rounds):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            openings.append(pool.apply(function, arguments))
    return Opening(*(median(values) for values in zip(*openings, strict=True)))


def rows(name: str, stored: Stored, budget: int, rounds: int, peer: Opening, trials: int) -> list[Row]:
    """The lines of one kind of reward."""
    scale, limit = stored.pulls / trials, 5 * budget / FULL
    lines = [Row(f"{name} ({stored.arms:,} arms)")]
    for way, file in (("from the snapshot", stored.snapshot), ("replaying the journal", stored.replayed)):
        ours = in_fresh_processes(rounds, open_ours, file, budget, stored.pulls)
        size = ours.bytes / stored.pulls
        lines.append(Row(f"  open, {way}", ours.time(), peer.time(scale), AtMost(limit, ours.seconds, "s")))
        lines.append(Row("  memory a pull", f"{size:.0f} B", f"{peer.bytes / trials:.0f} B", AtMost(1000, size, "B")))
    return lines


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--pulls", type=int, help=f"of our study (default {FULL:,}; 20,000 with --quick)")
    arguments.add_argument("--trials", type=int, help="of the peer's study (default 10,000; 1,000 with --quick)")
    arguments.add_argument("--rounds", type=int, help="how often each is opened (default 3; 1 with --quick)")
    options = arguments.parse_args()
    pulls = options.pulls or (20_000 if options.quick else FULL)
    trials = options.trials or (1_000 if options.quick else 10_000)
    rounds = options.rounds or (1 if options.quick else 3)
    with tempfile.TemporaryDirectory() as directory:
        url = f"sqlite:///{directory}/optuna.db"
        build_peer(url, trials)
        peer = in_fresh_processes(rounds, open_peer, url, trials)
        lines = []
        for name in REWARDS:
            stored = build(Path(directory), name, pulls)
            lines += rows(name, stored, pulls, rounds, peer, trials)
    show(
        f"Going on with a study of {pulls:,} pulls on SQLite",
        f"Optuna, scaled from {trials:,} trials",
        lines,
        rounds,
        f"Optuna took {peer.time()} for its {trials:,} trials",
    )


if __name__ == "__main__":
    main()
