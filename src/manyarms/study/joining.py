"""Lets processes that run the same script share a study: one of them leads it, and the others work for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import checks
from ..checkpoints.location import directories, owner_of
from ..checkpoints.owner import says
from ..errors import StorageError, StudyLocked, StudyNotFound, WorkerError
from ..journal.database import parse_url
from ..journal.header import stored_header
from ..journal.sql import SqlJournal
from ..journal.timeouts import Timeouts
from ..runners.execute import Function
from .search_log import log_line

if TYPE_CHECKING:
    from ..runners.engines.joined import Leader
    from .study import Study

_PAUSE = 0.5  # seconds between attempts to find the leader of a study


@dataclass(frozen=True, slots=True)
class Joining:
    """How a process joins a study.

    Args:
        storage: URL of the storage.
        name: Name of the study.
        host: The address at which other machines can reach this one.
        workers: Number of pulls that this process runs at once.
        pull_timeout, resources: As for `Study.optimize`.
        timeout: Seconds after which this process stops; None means no limit.
        verbose: 0, 1 or 2, as for `Study.optimize`.
    """

    storage: str
    name: str
    host: str
    workers: int
    pull_timeout: float | str | None
    resources: Mapping[str, float] | None
    timeout: float | None
    verbose: int

    def run(
        self,
        open_study: Callable[[], Study],
        check: Callable[[Mapping[str, Any]], None],
        function: Function,
        options: Mapping[str, Any],
    ) -> Study:
        """Lead the study, or work for the process that leads it, until it is done. Returns the finished study.

        If the leader ends before the study is done, one of the other processes leads it from then on.

        Args:
            open_study: Opens the study for writing.
            check: Called with the header of a study. Raises an error if this process cannot continue the study.
            function: The training function.
            options: The other arguments of `Study.optimize`.
        """
        ends = None if self.timeout is None else time.monotonic() + self.timeout
        known = waited = False  # whether the storage was reached before, and whether this process waits for a leader
        while True:
            try:
                study = self._opened(open_study, known)
            except StudyLocked:
                if not waited:
                    self._say("another process is writing this study; waiting to join it")
                known = waited = True
                if not self._work(ends, check):
                    raise StudyLocked(
                        f"study {self.name!r} is not done, but this process has reached its timeout; another one continues it"
                    ) from None
                continue
            known, waited = True, False
            try:
                self._lead(study, function, options, ends)
                return study
            except StudyLocked as error:  # taken over by another process, while this one could not reach the storage
                self._say(str(error))
                study.close()
            except BaseException:
                study.close()
                raise

    def _opened(self, open_study: Callable[[], Study], known: bool) -> Study:
        """Open the study. If the storage was reached before, wait for it to come back."""
        patience = time.monotonic() + (Timeouts.of(parse_url(self.storage)).reconnect if known else 0.0)
        while True:
            try:
                return open_study()
            except StudyLocked:
                raise
            except StorageError as error:
                if time.monotonic() >= patience:
                    raise
                self._say(f"waiting for the storage: {error}")
                time.sleep(_PAUSE)

    def _lead(self, study: Study, function: Function, options: Mapping[str, Any], ends: float | None) -> None:
        from ..runners.engines.joined import LeadingRunner

        runner = LeadingRunner(self.workers, self.pull_timeout, self.resources, self.host)
        left = None if ends is None else max(0.001, ends - time.monotonic())
        study.optimize(function, runner=runner, **{**options, "timeout": left})

    def _work(self, ends: float | None, check: Callable[[Mapping[str, Any]], None]) -> bool:
        """Work for the process that leads the study. Returns False if this process has reached its timeout."""
        from ..runners.engines.joined import work_for

        if ends is not None and time.monotonic() >= ends:
            return False
        leader = self._leader(check)
        left = None if ends is None else ends - time.monotonic()
        if leader is None:
            time.sleep(_PAUSE)  # the leader is starting, or about to end
            return True
        self._say(f"running pulls for the leader of the study at {leader.address}")
        if not work_for(leader, self.workers, self.resources, self.host, left):
            time.sleep(_PAUSE)
        return ends is None or time.monotonic() < ends

    def _say(self, message: str) -> None:
        log_line(self.name, message, self.verbose)

    def _leader(self, check: Callable[[Mapping[str, Any]], None]) -> Leader | None:
        """The leader of the study; None if there is none.

        Raises:
            StudyMismatch: The study was created with other arguments.
            WorkerError: This machine cannot read the checkpoints of the study.
        """
        from ..runners.engines.joined import Leader

        try:
            with closing(SqlJournal(self.storage, self.name, write=False)) as journal:
                text, header = journal.leader(), stored_header(journal)
                if text is None or header is None:
                    return None
                owner = owner_of(journal, header)
                places = directories(journal, header)
        except (StudyNotFound, StorageError):
            return None  # the study is being created, or the storage cannot be reached at the moment
        check(header)
        if not any(says(place, owner.record(place) or "null") for place in places):
            raise WorkerError(
                f"this machine cannot read the checkpoints of study {self.name!r} in {str(places[0])!r}: use a directory that "
                'all machines share, or a URL such as checkpoints="s3://bucket/models"'
            )
        return Leader.from_text(text)


def joining(
    join: bool | str,
    storage: Any,
    name: str,
    *,
    workers: int | str | None,
    pull_timeout: float | str | None,
    resources: Mapping[str, float] | None,
    runner: Any,
    deterministic: bool,
    timeout: float | str | None,
    verbose: int,
) -> Joining:
    """How to join a study. The arguments are those of `tune`."""
    if join is not True and not isinstance(join, str):
        raise TypeError(f"join must be True, False or the address of this machine, got {join!r}")
    if not isinstance(storage, str):
        raise ValueError(
            f'join needs a storage that all processes can reach, such as "postgresql://host/base", got {storage!r}'
        )
    if runner is not None:
        raise ValueError(f"runner cannot be combined with join, got {runner!r}: the processes that join run the pulls")
    if deterministic:
        raise ValueError("deterministic cannot be combined with join, because the number of workers changes")
    from ..runners.engines.joined import reachable_host

    url = parse_url(storage)
    server = (url.host, url.port or 5432) if url.host else None
    if workers is not None and not isinstance(workers, int):
        raise ValueError(f"workers must be the number of pulls that this process runs at once if join is set, got {workers!r}")
    return Joining(
        storage,
        name,
        join if isinstance(join, str) else reachable_host(server),
        1 if workers is None else checks.whole("workers", workers, 1),
        pull_timeout,
        resources,
        None if timeout is None else checks.seconds("timeout", timeout),
        verbose,
    )
