"""Rewards of any scale, whichever picker the cascade has."""

import numpy as np
import pytest

import manyarms as ma
from manyarms.testing import play

from .searches import mixed, two

PICKERS = (ma.ExtremeUCB, ma.ERUCB, ma.UCB1, ma.EpsilonGreedy, ma.Softmax, ma.Uniform)


@pytest.mark.parametrize("picker", PICKERS)
def test_any_picker_takes_any_reward_and_so_do_the_children(picker):
    for cascade in (two(picker()), mixed(picker=picker())):
        for _ in play(cascade, lambda pull: -100 * abs(pull.config["config"]["x"] - 0.3), workers=2):
            pass
        assert abs(cascade.best().config["config"]["x"] - 0.3) < 0.1


def share_of_b(picker, seed, diverged=0, draw=lambda rng, place: rng.uniform(-3.0 + 0.5 * place, -2.6 + 0.6 * place)):
    """The share of 300 pulls that a study gives to the second child, which is the better one; the first runs may diverge."""
    rng = np.random.default_rng(seed)
    with ma.Study(two(picker, budget=300, seed=seed)) as study:
        while (pull := study.ask()) is not None:
            noise = -1e9 * (1 + rng.random())
            study.tell(pull, noise if study.counts.pulls < diverged else draw(rng, "ab".index(pull.config["algorithm"])))
        return study.strategy.picker.trials[1] / 300


def test_first_runs_that_diverged_do_not_count_for_ever():
    """Were old rewards not brought to each new scale, these would be 0.74 and 0.46."""
    assert np.mean([share_of_b(ma.UCB1(), seed, diverged=20) for seed in range(20)]) > 0.85
    assert np.mean([share_of_b(ma.EpsilonGreedy(), seed, diverged=2) for seed in range(20)]) > 0.75


def test_losses_of_many_sizes_do_not_mislead_as_to_the_better_child():
    """Were old rewards not brought to each new scale, it would be 0.82."""
    losses = lambda rng, place: -rng.lognormal(-place)  # noqa: E731
    assert np.mean([share_of_b(ma.ExtremeUCB(), seed, draw=losses) for seed in range(20)]) > 0.85
