"""A pull fails if the network diverges, has no finite scores or runs out of memory."""

from __future__ import annotations

import pytest

import manyarms as ma
from manyarms import networks

from ..images import DATA, SPACE
from ..spaces import samples

torch = pytest.importorskip("torch")


def failures(function, space=SPACE):
    with ma.Study(ma.RandomSearch(space, budget=2, max_steps=1, seed=0)) as study:
        with pytest.raises(ma.NoResult):
            study.optimize(function, progress=False)
        return set(study.counts.reasons)


def test_a_network_that_diverges_is_a_failed_pull():
    training = ma.Space(learning_rate=1e38, batch_size=16, optimiser="sgd")
    space = networks.NetworkSpace((1, 8, 8), 4, {"vector": networks.GraphSpace([networks.Dense()], dimensions=0)}, training)
    reasons = failures(networks.image_classifier(*DATA, space=space, epochs=2), space)
    assert reasons and all(reason.startswith("FloatingPointError: the loss was") for reason in reasons)


def test_scores_that_are_not_finite_never_count_as_labels(classifier):
    model = networks.build(samples(SPACE, 1)[0], SPACE)
    with torch.no_grad():
        model.head.bias.fill_(float("nan"))
    with pytest.raises(FloatingPointError, match="the scores of the network are not finite"):
        classifier.predict(model, DATA[0])


@pytest.mark.parametrize(
    "error", [torch.cuda.OutOfMemoryError("CUDA"), RuntimeError("[enforce fail] can't allocate memory: 9")]
)
def test_too_little_memory_is_a_failed_pull(classifier, monkeypatch, error):
    def forward(*_):
        raise error

    monkeypatch.setattr(networks.NetworkModule, "forward", forward)
    assert failures(classifier) == {"out of memory"}


def test_other_errors_stay_what_they_are(classifier, monkeypatch):
    def forward(*_):
        raise RuntimeError("something else")

    monkeypatch.setattr(networks.NetworkModule, "forward", forward)
    assert failures(classifier) == {"RuntimeError: something else"}
