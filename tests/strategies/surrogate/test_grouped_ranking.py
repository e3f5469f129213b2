"""Arms ranked within groups whose indices shift together."""

from manyarms.strategies.surrogate.grouped_ranking import GroupedRanking


def ranked():
    ranking = GroupedRanking(3)
    for arm, group, index in ((0, 0, 1.0), (1, 1, 3.0), (2, 1, 2.0), (3, 2, 2.5)):
        ranking.put(arm, group, index, tie=0.5)
    return ranking


def test_the_leader_has_the_largest_corrected_index_of_the_groups_asked_for():
    ranking = ranked()
    assert ranking.leader(range(3), [0.0, 0.0, 0.0]) == (3.0, 1)
    assert ranking.leader(range(3), [5.0, 0.0, 0.0]) == (6.0, 0)
    assert ranking.leader(range(2, 3), [5.0, 0.0, 0.0]) == (2.5, 3)


def test_at_a_tie_the_first_group_leads():
    assert ranked().leader(range(3), [2.0, 0.0, 0.5]) == (3.0, 0)


def test_dropped_arms_are_not_ranked_and_empty_groups_have_no_leader():
    ranking = ranked()
    ranking.drop(3, 2)
    assert ranking.leader([2], [0.0] * 3) is None and ranking.arms([1, 2]) == [1, 2]


def test_clearing_returns_all_arms():
    ranking = ranked()
    assert ranking.clear() == [0, 1, 2, 3] and ranking.arms(range(3)) == []


def test_a_loaded_ranking_has_the_same_leaders():
    one, two = ranked(), GroupedRanking(3)
    two.load(one.state())
    assert all(one.leader([group], [0.0] * 3) == two.leader([group], [0.0] * 3) for group in range(3))
