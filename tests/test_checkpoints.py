"""Checkpoints are whole or absent, and never take more than they may."""

import multiprocessing
import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from waiting import wait_until

from manyarms import Checkpoints
from manyarms.checkpoints import SEAL, first_to_go, is_sound, seal, sealed_size, size_of, slug


def save(directory: Path, name: str = "saved", **files: bytes) -> Path:
    """A checkpoint of these files."""
    staged = directory / f"{name}.part"
    for file, content in (files or {"state": b"0123456789" * 100}).items():
        (staged / file).parent.mkdir(parents=True, exist_ok=True)
        (staged / file).write_bytes(content)
    seal(staged, directory / name)
    return directory / name


def opened(directory: Path, max_bytes=None, **sizes: int) -> Checkpoints:
    """Checkpoints of so many bytes each."""
    checkpoints = Checkpoints(directory, max_bytes)
    checkpoints.open("study")
    for name, size in sizes.items():
        (checkpoints.path(name)).mkdir(parents=True)
        (checkpoints.path(name) / SEAL).write_bytes(bytes(size))
        checkpoints.add(name, size)
    return checkpoints


# -- whole or absent


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


def test_what_was_sealed_is_sound_and_of_the_size_foretold(tmp_path):
    staged = tmp_path / "odd.part"
    for name in ("a", "é 🦾\n\"'\\", "deep/er/🦾🦾🦾🦾🦾🦾🦾🦾🦾🦾", "empty", f"deep/{SEAL}"):
        (staged / name).parent.mkdir(parents=True, exist_ok=True)
        (staged / name).write_bytes(b"x" * len(name) * (name != "empty"))
    foretold = sealed_size(staged)
    assert seal(staged, tmp_path / "odd") == foretold == size_of(tmp_path / "odd")
    assert is_sound(tmp_path / "odd") and not staged.exists()


def test_an_empty_checkpoint_is_sound(tmp_path):
    (tmp_path / "empty.part").mkdir()
    seal(tmp_path / "empty.part", tmp_path / "empty")
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
    "a flipped bit deep inside": lambda path: flip(path / "deep" / SEAL),
    "no seal": lambda path: (path / SEAL).unlink(),
    "an empty seal": lambda path: (path / SEAL).write_text(""),
    "a cut seal": lambda path: os.truncate(path / SEAL, 20),
    "a seal of nonsense": lambda path: (path / SEAL).write_text("[1, 2]"),
    "a seal of other nonsense": lambda path: (path / SEAL).write_text('{"state": 5}'),
    "a seal that is no text": lambda path: (path / SEAL).write_bytes(b"\xff\xfe\x00"),
    "nothing left": shutil.rmtree,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damage_is_seen(tmp_path, damage):
    path = save(tmp_path, state=b"0123456789" * 100, **{f"deep/{SEAL}": b"other"})
    assert is_sound(path)
    damage(path)
    assert not is_sound(path)


def test_files_added_later_do_no_harm(tmp_path):
    path = save(tmp_path)
    (path / "notes").touch()
    (path / "state").touch()
    assert is_sound(path)


# -- names and leftovers


NAMES = (
    "study",
    "Study",
    "a/b",
    "../../etc",
    "..",
    ".",
    "-",
    "",
    "🦾",
    "é",
    "e\u0301",
    "a b",
    "a-b",
    "x" * 255,
    "x" * 254 + "y",
    "nul\0",
)


def test_any_study_has_a_directory_name_of_its_own():
    slugs = [slug(name) for name in NAMES]
    assert len({name.lower() for name in slugs}) == len(NAMES)
    for name in slugs:
        assert len(name) <= 60 and name[0].isalnum()
        assert all(c.isascii() and (c.isalnum() or c == "-") for c in name)


def test_opening_sees_what_is_there_and_sweeping_removes_what_is_not_needed(tmp_path):
    home = tmp_path / slug("study")
    kept, old = save(home, "kept"), save(home, "old")
    (home / "cut.part").mkdir()
    (home / "cut.part" / "state").write_bytes(b"half")
    checkpoints = opened(tmp_path)
    assert checkpoints.used == size_of(home)
    assert sorted(checkpoints.sweep({"kept", "never there"})) == ["cut.part", "old"]
    assert [path.name for path in home.iterdir()] == ["kept"]
    assert "kept" in checkpoints and "old" not in checkpoints and not old.exists()
    assert checkpoints.used == size_of(kept)


