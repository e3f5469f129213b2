"""The trained models that a study gives back."""

from __future__ import annotations

import shutil

import chained
import pytest

import manyarms as ma

from .searches import SPACE, height, search


def test_tune_gives_the_trained_model_and_not_just_its_config():
    study = ma.tune(chained.train, chained.SPACE, budget=200, max_steps=5, strategy="asha", seed=0, progress=False)
    record = study.counts.arms[study.best().id]
    assert study.best_model()["steps"] == study.best_step == record.best_step
    assert study.best_reward == chained.reward(study.best_model()) == record.best_reward
    assert study.best_config == record.arm.config


class Lines:
    """A function with a format of its own."""

    def __call__(self, pull):
        before = (pull.previous / "lines").read_text() if pull.previous else ""
        pull.save_file("lines", f"{before}{pull.stop}\n".encode())
        return pull.stop

    def load_model(self, directory):
        return (directory / "lines").read_text().split()


def test_a_function_with_a_format_of_its_own_loads_the_model_itself(tmp_path):
    study = ma.tune(Lines(), SPACE, budget=30, max_steps=3, seed=0, progress=False, checkpoints=str(tmp_path))
    assert study.best_model() == ["1", "2", "3"] == study.best_model(Lines())
    shutil.rmtree(study.checkpoint_of(study.best().id))
    assert study.best_model() == ["1", "2", "3"]  # trained again


def test_a_format_of_its_own_is_not_taken_for_no_model_where_the_function_is_not_known(tmp_path):
    with ma.Study(search(30, max_steps=3), storage=tmp_path / "study.db") as study:
        study.optimize(Lines(), progress=False)
        best = study.best().id
    with ma.Study(search(30, max_steps=3), storage=tmp_path / "study.db") as study:
        for asked in (study.best_model, lambda: study.model(best), lambda: study.best_model(height)):
            with pytest.raises(
                ma.CheckpointLost, match=rf"arm {best} saved files of its own.* best_model\(function\) .*load_model"
            ):
                asked()
        assert study.best_model(Lines()) == ["1", "2", "3"] == study.model(best, Lines())
        assert (study.checkpoint_of(best) / "lines").exists()  # as the message says


def test_a_model_that_was_saved_as_none_is_none(tmp_path):
    with ma.Study(search(2), storage=tmp_path / "study.db") as study:
        study.optimize(lambda pull: pull.save(None) or 1.0, progress=False)
    with ma.Study(search(2), storage=tmp_path / "study.db") as study:
        assert study.best_model() is None


@pytest.mark.parametrize("arm", [99, -1, None, "a", [1]], ids=repr)
def test_an_arm_that_does_not_exist_is_refused_by_name(arm):
    study = ma.tune(height, SPACE, budget=5, seed=0, progress=False)
    for of in (study.model, study.checkpoint_of):
        with pytest.raises(ValueError, match=r"^arm must be the id of an arm of study 'study', which has 5 arms, got "):
            of(arm)
