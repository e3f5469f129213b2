"""Selects the problems and methods of a race by the names that users type."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import pandas as pd

from ...errors import ManyarmsError
from .families import FAMILIES
from .methods import OURS, Method
from .peers import PEERS

NONE = "none"


def matched(option: str, names: Sequence[str], known: Collection[str]) -> list[str]:
    """The known names that match these, ignoring case and without duplicates.

    >>> matched("problems", ["lcbench"], ["LCBench", "TaskSet"])
    ['LCBench']
    """
    by_case = {name.casefold(): name for name in known}
    for name in names:
        if name.casefold() not in by_case:
            raise ValueError(f"{option} must be among {', '.join(known) or 'nothing'}; got {name!r}")
    return list(dict.fromkeys(by_case[name.casefold()] for name in names))


def matched_or_none(option: str, names: Sequence[str], known: Collection[str]) -> list[str]:
    """Like `matched`, but the word "none" selects nothing."""
    return [] if [name.casefold() for name in names] == [NONE] else matched(option, names, known)


def chosen_families(names: Sequence[str] | None, half: str, quick: bool = False) -> tuple[dict[str, list[int]], list[str]]:
    """The numbers of the problems, by family, and notes on families that are left out.

    Args:
        names: Names of families; None for all whose problems are available.
        half: "tuned", "reported" or "all".
        quick: Choose only the problems of a quick race.

    Raises:
        ManyarmsError: The problems of a named family are not available.
    """
    families = [FAMILIES[name] for name in (FAMILIES if names is None else matched("problems", names, FAMILIES))]
    left_out: dict[str, list[str]] = {}
    chosen = {}
    for family in families:
        trouble = family.trouble()
        if trouble is not None and names is not None:
            raise ManyarmsError(f"The problems of {family.name} are not available: {trouble}")
        if trouble is not None:
            left_out.setdefault(trouble, []).append(family.name)
        elif numbers := family.numbers(half, quick):
            chosen[family.name] = numbers
    return chosen, [f"Left out: {', '.join(named)}. {trouble}" for trouble, named in left_out.items()]


def chosen_methods(ours: Sequence[str] | None, peers: Sequence[str] | None) -> tuple[list[Method], list[str]]:
    """The methods of a race, and notes on peers that are left out.

    Args:
        ours: Names of our strategies; None for all, "none" for none.
        peers: Names of peers; None for all that are installed, "none" for none.

    Raises:
        ManyarmsError: A named peer is not installed.
    """
    racing = [OURS[name] for name in (OURS if ours is None else matched_or_none("strategies", ours, OURS))]
    named = [PEERS[name] for name in (PEERS if peers is None else matched_or_none("peers", peers, PEERS))]
    absent = [peer for peer in named if peer.missing]
    how = 'To install them: pip install "manyarms[peers]"'
    if absent and peers is not None:
        raise ManyarmsError(f"{_names(absent)} cannot run: {_packages(absent)} not installed. {how}")
    racing += [peer for peer in named if not peer.missing]
    return racing, [f"Left out, because they are not installed: {_names(absent)}. {how}"] if absent else []


def selected(
    rows: pd.DataFrame,
    families: Sequence[str] | None = None,
    half: str = "all",
    ours: Sequence[str] | None = None,
    peers: Sequence[str] | None = None,
    seeds: int | None = None,
    budget: int | None = None,
) -> pd.DataFrame:
    """The rows of a race that match. An argument that is None does not restrict them."""
    if families is not None:
        rows = rows[rows["family"].isin(matched("problems", families, rows["family"].unique()))]
    if half != "all":
        rows = rows[rows["half"] == half]
    for option, names, kind in (("strategies", ours, ~rows["peer"]), ("peers", peers, rows["peer"])):
        if names is not None:
            chosen = matched_or_none(option, names, rows.loc[kind, "method"].unique())
            rows = rows[~kind | rows["method"].isin(chosen)]
    if seeds is not None:
        rows = rows[rows["seed"] < seeds]
    if budget is not None:
        rows = rows[rows["trainings"] <= budget]
    return rows


def _names(methods: Iterable[Method]) -> str:
    return ", ".join(method.name for method in methods)


def _packages(methods: Iterable[Method]) -> str:
    missing = dict.fromkeys(package for method in methods for package in method.missing)
    return f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'}"