def test_checkpoints_may_be_given_to_one_study_after_another(tmp_path):
    checkpoints = opened(tmp_path, max_bytes=1000)
    checkpoints.reserve(0, slots=1)
    places = []
    for study in ("study", "other", "study"):
        checkpoints.open(study)
        places.append(checkpoints.directory)
        assert checkpoints.reserve(1, slots=1) == 1000
    assert places == [tmp_path / slug(study) for study in ("study", "other", "study")]


def test_what_an_abandoned_pull_wrote_goes_when_its_arm_is_pulled_again(tmp_path):
    checkpoints = opened(tmp_path)
    for number in range(3):
        name = checkpoints.new_name(5, 1)
        save(checkpoints.directory, name)
        (checkpoints.directory / f"{name}.part").mkdir()
        assert len(list(checkpoints.directory.iterdir())) == 2, number
    checkpoints.release(5)
    checkpoints.new_name(5, 2)
    assert checkpoints.path(name).exists()


def test_closing_removes_a_directory_only_if_nothing_is_in_it(tmp_path):
    checkpoints = opened(tmp_path, saved=10)
    checkpoints.close()
    assert checkpoints.directory.exists()
    checkpoints.drop(["saved"])
    checkpoints.close()
    assert not checkpoints.directory.exists()


# -- room


def test_the_least_promising_go_first_and_the_needed_stay(tmp_path):
    checkpoints = opened(tmp_path, max_bytes=1000, a=200, b=200, c=200, d=200, stray=50)
    owner, promise = {"a": 0, "b": 1, "c": 2, "d": 3}, {0: 0.3, 1: 0.1, 2: 0.9, 3: 0.2}
    checkpoints.evict(200, owner, promise.__getitem__, needed={"b"})
    assert sorted(checkpoints.names()) == ["a", "b", "c"]
    checkpoints.evict(10**6, owner, promise.__getitem__, needed={"b"})
    assert checkpoints.names() == ["b"] and checkpoints.used == 200


def test_no_more_goes_than_must():
    sizes = {"a": 10, "b": 20, "c": 30}
    assert first_to_go("abc", sizes, 0) == []
    assert first_to_go("abc", sizes, 10) == ["a"]
    assert first_to_go("abc", sizes, 11) == ["a", "b"]
    assert first_to_go("abc", sizes, 1000) == ["a", "b", "c"]


@pytest.mark.parametrize("slots", [1, 3, 8])
def test_rooms_never_add_up_to_more_than_there_is(tmp_path, slots):
    checkpoints, chance = opened(tmp_path, max_bytes=10_000), random.Random(slots)
    running: dict[int, int] = {}
    for arm in range(500):
        if len(running) == slots:
            done = chance.choice(list(running))
            room = running.pop(done)
            checkpoints.release(done)
            if room:
                checkpoints.add(f"arm-{done}", chance.randint(1, room))
        if excess := checkpoints.shortage(slots):
            checkpoints.evict(excess, {}, float, needed=())
        running[arm] = checkpoints.reserve(arm, slots)
        assert checkpoints.used + sum(running.values()) <= 10_000


@pytest.mark.parametrize("slots", [2, 3, 16])
def test_there_is_room_for_pulls_asked_before_the_last_are_recorded(tmp_path, slots):
    checkpoints = opened(tmp_path, max_bytes="1MB")
    rooms = [checkpoints.reserve(arm, slots) for arm in range(2 * slots)]
    assert min(rooms) >= 10**6 // (2 * slots) - 1


def test_one_worker_may_use_all_room(tmp_path):
    assert opened(tmp_path, max_bytes=1000).reserve(0, slots=1) == 1000


def test_a_room_is_at_least_what_the_largest_so_far_took(tmp_path):
    checkpoints = opened(tmp_path, max_bytes=1000, big=400)
    assert checkpoints.shortage(slots=3) == 600
    assert checkpoints.reserve(0, slots=3) == 400
    assert checkpoints.shortage(slots=1) == 200


def test_without_a_limit_there_is_no_shortage(tmp_path):
    checkpoints = opened(tmp_path, big=10**6)
    checkpoints.note_refused(10**9)
    assert checkpoints.reserve(0, slots=2) is None and checkpoints.shortage(slots=2) == 0


def test_what_can_never_fit_drives_nothing_out(tmp_path):
    checkpoints = opened(tmp_path, max_bytes=1000, a=100)
    checkpoints.note_refused(5000)
    assert checkpoints.shortage(slots=1) == 0
    checkpoints.note_refused(950)
    assert checkpoints.shortage(slots=1) == 50
