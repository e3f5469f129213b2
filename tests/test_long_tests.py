"""The list of long tests names tests that exist."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LISTED = (ROOT / "tests" / "long_tests.txt").read_text(encoding="utf-8").split()


@pytest.mark.parametrize("test", LISTED)
def test_a_long_test_exists(test):
    file, _, name = test.partition("[")[0].partition("::")
    function = name.split("::")[-1]
    assert function == "runTest" or f"def {function}(" in (ROOT / file).read_text(encoding="utf-8")
