"""Where arms save and find their state, and what is dropped when disk is short.

A checkpoint is a directory. It is written under another name, completed with a manifest of its files and their checksums, and
renamed into place: it is whole or absent.
"""

from .files import is_directory, remove, size_of
from .manifest import MANIFEST, commit, committed_size, is_checkpoint, is_sound
from .store import Checkpoints, slug

__all__ = [
    "MANIFEST",
    "Checkpoints",
    "commit",
    "committed_size",
    "is_checkpoint",
    "is_directory",
    "is_sound",
    "remove",
    "size_of",
    "slug",
]
