"""Studies of a cascade: stopped, killed, trained by workers, and refused where it is another cascade."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from commands import quick_directory

import manyarms as ma
from manyarms.errors import StudyMismatch
from manyarms.study.header import make_header, restored_strategy
from manyarms.study.verify import audit
from manyarms.testing import play

from .searches import SPACE, near, spread, train, two


class Digits:
    """A space of one's own."""

    def sample(self, rng):
        return int(rng.integers(100))

    def mutate(self, config, rng):
        return (config + 1 + int(rng.integers(99))) % 100


@pytest.fixture
def quick():
    """A directory in memory, if there is one: these studies write much to disk."""
    with quick_directory() as directory:
        yield directory


def stopping(pulls):
    """Stops a study once it has so many."""
    return lambda study, outcome: study.counts.pulls >= pulls and study.stop()


def decisions(study):
    return [event.decision for event in study.journal.events() if event.kind == "asked"]


@pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")
def test_a_study_that_was_stopped_goes_on_as_if_it_had_not(quick):
    with ma.Study(spread(), storage=f"{quick}/whole.db") as whole:
        whole.optimize(train, progress=False)
        expected, best = decisions(whole), whole.best_config
    for stop in (1, 60):
        with ma.Study(spread(), storage=f"{quick}/broken.db") as study:
            study.optimize(train, progress=False, callbacks=[stopping(stop)])
    with ma.Study(spread(seed=None), storage=f"{quick}/broken.db") as study:
        study.optimize(train, progress=False)
        assert decisions(study) == expected
        assert study.best_config == best
    with ma.load_study(f"{quick}/broken.db") as view:
        assert view.best_config == best
        assert list(audit(view.journal)) == []
    with ma.Study(spread(budget=230), storage=f"{quick}/broken.db") as study:
        study.optimize(train, progress=False)
        assert 226 < study.counts.steps <= 230


@pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")
def test_a_snapshot_goes_on_as_the_journal_does(quick):
    with ma.Study(spread(), storage=f"{quick}/study.db") as study:
        study.optimize(train, progress=False, callbacks=[stopping(60)])
        study.journal.acquire()  # which optimize has released
        study._writer.snapshots.save_snapshot()
    with ma.Study(spread(), storage=f"{quick}/study.db") as study:
        study.optimize(train, progress=False)
        assert list(audit(study.journal)) == []


@pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")
def test_workers_train_it_and_the_same_again(quick):
    runs = []
    for name in ("one", "two"):
        with ma.Study(spread(budget=80), storage=f"{quick}/{name}.db") as study:
            study.optimize(train, workers=2, deterministic=True, progress=False)
            runs.append(decisions(study))
            assert list(audit(study.journal)) == []
    assert runs[0] == runs[1]


KILLED = """
import os, signal, sys
import manyarms as ma
from searches import spread, train

def end(study, outcome):
    if study.counts.pulls == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

ma.Study(spread(), storage=sys.argv[1]).optimize(train, progress=False, callbacks=[end])
"""


@pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")
def test_a_study_killed_twice_goes_on_as_if_it_had_not(quick, request):
    with ma.Study(spread(), storage=f"{quick}/whole.db") as whole:
        whole.optimize(train, progress=False)
        expected = decisions(whole)
    for pulls in ("20", "70"):
        command = [sys.executable, "-c", textwrap.dedent(KILLED), f"{quick}/broken.db", pulls]
        assert subprocess.run(command, cwd=request.path.parent, check=False).returncode == -9
    with ma.Study(spread(), storage=f"{quick}/broken.db") as study:
        assert study.counts.pulls == 70
        study.optimize(train, progress=False)
        assert decisions(study) == expected


def test_other_children_or_another_picker_are_another_study(quick):
    ma.Study(two(), storage=f"{quick}/study.db").close()
    for other, words in [
        (two(ma.UCB1()), "picker="),
        (two(ma.ERUCB(beta=0.5)), "picker="),
        (ma.Cascade({"a": ma.RandomSearch(SPACE), "c": ma.RandomSearch(SPACE)}, budget=100, seed=0), r"another space \("),
        (ma.Cascade({"a": ma.RandomSearch(SPACE), "b": ma.DTTTS(SPACE)}, budget=100, seed=0), "children="),
        (ma.Cascade({"a": ma.RandomSearch(SPACE), "b": ma.RandomSearch(SPACE, budget=9)}, budget=100, seed=0), "children="),
    ]:
        with pytest.raises(StudyMismatch, match=f"was created with {words}"):
            ma.Study(other, storage=f"{quick}/study.db")
    ma.Study(two(budget=200, seed=None), storage=f"{quick}/study.db").close()


def test_its_header_makes_it_again_nested_too():
    inner = ma.Cascade({"x": ma.DTTTS(SPACE), "y": ma.ASHA(SPACE, max_steps=9)}, ma.Softmax(0.2), budget=50)
    original = ma.Cascade({"inner": inner, "z": ma.RandomSearch(SPACE, seed=4)}, ma.ERUCB(beta=0.5), budget=90, seed=3)
    again = restored_strategy(make_header(original, 3, "maximize", None))
    reward = lambda pull: np.random.default_rng([pull.arm.id, pull.stop]).random()  # noqa: E731
    assert [pull for pull, _ in play(again, reward)] == [pull for pull, _ in play(original, reward)]


def test_what_is_not_the_librarys_cannot_be_made_again():
    class Own(ma.RandomSearch):
        pass

    class Mine(ma.UCB1):
        pass

    for cascade in (
        ma.Cascade({"a": Own(SPACE)}, seed=0),
        ma.Cascade({"a": ma.RandomSearch(Digits())}, seed=0),
        ma.Cascade({"a": ma.RandomSearch(SPACE)}, Mine(), seed=0),
        ma.Cascade({"a": ma.MutantUCB(SPACE, train_probability=lambda n, N: 0.5)}, seed=0),
    ):
        assert restored_strategy(make_header(cascade, 0, "maximize", None)) is None


def test_a_study_of_a_space_of_ones_own_resumes(quick):
    def make():
        return ma.Cascade(
            {"digits": ma.MutantUCB(Digits(), max_steps=2, initial=5), "x": ma.RandomSearch(SPACE)}, budget=60, seed=0
        )

    def reward(config):
        return config["config"] / 100 if config["algorithm"] == "digits" else config["config"]["x"] / 2

    for stop in (20, 1000):
        with ma.Study(make(), storage=f"{quick}/study.db") as study:
            study.optimize(reward, progress=False, callbacks=[stopping(stop)])
    assert study.counts.steps == 60 and study.best_config["algorithm"] == "digits"


def test_tune_takes_a_function_that_makes_a_cascade_of_a_joint_space():
    def cascade(space, max_steps, **given):
        return ma.Cascade({name: ma.RandomSearch(part, max_steps=max_steps) for name, part in space.spaces.items()}, **given)

    space = ma.Joint({"near": ma.Space(x=ma.Float(0, 0.5)), "far": ma.Space(x=ma.Float(0.5, 1))})
    study = ma.tune(lambda config: near(ma.Pull(ma.Arm(0, config), 0, 1)), space, budget=100, strategy=cascade, progress=False)
    assert study.best_config["algorithm"] == "near"
