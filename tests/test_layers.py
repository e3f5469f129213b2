"""Imports point down only, and the documentation shows the layers as they are."""

from __future__ import annotations

import pytest
from layers import LAYERS, PAGE, SOURCE, imports, layer_of, module_name, table, with_table

FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_imports_point_down_only(file):
    own = layer_of(module_name(file))
    for other in imports(file):
        assert layer_of(other) <= own, f"{module_name(file)} imports {other}, which is in a layer above it"


def test_every_part_of_a_layer_exists():
    for _, parts in LAYERS:
        for part in parts:
            path = SOURCE.joinpath(*part.split("."))
            assert path.is_dir() or path.with_suffix(".py").exists(), part


def test_the_page_on_the_architecture_shows_the_layers():
    page = PAGE.read_text()
    assert table() in page and with_table(page) == page, "run: python tests/support/layers.py"
