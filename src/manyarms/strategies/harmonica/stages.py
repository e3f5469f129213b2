"""Stages of a search that fixes bits: each stage learns from random arms which bits matter, and leaves the others free.

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

_MIN_SAMPLES = 15  # the fewest samples in a stage


def shares(trainings: int | None, stages: int, needed: int) -> tuple[int, int]:
    """The number of stages, and the samples in each. If trainings are limited, the stages get half of them.

    >>> shares(200, stages=3, needed=60), shares(50, stages=3, needed=60), shares(15, stages=3, needed=60)
    ((3, 33), (1, 25), (0, 0))
    """
    if trainings is None:
        return stages, max(_MIN_SAMPLES, needed)
    half = trainings // 2
    stages = min(stages, half // _MIN_SAMPLES)
    return stages, half // stages if stages else 0


class Stages:
    """Draws arms and learns their rewards. When a stage has enough rewards, bits are fixed, and the next stage starts.

    Args:
        ledger: The ledger of the strategy.
        code: The binary code of its space.
        stages, samples: The number of stages, and of rewards in each.
        degree, monomials, keep: As in `Harmonica`.
    """

    def __init__(
        self, ledger: Ledger, code: BinaryCode, stages: int, samples: int, degree: int, monomials: int, keep: int
    ) -> None:
        self._ledger, self._code = ledger, code
        self._stages, self._samples = stages, samples
        self._degree, self._monomials, self._keep = degree, monomials, keep
        self.polynomials: list[dict[Monomial, float]] = []  # of each stage that has ended
        self._restrictions: list[Restriction] = []
        self._free = list(range(len(code.names)))
        self._signs: dict[int, Signs] = {}  # the bits of each arm of this stage
        self._rewards: dict[int, float] = {}  # their rewards so far; NaN if the arm failed

    @property
    def over(self) -> bool:
        """Whether all stages have ended, or no bit is free."""
        return len(self.polynomials) >= self._stages or not self._free

    def draw(self) -> Arm:
        """A new random arm with the bits that are fixed. No other arm has its config, unless the space is exhausted."""
        signs, config = self._new_config()
        arm = self._ledger.add(config)
        if not self.over:
            self._signs[arm.id] = signs
        return arm

    def _new_config(self) -> tuple[Signs, Any]:
        """The bits and config of a new arm. If all configs are known, the bits fixed last become free again, and so on."""
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
        """Fix the bits of this stage's polynomial. Arms that are still in flight do not count for the next stage."""
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
        """The polynomials, the fixed bits, and the arms of this stage."""
        return {
            "polynomials": [[[list(bits), number] for bits, number in terms.items()] for terms in self.polynomials],
            "fixed": [[restriction.bits, restriction.rows.tolist()] for restriction in self._restrictions],
            "arms": np.array(list(self._signs), dtype=np.int64),
            "signs": np.array(list(self._signs.values()), dtype=np.int8).reshape(-1),
            "told": np.array(list(self._rewards), dtype=np.int64),
            "rewards": np.array(list(self._rewards.values()), dtype=float),
        }

    def load(self, state: State) -> None:
        """Restore what `state` returned."""
        self.polynomials = [{tuple(bits): number for bits, number in terms} for terms in state["polynomials"]]
        self._restrictions, self._free = [], list(range(len(self._code.names)))
        for bits, rows in state["fixed"]:
            self._fix(Restriction(bits, np.array(rows, dtype=np.int8)))
        arms = state["arms"].tolist()
        self._signs = dict(zip(arms, state["signs"].reshape(len(arms), len(self._code.names)), strict=True))
        self._rewards = dict(zip(state["told"].tolist(), state["rewards"].tolist(), strict=True))
