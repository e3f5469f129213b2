"""Tables in terminals of any width, with names of any kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.text import Text

import manyarms as ma

QUIET = ("failed", "in", "flight", "retrained")  # words in the headings of columns that are all 0


def on_a_terminal(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")  # so that rich treats the output as a terminal
    return lambda answer: [line.rstrip() for line in Text.from_ansi(answer.out).plain.splitlines()]


@pytest.mark.parametrize("width", [80, 120])
def test_tables_fit_the_terminal_and_nothing_is_cut(trained, monkeypatch, width):
    head, row = (line.split() for line in trained("status").out.splitlines())
    arms = trained("arms").out.split()
    lines = on_a_terminal(monkeypatch, width)
    printed = lines(trained("status"))
    assert max(map(len, printed)) <= width
    if width == 80:  # columns that are all 0 are omitted
        head, row = [name for name in head if name not in QUIET], [*row[:-4], row[-1]]
    assert [line.split() for line in printed] == [head, row]
    printed = lines(trained("arms"))
    assert max(map(len, printed)) <= width
    assert " ".join(printed).split() == arms


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_name_or_a_config_too_long_for_the_terminal_is_shown_completely(manyarms, monkeypatch, width):
    long, space = "a" * 50, ma.Space(**{f"parameter_{i}": ma.Float(0, 1) for i in range(6)})
    for name in ("short", long):
        with ma.Study(ma.RandomSearch(space, budget=20, seed=0), storage="manyarms.db", name=name) as study:
            study.optimize(lambda config: 1 / (config["parameter_0"] > 0.5), progress=False)
    lines = on_a_terminal(monkeypatch, width)
    printed = lines(manyarms("status"))
    assert max(map(len, printed)) <= width
    assert sum(long in line for line in printed) == 1
    if width <= 80:
        assert [line.split() for line in printed if "study" in line] == [["study", "short"], ["study", long]]
        assert sum(line.startswith("failed ") for line in printed) == 2
    printed = lines(manyarms("arms", "manyarms.db", "short"))
    assert max(map(len, printed)) <= width
    for row in manyarms("arms", "manyarms.db", "short", "--json").data:
        assert all(any(str(value) in line for line in printed) for value in row["config"].values())


@pytest.mark.parametrize(
    "name",
    ["[bold]loud[/bold]", "[/red]", 'it\'s "quoted"', "<script>alert(1)</script>", ":bug:", "back\\", "é 🦾", "-5", "a/../b"],
)
def test_any_name_is_shown_unchanged(manyarms, name):
    answer = manyarms("run", "train.py:train", "--budget", 12, "--max-steps", 3, f"--name={name}")
    assert answer.code == 0, answer.err
    for table in (answer.out, manyarms("status").out):
        assert table.splitlines()[1].partition("AdaptiveMutantUCB")[0].rstrip() == name
    for command in ("arms", "best", "verify", "gc", "resume"):
        assert manyarms(command, "--", "manyarms.db", name).code == 0
    assert Path(manyarms("best", "--json").data["checkpoint"]).is_relative_to(Path("manyarms.db-checkpoints").absolute())
