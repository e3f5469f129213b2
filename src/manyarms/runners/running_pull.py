"""The pull that a training function receives."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from ..checkpoints import MANIFEST, claim
from ..checkpoints.remote import Location
from ..checkpoints.state import SavedState, packed
from ..core import Arm, Pull
from .timer import Timer


class PullStopped(BaseException):
    """Ends a pull at a report because its time is up. Not an `Exception`, so that user code does not catch it by accident."""


class RunningPull(dict[str, Any]):
    """The argument of a training function: one slice of training of one arm, from `start` to `stop` steps.

    It is also a dict with the values of the config, so `pull["lr"]`, `pull.get("lr")` and `Model(**pull)` work. A config that
    is not a mapping, such as the graph of a network, is only available as `pull.config`. A copy of a pull is a plain dict, and
    so is a pickled pull.

    Attributes:
        config: The config, a copy that the function may change.
        arm: The arm, with its `id`, `config` and `parents`.
        start, stop: The steps to train.
        seed: Random seed for this slice. It is the same on any machine and after any restart.
        parent: The saved state of the arm that this arm was mutated from, on the first pull of a mutant; otherwise None.
        stopped_early: Whether a report ended the pull because its time was up.
    """

    def __init__(
        self,
        pull: Pull,
        seed: int,
        staged: Path,
        previous: Location | None = None,
        parent: Location | None = None,
        room: int | None = None,
        owner: str | None = None,
        timer: Timer | None = None,
    ) -> None:
        self.config: Any = copy.deepcopy(pull.config)
        super().__init__(self.config if isinstance(self.config, Mapping) else {})
        self.arm: Arm = Arm(pull.arm.id, self.config, pull.arm.parents)
        self.start = pull.start
        self.stop = pull.stop
        self.seed = seed
        self.parent = SavedState(parent, staged.parent, lambda: self.time_left) if parent is not None else None
        self.curve: list[float] = []
        self.unsaved: str | None = None
        self.refused = 0  # bytes that did not fit
        self._previous = SavedState(previous, staged.parent, lambda: self.time_left) if previous is not None else None
        self._staged = staged
        self._saved_as: str | None = None
        self._room = room
        self._owner = owner
        self._timer = timer
        self.stopped_early = False

    @property
    def steps(self) -> int:
        """Number of steps to train: `stop - start`."""
        return self.stop - self.start

    @property
    def previous(self) -> Path | None:
        """The directory with the files that the arm's last pull saved; None on its first pull."""
        return self._previous.directory if self._previous is not None else None

    @property
    def directory(self) -> Path:
        """A directory for your own files. It becomes the arm's checkpoint when the function returns."""
        if self._owner is not None and not self._staged.is_dir():
            claim(self._staged.parent, self._owner)
        self._staged.mkdir(parents=True, exist_ok=True)
        return self._staged

    def load(self) -> Any:
        """The object that the arm's last pull saved; None on its first pull. See `SavedState.load`."""
        return self._previous.load() if self._previous is not None else None

    def save(self, state: Any) -> None:
        """Save any Python object. The arm's next pull, its mutants and `study.best_model()` can load it.

        PyTorch tensors, alone or in dicts, lists, tuples and sets with plain values, such as the `state_dict()` of a module
        or an optimizer, are written to `state.pt` by `torch.save`. Loading them runs no code and puts them on the CPU. Any
        other object is pickled to `state.pickle`.

        If the disk is full, the pull continues without saving. The arm is trained again to this point if it is needed.
        """
        name, data = packed(state)
        if self._saved_as is not None and self._saved_as != name:
            (self._staged / self._saved_as).unlink(missing_ok=True)  # the last call to `save` counts
        self._saved_as = name
        self.save_file(name, data)

    def save_file(self, name: str, data: bytes) -> None:
        """Save bytes as a file in `directory`, for custom formats. If the disk is full, the pull continues without the file.

        Args:
            name: The name of the file, or its relative path, such as "weights/layer-1.bin".
            data: Its content.
        """
        path = _inside(name)
        self.unsaved, self.refused = None, 0  # the last call counts
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

        This is the smallest of the times left of `timeout`, of `pull_timeout`, and of this worker's share of a time budget.
        """
        return math.inf if self._timer is None else self._timer.left()

    def report(self, reward: Any) -> None:
        """Record a point of the learning curve. If the pull's time is up, the pull ends here with this reward.

        Its state is then whatever it has saved so far. A pull also ends here if it would otherwise exceed `pull_timeout`
        before the next report and fail.
        """
        self.curve.append(float(reward))
        if self._timer is not None and self._timer.is_last_report():
            self.stopped_early = True
            raise PullStopped

    def __missing__(self, name: str) -> Any:
        return self.config[name]  # also the items of a list; a missing name raises the error of the config itself

    def __iter__(self) -> Iterator[str]:
        return super().__iter__() if isinstance(self.config, Mapping) else iter(self.config)

    def __len__(self) -> int:
        return super().__len__() if isinstance(self.config, Mapping) else len(self.config)

    def __bool__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        kind = type(self.__dict__.get("config")).__name__
        raise AttributeError(f"a pull has no attribute {name!r}. Its config, a {kind}, is pull.config.", name=name, obj=self)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return dict, (dict(self),)

    def __repr__(self) -> str:
        return f"<pull of arm {self.arm.id} from {self.start} to {self.stop}: {self.config!r}>"


def _inside(name: str) -> PurePath:
    """The path of a file to save, relative to the directory of the pull."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}")
    path = PurePath(name)
    if not path.parts or path.anchor or ".." in path.parts or "\0" in name:
        raise ValueError(f'name must be a file inside the directory of the pull, such as "weights.bin", got {name!r}')
    if len(path.parts) == 1 and path.name.casefold() == MANIFEST:
        raise ValueError(f"name must not be {MANIFEST!r}, which lists the files of a checkpoint, got {name!r}")
    return path


def finite_curve(curve: list[float]) -> tuple[float, ...]:
    """The reported rewards that can be stored."""
    return tuple(point for point in curve if math.isfinite(point))
