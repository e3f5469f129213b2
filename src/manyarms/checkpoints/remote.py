"""Addresses of checkpoints at fsspec URLs, such as `s3://bucket/runs`, and the file systems that they are on."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import checks
from ..errors import StorageError

_PROTOCOL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_LOCAL = ("file", "local")
_EXTRAS = {"s3": "s3", "s3a": "s3"}  # by protocol; for the others, fsspec says which package is missing

BUCKETS = frozenset({"abfs", "abfss", "az", "gcs", "gs", "memory", "oci", "oss", "s3", "s3a"})
"""Protocols whose URLs name a bucket and not a host. They have no directories that must be created."""


@dataclass(frozen=True, slots=True)
class RemotePath:
    """A directory at an fsspec URL. It is a plain record that can be pickled; `filesystem` opens the file system.

    Args:
        root: The URL that the user gave.
        parts: The directories below it.
        options: Arguments of the file system. They may contain secrets, so they are never stored or shown.
    """

    root: str
    parts: tuple[str, ...] = ()
    options: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(self.root, (*self.parts, name), self.options)

    def __str__(self) -> str:
        return "/".join((self.root.removesuffix("/"), *self.parts)) if self.parts else self.root

    @property
    def name(self) -> str:
        """The last part."""
        return self.parts[-1] if self.parts else ""

    @property
    def parent(self) -> RemotePath:
        """The directory that it is in."""
        return RemotePath(self.root, self.parts[:-1], self.options)

    @property
    def protocol(self) -> str:
        """The protocol, such as "s3"."""
        return self.root.partition("://")[0]


Location = Path | RemotePath
"""A directory on this machine, or at a URL."""


def is_url(text: object) -> bool:
    """Whether this is a URL and not a path."""
    return isinstance(text, str) and "://" in text


def location(name: str, value: str | os.PathLike[str], options: Mapping[str, Any] | None = None) -> Location:
    """The directory that a path or a URL names. A URL of a local file is a path.

    Args:
        name: The name of the argument, for errors.
        value: The path or URL.
        options: Arguments of the file system, for a URL.
    """
    text = checks.path(name, value)
    if options is not None and not (isinstance(options, Mapping) and all(isinstance(key, str) for key in options)):
        raise TypeError(f"storage_options must be a dict with names as keys, got {type(options).__name__}")
    protocol, _, rest = text.partition("://")
    if is_url(text) and protocol.lower() in _LOCAL and rest:
        text = rest[1:] if sys.platform == "win32" and re.match("/[A-Za-z]:", rest) else rest
    if not is_url(text):
        if options is not None:
            raise ValueError(f"storage_options must be None unless {name} is a URL such as 's3://bucket/runs'")
        return Path(text)
    _check_url(name, protocol, rest)
    return RemotePath(f"{protocol.lower()}://{rest.rstrip('/')}", (), options)


def _check_url(name: str, protocol: str, rest: str) -> None:
    """Raise an error unless the URL is plain. The error does not show it, because it may contain a password."""
    if not _PROTOCOL.fullmatch(protocol):
        raise ValueError(f"{name} must be a path or a URL such as 's3://bucket/runs', got a URL with an invalid protocol")
    if not rest.strip("/") and protocol.lower() != "memory":
        raise ValueError(f"{name} must be a URL with a bucket or a host, such as 's3://bucket/runs', got {protocol}://")
    user, at, _ = rest.partition("/")[0].rpartition("@")
    if at and ":" in user:
        raise ValueError(
            f"{name} must be a URL without a password, got one for {protocol}:// with a password: set it in the environment, "
            "or in ma.Checkpoints(url, storage_options={...})"
        )
    if re.search(r"[*?\[\]#\\]|::|[\x00-\x1f\x7f]|//|(^|/)\.\.?(/|$)", rest.rstrip("/")):
        raise ValueError(
            f"{name} must be a URL without queries, wildcards, nested URLs or relative parts, got one for {protocol}:// "
            "that contains one of ? # * [ ] \\ :: // . .."
        )


def stored_location(text: str, options: Mapping[str, Any] | None = None) -> RemotePath | None:
    """The directory of a study at a URL that comes from its header; None if it is not a URL that a study would store.

    Raises:
        StorageError: The URL names a host. A study from someone else must not cause a login there.
    """
    try:
        found = location("checkpoints", text, options)
    except ValueError:
        return None
    if not isinstance(found, RemotePath):
        return None
    above, _, name = found.root.partition("://")[2].rpartition("/")
    if not name:
        return None
    if options is None and found.protocol not in BUCKETS:
        raise StorageError(
            f"the checkpoints of this study are at {found}, which names a host: if you trust it, pass this URL with "
            "checkpoints=, or storage_options={} to load_study"
        )
    return RemotePath(f"{found.protocol}://{above}", (name,), options)


def filesystem(place: RemotePath) -> tuple[Any, str]:
    """The fsspec file system of a directory, and the path of the directory on it. Does not connect to the server."""
    extra = _EXTRAS.get(place.protocol, "fsspec")
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise ImportError(f'checkpoints at {place.protocol}:// need fsspec: pip install "manyarms[{extra}]"') from None
    try:
        fs, path = url_to_fs(str(place), **(place.options or {}))
    except ImportError as error:
        hint = f'pip install "manyarms[{extra}]"' if place.protocol in _EXTRAS else shown_error(error, place)
        raise ImportError(f"checkpoints at {place.protocol}:// need another package: {hint}") from None
    except Exception as error:
        raise StorageError(f"the checkpoints at {place} cannot be used: {shown_error(error, place)}") from None
    return fs, str(path).rstrip("/")


def shown_error(error: BaseException, place: RemotePath) -> str:
    """The text of an error, without the values of the storage options."""
    text = " ".join(str(error).split()) or type(error).__name__
    for secret in sorted(_texts(place.options), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text[:500]


def _texts(value: Any) -> Iterator[str]:
    """The strings in storage options that may be secret."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str) and len(value) > 3 and (not is_url(value) or "@" in value):
        yield value
