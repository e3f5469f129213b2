"""The layers of the library: imports point down only."""

from __future__ import annotations

import pytest
from layers import LAYERS, SOURCE, imports, layer_of, module_name

FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_imports_point_down_only(file):
    own = layer_of(module_name(file))
    for other in imports(file):
        assert layer_of(other) <= own, f"{module_name(file)} imports {other}, which is in a layer above it"


def test_every_part_that_is_named_exists():
    for _, parts in LAYERS:
        for part in parts:
            path = SOURCE.joinpath(*part.split("."))
            assert path.is_dir() or path.with_suffix(".py").exists(), part
