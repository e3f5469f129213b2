"""What a search logs, and what of it is shown where there is no terminal."""

from __future__ import annotations

import io
import logging
import threading
from contextlib import contextmanager

import pytest

import manyarms as ma
from manyarms.study.search_log import SearchLog, shown_level

SPACE = ma.Space(x=ma.Float(0, 1))


class Clock:
    """Stands still until it is moved."""

    now = 0.0

    def __call__(self):
        return self.now


def study(budget=5, **more):
    return ma.Study(ma.RandomSearch(SPACE, budget=budget, seed=0), **more)


def counting():
    """A function whose rewards increase: 1, 2, 3..."""
    rewards = iter(range(1, 10**6))
    return lambda config: next(rewards)


@contextmanager
def no_logging():
    """As in a script that sets up no logging: without the handlers that pytest adds right before a test begins."""
    loggers = logging.getLogger(), logging.getLogger("manyarms")
    before = [logger.handlers for logger in loggers]
    for logger in loggers:
        logger.handlers = [handler for handler in logger.handlers if isinstance(handler, logging.NullHandler)]
    try:
        yield
    finally:
        for logger, handlers in zip(loggers, before, strict=True):
            logger.handlers = handlers


class Told:
    """A search whose outcomes are recorded one by one while the test moves the clock."""

    def __init__(self, shown=None, budget=1000, **more):
        self.study, self.clock = study(budget, **more), Clock()
        self.log = SearchLog(self.study, shown, self.clock)

    def tell(self, value, seconds=0.0, reason="broken"):
        self.clock.now += seconds
        pull = self.study.ask()
        outcome = ma.Outcome(pull, reason=reason) if value is None else ma.Outcome(pull, float(value))
        self.study._record([outcome])
        self.log.update([outcome])


def messages(caplog, level=logging.INFO):
    return [record.getMessage() for record in caplog.records if record.levelno == level]


def test_a_search_logs_its_start_its_bests_and_its_end_through_logging(caplog):
    caplog.set_level(logging.INFO, "manyarms")
    study(3).optimize(counting(), runner=ma.SimulatedRunner(1), verbose=0)
    start, first, *_, last = messages(caplog)
    assert start == "study: RandomSearch, budget 3 steps, new"
    assert first.startswith("study: new best reward 1 by arm 0 at step 1: {'x': ")
    assert last.startswith("study: ended after ")
    assert last.endswith("s: 3 of 3 steps, 3 arms, 3 pulls, 0 failed; best reward 3 by arm 2")


def test_a_resumed_search_says_so_and_only_a_better_reward_is_new(caplog, tmp_path):
    caplog.set_level(logging.INFO, "manyarms")
    for budget, reward in ((3, 0.5), (6, 0.4)):
        with study(budget, storage=tmp_path / "study.db", direction="maximize") as search:
            search.optimize(lambda config, reward=reward: reward, verbose=0)
    lines = messages(caplog)
    assert sum("new best reward" in line for line in lines) == 1
    assert "study: RandomSearch, budget 6 steps, resumed from 7 events, 3 steps spent" in lines


def test_the_start_names_every_limit(caplog):
    caplog.set_level(logging.INFO, "manyarms")
    with SearchLog(study(30), None, Clock()):
        pass
    with SearchLog(ma.Study(ma.RandomSearch(SPACE, seed=0), budget=ma.Budget(seconds="2h", cost=5)), None, Clock()):
        pass
    with SearchLog(ma.Study(ma.RandomSearch(SPACE, seed=0)), None, Clock()):
        pass
    with SearchLog(ma.Study(ma.RandomSearch(SPACE, seed=0)), None, Clock(), timeout=90):
        pass
    with SearchLog(study(1), None, Clock(), timeout=72.25):
        pass
    starts = [line for line in messages(caplog) if line.endswith("new")]
    assert [line.partition("RandomSearch, ")[2] for line in starts] == [
        "budget 30 steps, new",
        "budget 2h 00m of training, cost 5, new",
        "budget unlimited, new",
        "time limit 1m 30s, new",
        "budget 1 step, time limit 1m 12s, new",
    ]


