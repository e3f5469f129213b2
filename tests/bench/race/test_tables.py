"""The tables of made-up races, and the verdicts in them."""

from __future__ import annotations

import pytest
from rich.console import Console

from manyarms.bench.race.sheets import Sheet, number
from manyarms.bench.race.standings import Standings, comparable
from manyarms.bench.race.tables import deciding_table, entrant_order, rank_table, regret_table, scopes, table_marks, tables
from manyarms.bench.race.verdicts import best_rival, reached_after, verdict

from .made_up import OURS, made_up

NAN = float("nan")


def rows_of_two_families(ours=(30.0, 10.0), peer=(40.0, 20.0)):
    """With a peer that is steadily behind, another that does not finish, and one of ours."""
    return made_up(
        *((OURS, problem, seed, {5: ours[0] + seed, 10: ours[1] + seed}) for problem in ("a1", "b1") for seed in range(2)),
        *(("Peer 1", problem, seed, dict(zip((5, 10), peer, strict=True))) for problem in ("a1", "b1") for seed in range(2)),
        *(("Peer 2", problem, 0, {5: 39.0, 10: NAN}) for problem in ("a1", "b1")),
        *(("Other", problem, 0, {5: 20.0, 10: 5.0}) for problem in ("a1", "b1")),
    )


def two_families(*regrets):
    return Standings.of(comparable(rows_of_two_families(*regrets)))


def test_ours_come_first_from_the_best_to_the_worst_and_who_did_not_finish_last():
    assert entrant_order(two_families()) == ["Other", OURS, "Peer 1", "Peer 2"]


def test_a_table_of_regrets_marks_the_best_and_who_was_not_in_time():
    standings = two_families()
    sheet = regret_table("all problems", standings, [5, 10], entrant_order(standings))
    assert sheet.title == "Regret in %, all problems: 2 problems, 2 seeds"
    assert sheet.rows == [
        ("Other", "20.0", "5.0"),
        (OURS, "30.5 ± 0.5", "10.5 ± 0.5"),
        ("Peer 1", "40.0 ± 0.0", "20.0 ± 0.0"),
        ("Peer 2", "39.0", "–"),
    ]
    assert sheet.best == {(0, 1), (0, 2)} and sheet.sections == {1}


def test_a_table_of_ranks():
    standings = two_families()
    sheet = rank_table(standings, [5, 10], entrant_order(standings))
    assert sheet.rows == [
        ("Other", "1.00", "1.00"),
        (OURS, "2.00", "2.00"),
        ("Peer 1", "4.00", "3.00"),
        ("Peer 2", "3.00", "–"),
    ]


@pytest.mark.parametrize(
    ("ours", "word"), [((30.0, 10.0), "ahead"), ((30.0, 19.5), "tied"), ((30.0, 19.3), "tied"), ((30.0, 21.0), "behind")]
)
def test_the_verdict_is_about_the_best_peer_and_one_standard_error(ours, word):
    found = verdict(two_families(ours), 10)
    assert (found.rival, found.word) == ("Peer 1", word)
    assert found.ahead.mean == pytest.approx(20.0 - ours[1] - 0.5) and found.ahead.error == pytest.approx(0.5)


def test_the_best_peer_is_the_one_that_is_best_at_that_mark():
    standings = two_families()
    assert best_rival(standings, 5)[0] == "Peer 2"
    assert best_rival(standings, 10)[0] == "Peer 1"
    assert best_rival(standings, 7) is None and verdict(standings, 7) is None


def test_without_peers_the_rivals_are_our_others():
    rows = rows_of_two_families()
    rows = rows[~rows["peer"]]
    found = verdict(Standings.of(comparable(rows)), 10)
    assert (found.rival, found.word) == ("Other", "behind")
    titles = [sheet.title for sheet in tables(rows)]
    assert "AdaptiveMutantUCB against the best other" in titles


def test_a_quality_is_reached_at_the_first_mark_that_has_it():
    standings = two_families()
    assert reached_after(standings, 30.5) == 5
    assert reached_after(standings, 20.0) == 10
    assert reached_after(standings, 1.0) is None


def test_every_table_can_be_printed_and_is_a_table_of_markdown():
    sheets = list(tables(rows_of_two_families()))
    assert [sheet.title.split(":")[0] for sheet in sheets] == [
        "Regret in %, a",
        "Regret in %, b",
        "Regret in %, all problems",
        "Mean rank over 2 problems",
        "AdaptiveMutantUCB against the best peer",
        "The same by family (best peer in each)",
        "When AdaptiveMutantUCB reaches the quality that the best peer has after 10 full trainings",
        "Time spent deciding",
    ]
    console = Console(width=200)
    for sheet in sheets:
        with console.capture() as drawn:
            console.print(sheet.rich())
        assert all(cell in drawn.get() for row in sheet.rows for cell in row)
        lines = [line for line in sheet.markdown().splitlines() if line.startswith("|")]
        assert len(lines) == len(sheet.rows) + 2
        assert {line.count("|") for line in lines} == {len(sheet.columns) + 1}


def test_a_race_without_the_champion_has_no_verdicts():
    rows = rows_of_two_families()
    sheets = list(tables(rows[rows["entrant"] != OURS]))
    assert not any(OURS in sheet.title for sheet in sheets)
    assert sheets[-1].rows[0][-1] == ""  # nothing to compare its time with


def test_marks_are_those_that_the_rows_have():
    assert table_marks(Standings.of(comparable(made_up((OURS, "a1", 0, {1: 9.0, 5: 8.0, 7: 7.0}))))) == [5, 7]
    assert list(scopes(two_families())) == ["a", "b", "all problems"]


def test_the_time_of_a_pull_and_how_many_times_ours_it_is():
    rows = comparable(
        made_up(
            (OURS, "a1", 0, {5: 1.0}, {"pulls": 1000, "deciding": 0.5}),
            ("Peer 1", "a1", 0, {5: 1.0}, {"pulls": 100, "deciding": 10.0}),
        )
    )
    assert deciding_table(rows, [OURS, "Peer 1"], {"Peer 1"}).rows == [
        (OURS, "1,000", "0.500 ms", "1.00×"),
        ("Peer 1", "100", "100 ms", "200×"),
    ]


def test_markdown_marks_the_best_and_keeps_the_note():
    sheet = Sheet("T", ("", "a"), [("x", "1"), ("y", "2")], best=frozenset({(1, 1)}), note="n")
    assert sheet.markdown() == "### T\n\n|  | a |\n| --- | ---: |\n| x | 1 |\n| y | **2** |\n\nn\n"
    assert number(float("inf")) == "–"
