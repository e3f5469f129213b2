"""The tables of a race: regrets, ranks, the comparison with the best peer, and the time spent deciding."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from ...strategies import DEFAULT_STRATEGY
from . import comparison
from .families import FAMILIES
from .runs import TABLE_MARKS
from .standings import Standings, comparable, time_deciding
from .text_table import TextTable, number, plus_minus

EVERYTHING = "all problems"


def tables(rows: pd.DataFrame) -> Iterator[TextTable]:
    """All tables, in reading order."""
    rows = comparable(rows)
    everything = Standings.of(rows)
    marks, order, parts = table_marks(everything), method_order(everything), scopes(everything)
    for place, (name, part) in enumerate(parts.items()):
        yield regret_table(name, part, marks, order, explained=not place)
    yield rank_table(everything, marks, order)
    if DEFAULT_STRATEGY in order and len(order) > 1:
        yield comparison.comparison_table(everything, marks)
        if len(parts) > 1:
            yield comparison.family_table(parts, marks)
        yield comparison.reach_table(parts, marks)
    yield deciding_table(rows, order, everything.peers)


def table_marks(standings: Standings) -> list[int]:
    """The marks to show: those of the tables, and the last one."""
    return [mark for mark in standings.marks if mark in TABLE_MARKS or mark == standings.marks[-1]]


def scopes(standings: Standings) -> dict[str, Standings]:
    """The standings of each family and, if there are several, of all problems."""
    known = list(FAMILIES)
    order = sorted(standings.families, key=lambda name: known.index(name) if name in known else len(known))
    families = {name: standings.in_family(name) for name in order}
    return families if len(families) == 1 else {**families, EVERYTHING: standings}


def method_order(standings: Standings) -> list[str]:
    """Our strategies, then the peers, each from best to worst at the last mark. Methods that did not reach it come last."""

    def place(name: str) -> tuple[bool, float]:
        mean = standings.estimate(name, standings.marks[-1]).mean
        return (name in standings.peers, math.inf if math.isnan(mean) else mean)

    return sorted(standings.methods, key=place)


def regret_table(
    scope: str, standings: Standings, marks: Sequence[int], order: Sequence[str], explained: bool = True
) -> TextTable:
    """Mean normalized regrets and their standard errors, as defined in `Standings.estimate`."""
    here = [name for name in order if name in standings.methods]
    found = [[standings.estimate(name, mark) for mark in marks] for name in here]
    cells = [[plus_minus(part.mean, part.error) for part in line] for line in found]
    title = f"Regret in %, {scope}: {_count(len(standings.problems), 'problem')}, {_count(standings.n_seeds, 'seed')}"
    note = (
        "0 is the best configuration, 100 the median random configuration. "
        "± is the standard error over seeds of the mean over problems."
    )
    means = [[part.mean for part in line] for line in found]
    return _by_mark(title, marks, here, cells, means, standings.peers, note if explained else "")


def rank_table(standings: Standings, marks: Sequence[int], order: Sequence[str]) -> TextTable:
    """Mean ranks over problems."""
    means = {mark: standings.ranks(mark).mean().to_dict() for mark in marks}
    values = [[means[mark].get(name, math.nan) for mark in marks] for name in order]
    cells = [[number(value, 2) for value in line] for line in values]
    title = f"Mean rank over {_count(len(standings.problems), 'problem')}"
    note = "Ranks of the mean regret over seeds; 1 is best. –: stopped before this mark on some problem, and not ranked."
    return _by_mark(title, marks, order, cells, values, standings.peers, note)


def deciding_table(rows: pd.DataFrame, order: Sequence[str], peers: set[str]) -> TextTable:
    """CPU time spent between pulls, from `comparable` rows."""
    found = time_deciding(rows).to_dict("index")
    here = [name for name in order if name in found]
    ours = found[DEFAULT_STRATEGY]["milliseconds"] if DEFAULT_STRATEGY in found else math.nan
    cells = []
    for name in here:
        pulls, milliseconds = found[name]["pulls"], found[name]["milliseconds"]
        ratio = "" if math.isnan(ours) else f"{_short(milliseconds / ours, 2)}×"
        cells.append((name, number(pulls, 0), f"{_short(milliseconds, 3)} ms", ratio))
    title, note = "Time spent deciding", f"CPU time between pulls, up to the last mark. ×: relative to {DEFAULT_STRATEGY}."
    return TextTable(title, ("", "pulls", "per pull", "×"), cells, sections=_sections(here, peers), note=note)


def _short(value: float, digits: int) -> str:
    return number(value, digits if value < 9.95 else 0)


def _by_mark(
    title: str,
    marks: Sequence[int],
    names: Sequence[str],
    cells: Sequence[Sequence[str]],
    values: Sequence[Sequence[float]],
    peers: set[str],
    note: str,
) -> TextTable:
    """A table with a row for each method and a column for each mark. The smallest values of each column are highlighted."""
    array = np.array(values, dtype=float)
    smallest = np.where(np.isnan(array), math.inf, array).min(axis=0)
    best = {(int(row), int(column) + 1) for row, column in np.argwhere(array <= smallest + 1e-9)}
    rows = [(name, *line) for name, line in zip(names, cells, strict=True)]
    columns = ("full trainings", *map(str, marks))
    return TextTable(title, columns, rows, frozenset(best), _sections(names, peers), note)


def _sections(names: Sequence[str], peers: set[str]) -> frozenset[int]:
    """A gap between our strategies and the peers."""
    ours = sum(name not in peers for name in names)
    return frozenset({ours - 1} if 0 < ours < len(names) else ())


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
