"""The pull as the user's function sees it while it runs."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from ..checkpoints import MANIFEST, claim
from ..checkpoints.state import SavedState, packed
from ..core import Pull
from .timer import Timer


class PullStopped(BaseException):
    """The time of the pull is over, so that it ends at this report. Not an `Exception`: no user code should swallow it."""


class RunningPull(Mapping[str, Any]):
    """One slice of training, from `start` to `stop` steps. It can also be read like the config itself: `pull["lr"]`.

    Attributes:
        config: what the space made.
        arm: the id of the arm.
        start, stop: the steps to train.
        seed: the same for this slice of this arm on any machine, after any restart.
        parent: on the first pull of a mutant, the saved state of the arm it came from; None if there is none.
        stopped_early: Whether a report has ended the pull, because its time was over.
    """

    def __init__(
        self,
        pull: Pull,
        seed: int,
        staged: Path,
        previous: Path | None = None,
        parent: Path | None = None,
        room: int | None = None,
        owner: str | None = None,
        timer: Timer | None = None,
    ) -> None:
        self.config = copy.deepcopy(pull.config)  # the function's own, to take apart as it likes
        self.arm = pull.arm.id
        self.start = pull.start
        self.stop = pull.stop
        self.seed = seed
        self.parent = SavedState(parent) if parent is not None else None
        self.curve: list[float] = []
        self.unsaved: str | None = None
        self.refused = 0  # bytes that found no room
        self._previous = SavedState(previous) if previous is not None else None
        self._staged = staged
        self._saved_as: str | None = None
        self._room = room
        self._owner = owner
        self._timer = timer
        self.stopped_early = False

    @property
    def steps(self) -> int:
        """How many steps of training this pull is."""
        return self.stop - self.start

    @property
    def previous(self) -> Path | None:
        """The directory of files that the arm's last pull left; None on its first."""
        return self._previous.directory if self._previous is not None else None

    @property
    def directory(self) -> Path:
        """A directory to save files in; kept when the pull returns."""
        if self._owner is not None and not self._staged.is_dir():
            claim(self._staged.parent, self._owner)
        self._staged.mkdir(parents=True, exist_ok=True)
        return self._staged

    def load(self) -> Any:
        """What the arm's last pull saved, as `SavedState.load` gives it; None on its first."""
        return self._previous.load() if self._previous is not None else None

    def save(self, state: Any) -> None:
        """Save any Python object, to be loaded by the arm's next pull, by its mutants and by `study.best_model()`.

        PyTorch's tensors, alone or in dicts, lists, tuples and sets with plain values, such as the `state_dict()` of a module
        or an optimiser, are written to `state.pt` by `torch.save`: loading them runs no code, and gives them on the CPU,
        wherever they were. Any other object is pickled, to `state.pickle`.

        If the disk is full the pull goes on without: the arm will be trained again to this point should it be needed.
        """
        name, data = packed(state)
        if self._saved_as is not None and self._saved_as != name:
            (self._staged / self._saved_as).unlink(missing_ok=True)  # what counts is the last time
        self._saved_as = name
        self.save_file(name, data)

    def save_file(self, name: str, data: bytes) -> None:
        """Save bytes as a file in `directory`, for formats of your own. If the disk is full the pull continues without it.

        Args:
            name: The name of the file, or its relative path, such as "weights/layer-1.bin".
            data: Its content.
        """
        path = _inside(name)
        self.unsaved, self.refused = None, 0  # what counts is the last time
        if self._room is not None and len(data) > self._room:
            self.unsaved, self.refused = f"{len(data)} bytes, but max_bytes leaves {self._room}", len(data)
            return
        try:
            file = self.directory / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        except OSError as error:
            self.unsaved = str(error)

    @property
    def time_left(self) -> float:
        """Seconds until this pull should end, at least 0; infinity if there is no limit.

        That is the least of what is left of the `timeout` of `optimize`, of `pull_timeout`, and of this worker's share of a
        budget of time.
        """
        return math.inf if self._timer is None else self._timer.left()

    def report(self, reward: Any) -> None:
        """Note a point of the learning curve. If the time of the pull is over, it ends here, with this reward.

        Its state is then what it has saved so far. Where `pull_timeout` would end it, and so fail it, before another report
        is to be expected, it ends here too.
        """
        self.curve.append(float(reward))
        if self._timer is not None and self._timer.is_last_report():
            self.stopped_early = True
            raise PullStopped

    def __getitem__(self, name: str) -> Any:
        return self.config[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.config)

    def __len__(self) -> int:
        return len(self.config)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<pull of arm {self.arm} from {self.start} to {self.stop}: {self.config!r}>"


def _inside(name: str) -> PurePath:
    """The path of a file to save, relative to the directory of the pull."""
    if not isinstance(name, str):
        raise TypeError(f"name must be text, got {name!r}")
    path = PurePath(name)
    if not path.parts or path.anchor or ".." in path.parts or "\0" in name:
        raise ValueError(f'name must be a file inside the directory of the pull, such as "weights.bin", got {name!r}')
    if len(path.parts) == 1 and path.name.casefold() == MANIFEST:
        raise ValueError(f"name must not be {MANIFEST!r}, which lists the files of a checkpoint, got {name!r}")
    return path


def finite_curve(curve: list[float]) -> tuple[float, ...]:
    """The reported rewards that can be stored."""
    return tuple(point for point in curve if math.isfinite(point))
