"""dragon-autodl's side of experiments/networks/dragon.py: its Mutant_UCB on networks of its own classes.

Images have their channels first, and convolutions are made with permute=False, so that they, pooling and normalization work on
the same axes; its concatenation is of the last axis. The weights of a network are kept where dragon keeps them, in the
configuration; the state of the optimizer in memory. The loss is 1 - accuracy.
"""

from __future__ import annotations

import pickle
import random
import re
import time
from typing import Any

import numpy as np
import torch
from dragon.search_algorithm.mutant_ucb import Mutant_UCB
from dragon.search_operators.base_neighborhoods import ArrayInterval, CatInterval, ConstantInterval, FloatInterval, IntInterval
from dragon.search_operators.dag_neighborhoods import HpInterval
from dragon.search_space.base_variables import ArrayVar, CatVar, Constant, FloatVar, IntVar
from dragon.search_space.bricks import MLP, AVGPooling2D, Conv2d, Dropout, MaxPooling2D
from dragon.search_space.bricks_variables import (
    dag_var,
    identity_var,
    mlp_const_var,
    node_var,
    norm_1d,
    norm_2d,
    operations_var,
)
from dragon.search_space.dag_variables import HpVar
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
from torch import nn

from manyarms.networks import Cycle, subtrain
from manyarms.networks.torch.optimizers import make_optimizer


def whole(label: str, low: int, high: int) -> IntVar:
    """A whole number, with neighbours as in dragon's own variables."""
    return IntVar(label, low, high, neighbor=IntInterval(max((high - low) // 4, 2)))


def layer(label: str, kinds: list[Any], **settings: Any) -> HpVar:
    """A layer, of one class or several."""
    constant = {"neighbor": ConstantInterval()}
    operation = Constant(label, kinds[0], **constant) if len(kinds) == 1 else CatVar(label, kinds, neighbor=CatInterval())
    parameters = {
        name: value if not isinstance(value, (str, bool)) else Constant(name, value, **constant)
        for name, value in settings.items()
    }
    return HpVar(label, operation, hyperparameters=parameters, neighbor=HpInterval())


def make_space(nodes: int) -> ArrayVar:
    """Two graphs and a head, as in the paper, with the ranges of our side."""
    dropout = layer("Dropout", [Dropout], rate=FloatVar("rate", *DROPOUT, neighbor=FloatInterval(0.1)))
    kernel, channels = whole("kernel", *KERNELS), whole("channels", *CHANNELS)
    convolution = layer("Convolution", [Conv2d], kernel_size=kernel, out_channels=channels, padding="same", permute=False)
    pool = layer("Pooling", [AVGPooling2D, MaxPooling2D], pool=whole("pool", *POOLS))
    dense = layer("Dense", [MLP], out_channels=whole("units", *UNITS))
    # Their number of nodes counts the input, ours does not.
    images_part = operations_var("Image", nodes + 1, [convolution, pool, norm_2d("Norm"), dropout, identity_var("Identity")])
    vectors = operations_var("Vector", max(1, nodes // 2) + 1, [dense, norm_1d("Norm"), dropout, identity_var("Identity")])
    head = node_var("Head", operation=mlp_const_var("Scores", 10), activation_function=nn.Identity())
    return ArrayVar(dag_var("Images", images_part), dag_var("Vectors", vectors), head, label="Space", neighbor=ArrayInterval())


class Network(nn.Module):
    """The graphs of a configuration, one after the other; with a shape, they are made to fit it."""

    def __init__(self, configuration: list[Any], shape: tuple[int, ...] | None = None) -> None:
        super().__init__()
        self.image, self.vector, self.head = configuration
        if shape is not None:
            self.image.set(shape)
            self.vector.set((int(np.prod(self.image.output_shape)),))
            self.head.set(self.vector.output_shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.vector(self.image(x).flatten(1)))


class Evaluation:
    """dragon's performance evaluation: one sub-train of a configuration."""

    def __init__(self, data: Any, epochs: int, log: Log) -> None:
        self.mean, self.deviation = data.x_train.mean(axis=(0, 1, 2)), data.x_train.std(axis=(0, 1, 2))
        self.x, self.y = self.tensors(data.x_train, data.y_train)
        self.x_valid, self.y_valid = self.tensors(data.x_valid, data.y_valid)
        self.cycle = Cycle(epochs, BATCH, RATE, LOWEST * RATE)
        self.log = log
        self._optimisers: dict[int, Any] = {}

    def tensors(self, x: Any, y: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Standardized images, with channels first."""
        rows = ((x - self.mean) / self.deviation).astype(np.float32)
        return torch.from_numpy(np.ascontiguousarray(np.moveaxis(rows, -1, 1))), torch.from_numpy(y.astype(np.int64))

    def __call__(self, configuration: list[Any], model: int) -> float:
        began = time.process_time()
        module = Network(configuration, tuple(self.x.shape[1:]))
        optimiser = make_optimizer(OPTIMISER, module.parameters(), RATE)
        if model in self._optimisers:
            optimiser.load_state_dict(self._optimisers[model])
        subtrain(module, optimiser, self.x, self.y, self.cycle, seed=int(torch.randint(2**31, ())))
        self._optimisers[model] = optimiser.state_dict()
        accuracy = measured(module, self.x_valid, self.y_valid)
        return 1.0 - self.log.note(model, accuracy, time.process_time() - began)


def measured(module: Network, x: torch.Tensor, y: torch.Tensor) -> float:
    """The share of images that are classified correctly."""
    module.eval()
    with torch.no_grad():
        return float((module(x).argmax(1) == y).float().mean())


def main() -> None:
    """Search, or resume as dragon does, with the path of a population."""
    arguments = options()
    folder, scale = arguments.folder, Scale.of(arguments)
    random.seed(arguments.seed)
    np.random.seed(arguments.seed)
    torch.manual_seed(arguments.seed)
    data = images(scale)
    log = Log(folder, arguments.nan)
    evaluation = Evaluation(data, scale.epochs, log)
    place = str(folder / "search")
    settings = {"T": scale.budget, "K": initial(scale), "N": scale.steps, "E": EXPLORATION}
    recovered = {"pop_path": place} if arguments.again else {}
    began = time.process_time()
    search = Mutant_UCB(make_space(scale.nodes), **settings, evaluation=evaluation, save_dir=place, **recovered)
    search.run()
    with open(f"{place}/best_model/x.pkl", "rb") as file:
        best = Network(pickle.load(file))  # our own file, of a moment ago
    test = measured(best, *evaluation.tensors(data.x_test, data.y_test))
    figures = {"test": test, "valid": 1 - float(search.min_loss), "models": len(search.storage), "total": log.count}
    write_result(folder, log, began, **figures, failed=None, parents=parents_of(folder))


def parents_of(folder: Any) -> dict[int, int]:
    """Which model is a mutant of which, from what dragon logs."""
    text = (folder / "output.txt").read_text() if (folder / "output.txt").exists() else ""
    return {int(child): int(parent) for parent, child in re.findall(r"mutating (\d+) to (\d+)", text)}


if __name__ == "__main__":
    main()
