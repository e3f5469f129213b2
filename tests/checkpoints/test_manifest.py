"""A checkpoint is whole or absent, and no manifest makes us read anything else."""

from __future__ import annotations

import inspect
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from waiting import wait_until

from manyarms.checkpoints import MANIFEST, commit, committed_size, is_sound, manifest, remove, size_of
from manyarms.checkpoints.files import checksum

from .saving import save


def save_for_ever(directory: Path, seed: int) -> None:
    for number in range(10**9):
        save(directory, f"{seed}-{number}", a=os.urandom(300_000), b=os.urandom(10), **{"deep/er/c": os.urandom(50_000)})


def test_a_process_killed_while_saving_leaves_only_whole_checkpoints(tmp_path):
    moments = random.Random(0)
    for life in range(12):
        writer = multiprocessing.get_context("fork").Process(target=save_for_ever, args=(tmp_path, life))
        writer.start()
        assert wait_until((tmp_path / f"{life}-{life % 3}").exists)
        time.sleep(moments.uniform(0, 0.02))  # somewhere in one of the next
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
    finished = [path for path in tmp_path.iterdir() if path.suffix != ".part"]
    assert len(finished) >= 24
    assert all(is_sound(path) for path in finished)
    assert all(size_of(path) > 350_000 for path in finished)


def test_what_was_committed_is_sound_and_of_the_size_predicted(tmp_path):
    staged = tmp_path / "odd.part"
    for name in ("a", "é 🦾\n\"'\\", "deep/er/🦾🦾🦾🦾🦾🦾🦾🦾🦾🦾", "empty", f"deep/{MANIFEST}"):
        (staged / name).parent.mkdir(parents=True, exist_ok=True)
        (staged / name).write_bytes(b"x" * len(name) * (name != "empty"))
    predicted = committed_size(staged)
    assert commit(staged, tmp_path / "odd") == predicted == size_of(tmp_path / "odd")
    assert is_sound(tmp_path / "odd") and not staged.exists()


