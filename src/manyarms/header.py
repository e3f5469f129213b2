"""What a study was made with: written once, compared when it is opened again, enough to make its strategy anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import strategies
from .core import new_study_id
from .errors import StudyMismatch
from .spaces import restorable, restore
from .strategies import Cascade, Strategy, complete, kind_of, restart
from .version import __version__


def make_header(
    strategy: Strategy, seed: int, direction: str, bounds: tuple[float, float] | None, **notes: Any
) -> dict[str, Any]:
    """The header of a new study; `notes` are kept, but not compared when it is opened again."""
    known = complete(strategy)
    space: Any = known.book.space if known is not None else None
    header = {
        "id": new_study_id(),
        "manyarms": __version__,
        "strategy": kind_of(strategy),
        "settings": {**known.settings, "seed": seed} if known is not None else None,
        "space": _described(space),
        "seed": seed,
        "direction": direction,
        "bounds": bounds,
        **notes,
    }
    return _as_json(header)  # type: ignore[no-any-return]


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


def restored_strategy(header: Mapping[str, Any], space: Any = None) -> Any:
    """The strategy as the header describes it, with this space or else the one that the header describes.

    None if the strategy, or the space that the header describes, is not one of the library's own.
    """
    settings, description = header["settings"], header["space"]
    if settings is None:
        return None
    if space is not None:
        if _text(_described(space)) != _text(description):
            raise StudyMismatch(f"the study was made with space={description!r}, now space={_described(space)!r} is given")
        return _restored(header["strategy"], space, settings)
    if description is None or not restorable(description):
        return None
    return _restored(header["strategy"], restore(description), settings)


def _restored(kind: str, space: Any, settings: Mapping[str, Any]) -> Any:
    make = getattr(strategies, kind, None)
    if make is None or any(isinstance(value, str) and value.startswith("function ") for value in settings.values()):
        return None
    return _restored_cascade(space, settings) if make is Cascade else make(space, **settings)


def _restored_cascade(space: Any, settings: Mapping[str, Any]) -> Cascade | None:
    """Its settings describe the children and the picker; their spaces are the parts of its own."""
    children = {}
    for name, (kind, given) in {name: _split(part, "strategy") for name, part in settings["children"].items()}.items():
        children[name] = _restored(kind, space.spaces[name], given)
    picker, given = _split(settings["picker"], "picker")
    make = getattr(strategies, picker, None)
    if make is None or any(child is None for child in children.values()):
        return None
    return Cascade(children, make(**given), budget=settings["budget"], seed=settings["seed"])


def _split(part: Mapping[str, Any], key: str) -> tuple[str, dict[str, Any]]:
    """The kind of a child or picker, and its settings."""
    return part[key], {name: value for name, value in part.items() if name != key}


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
    return {**parts, "space": _text(header["space"]), **settings}


def _described(space: Any) -> Any:
    """A space in its own words, if it has some."""
    return _as_json(space.describe()) if hasattr(space, "describe") else None


def _text(description: Any) -> str:
    """What two spaces are compared by: the order of parameters counts."""
    return json.dumps(description)


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value, default=_name_of))


def _name_of(value: Any) -> str:
    """A function among the settings, by its name; numbers of NumPy as they are."""
    if callable(value):
        return f"function {getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"
    if hasattr(value, "item"):
        return value.item()  # type: ignore[no-any-return]
    raise TypeError(f"a strategy's settings must be JSON, got {type(value).__name__}")
