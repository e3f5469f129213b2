"""The journal contract: checks of what studies rely on. Every journal must pass them.

    @pytest.mark.parametrize("check", JOURNAL_CHECKS + STORAGE_CHECKS, ids=lambda check: check.__name__)
    def test_my_journal_keeps_the_contract_of_journals(check, tmp_path):
        check(lambda name, write=True: MyJournal(tmp_path / "storage", name, write))

`open(name, write=True)` opens the journal of the study `name` in one storage, which is empty at first. It can be called any
number of times. If only one object can access a storage, as in memory, `open` returns the same object each time, and
STORAGE_CHECKS do not apply.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from ..errors import StorageError, StudyLocked, StudyNotFound
from ..journal import Event, Journal

Open = Callable[..., Journal]

_HEADER = {"strategy": "MutantUCB", "settings": {"budget": None, "max_steps": 3}, "bounds": [-0.5, 1e308], "name": "é 日本 🦾"}
_FLOATS = (0.1, 1 / 3, 5e-324, -0.0, 0.0, 1e308, -1.7976931348623157e308, 2.0**53)
_DATA: tuple[dict[str, Any], ...] = (
    {},
    {"config": {}},
    {"config": {"layers": [{"width": 3, "act": None}, []], "lr": 1e-300, "deep": {"a": {"b": {"c": [True, False]}}}}},
    {"reason": "é ß 日本語 🦾 \u200f ' \" \\ \n \t \x00 \x7f </script>", "": "empty key"},
    {"reason": "\ud800 half a character"},
    {"curve": [0.1, 5e-324, -0.0, 1e308], "attempts": 2**70},
)
_NAMES = (
    *(
        "study",
        "Study",
        "study ",
        " study",
        "a/b",
        "../../etc/passwd",
        "a\\b",
        "C:\\nul",
        "it's",
        'say "hello"',
        "%s %(name)s {name}",
    ),
    *("'; DROP TABLE manyarms_events; --", "<script>alert(1)</script>", "&amp;", "🦾🧪", "é", "e\u0301", "0", "None", "*", "?"),
    *("x" * 255, "x" * 254 + "y", "🦾" * 255),
)


def check_header_comes_back(open: Open) -> None:
    """A new journal has no header. Once written, every object that opens the journal has the header, as a copy."""
    with closing(open("study")) as journal:
        _check(journal.header is None, "a new journal must have no header", journal.header)
        _check(len(journal) == 0 and not list(journal.events()), "a new journal must have no events", len(journal))
        journal.create(_HEADER)
        _check(journal.header == _HEADER, "the header must be read as it was written", journal.header)
        dict(journal.header or {})["settings"]["max_steps"] = 4
        _check(journal.header == _HEADER, "changing a returned header must not change the journal", journal.header)
    with closing(open("study")) as journal:
        _check(journal.header == _HEADER, "the header must exist after reopening", journal.header)
        _check(journal.name == "study", "the name must be that of the study", journal.name)


def check_events_come_back_in_order(open: Open, n: int = 2_500) -> None:
    """Events are numbered from 0 in the order in which they are appended, and can be read starting from any number."""
    events = [*_pulls(n), Event("budget", data={"budget": 10}), Event("asked", 1, 0, 2**40, data={"config": 0, "parents": [0]})]
    with closing(_new(open, "study")) as journal:
        journal.append(events[:1])
        journal.append([])
        journal.append(iter(events[1:-1]))
        journal.append(events[-1:])
        _check(len(journal) == len(events), f"the length must be {len(events)}, the number of events", len(journal))
        for since in (0, 1, 2, n // 2, n, n + 1, n + 2, n + 9):
            given = list(journal.events(since=since))
            _check(
                given == events[since:],
                f"events(since={since}) must return the events from that number on, in order",
                given[:3],
            )


def check_events_are_copies(open: Open) -> None:
    """Changing events that were appended or returned does not change the journal."""
    mine: list[dict[str, Any]] = [{"config": {"x": [1, 2]}}, {}]
    with closing(_new(open, "study")) as journal:
        journal.append(Event("asked", arm, 0, 1, data=data) for arm, data in enumerate(mine))
        mine[0]["config"]["x"].append(3)
        mine[1]["config"] = 0
        for _ in range(2):
            given: list[Any] = [event.data for event in journal.events()]
            _check(given == [{"config": {"x": [1, 2]}}, {}], "the journal must return what was appended", given)
            given[0]["config"]["x"].clear()
            given[1]["config"] = 0


def check_floats_survive(open: Open) -> None:
    """Rewards and times are read back bit for bit, because a study is resumed by replaying it. Integers are read back equal."""
    with closing(_new(open, "study")) as journal:
        journal.append(Event("told", i, 0, 1, value, value) for i, value in enumerate(_FLOATS))
        journal.append([Event("told", 9, 0, 1, 3, 0)])
    with closing(open("study")) as journal:
        *given, last = journal.events()
    _check((last.reward, last.seconds) == (3, 0), "integers must be read back equal", last)
    for event, value in zip(given, _FLOATS, strict=True):
        same = (
            event.reward is not None
            and event.seconds is not None
            and _bits(event.reward) == _bits(value) == _bits(event.seconds)
        )
        _check(same, f"{value!r} must be read back bit for bit", event.reward, event.seconds)


def check_data_survives(open: Open) -> None:
    """The data of an event can be any JSON: nested, empty, in any language."""
    events = [Event("asked", i, 0, 1, data=data) for i, data in enumerate(_DATA)]
    with closing(_new(open, "study")) as journal:
        journal.append(events)
    with closing(open("study")) as journal:
        for event, given in zip(events, journal.events(), strict=True):
            same = given == event and json.dumps(given.data) == json.dumps(event.data)  # as text, to see the sign of -0.0
            _check(same, "data must be read back unchanged", event.data, given.data)


def check_append_is_all_or_none(open: Open) -> None:
    """If one of several events cannot be written, none of them is, and the journal can still be used."""
    first, second, third = _pulls(3)
    unwritable = Event("asked", 7, 0, 1, data={"config": (x for x in range(1))})
    with closing(_new(open, "study")) as journal:
        journal.append([first])
        for doomed in ([second, unwritable, third], _breaking(second, third)):
            try:
                journal.append(doomed)
            except Exception:
                pass
            else:
                raise AssertionError("an event that cannot be written must raise")
            _check(len(journal) == 1, "a failed append must not change the length", len(journal))
            _check(list(journal.events()) == [first], "a failed append must not add events", list(journal.events()))
        journal.append([second, third])
        _check(list(journal.events()) == [first, second, third], "a later append must work after a failed one", len(journal))
    with closing(open("study")) as journal:
        _check(list(journal.events()) == [first, second, third], "the events must exist after reopening", len(journal))


def check_nothing_is_lost_by_reopening(open: Open, times: int = 5) -> None:
    """A journal that is closed and opened again has all its events, and more can be appended."""
    events = list(_pulls(3 * times))
    _new(open, "study").close()
    for i in range(times):
        with closing(open("study")) as journal:
            _check(len(journal) == 3 * i, f"{3 * i} events must exist after reopening", len(journal))
            journal.append(events[3 * i : 3 * i + 2])
            journal.append(events[3 * i + 2 : 3 * i + 3])
            _check(list(journal.events()) == events[: 3 * i + 3], "all events must exist, in order", len(journal))


def check_studies_do_not_mix(open: Open) -> None:
    """Studies in one storage are independent of each other, even if they are written at the same time."""
    one, two = _new(open, "one"), _new(open, "two")
    with closing(one), closing(two):
        for event in _pulls(4):
            one.append([event])
            two.append([replace(event, arm=100), replace(event, arm=101)])
        one.save_snapshot(4, "of one")
        _check([event.arm for event in one.events()] == [0, 0, 1, 1], "a study must return its own events", list(one.events()))
        _check(
            [event.arm for event in two.events()] == [100, 101] * 4, "a study must return its own events", list(two.events())
        )
        _check((len(one), len(two)) == (4, 8), "a study must count its own events", len(one), len(two))
        _check(two.snapshot() is None, "a study must return its own snapshot", two.snapshot())


def check_odd_names_are_kept_apart(open: Open) -> None:
    """A name can be any printable text, and different names are different studies."""
    for name in _NAMES:
        with closing(open(name)) as journal:
            _check(journal.header is None, "different names must be different studies", name)
            journal.create({"name": name})
            journal.append([Event("budget", data={"budget": name})])
            journal.save_snapshot(1, name)
    for name in _NAMES:
        with closing(open(name)) as journal:
            found = (journal.header, [dict(event.data) for event in journal.events()], journal.snapshot())
            _check(found == ({"name": name}, [{"budget": name}], (1, name)), "a study must be found by its name", name, found)


def check_snapshot_is_replaced(open: Open) -> None:
    """There is no snapshot at first; later, the newest one is returned, even after reopening."""
    text = json.dumps({"data": "é 🦾 \x00'", "long": "x" * 300_000})
    with closing(_new(open, "study")) as journal:
        _check(journal.snapshot() is None, "a new journal must have no snapshot", journal.snapshot())
        journal.append(_pulls(4))
        journal.save_snapshot(2, "old")
        _check(journal.snapshot() == (2, "old"), "a snapshot must be read as it was saved", journal.snapshot())
        journal.save_snapshot(4, text)
        _check(journal.snapshot() == (4, text), "the newest snapshot must replace the previous one")
        _check(list(journal.events()) == list(_pulls(4)), "a snapshot must not change the events")
    with closing(open("study")) as journal:
        _check(journal.snapshot() == (4, text), "the snapshot must exist after reopening")


def check_recommendation_is_replaced(open: Open) -> None:
    """There is no recommendation at first; later, the newest one is returned, even after reopening."""
    with closing(_new(open, "study")) as journal:
        _check(journal.recommendation() is None, "a new journal must have no recommendation", journal.recommendation())
        journal.append(_pulls(4))
        for saved in ((2, "arm 0"), (4, "arm 1")):
            journal.save_recommendation(*saved)
            _check(journal.recommendation() == saved, "the newest recommendation must be returned", journal.recommendation())
        _check(list(journal.events()) == list(_pulls(4)), "a recommendation must not change the events")
    with closing(open("study")) as journal:
        _check(journal.recommendation() == (4, "arm 1"), "the recommendation must exist after reopening")


def check_second_writer_is_refused(open: Open) -> None:
    """A second writer gets an error that says what to do. It can write once the first writer has closed the journal."""
    with closing(_new(open, "it's")) as journal:
        for _ in range(2):  # a failed attempt must not release the lock
            try:
                open("it's").close()
            except StudyLocked as error:
                helps = repr("it's") in str(error) and any(word in str(error) for word in ("wait", "stop", "close"))
                _check(helps, "the message must name the study and say what to do", str(error))
            else:
                raise AssertionError("a second writer must get StudyLocked")
        open("another").close()
        journal.append(_pulls(2))
    with closing(open("it's")) as journal:
        journal.append(_pulls(1))
        _check(len(journal) == 3, "a second writer must be able to continue after the first one closed", len(journal))


def check_reader_follows_the_writer(open: Open) -> None:
    """A reader can open a study that is being written, sees all events appended so far, and does not block the writer."""
    events = list(_pulls(6))
    with closing(_new(open, "study")) as writer:
        writer.append(events[:2])
        with closing(open("study", write=False)) as reader:
            _check(reader.header == _HEADER, "a reader must see the header", reader.header)
            for n in (2, 4, 6):
                _check(len(reader) == n, f"a reader must see {n} events", len(reader))
                _check(
                    list(reader.events()) == events[:n],
                    "a reader must see the events that were appended",
                    list(reader.events()),
                )
                writer.append(events[n : n + 2])
            writer.save_snapshot(6, "text")
            _check(reader.snapshot() == (6, "text"), "a reader must see the snapshot", reader.snapshot())
            begun = reader.events()
            next(begun)
            writer.append(events[:2])
            rest = list(begun)
            _check(rest in (events[1:], events[1:] + events[:2]), "a reader must see the first events of the journal", rest)


def check_reader_changes_nothing(open: Open) -> None:
    """A journal that was opened for reading cannot be written, whether or not there is a writer."""
    writer = _new(open, "study")
    for _ in range(2):
        with closing(open("study", write=False)) as reader:
            acts: tuple[Callable[[], None], ...] = (
                lambda reader=reader: reader.append(_pulls(1)),  # type: ignore[misc]
                lambda reader=reader: reader.save_snapshot(1, "text"),  # type: ignore[misc]
                lambda reader=reader: reader.save_recommendation(1, "arm 0"),  # type: ignore[misc]
                lambda reader=reader: reader.create(_HEADER),  # type: ignore[misc]
            )
            for act in acts:
                try:
                    act()
                except StorageError:
                    continue
                raise AssertionError("writing through a reader must raise StorageError")
            _check(len(reader) == 0 and reader.snapshot() is None, "a reader must change nothing", len(reader))
        writer.close()
    open("study").close()


def check_missing_study_is_not_found(open: Open) -> None:
    """Reading a study that does not exist raises an error that lists the existing ones, and creates nothing."""
    for names in ([], ["one"], ["one", "two"]):
        for name in names[-1:]:
            _new(open, name).close()
        try:
            open("none", write=False).close()
        except StudyNotFound as error:
            _check(all(repr(name) in str(error) for name in names), f"the message must name the studies {names}", str(error))
        else:
            raise AssertionError("reading a missing study must raise StudyNotFound")


JOURNAL_CHECKS: tuple[Callable[[Open], None], ...] = (
    check_header_comes_back,
    check_events_come_back_in_order,
    check_events_are_copies,
    check_floats_survive,
    check_data_survives,
    check_append_is_all_or_none,
    check_nothing_is_lost_by_reopening,
    check_studies_do_not_mix,
    check_odd_names_are_kept_apart,
    check_snapshot_is_replaced,
    check_recommendation_is_replaced,
)
"""Each takes a function that opens journals of one empty storage by name, and raises `AssertionError`."""

STORAGE_CHECKS: tuple[Callable[[Open], None], ...] = (
    check_second_writer_is_refused,
    check_reader_follows_the_writer,
    check_reader_changes_nothing,
    check_missing_study_is_not_found,
)
"""The same, for storages that several processes can open at the same time: one writes, any number read."""


def _check(holds: bool, rule: str, *witnesses: Any) -> None:
    if not holds:  # not an assert statement, because python -O removes those
        raise AssertionError(f"{rule}, got {', '.join(f'{witness!r:.300}' for witness in witnesses)}" if witnesses else rule)


def _new(open: Open, name: str) -> Journal:
    journal = open(name)
    journal.create(_HEADER)
    return journal


def _pulls(n: int) -> Iterator[Event]:
    """A number of events of arms that are each asked for and told."""
    for i in range(n):
        arm = i // 2
        yield Event("told", arm, 0, 1, 0.1 * arm, 0.5) if i % 2 else Event("asked", arm, 0, 1, data={"config": {"x": arm}})


def _breaking(*events: Event) -> Iterator[Event]:
    yield from events
    raise RuntimeError("the events end here")


def _bits(value: float) -> bytes:
    return struct.pack("<d", value)
