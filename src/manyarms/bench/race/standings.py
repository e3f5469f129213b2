"""How entrants stand: means, standard errors and ranks, from the rows of a race."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_TIED = 1e-9  # regrets that differ by less are equal


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its standard error; NaN where there is none."""

    mean: float
    error: float


NOTHING = Estimate(math.nan, math.nan)


def comparable(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each problem, entrant, seed and mark: of the entrant's newest version, and of the longest heat that has it.

    A heat that was stopped before the mark has an infinite regret there.
    """
    newest = rows.groupby("entrant")["version"].transform("last")  # as new heats are written behind old ones
    rows = rows[rows["version"] == newest].sort_values("budget", kind="stable")
    rows = rows.drop_duplicates(["family", "problem", "entrant", "seed", "trainings"], keep="last")
    return rows.assign(regret=rows["regret"].fillna(math.inf))


@dataclass(frozen=True, eq=False)
class Standings:
    """The regrets of a race by entrant, problem, seed and mark: NaN where there is none, infinite where patience ended before.

    Attributes:
        entrants: their names.
        peers: those that are other libraries.
        problems: by family and name.
        marks: in full trainings.
        regrets: along entrants, problems, seeds and marks.
    """

    entrants: list[str]
    peers: set[str]
    problems: list[tuple[str, str]]
    marks: list[int]
    regrets: NDArray[np.float64]

    @staticmethod
    def of(rows: pd.DataFrame) -> Standings:
        """From `comparable` rows."""
        entrant, entrants = pd.factorize(rows["entrant"])
        problem, problems = pd.factorize(pd.MultiIndex.from_frame(rows[["family", "problem"]]))
        seed, seeds = pd.factorize(rows["seed"], sort=True)
        mark, marks = pd.factorize(rows["trainings"], sort=True)
        regrets = np.full((len(entrants), len(problems), len(seeds), len(marks)), math.nan)
        regrets[entrant, problem, seed, mark] = rows["regret"]
        peers = set(rows.loc[rows["peer"], "entrant"])
        return Standings(list(entrants), peers, list(problems), [int(mark) for mark in marks], regrets)

    @property
    def families(self) -> list[str]:
        """Of the problems."""
        return list(dict.fromkeys(family for family, _ in self.problems))

    @property
    def n_seeds(self) -> int:
        """How many seeds there are of anything."""
        return int((~np.isnan(self.regrets)).any(axis=(0, 1, 3)).sum())

    def in_family(self, family: str) -> Standings:
        """On the problems of a family alone, with who took part there."""
        places = [place for place, (name, _) in enumerate(self.problems) if name == family]
        regrets = self.regrets[:, places]
        there = [place for place, part in enumerate(regrets) if not np.isnan(part).all()]
        entrants, problems = [self.entrants[place] for place in there], [self.problems[place] for place in places]
        return replace(self, entrants=entrants, problems=problems, regrets=regrets[there])

    def at(self, entrant: str, mark: int) -> NDArray[np.float64]:
        """The regrets of an entrant at a mark, by problem and seed."""
        if entrant not in self.entrants or mark not in self.marks:
            return np.full(self.regrets.shape[1:3], math.nan)
        return self.regrets[self.entrants.index(entrant), :, :, self.marks.index(mark)]

    def by_problem(self, entrant: str, mark: int) -> NDArray[np.float64]:
        """Its mean regret over seeds on each problem; infinite where any seed was stopped before the mark."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # where a problem has no seed, NaN is what we want
            return np.asarray(np.nanmean(self.at(entrant, mark), axis=1))

    def estimate(self, entrant: str, mark: int) -> Estimate:
        """The mean regret over problems and its standard error over seeds.

        The mean is that of the problems' means over their seeds; NaN where any problem lacks the mark. The error is that of
        the mean over problems, which each seed gives one value of; so what a seed does to all problems alike counts in full.
        Where problems have different seeds, only those that every problem has count for the error; with fewer than two it
        is NaN.
        """
        mean = float(self.by_problem(entrant, mark).mean())
        return Estimate(mean, standard_error(self.at(entrant, mark).mean(axis=0))) if math.isfinite(mean) else NOTHING

    def difference(self, one: str, other: str, mark: int) -> Estimate:
        """How much larger the mean regret of one entrant is than that of another, and the standard error, seed by seed."""
        mean = self.estimate(one, mark).mean - self.estimate(other, mark).mean
        if math.isnan(mean):
            return NOTHING
        return Estimate(mean, standard_error((self.at(one, mark) - self.at(other, mark)).mean(axis=0)))

    def ranks(self, mark: int) -> pd.DataFrame:
        """The ranks on each problem, by the mean regret over seeds; without entrants that lack the mark anywhere."""
        regrets = {name: self.by_problem(name, mark) for name in self.entrants}
        known = {name: values for name, values in regrets.items() if np.isfinite(values).all()}
        table = np.array(list(known.values())).reshape(len(known), len(self.problems)).T
        index = pd.MultiIndex.from_tuples(self.problems)
        return pd.DataFrame([ranks(line) for line in table], index=index, columns=pd.Index(known))


def standard_error(values: NDArray[np.float64]) -> float:
    """Of the mean of independent values, without those that are NaN; NaN for fewer than two."""
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1) / math.sqrt(len(known))) if len(known) > 1 else math.nan


def ranks(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Of values, 1 for the smallest; equal ones share the mean of their ranks.

    >>> ranks([0.3, 0.1, 0.1 + 1e-12, 0.2]).tolist()
    [4.0, 1.5, 1.5, 3.0]
    """
    array = np.asarray(values, dtype=float)
    order = np.argsort(array, kind="stable")
    group = np.cumsum(np.diff(array[order], prepend=-math.inf) > _TIED)
    places = np.arange(1, len(array) + 1)
    result = np.empty(len(array))
    result[order] = [places[group == number].mean() for number in group]
    return result


def deciding(rows: pd.DataFrame) -> pd.DataFrame:
    """By entrant: `pulls` of a heat on average, and `milliseconds` of deciding for each, to the last mark each heat reached.
    The rows must be `comparable`."""
    reached = rows[np.isfinite(rows["regret"])]
    last = reached.sort_values("trainings").drop_duplicates(["family", "problem", "entrant", "seed"], keep="last")
    by_entrant = last.groupby("entrant")
    milliseconds = 1000.0 * by_entrant["deciding"].sum() / by_entrant["pulls"].sum()
    return pd.DataFrame({"pulls": by_entrant["pulls"].mean(), "milliseconds": milliseconds})
