"""Harmonica: learn from random arms which few bits of a config matter, fix them at their best, and search among the rest.

Hazan, Klivans and Yuan, "Hyperparameter Optimization: A Spectral Approach", 2017, algorithm 3.
"""

from __future__ import annotations

from typing import Any

from ... import checks
from ...core import Arm, Pull
from ..hyperband import ladders
from ..kit.bracket import Ladder, halvings
from ..kit.brackets import Brackets, spares
from ..kit.ledger import Ledger, State
from ..kit.representation import strategy_repr
from ..kit.settings import remember_settings
from ..protocol import Phase
from .binary_code import BinaryCode
from .sparse_polynomial import samples_needed
from .stages import Stages, shares


class Harmonica:
    """Train random arms to the end, find the few products of the bits of their configs that say most about their rewards, and
    fix these bits where that is best; again with what is still free; then search what is left, at random or by `Hyperband`.

    Bits are those of a `BinaryCode`: by default two for a number, the upper half and the middle half of its range. A failed arm
    is as bad as the worst of its stage. While the last rewards of a stage are in flight, more arms are drawn as before; what
    comes after its end counts as a result, but not for a polynomial. Where all configs of what is left are known, the bits that
    were fixed last are free again, and so on.

    Args:
        space: makes the arms; it must encode.
        budget: steps in all; None goes on until the study stops it.
        max_steps: steps of each arm, or of those that win.
        stages: how often bits are fixed.
        samples: random arms of each stage. By default half of the budget is for the stages, of which there are fewer where each
            would have less than 15, and none below 30 trainings; without a budget, as many as such a polynomial needs.
        degree: the most bits of one product; fewer where the samples are too few to tell so many products apart.
        monomials: the most products in one polynomial.
        keep: so many of the best ways to set the bits of a polynomial are kept (t in the paper); each arm has one of them.
        bits: of each number; those of a choice follow from its options.
        base: "random" or "hyperband": the search after the stages.
        eta: of "hyperband": of so many arms, one is promoted.
        seed: of its generator.

    >>> from manyarms import Choice, Harmonica, Space
    >>> search = Harmonica(Space(**{name: Choice(-1, 1) for name in "abcdefghijkl"}), budget=300, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, pull.config["a"] - 2 * pull.config["b"] * pull.config["c"])
    >>> list(search.polynomials()[0])
    [('b/1', 'c/1'), ('a/1',)]
    """

    settings: dict[str, Any]

    @remember_settings
    def __init__(
        self,
        space: Any,
        *,
        budget: int | None = None,
        max_steps: int = 1,
        stages: int = 3,
        samples: int | None = None,
        degree: int = 3,
        monomials: int = 5,
        keep: int = 2,
        bits: int = 2,
        base: str = "random",
        eta: int = 3,
        seed: int | None = None,
    ) -> None:
        self.max_steps = checks.whole("max_steps", max_steps, 1)
        checks.whole("degree", degree, 1), checks.whole("monomials", monomials, 1), checks.whole("keep", keep, 1)
        checks.whole("stages", stages, 1), checks.whole("eta", eta, 2)
        self.ledger = Ledger(space, budget, max_steps, seed)
        self._code = BinaryCode(self.ledger.space, checks.whole("bits", bits, 1))
        needed = samples_needed(len(self._code.names), degree, monomials)
        self.stages, self.samples = shares(None if budget is None else budget // max_steps, stages, needed)
        if samples is not None:
            self.stages, self.samples = stages, checks.whole("samples", samples, 2)
        self._stages = Stages(self.ledger, self._code, self.stages, self.samples, degree, monomials, keep)
        self._whole = Ladder.of(1, 0, max_steps, eta)
        turns, smaller = [self._whole], list[Ladder]()
        if checks.one_of("base", base, ("random", "hyperband")) == "hyperband":
            turns, smaller = ladders(max_steps, eta), spares(halvings(max_steps, eta), max_steps, eta)
        draw = self._stages.draw if self.stages else None  # without a stage it is its base search, arm for arm
        self._brackets = Brackets(self.ledger, turns, smaller, draw)

    def ask(self) -> Pull | None:
        return self._brackets.ask() if self._stages.over else self._brackets.beside(self._whole)

    def tell(self, pull: Pull, reward: float | None) -> None:
        settled = self._brackets.tell(pull, reward)
        if not settled.repeated:
            self._stages.learn(pull.arm.id, settled.reward)

    def best(self) -> Arm:
        """The arm with the best reward, however far it was trained."""
        return self._brackets.best()

    def polynomials(self) -> list[dict[tuple[str, ...], float]]:
        """What each stage that has ended found: products of bits and their coefficients, largest first, where the rewards have
        deviation 1. The first bit of `lr` is `lr/1`, which is 1 in the upper half of its range and -1 in the lower.
        """
        names, found = self._code.names, self._stages.polynomials
        return [{tuple(names[bit] for bit in bits): number for bits, number in terms.items()} for terms in found]

    def priority(self, arm: int) -> float:
        """As of `Hyperband`."""
        return self._brackets.priority(arm)

    def plan(self) -> list[Phase]:
        budget, steps = self.ledger.budget, self.samples * self.max_steps
        held = self.stages if budget is None or not steps else min(self.stages, budget // steps)
        phases = [Phase(f"stage {stage}: random arms, trained to the end", self.samples, steps) for stage in range(1, held + 1)]
        return phases + self._brackets.plan(held * steps)

    def warning(self) -> str | None:
        """Whether it was a search at random only, and why."""
        found = self._stages.polynomials
        if not self.stages:
            return "the budget was too small for a stage, so no bits were fixed: give more, or fewer steps to each arm."
        if found and not any(found):
            return f"no product of bits said anything about the rewards of {len(found)} stages, so none were fixed."
        return None

    def state(self) -> State:
        return {**self._brackets.state(), "stages": self._stages.state()}

    def load(self, state: State) -> None:
        self._brackets.load(state)
        self._stages.load(state["stages"])

    __repr__ = strategy_repr
