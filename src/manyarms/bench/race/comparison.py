"""Compares AdaptiveMutantUCB with the best peer: whether it is ahead, and how soon it is as good."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...strategies import DEFAULT_STRATEGY
from .standings import Estimate, Standings
from .text_table import NOTHING, TextTable, number, plus_minus

_QUALITY_MARK = 100  # full trainings of the best rival, whose regret is to be reached


@dataclass(frozen=True, slots=True)
class Comparison:
    """Regrets of the best rival and of our default strategy at one mark.

    Attributes:
        rival: Name of the best rival.
        theirs: Regret of the rival.
        ours: Regret of our default strategy.
        lead: Regret of the rival minus ours.
    """

    rival: str
    theirs: Estimate
    ours: Estimate
    lead: Estimate

    @property
    def result(self) -> str:
        """Either "ahead" or "behind" by more than one standard error, or "tied". With one seed, any difference counts."""
        error = 0.0 if math.isnan(self.lead.error) else self.lead.error
        if abs(self.lead.mean) <= error + 1e-9:
            return "tied"
        return "ahead" if self.lead.mean > 0 else "behind"


def rivals(standings: Standings) -> list[str]:
    """The peers; without peers, our other strategies."""
    peers = [name for name in standings.methods if name in standings.peers]
    return peers or [name for name in standings.methods if name != DEFAULT_STRATEGY]


def best_rival(standings: Standings, mark: int) -> tuple[str, Estimate] | None:
    """The rival with the smallest mean regret, among those that reached the mark on every problem."""
    found = {name: standings.estimate(name, mark) for name in rivals(standings)}
    known = {name: estimate for name, estimate in found.items() if not math.isnan(estimate.mean)}
    return min(known.items(), key=lambda item: item[1].mean) if known else None


def compare(standings: Standings, mark: int) -> Comparison | None:
    """The comparison with the best rival at a mark; None if there is nothing to compare."""
    best, ours = best_rival(standings, mark), standings.estimate(DEFAULT_STRATEGY, mark)
    if best is None or math.isnan(ours.mean):
        return None
    return Comparison(best[0], best[1], ours, standings.difference(best[0], DEFAULT_STRATEGY, mark))


def reached_after(standings: Standings, regret: float) -> int | None:
    """The first mark at which our mean regret is at most this large; None if there is none."""
    reached = (mark for mark in standings.marks if standings.estimate(DEFAULT_STRATEGY, mark).mean <= regret + 1e-9)
    return next(reached, None)


def comparison_table(standings: Standings, marks: Sequence[int]) -> TextTable:
    """The comparison over all problems, with a row for each mark."""
    lines, best = [], set()
    for place, mark in enumerate(marks):
        found = compare(standings, mark)
        if found is None:
            lines.append((str(mark), *[NOTHING] * 5))
            continue
        theirs, ours, lead = (plus_minus(part.mean, part.error) for part in (found.theirs, found.ours, found.lead))
        lines.append((str(mark), found.rival, theirs, ours, lead, found.result))
        best |= {(place, 5)} if found.result == "ahead" else set()
    columns = ("full trainings", _rival_kind(standings), "its regret", DEFAULT_STRATEGY, "ahead by", "result")
    note = "tied: the difference is at most one standard error, computed over seeds."
    note = note if standings.n_seeds > 1 else "With one seed there is no standard error: any difference counts."
    title = f"{DEFAULT_STRATEGY} compared with the {_rival_kind(standings)}"
    return TextTable(title, columns, lines, frozenset(best), note=note, left=2)


def family_table(groups: Mapping[str, Standings], marks: Sequence[int]) -> TextTable:
    """The result of the comparison in each family. The rival is named where ours is behind."""
    lines, best = [], set()
    for place, (name, standings) in enumerate(groups.items()):
        found = [compare(standings, mark) for mark in marks]
        lines.append((name, *(_cell(part) for part in found)))
        best |= {(place, at + 1) for at, part in enumerate(found) if part is not None and part.result == "ahead"}
    rival = _rival_kind(next(iter(groups.values())))
    title, columns = f"Result by family (with the {rival} in each)", ("full trainings", *map(str, marks))
    return TextTable(title, columns, lines, frozenset(best), sections=frozenset({len(lines) - 2}))


def _cell(found: Comparison | None) -> str:
    if found is None:
        return NOTHING
    return f"behind {found.rival}" if found.result == "behind" else found.result


def reach_table(groups: Mapping[str, Standings], marks: Sequence[int]) -> TextTable:
    """After how many full trainings our regret is as small as that of the best rival after 100."""
    mark = _QUALITY_MARK if _QUALITY_MARK in marks else marks[-1]
    lines = []
    for name, standings in groups.items():
        best = best_rival(standings, mark)
        if best is None:
            lines.append((name, NOTHING, NOTHING, NOTHING))
            continue
        after = reached_after(standings, best[1].mean)
        lines.append((name, best[0], number(best[1].mean), f"not by {marks[-1]}" if after is None else str(after)))
    rival = _rival_kind(next(iter(groups.values())))
    title = f"When {DEFAULT_STRATEGY} reaches the regret of the {rival} after {mark} full trainings"
    return TextTable(title, ("", rival, "its regret", "reached after"), lines, sections=frozenset({len(lines) - 2}), left=2)


def _rival_kind(standings: Standings) -> str:
    return "best peer" if standings.peers else "best other strategy"
