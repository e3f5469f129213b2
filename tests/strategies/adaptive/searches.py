"""Spaces, rewards of known worth and searches played to the end, which the tests of AdaptiveMutantUCB share."""

from collections import defaultdict

import numpy as np

from manyarms import Float, Space
from manyarms.testing import play

SPACE = Space(x=Float(0, 1), y=Float(0, 1))
WIDE = Space(**{f"x{i}": Float(0, 1) for i in range(5)})


def distance(config):
    """From the best config: 0 to 0.65, a middling one 0.27."""
    return float(np.mean([abs(value - 0.35) for value in config.values()]))


def noise(pull):
    return float(np.random.default_rng([pull.arm.id, pull.stop]).standard_normal())


def loss(pull):
    """Minus a loss that falls slowly, to the lower the nearer the config is to the best."""
    return -(1 + 3 * 0.7**pull.stop) * (0.2 + distance(pull.config)) + 0.005 * noise(pull)


def value(arm):
    """From 0 to 1, regardless of the config: new arms are no better than the first ones."""
    return np.random.default_rng(arm).random()


def climb(pull):
    """It rises slowly to the value of the arm, by the same for all but a little noise."""
    return value(pull.arm.id) - 0.5 * 0.8**pull.stop + 0.002 * noise(pull)


def draw(pull):
    """About the value of the arm, whatever the steps."""
    return value(pull.arm.id) + 0.1 * noise(pull)


def finish(search, reward, workers=1):
    """Play to the end: the rewards of each arm."""
    rewards = defaultdict(list)
    for pull, reward_ in play(search, reward, workers):
        rewards[pull.arm.id].append(reward_)
    return rewards


def pulls_of(search, reward, workers=1):
    return [(pull.arm.id, pull.arm.parents, pull.config, pull.start, pull.stop) for pull, _ in play(search, reward, workers)]


def whole(search):
    return {
        arm for arm, steps in enumerate(search.ledger.steps) if steps == search.max_steps and arm not in search.ledger.failed
    }
