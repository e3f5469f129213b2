"""Every runner keeps the contract of runners, and the contract tells those that do not."""

import math
from dataclasses import replace

import pytest

from manyarms import InlineRunner, Outcome, ProcessRunner, SimulatedRunner
from manyarms.testing import RUNNER_CHECKS
from manyarms.testing import runners as contract

RUNNERS = {
    "inline": (lambda workers: InlineRunner(), 1),
    "process": (ProcessRunner, 1),
    "three processes": (ProcessRunner, 3),
    "simulated": (SimulatedRunner, 3),
}


@pytest.mark.parametrize("check", RUNNER_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("make", "workers"), RUNNERS.values(), ids=RUNNERS)
def test_a_runner_keeps_the_contract(make, workers, check):
    check(make, workers)


class Repeating(InlineRunner):
    def collect(self):
        return super().collect() * 2


class Mistaking(InlineRunner):
    def collect(self):
        return [replace(outcome, pull=replace(outcome.pull, stop=99)) for outcome in super().collect()]


class Praising(InlineRunner):
    def collect(self):
        return [replace(o, reward=-math.inf) if o.reward is None else o for o in super().collect()]


class Silent(InlineRunner):
    def collect(self):
        return [replace(outcome, reason="failed", details=None) for outcome in super().collect()]


class Forgetful(InlineRunner):
    def submit(self, task):
        super().submit(replace(task, previous=None))


class Unseeded(InlineRunner):
    def submit(self, task):
        super().submit(replace(task, seed=0))


class Boundless(InlineRunner):
    def submit(self, task):
        super().submit(replace(task, room=None))


class Unrecorded(InlineRunner):
    def collect(self):
        return [replace(outcome, curve=(), checkpoint=None) for outcome in super().collect()]


class Timeless(InlineRunner):
    def submit(self, task):
        super().submit(replace(task, time_left=math.inf))


class OneByOne(SimulatedRunner):
    def collect(self):
        outcomes = super().collect()
        self._now += sum(outcome.seconds for outcome in outcomes)
        return outcomes


class Single(InlineRunner):
    def close(self):
        self._function = None

    def start(self, function):
        if not hasattr(self, "_function"):
            super().start(function)


BROKEN = [
    (Repeating, contract.check_every_task_gives_one_outcome),
    (Mistaking, contract.check_every_task_gives_one_outcome),
    (Praising, contract.check_all_else_fails_with_a_reason),
    (Silent, contract.check_all_else_fails_with_a_reason),
    (Forgetful, contract.check_saved_states_can_be_loaded),
    (Unseeded, contract.check_the_function_sees_its_pull),
    (Boundless, contract.check_a_pull_without_space_or_that_fails_leaves_nothing),
    (Unrecorded, contract.check_saved_states_can_be_loaded),
    (Unrecorded, contract.check_reports_are_the_curve),
    (Timeless, contract.check_a_pull_whose_time_is_up_ends_at_its_report),
    (OneByOne, contract.check_workers_run_at_once),
    (Single, contract.check_closing_abandons_what_runs),
]


@pytest.mark.parametrize(("kind", "check"), BROKEN, ids=lambda part: part.__name__)
def test_the_contract_tells_a_broken_runner(kind, check):
    with pytest.raises(AssertionError):
        check(lambda workers: kind(workers) if issubclass(kind, SimulatedRunner) else kind())


def test_an_outcome_of_a_pull_that_never_was_is_told(tmp_path):
    class Inventing(InlineRunner):
        def collect(self):
            return [*super().collect(), Outcome(contract.make_task(tmp_path, 99).pull, 1.0)]

    with pytest.raises(AssertionError, match="each task must give one outcome"):
        contract.check_every_task_gives_one_outcome(lambda workers: Inventing())
