"""Standings of a race: mean regrets, standard errors and ranks of the methods, from the rows of the result file."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..runs.statistics import ranks, standard_error


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its standard error; NaN if unknown."""

    mean: float
    error: float


UNKNOWN = Estimate(math.nan, math.nan)


def comparable(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each problem, method, seed and mark, from the newest version of the method and its longest run.

    The regret of a run that was stopped before the mark is infinite.
    """
    newest = rows.groupby("method")["version"].transform("last")  # new runs are appended to the file
    rows = rows[rows["version"] == newest].sort_values("budget", kind="stable")
    rows = rows.drop_duplicates(["family", "problem", "method", "seed", "trainings"], keep="last")
    return rows.assign(regret=rows["regret"].fillna(math.inf))


@dataclass(frozen=True, eq=False)
class Standings:
    """The regrets of a race.

    Attributes:
        methods: Names of the methods.
        peers: Names of those that are other libraries.
        problems: Family and name of each problem.
        marks: Numbers of full trainings.
        regrets: Regrets by method, problem, seed and mark: NaN if there is no run, infinite if the run was stopped before.
    """

    methods: list[str]
    peers: set[str]
    problems: list[tuple[str, str]]
    marks: list[int]
    regrets: NDArray[np.float64]

    @staticmethod
    def of(rows: pd.DataFrame) -> Standings:
        """The standings from `comparable` rows."""
        method, methods = pd.factorize(rows["method"])
        problem, problems = pd.factorize(pd.MultiIndex.from_frame(rows[["family", "problem"]]))
        seed, seeds = pd.factorize(rows["seed"], sort=True)
        mark, marks = pd.factorize(rows["trainings"], sort=True)
        regrets = np.full((len(methods), len(problems), len(seeds), len(marks)), math.nan)
        regrets[method, problem, seed, mark] = rows["regret"]
        peers = set(rows.loc[rows["peer"], "method"])
        return Standings(list(methods), peers, list(problems), [int(mark) for mark in marks], regrets)

    @property
    def families(self) -> list[str]:
        """Families of the problems."""
        return list(dict.fromkeys(family for family, _ in self.problems))

    @property
    def n_seeds(self) -> int:
        """Number of seeds that any run has."""
        return int((~np.isnan(self.regrets)).any(axis=(0, 1, 3)).sum())

    def in_family(self, family: str) -> Standings:
        """The standings on the problems of a family, with the methods that ran there."""
        places = [place for place, (name, _) in enumerate(self.problems) if name == family]
        regrets = self.regrets[:, places]
        there = [place for place, part in enumerate(regrets) if not np.isnan(part).all()]
        methods, problems = [self.methods[place] for place in there], [self.problems[place] for place in places]
        return replace(self, methods=methods, problems=problems, regrets=regrets[there])

    def at(self, method: str, mark: int) -> NDArray[np.float64]:
        """Regrets of a method at a mark, by problem and seed."""
        if method not in self.methods or mark not in self.marks:
            return np.full(self.regrets.shape[1:3], math.nan)
        return self.regrets[self.methods.index(method), :, :, self.marks.index(mark)]

    def by_problem(self, method: str, mark: int) -> NDArray[np.float64]:
        """Mean regret over seeds on each problem; infinite if any run was stopped before the mark."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a problem without runs gives NaN, as it should
            return np.asarray(np.nanmean(self.at(method, mark), axis=1))

    def estimate(self, method: str, mark: int) -> Estimate:
        """The mean regret over problems and its standard error over seeds.

        The mean is that of the problems' means over their seeds. It is NaN if any problem lacks the mark. For the standard
        error, the regret of each seed is averaged over the problems first, so that an effect of a seed on all problems counts
        in full. Only seeds that every problem has are used; with fewer than two the error is NaN.
        """
        mean = float(self.by_problem(method, mark).mean())
        return Estimate(mean, standard_error(self.at(method, mark).mean(axis=0))) if math.isfinite(mean) else UNKNOWN

    def difference(self, one: str, other: str, mark: int) -> Estimate:
        """The mean regret of one method minus that of another, and its standard error over seeds."""
        mean = self.estimate(one, mark).mean - self.estimate(other, mark).mean
        if math.isnan(mean):
            return UNKNOWN
        return Estimate(mean, standard_error((self.at(one, mark) - self.at(other, mark)).mean(axis=0)))

    def ranks(self, mark: int) -> pd.DataFrame:
        """Ranks on each problem, by the mean regret over seeds. Methods that lack the mark on any problem are left out."""
        regrets = {name: self.by_problem(name, mark) for name in self.methods}
        known = {name: values for name, values in regrets.items() if np.isfinite(values).all()}
        table = np.array(list(known.values())).reshape(len(known), len(self.problems)).T
        index = pd.MultiIndex.from_tuples(self.problems)
        return pd.DataFrame([ranks(line) for line in table], index=index, columns=pd.Index(known))


def time_deciding(rows: pd.DataFrame) -> pd.DataFrame:
    """For each method, the mean number of `pulls` in a run and the `milliseconds` of deciding for each.

    Args:
        rows: `comparable` rows. Each run counts up to the last mark it reached.
    """
    reached = rows[np.isfinite(rows["regret"])]
    last = reached.sort_values("trainings").drop_duplicates(["family", "problem", "method", "seed"], keep="last")
    by_method = last.groupby("method")
    milliseconds = 1000.0 * by_method["deciding"].sum() / by_method["pulls"].sum()
    return pd.DataFrame({"pulls": by_method["pulls"].mean(), "milliseconds": milliseconds})
