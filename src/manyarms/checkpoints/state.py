"""The saved state of a pull: an object in one of two formats, or the user's own files."""

from __future__ import annotations

import copy
import io
import math
import pickle
import sys
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cloudpickle

from ..errors import ManyarmsError
from . import is_sound, read_regular, saved_sizes
from .objects import PlaceUnreachable, download
from .remote import Location, RemotePath
from .uploads import uploads

_PICKLED, _TENSORS = "state.pickle", "state.pt"
"""The files that `save` writes: a pickle of any object, which can run code when it is loaded, or tensors, which cannot."""

_PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)  # seconds before each new attempt to reach a remote checkpoint

_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})


class DamagedCheckpoint(BaseException):
    """A checkpoint is corrupt or missing. Not an `Exception`, so that user code does not catch it by accident."""


class SavedState:
    """The state that another pull saved: its files in `directory`, or the object that it gave to `save`.

    Args:
        place: Its checkpoint.
        scratch: Where a remote checkpoint is downloaded to.
        time_left: Returns the seconds until the pull ends, which is not spent on waiting for an unreachable checkpoint.
    """

    def __init__(self, place: Location, scratch: Path | None = None, time_left: Callable[[], float] = lambda: math.inf) -> None:
        self._place = place
        self._scratch = scratch
        self._time_left = time_left
        self._directory: Path | None = None
        self.used = False

    @property
    def directory(self) -> Path:
        """The directory with the files, whose checksums are checked first. A remote one is downloaded once."""
        self.used = True
        if self._directory is None:
            self._directory = _local(self._place, self._scratch, self._time_left)
        return self._directory

    @property
    def has_object(self) -> bool:
        """Whether an object was saved, and not only files in `directory`."""
        return _state_file(self.directory) is not None

    def load(self) -> Any:
        """The object that was saved; None if only files were saved.

        Tensors and plain values are loaded to the CPU, which runs no code. Any other object is a pickle, which can run code:
        load only those that you trust.
        """
        directory = self.directory
        try:
            name = _state_file(directory)
            if name is None:
                return None
            data = read_regular(directory / name, saved_sizes(directory)[name])
        except OSError:
            raise DamagedCheckpoint(directory.name) from None  # deleted since it was checked
        return _read_tensors(data) if name == _TENSORS else pickle.loads(data)


def _local(place: Location, scratch: Path | None, time_left: Callable[[], float]) -> Path:
    """The directory of a checkpoint, after its checksums were checked."""
    if isinstance(place, Path):
        if not is_sound(place):
            raise DamagedCheckpoint(place.name)
        return place
    if scratch is None:
        raise ValueError(f"scratch must be a directory for the remote checkpoint {place}")
    directory = scratch / place.name
    try:
        if not directory.exists() and not uploads.take(place, directory):  # or the parent of two slices was downloaded
            _download(place, directory, time_left)
    except (OSError, ManyarmsError, ImportError):  # if it cannot be read, it is trained again
        raise DamagedCheckpoint(place.name) from None
    return directory


def _download(place: RemotePath, directory: Path, time_left: Callable[[], float]) -> None:
    """Download a checkpoint. During a short outage, wait for the place, because training it again may cost hours."""
    for pause in _PAUSES:
        try:
            return download(place, directory)
        except PlaceUnreachable:
            if pause >= time_left():  # the pull would end while it waits, and fail
                raise
            time.sleep(pause)
    download(place, directory)


def _state_file(directory: Path) -> str | None:
    """The name of the file with the saved object; None if there is none. With a pickle, `state.pt` is a file of the user."""
    saved = saved_sizes(directory)  # without files that were added later, which are not checked
    return next((name for name in (_PICKLED, _TENSORS) if name in saved), None)


def packed(state: Any) -> tuple[str, bytes]:
    """The name and content of the file for a state."""
    torch = sys.modules.get("torch")  # if PyTorch is not imported, there are no tensors
    if torch is not None and (tensors := _tensors_of(state, torch)):
        file = io.BytesIO()
        try:
            state = _slim(state, tensors, torch)
            torch.save(state, file)
            file.seek(0)
            torch.load(file, map_location="meta", weights_only=True)  # fast, because it reads no numbers
            return _TENSORS, file.getvalue()
        except Exception:  # which values can be read this way depends on the version of PyTorch
            pass
    return _PICKLED, cloudpickle.dumps(state)


def _tensors_of(state: Any, torch: Any) -> list[Any]:
    """The tensors of a state that consists of tensors and plain values only; an empty list for any other state.

    Types are compared exactly, because a subclass can contain code. Attributes of a tensor or an ordered dict are saved with
    it, so they are checked too.
    """
    rest, seen, tensors = [state], set(), []
    while rest:
        part = rest.pop()
        kind = type(part)
        if kind in _PLAIN or id(part) in seen:
            continue
        seen.add(id(part))
        if kind in (list, tuple, set):
            rest += part
        elif kind in (dict, OrderedDict):
            rest += [*part, *part.values()]
        elif kind in (torch.Tensor, torch.nn.Parameter):
            tensors.append(part)
        else:
            return []
        attached = getattr(part, "__dict__", {})
        rest += [*attached, *attached.values()]
    return tensors


def _slim(state: Any, tensors: Sequence[Any], torch: Any) -> Any:
    """The state with slices of larger tensors copied, because PyTorch would save the larger tensors with them.

    Tensors that share memory are left alone.

    Args:
        state: The state, which is not changed.
        tensors: All tensors of the state.
    """
    plain = [part for part in tensors if part.layout == torch.strided]
    sharing = Counter(part.untyped_storage().data_ptr() for part in plain)
    slices = [
        part
        for part in plain
        if type(part) is torch.Tensor
        and part.nbytes < part.untyped_storage().nbytes()
        and sharing[part.untyped_storage().data_ptr()] == 1
        and not vars(part)
    ]
    cut = {id(part): part.detach().clone().requires_grad_(part.requires_grad) for part in slices}
    return copy.deepcopy(state, {id(part): part for part in tensors} | cut) if cut else state


def _read_tensors(data: bytes) -> Any:
    try:
        import torch
    except ImportError:
        raise ImportError('loading a state with tensors needs PyTorch: pip install "manyarms[torch]"') from None
    return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
