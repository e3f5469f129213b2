"""The methods of a race: the strategies of this library, and other libraries through one small adapter each."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import metadata
from typing import Any

from ... import strategies
from ...strategies import DEFAULT_STRATEGY
from ...version import __version__
from .charged_problem import ChargedProblem, SearchEnded


@dataclass(frozen=True)
class Method:
    """One way to search.

    Attributes:
        name: Name in tables and plots.
        search: Trains configurations of a charged problem until `train` raises `SearchEnded`.
        anytime: Whether one run is measured at every mark. Otherwise its settings depend on the budget, and there is one run
            for each mark.
        needs: Packages that must be installed, that of the other library first.
        suits: Whether the method can search a space.
        load: Imports the other library, which takes seconds. Call it before making the charged problem, which starts a clock.
    """

    name: str
    search: Callable[[ChargedProblem], None] = field(repr=False)
    anytime: bool = True
    needs: tuple[str, ...] = ()
    suits: Callable[[Any], bool] = field(default=lambda space: True, repr=False)
    load: Callable[[], None] = field(default=lambda: None, repr=False)

    @property
    def missing(self) -> list[str]:
        """Packages that are not installed."""
        return [package for package in self.needs if importlib.util.find_spec(package) is None]

    @property
    def version(self) -> str:
        """Version of the library that it belongs to."""
        return _version(self.needs[0]) if self.needs else __version__


@cache
def _version(package: str) -> str:
    """Version of the distribution that contains a package."""
    return metadata.version(metadata.packages_distributions().get(package, [package])[0])


def search(method: Method, problem: ChargedProblem) -> None:
    """Search until the budget of the problem is spent, or the method has nothing more to try."""
    try:
        method.search(problem)
    except SearchEnded:
        return
    problem.finish()


def _ours(make: Callable[..., Any]) -> Callable[[ChargedProblem], None]:
    """The search of a strategy of this library."""

    def search_with_strategy(charged: ChargedProblem) -> None:
        problem = charged.problem
        strategy = make(problem.space, budget=charged.budget, max_steps=problem.max_steps, seed=charged.seed)
        charged.recommend = lambda: strategy.best().config
        while (pull := strategy.ask()) is not None:
            strategy.tell(pull, charged.train(pull.config, pull.stop))

    return search_with_strategy


def _infinite_ucb_e(space: Any, budget: int, **settings: Any) -> strategies.InfiniteUCBE:
    """With more arms than the theory uses, because its few arms are too few to choose from."""
    return strategies.InfiniteUCBE(space, budget=budget, initial=max(1, budget // 10), exploration=0.05, **settings)


def _steady_state_ea(space: Any, **settings: Any) -> strategies.SteadyStateEA:
    """Without crossover in spaces that do not support it."""
    return strategies.SteadyStateEA(space, mutation_only=not hasattr(space, "crossover"), **settings)


def _encodes(space: Any) -> bool:
    return hasattr(space, "encode") and hasattr(space, "decode")


OURS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(DEFAULT_STRATEGY, _ours(strategies.AdaptiveMutantUCB)),
        Method("MutantUCB", _ours(strategies.MutantUCB), anytime=False),  # its default K depends on the budget: T / 20
        Method("InfiniteUCBE", _ours(_infinite_ucb_e), anytime=False),
        Method("DTTTS", _ours(strategies.DTTTS)),
        Method("Hyperband", _ours(strategies.Hyperband)),
        Method("SuccessiveHalving", _ours(strategies.SuccessiveHalving)),
        Method("ASHA", _ours(strategies.ASHA)),
        Method("SteadyStateEA", _ours(_steady_state_ea), anytime=False),
        Method("TreeUCB", _ours(strategies.TreeUCB), suits=_encodes),
        Method("Harmonica", _ours(strategies.Harmonica), anytime=False, suits=_encodes),
        Method("Harmonica-h", _ours(partial(strategies.Harmonica, base="hyperband")), anytime=False, suits=_encodes),
        Method("RandomSearch", _ours(strategies.RandomSearch)),
    )
}
"""The strategies of this library, by name."""


def methods() -> dict[str, Method]:
    """All methods by name: our strategies, then the peers."""
    from .peers import PEERS  # here, because it imports this module

    return OURS | PEERS
