"""What all commands on stored studies share: which study they use, and how corrupt and long studies are read."""

from __future__ import annotations

from commands import make_study, query, refused

import manyarms as ma


def test_a_name_is_needed_if_there_are_several_studies(trained):
    make_study("another")
    for command in ("arms", "best", "verify", "gc", "resume"):
        assert refused(trained(command), 1, "The storage contains 2 studies. Give the name of one of them: 'train', 'another'")
        assert trained(command, "manyarms.db", "train").code == 0


def test_a_study_without_a_reward_can_be_inspected(manyarms):
    ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=5), storage="manyarms.db").close()
    assert manyarms("status").code == manyarms("verify").code == manyarms("gc").code == 0
    assert manyarms("arms").out == "No arms yet.\n"
    assert refused(manyarms("best"), 1, "no pull has ended yet")


def test_a_corrupt_study_is_refused_in_one_line_that_names_the_event(trained):
    query("UPDATE manyarms_events SET data = '{' WHERE number = 0")
    for command in ("status", "arms", "best", "resume", "gc"):
        assert refused(trained(command), 1, "is corrupt: event 0")


def test_a_long_study_is_inspected_without_replaying_it(long):
    (row,) = long.command("status", "--json").data
    assert (row["best"], row["arms"], row["pulls"]) == (long.rewards[0], 1_500, 1_500)
    assert [arm["reward"] for arm in long.command("arms", "--json").data] == long.rewards[:20]
    answer = long.command("best")
    assert answer.code == 0 and f"reward: {long.rewards[0]}\n" in answer.out and answer.err == ""
    assert "the study was replayed" in long.command("verify").err
    assert long.command("verify", "--quick").out == "long: 3000 events, no problems\n"


def test_a_changed_reward_is_found_by_every_command(trained):
    query("UPDATE manyarms_events SET reward = 6e307 WHERE number = 7")
    for command in ("status", "arms", "best", "resume", "gc"):
        assert refused(trained(command), 1, "is corrupt: event 7 does not match its checksum")
    assert "event 7" in trained("verify", "--quick").err
