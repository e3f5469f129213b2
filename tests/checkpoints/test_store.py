"""The checkpoints of one study: their names, what is left over, and how much room there is."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from manyarms import Checkpoints
from manyarms.checkpoints import MANIFEST, OWNER, Owner, claim, size_of, slug
from manyarms.checkpoints.names import directory_name, is_entry, is_name, new_name
from manyarms.checkpoints.store import first_to_go
from manyarms.errors import StorageError

from .saving import save

OLD, OWN = Owner("study"), Owner("study", "0123456789abcdef")
"""A study without an id, which owns no directory, and one with."""

KEPT, LEFT = "arm-0-step-1-00000000", "arm-3-step-12-ffffffff"


def opened(directory: Path, max_bytes=None, **sizes: int) -> Checkpoints:
    """Checkpoints of so many bytes each."""
    checkpoints = Checkpoints(directory, max_bytes)
    checkpoints.open(OLD, ())
    for name, size in sizes.items():
        (checkpoints.path(name)).mkdir(parents=True)
        (checkpoints.path(name) / MANIFEST).write_bytes(bytes(size))
        checkpoints.add(name, size)
    return checkpoints


def owned(directory: Path, max_bytes=None) -> Checkpoints:
    """The directory of a study, which says so."""
    checkpoints = Checkpoints(directory, max_bytes)
    checkpoints.open(OWN, ())
    claim(checkpoints.directory, checkpoints.record)
    return checkpoints


# -- names


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
    for names in ([slug(name) for name in NAMES], [directory_name(name, f"{i:016x}") for i, name in enumerate(NAMES)]):
        assert len({name.lower() for name in names}) == len(NAMES)
        for name in names:
            assert len(name) <= 60 and name[0].isalnum()
            assert all(c.isascii() and (c.isalnum() or c == "-") for c in name)


def test_studies_of_the_same_name_have_directories_of_their_own():
    ids = ["0123456789abcdef", "0123456789abcdee", "../../etc", "", "🦾", "\ud800", "0123456789ABCDEF", "0123456789abcdef\n"]
    names = {directory_name("study", id) for id in ids}
    assert len(names) == len(ids)
    assert all(re.fullmatch("study-[0-9a-f]{16}", name) for name in names)


def test_only_names_that_we_give_are_names_of_checkpoints():
    assert all(is_name(new_name(arm, stop)) for arm, stop in [(0, 1), (10**12, 10**12), (-1, 1)])
    part = "arm-0-step-1-01234567.part"
    assert is_entry(part) and not is_name(part)
    for name in ("", "..", "../../victim", "/etc", "arm-0-step-1", "arm-0-step-1-0123456", "arm-0-step-1-0123456g", None, 5):
        assert not is_name(name)
    for name in ("arm-0-step-1-01234567/", "arm-0-step-1-01234567\n", "x/arm-0-step-1-01234567", "arm-٣-step-1-01234567"):
        assert not is_name(name) and not is_entry(name)
    assert not is_entry(OWNER) and not is_entry(".part")


# -- what is left over


def test_opening_sees_what_is_there_and_sweeping_removes_what_is_not_needed(tmp_path):
    home = owned(tmp_path).directory
    kept, old = save(home, KEPT), save(home, LEFT)
    (home / f"{LEFT}.part").mkdir()
    (home / f"{LEFT}.part" / "state").write_bytes(b"half")
    checkpoints = owned(tmp_path)
    assert checkpoints.used == size_of(home) - (home / OWNER).stat().st_size
    assert sorted(checkpoints.sweep({KEPT, "never there"})) == [LEFT, f"{LEFT}.part"]
    assert {path.name for path in home.iterdir()} == {KEPT, OWNER}
    assert KEPT in checkpoints and LEFT not in checkpoints and not old.exists()
    assert checkpoints.used == size_of(kept)


def test_nothing_but_checkpoints_is_counted_or_swept(tmp_path):
    home = owned(tmp_path).directory
    save(home, "notes"), save(home, "arm-0-step-1"), (home / "plot.png").write_bytes(b"1234")
    (home / KEPT).write_text("a file")
    checkpoints = owned(tmp_path)
    assert checkpoints.names() == [] and checkpoints.used == 0
    checkpoints.sweep(())
    checkpoints.drop(["notes", "arm-0-step-1", "plot.png", ".", "..", "", OWNER, "notes/state"])
    checkpoints.close()
    assert {path.name for path in home.iterdir()} == {"notes", "arm-0-step-1", "plot.png", KEPT, OWNER}
    assert (home / "notes" / "state").exists()


@pytest.mark.parametrize("owner", [OLD, OWN], ids=["no id", "no owner file"])
def test_where_no_file_says_whose_a_directory_is_only_what_the_journal_names_is_touched(tmp_path, owner):
    home = tmp_path / owner.directory_name
    save(home, KEPT), save(home, LEFT)
    checkpoints = Checkpoints(tmp_path)
    checkpoints.open(owner, {KEPT})
    assert checkpoints.names() == [KEPT]
    checkpoints.sweep({KEPT})
    checkpoints.evict(10**6, {}, float, needed=())
    checkpoints.close()
    assert not (home / KEPT).exists() and (home / LEFT).exists()
    assert (home / OWNER).exists() == (owner is OWN)


def test_checkpoints_may_be_given_to_one_study_after_another(tmp_path):
    checkpoints = opened(tmp_path, max_bytes=1000)
    checkpoints.reserve(0, slots=1)
    places = []
    for study in ("study", "other", "study"):
        checkpoints.open(Owner(study), ())
        places.append(checkpoints.directory)
        assert checkpoints.reserve(1, slots=1) == 1000
    assert places == [tmp_path / slug(study) for study in ("study", "other", "study")]


def test_what_an_abandoned_pull_wrote_goes_when_its_arm_is_pulled_again(tmp_path):
    checkpoints = opened(tmp_path)
    for number in range(3):
        name = checkpoints.new_name(5, 1)
        save(checkpoints.directory, name)
        checkpoints.staged(name).mkdir()
        assert len(list(checkpoints.directory.iterdir())) == 2, number
    checkpoints.release(5)
    checkpoints.new_name(5, 2)
    assert checkpoints.path(name).exists()


def test_what_a_lost_worker_saves_later_goes_when_the_study_is_closed(tmp_path):
    checkpoints = opened(tmp_path)
    lost, kept = checkpoints.new_name(5, 1), checkpoints.new_name(5, 1)
    for name in (kept, lost):
        save(checkpoints.directory, name)
    checkpoints.release(5)
    checkpoints.add(kept, 10)
    checkpoints.tidy()
    assert checkpoints.path(kept).exists()
    assert not checkpoints.path(lost).exists()


def test_closing_removes_a_directory_only_if_nothing_is_in_it(tmp_path):
    checkpoints = owned(tmp_path)
    save(checkpoints.directory, KEPT)
    checkpoints.add(KEPT, 10)
    checkpoints.close()
    assert checkpoints.directory.exists()
    checkpoints.drop([KEPT])
    checkpoints.staged(checkpoints.new_name(0, 1)).mkdir()
    checkpoints.close()
    assert not checkpoints.directory.exists() and tmp_path.exists()


def test_closing_what_was_never_opened_removes_nothing(tmp_path):
    Checkpoints(tmp_path).close()
    assert tmp_path.exists()


# -- links


def test_a_directory_that_is_a_link_is_refused(tmp_path):
    victim = owned(tmp_path / "victim").directory
    save(victim, LEFT)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / OWN.directory_name).symlink_to(victim)
    with pytest.raises(StorageError, match="is a link or a file: move it away"):
        owned(tmp_path / "mine")
    assert (victim / LEFT / MANIFEST).exists()


def test_nothing_is_deleted_once_the_directory_has_become_a_link(tmp_path):
    checkpoints = owned(tmp_path)
    save(checkpoints.directory, KEPT)
    checkpoints.add(KEPT, 10)
    checkpoints.directory.rename(tmp_path / "elsewhere")
    checkpoints.directory.symlink_to(tmp_path / "elsewhere")
    checkpoints.drop([KEPT])
    checkpoints.close()
    assert (tmp_path / "elsewhere" / KEPT / MANIFEST).exists()


def test_a_link_among_the_checkpoints_is_neither_counted_nor_followed(tmp_path):
    victim = save(tmp_path / "victim", "model")
    home = owned(tmp_path).directory
    (home / LEFT).symlink_to(victim)
    (save(home, KEPT) / "deep").symlink_to(victim)
    checkpoints = owned(tmp_path)
    assert checkpoints.names() == [KEPT] and checkpoints.used < 1200
    checkpoints.drop([LEFT, KEPT])
    assert (victim / MANIFEST).exists() and not (home / KEPT).exists()


# -- room


def test_the_least_promising_go_first_and_the_needed_stay(tmp_path):
    checkpoints = opened(tmp_path, max_bytes=1000, a=200, b=200, c=200, d=200, stray=50)
    owner, priority = {"a": 0, "b": 1, "c": 2, "d": 3}, {0: 0.3, 1: 0.1, 2: 0.9, 3: 0.2}
    checkpoints.evict(200, owner, priority.__getitem__, needed={"b"})
    assert sorted(checkpoints.names()) == ["a", "b", "c"]
    checkpoints.evict(10**6, owner, priority.__getitem__, needed={"b"})
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


def test_the_owner_file_counts_too(tmp_path):
    checkpoints = owned(tmp_path, max_bytes=1000)
    room = checkpoints.reserve(0, slots=1)
    assert room == 1000 - (checkpoints.directory / OWNER).stat().st_size
    assert owned(tmp_path, max_bytes=10).reserve(0, slots=1) == 0
