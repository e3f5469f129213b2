"""What makes an object a space, and how its configs are stored."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .. import checks


class SpaceLike(Protocol):
    """Anything that makes configs and mutates them.

    It may also have `crossover(a, b, rng)`, `encode(config)` and `decode(vector)` and, if its configs are not JSON data,
    `to_json(config)` and `from_json(data)`.
    """

    def sample(self, rng: np.random.Generator) -> Any:
        """A random config."""

    def mutate(self, config: Any, rng: np.random.Generator) -> Any:
        """A config near this one, which must not be changed."""


def check_space(space: Any) -> Any:
    """The space, after checking that it is one."""
    for method in ("sample", "mutate"):
        if not callable(getattr(space, method, None)):
            raise TypeError(
                "space must be a Space, a dict of parameters, or an object with the methods sample(rng) and "
                f"mutate(config, rng), got {space!r} without {method}"
            )
    checks.function("space.sample", space.sample, "rng")  # fails for a class that was given instead of an object
    return space


def to_json(space: Any, config: Any) -> Any:
    """A config as JSON data."""
    return space.to_json(config) if hasattr(space, "to_json") else config


def from_json(space: Any, data: Any) -> Any:
    """The config that `to_json` wrote."""
    return space.from_json(data) if hasattr(space, "from_json") else data
