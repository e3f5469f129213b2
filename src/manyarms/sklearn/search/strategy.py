"""The strategy of a search: one for a single estimator, a `Cascade` for several."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ...strategies import AdaptiveMutantUCB, Cascade, strategy_factory
from ..training.candidate import Candidate
from .parameters import n_configs

_TRAININGS = 30  # full trainings in the default budget


def default_budget(candidates: Mapping[str, Candidate]) -> int:
    """The budget in steps if none is given."""
    return _TRAININGS * max(candidate.max_steps for candidate in candidates.values())


def search_strategy(
    strategy: str | Callable[..., Any] | None,
    candidates: Mapping[str, Candidate],
    spaces: Mapping[str, Any],
    budget: int | None,
    seed: int | None,
    cascade: bool,
) -> Any:
    """The strategy of a search.

    Args:
        strategy: Name of a strategy, a function that makes one, or None for the default.
        candidates: How each estimator is trained, by name. The name of a single estimator is empty.
        spaces: The space of each estimator, by name.
        budget: Number of steps; None for no limit.
        seed: Random seed.
        cascade: Whether to choose among several estimators.
    """

    def make(name: str, **settings: Any) -> Any:
        max_steps = candidates[name].max_steps
        if strategy is not None:
            return strategy_factory(strategy)(spaces[name], max_steps=max_steps, **settings)
        stop_turned = not candidates[name].is_partial
        return AdaptiveMutantUCB(spaces[name], slices=max_steps, stop_turned=stop_turned, max_steps=max_steps, **settings)

    totals = {name: _total_steps(space, candidates[name].max_steps) for name, space in spaces.items()}
    known = [steps for steps in totals.values() if steps is not None]
    limits = [] if budget is None else [budget]
    limit = min([*limits, sum(known)] if len(known) == len(totals) else limits, default=None)
    if not cascade:
        return make("", budget=limit, seed=seed)
    children = {name: make(name, budget=totals[name], seed=None) for name in spaces}
    return Cascade(children, budget=limit, seed=seed)


def _total_steps(space: Any, max_steps: int) -> int | None:
    """The steps to train every config of a space; None if there are infinitely many."""
    configs = n_configs(space)
    return None if configs == math.inf else int(configs) * max_steps
