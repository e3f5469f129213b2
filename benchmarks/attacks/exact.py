"""What holds for every finished study, whatever happened to the processes that ran it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import manyarms as ma


def problems(storage: str, name: str, budget: int, directory: Path) -> Iterator[str]:
    """What is wrong with a finished study: steps lost or counted twice, decisions that cannot be repeated, or leftover files.

    Args:
        storage, name: The study.
        budget: The steps that it must have spent.
        directory: The parent of its directory of checkpoints.
    """
    with ma.load_study(storage, name) as study:
        if study.counts.steps != budget:
            yield f"{study.counts.steps} steps instead of {budget}"
        if study.counts.in_flight:
            yield f"{len(study.counts.in_flight)} pulls in flight"
        ended = [(event.arm, event.start) for event in study.journal.events() if event.kind in ("told", "failed")]
        if len(ended) != len(set(ended)):
            yield f"{len(ended) - len(set(ended))} pulls are recorded twice"
        failed = [event.data.get("reason") for event in study.journal.events() if event.kind == "failed"]
        if failed:
            yield f"{len(failed)} pulls failed, such as: {failed[0]}"
        needed = study.counts.needed()
    left = {path.name for place in directory.iterdir() for path in place.iterdir()} - needed - {"owner.json"}
    if left:
        yield f"{len(left)} files are left over, such as {min(left)}"
    verified = subprocess.run(
        [sys.executable, "-m", "manyarms", "verify", storage, name], capture_output=True, text=True, check=False
    )
    if verified.returncode:
        yield f"verify: {verified.stdout or verified.stderr}"


def decisions(storage: str, name: str) -> list[tuple[Any, ...]]:
    """What a study decided and learned, event by event."""
    with ma.load_study(storage, name) as study:
        return [event.decision for event in study.journal.events()]
