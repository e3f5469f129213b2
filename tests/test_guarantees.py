"""Every guarantee in the docs names a test that is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("failures.md", "storage.md")


@pytest.mark.parametrize("page", PAGES)
def test_every_guarantee_names_a_test_that_is_there(page):
    table = (ROOT / "docs" / page).read_text(encoding="utf-8").partition("## Guarantees and their tests\n")[2]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        assert named, row
        for file, name in named:
            assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), (file, name)
