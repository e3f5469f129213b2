"""Harmonica: learn from random arms which few bits of a config matter, fix them at their best values, and search the rest.

Hazan, Klivans and Yuan, "Hyperparameter Optimization: A Spectral Approach", 2017, algorithm 3.
"""

from __future__ import annotations

from typing import Any

from ... import checks
from ...core import Pull
from ..hyperband import ladders
from ..kit.bracket import Ladder, halvings
from ..kit.brackets import BracketStrategy, spares
from ..kit.ledger import Ledger, State
from ..kit.phase import Phase
from ..kit.settings import remember_settings
from .binary_code import BinaryCode
from .sparse_polynomial import samples_needed
from .stages import Stages, shares


class Harmonica(BracketStrategy):
    """Fixes the bits of a config that matter most, stage by stage, then searches among the remaining configs.

    In each stage random arms are fully trained. A sparse polynomial of the bits of their configs is fitted to their rewards,
    and its bits are fixed at their best values. After the last stage, the remaining configs are searched at random or by
    `Hyperband`.

    Bits are those of a `BinaryCode`: by default two for each number, for the upper half and the middle half of its range. A
    failed arm counts as the worst of its stage. While the last rewards of a stage are in flight, more arms are drawn as before.
    Rewards that arrive after the end of their stage are results like any other, but do not count for a polynomial. Once all
    remaining configs are known, the bits that were fixed last become free again, and so on.

    Args:
        space: Makes the arms; it must encode its configs.
        budget: Total number of steps; None runs until the study stops it.
        max_steps: Steps of each arm; with `base="hyperband"`, of the arms that reach the last rung.
        stages: How often bits are fixed.
        samples: Number of random arms in each stage. By default the stages get half of the budget. There are fewer stages if
            each would have less than 15 samples, and none below 30 trainings. Without a budget, as many samples as such a
            polynomial needs.
        degree: The most bits in one product. Reduced if there are too few samples to distinguish that many products.
        monomials: The most products in one polynomial.
        keep: How many of the best assignments of the bits are kept (t in the paper); each arm gets one of them.
        bits: Bits of each number. The bits of a choice follow from its number of options.
        base: "random" or "hyperband": the search after the stages.
        eta: With `base="hyperband"`: one of `eta` arms is promoted at each rung.
        seed: Random seed. The same seed gives the same search.

    >>> from manyarms import Choice, Harmonica, Space
    >>> search = Harmonica(Space(**{name: Choice(-1, 1) for name in "abcdefghijkl"}), budget=300, seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, pull.config["a"] - 2 * pull.config["b"] * pull.config["c"])
    >>> list(search.polynomials()[0])
    [('b/1', 'c/1'), ('a/1',)]
    """

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
        ledger = Ledger(space, budget, max_steps, seed)
        self._code = BinaryCode(ledger.space, checks.whole("bits", bits, 1))
        needed = samples_needed(len(self._code.names), degree, monomials)
        self.stages, self.samples = shares(None if budget is None else budget // max_steps, stages, needed)
        if samples is not None:
            self.stages, self.samples = stages, checks.whole("samples", samples, 2)
        self._stages = Stages(ledger, self._code, self.stages, self.samples, degree, monomials, keep)
        self._full_training = Ladder.of(1, 0, max_steps, eta)
        turns, smaller = [self._full_training], list[Ladder]()
        if checks.one_of("base", base, ("random", "hyperband")) == "hyperband":
            turns, smaller = ladders(max_steps, eta), spares(halvings(max_steps, eta), max_steps, eta)
        draw = self._stages.draw if self.stages else None  # without stages it is exactly its base search
        super().__init__(ledger, turns, smaller, draw)

    def ask(self) -> Pull | None:
        if self._stages.over:
            return super().ask()
        return self._start(self._full_training) if self._fits(self._full_training) else None

    def tell(self, pull: Pull, reward: float | None) -> None:
        settled = self._settle(pull, reward)
        if not settled.repeated:
            self._stages.learn(pull.arm.id, settled.reward)

    def polynomials(self) -> list[dict[tuple[str, ...], float]]:
        """The polynomial of each stage that has ended: products of bits and their coefficients, largest first.

        Coefficients are for rewards with standard deviation 1. The first bit of `lr` is `lr/1`, which is 1 in the upper half of
        its range and -1 in the lower half.
        """
        names, found = self._code.names, self._stages.polynomials
        return [{tuple(names[bit] for bit in bits): number for bits, number in terms.items()} for terms in found]

    def plan(self) -> list[Phase]:
        budget, steps = self.ledger.budget, self.samples * self.max_steps
        covered = self.stages if budget is None or not steps else min(self.stages, budget // steps)
        stages = [Phase(f"stage {stage}: random arms, fully trained", self.samples, steps) for stage in range(1, covered + 1)]
        return stages + self._plan(None if budget is None else budget - covered * steps)

    def warning(self) -> str | None:
        """Whether no bits were fixed, and why."""
        found = self._stages.polynomials
        if not self.stages:
            return "The budget was too small for a stage, so no bits were fixed. Raise the budget, or lower max_steps."
        if found and not any(found):
            return f"No product of bits predicted the rewards of the {len(found)} stages, so no bits were fixed."
        return None

    def state(self) -> State:
        return {**super().state(), "stages": self._stages.state()}

    def load(self, state: State) -> None:
        super().load(state)
        self._stages.load(state["stages"])
