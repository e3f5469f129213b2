"""Other libraries on charged problems: each ends, pays for what it trains, is repeatable, and leaves nothing behind."""

from __future__ import annotations

import random
import subprocess
import sys
import threading

import numpy as np
import pytest
from stub_problems import CONDITIONAL, Stub, table

from manyarms.bench.problems import CurveWorld
from manyarms.bench.race.charged_problem import ChargedProblem
from manyarms.bench.race.methods import Method, search
from manyarms.bench.race.peers import PEERS
from manyarms.bench.race.peers.common import Costs, rungs

pytestmark = pytest.mark.filterwarnings("ignore")  # those of other libraries


@pytest.fixture(params=PEERS.values(), ids=PEERS)
def peer(request) -> Method:
    method: Method = request.param
    if method.missing:
        pytest.skip(f"needs {', '.join(method.missing)}")
    method.load()
    return method


def raced(peer: Method, problem, marks=(3, 6), seed: int = 1) -> ChargedProblem:
    charged = ChargedProblem(problem, marks, seed)
    search(peer, charged)
    assert charged.spent <= charged.budget
    assert [found.trainings for found in charged.measurements] == list(marks)
    return charged


def regrets(charged: ChargedProblem) -> list[float]:
    return [found.regret for found in charged.measurements]


def test_a_search_spends_its_budget_and_repeats_itself(peer, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    problem = CurveWorld("slow", dimensions=3, max_steps=9)
    states, threads = (random.getstate(), np.random.get_state()[1].tolist()), threading.active_count()
    charged = raced(peer, problem)
    assert charged.spent > charged.budget - problem.max_steps
    assert regrets(charged) == regrets(raced(peer, problem))
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states
    assert threading.active_count() <= threads


def test_conditional_spaces_are_searched_and_other_seeds_search_differently(peer):
    charged_problems = [raced(peer, Stub(CONDITIONAL), seed=seed) for seed in (1, 2)]
    assert all(charged.spent > charged.budget - 9 for charged in charged_problems)
    assert regrets(charged_problems[0]) != regrets(charged_problems[1])


@pytest.mark.parametrize("failing", [0.5, 1.0])
def test_failures_end_no_search(peer, failing):
    charged = raced(peer, Stub(failing=failing))
    assert charged.spent > charged.budget - 9
    assert (regrets(charged) == [100.0, 100.0]) == (failing == 1.0)


def test_a_table_with_fewer_rows_than_the_budget_ends(peer, monkeypatch):
    monkeypatch.setattr("manyarms.bench.race.charged_problem._MOST_REPEATS", 15)
    raced(peer, table(), marks=(3, 10))


def test_no_peer_is_imported_before_it_runs():
    names = {package for method in PEERS.values() for package in method.needs}
    code = "import sys, manyarms.bench.race.peers; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "manyarms.bench.race.peers" in loaded and not names & set(loaded)


def test_rungs_end_with_a_full_training():
    assert [rungs(steps) for steps in (1, 2, 3, 9, 10)] == [[1], [1, 2], [1, 3], [1, 3, 9], [1, 3, 9, 10]]


def test_a_failure_costs_as_much_as_the_worst_success_so_far():
    costs = Costs()
    assert costs.of(None) > 1e6
    assert [costs.of(reward) for reward in (0.5, None, 0.25, 0.75, None)] == [-0.5, -0.5, -0.25, -0.75, -0.25]
