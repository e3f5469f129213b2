"""The ranking gives what a scan over all arms would."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manyarms.strategies.kit.ranking import Ranking

ARMS = st.integers(0, 9)
INDICES = st.sampled_from([-1.0, 0.0, 0.5, 1.0]) | st.floats(allow_nan=False)
MOVES = st.lists(st.tuples(ARMS, INDICES, st.floats(0, 1)) | st.tuples(ARMS) | st.just("restore"), max_size=200)


def scanned(entries):
    """The largest index, and among equal ones the smallest tie, then the smallest arm."""
    return min(entries, key=lambda arm: (-entries[arm][0], entries[arm][1], arm), default=None)


@given(MOVES)
def test_the_first_arm_is_the_one_a_scan_would_find(moves):
    ranking, entries = Ranking(), {}
    for move in moves:
        if move == "restore":
            state, ranking = ranking.state(), Ranking()
            ranking.load(state)
        elif len(move) == 1:
            ranking.drop(*move)
            entries.pop(*move, None)
        else:
            ranking.put(*move)
            entries[move[0]] = move[1:]
        assert ranking.first() == scanned(entries)


def test_an_empty_ranking_has_no_first_arm():
    ranking = Ranking()
    assert ranking.first() is None
    ranking.put(3, 1.0, 0.5)
    ranking.drop(3)
    ranking.drop(3)
    assert ranking.first() is None


def test_looking_at_the_first_arm_does_not_change_the_state():
    ranking = Ranking()
    for arm in range(20):
        ranking.put(arm % 5, float(arm), 0.1)
    before = {name: array.tolist() for name, array in ranking.state().items()}
    assert ranking.first() == 4
    assert {name: array.tolist() for name, array in ranking.state().items()} == before
    assert json.dumps(before)  # plain numbers inside


def test_outdated_entries_do_not_pile_up():
    ranking, rng = Ranking(), np.random.default_rng(0)
    for _ in range(10_000):
        ranking.put(int(rng.integers(10)), rng.random(), rng.random())
    assert len(ranking._heap) < 100
