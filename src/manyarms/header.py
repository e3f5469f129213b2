"""What a study was made with: written once, compared when it is opened again, enough to make its strategy anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import strategies
from .errors import StudyMismatch
from .spaces import restore
from .strategies import Strategy, complete, restart
from .version import __version__


def make_header(
    strategy: Strategy, seed: int, direction: str, bounds: tuple[float, float] | None, **notes: Any
) -> dict[str, Any]:
    """The header of a new study; `notes` are kept, but not compared when it is opened again."""
    known = complete(strategy)
    space: Any = known.book.space if known is not None else None
    header = {
        "manyarms": __version__,
        "strategy": _kind(strategy),
        "settings": {**known.settings, "seed": seed} if known is not None else None,
        "space": space.describe() if hasattr(space, "describe") else None,
        "seed": seed,
        "direction": direction,
        "bounds": bounds,
        **notes,
    }
    return dict(json.loads(json.dumps(header, default=_name_of)))


def check_same(name: str, old: Mapping[str, Any], new: Mapping[str, Any], seed_given: bool) -> None:
    """Refuse to go on with a study under other arguments than it began with."""
    before, now = _comparable(old), _comparable(new)
    if not seed_given:
        now["seed"] = before["seed"]
    for key in {**before, **now}:
        if before.get(key) != now.get(key):
            raise StudyMismatch(
                f"study {name!r} was made with {key}={before.get(key)!r}, now {key}={now.get(key)!r} is given: "
                "give the old value to go on with it, or another name to begin a new study"
            )


def settle_strategy(strategy: Strategy, header: Mapping[str, Any]) -> None:
    """Put the strategy to where the study began: with the budget and seed it had then."""
    settings, known = header["settings"], complete(strategy)
    if settings is not None and known is not None:
        restart(known, budget=settings["budget"], seed=settings["seed"])


def restored_strategy(header: Mapping[str, Any]) -> Any:
    """The strategy as the header describes it; None if it, or its space, is not one of the library's own."""
    settings, kind = header["settings"], getattr(strategies, header["strategy"], None)
    if settings is None or header["space"] is None or kind is None:
        return None
    if any(isinstance(value, str) and value.startswith("function ") for value in settings.values()):
        return None
    return kind(restore(header["space"]), **settings)


def study_name(name: str) -> str:
    """A name that any storage, table and page can show."""
    if not isinstance(name, str):
        raise TypeError(f"name must be text, got {name!r}")
    if not 1 <= len(name) <= 255 or not name.isprintable():
        raise ValueError(f"name must be 1 to 255 printable characters, got {len(name)}: {name[:80]!r}")
    return name


def _comparable(header: Mapping[str, Any]) -> dict[str, Any]:
    settings = {key: value for key, value in (header["settings"] or {}).items() if key != "budget"}  # which may be changed
    parts = {key: header[key] for key in ("strategy", "direction", "bounds", "seed")}
    return {**parts, "space": json.dumps(header["space"]), **settings}  # as text: the order of parameters counts


def _kind(strategy: Strategy) -> str:
    """The name of its class, in full where it is not one of the library's."""
    kind = type(strategy)
    return kind.__name__ if getattr(strategies, kind.__name__, None) is kind else f"{kind.__module__}.{kind.__qualname__}"


def _name_of(value: Any) -> str:
    """A function among the settings, by its name; numbers of NumPy as they are."""
    if callable(value):
        return f"function {getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"
    if hasattr(value, "item"):
        return value.item()  # type: ignore[no-any-return]
    raise TypeError(f"a strategy's settings must be JSON, got {type(value).__name__}")
