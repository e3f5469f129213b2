"""The task of a worker: a pull, its seed, where to load from and where to save."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from ..checkpoints import remove
from ..checkpoints.retraining import Slice
from ..core import Pull


@dataclass(frozen=True, slots=True)
class Task:
    """Everything a worker needs to run one pull.

    Args:
        pull: The pull.
        seed: Random seed for the pull.
        previous: The newest checkpoint of the arm; None on its first pull.
        parent: The checkpoint of the arm that it was mutated from, on its first pull.
        staged: Where to write the checkpoint.
        final: Where to move the checkpoint when it is complete.
        room: Maximum size of the checkpoint in bytes; None means no limit.
        recipe: Pulls to train again first. The last one of this arm gives `previous`; the last one of its parent, `parent`.
        attempt: Number of times the pull was started, including this time.
        losses: Number of times that its worker left the cluster before it ended.
        lasting: Whether the checkpoint must survive a power cut. Otherwise nothing waits for the disk.
        owner: The content of the owner file of the directory; None if the directory has no owner.
        time_left: Seconds after the start at which the pull should end. The next report after that ends it.
        kill_after: Seconds after the start at which the runner ends the pull, so that it fails.
    """

    pull: Pull
    seed: int
    previous: Path | None
    parent: Path | None
    staged: Path
    final: Path
    room: int | None = None
    recipe: tuple[Slice, ...] = ()
    attempt: int = 1
    losses: int = 0
    lasting: bool = True
    owner: str | None = None
    time_left: float = math.inf
    kill_after: float = math.inf

    def discard(self) -> None:
        """Remove the files of an attempt that returned no outcome."""
        remove(self.staged)
        remove(self.final)
