"""What takes part in a race, from names that users type."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import pandas as pd

from ...errors import ManyarmsError
from .entrants import OURS, Entrant
from .families import FAMILIES
from .peers import PEERS

NONE = "none"


def matched(option: str, names: Sequence[str], known: Collection[str]) -> list[str]:
    """The known names that these stand for, whatever their case, each once.

    >>> matched("--problems", ["lcbench"], ["LCBench", "TaskSet"])
    ['LCBench']
    """
    by_case = {name.casefold(): name for name in known}
    for name in names:
        if name.casefold() not in by_case:
            raise ValueError(f"{option} must be among {', '.join(known) or 'nothing'}; got {name!r}")
    return list(dict.fromkeys(by_case[name.casefold()] for name in names))


def matched_or_none(option: str, names: Sequence[str], known: Collection[str]) -> list[str]:
    """The same; the word "none" stands for nobody."""
    return [] if [name.casefold() for name in names] == [NONE] else matched(option, names, known)


def chosen_families(names: Sequence[str] | None, half: str) -> tuple[dict[str, list[int]], list[str]]:
    """The numbers of the problems, by family, and notes on what is left out.

    Args:
        names: of families; None for all whose problems can be had.
        half: "tuned", "reported" or "all".

    Raises:
        ManyarmsError: the problems of a family that was named cannot be had.
    """
    families = [FAMILIES[name] for name in (FAMILIES if names is None else matched("--problems", names, FAMILIES))]
    left_out: dict[str, list[str]] = {}
    chosen = {}
    for family in families:
        trouble = family.trouble()
        if trouble is not None and names is not None:
            raise ManyarmsError(f"{family.name} cannot be raced on: {trouble}")
        if trouble is not None:
            left_out.setdefault(trouble, []).append(family.name)
        elif numbers := family.numbers(half):
            chosen[family.name] = numbers
    return chosen, [f"without {', '.join(named)}: {trouble}" for trouble, named in left_out.items()]


def chosen_entrants(ours: Sequence[str] | None, peers: Sequence[str] | None) -> tuple[list[Entrant], list[str]]:
    """Who races, and notes on what is left out.

    Args:
        ours: names of our strategies; None for all, "none" for none.
        peers: names of peers; None for all that are installed, "none" for none.

    Raises:
        ManyarmsError: a peer that was named is not installed.
    """
    racing = [OURS[name] for name in (OURS if ours is None else matched_or_none("--strategies", ours, OURS))]
    named = [PEERS[name] for name in (PEERS if peers is None else matched_or_none("--peers", peers, PEERS))]
    absent = [peer for peer in named if peer.missing]
    how = 'pip install "manyarms[peers]"'
    if absent and peers is not None:
        raise ManyarmsError(f"{_names(absent)} cannot race: {_packages(absent)} missing; {how}")
    racing += [peer for peer in named if not peer.missing]
    return racing, [f"without {_names(absent)}, which are not installed: {how}"] if absent else []


def selected(
    rows: pd.DataFrame,
    families: Sequence[str] | None = None,
    half: str = "all",
    ours: Sequence[str] | None = None,
    peers: Sequence[str] | None = None,
    seeds: int | None = None,
    budget: int | None = None,
) -> pd.DataFrame:
    """Some rows of a race; what is None is not asked for."""
    if families is not None:
        rows = rows[rows["family"].isin(matched("--problems", families, rows["family"].unique()))]
    if half != "all":
        rows = rows[rows["half"] == half]
    for option, names, kind in (("--strategies", ours, ~rows["peer"]), ("--peers", peers, rows["peer"])):
        if names is not None:
            chosen = matched_or_none(option, names, rows.loc[kind, "entrant"].unique())
            rows = rows[~kind | rows["entrant"].isin(chosen)]
    if seeds is not None:
        rows = rows[rows["seed"] < seeds]
    if budget is not None:
        rows = rows[rows["trainings"] <= budget]
    return rows


def _names(entrants: Iterable[Entrant]) -> str:
    return ", ".join(entrant.name for entrant in entrants)


def _packages(entrants: Iterable[Entrant]) -> str:
    missing = dict.fromkeys(package for entrant in entrants for package in entrant.missing)
    return f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'}"
