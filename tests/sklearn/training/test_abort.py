"""A pull in this process that does not end is ended between two lines of Python."""

import math
import threading

import pytest

from manyarms.runners import PullsAbandoned
from manyarms.sklearn.training.abort import _Abort, aborted_at


def wait_for_ever():
    while True:
        threading.Event().wait(0.001)


def test_what_runs_when_the_time_ends_is_aborted():
    with pytest.raises(PullsAbandoned), aborted_at(0.0, clock=lambda: 0.0):
        wait_for_ever()


def test_no_code_that_catches_errors_keeps_it_from_ending():
    with pytest.raises(PullsAbandoned), aborted_at(0.0, clock=lambda: 0.0):
        while True:
            try:
                wait_for_ever()
            except Exception:
                pytest.fail("it is not an error")


@pytest.mark.parametrize("end", [math.inf, 1e6])
def test_what_ends_in_time_is_left_alone(end):
    threads = threading.active_count()
    with aborted_at(end, clock=lambda: 0.0):
        assert threading.active_count() == threads + (end < math.inf)


def test_an_alarm_that_was_about_to_ring_does_not_ring_outside():
    abort = _Abort(threading.get_ident())
    abort.cancel()
    abort.fire()
    wait = threading.Event()
    wait.wait(0.001)
    assert not wait.is_set()


def test_each_thread_has_its_own():
    ended = []

    def run():
        with pytest.raises(PullsAbandoned), aborted_at(0.0, clock=lambda: 0.0):
            wait_for_ever()
        ended.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert ended == [True]