def test_one_of_something_is_not_counted_as_several(caplog):
    caplog.set_level(logging.INFO, "manyarms")
    study(1).optimize(counting(), verbose=0)
    assert ": 1 of 1 step, 1 arm, 1 pull, 0 failed; best reward" in messages(caplog)[-1]


def test_the_smallest_reward_is_best_when_that_is_looked_for(caplog):
    caplog.set_level(logging.INFO, "manyarms")
    told = Told(direction="minimize")
    with told.log:
        for value in (3, 4, 2):
            told.tell(value, seconds=1)
    assert [line.split()[4] for line in messages(caplog) if "new best" in line] == ["3", "2"]


def test_a_fast_search_logs_at_most_one_new_best_a_second_and_the_last_one_always(caplog):
    caplog.set_level(logging.INFO, "manyarms")
    told = Told()
    with told.log:
        for value in range(100):
            told.tell(value, seconds=0.03125)
    bests = [int(line.split()[4]) for line in messages(caplog) if "new best" in line]
    assert bests == [0, 32, 64, 96, 99]


def test_a_status_line_is_logged_about_once_a_minute(caplog):
    caplog.set_level(logging.INFO, "manyarms")
    told = Told()
    with told.log:
        for value in (5, 4, 3, 2, 1, None):
            told.tell(value, seconds=25)
    status = [line for line in messages(caplog) if "pulls/s" in line]
    assert status == [
        "study: 3 of 1000 steps, 3 arms, 3 pulls, 0 failed, 0.04 pulls/s, best reward 5",
        "study: 6 of 1000 steps, 6 arms, 5 pulls, 1 failed, 0.04 pulls/s, best reward 5",
    ]


def test_each_reason_of_failures_is_a_warning_once_and_after_twenty_there_are_no_more(caplog):
    told = Told()
    with told.log:
        for number in range(30):
            for _ in range(2):
                told.tell(None, reason=f"broken {number}")
    warnings = messages(caplog, logging.WARNING)
    assert warnings[0] == "study: a pull of arm 0 failed: broken 0"
    assert warnings[20:] == ["study: pulls also fail for other reasons, which are not logged: see study.counts.reasons"]


@no_logging()
def test_only_the_first_failure_is_logged_with_its_traceback_and_not_shown_if_nothing_is(capsys):
    records, logger = [], logging.getLogger("manyarms")
    handler = logging.Handler()
    handler.emit = records.append

    def train(pull):
        if pull.arm.id == 2:
            raise OSError("another error")
        raise RuntimeError("broken")

    with pytest.raises(ma.NoResult):
        study(4).optimize(train, verbose=0)
    assert capsys.readouterr() == ("", "")
    logger.addHandler(handler)
    try:
        with pytest.raises(ma.NoResult):
            study(4).optimize(train, verbose=0)
    finally:
        logger.removeHandler(handler)
    first, second = [record.getMessage() for record in records if record.levelno == logging.WARNING]
    assert first.startswith("study: a pull of arm 0 failed: RuntimeError: broken\n    Traceback (most recent call last):\n")
    assert 'raise RuntimeError("broken")' in first and first.endswith("\n    RuntimeError: broken")
    assert second == "study: a pull of arm 2 failed: OSError: another error"


def test_every_pull_is_logged_for_debugging(caplog):
    caplog.set_level(logging.DEBUG, "manyarms")
    told = Told()
    with told.log:
        told.tell(0.5)
        told.tell(None)
        pull = told.study.ask()
        told.log.update([ma.Outcome(pull, 0.25, seconds=2.5, stopped_early=True)])
    assert messages(caplog, logging.DEBUG) == [
        "study: arm 0, steps 0 to 1, 0 s: reward 0.5",
        "study: arm 1, steps 0 to 1, 0 s: failed: broken",
        "study: arm 2, steps 0 to 1, 2.5 s: reward 0.25, stopped early by a time limit",
    ]
    assert "1 stopped early by a time limit" in messages(caplog)[-1]


