"""Other libraries, each through one small adapter that is imported only when it runs.

An adapter trains what its library asks for until the charged problem raises `SearchEnded`. All use the seed of the charged
problem, and all pay for a step once: a config that a library trains again from scratch continues where it stopped.
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
from ..charged_problem import ChargedProblem
from ..methods import Method


def _peer(name: str, module: str, function: str, *needs: str, anytime: bool = True) -> Method:
    """A method whose search is a function in an adapter of this package."""

    def load() -> Any:
        for package in needs:
            importlib.import_module(package)
        return importlib.import_module(f"{__name__}.{module}")

    def search(charged: ChargedProblem) -> None:
        adapter = load()
        with _seeded(charged.seed):
            getattr(adapter, function)(charged)

    return Method(name, search, anytime, needs, suits=_is_flat, load=load)


def _is_flat(space: Any) -> bool:
    """Whether a space consists of numbers and choices, which all peers can search."""
    return isinstance(getattr(space, "around", space), Space)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the global random generators, which some libraries use, and restore them afterwards. Warnings are not shown."""
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


_METHODS = [
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
    _peer("BoTorch qLogNEI", "botorch", "log_noisy_ei", "botorch"),
    _peer("NePS PriorBand", "neps", "priorband", "neps"),
    _peer("HEBO", "hebo", "search", "hebo"),
]

PEERS = {method.name: method for method in _METHODS}
"""The other libraries, by name."""
