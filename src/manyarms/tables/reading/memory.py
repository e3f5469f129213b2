"""How much memory a table needs and how much is free, to refuse a table that does not fit before it is read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from ..errors import TableTooLarge

_COLUMNS = 1_000  # columns from which the size of a wide table is estimated
_UNLIMITED = 1 << 60  # old kernels write a number like this for a control group without a limit


def available() -> int:
    """The bytes that this process can still allocate: on the machine, in its control group, and within its own limit."""
    limits = (psutil.virtual_memory().available, _left_in_group(), _left_to_limit())
    return max(0, min(amount for amount in limits if amount is not None))


def _left_in_group() -> int | None:
    """What a container leaves, for both versions of control groups. Memory that only caches files can be reclaimed."""
    places = [("memory.max", "memory.current", "inactive_file")]
    places += [("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file")]
    for limit, used, cached in places:
        try:
            root = Path("/sys/fs/cgroup")
            most = int((root / limit).read_text(encoding="ascii"))
            taken = int((root / used).read_text(encoding="ascii"))
            lines = (root / limit).with_name("memory.stat").read_text(encoding="ascii").splitlines()
        except (OSError, ValueError):  # no such file, or "max"
            continue
        reclaimable = sum(int(line.split()[1]) for line in lines if line.startswith(f"{cached} "))
        return None if most >= _UNLIMITED else most - taken + reclaimable
    return None


def _left_to_limit() -> int | None:
    """What `ulimit -v` leaves."""
    if sys.platform == "win32":
        return None
    import resource

    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if most == resource.RLIM_INFINITY else most - psutil.Process().memory_info().vms


def has_room(needed: float) -> bool:
    """Whether this many bytes certainly fit: within half of the free memory."""
    return needed <= available() / 2


def check_room(path: object, bytes_per_row: float, rows: float, copies: float) -> None:
    """Raise an error if this many copies of a table do not fit."""
    room, needed = available(), bytes_per_row * rows * copies
    if needed > room:
        raise too_large(path, needed, room, room / (bytes_per_row * copies))


def too_large(path: object, needed: float | None, room: float, fitting: float | None = None) -> TableTooLarge:
    """The error for a table that does not fit, or that ran out of memory."""
    needs = f"needs about {in_bytes(needed)} of memory" if needed else "needs more memory than there is"
    rows = _round_half(fitting) if fitting is not None and fitting >= 100 else None
    return TableTooLarge(f"{path} {needs}, and {in_bytes(room)} is free", rows)


@contextmanager
def explained(path: object, needed: float | None = None) -> Iterator[None]:
    """Raise `TableTooLarge` instead of a bare `MemoryError`."""
    try:
        yield
    except TableTooLarge:
        raise
    except MemoryError:
        raise too_large(path, needed, available()) from None


def in_bytes(amount: float) -> str:
    """A number of bytes as text, such as 1.5 GB."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if amount >= size:
            return f"{amount / size:.1f} {unit}"
    return f"{amount:.0f} bytes"


def _round_half(fitting: float) -> int:
    """About half of the rows that would just fit, as a round number, because the size is an estimate."""
    return int(float(f"{fitting / 2:.0e}"))


def frame_bytes(frame: Any) -> float:
    """The memory of a data frame, including its text. For a wide table it is estimated from some columns."""
    columns = len(frame.columns)
    if not columns:
        return float(sys.getsizeof(frame))
    some = frame.iloc[:, :: -(-columns // _COLUMNS)]
    return float(some.memory_usage(deep=True, index=False).sum() * columns / len(some.columns) + frame.index.nbytes)
