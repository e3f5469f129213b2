"""Opens a study: creates or resumes its journal, replays it into the strategy, and finds its checkpoints."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..budget import Budget
from ..checkpoints import Checkpoints
from ..checkpoints.location import noted, owner_of, usual_root
from ..checkpoints.place import make_place
from ..checkpoints.remote import Location, RemotePath
from ..checkpoints.scratch import ScratchDirectory
from ..journal import Journal, open_journal
from ..journal.header import stored_header
from ..strategies import Strategy, extended
from .header import check_same, first_strategy, make_header, study_name
from .replay import StudyState


@dataclass(frozen=True, slots=True)
class OpenStudy:
    """The parts of an open study.

    Attributes:
        journal: The record of everything that happened.
        header: The arguments that the study was created with, and where its checkpoints are now.
        state: The strategy and the counts, after all events of the journal.
        checkpoints: The saved models.
        temporary: Directory of checkpoints that is removed when the study is closed, if any.
    """

    journal: Journal
    header: Mapping[str, Any]
    state: StudyState
    checkpoints: Checkpoints
    temporary: ScratchDirectory | None


def open_study(
    strategy: Strategy,
    storage: str | os.PathLike[str] | Journal | None,
    name: str,
    checkpoints: Checkpoints | str | None,
    direction: str,
    bounds: tuple[float, float] | None,
    limits: Budget | None,
    origin: Mapping[str, Any] | None,
) -> OpenStudy:
    """Open a new study, or resume the one with this name. The arguments are those of `Study`, and have been checked."""
    storage = os.fspath(storage) if isinstance(storage, os.PathLike) else storage
    checkpoints = _own_checkpoints(checkpoints)
    journal = open_journal(storage, study_name(name))
    is_temporary = storage is None and checkpoints.root is None
    temporary = ScratchDirectory() if is_temporary else None
    try:
        root: Location = checkpoints.root or (temporary.path if temporary else usual_root(journal))
        new = make_header(
            strategy,
            _seed_of(strategy),
            direction,
            bounds,
            limits={} if limits is None else limits.as_json(),
            origin=origin,
        )
        strategy, header = _begin(journal, strategy, new, root)
        state = StudyState.of(strategy, header)
        state.replay(journal)
        checkpoints.open(owner_of(journal, header), state.counts.needed(), root)
    except BaseException:
        journal.close()
        raise
    return OpenStudy(journal, {**header, "checkpoints": str(checkpoints.directory)}, state, checkpoints, temporary)


def _own_checkpoints(checkpoints: Checkpoints | str | None) -> Checkpoints:
    """The checkpoints object for this study: the given one, or, if it belongs to another study, one with the same settings."""
    if not isinstance(checkpoints, Checkpoints):
        return Checkpoints(checkpoints or None)
    return checkpoints.renewed() if checkpoints.has_study else checkpoints


def _begin(journal: Journal, strategy: Strategy, new: dict[str, Any], root: Location) -> tuple[Strategy, Mapping[str, Any]]:
    """The strategy that the study started with, and the header, which is written if the study is new and compared otherwise."""
    header = stored_header(journal)
    if header is None:
        owner = owner_of(journal, new)
        if isinstance(root, RemotePath):
            make_place(root, owner).open(())  # raises an error if it cannot be written, before anything is stored
        new["checkpoints"] = noted(root, owner)
        journal.create(new)
        return strategy, journal.header or new  # a custom journal may not keep all of it
    _check_same(journal.name, header, strategy, new)
    return first_strategy(strategy, header), header


def check_arguments(
    name: str, header: Mapping[str, Any], strategy: Strategy, direction: str, bounds: tuple[float, float] | None
) -> None:
    """Raise `StudyMismatch` if the study with this header was created with other arguments."""
    _check_same(name, header, strategy, make_header(strategy, _seed_of(strategy), direction, bounds))


def _check_same(name: str, header: Mapping[str, Any], strategy: Strategy, new: Mapping[str, Any]) -> None:
    known = extended(strategy)
    check_same(name, header, new, seed_given=known is not None and known.settings["seed"] is not None)


def _seed_of(strategy: Strategy) -> int:
    known = extended(strategy)
    if known is not None:
        return known.ledger.seed
    seed = getattr(strategy, "seed", None)
    return seed if isinstance(seed, int) else secrets.randbits(32)
