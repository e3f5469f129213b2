"""Portraits of PartitionUCB and TreeUCB: the regions they make of one and of two parameters.

    python experiments/region_portraits.py

Two hills, rewards with a noise of 0.05. The pictures are those of the pages on the two strategies.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import manyarms as ma
from manyarms.strategies.cube.plots import draw_partition

PLOTS = Path(__file__).parent.parent / "docs" / "strategies" / "plots"
HILLS = ((0.3, 0.6, 1.0), (0.8, 0.2, 0.8))  # x, y, height


def reward(config: dict[str, float], steps: float, noise: np.random.Generator) -> float:
    """The height of the nearest hill, which longer trainings reach, and noise."""
    height = max(h - 1.5 * max(abs(config["x"] - x), abs(config.get("y", y) - y)) for x, y, h in HILLS)
    return float(np.clip(height * (1 - 0.1**steps) + 0.05 * noise.standard_normal(), 0, 1))


def searched(strategy: ma.TreeUCB) -> ma.TreeUCB:
    """The strategy after all its pulls."""
    noise = np.random.default_rng(0)
    while (pull := strategy.ask()) is not None:
        strategy.tell(pull, reward(pull.config, 5 * pull.stop / strategy.max_steps, noise))
    return strategy


def main() -> None:
    PLOTS.mkdir(parents=True, exist_ok=True)
    line, plane = ma.Space(x=ma.Float(0, 1)), ma.Space(x=ma.Float(0, 1), y=ma.Float(0, 1))
    for kind, contextual in ((ma.PartitionUCB, ma.ContextualPartitionUCB), (ma.TreeUCB, ma.ContextualTreeUCB)):
        figure, axes = plt.subplots(1, 3, figsize=(16, 4.6), layout="constrained")
        draw_partition(searched(kind(line, budget=200, seed=3)), axes[0])
        draw_partition(searched(kind(plane, budget=400, seed=3)), axes[1])
        draw_partition(searched(contextual(line, budget=4000, max_steps=27, seed=3)), axes[2])
        name = "partition-ucb" if kind is ma.PartitionUCB else "tree-ucb"
        figure.savefig(PLOTS / f"{name}.png", dpi=70)
        plt.close(figure)


if __name__ == "__main__":
    main()
