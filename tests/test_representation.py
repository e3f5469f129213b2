"""What the parts of the library look like in a terminal."""

import numpy as np
import pytest

import manyarms as ma
from manyarms.journal import MemoryJournal
from manyarms.strategies.kit.representation import LONGEST
from manyarms.study.counts import Counts

SPACE = ma.Space(x=ma.Float(0, 1))
WIDE = ma.Space(**{f"parameter_{number}": ma.Float(0, 1) for number in range(8)})


def vast(number):
    return ma.Space(**{f"parameter_{i}": ma.Float(0, 1) for i in range(number)})


def one_in_two(n, N):
    return 0.5


WRITTEN = {
    "strategy": (
        lambda: ma.MutantUCB(SPACE, budget=200, max_steps=10, exploration=0.05, seed=0),
        "MutantUCB(Space(x=Float(0, 1)), budget=200, max_steps=10, exploration=0.05, train_probability='linear', seed=0)",
    ),
    "strategy without limits": (lambda: ma.RandomSearch(SPACE), "RandomSearch(Space(x=Float(0, 1)), max_steps=1)"),
    "wide space": (
        lambda: ma.RandomSearch(WIDE, seed=0),
        f"RandomSearch(Space({', '.join(WIDE.parameters)}), max_steps=1, seed=0)",
    ),
    "vast space": (lambda: ma.RandomSearch(vast(500), seed=0), "RandomSearch(Space of 500, max_steps=1, seed=0)"),
    "vast joint space": (
        lambda: ma.RandomSearch(ma.Joint({f"algorithm {i}": SPACE for i in range(99)})),
        "RandomSearch(Joint of 99, max_steps=1)",
    ),
    "function among the settings": (
        lambda: ma.MutantUCB(SPACE, budget=90, max_steps=1, train_probability=one_in_two, seed=0),
        "MutantUCB(Space(x=Float(0, 1)), budget=90, max_steps=1, exploration=0.05, train_probability=one_in_two, seed=0)",
    ),
    "cascade": (
        lambda: ma.Cascade({"near": ma.MutantUCB(SPACE), "far": ma.RandomSearch(SPACE)}, ma.UCB1(), budget=300, seed=1),
        "Cascade({'near': MutantUCB, 'far': RandomSearch}, picker=UCB1(), budget=300, seed=1)",
    ),
    "cascade of many": (
        lambda: ma.Cascade({f"child {i}": ma.RandomSearch(SPACE) for i in range(30)}, ma.UCB1()),
        "Cascade(30 children, picker=UCB1())",
    ),
    "picker": (lambda: ma.ERUCB(theta=0.1), "ERUCB(theta=0.1, gamma=20.0, beta='auto')"),
    "space": (
        lambda: ma.Space(rate=ma.Float(1e-5, 0.1, log=True), act=ma.Choice("relu", "tanh"), epochs=3),
        "Space(rate=Float(1e-05, 0.1, log=True), act=Choice('relu', 'tanh'), epochs=3)",
    ),
    "space with odd names": (lambda: ma.Space(**{"svm:C": ma.Int(1, 2)}), "Space(**{'svm:C': Int(1, 2)})"),
    "joint": (lambda: ma.Joint({"a": SPACE}), "Joint({'a': Space(x=Float(0, 1))})"),
    "budget": (lambda: ma.Budget(steps=200), "Budget(steps=200)"),
    "budget of time and cost": (lambda: ma.Budget(seconds="2h", cost=3), "Budget(seconds=7200.0, cost=3.0)"),
    "checkpoints": (lambda: ma.Checkpoints("models", max_bytes="5GB"), "Checkpoints('models', max_bytes=5000000000)"),
    "inline runner": (ma.InlineRunner, "InlineRunner()"),
    "process runner": (lambda: ma.ProcessRunner(4, pull_timeout="10m"), "ProcessRunner(workers=4, pull_timeout=600)"),
    "simulated runner": (lambda: ma.SimulatedRunner(100), "SimulatedRunner(workers=100) at 0 s"),
}


@pytest.mark.parametrize(("make", "text"), WRITTEN.values(), ids=WRITTEN)
def test_each_part_says_what_it_is(make, text):
    assert repr(make()) == text


def test_a_strategy_says_how_far_it_is():
    strategy, endless = ma.RandomSearch(SPACE, budget=20, max_steps=5, seed=0), ma.RandomSearch(SPACE, seed=0)
    for search in (strategy, endless):
        search.tell(search.ask(), 0.5)
    assert repr(strategy).endswith("seed=0) at 5 of 20 steps") and repr(endless).endswith("seed=0) at 1 steps")


def test_a_space_with_an_endless_repr_is_cut():
    class Talkative:
        def sample(self, rng):
            return float(rng.random())

        def mutate(self, config, rng):
            return float(rng.random())

        def __repr__(self):
            return "talk\n" * 1000

    text = repr(ma.RandomSearch(Talkative(), budget=20, seed=0))
    assert text.startswith("RandomSearch(talk talk") and text.endswith("..., budget=20, max_steps=1, seed=0)")
    assert len(text) <= LONGEST and "\n" not in text


