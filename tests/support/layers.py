"""The layers of the library, from the bottom up: a part may import parts of its own layer and of those below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import manyarms

SOURCE = Path(manyarms.__file__).parent

LAYERS = [
    ("records, errors and checks", ["version", "errors", "checks", "core", "safe_text", "budget"]),
    ("spaces", ["spaces"]),
    ("what strategies are made of", ["strategies.kit", "strategies.protocol"]),
    ("parts of single strategies", ["strategies.pickers", "strategies.surrogate", "strategies.cube"]),
    ("strategies", ["strategies"]),
    ("journals: what happened", ["journal"]),
    ("checkpoints: what the models were", ["checkpoints"]),
    ("runners: where pulls run", ["runners"]),
    ("study", ["study"]),
    ("test problems", ["bench.problems"]),
    ("networks: graphs and layers", ["networks.graphs", "networks.layers", "networks.torch.pytorch", "networks.torch.modules"]),
    ("networks: training and drawing", ["networks.torch", "networks.drawing"]),
    ("networks", ["networks"]),
    ("scikit-learn: training in slices", ["sklearn.training"]),
    ("scikit-learn: searches and automatic models", ["sklearn.search", "sklearn.automl"]),
    ("scikit-learn", ["sklearn"]),
    ("tables", ["tables"]),
    ("the race", ["bench"]),
    ("contracts", ["testing"]),
    ("command line", ["cli", "__main__"]),
    ("public names", ["__init__"]),
]
"""What each layer is, and its parts. A file belongs to the longest part that its name begins with."""


def module_name(file: Path) -> str:
    """The module of a file, without `manyarms.`; a package is named like its folder."""
    parts = list(file.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def layer_of(module: str) -> int:
    """The number of the layer that a module is in."""
    matches = [
        (len(part), number)
        for number, (_, parts) in enumerate(LAYERS)
        for part in parts
        if module == part or module.startswith(f"{part}.")
    ]
    assert matches, f"{module} has no place among the layers"
    return max(matches)[1]


def imports(file: Path) -> Iterator[str]:
    """The modules of the library that a file imports, at any time, except for type checking only."""
    tree = ast.parse(file.read_text())
    typing_only = {inner for node in ast.walk(tree) if _is_for_types(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and node not in typing_only:
            yield from _targets(file, node)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _targets(file: Path, node: ast.ImportFrom) -> Iterator[str]:
    """A module, or the modules that are imported from a package by name."""
    folder = file.parent
    for _ in range(node.level - 1):
        folder = folder.parent
    target = folder.joinpath(*(node.module or "").split(".")) if node.module else folder
    for alias in node.names:
        inner = target / alias.name
        named = inner if inner.with_suffix(".py").exists() or inner.is_dir() else target
        yield ".".join(named.relative_to(SOURCE).parts) or "__init__"
