"""Finds the line of the user's code that raised an error, in the traceback of a failed pull."""

from __future__ import annotations

import os
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

_TRACEBACK = "Traceback (most recent call last):\n"
_FRAME = re.compile(r'[\s|]*File "(?P<path>.+)", line (?P<line>\d+)')
_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_STANDARD_LIBRARY = sysconfig.get_path("stdlib") + os.sep
_PACKAGE_ELSEWHERE = re.compile(r"[/\\]site-packages[/\\]manyarms[/\\]")  # the traceback may be from another machine
_INSTALLED = re.compile(r"[/\\](site-packages|dist-packages|lib[/\\]python\d[\d.]*)[/\\]|^<(frozen |__array_function__)")


def place_of(details: str) -> str | None:
    r"""The last line of the user's code in a traceback; None if there is none.

    If all code is installed, such as a function of a package, it is the line closest to the call of the training function.

    >>> place_of('Traceback (most recent call last):\n  File "/home/me/train.py", line 12, in train\nKeyError: 1')
    'train.py, line 12'
    """
    frames = [frame for frame in _frames(details) if not _is_of_this_package(frame[0])]
    own = [frame for frame in frames if not _is_installed(frame[0])]
    called = [frame for frame in frames if not frame[0].startswith((_STANDARD_LIBRARY, "<frozen "))]
    if not own and not called:
        return None
    path, line = own[-1] if own else called[0]
    name = re.split(r"[/\\]", path)[-1]
    return f"{name}, line {line}"


def has_frames(details: str) -> bool:
    """Whether the text has lines of a traceback. They are missing if a long message has cut them off."""
    return next(_frames(details), None) is not None


def _frames(details: str) -> Iterator[tuple[str, str]]:
    """The path and line of each frame of the last traceback in the text, whose beginning may be missing."""
    started = False
    for text in details.rpartition(_TRACEBACK)[2].splitlines():
        found = _FRAME.match(text)
        if found is not None:
            started = True
            yield found["path"], found["line"]
        elif started and text[:1].strip():
            return  # the message of the exception


def _is_of_this_package(path: str) -> bool:
    return path.startswith(_PACKAGE) or _PACKAGE_ELSEWHERE.search(path) is not None


def _is_installed(path: str) -> bool:
    return path.startswith(_STANDARD_LIBRARY) or _INSTALLED.search(path) is not None
