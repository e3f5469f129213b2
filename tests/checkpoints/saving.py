"""How the tests of checkpoints make one."""

from __future__ import annotations

from pathlib import Path

from manyarms.checkpoints import commit


def save(directory: Path, name: str = "saved", **files: bytes) -> Path:
    """A checkpoint of these files."""
    staged = directory / f"{name}.part"
    for file, content in (files or {"state": b"0123456789" * 100}).items():
        (staged / file).parent.mkdir(parents=True, exist_ok=True)
        (staged / file).write_bytes(content)
    commit(staged, directory / name)
    return directory / name
