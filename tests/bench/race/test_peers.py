"""Other libraries on the track: each ends, pays for what it trains, repeats itself, and leaves nothing behind."""

from __future__ import annotations

import random
import subprocess
import sys
import threading

import numpy as np
import pytest
from racing import CONDITIONAL, Stub, table

from manyarms.bench.problems import CurveWorld
from manyarms.bench.race.entrants import Entrant, run
from manyarms.bench.race.peers import PEERS
from manyarms.bench.race.peers.common import Costs, rungs
from manyarms.bench.race.track import Track


@pytest.fixture(params=PEERS.values(), ids=PEERS)
def peer(request) -> Entrant:
    entrant: Entrant = request.param
    if entrant.missing:
        pytest.skip(f"needs {', '.join(entrant.missing)}")
    entrant.load()
    return entrant


def raced(peer: Entrant, problem, marks=(3, 6), seed: int = 1) -> Track:
    track = Track(problem, marks, seed)
    run(peer, track)
    assert track.spent <= track.budget
    assert [reading.trainings for reading in track.readings] == list(marks)
    return track


def regrets(track: Track) -> list[float]:
    return [reading.regret for reading in track.readings]


def test_a_search_spends_its_budget_and_repeats_itself(peer, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    problem = CurveWorld("slow", dimensions=3, max_steps=9)
    states, threads = (random.getstate(), np.random.get_state()[1].tolist()), threading.active_count()
    track = raced(peer, problem)
    assert track.spent > track.budget - problem.max_steps
    assert regrets(track) == regrets(raced(peer, problem))
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states
    assert threading.active_count() <= threads


def test_conditional_spaces_are_searched_and_other_seeds_search_differently(peer):
    tracks = [raced(peer, Stub(CONDITIONAL), seed=seed) for seed in (1, 2)]  # which refuses configs that are not of the space
    assert all(track.spent > track.budget - 9 for track in tracks)
    assert regrets(tracks[0]) != regrets(tracks[1])


@pytest.mark.parametrize("failing", [0.5, 1.0])
def test_failures_end_no_search(peer, failing):
    track = raced(peer, Stub(failing=failing))
    assert track.spent > track.budget - 9
    assert (regrets(track) == [100.0, 100.0]) == (failing == 1.0)


def test_a_table_with_fewer_rows_than_the_budget_ends(peer, monkeypatch):
    monkeypatch.setattr("manyarms.bench.race.track._IN_VAIN", 15)
    raced(peer, table(), marks=(3, 10))


def test_no_peer_is_imported_before_it_runs():
    names = {package for entrant in PEERS.values() for package in entrant.needs}
    code = "import sys, manyarms.bench.race.peers; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "manyarms.bench.race.peers" in loaded and not names & set(loaded)


def test_rungs_end_with_a_full_training():
    assert [rungs(steps) for steps in (1, 2, 3, 9, 10)] == [[1], [1, 2], [1, 3], [1, 3, 9], [1, 3, 9, 10]]


def test_a_failure_costs_as_much_as_the_worst_success_so_far():
    costs = Costs()
    assert costs.of(None) > 1e6
    assert [costs.of(reward) for reward in (0.5, None, 0.25, 0.75, None)] == [-0.5, -0.5, -0.25, -0.75, -0.25]
