"""Pulls in flight can be given up: nothing is recorded of them, and they run again."""

from __future__ import annotations

import os
import signal
import sys
from io import StringIO

import pytest

import manyarms as ma
from manyarms.runners import PullsAbandoned

SPACE = ma.Space(x=ma.Float(0, 1))


def study(storage=None):
    return ma.Study(ma.RandomSearch(SPACE, budget=5, seed=0), storage=storage)


def test_with_finish_an_interrupt_waits_for_the_pull_in_flight_and_else_abandons_it(tmp_path, capsys):
    ended = []

    def train(config):
        if len(ended) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        ended.append(config["x"])
        return config["x"]

    for finish, pulls, words in ((True, 3, "Stopping after the pulls in flight"), (False, 2, "Stopping now")):
        ended.clear()
        search = study(str(tmp_path / f"{finish}.db"))
        search.optimize(train, progress=False, finish=finish)
        assert search.interrupted and search.counts.pulls == pulls == len(ended) and search.counts.failures == 0
        assert words in capsys.readouterr().err
        search.close()
        again = study(str(tmp_path / f"{finish}.db"))
        again.optimize(lambda config: config["x"], progress=False)
        assert again.counts.pulls == 5 and not again.interrupted
        again.close()


class Gone(StringIO):
    """A stream whose reader has ended, as standard error in `python search.py 2>&1 | tee log` after Ctrl-C."""

    def write(self, text):
        raise BrokenPipeError("Broken pipe")


def test_an_interrupt_stops_the_search_also_if_its_message_cannot_be_shown(monkeypatch):
    def train(pull):
        if pull.arm.id == 0:
            monkeypatch.setattr(sys, "stderr", Gone())
            os.kill(os.getpid(), signal.SIGINT)
        return pull["x"]

    search = study()
    search.optimize(train, progress=False)
    assert search.interrupted and search.counts.pulls == 1 and search.counts.failures == 0


def test_the_same_study_runs_the_abandoned_pull_again():
    search, seen = study(), []

    def train(config):
        seen.append(config["x"])
        if len(seen) == 2:
            raise PullsAbandoned
        return config["x"]

    search.optimize(train, progress=False)
    assert search.counts.pulls == 1 and len(search.counts.in_flight) == 1
    search.optimize(train, progress=False)
    assert seen[2] == seen[1] and search.counts.pulls == 5 and not search.counts.in_flight


def test_an_interrupt_while_results_are_recorded_records_all_of_them():
    search = study()

    def interrupt(study, outcome):
        os.kill(os.getpid(), signal.SIGINT)

    search.optimize(lambda config: config["x"], progress=False, callbacks=[interrupt], finish=False)
    assert search.counts.pulls == 1 and not search.counts.in_flight


def test_a_second_interrupt_is_an_error():
    search = study()

    def train(config):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        search.optimize(train, progress=False)
