"""Checkpoints at URLs: what is uploaded comes back, whole and streamed, and nothing else is read or written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from manyarms.checkpoints import MANIFEST, is_sound, objects, state
from manyarms.checkpoints.objects import PlaceUnreachable, download, entry_files, is_complete, is_remote_sound, upload
from manyarms.checkpoints.remote import location
from manyarms.core import Arm, Pull
from manyarms.runners.running_pull import RunningPull
from manyarms.runners.timer import Timer

NAME = "arm-0-step-1-00000000"


def placed(root, name=NAME):
    return location("directory", root.url) / "study-0123456789abcdef" / name


def staged(directory, **files):
    for name, content in (files or {"state": b"0123456789" * 100}).items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(content)
    return directory


def test_what_is_uploaded_comes_back(remote, tmp_path):
    files = {"state": b"x" * 1000, "a/b c/é*[1]?": b"", "weights.bin": os.urandom(9 * 2**20)}
    size = upload(staged(tmp_path / "staged", **files), placed(remote))
    assert size == sum(remote.sizes().values())
    assert is_complete(placed(remote)) and is_remote_sound(placed(remote))
    assert entry_files(placed(remote).parent).keys() == {NAME}
    download(placed(remote), tmp_path / "copy")
    assert is_sound(tmp_path / "copy")
    assert {name: (tmp_path / "copy" / name).read_bytes() for name in files} == files


def test_the_manifest_is_written_last_and_without_it_there_is_no_checkpoint(remote, tmp_path, monkeypatch):
    upload_files = objects._each

    def fail(*arguments):
        upload_files(*arguments)
        seen.update(remote.sizes())
        raise SystemExit

    seen = {}
    with monkeypatch.context() as patch:
        patch.setattr(objects, "_each", fail)
        patch.setattr(objects, "remove", lambda checkpoints: None)  # as if the process was killed
        with pytest.raises(SystemExit):
            upload(staged(tmp_path / "staged"), placed(remote))
    assert [name.rpartition("/")[2] for name in seen] == ["state"]
    assert not is_complete(placed(remote)) and not is_remote_sound(placed(remote))
    assert entry_files(placed(remote).parent) == {NAME: {"state": 1000}}
    with pytest.raises(OSError, match="has no manifest"):
        download(placed(remote), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_an_upload_that_fails_leaves_nothing(remote, tmp_path, monkeypatch):
    def fail(fs, place, path):
        if path.endswith(MANIFEST):
            raise RuntimeError("lost connection")

    monkeypatch.setattr(objects, "_make_parents", fail)
    with pytest.raises(OSError, match=f"^{placed(remote)} cannot be written: lost connection$"):
        upload(staged(tmp_path / "staged"), placed(remote))
    assert not remote.sizes()


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "a/../../x", "..", ".", "", "a\0b", MANIFEST, "missing", "state/x"], ids=repr
)
def test_a_manifest_that_names_anything_but_files_inside_writes_nothing_outside(memory, tmp_path, name):
    upload(staged(tmp_path / "staged"), placed(memory))
    own = f"{placed(memory).parent.name}/{NAME}"
    memory.write(f"{own}/{MANIFEST}", json.dumps({"state": [1000, "0" * 32], name: [4, "0" * 32]}).encode())
    memory.write("x", b"evil")
    above = tmp_path / "above"
    above.mkdir()
    with pytest.raises(OSError):
        download(placed(memory), above / "copy")
    assert not list(above.iterdir()) and not is_remote_sound(placed(memory))


@pytest.mark.parametrize(
    "manifest", [b"", b"[1]", b"{", b'{"state": 5}', b'{"state": ["x", 5]}', b"[" * 100_000, b"null", b"\xff"]
)
def test_a_manifest_that_is_none_is_corrupt(memory, tmp_path, manifest):
    upload(staged(tmp_path / "staged"), placed(memory))
    memory.write(f"{placed(memory).parent.name}/{NAME}/{MANIFEST}", manifest)
    with pytest.raises(OSError, match="cannot be read"):
        download(placed(memory), tmp_path / "copy")
    assert not is_remote_sound(placed(memory)) and is_complete(placed(memory))


def test_a_name_that_is_none_is_not_read(memory, tmp_path):
    upload(staged(tmp_path / "staged"), placed(memory))
    for name in ("..", f"../{placed(memory).parent.name}/{NAME}", "*", ""):
        with pytest.raises(OSError, match="its name is not that of a checkpoint"):
            download(placed(memory, name), tmp_path / "copy")


def test_links_cannot_be_uploaded(memory, tmp_path):
    (staged(tmp_path / "staged") / "link").symlink_to("/etc/passwd")
    with pytest.raises(OSError, match="'link' is not a regular file"):
        upload(tmp_path / "staged", placed(memory))
    assert not memory.sizes()


def test_a_server_that_cannot_be_reached_is_not_a_corrupt_checkpoint(s3, tmp_path, monkeypatch):
    import s3fs

    upload(staged(tmp_path / "staged"), placed(s3))
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    s3fs.S3FileSystem.clear_instance_cache()
    for use in (
        is_complete,
        is_remote_sound,
        lambda place: download(place, tmp_path / "copy"),
        lambda place: entry_files(place),
    ):
        with pytest.raises(PlaceUnreachable, match="cannot be reached: .*credentials"):
            use(placed(s3))
    with pytest.raises(OSError, match="cannot be written: .*credentials"):
        upload(tmp_path / "staged", placed(s3))


@pytest.mark.parametrize("outages", [3, 100])
def test_a_saved_state_is_downloaded_after_a_short_outage_and_counts_as_lost_after_a_long_one(
    memory, tmp_path, monkeypatch, outages
):
    import fsspec

    def find(path, **options):
        tries.append(path)
        if len(tries) <= outages:
            raise ConnectionError("the network is down")
        return working(path, **options)

    tries, pauses = [], []
    upload(staged(tmp_path / "staged"), placed(memory))
    fs = fsspec.filesystem("memory")
    working = fs.find
    monkeypatch.setattr(fs, "find", find)
    monkeypatch.setattr(state.time, "sleep", pauses.append)
    saved = state.SavedState(placed(memory), tmp_path)
    if outages > len(state._PAUSES):
        with pytest.raises(state.DamagedCheckpoint):
            saved.directory  # noqa: B018
        assert sum(pauses) == 60
    else:
        assert (saved.directory / "state").read_bytes() == b"0123456789" * 100
        assert pauses == [1, 2, 4]


def test_the_wait_for_an_unreachable_checkpoint_ends_before_the_pull_does(memory, tmp_path, monkeypatch):
    import fsspec

    def find(path, **options):
        raise ConnectionError("the network is down")

    pauses = []
    upload(staged(tmp_path / "staged"), placed(memory))
    monkeypatch.setattr(fsspec.filesystem("memory"), "find", find)
    monkeypatch.setattr(state.time, "sleep", pauses.append)
    timer = Timer(lambda: sum(pauses), kill_after=20.0)
    pull = RunningPull(Pull(Arm(0, {}), 1, 2), 0, tmp_path / "new", previous=placed(memory), timer=timer)
    with pytest.raises(state.DamagedCheckpoint):
        pull.load()
    assert pauses == [1, 2, 4, 8]


MEASURED = """
import resource, sys
from pathlib import Path
from manyarms.checkpoints.objects import download, is_remote_sound, upload
from manyarms.checkpoints.remote import location
from manyarms.core import Arm, Pull
from manyarms.runners.running_pull import RunningPull
from manyarms.runners.timer import Timer

place = location("directory", sys.argv[1]) / "study-0123456789abcdef" / "arm-0-step-1-00000000"
small = location("directory", sys.argv[1]) / "study-0123456789abcdef" / "arm-0-step-1-00000001"
upload(Path("small"), small)
download(small, Path("small-copy"))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
upload(Path("large"), place)
print(is_remote_sound(place))
download(place, Path("copy"))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="measures memory as POSIX does")
def test_a_large_file_is_streamed(s3, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    staged(Path("small"))
    Path("large").mkdir()
    with open("large/weights", "wb") as file:
        file.truncate(200 * 2**20)
    answer = subprocess.run([sys.executable, "-c", MEASURED, s3.url], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    sound, megabytes = answer.stdout.split()
    assert sound == "True" and (tmp_path / "copy" / "weights").stat().st_size == 200 * 2**20
    assert int(megabytes) < 100