def test_no_public_part_is_shown_by_its_address():
    for name in ma.__all__:
        kind = getattr(ma, name)
        is_protocol = getattr(kind, "_is_protocol", False)  # has no objects of its own
        if isinstance(kind, type) and not issubclass(kind, Exception) and not is_protocol:
            assert kind.__repr__ is not object.__repr__, name


def test_the_plan_of_a_study_is_a_table_in_the_terminal():
    plan = ma.Study(ma.RandomSearch(SPACE, budget=20, max_steps=5, seed=0)).plan()
    assert repr(plan) == str(plan)
    assert [line.split()[-1] for line in repr(plan).splitlines()[:2]] == ["steps", "20"]


def test_the_counts_and_checkpoints_of_a_study_say_what_they_hold(tmp_path):
    def train(pull):
        pull.save(np.zeros(10))
        return pull["x"]

    checkpoints = ma.Checkpoints(tmp_path / "models")
    with ma.Study(ma.RandomSearch(SPACE, budget=3, seed=0), checkpoints=checkpoints) as study:
        study.optimize(train, progress=False)
        study.counts.seconds = 1.23456789
        assert repr(study.counts) == "Counts(arms=3, pulls=3, failures=0, steps=3, seconds=1.23457, in_flight=0)"
        assert repr(checkpoints) == f"Checkpoints('{tmp_path}/models') with 3 checkpoints of {checkpoints.used} bytes"


# -- studies


def play(study, *rewards):
    for reward in rewards:
        study.tell(study.ask(), reward, seconds=1.5)
    return study


def strategy(**changed):
    return ma.RandomSearch(SPACE, **{"budget": 20, "max_steps": 2, "seed": 0, **changed})


STUDIES = {
    "new": (lambda: ma.Study(strategy(), name="digits"), "Study('digits', RandomSearch, 0 of 20 steps, 0 arms, no reward yet)"),
    "in progress": (
        lambda: play(ma.Study(strategy()), 0.25, 0.971249, 0.5),
        "Study('study', RandomSearch, 6 of 20 steps, 3 arms, best 0.97125 (arm 1))",
    ),
    "with failures": (
        lambda: play(ma.Study(strategy()), 0.5, None, None),
        "Study('study', RandomSearch, 6 of 20 steps, 3 arms, best 0.5 (arm 0), 2 failed pulls)",
    ),
    "all failed": (
        lambda: play(ma.Study(strategy()), None),
        "Study('study', RandomSearch, 2 of 20 steps, 1 arm, no reward, 1 failed pull)",
    ),
    "without limits": (
        lambda: play(ma.Study(strategy(budget=None)), 1.0),
        "Study('study', RandomSearch, 2 steps, 1 arm, best 1 (arm 0))",
    ),
    "of time and cost": (
        lambda: play(ma.Study(strategy(budget=None), budget=ma.Budget(seconds="1h", cost=5)), 1.0),
        "Study('study', RandomSearch, 2 steps, 1.5 of 3600 s, cost 0 of 5, 1 arm, best 1 (arm 0))",
    ),
}


@pytest.mark.parametrize(("make", "text"), STUDIES.values(), ids=STUDIES)
def test_a_study_says_how_far_it_is_also_when_it_is_closed(make, text):
    study = make()
    assert repr(study) == text
    study.close()
    assert repr(study) == f"{text[:-1]}, closed)"


def test_a_study_says_what_is_in_flight():
    study = ma.Study(strategy())
    study.ask()
    assert repr(study) == "Study('study', RandomSearch, 0 of 20 steps, 1 arm, no reward yet, 1 in flight)"


def test_a_view_says_the_same_without_replaying_the_journal(tmp_path, monkeypatch):
    storage = tmp_path / "study.db"
    with play(ma.Study(strategy(), storage=storage, direction="minimize"), 0.5, 0.25), ma.load_study(storage) as early:
        pass
    monkeypatch.setattr("manyarms.study.replay.StudyState.replay", None)
    with ma.load_study(storage) as view:
        text = "StudyView('study', RandomSearch, 4 of 20 steps, 2 arms, best 0.25 (arm 1)"
        assert repr(view) == f"{text})"
    unsaved = "StudyView('study', RandomSearch, 4 of 20 steps, 2 arms, lowest reward 0.25, closed)"
    assert repr(view) == unsaved  # the journal, which knows the recommended arm, is closed
    assert repr(early) == unsaved


def test_a_strategy_whose_best_fails_does_not_keep_its_study_from_being_shown():
    class Broken(ma.RandomSearch):
        def best(self):
            raise RuntimeError("no idea")

    study = ma.Study(Broken(SPACE, budget=20, seed=0))
    play(study, 0.5)
    assert repr(study) == "Study('study', Broken, 1 of 20 steps, 1 arm, highest reward 0.5)"


def test_a_view_of_a_stranger_shows_no_control_characters_and_does_not_fail():
    view = ma.StudyView(MemoryJournal("\x1b[2J"), {"strategy": "evil\x1b[2J"}, Counts("maximize"))
    assert repr(view) == r"StudyView('\x1b[2J', evil\x1b[2J, 0 steps, 0 arms, no reward yet)"
