"""Boosting until the validation loss no longer decreases."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

from manyarms.sklearn.training.early_stopping import PATIENCE, EarlyStopping, best_rounds
from manyarms.sklearn.training.resources import EARLY_STOPPING, slices_of
from manyarms.sklearn.training.slices import Span
from manyarms.sklearn.training.time_limit import Deadline

WHOLE = Span(0, 1, 1)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 5))
Y = (X[:, 0] + X[:, 1] * X[:, 2] + RNG.normal(size=600) > 0).astype(int)
VALIDATION = X[400:], Y[400:]
PARAMETERS = {
    "lightgbm": {"n_estimators": 500, "learning_rate": 0.3, "n_jobs": 1, "verbosity": -1},
    "xgboost": {"n_estimators": 500, "learning_rate": 0.3, "n_jobs": 1},
    "catboost": {
        "n_estimators": 500,
        "learning_rate": 0.3,
        "thread_count": 1,
        "logging_level": "Silent",
        "allow_writing_files": False,
    },
}
KINDS = {"lightgbm": "LGBMClassifier", "xgboost": "XGBClassifier", "catboost": "CatBoostClassifier"}


def booster(library, **changes):
    return getattr(pytest.importorskip(library), KINDS[library])(**PARAMETERS[library] | changes)


class Clock:
    """Every look at the time takes a second."""

    now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("library", PARAMETERS)
def test_boosting_stops_when_the_validation_loss_increases_and_uses_the_best_round(library):
    model = booster(library)
    slices_of(model, EARLY_STOPPING).validated_by(*VALIDATION).advance(model, X[:400], Y[:400], WHOLE, {})
    rounds = best_rounds(model)
    assert 3 < rounds < 500 - PATIENCE
    if library != "catboost":  # its rounds depend on how many there are
        exact = booster(library, n_estimators=rounds).fit(X[:400], Y[:400])
        assert np.allclose(model.predict_proba(X[400:]), exact.predict_proba(X[400:]))
    full = booster(library).fit(X[:400], Y[:400])
    assert log_loss(Y[400:], model.predict_proba(X[400:])) < log_loss(Y[400:], full.predict_proba(X[400:]))


@pytest.mark.parametrize("library", PARAMETERS)
def test_a_model_is_retrained_for_as_many_rounds_without_validation_rows(library):
    model = booster(library)
    slices = slices_of(model, EARLY_STOPPING)
    slices.validated_by(*VALIDATION).advance(model, X[:400], Y[:400], WHOLE, {})
    again = clone(booster(library))
    slices.like(model).advance(again, X, Y, WHOLE, {})
    assert best_rounds(again) == best_rounds(model)
    assert np.allclose(pickle.loads(pickle.dumps(again)).predict_proba(X), again.predict_proba(X))


@pytest.mark.parametrize("library", PARAMETERS)
def test_boosting_with_validation_rows_ends_at_its_deadline(library):
    model = booster(library, learning_rate=0.01)
    slices = slices_of(model, EARLY_STOPPING).validated_by(*VALIDATION)
    slices.advance(model, X[:400], Y[:400], WHOLE, {}, Deadline(12.0, Clock()))
    assert 5 < best_rounds(model) <= 12
    assert model.predict(X).shape[0] == len(X)


def test_a_collapsed_model_is_trained_again_with_a_smaller_learning_rate():
    model = booster("lightgbm", learning_rate=30.0)
    EarlyStopping("n_estimators", 500, VALIDATION).advance(model, X[:400], Y[:400], WHOLE, {})
    assert model.learning_rate == pytest.approx(6.0)


def test_validation_rows_of_unknown_classes_are_ignored():
    model = booster("lightgbm")
    labels = np.where(np.arange(200) < 5, 2, Y[400:])
    slices_of(model, EARLY_STOPPING).validated_by(X[400:], labels).advance(model, X[:400], Y[:400], WHOLE, {})
    assert model.predict_proba(X).shape == (600, 2)
