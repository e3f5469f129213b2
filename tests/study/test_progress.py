"""The live display of a search, in a terminal and in a notebook."""

from __future__ import annotations

import errno
import re
import sys
from io import StringIO
from types import SimpleNamespace

import pytest
from rich.console import Console
from rich.text import Text

import manyarms as ma
from manyarms.study.progress import Progress
from manyarms.study.progress_display import drawn, notebook_data
from manyarms.study.progress_report import BestFound, InFlight, Report
from manyarms.study.replay import StudyState

SPACE = ma.Space(x=ma.Float(0, 1))


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def terminal(width=100):
    return Console(file=StringIO(), force_terminal=True, width=width, height=30, color_system=None)


def new(budget=20, max_steps=2, **options):
    return ma.Study(ma.RandomSearch(SPACE, budget=budget, max_steps=max_steps, seed=0), name="digits", **options)


def last_lines(console):
    """The lines that stay on the terminal, without what was drawn over."""
    final = console.file.getvalue().rpartition("\x1b[2K")[2]
    return [line.rstrip() for line in Text.from_ansi(final).plain.splitlines() if line.strip()]


def test_it_says_what_is_training_the_best_and_when_it_was_found_and_the_time_left(clock):
    study, console = new(), terminal()
    with Progress(study, True, console=console, clock=clock) as progress:
        assert progress.is_live and progress.report().best is None
        first, second = study.ask(), study.ask()
        assert progress.report().training == [InFlight(0, 0, 2), InFlight(1, 0, 2)]
        clock.now += 10
        study.tell(first, 0.5)
        progress.update()
        report = progress.report()
        assert report.best == BestFound("best", 0.5, 0, 2, after=2, seconds_ago=0.0)
        assert (report.training, report.pulls_per_second, report.seconds_left) == ([InFlight(1, 0, 2)], 0.1, 90.0)
        clock.now += 10
        study.tell(second, 0.25)
        progress.update()
        assert progress.report().best == BestFound("best", 0.5, 0, 2, after=2, seconds_ago=10.0)
        study.tell(study.ask(), None)
    assert last_lines(console) == [
        f"digits {'━' * 9} 6/20 steps · took 20s".replace("━" * 9, f"{'━' * 9}{' ' * 21}"),
        "best 0.5 · 10s ago · after 2 steps · arm 0, step 2",
        "3 arms · 9.0 pulls/min",
        "1 failed, most often: told as failed",
    ]


def test_the_best_of_a_resumed_search_is_from_an_earlier_run_until_it_is_beaten(clock, tmp_path):
    with new(storage=tmp_path / "study.db") as study:
        study.tell(study.ask(), 0.5)
    with new(storage=tmp_path / "study.db") as study, Progress(study, True, console=terminal(), clock=clock) as progress:
        assert progress.report().best == BestFound("best", 0.5, 0, 2, after=None, seconds_ago=None)
        assert progress.report().seconds_left is None  # nothing is known about the pace of this run
        study.tell(study.ask(), 0.75)
        progress.update()
        assert progress.report().best == BestFound("best", 0.75, 1, 2, after=4, seconds_ago=0.0)


def test_the_best_arm_is_looked_for_now_and_then_and_never_by_a_replay(clock, monkeypatch):
    study, calls = new(budget=2000), []
    best = study.strategy.best
    monkeypatch.setattr(study.strategy, "best", lambda: calls.append(1) or best())
    monkeypatch.setattr(StudyState, "replay", None)
    with Progress(study, True, console=terminal(), clock=clock) as progress:
        for _ in range(100):
            study.tell(study.ask(), 0.5)
            progress.update()
            progress.report()
        assert len(calls) == 1
        clock.now += 1
        progress.update()
        assert len(calls) == 2


def test_a_mean_that_changes_is_not_a_new_best(clock):
    study = ma.Study(ma.DTTTS(SPACE, budget=50, max_steps=50, seed=0))
    pull = study.ask()
    study.tell(pull, 0.5)
    assert study.recommendation().by_mean
    with Progress(study, True, console=terminal(), clock=clock) as progress:
        while (pull := study.ask()) is not None and pull.arm.id != 0:
            study.tell(pull, 0.0)
        study.tell(pull, 0.4)
        clock.now += 1
        progress.update()
        best = progress.report().best
        assert best.reward != 0.5 and best.arm == 0 and best.seconds_ago is None


def test_a_timeout_and_a_time_budget_limit_the_time_left(clock):
    with Progress(new(), True, timeout=60.0, console=terminal(), clock=clock) as progress:
        clock.now += 10
        assert progress.report().seconds_left == 50.0
    study = ma.Study(ma.RandomSearch(SPACE, seed=0), budget="100s")
    with Progress(study, True, console=terminal(), clock=clock) as progress:
        clock.now += 10
        study.tell(study.ask(), 0.5, seconds=20.0)
        assert progress.report().seconds_left == 40.0 and progress.report().limits == {"seconds": (20.0, 100.0)}


