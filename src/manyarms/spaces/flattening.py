"""The values of nested configs by path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flattened(config: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a config by name, and those of nested dicts by path. If a path equals an existing name, the dict is kept.

    >>> flattened({"lr": 0.1, "model": {"kind": "tree", "depth": 3}, "none": {}})
    {'lr': 0.1, 'model.kind': 'tree', 'model.depth': 3, 'none': {}}
    """
    flat: dict[str, Any] = {}
    for name, value in config.items():
        nested = flattened(value) if isinstance(value, dict) else {}
        paths = {f"{name}.{inner}": part for inner, part in nested.items()}
        taken = any(path in config or path in flat for path in paths)
        flat.update(paths if paths and not taken else {name: value})
    return flat
