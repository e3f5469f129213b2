"""Problems whose models are trained on demand: they continue where they stopped, and slices do not matter."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from manyarms import Float, MutantUCB, Space
from manyarms.bench.problems import FittedProblem, evaluate, regret

STEPS = []  # of all models, in the order made


class Walk:
    """A model that takes random steps upwards; from x above 0.9 on it diverges at the fourth."""

    def __init__(self, config, seed):
        self.x, self.reward, self.made = config["x"], 0.0, 0
        self.rng = np.random.default_rng(seed)

    def step(self):
        self.made += 1
        STEPS.append((self.x, self.made))
        if self.x > 0.9 and self.made == 4:
            raise FloatingPointError("too large")
        self.reward += self.x * self.rng.random()
        return self.reward


def problem(kept=64):
    return FittedProblem("walks", Space(x=Float(0, 1), y=Float(0, 1)), 6, Walk, best=4.0, typical=1.5, kept=kept)


@pytest.fixture(autouse=True)
def steps():
    STEPS.clear()
    return STEPS


CONFIG = {"x": 0.5, "y": 0.1}


def test_a_model_goes_on_where_it_was_and_no_step_is_made_twice(steps):
    walks = problem()
    for step in (2, 3, 3, 1, 6):
        walks.reward(CONFIG, step, seed=step)
    walks.value(CONFIG)
    assert steps == [(0.5, step) for step in (1, 2, 3, 4, 5, 6)]


def test_the_rewards_are_the_same_in_whatever_slices():
    whole, sliced = problem(), problem()
    whole.reward(CONFIG, 6, seed=0)
    assert [sliced.reward(CONFIG, step, seed=9) for step in (1, 2, 3, 4, 5, 6)] == [
        whole.reward(CONFIG, step, seed=0) for step in (1, 2, 3, 4, 5, 6)
    ]
    turned = dict(reversed(CONFIG.items()))
    assert problem().reward(turned, 6, seed=0) == whole.value(CONFIG)
    assert whole.value(CONFIG) != whole.value({**CONFIG, "y": 0.2})  # another config, another seed


def test_the_models_used_last_are_kept_and_another_one_begins_again_and_gives_the_same(steps):
    walks, configs = problem(kept=2), [{"x": x, "y": 0.0} for x in (0.1, 0.2, 0.3)]
    walks.reward(configs[0], 3, seed=0)
    walks.reward(configs[1], 3, seed=0)
    walks.reward(configs[0], 4, seed=0)
    walks.reward(configs[2], 3, seed=0)  # the second is not kept
    steps.clear()
    values = [walks.value(config) for config in configs]
    assert steps == [
        *((0.1, step) for step in (5, 6)),
        *((0.2, step) for step in range(1, 7)),
        *((0.3, step) for step in range(1, 7)),
    ]
    assert values == [problem().value(config) for config in configs]


def test_what_was_measured_is_remembered_when_the_model_is_gone(steps):
    walks = problem(kept=0)
    rewards = [walks.reward(CONFIG, step, seed=0) for step in (6, 2, 4)]
    assert len(steps) == 6
    assert rewards == [problem().reward(CONFIG, step, seed=0) for step in (6, 2, 4)]


def test_a_model_that_diverges_gives_no_more_rewards_and_is_worth_nothing(steps):
    walks, config = problem(), {"x": 0.95, "y": 0.0}
    assert [walks.reward(config, step, seed=0) is None for step in (1, 2, 3, 4, 5, 6)] == [False] * 3 + [True] * 3
    assert walks.value(config) == 0.0
    assert len(steps) == 4
    assert walks.values([config, CONFIG]).tolist() == [0.0, walks.value(CONFIG)]


def test_a_problem_goes_to_another_process_without_its_models(steps):
    walks = problem()
    before = walks.reward(CONFIG, 3, seed=0)
    again = pickle.loads(pickle.dumps(walks))
    steps.clear()
    assert again.reward(CONFIG, 3, seed=0) == before
    assert len(steps) == 3
    assert walks.reward(CONFIG, 4, seed=0) == again.reward(CONFIG, 4, seed=0)
    assert len(steps) == 5


def test_a_search_pays_for_each_step_once(steps):
    walks = problem()
    walks.space = Space(x=Float(0, 1))  # so that x alone tells the models apart
    search = MutantUCB(walks.space, budget=120, max_steps=6, initial=8, exploration=0.05, seed=0)
    while (pull := search.ask()) is not None:
        search.tell(pull, evaluate(walks, pull, seed=0))
    assert len(steps) == len(set(steps)) <= 120
    assert regret(walks, search.best().config) < 100


def test_a_wrong_argument_is_refused():
    with pytest.raises(ValueError, match="kept must be at least 0, got -1"):
        problem(kept=-1)
