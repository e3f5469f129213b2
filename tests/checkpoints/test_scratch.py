"""The temporary directory of a process: its own, and removed at its end, even if it was killed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from manyarms.checkpoints import scratch

START = """
import sys
from manyarms.checkpoints.scratch import process_directory
path = process_directory()
assert path == process_directory()
(path / "download").mkdir()
print(path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(scratch, "_own", None)
    return tmp_path


def start():
    process = subprocess.Popen([sys.executable, "-c", START], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, Path(process.stdout.readline().strip())


def test_each_process_has_its_own_and_removes_it_at_its_end(temporary):
    (one, first), (two, second) = start(), start()
    try:
        assert first != second and first.parent == second.parent == temporary
        assert os.name == "nt" or stat.S_IMODE(first.stat().st_mode) == 0o700
        one.communicate("")
        assert not first.exists() and (second / "download").exists()
    finally:
        two.communicate("")
    assert not list(temporary.iterdir())


def test_the_directory_of_a_killed_process_is_removed_by_the_next_and_no_other(temporary):
    (one, first), (two, second) = start(), start()
    one.kill()
    one.communicate()
    assert first.exists()
    (temporary / "manyarms-process-other").mkdir()
    (temporary / "manyarms-process-file").touch()
    (temporary / "mine").mkdir()
    (temporary / "mine" / "lock").touch()
    (temporary / "manyarms-process-link").symlink_to(temporary / "mine")
    three, third = start()
    try:
        assert not first.exists() and (second / "download").exists() and third.exists()
    finally:
        three.communicate("")
        two.communicate("")
    left = {"manyarms-process-other", "manyarms-process-file", "manyarms-process-link", "mine"}
    assert {path.name for path in temporary.iterdir()} == left and (temporary / "mine" / "lock").exists()


def test_a_directory_that_was_removed_is_made_again():
    first = scratch.process_directory()
    scratch.remove(first)
    second = scratch.process_directory()
    assert second != first and second.is_dir()
    scratch._own.lock.release()


def test_a_scratch_directory_is_removed_when_it_is_closed_or_no_longer_used(temporary):
    closed, dropped = scratch.ScratchDirectory(), scratch.ScratchDirectory()
    paths = [closed.path, dropped.path]
    for path in paths:
        (path / "model").write_text("weights")
    closed.close()
    closed.close()
    assert [path.exists() for path in paths] == [False, True]
    del dropped  # warnings are errors here: this one must not warn
    assert not paths[1].exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_leaves_the_scratch_directory_of_its_parent(temporary):
    script = """
import os
from manyarms.checkpoints.scratch import ScratchDirectory
kept = ScratchDirectory()
child = os.fork()
if child == 0:
    kept.close()
    raise SystemExit
os.waitpid(child, 0)
print(kept.path.exists())
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True"]
