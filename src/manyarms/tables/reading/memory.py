"""How much memory a table would take, and how much there is: to say so before the machine grinds to a halt."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import ManyarmsError

_COLUMNS = 1_000  # that tell how large all are
_UNLIMITED = 1 << 60  # how old kernels write that a group of processes has no limit


class TableTooLarge(ManyarmsError, MemoryError):
    """A table does not fit; the message names both figures and the ways out."""


def available() -> int | None:
    """The bytes this process may still take: of the machine, its control group, and its own limit. None if unknown."""
    known = [amount for amount in (_free(), _left_in_group(), _left_to_limit()) if amount is not None]
    return max(0, min(known)) if known else None


def _free() -> int | None:
    """What the machine has to give without swapping."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    if sys.platform == "win32":
        return None
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2  # no better guess than half of it
    except (OSError, ValueError):
        return None


def _left_in_group() -> int | None:
    """What a container leaves, by either version of control groups; memory that only caches files can be had back."""
    places = [("memory.max", "memory.current", "inactive_file")]
    places += [("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file")]
    for limit, used, cached in places:
        try:
            root = Path("/sys/fs/cgroup")
            most = int((root / limit).read_text(encoding="ascii"))
            taken = int((root / used).read_text(encoding="ascii"))
            lines = (root / limit).with_name("memory.stat").read_text(encoding="ascii").splitlines()
        except (OSError, ValueError):  # not there, or "max"
            continue
        back = sum(int(line.split()[1]) for line in lines if line.startswith(f"{cached} "))
        return None if most >= _UNLIMITED else most - taken + back
    return None


def _left_to_limit() -> int | None:
    """What `ulimit -v` leaves."""
    if sys.platform == "win32":
        return None
    import resource

    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):
        return most
    return most - pages * os.sysconf("SC_PAGE_SIZE")


def has_room(needed: float) -> bool:
    """Whether this many bytes surely fit: within half of what is free."""
    room = available()
    return room is not None and needed <= room / 2


def check_room(path: object, bytes_a_row: float, rows: float, copies: float) -> None:
    """Refuse a table of so many rows, of which so many copies will be made, if they do not fit."""
    room, needed = available(), bytes_a_row * rows * copies
    if room is not None and needed > room:
        raise too_large(path, needed, room, room / (bytes_a_row * copies))


def too_large(path: object, needed: float | None, room: float | None, fitting: float | None = None) -> TableTooLarge:
    """The error for a table that does not fit, or did not."""
    first = f"takes about {in_bytes(needed)} of memory to work with" if needed else "takes more memory than there is"
    second = f", and {in_bytes(room)} is free" if room is not None else ""
    rows = f"--rows {_round_half(fitting)}" if fitting is not None and fitting >= 100 else "--rows n"
    return TableTooLarge(
        f"{path} {first}{second}: use a random sample of its rows ({rows}), leave out columns, or use a larger machine"
    )


@contextmanager
def explained(path: object, needed: float | None = None) -> Iterator[None]:
    """Running out of memory with this table, in words that help."""
    try:
        yield
    except TableTooLarge:
        raise
    except MemoryError:
        raise too_large(path, needed, available()) from None


def in_bytes(amount: float) -> str:
    """A number of bytes to read, such as 1.5 GB."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if amount >= size:
            return f"{amount / size:.1f} {unit}"
    return f"{amount:.0f} bytes"


def _round_half(fitting: float) -> int:
    """About half of what would just fit, as a round number: an estimate is no promise."""
    return int(float(f"{fitting / 2:.0e}"))


def frame_bytes(frame: Any) -> float:
    """What a frame takes, including its text. Of a wide one, some columns stand for all: looking at each takes seconds."""
    columns = len(frame.columns)
    if not columns:
        return float(sys.getsizeof(frame))
    some = frame.iloc[:, :: -(-columns // _COLUMNS)]
    return float(some.memory_usage(deep=True, index=False).sum() * columns / len(some.columns) + frame.index.nbytes)
