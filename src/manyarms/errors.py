"""The errors and warnings of the library. Wrong arguments raise `ValueError` or `TypeError` instead."""

from __future__ import annotations


class ManyarmsError(Exception):
    """Base class of all errors of the library."""


class StudyLocked(ManyarmsError):
    """Another process, or another object in this process, is writing the study."""


class StudyMismatch(ManyarmsError):
    """The stored study was made with arguments that differ from those given now.

    Attributes:
        setting: Name of the setting that differs; None if it is not a single one.
    """

    def __init__(self, *args: object, setting: str | None = None) -> None:
        super().__init__(*args)
        self.setting = setting


class StudyNotFound(ManyarmsError):
    """The storage has no study with this name."""


class StudyClosed(ManyarmsError):
    """The study is closed, so nothing more can be asked for or recorded."""


class StorageError(ManyarmsError):
    """The storage could not be opened, read or written."""


class SchemaError(StorageError):
    """The storage was written by a version of the library that uses another table layout."""


class OldLayout(SchemaError):
    """The storage was written by an older version, and must be upgraded before it can be read."""


class NoResult(ManyarmsError):
    """No pull has succeeded, so there is nothing to recommend."""


class CheckpointLost(ManyarmsError):
    """A saved model is missing or corrupt, and was not trained again."""


class WorkerError(ManyarmsError):
    """Worker processes cannot be started, or cannot load the function."""


class ManyarmsWarning(UserWarning):
    """Something that the user should check. The study continues."""
