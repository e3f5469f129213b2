"""No test depends on how fast the machine is: none reads a clock, and none sets a limit that a busy machine could miss."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import waiting

import manyarms.testing

HERE = Path(__file__).parent
FILES = [*sorted(HERE.rglob("*.py")), *sorted(Path(manyarms.testing.__file__).parent.glob("*.py"))]
CLOCKS = {
    f"{name}{unit}" for name in ("monotonic", "perf_counter", "process_time", "thread_time", "time") for unit in ("", "_ns")
}
LIMITS = {"timeout", "pull_timeout"}
SHORTEST = 60  # seconds that bound a hang


def clock_reads(tree):
    """Lines that use a clock of the module `time`, or import one."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="time"), attr=name) if name in CLOCKS:
                yield node.lineno
            case ast.ImportFrom(module="time", names=names) if CLOCKS & {alias.name for alias in names}:
                yield node.lineno


def short_limits(tree):
    """Lines that give a time limit as a number of seconds below `SHORTEST`."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg=name, value=ast.Constant(value=int() | float() as limit)) if (
                name in LIMITS and limit < SHORTEST
            ):
                yield node.value.lineno


def places(find, *exempt):
    """Where in the tests something is found, as file:line."""
    return [f"{path.name}:{line}" for path in FILES if path.name not in exempt for line in find(parsed(path))]


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def test_no_test_reads_a_clock():
    assert places(clock_reads, Path(waiting.__file__).name) == []


def test_no_limit_in_a_test_is_so_short_that_a_busy_machine_misses_it():
    assert places(short_limits) == []


def test_both_searches_find_what_they_look_for():
    tree = ast.parse("import time\nfrom time import sleep, perf_counter\ntime.monotonic()\nrun(timeout=5, pull_timeout='1m')\n")
    assert list(clock_reads(tree)) == [2, 3] and list(short_limits(tree)) == [4]