def test_a_search_that_an_error_ends_says_so(caplog):
    caplog.set_level(logging.INFO, "manyarms")

    def fail(study, outcome):
        raise OSError("of the user's")

    with pytest.raises(OSError, match="of the user's"):
        study().optimize(counting(), callbacks=[fail], verbose=0)
    assert ": ended by OSError after " in messages(caplog)[-1]


@pytest.mark.parametrize(("verbose", "lines"), [(0, 0), (1, 3), (2, 6)])
@no_logging()
def test_without_a_terminal_the_log_is_shown_on_standard_error(verbose, lines, capsys):
    study(3).optimize(lambda config: 0.5, verbose=verbose)
    printed = capsys.readouterr()
    assert printed.out == "" and len(printed.err.splitlines()) == lines
    assert all(line[:4].isdigit() and line[19:27] == " study: " for line in printed.err.splitlines())


@no_logging()
def test_progress_false_is_verbose_0_and_a_failure_is_not_printed_by_python_either(capsys):
    search = study(4)
    search.optimize(lambda config: 1 / 0 if config["x"] < 0.5 else 1.0, progress=False)
    assert search.counts.failures and capsys.readouterr() == ("", "")


@no_logging()
def test_with_logging_set_up_lines_come_once_and_only_there(capsys):
    text, logger = io.StringIO(), logging.getLogger("manyarms")
    handler = logging.StreamHandler(text)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        study(3).optimize(lambda config: 0.5)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    assert len(text.getvalue().splitlines()) == 3 and capsys.readouterr().err == ""


@no_logging()
def test_nothing_is_left_of_a_search_in_the_logging_of_the_program(capsys):
    logger = logging.getLogger("manyarms")
    before = (logger.handlers[:], logger.level, logger.propagate, logging.getLogger().handlers[:])
    for _ in range(2):
        study(3).optimize(lambda config: 0.5)
    assert (logger.handlers, logger.level, logger.propagate, logging.getLogger().handlers) == before
    assert len(capsys.readouterr().err.splitlines()) == 6


@no_logging()
def test_two_searches_at_once_show_each_line_once_and_a_silent_one_none(capsys):
    meeting = threading.Barrier(3, timeout=100)

    def search(name, verbose):
        study(2, name=name).optimize(lambda config: meeting.wait() * 0.0, verbose=verbose)

    threads = [threading.Thread(target=search, args=given) for given in (("one", 1), ("two", 1), ("silent", 0))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = [line.split()[2] for line in capsys.readouterr().err.splitlines()]
    assert sorted(lines) == ["one:"] * 3 + ["two:"] * 3


@no_logging()
def test_text_of_strangers_is_shown_as_escapes_and_cannot_look_like_another_log_line(capsys):
    def train(config):
        raise OSError("\x1b[2J\nno problems")

    with pytest.raises(ma.NoResult):
        study(1).optimize(train)
    lines = capsys.readouterr().err.splitlines()
    assert all(line.isprintable() for line in lines)
    assert lines[1].endswith(r"a pull of arm 0 failed: OSError: \x1b[2J no problems")
    assert lines[2] == "    Traceback (most recent call last):" and lines[-2] == "    no problems"


def test_the_best_is_found_without_a_look_at_all_arms(monkeypatch):
    told = Told()
    monkeypatch.setattr(ma.RandomSearch, "best", lambda strategy: pytest.fail("this looks at all arms"))
    told.log.__enter__()
    for value in range(10):
        told.tell(value, seconds=61)


@no_logging()
def test_a_config_that_cannot_be_shown_ends_no_search(capsys):
    class Config:
        def __repr__(self):
            raise RuntimeError

    told = Told(shown=logging.INFO)
    with told.log:
        told.log.update([ma.Outcome(ma.Pull(ma.Arm(0, Config()), 0, 1), 0.5)])
    assert "a Config that cannot be shown" in capsys.readouterr().err


def test_beside_a_live_line_only_pulls_are_shown():
    assert [shown_level(verbose, is_live=True) for verbose in (0, 1, 2)] == [None, None, logging.DEBUG]
    assert [shown_level(verbose, is_live=False) for verbose in (0, 1, 2)] == [None, logging.INFO, logging.DEBUG]
