"""Which heats make up a race, in which order they run, and what comes out of one."""

from __future__ import annotations

import math

import pytest

from manyarms import __version__
from manyarms.bench.race import heats
from manyarms.bench.race.entrants import CHAMPION, OURS, Entrant, entrants
from manyarms.bench.race.families import FAMILIES, Family
from manyarms.bench.race.heats import READ, TABLED, Heat, Waiting, key, marks_up_to, plan, run_heat

CURVES = "fast curves"


def test_marks_are_cut_at_the_budget_which_is_the_last():
    assert marks_up_to(200, READ) == READ
    assert marks_up_to(50, TABLED) == (5, 10, 20, 50)
    assert marks_up_to(3, TABLED) == (3,)
    assert marks_up_to(300, READ)[-2:] == (200, 300)


def test_who_is_read_on_the_way_runs_once_and_others_once_for_each_mark_of_the_tables():
    planned = plan({CURVES: [0, 1], "slow curves": [1]}, [OURS[CHAMPION], OURS["MutantUCB"]], seeds=2, budget=20)
    assert len(planned) == len(set(planned)) == 3 * 2 * (1 + 3)
    assert {heat.marks for heat in planned if heat.entrant == CHAMPION} == {(1, 2, 3, 5, 7, 10, 14, 20)}
    assert {heat.marks for heat in planned if heat.entrant == "MutantUCB"} == {(5,), (10,), (20,)}


def test_who_does_not_suit_a_space_stays_out():
    picky = Entrant("picky", lambda track: None, suits=lambda space: len(space.parameters) < 5)
    assert plan({CURVES: [0]}, [picky], seeds=1, budget=5) == []


def test_a_heat_gives_a_row_for_each_mark():
    heat = Heat(CURVES, 1, CHAMPION, 3, (1, 2, 5))
    rows = run_heat(heat)
    assert [row["trainings"] for row in rows] == [1, 2, 5]
    assert [row["pulls"] for row in rows] == sorted(row["pulls"] for row in rows)
    for row in rows:
        assert (row["family"], row["problem"], row["half"]) == (CURVES, "fast curves 1", "reported")
        assert (row["entrant"], row["peer"], row["version"], row["seed"], row["budget"]) == (CHAMPION, False, __version__, 3, 5)
        assert 0 <= row["regret"] <= 300 and row["deciding"] > 0
    again = run_heat(heat)
    assert [row["regret"] for row in again] == [row["regret"] for row in rows]
    assert key(heat, "1.0") == (CURVES, "fast curves 1", CHAMPION, 3, 5, "1.0")
    assert str(heat) == "AdaptiveMutantUCB on fast curves 1, seed 3, budget 5"


def test_who_loses_patience_has_no_regret_at_the_marks_beyond():
    rows = run_heat(Heat(CURVES, 0, "RandomSearch", 0, (1, 2, 5)), patience=1e-9)
    assert len(rows) == 3 and all(math.isnan(row["regret"]) and row["pulls"] == 0 for row in rows)


@pytest.mark.parametrize("name", OURS)
def test_every_strategy_of_ours_finishes_a_heat(name):
    rows = run_heat(Heat(CURVES, 0, name, 0, (5, 10)))
    assert all(0 <= row["regret"] <= 300 for row in rows)
    assert rows[-1]["pulls"] > 0 and rows[-1]["arms"] > 0


def test_one_heat_of_each_group_runs_first_then_the_longest():
    planned = [Heat(CURVES, number, name, 0, (5,)) for name in ("a", "b", "c") for number in range(2)]
    waiting = Waiting(planned)
    first = [waiting.pop() for _ in range(3)]
    assert {heat.entrant for heat in first} == {"a", "b", "c"}
    for heat in first:
        waiting.took(heat, {"a": 1.0, "b": 9.0, "c": 3.0}[heat.entrant])
    assert [waiting.pop().entrant for _ in range(3)] == ["b", "c", "a"]
    assert not waiting


def test_half_of_a_family_is_tuned_on_and_the_other_half_reported_on():
    problems = [FAMILIES[CURVES].problems()[0]] * 3
    family = Family("three", lambda: problems)
    assert (family.numbers("tuned"), family.numbers("reported"), family.numbers()) == ([0, 2], [1], [0, 1, 2])
    single = Family("one", lambda: problems[:1], half="reported")
    assert (single.numbers("tuned"), single.numbers("reported")) == ([], [0])


def test_problems_are_loaded_once_and_have_names_of_their_own():
    family = FAMILIES["crossing curves"]
    assert family.problems() is family.problems()
    for name in ("fast curves", "slow curves", "crossing curves"):
        family = FAMILIES[name]
        assert len(set(family.names())) == len(family.names()) > 0
        assert sorted(family.numbers("tuned") + family.numbers("reported")) == family.numbers()


def test_without_the_data_a_family_says_what_to_do(monkeypatch):
    monkeypatch.setenv("MANYARMS_DATA", "/nowhere")
    trouble = Family("LCBench", FAMILIES["LCBench"].make).trouble()
    assert trouble is not None and "MANYARMS_DATA" in trouble


def test_all_entrants_have_names_of_their_own():
    assert len(entrants()) == len(OURS) + sum(name not in OURS for name in entrants())
    assert all(name == entrant.name for name, entrant in entrants().items())
    assert heats.OURS[CHAMPION].anytime
