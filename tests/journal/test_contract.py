"""Every journal keeps the contract of journals, and a broken journal fails its check."""

import pytest

from manyarms.journal import MemoryJournal
from manyarms.journal.sql import SqlJournal
from manyarms.testing import JOURNAL_CHECKS, STORAGE_CHECKS
from manyarms.testing import journals as contract


@pytest.mark.parametrize("check", JOURNAL_CHECKS, ids=lambda check: check.__name__)
def test_a_journal_in_memory_keeps_the_contract(check):
    check(kept(MemoryJournal))


@pytest.mark.parametrize("check", JOURNAL_CHECKS + STORAGE_CHECKS, ids=lambda check: check.__name__)
def test_a_journal_in_a_database_keeps_the_contract(check, url):
    check(lambda name, write=True: SqlJournal(url, name, write))


def kept(make, key=str):
    """Opens journals in memory. A name always gives the same object."""
    journals = {}
    return lambda name, write=True: journals.setdefault(key(name), make(name))


class Sharing(MemoryJournal):
    def events(self, since=0):
        yield from self._events[since:]


class Piecemeal(MemoryJournal):
    def append(self, events):
        for event in events:
            super().append([event])


class Rounding(MemoryJournal):
    def events(self, since=0):
        for event in super().events(since):
            reward = None if event.reward is None else event.reward + 0.0  # loses the sign of -0.0
            yield type(event)(event.kind, event.arm, event.start, event.stop, reward, event.seconds, event.data)


class Trimming(MemoryJournal):
    def events(self, since=0):
        for event in super().events(since):
            event.data.pop("", None)
            yield event


class Reversed(MemoryJournal):
    def events(self, since=0):
        return reversed(list(super().events(since)))


class Forgetful(MemoryJournal):
    def close(self):
        self.__init__(self.name)


class FirstSnapshot(MemoryJournal):
    def save_snapshot(self, covered, text):
        if self.snapshot() is None:
            super().save_snapshot(covered, text)


BROKEN = {
    "shares its events": (kept(Sharing), contract.check_events_are_copies),
    "writes one by one": (kept(Piecemeal), contract.check_append_is_all_or_none),
    "rounds": (kept(Rounding), contract.check_floats_survive),
    "drops an empty key": (kept(Trimming), contract.check_data_survives),
    "reverses the events": (kept(Reversed), contract.check_events_come_back_in_order),
    "forgets the header": (kept(Forgetful), contract.check_header_comes_back),
    "forgets the events": (kept(Forgetful), contract.check_nothing_is_lost_by_reopening),
    "keeps the old snapshot": (kept(FirstSnapshot), contract.check_snapshot_is_replaced),
    "ignores case": (kept(MemoryJournal, str.lower), contract.check_odd_names_are_kept_apart),
    "mixes studies": (kept(MemoryJournal, len), contract.check_studies_do_not_mix),
    "lets two write": (kept(MemoryJournal), contract.check_second_writer_is_refused),
    "lets readers write": (kept(MemoryJournal), contract.check_reader_changes_nothing),
    "finds what is not there": (kept(MemoryJournal), contract.check_missing_study_is_not_found),
}


@pytest.mark.parametrize(("opener", "check"), BROKEN.values(), ids=BROKEN)
def test_a_journal_that_breaks_the_contract_fails_its_check(opener, check):
    with pytest.raises(AssertionError, match="must"):
        check(opener)
