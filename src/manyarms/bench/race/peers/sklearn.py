"""scikit-learn: successive halving over random configs, again and again with new ones."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.experimental import enable_halving_search_cv as enable_halving_search_cv  # the next import needs it
from sklearn.model_selection import HalvingRandomSearchCV

from ....spaces import Space
from ..track import Track
from .common import ETA

_ROWS = np.arange(2)  # of data that nobody looks at


def halving(track: Track) -> None:
    """`HalvingRandomSearchCV` with steps as the resource; it never reaches `max_steps` unless that is a power of eta.

    A failure scores NaN, which scikit-learn ranks last.
    """
    space = getattr(track.problem.space, "around", track.problem.space)

    class Model(BaseEstimator):  # type: ignore[misc]
        """A config and how long it is trained. It is made here because scikit-learn would copy a track it was given."""

        def __init__(self, config: Any = None, steps: int = 1) -> None:
            self.config, self.steps = config, steps

        def fit(self, X: Any, y: Any) -> Any:
            return self

        def score(self, X: Any, y: Any) -> float:
            reward = track.train(self.config, int(self.steps))
            return math.nan if reward is None else reward

    for number in itertools.count():
        search = HalvingRandomSearchCV(
            Model(),
            {"config": _Configs(space)},
            resource="steps",
            max_resources=track.problem.max_steps,
            factor=ETA,
            cv=[(_ROWS, _ROWS)],
            refit=False,
            return_train_score=False,
            error_score="raise",  # else it would take the end of the track for a failure
            random_state=int(np.random.SeedSequence([track.seed, number]).generate_state(1)[0]),
        )
        search.fit(_ROWS[:, None], _ROWS)


class _Configs:
    """The space as what scikit-learn takes for a distribution."""

    def __init__(self, space: Space) -> None:
        self._space = space

    def rvs(self, random_state: np.random.RandomState) -> dict[str, Any]:
        """A random config."""
        return self._space.sample(np.random.default_rng(random_state.randint(2**31)))
