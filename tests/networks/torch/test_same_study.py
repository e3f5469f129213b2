"""A study goes on with the data, the training and the space it was made with, and with no other."""

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


def test_it_goes_on_with_the_same(tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    assert [search(storage, classifier(), budget) for budget in (4, 6)] == [4, 6]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epochs": 2}, "trained with other epochs: epochs=1, now epochs=2 is given; go on with what"),
        ({"warm": False}, "trained with other warm: warm=True, now warm=False is given"),
        ({"lowest": 0.5}, "trained with other lowest: lowest=0.01, now lowest=0.5 is given"),
    ],
)
def test_another_training_is_refused_before_anything_is_trained(tmp_path, changed, message):
    storage = f"sqlite:///{tmp_path}/study.db"
    search(storage, classifier(), 4)
    with pytest.raises(ma.StudyMismatch, match=message):
        search(storage, classifier(**changed), 6)
    with ma.load_study(storage) as view:
        assert (view.counts.steps, view.counts.failures) == (4, 0)


@pytest.mark.parametrize("part", range(4))
def test_other_data_are_refused_even_where_nothing_is_left_to_train(tmp_path, part):
    storage = f"sqlite:///{tmp_path}/study.db"
    search(storage, classifier(), 4)
    data = [array.copy() for array in DATA]
    data[part] = np.roll(data[part], 1, axis=0)
    with pytest.raises(ma.StudyMismatch, match="trained with other data; go on with what they were trained with"):
        search(storage, classifier(*data), 4)


def test_a_model_is_given_back_whatever_data_there_are_now(tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    search(storage, classifier(), 4)
    fewer = classifier(*(array[:50] for array in DATA))
    with ma.Study(ma.RandomSearch(SPACE, budget=4, max_steps=2, seed=0), storage=storage) as study:
        assert fewer.accuracy(study.best_model(fewer), *DATA[2:]) == study.best_reward


def test_networks_of_another_space_than_the_classifiers_are_refused_by_name(tmp_path):
    with pytest.raises(ma.NoResult, match="not of the classifier's space: give the strategy classifier.space"):
        search(f"sqlite:///{tmp_path}/study.db", classifier(), 4, networks.table_space(4, 2))
