"""A read-only view of a study: the best arm, and everything that was tried."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..budget import Budget
from ..checkpoints.location import directories, find_checkpoint
from ..checkpoints.objects import download
from ..checkpoints.remote import RemotePath
from ..checkpoints.scratch import ScratchDirectory
from ..core import Arm, sign_of, with_own_config
from ..errors import NoResult, StudyMismatch, StudyNotFound
from ..journal import Journal, open_journal
from ..journal.header import stored_header
from ..spaces import as_space
from ..strategies import Strategy, uses_mean
from . import frames
from .counts import ArmRecord, Counts
from .header import restored_strategy
from .no_result import no_result
from .recommendation import Recommendation, recommend, recommended, stored_recommendation
from .replay import StudyState
from .study_html import study_html
from .summary import counted, limits_of, remaining, summary
from .write_access import reading

if TYPE_CHECKING:
    import pandas as pd

    from ..plots import History, StudyPlots
    from ..runners.execute import Function


_NAME = "study"  # of the studies that `tune` and `Study` make if they get no name


class StudyView:
    """A study that can be read. `load_study` returns one; a `Study` can also be written to.

    Args:
        journal: The record of everything that happened.
        header: The arguments that the study was created with.
        counts: The counts of its arms and pulls.
        state: The strategy and the counts after all events; None if the journal was not replayed.
        storage_options: Arguments of the fsspec file system, if the checkpoints are at a URL.
    """

    def __init__(
        self,
        journal: Journal,
        header: Mapping[str, Any],
        counts: Counts,
        state: StudyState | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.journal = journal
        self.name = journal.name
        self.header = header
        self.counts = counts
        self._state = state
        self._storage_options = storage_options
        self._downloads: ScratchDirectory | None = None
        self._closed = False

    def __repr__(self) -> str:
        return summary(self)

    def _repr_html_(self) -> str:
        return study_html(self)

    @property
    def is_closed(self) -> bool:
        """Whether the study was closed."""
        return self._closed

    @property
    def knows_best(self) -> bool:
        """Whether the best arm is known without replaying the journal."""
        return self._state is not None or self._stored_recommendation() is not None

    def known_recommendation(self) -> Recommendation | None:
        """The recommendation, if it is known without replaying the journal."""
        if not self.counts.pulls:
            return None
        return self._stored_recommendation() if self._state is None else recommend(self._state.strategy, self.counts)

    @property
    def max_steps(self) -> int | None:
        """Maximum number of steps per arm, if the strategy has such a limit."""
        settings = self.header["settings"]
        return settings.get("max_steps") if settings else None

    def best(self) -> Arm:
        """The arm that the strategy recommends; if that is unknown, the arm with the best reward.

        Its config is a copy, which you may change.
        """
        if self._state is not None and self.counts.pulls:
            return with_own_config(self._state.strategy.best())
        return with_own_config(self.counts.arms[self.recommendation().arm].arm)

    def recommendation(self) -> Recommendation:
        """The recommended arm, its best step, and its reward there."""
        if not self.counts.pulls:
            raise NoResult(no_result(self))
        with reading(self.journal):
            if self._state is None and (stored := self._stored_recommendation()) is not None:
                return stored
            self._replay()
        return recommend(self._state.strategy, self.counts) if self._state is not None else self._best_reward()

    def _stored_recommendation(self) -> Recommendation | None:
        """The recommendation that the writer stored, if nothing has happened since."""
        with reading(self.journal):
            saved = self.journal.recommendation()
        found = stored_recommendation(saved[1]) if saved is not None and saved[0] == self.counts.events else None
        return found if found is not None and found.arm in self.counts.arms else None

    def _replay(self) -> None:
        """Replay the journal, unless the strategy is custom, or another version of the library decided differently."""
        if self._state is not None:
            return
        strategy = restored_strategy(self.header)
        state = None if strategy is None else StudyState.of(strategy, self.header)
        if state is not None:
            with suppress(StudyMismatch):
                state.replay(self.journal, until=self.counts.events)
                self._state, self.counts = state, state.counts

    def _best_reward(self) -> Recommendation:
        sign = sign_of(self.header["direction"])
        trained = [record for record in self.counts.arms.values() if record.best_reward is not None]
        return recommended(max(trained, key=lambda record: (not record.failed, sign * (record.best_reward or 0.0))), False)

    @property
    def best_config(self) -> Any:
        """A copy of the config of the recommended arm."""
        return self.best().config

    @property
    def best_reward(self) -> float:
        """The best reward of the recommended arm, as the function returned it.

        If its rewards are repeated measurements of one value, it is their mean.
        """
        return self.recommendation().reward

    @property
    def best_step(self) -> int:
        """The step at which the recommended arm was best; the last one if there are several.

        `best_model()` is what it saved there.
        """
        return self.recommendation().step

    @property
    def budget(self) -> int | None:
        """The budget in steps; None if there is no such limit."""
        if self._state is not None and self._state.extended is not None:
            return self._state.extended.ledger.budget
        return None if self.limits is None else self.limits.steps

    @property
    def limits(self) -> Budget | None:
        """The newest budget of the study, in steps, seconds and cost; None if it has no limit."""
        return limits_of(self.header, self.counts.budget)

    @property
    def remaining(self) -> dict[str, float]:
        """What is left of each limit that is set: "steps", "seconds" and "cost"; 0 if it is reached."""
        return remaining(self.limits, self.counts)

    def best_model(self, function: Function | None = None) -> Any:
        """The trained model: what the recommended arm saved at `best_step`.

        This is the object given to `pull.save`, or the result of the function's method `load_model(directory)`, if it has one.
        A study opened with `load_study` loads it and never trains. Loading a model can run code: load only those of studies
        that you trust.

        Args:
            function: The training function, needed to read files in a custom format. A `Study` also uses it, by default the one
                used last, to train the model again if it was deleted.

        Raises:
            CheckpointLost: The arm saved neither an object nor files that the function can read, or its checkpoint was deleted
                and cannot be trained again.
        """
        return self.model(self.best().id, function)

    def model(self, arm: int, function: Function | None = None) -> Any:
        """The model of any arm at its best step, as `best_model` returns it for the recommended arm."""
        from .models import saved_model  # here: it imports what runs pulls, and most readers load no model

        return saved_model(arm, self.checkpoint_of(arm), function)

    def checkpoint_of(self, arm: int) -> Path | None:
        """The directory of the arm's best checkpoint; None if it saved nothing. It may have been deleted since.

        A checkpoint at a URL is downloaded to a temporary directory, which is removed when the study is closed.
        """
        record = self._record_of(arm)
        name, _ = record.best_state(by_mean=False)
        if name != record.checkpoint and self._takes_mean(arm):  # checked only if it matters, because it may need a replay
            name = record.checkpoint
        if name is None:
            return None
        found = find_checkpoint(directories(self.journal, self.header, self._storage_options), name)
        return found if isinstance(found, Path) else self._downloaded(found)

    def _downloaded(self, checkpoint: RemotePath) -> Path:
        if self._downloads is None:
            self._downloads = ScratchDirectory()
        directory = self._downloads.path / checkpoint.name
        if not directory.exists():
            with suppress(OSError):  # it is missing or corrupt
                download(checkpoint, directory)
        return directory

    def _record_of(self, arm: int) -> ArmRecord:
        try:
            return self.counts.arms[arm]
        except (KeyError, TypeError):
            arms = counted(len(self.counts.arms), "arm")
            raise ValueError(f"arm must be the id of an arm of study {self.name!r}, which has {arms}, got {arm!r}") from None

    def _takes_mean(self, arm: int) -> bool:
        known = self._state
        return self.recommendation().by_mean if known is None else uses_mean(known.strategy, arm)

    def arms_dataframe(self) -> pd.DataFrame:
        """A row for each arm, with its config and the metrics of its last pull.

        `reward` is its last reward, `best_reward` the best one, and `best_step` the step at which it got that. Each value of
        the config has a column `config_<name>`, each value of a nested dict one such as `config_model.depth`.
        Metrics are in columns `metric_<name>`; `checkpoint_bytes` is the size of what the arm saved last.
        """
        first = ("arm", "parents", "steps", "reward", "best_reward", "best_step", "status", "seconds")
        return frames.frame(frames.flat_arm_rows(self.counts, self.max_steps), first)

    def pulls_dataframe(self) -> pd.DataFrame:
        """A row for each pull, in the order they were asked for: arm, start, stop, reward, status, seconds, and other results.

        Other numbers that it returned are in columns `metric_<name>`, text, lists and dicts in columns `attribute_<name>`.
        Failed pulls have a `reason` and, if the function raised an exception, its traceback as `details`.
        """
        with reading(self.journal):
            events = islice(self.journal.events(), self.counts.events)  # without those written since the study was opened
            return frames.frame(frames.pull_rows(events), ("arm", "start", "stop", "reward", "status", "seconds"))

    @property
    def plot(self) -> StudyPlots:
        """Plots of the study: `study.plot.history()`, `.curves()`, `.importance()` and others. See `StudyPlots`."""
        from ..plots import StudyPlots  # here: most searches draw nothing

        return StudyPlots(self._history, self._strategy, self.header)

    def _history(self) -> History:
        from ..plots import History

        history = History(self.header)
        with reading(self.journal):
            for event in islice(self.journal.events(), self.counts.events):
                history.add(event)
        return history

    def _strategy(self) -> Strategy | None:
        """The strategy after all events; None if it cannot be restored."""
        with reading(self.journal):
            self._replay()
        return None if self._state is None else self._state.strategy

    def close(self) -> None:
        """Close the storage, and remove downloaded checkpoints."""
        self._closed = True
        if self._downloads is not None:
            self._downloads.close()
        self.journal.close()

    def __enter__(self) -> StudyView:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def load_study(
    storage: str | os.PathLike[str] | Journal,
    name: str | None = None,
    *,
    space: Any = None,
    storage_options: Mapping[str, Any] | None = None,
) -> StudyView:
    """Open a stored study for reading. This changes nothing and does not disturb its writer.

    Args:
        storage: The file or URL, as given to `tune` or `Study`.
        name: Name of the study. By default "study", as in `tune`; if there is no such study, the only one in the storage.
        space: The space, if it is custom or a space of networks, which cannot be restored from the storage. With it, arms have
            their configs instead of JSON, and the strategy recommends the best arm. Without it, the arm with the best reward is
            recommended.
        storage_options: Arguments of the fsspec file system, if the checkpoints are at a URL and the environment does not
            provide them. See `Checkpoints`.

    >>> import manyarms as ma, tempfile
    >>> storage = f"sqlite:///{tempfile.mkdtemp()}/study.db"
    >>> space = ma.Space(x=ma.Float(0, 1))
    >>> study = ma.tune(lambda pull: pull["x"], space, budget=50, storage=storage, seed=0, progress=False)
    >>> ma.load_study(storage).best_config == study.best_config
    True
    """
    name = _default_name(storage) if name is None else name
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}")
    journal = open_journal(storage, name, write=False)  # any name, even one that no version would accept
    header = stored_header(journal)
    if header is None:
        raise StudyNotFound(f"there is no study {name!r} in this storage")
    strategy = restored_strategy(header, None if space is None else as_space(space))  # raises an error if it is unknown
    if strategy is not None and space is not None:  # replayed now, to check that the space is the right one
        state = StudyState.of(strategy, header)
        with reading(journal):
            state.replay(journal)
        return StudyView(journal, header, state.counts, state, storage_options)
    counts = Counts(header["direction"])
    with reading(journal):
        for event in journal.events():
            counts.count(event)
    return StudyView(journal, header, counts, None, storage_options)


def _default_name(storage: str | os.PathLike[str] | Journal) -> str:
    """The name of the study to load if the user gives none."""
    if not isinstance(storage, (str, os.PathLike)):
        return _NAME  # a journal has one study, whatever its name
    from ..journal.storage import only_name, study_names  # here: SQLAlchemy is slow to import

    names = study_names(os.fspath(storage))
    return _NAME if _NAME in names else only_name(names)
