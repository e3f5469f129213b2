"""Means, errors and ranks of sample races."""

from __future__ import annotations

import math

import numpy as np
import pytest

from manyarms.bench.race.standings import Standings, comparable, time_deciding

from .sample_rows import sample_rows

NAN = float("nan")


def standings_of(*runs):
    return Standings.of(comparable(sample_rows(*runs)))


def test_the_newest_version_and_the_longest_run_count():
    standings = standings_of(
        ("A", "p1", 0, {5: 50.0}, {"version": "1"}),
        ("A", "p1", 0, {5: 40.0, 10: 30.0}, {"version": "2"}),
        ("A", "p1", 0, {5: 45.0}, {"version": "2"}),  # later, but shorter
        ("B", "p1", 0, {5: 20.0}, {"version": "1"}),
    )
    assert [standings.estimate("A", mark).mean for mark in (5, 10)] == [40.0, 30.0]
    assert standings.estimate("B", 5).mean == 20.0 and math.isnan(standings.estimate("B", 10).mean)


def test_the_mean_is_over_problems_and_the_error_over_seeds():
    standings = standings_of(
        ("A", "p1", 0, {5: 10.0}),
        ("A", "p1", 1, {5: 20.0}),
        ("A", "p2", 0, {5: 30.0}),
        ("A", "p2", 1, {5: 60.0}),
    )
    found = standings.estimate("A", 5)
    assert found.mean == pytest.approx(30.0)  # of 15 and 45
    assert found.error == pytest.approx(np.std([20.0, 40.0], ddof=1) / math.sqrt(2))


def test_a_seed_that_some_problem_lacks_counts_for_the_mean_but_not_for_the_error():
    standings = standings_of(
        ("A", "p1", 0, {5: 10.0}),
        ("A", "p1", 1, {5: 20.0}),
        ("A", "p1", 2, {5: 90.0}),
        ("A", "p2", 0, {5: 30.0}),
        ("A", "p2", 1, {5: 50.0}),
    )
    found = standings.estimate("A", 5)
    assert found.mean == pytest.approx((40.0 + 40.0) / 2)
    assert found.error == pytest.approx(np.std([20.0, 35.0], ddof=1) / math.sqrt(2))


def test_with_one_seed_there_is_a_mean_and_no_error():
    found = standings_of(("A", "p1", 0, {5: 10.0})).estimate("A", 5)
    assert found.mean == 10.0 and math.isnan(found.error)


def test_a_method_that_lacks_a_mark_on_any_problem_has_no_mean_there_and_is_not_ranked():
    standings = standings_of(
        ("A", "p1", 0, {5: 10.0, 10: 1.0}),
        ("A", "p2", 0, {5: 10.0, 10: NAN}),  # patience ended
        ("B", "p1", 0, {5: 30.0, 10: 3.0}),
        ("B", "p2", 0, {5: 30.0, 10: 3.0}),
        ("C", "p1", 0, {5: 20.0, 10: 2.0}),  # did not run on p2
        ("D", "p1", 0, {5: 5.0, 10: 2.0}),
        ("D", "p2", 0, {5: 40.0, 10: 5.0}),
        ("D", "p2", 1, {5: 40.0, 10: NAN}),  # one seed of two was stopped
    )
    assert [method for method in "ABCD" if not math.isnan(standings.estimate(method, 5).mean)] == ["A", "B", "D"]
    assert [method for method in "ABCD" if not math.isnan(standings.estimate(method, 10).mean)] == ["B"]
    assert standings.ranks(5).mean().to_dict() == {"A": 1.5, "B": 2.5, "D": 2.0}
    assert standings.ranks(10).mean().to_dict() == {"B": 1.0}
    assert standings.ranks(7).shape == (2, 0)


def test_ranks_are_by_the_mean_over_seeds_and_equal_regrets_share_theirs():
    standings = standings_of(
        ("A", "p1", 0, {5: 10.0}),
        ("A", "p1", 1, {5: 30.0}),
        ("B", "p1", 0, {5: 20.0 + 1e-10}),
        ("C", "p1", 0, {5: 19.0}),
        ("D", "p1", 0, {5: 21.0}),
    )
    assert standings.ranks(5).mean().to_dict() == {"A": 2.5, "B": 2.5, "C": 1.0, "D": 4.0}


def test_a_difference_is_computed_seed_by_seed():
    standings = standings_of(
        *(("A", "p1", seed, {5: 10.0 + 100 * seed}) for seed in range(3)),
        *(("B", "p1", seed, {5: 12.0 + 100 * seed}) for seed in range(3)),
    )
    found = standings.difference("B", "A", 5)
    assert found.mean == pytest.approx(2.0) and found.error == pytest.approx(0.0)
    assert standings.estimate("A", 5).error > 50


def test_deciding_is_the_time_of_all_pulls_to_the_last_mark_reached():
    rows = sample_rows(
        ("A", "p1", 0, {5: 1.0, 10: 1.0}, {"pulls": 100, "deciding": 0.5}),
        ("A", "p2", 0, {5: 1.0, 10: NAN}, {"pulls": 300, "deciding": 1.5}),
        ("B", "p1", 0, {5: NAN}, {"pulls": 0, "deciding": 0.0}),
    )
    found = time_deciding(comparable(rows))
    assert found.loc["A"].to_dict() == {"pulls": 200.0, "milliseconds": 5.0}
    assert "B" not in found.index


def test_the_standings_of_a_family_have_its_problems_and_methods():
    standings = standings_of(("A", "p1", 0, {5: 1.0}), ("A", "q1", 0, {5: 2.0}), ("B", "q1", 1, {5: 3.0}))
    part = standings.in_family("p")
    assert (part.methods, part.problems, part.n_seeds) == (["A"], [("p", "p1")], 1)
    assert standings.families == ["p", "q"] and standings.n_seeds == 2
    assert math.isnan(part.estimate("B", 5).mean)
