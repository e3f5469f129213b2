"""A study is resumed only with the data, the training and the space it was started with."""

from __future__ import annotations

import numpy as np
import pytest

import manyarms as ma
from manyarms import networks

from ..images import DATA, SPACE

pytest.importorskip("torch")


def search(storage, classifier, budget, space=SPACE):
    with ma.Study(ma.RandomSearch(space, budget=budget, max_steps=2, seed=0), storage=storage) as study:
        study.optimize(classifier, progress=False)
        return study.counts.steps


def classifier(*data, **options):
    return networks.image_classifier(*(data or DATA), space=SPACE, **{"epochs": 1, **options})


def test_a_study_is_resumed_with_the_same_data_and_training(tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    assert [search(storage, classifier(), budget) for budget in (4, 6)] == [4, 6]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epochs": 2}, "trained with epochs=1, not epochs=2; use the same epochs, or start a new study"),
        ({"warm": False}, "trained with warm=True, not warm=False"),
        ({"lowest": 0.5}, "trained with lowest=0.01, not lowest=0.5"),
    ],
)
def test_another_training_is_refused_before_anything_is_trained(tmp_path, changed, message):
    storage = f"sqlite:///{tmp_path}/study.db"
    search(storage, classifier(), 4)
    with pytest.raises(ma.StudyMismatch, match=message):
        search(storage, classifier(**changed), 6)
    with ma.load_study(storage) as view:
        assert (view.counts.steps, view.counts.failures) == (4, 0)


@pytest.mark.parametrize("index", range(4))
def test_other_data_are_refused_even_if_nothing_is_left_to_train(tmp_path, index):
    storage = f"sqlite:///{tmp_path}/study.db"
    search(storage, classifier(), 4)
    data = [array.copy() for array in DATA]
    data[index] = np.roll(data[index], 1, axis=0)
    with pytest.raises(ma.StudyMismatch, match="trained with other data; use the same data, or start a new study"):
        search(storage, classifier(*data), 4)


def test_a_model_is_loaded_regardless_of_the_data_of_the_classifier(tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    search(storage, classifier(), 4)
    fewer = classifier(*(array[:50] for array in DATA))
    with ma.Study(ma.RandomSearch(SPACE, budget=4, max_steps=2, seed=0), storage=storage) as study:
        assert fewer.accuracy(study.best_model(fewer), *DATA[2:]) == study.best_reward


def test_networks_of_another_space_than_the_classifiers_are_refused_by_name(tmp_path):
    with pytest.raises(ma.NoResult, match="does not belong to the classifier's space: pass classifier.space to the strategy"):
        search(f"sqlite:///{tmp_path}/study.db", classifier(), 4, networks.table_space(4, 2))
