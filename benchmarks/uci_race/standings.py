"""Standings of the methods: from the result file to a page of Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from manyarms.bench.runs.statistics import mean_and_error, ranks

DIGITS = 9  # accuracies that agree in these digits are equal, because means of the same numbers may differ in the last bit


@dataclass(frozen=True, eq=False)
class Standings:
    """Mean accuracies over the splits, for the datasets with runs of every method.

    Attributes:
        accuracy: Mean accuracy by dataset (rows) and method (columns).
        splits: Number of splits of each mean.
        left_out: Datasets with missing runs.
        runs: Rows of the result file.
    """

    accuracy: pd.DataFrame
    splits: int
    left_out: list[str]
    runs: pd.DataFrame

    @staticmethod
    def of(runs: pd.DataFrame, order: Sequence[str] = ()) -> Standings:
        """The standings from the rows of a result file. Methods are in this order, followed by others."""
        methods = sorted(runs["method"].unique(), key=[*order, *runs["method"]].index)
        means = runs.groupby(["dataset", "method"])["accuracy"].agg(["mean", "count"]).unstack("method")
        splits = runs["split"].nunique()
        whole = (means["count"].reindex(columns=methods) == splits).all(axis=1)
        accuracy = means["mean"].reindex(columns=methods)[whole].round(DIGITS)
        return Standings(accuracy, splits, list(means.index[~whole]), runs[runs["dataset"].isin(accuracy.index)])

    def ranks(self) -> pd.DataFrame:
        """Ranks by dataset and method; 1 is the best. Ties share their mean rank."""
        return self.accuracy.apply(lambda row: pd.Series(ranks(-row.to_numpy()), row.index), axis=1)

    def duel(self, one: str, other: str) -> tuple[int, int, int]:
        """Number of datasets on which one method is better than the other, equal, and worse."""
        difference = (self.accuracy[one] - self.accuracy[other]).round(DIGITS)
        return int((difference > 0).sum()), int((difference == 0).sum()), int((difference < 0).sum())


def page(standings: Standings, titles: dict[str, str], ours: Sequence[str]) -> str:
    """All tables as Markdown.

    Args:
        standings: Standings of the methods.
        titles: Titles of the methods, by name.
        ours: Methods to compare with each of the others.
    """
    if standings.accuracy.empty:
        raise ValueError("The result file must hold at least one dataset with runs of every method.")
    runs, names = standings.runs, list(standings.accuracy)
    parts = [
        f"{_plural(len(standings.accuracy), 'dataset')}, {_plural(standings.splits, 'split')} of each, "
        f"{runs['limit'].iloc[0]:g} seconds and {_plural(int(runs['cores'].iloc[0]), 'core')} per fit. "
        "± is the standard error over datasets.",
        _overall(standings, titles),
        *(_duels(standings, titles, name) for name in ours if name in names and len(names) > 1),
        "## Accuracy by dataset\n\n" + _by_dataset(standings, titles),
    ]
    if standings.left_out:
        parts.insert(1, f"Left out, because runs are missing: {', '.join(standings.left_out)}.")
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
    header = ["", "version", "accuracy, %", "mean rank", "sole winner", "seconds (max)", "CPU seconds", "failed"]
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
    header = ["compared with", "wins / ties / losses", "difference in accuracy, %"]
    return f"## {titles.get(one, one)} compared with each other method, by dataset\n\n" + _table(header, rows)


def _by_dataset(standings: Standings, titles: dict[str, str]) -> str:
    rows = []
    for name, row in (100 * standings.accuracy).iterrows():
        best = row.max()
        rows.append([str(name), *(f"**{value:.2f}**" if value == best else f"{value:.2f}" for value in row)])
    return _table(["dataset", *(titles.get(name, name) for name in standings.accuracy)], rows)


def _table(header: list[str], rows: list[list[str]]) -> str:
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (header, rule, *rows))


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
