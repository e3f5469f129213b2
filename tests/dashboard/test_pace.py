"""How long the dashboard rests, and how it lowers its priority."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from dashboards import make_study

from manyarms.dashboard.pace import SERVER, rest_after

SERVE = (
    "import os; os.nice({more}); from manyarms.cli import main; main(['dashboard', {storage!r}, '--no-browser', '--port', '0'])"
)
MOST = 19  # of the niceness


def test_slow_work_is_followed_by_a_long_rest_but_never_by_more_than_five_minutes():
    rests = [rest_after(seconds) for seconds in (0.01, 1.0, 12.0, 13.0, 60.0, 1e9)]
    assert rests == [pytest.approx(0.24), pytest.approx(24), pytest.approx(288), 300, 300, 300]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no niceness")
@pytest.mark.parametrize("more", [0, SERVER + 4])
def test_the_server_gives_way_and_never_runs_with_a_higher_priority_than_it_was_started_with(storage, more):
    make_study(storage, budget=4)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    command = [sys.executable, "-c", SERVE.format(more=more, storage=storage)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert re.search(r"http://\S+", process.stderr.readline())  # it listens now
            niceness = os.getpriority(os.PRIO_PROCESS, process.pid)
        finally:
            process.kill()
    assert niceness == min(MOST, max(SERVER, own + more))
