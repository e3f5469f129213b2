"""The names of checkpoints and of their directories. Nothing with another name is ever counted, moved or deleted."""

from __future__ import annotations

import re
import secrets
from hashlib import blake2b

_NAME = re.compile(r"arm--?[0-9]{1,20}-step-[0-9]{1,20}-[0-9a-f]{8}")
_ID = re.compile(r"[0-9a-f]{16}")
_UNSAVED = re.compile(r"unsaved-arm--?[0-9]{1,20}-step-[0-9]{1,20}")
_PART = ".part"


def new_name(arm: int, stop: int) -> str:
    """A new name for a checkpoint. It is random, so that files of a killed worker cannot be mistaken for it."""
    return f"arm-{arm}-step-{stop}-{secrets.token_hex(4)}"


def part_of(name: str) -> str:
    """The name of a checkpoint while it is being written."""
    return f"{name}{_PART}"


def is_name(name: object) -> bool:
    """Whether this is the name of a checkpoint. Names in an untrusted journal may be anything."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def unsaved_name(arm: int, stop: int) -> str:
    """The name of a state that could not be saved. It never exists, so the state is trained again when it is needed."""
    return f"unsaved-arm-{arm}-step-{stop}"


def is_unsaved(name: object) -> bool:
    """Whether this is the name of a state that could not be saved."""
    return isinstance(name, str) and _UNSAVED.fullmatch(name) is not None


def is_entry(name: str) -> bool:
    """Whether this is the name of a checkpoint, finished or unfinished."""
    return is_name(name.removesuffix(_PART))


def slug(study: str) -> str:
    """A directory name for any study name: its letters and digits, and a checksum to make it unique."""
    return f"{_words(study)}-{blake2b(study.encode(), digest_size=4).hexdigest()}"


def directory_name(study: str, id: str) -> str:
    """The directory name of the study with this id. An id in another format is replaced by its checksum."""
    token = id if _ID.fullmatch(id) else blake2b(id.encode(errors="surrogatepass"), digest_size=8).hexdigest()
    return f"{_words(study)}-{token}"


def _words(study: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in study)[:40].strip("-") or "study"
