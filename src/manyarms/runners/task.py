"""The task of a worker: a pull, its seed, where to load from and where to save."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..checkpoints import remove
from ..checkpoints.objects import remove as remove_remote
from ..checkpoints.remote import Location, RemotePath
from ..checkpoints.retraining import Slice
from ..checkpoints.scratch import process_directory
from ..core import Pull


@dataclass(frozen=True, slots=True)
class Task:
    """Everything a worker needs to run one pull. It can be pickled and sent to another machine.

    Args:
        pull: The pull.
        seed: Random seed for the pull.
        previous: The newest checkpoint of the arm; None on its first pull.
        parent: The checkpoint of the arm that it was mutated from, on its first pull.
        staged: Where to write the checkpoint; None if `final` is remote. It is then written to a temporary directory of the
            machine that runs the pull, and uploaded.
        final: Where to move the checkpoint when it is complete.
        room: Maximum size of the checkpoint in bytes; None means no limit.
        recipe: Pulls to train again first. The last one of this arm gives `previous`; the last one of its parent, `parent`.
        attempt: Number of times the pull was started, including this time.
        losses: Number of times that its worker left the cluster before it ended.
        lasting: Whether the checkpoint must survive a power cut. Otherwise nothing waits for the disk.
        owner: The content of the owner file of the directory; None if the directory has no owner, or has been claimed.
        time_left: Seconds after the start at which the pull should end. The next report after that ends it.
        start_within: Seconds after it was submitted at which the search ends. If no worker runs anything then, a cluster runner
            stops waiting for one.
        kill_after: Seconds after the start at which the runner ends the pull, so that it fails.
    """

    pull: Pull
    seed: int
    previous: Location | None
    parent: Location | None
    staged: Path | None
    final: Location
    room: int | None = None
    recipe: tuple[Slice, ...] = ()
    attempt: int = 1
    losses: int = 0
    lasting: bool = True
    owner: str | None = None
    time_left: float = math.inf
    start_within: float = math.inf
    kill_after: float = math.inf

    @contextmanager
    def writing(self) -> Iterator[Path]:
        """Context manager for the directory to write the checkpoint to, which does not exist yet.

        If `final` is remote, the directory above it holds downloads too, and is removed at the end.
        """
        if self.staged is not None:
            yield self.staged
            return
        workspace = Path(tempfile.mkdtemp(dir=process_directory()))
        try:
            yield workspace / "staged"
        finally:
            remove(workspace)

    def discard(self) -> None:
        """Remove the files of an attempt that returned no outcome."""
        if self.staged is not None:
            remove(self.staged)
        if isinstance(self.final, RemotePath):
            remove_remote([self.final])
        else:
            remove(self.final)
