"""Rebuilds the strategy of a study from its header."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .. import strategies
from ..errors import StudyMismatch
from ..spaces import differences, restorable, restore
from ..strategies import Cascade, ExtendedStrategy, Picker, Strategy, extended, is_built_in
from ..version import __version__

Place = tuple[str, ...]
"""A path in a header, such as ("strategy",), or ("children", "svm", "strategy") for a `Cascade`."""

_SHOWN = 3  # differences between two spaces

_FUNCTION = "function "
"""Prefix of the string that represents a function in a header."""

_RENAMED = {"TreeUCB": {"eta": "min_gain"}, "ContextualTreeUCB": {"eta": "min_gain"}}
"""Settings that had a different name in older versions."""

_KINDS = [kind for kind in map(vars(strategies).get, strategies.__all__) if isinstance(kind, type)]
_STRATEGIES: dict[str, Any] = {kind.__name__: kind for kind in _KINDS if hasattr(kind, "plan") and kind is not ExtendedStrategy}
_PICKERS: dict[str, Any] = {kind.__name__: kind for kind in _KINDS if issubclass(kind, Picker) and kind is not Picker}


def described(space: Any) -> Any:
    """The description of a space as JSON; None if it has none."""
    return as_json(space.describe()) if hasattr(space, "describe") else None


def same_space(one: Any, two: Any) -> bool:
    """Whether two descriptions are of the same space. The order of parameters matters."""
    return json.dumps(one) == json.dumps(two)


def changed_space(old: Any, new: Any) -> str:
    """How two descriptions of spaces differ, for messages."""
    try:
        found = list(differences(old, new))
    except (TypeError, ValueError, LookupError, AttributeError):  # of a custom space, or changed in the storage
        found = []
    if not found:
        return f"space={old!r}, but now has space={new!r}"
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"another space ({'; '.join(found[:_SHOWN])}{more})"


def as_json(value: Any) -> Any:
    """The value as it is read from a stored header."""
    return json.loads(json.dumps(value, default=_plain))


def _plain(value: Any) -> Any:
    """JSON for a setting that has none: the name of a function, or the value of a NumPy number."""
    if callable(value):
        return f"{_FUNCTION}{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"a strategy's settings must be JSON, got {type(value).__name__}")


def own_parts(strategy: Strategy, description: Any) -> list[list[str]]:
    """The paths in a header of custom strategies, pickers, functions and spaces, which exist only in the user's script.

    Everything else in the header can be rebuilt, so an unknown name there is an error.
    """
    own = list(_own_parts(strategy, ()))
    return [list(place) for place in own] + ([] if _is_restorable(description) else [["space"]])


def _own_parts(strategy: Strategy, place: Place) -> Iterator[Place]:
    if not is_built_in(strategy):
        yield (*place, "strategy")
    known = extended(strategy)
    for name, value in known.settings.items() if known is not None else ():
        if callable(value):
            yield (*place, name)
    if isinstance(strategy, Cascade):
        if not is_built_in(strategy.picker):
            yield (*place, "picker")
        for name, child in strategy.children.items():
            yield from _own_parts(child, (*place, "children", name))


def restored_strategy(header: Mapping[str, Any], space: Any = None) -> Any:
    """The strategy that a header describes, with this space or, by default, the one in the header.

    None if the strategy or the space is custom. Raises `StudyMismatch` if the header names something that this version does not
    have.
    """
    description = header["space"]
    if space is not None and not same_space(described(space), description):
        raise StudyMismatch(f"the study was created with {changed_space(description, described(space))}")
    try:
        if not _Header(header).is_known() or (space is None and not _is_restorable(description)):
            return None
        return _made(header["strategy"], restore(description) if space is None else space, header["settings"])
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        cause = f"{type(error).__name__}: {error}"
        raise StudyMismatch(f"the header describes a strategy that cannot be created ({cause}): {_advice(header)}") from error


class _Header:
    """A header, and which of its parts are custom. Old headers do not list these, but their names contain a dot."""

    def __init__(self, header: Mapping[str, Any]) -> None:
        self._header = header
        own = header.get("own")
        self._own = None if own is None else {tuple(place) for place in own}

    def is_known(self) -> bool:
        """Whether all parts are built in. Raises an error for a part that should be built in, but is unknown."""
        header = self._header
        if not _is_restorable(header["space"]) and not self._is_own(("space",), guess=True):
            raise StudyMismatch(f"the header describes a space that manyarms cannot create: {_advice(header)}")
        return self._has_known_parts(header["strategy"], header["settings"], ())

    def _has_known_parts(self, kind: Any, settings: Any, place: Place) -> bool:
        if not self._is_known(_STRATEGIES, "strategy", kind, (*place, "strategy")):
            return False
        functions = [name for name, value in settings.items() if isinstance(value, str) and value.startswith(_FUNCTION)]
        known = not any(self._is_own((*place, name), guess=True) for name in functions)
        if _STRATEGIES[kind] is not Cascade:
            return known
        parts = [known, self._is_known(_PICKERS, "picker", settings["picker"]["picker"], (*place, "picker"))]
        for name, child in settings["children"].items():  # a list, so that all of them are checked
            parts.append(self._has_known_parts(*_split(child, "strategy"), (*place, "children", name)))
        return all(parts)

    def _is_known(self, kinds: Mapping[str, Any], what: str, kind: Any, place: Place) -> bool:
        """Whether the part is one of these built-in kinds; False if it is custom."""
        if self._is_own(place, guess=isinstance(kind, str) and "." in kind):
            return False
        if not isinstance(kind, str) or kind not in kinds:
            raise StudyMismatch(f"the header names the {what} {kind!r}, which is not part of manyarms: {_advice(self._header)}")
        return True

    def _is_own(self, place: Place, guess: bool) -> bool:
        return guess if self._own is None else place in self._own


def current_names(kind: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a strategy under their current names. Studies of older versions have other names."""
    renamed = _RENAMED.get(kind, {})
    return {renamed.get(name, name): value for name, value in settings.items()}


def _made(kind: str, space: Any, settings: Mapping[str, Any]) -> Any:
    make = _STRATEGIES[kind]
    if make is not Cascade:
        return make(space, **current_names(kind, settings))
    children = {}  # the settings of a cascade describe its children and picker; its space has the spaces of the children
    for name, part in settings["children"].items():
        child, given = _split(part, "strategy")
        children[name] = _made(child, space.spaces[name], given)
    picker, given = _split(settings["picker"], "picker")
    others = {name: value for name, value in settings.items() if name not in ("children", "picker")}
    return Cascade(children, _PICKERS[picker](**given), **others)


def _split(part: Mapping[str, Any], key: str) -> tuple[Any, dict[str, Any]]:
    """The kind of a child or picker, and its other settings."""
    return part[key], {name: value for name, value in part.items() if name != key}


def _is_restorable(description: Any) -> bool:
    return isinstance(description, Mapping) and restorable(description)


def _advice(header: Mapping[str, Any]) -> str:
    made = header.get("manyarms")
    return f"the study was created with manyarms {made} and this is {__version__}, or the header was changed"
