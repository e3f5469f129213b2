"""AdaptiveMutantUCB goes on from a loaded state as if nothing had happened."""

from itertools import islice

import pytest

from manyarms import AdaptiveMutantUCB
from manyarms.testing import play

from .searches import SPACE, draw, loss, pulls_of


@pytest.mark.parametrize("reward", [loss, draw])
@pytest.mark.parametrize("moment", [10, 100, 400])
def test_a_loaded_state_goes_on_as_the_original(reward, moment):
    def flawed(pull):
        return None if pull.arm.id % 11 == 5 else -1e9 if pull.arm.id % 13 == 6 and pull.start else reward(pull)

    original, restored = (AdaptiveMutantUCB(SPACE, budget=900, max_steps=6, seed=seed) for seed in (0, 9))
    for _ in islice(play(original, flawed), moment):
        pass
    waiting = original.ask()
    restored.load(original.state())
    for search in (original, restored):
        search.tell(waiting, flawed(waiting))
    assert original._scores.curves.stationary == restored._scores.curves.stationary
    assert pulls_of(original, flawed) == pulls_of(restored, flawed)
    assert original.best() == restored.best()
    assert [original.priority(arm.id) for arm in original.ledger.arms] == [
        restored.priority(arm.id) for arm in restored.ledger.arms
    ]
