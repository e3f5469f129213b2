"""Study and journal, driven through asks, tells, failures, crashes and reopenings at random, against a small model."""

from __future__ import annotations

import shutil
import tempfile

import chained
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import manyarms as ma
from manyarms.study.verify import audit


class StudyMachine(RuleBasedStateMachine):
    """The model: what was told, what is in flight, and the twin: a study in memory that never crashes."""

    @initialize(budget=st.integers(20, 60), direction=st.sampled_from(["maximize", "minimize"]))
    def begin(self, budget, direction):
        self.directory = tempfile.mkdtemp(prefix="manyarms-test-")
        self.budget, self.direction = budget, direction
        self.told: dict[tuple[int, int], float | None] = {}
        self.in_flight: list[ma.Pull] = []  # as the twin gave them
        self.twin = ma.Study(self.strategy(), direction=direction)
        self.open()

    def strategy(self):
        return chained.strategy(self.budget, initial=4, max_steps=5)

    def open(self):
        self.study = ma.Study(self.strategy(), storage=f"{self.directory}/study.db", direction=self.direction)

    @rule()
    def ask(self):
        pull = self.study.ask()
        assert pull == self.twin.ask()
        self.in_flight += [pull] if pull is not None else []

    @precondition(lambda self: self.in_flight)
    @rule(data=st.data(), value=st.one_of(st.floats(-1e6, 1e6), st.sampled_from([float("nan"), float("inf"), None, "0.5"])))
    def tell(self, data, value):
        pull = data.draw(st.sampled_from(self.in_flight))
        self.study.tell(pull, value)
        self.twin.tell(pull, value)
        self.in_flight.remove(pull)
        good = isinstance(value, float) and abs(value) < float("inf")
        self.told[pull.arm.id, pull.start] = value if good else None

    @precondition(lambda self: self.told)
    @rule(data=st.data())
    def tell_again(self, data):
        arm, start = data.draw(st.sampled_from(sorted(self.told)))
        if all(pull.arm.id != arm for pull in self.in_flight):
            self.study.tell(ma.Pull(self.twin.counts.arms[arm].arm, start, start + 1), 1e9)

    @rule()
    def crash(self):
        """The process dies with all that is not in the journal. What was in flight comes first again, in its order."""
        self.study.journal.close()
        self.open()
        for pull in self.in_flight:
            assert self.study.ask() == pull

    @precondition(lambda self: not self.unwritten())
    @rule(more=st.integers(1, 20))
    def raise_the_budget(self, more):
        self.budget += more
        self.crash()
        self.twin = ma.Study(self.strategy(), storage=self.twin.journal, direction=self.direction)
        for pull in self.in_flight:
            assert self.twin.ask() == pull

    def unwritten(self) -> bool:
        """Asks that only the next tell will write: under another budget they may be decided otherwise."""
        return self.study.counts.events > len(self.study.journal)

    @invariant()
    def the_counts_are_those_of_the_model(self):
        if not hasattr(self, "study"):
            return
        counts = self.study.counts
        assert counts.pulls == sum(value is not None for value in self.told.values())
        assert counts.failures == sum(value is None for value in self.told.values())
        assert counts.steps == len(self.told) <= self.budget
        assert list(counts.in_flight) == [pull.arm.id for pull in self.in_flight]
        assert counts.state()["arms"] == self.twin.counts.state()["arms"]

    def teardown(self):
        if hasattr(self, "study"):
            self.study.close()
            with ma.load_study(f"{self.directory}/study.db") as view:
                assert list(audit(view.journal)) == []
            shutil.rmtree(self.directory)


def examples(number):
    return settings(max_examples=number, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck))


class TestStudyMachine(StudyMachine.TestCase):
    settings = examples(15)
    pytestmark = pytest.mark.timeout(300)


class TestStudyMachineForLong(StudyMachine.TestCase):
    settings = examples(400)
    pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]  # noqa: RUF012
