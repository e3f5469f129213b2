"""scikit-learn: successive halving of random configs, repeated with new ones."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.experimental import enable_halving_search_cv as enable_halving_search_cv  # the next import needs it
from sklearn.model_selection import HalvingRandomSearchCV

from ....spaces import Space
from ..charged_problem import ChargedProblem
from .common import ETA

_ROWS = np.arange(2)  # dummy data


def halving(charged: ChargedProblem) -> None:
    """Search with `HalvingRandomSearchCV`, with steps as the resource.

    It reaches `max_steps` only if that is a power of eta. A failed training run scores NaN, which scikit-learn ranks last.
    """
    space = getattr(charged.problem.space, "around", charged.problem.space)

    class Model(BaseEstimator):  # type: ignore[misc]
        """A config and its steps. The class is local because scikit-learn would copy a charged problem passed to it."""

        def __init__(self, config: Any = None, steps: int = 1) -> None:
            self.config, self.steps = config, steps

        def fit(self, X: Any, y: Any) -> Any:
            return self

        def score(self, X: Any, y: Any) -> float:
            reward = charged.train(self.config, int(self.steps))
            return math.nan if reward is None else reward

    for number in itertools.count():
        search = HalvingRandomSearchCV(
            Model(),
            {"config": _Configs(space)},
            resource="steps",
            max_resources=charged.problem.max_steps,
            factor=ETA,
            cv=[(_ROWS, _ROWS)],
            refit=False,
            return_train_score=False,
            error_score="raise",  # otherwise it would treat the end of the search as a failure
            random_state=int(np.random.SeedSequence([charged.seed, number]).generate_state(1)[0]),
        )
        search.fit(_ROWS[:, None], _ROWS)


class _Configs:
    """The space as a distribution of scikit-learn."""

    def __init__(self, space: Space) -> None:
        self._space = space

    def rvs(self, random_state: np.random.RandomState) -> dict[str, Any]:
        """A random config."""
        return self._space.sample(np.random.default_rng(random_state.randint(2**31)))
