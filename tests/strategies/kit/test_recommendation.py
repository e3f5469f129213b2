"""The standings recommend what a scan over all arms would, without the scan."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyarms import Float, NoResult, Space
from manyarms.strategies.kit.ledger import Ledger
from manyarms.strategies.kit.recommendation import Standings

SPACE = Space(x=Float(0, 1))
REWARDS = st.none() | st.sampled_from([-1.0, -0.0, 0.0, 0.5]) | st.floats(allow_nan=False, allow_infinity=False)
MOVES = st.lists(st.tuples(st.integers(0, 7), REWARDS) | st.just("restore"), max_size=120)


class Scanned:
    """The standings as they are meant: at a tie the leader stays; when it fails, the best is looked for, by turn."""

    def __init__(self, ledger):
        self.ledger, self.rewards, self.leader = ledger, {}, None

    def standing(self, arm):
        return arm not in self.ledger.failed, self.rewards[arm], self.ledger.steps[arm]

    def tell(self, arm, reward):
        if reward is not None:
            self.rewards[arm] = max(reward, self.rewards.get(arm, reward))
            if self.leader is None or self.standing(arm) > self.standing(self.leader):
                self.leader = arm
        elif arm == self.leader:
            self.leader = max(self.rewards, key=self.standing)


class Counted(float):
    """A reward that counts how often it is compared."""

    comparisons = 0

    def __neg__(self):
        return Counted(-float(self))

    def _compared(name):
        def compare(self, other):
            Counted.comparisons += 1
            return getattr(float, name)(self, other)

        return compare

    __lt__, __gt__, __eq__ = _compared("__lt__"), _compared("__gt__"), _compared("__eq__")
    __hash__ = float.__hash__


def begin(arms):
    ledger = Ledger(SPACE, None, None, 0)
    for _ in range(arms):
        ledger.new_sample()
    return ledger, Standings(ledger)


def end_pull(ledger, standings, arm, reward):
    """Give the arm one step more; the ledger rounds rewards to plain floats, so it only hears whether there is one."""
    ledger.settle(ledger.open(ledger.arms[arm], 1), None if reward is None else 0.0)
    standings.tell(arm, reward)


@given(MOVES)
def test_the_leader_is_the_one_a_scan_would_find(moves):
    ledger, standings = begin(8)
    scanned = Scanned(ledger)
    for move in moves:
        if move == "restore":
            state, standings = standings.state(), Standings(ledger)
            standings.load(state)
        elif move[0] not in ledger.failed:
            end_pull(ledger, standings, *move)
            scanned.tell(*move)
        if scanned.leader is not None:
            assert standings.best().id == scanned.leader
    assert standings.state()["arms"].tolist() == list(scanned.rewards)
    assert standings.state()["rewards"].tolist() == list(scanned.rewards.values())
    assert standings.state()["leader"] == scanned.leader


def test_before_any_reward_there_is_nothing_to_recommend():
    ledger, standings = begin(2)
    end_pull(ledger, standings, 0, None)
    with pytest.raises(NoResult):
        standings.best()
    assert standings.priority(0, again=True) == standings.priority(1, again=True) == -math.inf


def test_a_snapshot_taken_after_any_failure_is_the_same_and_stays_the_same():
    ledger, standings = begin(30)
    for arm in range(30):
        end_pull(ledger, standings, arm, float(arm % 7))
    for _ in range(30):
        end_pull(ledger, standings, standings.best().id, None)
        restored = Standings(ledger)
        restored.load(standings.state())
        plain = [{**part.state(), "arms": part.state()["arms"].tolist()} for part in (standings, restored)]
        plain = [json.dumps({**part, "rewards": part["rewards"].tolist()}) for part in plain]
        assert plain[0] == plain[1]
        standings = restored
    assert standings.best().id == 6  # all failed: the best of them, the first told first


@pytest.mark.parametrize("order", ["all, then their leaders fail", "each fails as soon as it leads"])
def test_leaders_that_keep_failing_cost_no_scan(order):
    arms, Counted.comparisons = 1_000, 0
    ledger, standings = begin(arms)
    for arm in range(arms):
        end_pull(ledger, standings, arm, Counted(arm * 7919 % arms))
        if order == "each fails as soon as it leads" and standings.best().id == arm:
            end_pull(ledger, standings, arm, None)
    while (leader := standings.best().id) not in ledger.failed:
        end_pull(ledger, standings, leader, None)
    assert 0 < Counted.comparisons < 50 * arms  # a scan for each would take half a million


def test_outdated_standings_do_not_pile_up():
    ledger, standings = begin(5)
    for step in range(5_000):
        end_pull(ledger, standings, step % 5, float(step))
    assert len(standings._heap) < 100
