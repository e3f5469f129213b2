"""Makes the helper modules beside the tests importable, here and in the processes that tests start, and marks long tests."""

import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
IMPORTABLE = [str(TESTS / "support"), str(TESTS.parent)]
sys.path[:0] = IMPORTABLE
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [*IMPORTABLE, os.environ.get("PYTHONPATH")]))

# Temporary files are kept in memory, where there is room: tests wait for thousands of writes, and a disk may be busy.
MEMORY, ROOM = "/dev/shm", 4e9
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ["TMPDIR"] = MEMORY
    tempfile.tempdir = None  # so that it is looked up again

# Some virtual machines announce matrix instructions (AMX) that they do not have, and half precision in PyTorch crashes there.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

try:
    from hypothesis import HealthCheck, settings
except ImportError:  # the tests of the bare library run without it
    pass
else:  # neither how fast the machine is at the moment nor luck says anything about the code
    settings.register_profile(
        "manyarms", max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("manyarms")


def pytest_collection_modifyitems(items) -> None:
    """Mark the tests that take several seconds, so that `make test` stays quick. CI runs them too."""
    listed = set((TESTS / "long_tests.txt").read_text(encoding="utf-8").split())
    for item in items:
        if item.nodeid in listed or item.nodeid.partition("[")[0] in listed:
            item.add_marker(pytest.mark.long)


def pytest_collection_finish() -> None:
    """Leave modules and tests, which are millions of objects and stay until the end, out of all garbage collections."""
    gc.freeze()
