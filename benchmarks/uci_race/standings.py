"""How the methods stand: from the file of results to a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

DIGITS = 9  # accuracies that agree so far are equal: means of the same numbers may differ in the last bit


@dataclass(frozen=True, eq=False)
class Standings:
    """Mean accuracies over the splits, for the sets that every method has run alike.

    Attributes:
        accuracy: a row for each set, a column for each method.
        splits: how many each mean is over.
        left_out: sets on which some runs are still missing.
        runs: the rows behind it.
    """

    accuracy: pd.DataFrame
    splits: int
    left_out: list[str]
    runs: pd.DataFrame

    @staticmethod
    def of(runs: pd.DataFrame, order: Sequence[str] = ()) -> Standings:
        """From the rows of a file of results; methods in this order, others after them."""
        methods = sorted(runs["method"].unique(), key=[*order, *runs["method"]].index)
        means = runs.groupby(["set", "method"])["accuracy"].agg(["mean", "count"]).unstack("method")
        splits = runs["split"].nunique()
        whole = (means["count"].reindex(columns=methods) == splits).all(axis=1)
        accuracy = means["mean"].reindex(columns=methods)[whole].round(DIGITS)
        return Standings(accuracy, splits, list(means.index[~whole]), runs[runs["set"].isin(accuracy.index)])

    def ranks(self) -> pd.DataFrame:
        """Of each method on each set: 1 is the best, equal ones share the mean of their places."""
        return self.accuracy.rank(axis=1, ascending=False, method="average")

    def duel(self, one: str, other: str) -> tuple[int, int, int]:
        """On how many sets one is better than the other, equal, worse."""
        difference = (self.accuracy[one] - self.accuracy[other]).round(DIGITS)
        return int((difference > 0).sum()), int((difference == 0).sum()), int((difference < 0).sum())


def mean_and_error(values: Iterable[float]) -> tuple[float, float]:
    """The mean and its standard error; NaN for a single value."""
    array = np.asarray(list(values), dtype=float)
    error = array.std(ddof=1) / np.sqrt(len(array)) if len(array) > 1 else np.nan
    return float(array.mean()), float(error)


def page(standings: Standings, titles: dict[str, str], ours: Sequence[str]) -> str:
    """All that there is to tell, as Markdown.

    Args:
        standings: of the race.
        titles: of the methods, by name.
        ours: the methods that are set against each of the others.
    """
    if standings.accuracy.empty:
        raise ValueError("results must hold one set at least that every method in them has run")
    runs, names = standings.runs, list(standings.accuracy)
    parts = [
        f"{_plural(len(standings.accuracy), 'set')}, {_plural(standings.splits, 'split')} of each, "
        f"{runs['limit'].iloc[0]:g} seconds and {_plural(int(runs['cores'].iloc[0]), 'core')} a fit. "
        "± is the standard error over the sets.",
        _overall(standings, titles),
        *(_duels(standings, titles, name) for name in ours if name in names and len(names) > 1),
        "## Accuracy by set\n\n" + _by_set(standings, titles),
    ]
    if standings.left_out:
        parts.insert(1, f"Not counted, as runs are missing: {', '.join(standings.left_out)}.")
    return "\n\n".join(parts) + "\n"


def _overall(standings: Standings, titles: dict[str, str]) -> str:
    ranks, runs = standings.ranks(), standings.runs
    rows = []
    for name in ranks.mean().sort_values(kind="stable").index:
        own = runs[runs["method"] == name]
        seconds, processor = own["seconds"], own["processor"]
        accuracy, rank = mean_and_error(100 * standings.accuracy[name]), mean_and_error(ranks[name])
        rows.append(
            [
                titles.get(name, name),
                ", ".join(dict.fromkeys(own["version"])),
                f"{accuracy[0]:.2f} ± {accuracy[1]:.2f}",
                f"{rank[0]:.2f} ± {rank[1]:.2f}",
                f"{(ranks[name] == 1).sum()}",
                f"{seconds.mean():.1f} ({seconds.max():.1f})",
                f"{processor.mean():.1f}",
                f"{(own['status'] == 'failed').sum()}",
            ]
        )
    header = ["", "version", "accuracy, %", "mean rank", "alone first", "seconds (most)", "processor seconds", "failed"]
    return _table(header, rows)


def _duels(standings: Standings, titles: dict[str, str], one: str) -> str:
    rows = []
    for other in standings.accuracy:
        if other != one:
            difference = mean_and_error(100 * (standings.accuracy[one] - standings.accuracy[other]))
            wins, ties, losses = standings.duel(one, other)
            rows.append(
                [titles.get(other, other), f"{wins} / {ties} / {losses}", f"{difference[0]:+.2f} ± {difference[1]:.2f}"]
            )
    header = ["against", "wins / ties / losses", "accuracy ahead by, %"]
    return f"## {titles.get(one, one)} against each other method, by set\n\n" + _table(header, rows)


def _by_set(standings: Standings, titles: dict[str, str]) -> str:
    rows = []
    for name, row in (100 * standings.accuracy).iterrows():
        best = row.max()
        rows.append([str(name), *(f"**{value:.2f}**" if value == best else f"{value:.2f}" for value in row)])
    return _table(["set", *(titles.get(name, name) for name in standings.accuracy)], rows)


def _table(header: list[str], rows: list[list[str]]) -> str:
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (header, rule, *rows))


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
