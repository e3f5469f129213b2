"""Checkpoints: the saved states of arms, and what is deleted when disk space runs out.

A checkpoint is a directory. It is written under a temporary name, completed with a manifest of its files and their checksums,
and renamed into place, so it is complete or absent. Each study has its own directory of checkpoints.
"""

from .files import is_directory, read_regular, remove, size_of
from .manifest import MANIFEST, commit, committed_size, is_checkpoint, is_sound, saved_sizes
from .names import is_name, slug
from .owner import OWNER, Owner, claim, is_owned
from .store import Checkpoints

__all__ = [
    "MANIFEST",
    "OWNER",
    "Checkpoints",
    "Owner",
    "claim",
    "commit",
    "committed_size",
    "is_checkpoint",
    "is_directory",
    "is_name",
    "is_owned",
    "is_sound",
    "read_regular",
    "remove",
    "saved_sizes",
    "size_of",
    "slug",
]
