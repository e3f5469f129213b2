"""Several models as one."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from manyarms.sklearn.automl.ensemble import Member, average, calibration_factor, class_scores, ensemble_weights, probabilities

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)


def test_models_that_err_in_different_rows_are_better_together():
    truth = RNG.integers(2, size=300)
    outputs = [np.eye(2)[np.where(RNG.random(300) < 0.3, 1 - truth, truth)] for _ in range(7)]

    def error(output):
        return float((output.argmax(axis=1) != truth).mean())

    weights = ensemble_weights(outputs, error, 20)
    together = error(np.tensordot(weights, np.array(outputs), axes=1))
    assert np.isclose(weights.sum(), 1.0)
    assert together < min(map(error, outputs))


def test_a_model_that_is_always_right_is_taken_alone():
    truth = RNG.normal(size=50)
    weights = ensemble_weights([truth + 1, truth, truth - 2], lambda output: float(np.abs(output - truth).sum()), 10)
    assert weights.tolist() == [0, 1, 0]


def test_scores_become_probabilities_that_fit_the_rows():
    for labels in (Y, Y + (X[:, 2] > 1)):
        model = SVC().fit(X, labels)
        scores, are_probabilities = class_scores(model, X, len(np.unique(labels)))
        assert not are_probabilities and scores.shape == (200, len(np.unique(labels)))
        predictions = probabilities(model, X, len(np.unique(labels)), calibration_factor(scores, labels))
        assert np.allclose(predictions.sum(axis=1), 1)
        assert (predictions.argmax(axis=1) == model.predict(X)).mean() > 0.97
        assert predictions[np.arange(200), labels].mean() > 0.7


def test_what_several_prepare_alike_is_prepared_once():
    calls = []

    class Counted(StandardScaler):
        def transform(self, X, copy=None):
            calls.append(1)
            return super().transform(X, copy)

    scaler = Counted().fit(X)
    models = [make_pipeline(scaler, LogisticRegression(C=C).fit(scaler.transform(X), Y)) for C in (0.1, 10)]
    calls.clear()
    members = [Member(0.5, "linear", i, [model]) for i, model in enumerate(models)]
    predictions = average(members, X, lambda model, rows, factor: probabilities(model, rows, 2, factor))
    assert len(calls) == 1
    assert np.allclose(predictions, (models[0].predict_proba(X) + models[1].predict_proba(X)) / 2)


def test_classes_that_a_model_does_not_know_have_no_probability():
    for model in (LogisticRegression(), SVC()):
        scores = probabilities(model.fit(X, np.where(Y, 3, 1)), X, 5)
        assert scores.shape == (200, 5) and set(scores.argmax(axis=1)) == {1, 3}
        assert scores[:, [0, 2, 4]].max() < 0.35


def test_an_ensemble_is_chosen_from_the_rounds_there_was_time_for():
    truth, rounds = RNG.normal(size=50), []

    def loss(output):
        rounds.append(output)
        return float(np.abs(output - truth).sum())

    ensemble_weights([truth + 1, truth - 1], loss, 10, is_late=lambda: len(rounds) >= 4)
    assert len(rounds) == 4
