"""kill -9 of the study's process is a normal event: nothing is lost, nothing is decided otherwise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import chained
import pytest

import manyarms as ma
from manyarms.study.verify import audit


def killed(storage: str, workers: int, kills: int, budget: int) -> int:
    """How often the study died before it was done."""
    script = str(Path(__file__).parents[1] / "support" / "killing.py")
    command = [sys.executable, script, storage, str(workers), str(kills), str(budget), "3"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return int(answer.stdout)


def uninterrupted(storage: str, workers: int, budget: int) -> None:
    with ma.Study(chained.strategy(budget), storage=storage) as study:
        study.optimize(chained.slowly, workers=workers, deterministic=workers > 1, progress=False)


@pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize(("kills", "budget"), [(5, 120), pytest.param(50, 500, marks=pytest.mark.slow)])
def test_a_study_killed_at_many_moments_decides_what_an_uninterrupted_one_does(tmp_path, workers, kills, budget):
    whole, broken = f"{tmp_path}/whole.db", f"{tmp_path}/broken.db"
    uninterrupted(whole, workers, budget)
    assert killed(broken, workers, kills, budget) == kills
    assert chained.decisions(broken) == chained.decisions(whole)
    with ma.load_study(broken) as study:
        assert list(audit(study.journal)) == []
        assert not study.counts.in_flight
        assert study.counts.steps <= budget
    with (
        ma.Study(chained.strategy(budget), storage=broken) as study,
        ma.Study(chained.strategy(budget), storage=whole) as other,
    ):
        assert study.best_model() == other.best_model()
