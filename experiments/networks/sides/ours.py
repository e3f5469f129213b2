"""Our side of experiments/networks/dragon.py: Mutant-UCB of manyarms."""

from __future__ import annotations

import time
import warnings
from typing import Any

from session import (
    BATCH,
    CHANNELS,
    DROPOUT,
    EXPLORATION,
    KERNELS,
    LOWEST,
    OPTIMISER,
    POOLS,
    RATE,
    UNITS,
    Log,
    Scale,
    images,
    initial,
    options,
    write_result,
)

import manyarms as ma
from manyarms import networks


class Watched:
    """The classifier, every sub-train of it logged."""

    def __init__(self, classifier: networks.Classifier, log: Log) -> None:
        self._classifier, self._log = classifier, log
        self.load_model = classifier.load_model

    def __call__(self, pull: Any) -> float:
        began = time.process_time()
        accuracy = self._classifier(pull)["reward"]
        return self._log.note(pull.arm.id, accuracy, time.process_time() - began)


def make_space(shape: tuple[int, int, int], nodes: int) -> networks.NetworkSpace:
    """The layers of dragon's side, in the same ranges, without limits of the size of a network."""
    channels, kernels = ma.Int(*CHANNELS), ma.Choice(*range(KERNELS[0], KERNELS[1] + 1, 2), ordered=True)
    usual = [networks.Normalization(), networks.Dropout(ma.Space(rate=ma.Float(*DROPOUT))), networks.Identity()]
    pool = ma.Space(size=ma.Int(*POOLS))
    convolution = networks.Convolution(ma.Space(channels=channels, kernel=kernels, stride=1))
    layers = [convolution, networks.MaxPool(pool), networks.AveragePool(pool), *usual]
    dense = networks.Dense(ma.Space(units=ma.Int(*UNITS)))
    parts = {
        "image": networks.GraphSpace(layers, dimensions=2, max_nodes=nodes),
        "vector": networks.GraphSpace([dense, *usual], dimensions=0, max_nodes=max(1, nodes // 2)),
    }
    training = ma.Space(learning_rate=RATE, batch_size=BATCH, optimiser=OPTIMISER)
    return networks.NetworkSpace(shape, 10, parts, training, max_parameters=None, max_flops=None)


def main() -> None:
    """Search, or resume the search in the folder."""
    arguments = options()
    folder, scale = arguments.folder, Scale.of(arguments)
    data = images(scale)
    log = Log(folder, arguments.nan)
    arrays = data.x_train, data.y_train, data.x_valid, data.y_valid
    classifier = networks.Classifier(make_space(data.shape, scale.nodes), *arrays, epochs=scale.epochs, lowest=LOWEST)
    settings = {"budget": scale.budget, "max_steps": scale.steps, "initial": initial(scale), "exploration": EXPLORATION}
    strategy = ma.MutantUCB(classifier.space, **settings, seed=arguments.seed)
    began = time.process_time()
    study = ma.Study(strategy, storage=folder / "study.db", bounds=(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ma.ManyarmsWarning)
        study.optimize(Watched(classifier, log), progress=False)
    test = classifier.accuracy(study.best_model(), data.x_test, data.y_test)
    parents = {arm.id: arm.parents[0] for arm in (record.arm for record in study.counts.arms.values()) if arm.parents}
    figures = {"test": test, "valid": study.best_reward, "models": len(study.counts.arms), "total": study.counts.steps}
    write_result(folder, log, began, **figures, failed=study.counts.failures, parents=parents)
    study.close()


if __name__ == "__main__":
    main()
