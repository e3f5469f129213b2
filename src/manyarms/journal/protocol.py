"""What a journal is: the append-only record of everything that happened in one study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Kind = Literal["asked", "told", "failed", "budget"]


@dataclass(frozen=True, slots=True)
class Event:
    """One entry. Its number is its place in the journal, from 0.

    Args:
        kind: a pull was asked for, told or failed; or the budget was changed.
        arm, start, stop: which pull.
        reward: what a told pull returned, in the user's own direction and scale.
        seconds: how long a told or failed pull took.
        data: the rest, as JSON: config and parents on an arm's first ask, the context the user gave, metrics, attributes and
            checkpoint of a told pull, the reason of a failed one, the new budget.
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
        """What was decided and learned, without what differs from run to run: times, and names of files."""
        chosen = {key: self.data[key] for key in ("config", "parents", "reason", "budget") if key in self.data}
        return self.kind, self.arm, self.start, self.stop, self.reward, chosen


class Journal(Protocol):
    """The record of one study. Only one process writes it; what `append` returned from is durable."""

    name: str

    @property
    def header(self) -> Mapping[str, Any] | None:
        """What the study was made with; None if it is new."""

    def create(self, header: Mapping[str, Any]) -> None:
        """Write the header of a new study."""

    def append(self, events: Iterable[Event]) -> None:
        """Add events at the end, all or none."""

    def events(self, since: int = 0) -> Iterator[Event]:
        """The events from number `since` on."""

    def __len__(self) -> int:
        """How many events there are."""

    def snapshot(self) -> tuple[int, str] | None:
        """The newest snapshot: how many events it covers, and its text."""

    def save_snapshot(self, covered: int, text: str) -> None:
        """Keep a snapshot in place of the one before."""

    def recommendation(self) -> tuple[int, str] | None:
        """The newest recommendation: how many events it is based on, and its text."""

    def save_recommendation(self, covered: int, text: str) -> None:
        """Keep a recommendation in place of the one before, so that readers need not replay the journal to know it."""

    def close(self) -> None:
        """Let another process write."""


@runtime_checkable
class SharedJournal(Journal, Protocol):
    """A journal with a lock that is released between writes, so that several processes and objects can take turns.

    Attributes:
        yields: Whether a journal that is opened later in the same process may take the lock over while it is not in use.
    """

    yields: bool

    @property
    def is_writer(self) -> bool:
        """Whether this object holds the lock."""

    def acquire(self) -> None:
        """Take the lock again, and find what others appended meanwhile.

        Raises:
            StudyLocked: Another process, or another object of this process, holds it.
            StorageError: The study is no longer there, or is another one.
        """

    def release(self) -> None:
        """Let others write. The journal can still be read: it has the events that it had when it was released."""

    def writing(self) -> AbstractContextManager[None]:
        """For as long as it is entered, no other object of this process can take the lock over."""
