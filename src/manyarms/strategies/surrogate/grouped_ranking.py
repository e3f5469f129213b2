"""Arms ranked within groups whose indices shift together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..kit.ledger import State
from ..kit.ranking import Ranking


class GroupedRanking:
    """One `Ranking` for each group. What is added to all indices of a group is given with each question.

    So a correction that applies to a whole group, such as the gain still expected from a step on, costs O(1) instead of a new
    index for each arm.

    Args:
        groups: Number of groups.
    """

    def __init__(self, groups: int) -> None:
        self._rankings = [Ranking() for _ in range(groups)]

    def put(self, arm: int, group: int, index: float, tie: float) -> None:
        """Rank the arm within the group. Among equal indices the smallest `tie`, a random number, comes first."""
        self._rankings[group].put(arm, index, tie)

    def drop(self, arm: int, group: int) -> None:
        """Remove the arm from the group, if it is ranked there."""
        self._rankings[group].drop(arm)

    def leader(self, groups: Iterable[int], corrections: Sequence[float]) -> tuple[float, int] | None:
        """The largest corrected index in these groups, and its arm; None if they are empty. At a tie the first group wins."""
        best = None
        for group in groups:
            if (leader := self._rankings[group].leader()) is not None:
                index = leader[0] + corrections[group]
                if best is None or index > best[0]:
                    best = index, leader[1]
        return best

    def arms(self, groups: Iterable[int]) -> list[int]:
        """All arms of these groups."""
        return [arm for group in groups for arm in self._rankings[group].arms()]

    def clear(self) -> list[int]:
        """Remove all arms and return them."""
        arms = self.arms(range(len(self._rankings)))
        for ranking in self._rankings:
            ranking.clear()
        return arms

    def state(self) -> list[State]:
        """The state of each group's ranking."""
        return [ranking.state() for ranking in self._rankings]

    def load(self, state: list[State]) -> None:
        """Restore what `state` returned."""
        for ranking, part in zip(self._rankings, state, strict=True):
            ranking.load(part)
