"""The checkpoints of one study: their names, what is left over, and how much room there is."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from manyarms import Checkpoints
from manyarms.checkpoints import MANIFEST, size_of, slug
from manyarms.checkpoints.store import first_to_go

from .saving import save


def opened(directory: Path, max_bytes=None, **sizes: int) -> Checkpoints:
    """Checkpoints of so many bytes each."""
    checkpoints = Checkpoints(directory, max_bytes)
    checkpoints.open("study")
    for name, size in sizes.items():
        (checkpoints.path(name)).mkdir(parents=True)
        (checkpoints.path(name) / MANIFEST).write_bytes(bytes(size))
        checkpoints.add(name, size)
    return checkpoints


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
