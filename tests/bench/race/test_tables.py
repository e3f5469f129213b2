"""The tables of sample races, and the comparison with the best peer."""

from __future__ import annotations

import pytest
from rich.console import Console

from manyarms.bench.race.comparison import best_rival, compare, reached_after
from manyarms.bench.race.standings import Standings, comparable
from manyarms.bench.race.tables import deciding_table, method_order, rank_table, regret_table, scopes, table_marks, tables
from manyarms.bench.race.text_table import TextTable, number

from .sample_rows import OURS, sample_rows

NAN = float("nan")


def rows_of_two_families(ours=(30.0, 10.0), peer=(40.0, 20.0)):
    """With a peer that is steadily behind, another that does not finish, and one of ours."""
    return sample_rows(
        *((OURS, problem, seed, {5: ours[0] + seed, 10: ours[1] + seed}) for problem in ("a1", "b1") for seed in range(2)),
        *(("Peer 1", problem, seed, dict(zip((5, 10), peer, strict=True))) for problem in ("a1", "b1") for seed in range(2)),
        *(("Peer 2", problem, 0, {5: 39.0, 10: NAN}) for problem in ("a1", "b1")),
        *(("Other", problem, 0, {5: 20.0, 10: 5.0}) for problem in ("a1", "b1")),
    )


def two_families(*regrets):
    return Standings.of(comparable(rows_of_two_families(*regrets)))


def test_our_strategies_come_first_and_methods_that_did_not_finish_last():
    assert method_order(two_families()) == ["Other", OURS, "Peer 1", "Peer 2"]


def test_a_table_of_regrets_highlights_the_best_and_has_dashes_for_stopped_runs():
    standings = two_families()
    text_table = regret_table("all problems", standings, [5, 10], method_order(standings))
    assert text_table.title == "Regret in %, all problems: 2 problems, 2 seeds"
    assert text_table.rows == [
        ("Other", "20.0", "5.0"),
        (OURS, "30.5 ± 0.5", "10.5 ± 0.5"),
        ("Peer 1", "40.0 ± 0.0", "20.0 ± 0.0"),
        ("Peer 2", "39.0", "–"),
    ]
    assert text_table.best == {(0, 1), (0, 2)} and text_table.sections == {1}


def test_a_table_of_ranks():
    standings = two_families()
    text_table = rank_table(standings, [5, 10], method_order(standings))
    assert text_table.rows == [
        ("Other", "1.00", "1.00"),
        (OURS, "2.00", "2.00"),
        ("Peer 1", "4.00", "3.00"),
        ("Peer 2", "3.00", "–"),
    ]


@pytest.mark.parametrize(
    ("ours", "word"), [((30.0, 10.0), "ahead"), ((30.0, 19.5), "tied"), ((30.0, 19.3), "tied"), ((30.0, 21.0), "behind")]
)
def test_the_result_is_about_the_best_peer_and_one_standard_error(ours, word):
    found = compare(two_families(ours), 10)
    assert (found.rival, found.result) == ("Peer 1", word)
    assert found.lead.mean == pytest.approx(20.0 - ours[1] - 0.5) and found.lead.error == pytest.approx(0.5)


def test_the_best_peer_is_the_one_that_is_best_at_that_mark():
    standings = two_families()
    assert best_rival(standings, 5)[0] == "Peer 2"
    assert best_rival(standings, 10)[0] == "Peer 1"
    assert best_rival(standings, 7) is None and compare(standings, 7) is None


def test_without_peers_the_rivals_are_our_other_strategies():
    rows = rows_of_two_families()
    rows = rows[~rows["peer"]]
    found = compare(Standings.of(comparable(rows)), 10)
    assert (found.rival, found.result) == ("Other", "behind")
    titles = [text_table.title for text_table in tables(rows)]
    assert "AdaptiveMutantUCB compared with the best other strategy" in titles


def test_a_regret_is_reached_at_the_first_mark_that_has_it():
    standings = two_families()
    assert reached_after(standings, 30.5) == 5
    assert reached_after(standings, 20.0) == 10
    assert reached_after(standings, 1.0) is None


def test_every_table_can_be_printed_and_written_as_markdown():
    text_tables = list(tables(rows_of_two_families()))
    assert [text_table.title.split(":")[0] for text_table in text_tables] == [
        "Regret in %, a",
        "Regret in %, b",
        "Regret in %, all problems",
        "Mean rank over 2 problems",
        "AdaptiveMutantUCB compared with the best peer",
        "Result by family (with the best peer in each)",
        "When AdaptiveMutantUCB reaches the regret of the best peer after 10 full trainings",
        "Time spent deciding",
    ]
    console = Console(width=200)
    for text_table in text_tables:
        with console.capture() as drawn:
            console.print(text_table.rich())
        assert all(cell in drawn.get() for row in text_table.rows for cell in row)
        lines = [line for line in text_table.markdown().splitlines() if line.startswith("|")]
        assert len(lines) == len(text_table.rows) + 2
        assert {line.count("|") for line in lines} == {len(text_table.columns) + 1}


def test_a_race_without_our_default_strategy_has_no_comparison():
    rows = rows_of_two_families()
    text_tables = list(tables(rows[rows["method"] != OURS]))
    assert not any(OURS in text_table.title for text_table in text_tables)
    assert text_tables[-1].rows[0][-1] == ""  # nothing to compare its time with


def test_marks_are_those_that_the_rows_have():
    assert table_marks(Standings.of(comparable(sample_rows((OURS, "a1", 0, {1: 9.0, 5: 8.0, 7: 7.0}))))) == [5, 7]
    assert list(scopes(two_families())) == ["a", "b", "all problems"]


def test_the_time_per_pull_is_also_relative_to_ours():
    rows = comparable(
        sample_rows(
            (OURS, "a1", 0, {5: 1.0}, {"pulls": 1000, "deciding": 0.5}),
            ("Peer 1", "a1", 0, {5: 1.0}, {"pulls": 100, "deciding": 10.0}),
        )
    )
    assert deciding_table(rows, [OURS, "Peer 1"], {"Peer 1"}).rows == [
        (OURS, "1,000", "0.500 ms", "1.00×"),
        ("Peer 1", "100", "100 ms", "200×"),
    ]


def test_markdown_highlights_the_best_and_has_the_note():
    text_table = TextTable("T", ("", "a"), [("x", "1"), ("y", "2")], best=frozenset({(1, 1)}), note="n")
    assert text_table.markdown() == "### T\n\n|  | a |\n| --- | ---: |\n| x | 1 |\n| y | **2** |\n\nn\n"
    assert number(float("inf")) == "–"
