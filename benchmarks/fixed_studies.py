"""Hash the decisions of a fixed set of searches, to show that a change of the code changes none of them.

Run it before and after the change and compare the output:

    python benchmarks/fixed_studies.py > before.txt
    python benchmarks/fixed_studies.py | diff before.txt -

Each line has the number of pulls of a search, a hash of its pulls (arm, parents, config, start, stop, reward) and a hash
of its recommendations. The hashes can differ between machines, which may round floating-point numbers differently.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import manyarms as ma
from manyarms.networks import image_space

pickers = getattr(ma, "pickers", ma)

FLAT = ma.Space(
    x=ma.Float(0, 1), y=ma.Float(1e-4, 1, log=True), n=ma.Int(1, 64, log=True), act=ma.Choice("relu", "tanh", "elu")
)
CUBE = ma.Space(x=ma.Float(0, 1), y=ma.Float(0, 1))
NESTED = ma.Space(
    rate=ma.Float(1e-3, 1, log=True),
    model=ma.Choice(ma.Space(depth=ma.Int(1, 12)), ma.Space(width=ma.Int(4, 64), drop=ma.Float(0, 0.5))),
)
TINY = ma.Space(a=ma.Choice(1, 2, 3), b=ma.Choice("u", "v"))
NETWORKS = image_space((1, 12, 12), 4)
SPACES = {"flat": FLAT, "nested": NESTED, "tiny": TINY, "networks": NETWORKS}

ON_ANY_SPACE = {
    "RandomSearch": {},
    "SuccessiveHalving": {"max_steps": 9},
    "Hyperband": {"max_steps": 9},
    "ASHA": {"max_steps": 9},
    "SteadyStateEA": {"max_steps": 3},
    "InfiniteUCBE": {"max_steps": 8},
    "MutantUCB": {"max_steps": 8},
    "AdaptiveMutantUCB": {"max_steps": 10},
    "DTTTS": {},
}
ON_THE_CUBE = {
    "PartitionUCB": {},
    "TreeUCB": {},
    "ContextualPartitionUCB": {"max_steps": 9},
    "ContextualTreeUCB": {"max_steps": 9},
    "Harmonica": {},
}


def number(config: Any) -> float:
    """A number between 0 and 1 that is the same for equal configs."""
    text = json.dumps(plain(config), sort_keys=True)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest()) / 2**48


def plain(config: Any) -> Any:
    """The config as JSON, with rounded numbers."""
    if isinstance(config, dict):
        return {str(name): plain(value) for name, value in config.items()}
    if isinstance(config, (list, tuple)):
        return [plain(value) for value in config]
    if isinstance(config, (float, np.floating)):
        return float(f"{config:.9g}")
    return config if isinstance(config, (int, str, bool, type(None))) else str(config)


def smooth(config: Any) -> float:
    """A height that a search can climb where the config has numbers."""
    if not isinstance(config, dict):
        return number(config)
    numbers = [float(value) for value in config.values() if isinstance(value, (int, float))]
    return math.exp(-sum((value - 0.3) ** 2 for value in numbers) / 4) * (0.9 + 0.1 * number(config))


def curve(pull: ma.Pull) -> float | None:
    """A learning curve that rises; one config in twenty fails."""
    if number(config_of(pull)) < 0.05:
        return None
    return smooth(pull.config) * (1 - math.exp(-pull.stop / 4))


def turning(pull: ma.Pull) -> float | None:
    """A learning curve that rises and falls again."""
    peak = 2 + 6 * number(config_of(pull))
    return smooth(pull.config) - 0.02 * (pull.stop - peak) ** 2


def repeated(pull: ma.Pull) -> float | None:
    """Repeated measurements of one value in [0, 1]."""
    rng = np.random.default_rng([int(number(config_of(pull)) * 2**31), pull.stop])
    return float(np.clip(smooth(pull.config) + rng.normal(0, 0.2), 0, 1))


def config_of(pull: ma.Pull) -> Any:
    return pull.config if isinstance(pull.config, dict) else str(pull.config)


REWARDS: dict[str, Callable[[ma.Pull], float | None]] = {"rising": curve, "turning": turning, "repeated": repeated}


def searches() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Each search by name, with a function that makes its strategy."""
    for kind, settings in ON_ANY_SPACE.items():
        for where, space in SPACES.items():
            for budget in (150, 600):
                if where == "networks" and budget == 600:
                    continue
                yield (
                    f"{kind} {where} {budget}",
                    lambda k=kind, s=space, b=budget, o=settings: getattr(ma, k)(s, budget=b, seed=3, **o),
                )
    for kind, settings in ON_THE_CUBE.items():
        yield f"{kind} cube 200", lambda k=kind, o=settings: getattr(ma, k)(CUBE, budget=200, seed=4, **o)
    makers = {
        "ERUCB": lambda: pickers.ERUCB(theta=0.01, gamma=20.0, beta=4.0),
        "ExtremeUCB": pickers.ExtremeUCB,
        "UCB1": pickers.UCB1,
        "EpsilonGreedy": lambda: pickers.EpsilonGreedy(0.2),
        "Softmax": lambda: pickers.Softmax(0.1),
        "Uniform": pickers.Uniform,
    }
    for name, make in makers.items():
        yield f"Cascade {name}", lambda m=make: ma.Cascade(children(), m(), budget=300, seed=5)


def children() -> dict[str, Any]:
    return {
        "mutants": ma.MutantUCB(FLAT, budget=150, max_steps=5, seed=1),
        "adaptive": ma.AdaptiveMutantUCB(NESTED, budget=150, max_steps=5, seed=2),
        "random": ma.RandomSearch(TINY, budget=150, seed=3),
    }


def decisions(strategy: Any, reward: Callable[[ma.Pull], float | None], workers: int) -> tuple[int, str, str]:
    """Play the strategy with `workers` pulls in flight, reported in a fixed mixed order, and hash what it does."""
    pulls, best, waiting = hashlib.blake2b(digest_size=8), hashlib.blake2b(digest_size=8), []
    n = 0
    while True:
        while len(waiting) < workers and (pull := strategy.ask()) is not None:
            waiting.append(pull)
        if not waiting:
            return n, pulls.hexdigest(), best.hexdigest()
        pull = waiting.pop((7 * n) % len(waiting))
        value = reward(pull)
        row = [pull.arm.id, list(pull.arm.parents), plain(config_of(pull)), pull.start, pull.stop, value]
        pulls.update(json.dumps(row, sort_keys=True).encode())
        strategy.tell(pull, value)
        n += 1
        if n % 10 == 0:
            try:
                best.update(str(strategy.best().id).encode())
            except ma.NoResult:
                best.update(b"-")


def main() -> None:
    for name, make in searches():
        for kind, reward in REWARDS.items():
            for workers in (1, 4):
                n, pulls, best = decisions(make(), reward, workers)
                print(f"{name:34} {kind:9} {workers} {n:6} {pulls} {best}", flush=True)


if __name__ == "__main__":
    main()
