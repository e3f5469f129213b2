"""The interface of journals: append-only records of everything that happened in a study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Kind = Literal["asked", "told", "failed", "budget"]


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a journal. Its number is its position in the journal, starting at 0.

    Args:
        kind: Whether a pull was asked for, told or failed, or the budget was changed.
        arm, start, stop: The pull.
        reward: Reward of a told pull, in the user's direction and scale.
        seconds: Duration of a told or failed pull.
        data: Everything else, as JSON: config and parents with the first pull of an arm, the context given by the user,
            metrics, attributes and checkpoint of a told pull, the reason of a failed one, or the new budget.
    """

    kind: Kind
    arm: int | None = None
    start: int | None = None
    stop: int | None = None
    reward: float | None = None
    seconds: float | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def decision(self) -> tuple[Any, ...]:
        """The decision and its reward, without times and file names, which differ between runs."""
        chosen = {key: self.data[key] for key in ("config", "parents", "reason", "budget") if key in self.data}
        return self.kind, self.arm, self.start, self.stop, self.reward, chosen


class Journal(Protocol):
    """The record of one study. Only one process writes to it. Events are durable when `append` returns."""

    name: str

    @property
    def header(self) -> Mapping[str, Any] | None:
        """The settings that the study was created with; None if it is new."""

    def create(self, header: Mapping[str, Any]) -> None:
        """Write the header of a new study."""

    def append(self, events: Iterable[Event]) -> None:
        """Add events at the end, either all or none of them."""

    def events(self, since: int = 0) -> Iterator[Event]:
        """The events, starting with number `since`."""

    def __len__(self) -> int:
        """The number of events."""

    def snapshot(self) -> tuple[int, str] | None:
        """The newest snapshot: the number of events it covers, and its text."""

    def save_snapshot(self, covered: int, text: str) -> None:
        """Store a snapshot, replacing the previous one."""

    def recommendation(self) -> tuple[int, str] | None:
        """The newest recommendation: the number of events it is based on, and its text."""

    def save_recommendation(self, covered: int, text: str) -> None:
        """Store a recommendation, replacing the previous one, so that readers need not replay the journal."""

    def close(self) -> None:
        """Close the journal, so that another process can write it."""


@runtime_checkable
class SharedJournal(Journal, Protocol):
    """A journal with a lock that is released between writes, so that several processes and objects can take turns.

    Attributes:
        yields: Whether a journal opened later in the same process may take over the lock while it is not in use.
    """

    yields: bool

    @property
    def is_writer(self) -> bool:
        """Whether this object holds the lock."""

    def acquire(self) -> None:
        """Take the lock again, and read what others appended in the meantime.

        Raises:
            StudyLocked: Another process, or another object of this process, holds it.
            StorageError: The study no longer exists, or was replaced by another one.
        """

    def release(self) -> None:
        """Release the lock. The journal can still be read, up to the events that it had then."""

    def writing(self) -> AbstractContextManager[None]:
        """A context in which no other object of this process can take over the lock."""
