"""The header of a study: the arguments it was created with, which are compared when it is opened again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..core import new_study_id
from ..errors import StudyMismatch
from ..strategies import Strategy, extended, fresh_copy, kind_of
from ..version import __version__
from .restored_strategy import as_json, changed_space, current_names, described, own_parts
from .restored_strategy import restored_strategy as restored_strategy


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
    """Raise `StudyMismatch` if the study was created with different arguments."""
    before, now = _comparable(old), _comparable(new)
    if not seed_given:
        now["seed"] = before["seed"]
    for key in before:  # a setting that is not in the header is newer than the study; a replay shows whether it matters
        if before.get(key) != now.get(key):
            what = f"{key}={before.get(key)!r}, but now has {key}={now.get(key)!r}"
            raise StudyMismatch(
                f"study {name!r} was created with {changed_space(old['space'], new['space']) if key == 'space' else what}: "
                "use the old value to resume it, or another name to start a new study",
                setting=key,
            )


def first_strategy(strategy: Strategy, header: Mapping[str, Any]) -> Strategy:
    """The strategy that the study started with: a fresh copy with the budget and seed from the header.

    A strategy that cannot be copied is returned as it is.
    """
    settings, known = header["settings"], extended(strategy)
    if settings is None or known is None:
        return strategy
    return fresh_copy(known, budget=settings["budget"], seed=settings["seed"])


def study_name(name: str) -> str:
    """The name, after checking that any storage, table and page can show it."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}")
    if not 1 <= len(name) <= 255 or not name.isprintable():
        raise ValueError(f"name must be 1 to 255 printable characters, got {len(name)}: {name[:80]!r}")
    return name


def _comparable(header: Mapping[str, Any]) -> dict[str, Any]:
    settings = current_names(header["strategy"], header["settings"] or {})
    settings.pop("budget", None)  # may be changed
    parts = {key: header[key] for key in ("strategy", "direction", "bounds", "seed")}
    return {**parts, "space": json.dumps(header["space"]), **settings}
