"""What can go wrong, in the user's words. Wrong arguments are `ValueError` and `TypeError` instead."""

from __future__ import annotations


class ManyarmsError(Exception):
    """The root of the library's own errors."""


class StudyLocked(ManyarmsError):
    """Another process is writing this study, or another object of this process."""


class StudyMismatch(ManyarmsError):
    """A stored study was made with other arguments than those given now.

    Attributes:
        setting: Name of the setting that differs; None if it is not a single one.
    """

    def __init__(self, *args: object, setting: str | None = None) -> None:
        super().__init__(*args)
        self.setting = setting


class StudyNotFound(ManyarmsError):
    """The storage holds no study of this name."""


class StudyClosed(ManyarmsError):
    """The study was closed, so that nothing more can be asked for or recorded."""


class StorageError(ManyarmsError):
    """The storage could not be opened, read or written."""


class SchemaError(StorageError):
    """The storage was written by a version of the library with another table layout."""


class OldLayout(SchemaError):
    """The storage was written by an older version: it must be upgraded before it can be read."""


class NoResult(ManyarmsError):
    """No pull has succeeded, so there is nothing to recommend."""


class CheckpointLost(ManyarmsError):
    """A saved model is missing or corrupt and was not retrained."""


class WorkerError(ManyarmsError):
    """Worker processes cannot be started, or cannot load the function."""


class ManyarmsWarning(UserWarning):
    """Something the user should look at; the study goes on."""
