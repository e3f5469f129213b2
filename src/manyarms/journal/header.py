"""The header of a stored study, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import StorageError
from .protocol import Journal

_VALID: dict[str, Callable[[Any], bool]] = {
    "strategy": lambda value: isinstance(value, str),
    "settings": lambda value: value is None or isinstance(value, dict),
    "space": lambda value: True,
    "seed": lambda value: isinstance(value, int),
    "direction": lambda value: value in ("maximize", "minimize"),
    "bounds": lambda value: value is None or (isinstance(value, list) and len(value) == 2),
}
"""What each entry of a header must be."""


def stored_header(journal: Journal) -> Mapping[str, Any] | None:
    """The header of a stored study; None if it is new. `StorageError` if it is not one that a study writes."""
    header = journal.header
    if header is not None:
        for key, is_valid in _VALID.items():
            if key not in header or not is_valid(header[key]):
                wrong = f"{key}={header[key]!r:.80}" if key in header else f"no {key}"
                raise StorageError(f"the header of study {journal.name!r} is corrupt: it has {wrong}")
    return header
