"""Other libraries that race, each through one small adapter, imported only when it runs.

An adapter trains what its library asks for until the track raises `Finished`. All start from the seed of the track, and all pay
for a step once: a config that its library trains again from scratch goes on where it stopped.
"""

from __future__ import annotations

import importlib
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ....spaces import Space
from ..entrants import Entrant
from ..track import Track


def _peer(name: str, module: str, function: str, *needs: str, anytime: bool = True) -> Entrant:
    """An entrant whose search is a function of an adapter beside this file."""

    def load() -> Any:
        for package in needs:
            importlib.import_module(package)
        return importlib.import_module(f"{__name__}.{module}")

    def search(track: Track) -> None:
        adapter = load()
        with _alone(track.seed):
            getattr(adapter, function)(track)

    return Entrant(name, search, anytime, needs, suits=_is_flat, load=load)


def _is_flat(space: Any) -> bool:
    """Whether it is made of numbers and choices, as all peers want it."""
    return isinstance(getattr(space, "around", space), Space)


@contextmanager
def _alone(seed: int) -> Iterator[None]:
    """Seed the global generators, which some libraries draw from, leave them as they were, and show no warnings."""
    state, numpy_state = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(state)
        np.random.set_state(numpy_state)


_ENTRANTS = [
    _peer("Optuna random", "optuna", "random", "optuna"),
    _peer("Optuna TPE", "optuna", "tpe", "optuna"),
    _peer("Optuna TPE + Hyperband", "optuna", "hyperband", "optuna"),
    _peer("Optuna GP", "optuna", "gp", "optuna", "torch"),
    _peer("SMAC3", "smac", "search", "smac"),
    _peer("DEHB", "dehb", "search", "dehb"),
    _peer("Syne Tune ASHA", "syne_tune", "asha", "syne_tune"),
    _peer("Syne Tune BOHB", "syne_tune", "bohb", "syne_tune"),
    _peer("Hyperopt TPE", "hyperopt", "tpe", "hyperopt"),
    _peer("Nevergrad NGOpt", "nevergrad", "ngopt", "nevergrad", anytime=False),
    _peer("sklearn halving", "sklearn", "halving", "sklearn"),
]

PEERS = {entrant.name: entrant for entrant in _ENTRANTS}
"""By name in tables."""
