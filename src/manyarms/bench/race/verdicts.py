"""Is AdaptiveMutantUCB ahead of the best peer, and how soon is it as good?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .entrants import CHAMPION
from .sheets import NOTHING, Sheet, number, plus_minus
from .standings import Estimate, Standings

_QUALITY_AT = 100  # full trainings of the best rival, that ours is to reach sooner


@dataclass(frozen=True, slots=True)
class Verdict:
    """Against the best rival after so many full trainings; `ahead` is its regret less ours."""

    rival: str
    theirs: Estimate
    ours: Estimate
    ahead: Estimate

    @property
    def word(self) -> str:
        """Ahead or behind, where it is by more than one standard error; else tied. With one seed, any difference counts."""
        error = 0.0 if math.isnan(self.ahead.error) else self.ahead.error
        if abs(self.ahead.mean) <= error + 1e-9:
            return "tied"
        return "ahead" if self.ahead.mean > 0 else "behind"


def rivals(standings: Standings) -> list[str]:
    """The peers; where none takes part, our other strategies."""
    peers = [name for name in standings.entrants if name in standings.peers]
    return peers or [name for name in standings.entrants if name != CHAMPION]


def best_rival(standings: Standings, mark: int) -> tuple[str, Estimate] | None:
    """The one with the smallest mean regret, of those that were in time on every problem."""
    found = {name: standings.estimate(name, mark) for name in rivals(standings)}
    known = {name: estimate for name, estimate in found.items() if not math.isnan(estimate.mean)}
    return min(known.items(), key=lambda item: item[1].mean) if known else None


def verdict(standings: Standings, mark: int) -> Verdict | None:
    """Against the best rival at a mark; None where there is nobody to compare with."""
    best, ours = best_rival(standings, mark), standings.estimate(CHAMPION, mark)
    if best is None or math.isnan(ours.mean):
        return None
    return Verdict(best[0], best[1], ours, standings.difference(best[0], CHAMPION, mark))


def reached_after(standings: Standings, quality: float) -> int | None:
    """The first mark at which our mean regret is no larger than this; None where there is none."""
    reached = (mark for mark in standings.marks if standings.estimate(CHAMPION, mark).mean <= quality + 1e-9)
    return next(reached, None)


def verdict_table(standings: Standings, marks: Sequence[int]) -> Sheet:
    """Over all problems, mark by mark."""
    lines, best = [], set()
    for place, mark in enumerate(marks):
        found = verdict(standings, mark)
        if found is None:
            lines.append((str(mark), *[NOTHING] * 5))
            continue
        theirs, ours = (plus_minus(part.mean, part.error) for part in (found.theirs, found.ours))
        lines.append((str(mark), found.rival, theirs, ours, plus_minus(found.ahead.mean, found.ahead.error), found.word))
        best |= {(place, 5)} if found.word == "ahead" else set()
    columns = ("full trainings", _who(standings), "its regret", CHAMPION, "ahead by", "verdict")
    note = "tied: within one standard error of the difference, seed by seed."
    note = note if standings.n_seeds > 1 else "One seed has no standard error: any difference counts."
    return Sheet(f"{CHAMPION} against the {_who(standings)}", columns, lines, frozenset(best), note=note, left=2)


def family_table(groups: Mapping[str, Standings], marks: Sequence[int]) -> Sheet:
    """The same in a word for each family; the rival is named where ours is behind."""
    lines, best = [], set()
    for place, (name, standings) in enumerate(groups.items()):
        found = [verdict(standings, mark) for mark in marks]
        lines.append((name, *(_cell(part) for part in found)))
        best |= {(place, at + 1) for at, part in enumerate(found) if part is not None and part.word == "ahead"}
    who = _who(next(iter(groups.values())))
    title, columns = f"The same by family ({who} in each)", ("full trainings", *map(str, marks))
    return Sheet(title, columns, lines, frozenset(best), sections=frozenset({len(lines) - 2}))


def _cell(found: Verdict | None) -> str:
    if found is None:
        return NOTHING
    return f"behind {found.rival}" if found.word == "behind" else found.word


def reach_table(groups: Mapping[str, Standings], marks: Sequence[int]) -> Sheet:
    """After how many full trainings ours is as good as the best rival after a hundred."""
    mark = _QUALITY_AT if _QUALITY_AT in marks else marks[-1]
    lines = []
    for name, standings in groups.items():
        best = best_rival(standings, mark)
        if best is None:
            lines.append((name, NOTHING, NOTHING, NOTHING))
            continue
        after = reached_after(standings, best[1].mean)
        lines.append((name, best[0], number(best[1].mean), f"not by {marks[-1]}" if after is None else str(after)))
    who = _who(next(iter(groups.values())))
    title = f"When {CHAMPION} reaches the quality that the {who} has after {mark} full trainings"
    return Sheet(title, ("", who, "its regret", "reached after"), lines, sections=frozenset({len(lines) - 2}), left=2)


def _who(standings: Standings) -> str:
    return "best peer" if standings.peers else "best other"
