"""A small disk of its own for a test that fills it or makes it read-only, where this machine lets us mount one."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def small_disk(place, size):
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "manyarms", str(place)]
    mounted = subprocess.run(command, capture_output=True, check=False, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"mounting a small disk was refused: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
