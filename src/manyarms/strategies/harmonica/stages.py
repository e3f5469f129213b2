"""Stages of a search that fixes bits: each learns from random arms which bits matter, and leaves the others free.

Hazan, Klivans and Yuan, "Hyperparameter Optimization: A Spectral Approach", 2017, algorithm 3.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import Arm
from ..kit.ledger import MAX_DRAWS, Ledger, State
from .binary_code import BinaryCode, Restriction
from .sparse_polynomial import Monomial, Signs, best_assignments, learned

_FEWEST = 15  # samples that a stage can learn something from


def shares(trainings: int | None, stages: int, needed: int) -> tuple[int, int]:
    """How many stages there are, and the samples of each: together half of the trainings, where these are limited.

    >>> shares(200, stages=3, needed=60), shares(50, stages=3, needed=60), shares(15, stages=3, needed=60)
    ((3, 33), (1, 25), (0, 0))
    """
    if trainings is None:
        return stages, max(_FEWEST, needed)
    half = trainings // 2
    stages = min(stages, half // _FEWEST)
    return stages, half // stages if stages else 0


class Stages:
    """Draws arms and learns their rewards. When a stage has as many as it needs, bits are fixed, and the next one begins.

    Args:
        ledger: of the search.
        code: of its space.
        stages, samples: how many stages, and rewards in each.
        degree, monomials, keep: as in `Harmonica`.
    """

    def __init__(
        self, ledger: Ledger, code: BinaryCode, stages: int, samples: int, degree: int, monomials: int, keep: int
    ) -> None:
        self._ledger, self._code = ledger, code
        self._stages, self._samples = stages, samples
        self._degree, self._monomials, self._keep = degree, monomials, keep
        self.polynomials: list[dict[Monomial, float]] = []  # by stage that has ended
        self._restrictions: list[Restriction] = []
        self._free = list(range(len(code.names)))
        self._signs: dict[int, Signs] = {}  # by arm of this stage: its bits
        self._rewards: dict[int, float] = {}  # of those told; NaN if it failed

    @property
    def over(self) -> bool:
        """Whether all stages have ended, or no bit is free."""
        return len(self.polynomials) >= self._stages or not self._free

    def draw(self) -> Arm:
        """A new random arm within what is left of the space; its config is one that is not known, if there is one."""
        signs, config = self._found()
        arm = self._ledger.add(config)
        if not self.over:
            self._signs[arm.id] = signs
        return arm

    def _found(self) -> tuple[Signs, Any]:
        """Where all that is left is known, the bits that were fixed last are free again, and so on."""
        for fixed in range(len(self._restrictions), -1, -1):
            for _ in range(MAX_DRAWS):
                signs, config = self._code.draw(self._restrictions[:fixed], self._ledger.rng)
                if not self._ledger.knows(config):
                    return signs, config
        return signs, config

    def learn(self, arm: int, reward: float | None) -> None:
        """Learn the result of a pull of this stage; None means that it failed. Arms of earlier stages are ignored."""
        if arm not in self._signs:
            return
        self._rewards[arm] = math.nan if reward is None else reward
        if len(self._rewards) >= self._samples:
            self._end()

    def _end(self) -> None:
        """Fix the bits of this stage's polynomial. Arms that are in flight still do not count for the next."""
        arms = sorted(self._rewards)
        signs, rewards = np.array([self._signs[arm] for arm in arms]), np.array([self._rewards[arm] for arm in arms])
        polynomial = learned(signs, rewards, self._free, self._degree, self._monomials)
        self.polynomials.append(polynomial)
        if polynomial:
            self._fix(Restriction(*best_assignments(polynomial, self._keep)))
        self._signs, self._rewards = {}, {}

    def _fix(self, restriction: Restriction) -> None:
        self._restrictions.append(restriction)
        self._free = [bit for bit in self._free if bit not in restriction.bits]

    def state(self) -> State:
        """The polynomials, the bits that are fixed, and this stage's arms."""
        return {
            "polynomials": [[[list(bits), number] for bits, number in terms.items()] for terms in self.polynomials],
            "fixed": [[restriction.bits, restriction.rows.tolist()] for restriction in self._restrictions],
            "arms": np.array(list(self._signs), dtype=np.int64),
            "signs": np.array(list(self._signs.values()), dtype=np.int8).reshape(-1),
            "told": np.array(list(self._rewards), dtype=np.int64),
            "rewards": np.array(list(self._rewards.values()), dtype=float),
        }

    def load(self, state: State) -> None:
        """Take back what `state` gave."""
        self.polynomials = [{tuple(bits): number for bits, number in terms} for terms in state["polynomials"]]
        self._restrictions, self._free = [], list(range(len(self._code.names)))
        for bits, rows in state["fixed"]:
            self._fix(Restriction(bits, np.array(rows, dtype=np.int8)))
        arms = state["arms"].tolist()
        self._signs = dict(zip(arms, state["signs"].reshape(len(arms), len(self._code.names)), strict=True))
        self._rewards = dict(zip(state["told"].tolist(), state["rewards"].tolist(), strict=True))
