"""Heats that run in parallel and are kept."""

from __future__ import annotations

import io
from pathlib import Path

import odd_heats
from rich.console import Console

from manyarms.bench.race.heats import Heat
from manyarms.bench.race.progress import HeatProgress
from manyarms.bench.race.results import Results, read
from manyarms.bench.race.running import run_heats
from manyarms.bench.race.workers import Finished


def heats(*entrants):
    return [Heat("fast curves", 0, entrant, seed, (5,)) for seed, entrant in enumerate(entrants)]


def test_rows_are_in_the_file_while_others_still_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("race.parquet")
    with Results(path) as results:
        finished = list(run_heats(heats("looks", "runs", "raises", "warns"), results, odd_heats.odd, 2))
    assert {done.heat.entrant for done in finished} == {"looks", "runs", "raises", "warns"}
    assert [done.heat.entrant for done in finished if done.reason is not None] == ["raises"]
    seeds = read(path)["seed"].to_pylist()
    assert seeds == [1, 3, 2]  # of those that ran, and what the last to end had seen of them


def test_no_heats_need_no_processes(tmp_path):
    with Results(tmp_path / "race.parquet") as results:
        assert list(run_heats([], results, odd_heats.odd, 2)) == []
    assert not (tmp_path / "race.parquet").exists()


def told(progress):
    with progress:
        for reason in (None, "it failed"):
            progress.tell(Finished(heats("a")[0], [], reason, 1.0))


def test_progress_counts_heats_on_a_terminal_and_is_silent_elsewhere():
    terminal, file = io.StringIO(), io.StringIO()
    told(HeatProgress(10, 3, True, Console(file=terminal, force_terminal=True, width=80)))
    told(HeatProgress(10, 3, True, Console(file=file)))
    assert "5/10 heats · 1 failed" in terminal.getvalue() and file.getvalue() == ""
    told(HeatProgress(10, 3, False, Console(file=file, force_terminal=True)))
    assert file.getvalue() == ""
