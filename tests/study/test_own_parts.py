"""What users bring themselves: training functions, callbacks, strategies and spaces."""

from __future__ import annotations

import sys

import pytest

import manyarms as ma

from .searches import SPACE, height, outline, search

pytestmark = pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")


def test_the_name_of_the_parameter_of_a_function_changes_nothing():
    seen = []
    ma.tune(lambda config: seen.append(config) or config["x"], SPACE, budget=5, seed=0, progress=False)
    ma.tune(lambda pull: seen.append(pull) or pull["x"], SPACE, budget=5, seed=0, progress=False)
    ma.tune(lambda p: seen.append(p) or p["x"], SPACE, budget=5, seed=0, progress=False)
    assert all(isinstance(pull, ma.RunningPull) and pull == pull.config for pull in seen)
    assert seen[:5] == seen[5:10] == seen[10:]


def test_without_max_steps_each_pull_is_a_complete_training():
    seen = []
    ma.tune(lambda pull: seen.append((pull.start, pull.stop)) or pull["x"], SPACE, budget=5, progress=False)
    assert seen == [(0, 1)] * 5
    ma.tune(lambda pull: seen.append((pull.start, pull.stop)) or pull["x"], SPACE, budget=20, max_steps=2, progress=False)
    assert {stop for _, stop in seen} == {1, 2}


def test_callbacks_see_each_recorded_outcome_and_may_stop_the_study():
    seen = []

    def enough(study, outcome):
        seen.append((outcome.pull, study.counts.pulls))
        if study.counts.pulls == 12:
            study.stop()

    study = ma.Study(search(100))
    study.optimize(height, callbacks=[enough], progress=False)
    assert [count for _, count in seen] == list(range(1, 13))
    assert study.counts.pulls == 12


def spoil(config):
    config.pop("x", None)
    config.update(y=2.0, name="mine")


def test_changing_the_config_of_a_pull_changes_neither_the_study_nor_its_journal(tmp_path):
    with ma.Study(search(60, max_steps=3), storage=tmp_path / "study.db") as study, ma.Study(search(60, max_steps=3)) as other:
        while (pull := study.ask()) is not None:
            reward = height(pull.config)
            spoil(pull.config)
            study.tell(pull, reward)
            other.tell(pull := other.ask(), height(pull.config))
        assert outline(study) == outline(other)
    with ma.Study(search(80, max_steps=3), storage=tmp_path / "study.db") as again:  # it replays the journal
        assert again.best_config == other.best_config


def test_changing_the_best_config_or_that_of_an_outcome_changes_nothing(tmp_path):
    study = ma.Study(search(60), storage=tmp_path / "study.db")
    study.optimize(height, progress=False, callbacks=[lambda _, outcome: spoil(outcome.pull.config)])
    best = dict(study.best_config)
    spoil(study.best_config)
    spoil(study.best().config)
    assert study.best_config == best
    study.optimize(height, budget=80, progress=False)
    study.close()
    with ma.load_study(tmp_path / "study.db") as view:
        spoil(view.best_config)
        assert view.best_config == study.best_config
    with ma.Study(search(80), storage=tmp_path / "study.db") as again:
        assert again.best_config == study.best_config


def test_a_config_that_cannot_be_copied_is_handed_out_as_it_is():
    class Space:
        def sample(self, rng):
            return sys  # a module, which cannot be copied

        def mutate(self, config, rng):
            return sys

        def to_json(self, config):
            return {}

    study = ma.Study(ma.RandomSearch(Space(), budget=3, seed=0))
    while (pull := study.ask()) is not None:
        study.tell(pull, 1.0)
    assert study.best_config is sys and study.counts.pulls == 3


def test_a_strategy_with_only_three_methods_runs_and_resumes(tmp_path):
    class Grid:
        def __init__(self):
            self.asked, self.rewards = 0, {}

        def ask(self):
            self.asked += 1
            return ma.Pull(ma.Arm(self.asked, {"x": self.asked / 20}), 0, 1) if self.asked <= 20 else None

        def tell(self, pull, reward):
            self.rewards[pull.arm.id] = reward

        def best(self):
            arm = max(self.rewards, key=self.rewards.get)
            return ma.Arm(arm, {"x": arm / 20})

    storage = f"{tmp_path}/study.db"
    with ma.Study(Grid(), storage=storage) as study:
        for _ in range(7):
            study.tell(study.ask(), 0.1)
    with ma.Study(Grid(), storage=storage) as study:
        study.optimize(lambda config: config["x"], progress=False)
        assert study.counts.pulls == 20
        assert study.best().id == 20


def test_any_object_with_sample_and_mutate_is_a_space():
    class Letters:
        def sample(self, rng):
            return "".join(rng.choice(list("abc"), 5))

        def mutate(self, config, rng):
            spot = int(rng.integers(5))
            return config[:spot] + "abc"[("abc".index(config[spot]) + 1) % 3] + config[spot + 1 :]

    study = ma.tune(lambda pull: pull.config.count("c") / 5, Letters(), budget=150, seed=0, progress=False)
    assert study.best_config == "ccccc"
    assert study.arms_dataframe()["config"].str.len().eq(5).all()


def test_a_journal_that_lacks_a_method_is_refused_before_anything_runs():
    class Short:
        name, header = "study", None

        def append(self, events):
            raise AssertionError("nothing may be written")

    with pytest.raises(TypeError, match="storage must be .* a journal or None, got .* without create"):
        ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=3), storage=Short())
