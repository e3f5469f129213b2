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


# -- read from another process


def stored(tmp_path, function=chained.train, **options):
    """The best model of a study that is closed again, and its storage."""
    storage = tmp_path / "study.db"
    with ma.Study(chained.strategy(60), storage=storage, **options) as study:
        study.optimize(function, progress=False)
        return study.best_model(), storage


def files(tmp_path):
    return {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")
def test_a_reader_loads_the_models_that_the_writer_saved_and_changes_nothing(tmp_path):
    best, storage = stored(tmp_path)
    before = files(tmp_path)
    with ma.load_study(storage) as view:
        assert view.best_model() == best and best["steps"] == view.best_step
        for arm, record in view.counts.arms.items():
            assert chained.reward(view.model(arm)) == record.best_reward
    assert files(tmp_path) == before


@pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")
def test_a_reader_loads_the_best_model_while_the_study_runs(tmp_path):
    storage, seen = tmp_path / "study.db", []

    def look(study, outcome):
        with ma.load_study(storage) as view:
            assert view.best_model() == study.best_model() and chained.reward(view.best_model()) == view.best_reward
            seen.append(view.counts.pulls)

    with ma.Study(chained.strategy(30), storage=storage) as study:
        study.optimize(chained.train, progress=False, callbacks=[look])
    assert len(seen) == study.counts.pulls


@pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")
@pytest.mark.parametrize("damage", ["missing", "corrupt"])
def test_a_reader_does_not_train_a_lost_model_again_and_says_what_to_do(tmp_path, damage):
    best, storage = stored(tmp_path)
    with ma.load_study(storage) as view:
        place = view.checkpoint_of(view.best().id)
        if damage == "missing":
            shutil.rmtree(place)
        else:
            (place / "state.pickle").write_bytes(b"?")
        before = files(tmp_path)
        for asked in (view.best_model, lambda: view.best_model(pytest.fail), lambda: view.model(view.best().id)):
            with pytest.raises(ma.CheckpointLost, match=r"is missing or corrupt, .* best_model\(function\) then trains"):
                asked()
        assert files(tmp_path) == before
    with ma.Study(chained.strategy(60), storage=storage) as study:
        assert study.best_model(chained.train) == best  # as the message says


def test_a_reader_needs_the_function_for_a_format_of_its_own(tmp_path):
    storage = tmp_path / "study.db"
    ma.tune(Lines(), SPACE, budget=30, max_steps=3, seed=0, progress=False, storage=storage).close()
    with ma.load_study(storage) as view:
        assert view.best_model(Lines()) == ["1", "2", "3"]
        with pytest.raises(ma.CheckpointLost, match=r"saved files of its own.* best_model\(function\) .*load_model"):
            view.best_model()


def test_a_reader_of_a_study_that_saved_nothing_says_so(tmp_path):
    ma.tune(height, SPACE, budget=5, seed=0, progress=False, storage=tmp_path / "study.db").close()
    with (
        ma.load_study(tmp_path / "study.db") as view,
        pytest.raises(ma.CheckpointLost, match="has no saved model: call pull.save"),
    ):
        view.best_model()