@pytest.mark.parametrize("width", [40, 80])
def test_a_whole_search_never_draws_a_line_wider_than_the_terminal(width):
    def train(pull):
        print("training")  # moves the display down, and does not break it
        if pull["x"] > 0.5:
            raise OSError("a reason that is much longer than the terminal is wide, " * 3)
        return pull["x"]

    console = terminal(width)
    study = new(budget=40)
    with Progress(study, True, console=console) as progress:
        study.optimize(train, callbacks=[lambda *_: progress.update()], verbose=0)
    for line in Text.from_ansi(console.file.getvalue()).plain.splitlines():
        assert Text(line.rstrip()).cell_len <= width
    assert console.file.getvalue().count("training") >= 20
    assert len(last_lines(console)) == 4


class ClosableTerminal(StringIO):
    closed_by_user = False

    def write(self, text):
        if self.closed_by_user:
            raise OSError(errno.EIO, "Input/output error")
        return super().write(text)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # the thread that draws may see it first
def test_a_search_whose_terminal_is_closed_ends_as_usual(clock):
    console = Console(file=ClosableTerminal(), force_terminal=True)
    study = new()
    with Progress(study, True, console=console, clock=clock):
        console.file.closed_by_user = True
        study.optimize(lambda pull: pull["x"], verbose=0)
    assert study.counts.steps == 20


def test_a_report_is_drawn_without_markup():
    report = Report("[bold]x", 1, {}, 1, None, (), 0, 1, "[red]y[/nothing]", None, None)
    console = terminal()
    console.print(drawn(report, 100))
    assert "[bold]x 1 step" in console.file.getvalue() and "most often: [red]y[/nothing]" in console.file.getvalue()


@pytest.mark.parametrize("shown", [True, False])
def test_without_a_terminal_or_if_it_is_not_wanted_nothing_is_drawn(shown):
    console = Console(file=StringIO(), force_terminal=not shown)
    with Progress(new(), shown, console=console) as progress:
        progress.update()
        assert not progress.is_live
    assert console.file.getvalue() == ""


def test_a_dict_that_changes_while_it_is_read_keeps_the_last_report(clock, monkeypatch):
    study = new()
    with Progress(study, True, console=terminal(), clock=clock) as progress:
        before = progress.report()

        def changed(self):
            raise RuntimeError("dictionary changed size during iteration")

        monkeypatch.setattr(type(study.counts), "failures", property(changed))
        assert progress.report() == before
        monkeypatch.undo()


# -- notebooks


@pytest.fixture
def notebook(monkeypatch):
    """Stands in for IPython: what was displayed, and each update of it."""
    shown = []
    handle = SimpleNamespace(update=lambda data, raw: shown.append(data))
    display = SimpleNamespace(display=lambda data, raw, display_id: shown.append(data) or handle)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def test_a_notebook_shows_html_that_is_replaced(notebook, clock):
    study = new()
    with Progress(study, True, console=Console(force_jupyter=True), clock=clock) as progress:
        assert progress.is_live and "no reward yet" in notebook[0]["text/html"]
        clock.now += 1
        study.tell(study.ask(), 0.5)
        progress.update()
        assert "best 0.5 · 0s ago · after 2 steps" in notebook[-1]["text/html"]
        clock.now += 1
    assert notebook[-1]["text/plain"] == "digits: 2/20 steps · took 2s · best 0.5 · 1 arm · 30.0 pulls/min"
    assert "<b>digits</b>" in notebook[-1]["text/html"] and "width:10.0%" in notebook[-1]["text/html"]


def test_a_notebook_is_kept_current_while_a_pull_takes_long(notebook, clock, monkeypatch):
    from waiting import wait_until

    monkeypatch.setattr("manyarms.study.progress._NOTEBOOK_EVERY", 0.01)
    study = new()
    with Progress(study, True, console=Console(force_jupyter=True), clock=clock):
        study.ask()
        assert wait_until(lambda: "training arm 0 (0–2)" in notebook[-1]["text/html"])


def test_text_in_a_notebook_is_escaped():
    report = Report("<b>x\x1b[2J", 1, {}, 1, None, (), 0, 1, "<script>alert(1)</script>", None, None)
    data = notebook_data(report)
    tags = {tag.strip("/").split()[0] for tag in re.findall("<([^>]*)>", data["text/html"])}
    assert tags == {"div", "b"} and data["text/html"].isprintable() and data["text/plain"].isprintable()
