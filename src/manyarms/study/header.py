"""The header of a study: the arguments it was made with, which are compared when it is opened again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..core import new_study_id
from ..errors import StudyMismatch
from ..strategies import Strategy, extended, fresh_copy, kind_of
from ..version import __version__
from .restore import as_json, described, own_parts
from .restore import restored_strategy as restored_strategy


def make_header(
    strategy: Strategy, seed: int, direction: str, bounds: tuple[float, float] | None, **notes: Any
) -> dict[str, Any]:
    """The header of a new study. `notes` are stored, but not compared when it is opened again."""
    known = extended(strategy)
    space = described(known.ledger.space) if known is not None else None
    header = {
        "id": new_study_id(),
        "manyarms": __version__,
        "strategy": kind_of(strategy),
        "settings": {**known.settings, "seed": seed} if known is not None else None,
        "space": space,
        "own": own_parts(strategy, space),
        "seed": seed,
        "direction": direction,
        "bounds": bounds,
        **notes,
    }
    return as_json(header)  # type: ignore[no-any-return]


def check_same(name: str, old: Mapping[str, Any], new: Mapping[str, Any], seed_given: bool) -> None:
    """Raise `StudyMismatch` if the study was made with other arguments than those given now."""
    before, now = _comparable(old), _comparable(new)
    if not seed_given:
        now["seed"] = before["seed"]
    for key in before:  # a setting that the header does not name is newer than the study: replaying it shows what it changes
        if before.get(key) != now.get(key):
            raise StudyMismatch(
                f"study {name!r} was made with {key}={before.get(key)!r}, now {key}={now.get(key)!r} is given: "
                "give the old value to resume it, or another name to start a new study",
                setting=key,
            )


def first_strategy(strategy: Strategy, header: Mapping[str, Any]) -> Strategy:
    """The strategy that the study began with: a fresh copy, with the budget and seed of the header.

    A strategy that cannot be copied is returned as it is.
    """
    settings, known = header["settings"], extended(strategy)
    if settings is None or known is None:
        return strategy
    return fresh_copy(known, budget=settings["budget"], seed=settings["seed"])


def study_name(name: str) -> str:
    """The name, if any storage, table and page can show it."""
    if not isinstance(name, str):
        raise TypeError(f"name must be text, got {name!r}")
    if not 1 <= len(name) <= 255 or not name.isprintable():
        raise ValueError(f"name must be 1 to 255 printable characters, got {len(name)}: {name[:80]!r}")
    return name


def _comparable(header: Mapping[str, Any]) -> dict[str, Any]:
    settings = {key: value for key, value in (header["settings"] or {}).items() if key != "budget"}  # which may be changed
    parts = {key: header[key] for key in ("strategy", "direction", "bounds", "seed")}
    return {**parts, "space": json.dumps(header["space"]), **settings}