def test_an_empty_checkpoint_is_sound(tmp_path):
    (tmp_path / "empty.part").mkdir()
    commit(tmp_path / "empty.part", tmp_path / "empty")
    assert is_sound(tmp_path / "empty")


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGES = {
    "a flipped bit": lambda path: flip(path / "state"),
    "a truncated file": lambda path: os.truncate(path / "state", 500),
    "an empty file": lambda path: os.truncate(path / "state", 0),
    "a longer file": lambda path: (path / "state").write_bytes((path / "state").read_bytes() + b"x"),
    "a deleted file": lambda path: (path / "state").unlink(),
    "a directory for a file": lambda path: (path / "state").unlink() or (path / "state").mkdir(),
    "a flipped bit deep inside": lambda path: flip(path / "deep" / MANIFEST),
    "no manifest": lambda path: (path / MANIFEST).unlink(),
    "an empty manifest": lambda path: (path / MANIFEST).write_text(""),
    "a cut manifest": lambda path: os.truncate(path / MANIFEST, 20),
    "a manifest of nonsense": lambda path: (path / MANIFEST).write_text("[1, 2]"),
    "a manifest of other nonsense": lambda path: (path / MANIFEST).write_text('{"state": 5}'),
    "a manifest that is no text": lambda path: (path / MANIFEST).write_bytes(b"\xff\xfe\x00"),
    "nothing left": shutil.rmtree,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damage_is_seen(tmp_path, damage):
    path = save(tmp_path, state=b"0123456789" * 100, **{f"deep/{MANIFEST}": b"other"})
    assert is_sound(path)
    damage(path)
    assert not is_sound(path)


def test_files_added_later_do_no_harm(tmp_path):
    path = save(tmp_path)
    (path / "notes").touch()
    (path / "state").touch()
    assert is_sound(path)


# -- what a stranger may have sent


def test_no_file_is_read_before_all_have_the_sizes_that_the_manifest_gives(tmp_path, monkeypatch):
    path, read = save(tmp_path, a=b"1", b=b"2"), []
    monkeypatch.setattr(manifest, "checksum", lambda file: read.append(file.name))
    os.truncate(path / "b", 2**40)
    assert not is_sound(path) and read == []
    os.truncate(path / "b", 1)
    assert not is_sound(path) and read == ["a"]


def named(path: Path, name: str, size: int = 0, digest: str | None = None) -> None:
    """Let the manifest name this file."""
    (path / MANIFEST).write_text(json.dumps({name: [size, digest or "cae66941d9efbd404e4d88758ea67670"]}))


def outside(path: Path) -> Path:
    """A file that is no part of the checkpoint, as it would have to be listed."""
    file = path.parent / "secret"
    file.write_bytes(b"x")
    return file


def link_out(path: Path) -> None:
    (path / "link").symlink_to(outside(path))
    named(path, "link", 1, checksum(outside(path)))


def link_directory_out(path: Path) -> None:
    (path / "link").symlink_to(path.parent)
    named(path, "link/secret", 1, checksum(outside(path)))


HOSTILE = {
    "a device": lambda path: named(path, "/dev/zero"),
    "a device inside": lambda path: (path / "zero").symlink_to("/dev/zero") or named(path, "zero"),
    "a pipe": lambda path: os.mkfifo(path / "pipe") or named(path, "pipe"),
    "a pipe that is not listed": lambda path: os.mkfifo(path / "state.pickle"),
    "a pipe as the manifest": lambda path: (path / MANIFEST).unlink() or os.mkfifo(path / MANIFEST),
    "a device as the manifest": lambda path: (path / MANIFEST).unlink() or (path / MANIFEST).symlink_to("/dev/zero"),
    "a link as the manifest": lambda path: (path / MANIFEST).rename(path / "m") and (path / MANIFEST).symlink_to("m"),
    "a file above": lambda path: named(path, "../secret", 1, checksum(outside(path))),
    "a file by its full path": lambda path: named(path, str(outside(path)), 1, checksum(outside(path))),
    "a detour": lambda path: named(path, f"../{path.name}/state", 1000, checksum(path / "state")),
    "a link": link_out,
    "a link that is not listed": lambda path: (path / "state.pickle").symlink_to(outside(path)),
    "a directory behind a link": link_directory_out,
    "a name that no file can have": lambda path: named(path, "nul\0"),
    "a directory": lambda path: (path / "deep").mkdir() or named(path, "deep"),
    "a nested manifest": lambda path: (path / MANIFEST).write_text("[" * 10**5),
    "a huge manifest": lambda path: (path / MANIFEST).write_text("{" + " " * 2**24 + "}"),
    "a sparse manifest": lambda path: os.truncate(path / MANIFEST, 2**40),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_a_manifest_that_names_anything_but_files_inside_is_corrupt(tmp_path, change):
    path = save(tmp_path)
    change(path)
    assert not is_sound(path)
    size_of(path)


def test_a_link_to_a_checkpoint_is_none(tmp_path):
    (tmp_path / "link").symlink_to(save(tmp_path))
    assert not is_sound(tmp_path / "link") and size_of(tmp_path / "link") == 0


def test_directories_nested_deeper_than_the_stack_are_measured_and_checked(tmp_path):
    path = save(tmp_path)
    path.joinpath(*"d" * 150).mkdir(parents=True)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 100)  # so that fewer directories are needed
    try:
        assert is_sound(path) and size_of(path) > 1000
        remove(path)  # which may not succeed, but does no harm
    finally:
        sys.setrecursionlimit(limit)


def test_sizes_are_those_of_files_and_not_of_what_links_lead_to(tmp_path):
    path = save(tmp_path)
    before = size_of(path)
    (path / "link").symlink_to(outside(path))
    (path / "loop").symlink_to(path)
    assert size_of(path) == before


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("state"), os.mkfifo], ids=["link", "pipe"])
def test_links_and_pipes_are_not_saved(tmp_path, make):
    staged = tmp_path / "a.part"
    staged.mkdir()
    make(staged / "odd")
    for attempt in (lambda: committed_size(staged), lambda: commit(staged, tmp_path / "a")):
        with pytest.raises(OSError, match="'odd' is not a regular file; links, pipes and devices cannot be saved"):
            attempt()
    assert not (tmp_path / "a").exists()


def test_a_manifest_that_would_be_too_long_to_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("manyarms.checkpoints.manifest.MOST", 60)
    save(tmp_path, "one", a=b"1")
    with pytest.raises(OSError, match="2 files are too many for one checkpoint"):
        save(tmp_path, "two", a=b"1", b=b"2")
