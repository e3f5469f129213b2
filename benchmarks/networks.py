"""What making networks costs: sampling, mutating, crossing and building them, and inheriting weights.

Networks are those of `image_space` for images of 3 x 32 x 32. Making them needs no PyTorch; what is timed before it is imported
shows that. Weights are inherited from a parent in memory; with reading its checkpoint is what the first pull of a mutant does.
Both are compared with one epoch of the mutant's own training on 1,000 images, pair by pair; the figure is the median.

The clock is the processor time of this process.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from report import AtLeast, AtMost, Row, parser, show

from manyarms import networks

SPACE = networks.image_space((3, 32, 32), 10)
IMAGES = 1000


def seconds(act: Callable[[], Any]) -> float:
    began = time.process_time()
    act()
    return time.process_time() - began


def makings(count: int, seed: int) -> dict[str, float]:
    """Networks a second, without PyTorch."""
    rng = np.random.default_rng(seed)
    parents: list[networks.Network] = []
    rates = {"samples": count / seconds(lambda: parents.extend(SPACE.sample(rng) for _ in range(count)))}
    mates = [*parents[1:], parents[0]]
    rates["mutations"] = count / seconds(lambda: [SPACE.mutate(parent, rng) for parent in parents])
    rates["crossovers"] = count / seconds(lambda: [SPACE.crossover(a, b, rng) for a, b in zip(parents, mates, strict=True)])
    return rates


def builds(count: int, seed: int) -> float:
    """Modules a second."""
    rng = np.random.default_rng(seed)
    made = [SPACE.sample(rng) for _ in range(count)]
    return count / seconds(lambda: [networks.build(network, SPACE) for network in made])


def inheritance(pairs: int, seed: int) -> dict[str, tuple[float, float]]:
    """Median milliseconds of inheriting, from memory and from a checkpoint, and of both as shares of an epoch."""
    import torch

    from manyarms.networks.torch.trained_network import FILE, read_state, state_bytes

    rng = np.random.default_rng(seed)
    x, y = torch.randn(IMAGES, *SPACE.input_shape), torch.randint(10, (IMAGES,))
    costs: dict[str, list[tuple[float, float]]] = {"memory": [], "checkpoint": []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(pairs):
            parent = SPACE.sample(rng)
            network = SPACE.mutate(parent, rng)
            weights = networks.build(parent, SPACE).state_dict()
            (Path(folder) / FILE).write_bytes(state_bytes({"weights": weights}))
            child = networks.build(network, SPACE)

            def read(child: Any = child) -> None:
                networks.inherit(child, read_state(Path(folder))["weights"])

            times = seconds(lambda child=child, weights=weights: networks.inherit(child, weights)), seconds(read)
            cycle = networks.Cycle(1, network.training["batch_size"], 1e-4, 1e-4)
            optimiser = torch.optim.SGD(child.parameters(), 1e-4)
            epoch = seconds(lambda: networks.subtrain(child, optimiser, x, y, cycle, seed=0))  # noqa: B023  # called at once
            for name, spent in zip(costs, times, strict=True):
                costs[name].append((1e3 * spent, 100 * spent / epoch))
    return {name: (median(c[0] for c in found), median(c[1] for c in found)) for name, found in costs.items()}


def rows(makings: list[dict[str, float]], built: list[float], heirs: list[dict[str, tuple[float, float]]]) -> list[Row]:
    typical = {name: median(found[name] for found in makings) for name in makings[0]}
    lines = [Row("a second, without PyTorch")]
    for name, rate in typical.items():
        target = AtLeast(500, rate, "a second") if name == "mutations" else None
        lines.append(Row(f"  {name}", f"{rate:,.0f}", target=target))
    lines += [Row("a second, with PyTorch"), Row("  builds", f"{median(built):,.0f}"), Row("weights of a mutant")]
    for name in heirs[0]:
        milliseconds, share = (median(found[name][i] for found in heirs) for i in (0, 1))
        lines.append(Row(f"  inherited from {name}", f"{milliseconds:.2f} ms", target=AtMost(10, share, "% of an epoch")))
    return lines


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, help="how often each is measured (default 5; 2 with --quick)")
    options = arguments.parse_args()
    rounds = options.rounds or (2 if options.quick else 5)
    count, pairs = (500, 10) if options.quick else (2000, 20)
    made = [makings(count, seed) for seed in range(rounds)]
    assert "torch" not in sys.modules
    built = [builds(count // 10, seed) for seed in range(rounds)]
    heirs = [inheritance(pairs, seed) for seed in range(rounds)]
    show("Networks of images, 3 x 32 x 32", "no peer", rows(made, built, heirs), rounds)


if __name__ == "__main__":
    main()
