"""Pickles training functions, to send them to other processes and machines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import cloudpickle

from .execute import Function


def pickled(function: Function) -> bytes:
    """The function with everything that it refers to, as bytes. Raises `TypeError` if it cannot be pickled."""
    with _refusing_what_cannot_be_pickled():
        return bytes(cloudpickle.dumps(function))


def check_picklable(function: Function) -> None:
    """Raise `TypeError` if the function cannot be pickled. Uses little memory, even if its data are large."""
    with _refusing_what_cannot_be_pickled():
        cloudpickle.dump(function, _Nowhere())


@contextlib.contextmanager
def _refusing_what_cannot_be_pickled() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise TypeError(
            f"the function cannot be sent to worker processes ({type(error).__name__}: {error}): "
            "create objects that cannot be pickled inside the function, or use workers=1"
        ) from error


class _Nowhere:
    """A file that discards what is written to it, which may be large."""

    def write(self, data: Any) -> int:
        return memoryview(data).nbytes  # a large array is written as a buffer, which has no length
