"""Who can race: the strategies of this library, and other libraries through one small adapter each."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import metadata
from typing import Any

from ... import strategies
from ...version import __version__
from .track import Finished, Track

CHAMPION = "AdaptiveMutantUCB"
"""The strategy that the verdicts are about: the default of `tune`."""


@dataclass(frozen=True)
class Entrant:
    """One way to search.

    Attributes:
        name: in tables and plots.
        search: trains on the track until it raises `Finished`.
        anytime: read along the way; else its settings follow the budget, and it runs once for each mark.
        needs: packages of the peer, which must be installed.
        suits: whether it can search a space.
        load: imports the peer, which takes seconds; call it before making the track, whose clock runs from then on.
    """

    name: str
    search: Callable[[Track], None] = field(repr=False)
    anytime: bool = True
    needs: tuple[str, ...] = ()
    suits: Callable[[Any], bool] = field(default=lambda space: True, repr=False)
    load: Callable[[], None] = field(default=lambda: None, repr=False)

    @property
    def missing(self) -> list[str]:
        """The packages that are not installed."""
        return [package for package in self.needs if importlib.util.find_spec(package) is None]

    @property
    def version(self) -> str:
        """Of the library it comes from."""
        return _version(self.needs[0]) if self.needs else __version__


@cache
def _version(package: str) -> str:
    """Of the distribution that an importable package comes with."""
    return metadata.version(metadata.packages_distributions().get(package, [package])[0])


def run(entrant: Entrant, track: Track) -> None:
    """Search until the track is finished."""
    try:
        entrant.search(track)
    except Finished:
        return
    track.finish()  # it has nothing more to try


def _ours(make: Callable[..., Any]) -> Callable[[Track], None]:
    """A strategy of this library, at the budget of the track."""

    def search(track: Track) -> None:
        problem = track.problem
        strategy = make(problem.space, budget=track.budget, max_steps=problem.max_steps, seed=track.seed)
        track.recommend = lambda: strategy.best().config
        while (pull := strategy.ask()) is not None:
            strategy.tell(pull, track.train(pull.config, pull.stop))

    return search


def _infinite_ucb_e(space: Any, budget: int, **settings: Any) -> strategies.InfiniteUCBE:
    """With as many arms as do well in practice: the theory's few arms leave nothing to choose from."""
    return strategies.InfiniteUCBE(space, budget=budget, initial=max(1, budget // 10), exploration=0.05, **settings)


def _steady_state_ea(space: Any, **settings: Any) -> strategies.SteadyStateEA:
    """Spaces that do not cross are mutated only."""
    return strategies.SteadyStateEA(space, mutation_only=not hasattr(space, "crossover"), **settings)


def _encodes(space: Any) -> bool:
    return hasattr(space, "encode") and hasattr(space, "decode")


OURS: dict[str, Entrant] = {
    entrant.name: entrant
    for entrant in (
        Entrant(CHAMPION, _ours(strategies.AdaptiveMutantUCB)),
        Entrant("MutantUCB", _ours(strategies.MutantUCB), anytime=False),  # its own default is K = T / 20
        Entrant("InfiniteUCBE", _ours(_infinite_ucb_e), anytime=False),
        Entrant("DTTTS", _ours(strategies.DTTTS)),
        Entrant("Hyperband", _ours(strategies.Hyperband)),
        Entrant("SuccessiveHalving", _ours(strategies.SuccessiveHalving)),
        Entrant("ASHA", _ours(strategies.ASHA)),
        Entrant("SteadyStateEA", _ours(_steady_state_ea), anytime=False),
        Entrant("TreeUCB", _ours(strategies.TreeUCB), suits=_encodes),
        Entrant("Harmonica", _ours(strategies.Harmonica), anytime=False, suits=_encodes),
        Entrant("Harmonica-h", _ours(partial(strategies.Harmonica, base="hyperband")), anytime=False, suits=_encodes),
        Entrant("RandomSearch", _ours(strategies.RandomSearch)),
    )
}
"""The strategies of this library, by name."""


def entrants() -> dict[str, Entrant]:
    """All that can race, by name: ours, then the peers."""
    from .peers import PEERS  # which are made of what is above

    return OURS | PEERS
