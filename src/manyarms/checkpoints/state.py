"""What a pull saved, as files: an object in one of two formats, or files of its own."""

from __future__ import annotations

import copy
import io
import pickle
import sys
from collections import Counter, OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cloudpickle

from . import is_sound, read_regular, saved_sizes

_PICKLED, _TENSORS = "state.pickle", "state.pt"
"""The files that `save` writes: any object, which runs code when loaded; tensors and plain values, which never do."""

_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})


class DamagedCheckpoint(BaseException):
    """A checkpoint is not what it was when it was saved. Not an `Exception`: no user code should swallow it."""


class SavedState:
    """What another pull saved: its files in `directory`, or the object it gave to `save`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._checked = False
        self.used = False

    @property
    def directory(self) -> Path:
        """The files, checked against their checksums."""
        self.used = True
        if not self._checked and not is_sound(self._directory):
            raise DamagedCheckpoint(self._directory.name)
        self._checked = True
        return self._directory

    @property
    def has_object(self) -> bool:
        """Whether an object was given to `save`, rather than only files left in `directory`."""
        return _state_file(self.directory) is not None

    def load(self) -> Any:
        """The object that was saved; None if only files were.

        Tensors and plain values are loaded to the CPU, and run no code. Any other object is a pickle, which runs what is in
        it: load only those that you trust.
        """
        directory = self.directory
        try:
            name = _state_file(directory)
            if name is None:
                return None
            data = read_regular(directory / name, saved_sizes(directory)[name])
        except OSError:
            raise DamagedCheckpoint(directory.name) from None  # dropped since it was checked
        return _read_tensors(data) if name == _TENSORS else pickle.loads(data)


def _state_file(directory: Path) -> str | None:
    """The name of the file with the object that was saved; None if there is none. `state.pt` beside a pickle is the user's."""
    saved = saved_sizes(directory)  # a file that was added later was never checked
    return next((name for name in (_PICKLED, _TENSORS) if name in saved), None)


def packed(state: Any) -> tuple[str, bytes]:
    """The file that a state is written to: its name, and its content."""
    torch = sys.modules.get("torch")  # not imported, it has made no tensors
    if torch is not None and (tensors := _tensors_of(state, torch)):
        file = io.BytesIO()
        try:
            state = _slim(state, tensors, torch)
            torch.save(state, file)
            file.seek(0)
            torch.load(file, map_location="meta", weights_only=True)  # without the numbers, so it costs little
            return _TENSORS, file.getvalue()
        except Exception:  # which values can be read back so depends on the version
            pass
    return _PICKLED, cloudpickle.dumps(state)


def _tensors_of(state: Any, torch: Any) -> list[Any]:
    """The tensors of a state that is made of nothing but tensors and plain values; none of any other.

    Types are compared exactly, since a class derived from these can bring code. What is attached to a tensor, or to an
    ordered dict, is saved with it, so it is looked at too.
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
    """The state without what a slice was cut from, which PyTorch would save with it. Tensors that share their numbers stay.

    Args:
        state: is not changed.
        tensors: all that it has.
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
