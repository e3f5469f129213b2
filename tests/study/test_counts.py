"""Counts of a study: the same counted as it happens, read back, or taken up in the middle."""

import json
from contextlib import closing

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from manyarms.core import Arm, Outcome, Pull
from manyarms.journal import Event
from manyarms.journal.events import asked_event, ended_event
from manyarms.journal.sql import SqlJournal
from manyarms.study.counts import Counts

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
AMOUNTS = st.floats(0, 1e6)
ENDINGS = st.fixed_dictionaries(
    {},
    optional={
        "reward": FLOATS,
        "reason": st.text(max_size=20),
        "details": st.text(max_size=20),
        "seconds": AMOUNTS,
        "cost": AMOUNTS,
        "metrics": st.dictionaries(st.text(max_size=5), FLOATS, max_size=2),
        "attributes": st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.lists(FLOATS, max_size=2), max_size=2),
        "left_out": st.text(max_size=20),
        "size": st.integers(0, 9),
        "curve": st.lists(FLOATS, max_size=3).map(tuple),
        "saved": st.booleans(),
        "unsaved": st.just("no room"),
        "inherited": st.booleans(),
        "attempts": st.integers(1, 3),
        "retrained": st.integers(0, 9),
    },
)
MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("new"), st.lists(st.integers(0), max_size=2), st.integers(1, 5)),
        st.tuples(st.just("again"), st.integers(0), st.integers(1, 5)),
        st.tuples(st.just("end"), st.integers(0), ENDINGS),
        st.tuples(st.just("budget"), st.integers(1), st.none()),
    ),
    max_size=40,
)


def play(moves):
    """Live through the moves: gives the counts kept on the way, the events, and the arms by id."""
    counts, events, arms = Counts("minimize"), [], []

    def ask(arm, steps):
        start = counts.arms[arm.id].steps if arm.id in counts.arms else 0
        event = asked_event(Pull(arm, start, start + steps), arm.config, arm.id not in counts.arms)
        events.append(event)
        counts.count(event, arm)

    for kind, which, what in moves:
        idle = [arm for arm in arms if arm.id not in counts.in_flight]
        if kind == "new":
            parents = tuple(parent % len(arms) for parent in which) if arms else ()
            arms.append(Arm(len(arms), {"x": len(arms) / 3}, parents))
            ask(arms[-1], what)
        elif kind == "again" and idle:
            ask(idle[which % len(idle)], what)
        elif kind == "end" and counts.in_flight:
            events.append(ended(list(counts.in_flight.values())[which % len(counts.in_flight)].pull, **what))
            counts.count(events[-1])
        elif kind == "budget":
            events.append(Event("budget", data={"budget": which}))
            counts.count(events[-1])
    return counts, events, arms


def ended(pull, saved=False, **details):
    name = f"arm-{pull.arm.id}-step-{pull.stop}-0123abcd" if saved and "unsaved" not in details else None
    return ended_event(Outcome(pull, checkpoint=name, **details))


def counted(events, counts=None):
    counts = counts or Counts("minimize")
    for event in events:
        counts.count(event)
    return counts


@given(MOVES)
def test_counting_as_it_happens_is_counting_what_was_read_back(moves):
    counts, events, _ = play(moves)
    with closing(SqlJournal("sqlite://", "study")) as journal:
        journal.create({})
        journal.append(events)
        again = counted(journal.events())
    assert vars(again) == vars(counts)
    assert counts.events == len(events)
    assert counts.failures == sum(event.kind == "failed" for event in events)
    assert counts.steps == sum(event.stop - event.start for event in events if event.kind in ("told", "failed"))


@given(MOVES, st.data())
def test_counts_taken_up_from_their_state_go_on_as_if_never_put_down(moves, data):
    counts, events, arms = play(moves)
    middle = data.draw(st.integers(0, len(events)))
    state = json.loads(json.dumps(counted(events[:middle]).state()))
    resumed = Counts("minimize")
    resumed.load(state, arms)
    assert vars(resumed) == vars(counted(events[:middle]))
    assert vars(counted(events[middle:], resumed)) == vars(counts)
    assert json.dumps(resumed.state()) == json.dumps(counts.state())


AGAIN_FROM_ITS_PARENT = [
    ("new", [], 1),
    ("new", [0], 1),
    ("end", 0, {"reward": 0.0, "unsaved": "no room"}),
    ("again", 0, 1),
    ("end", 0, {}),
    ("again", 0, 1),
    ("end", 0, {"reward": 0.0}),
]


@example(AGAIN_FROM_ITS_PARENT)
@given(MOVES)
def test_what_a_pull_in_flight_may_load_is_needed_until_it_ends(moves):
    (_, events, arms), counts, flights = play(moves), Counts("minimize"), {}
    for event in events:
        if event.kind == "asked":
            parents = arms[event.arm].parents[:1] if event.start == 0 else ()  # a first pull that failed begins from it again
            flights[event.arm] = {counts.arms[arm].checkpoint for arm in (event.arm, *parents) if arm in counts.arms} - {None}
        flights = {arm: names for arm, names in flights.items() if event.kind in ("asked", "budget") or arm != event.arm}
        counts.count(event)
        arms_states = [{record.checkpoint, record.best_checkpoint} - {None} for record in counts.arms.values()]
        assert counts.needed() == set().union(*arms_states, *flights.values())


def test_a_mutant_in_flight_keeps_what_its_parent_had_when_it_was_made():
    parent, mutant = Arm(0, {"x": 0.1}), Arm(1, {"x": 0.2}, (0,))
    counts = counted([asked_event(Pull(parent, 0, 1), parent.config, True), ended(Pull(parent, 0, 1), reward=0.5, saved=True)])
    counted([asked_event(Pull(mutant, 0, 1), mutant.config, True)], counts)
    counted([asked_event(Pull(parent, 1, 2), None, False), ended(Pull(parent, 1, 2), reward=0.5, saved=True)], counts)
    assert counts.needed() == {"arm-0-step-1-0123abcd", "arm-0-step-2-0123abcd"}
    assert counts.arms[1].born_at == 1
    counted([ended(Pull(mutant, 0, 1), reward=0.5, saved=True)], counts)
    assert counts.needed() == {"arm-0-step-2-0123abcd", "arm-1-step-1-0123abcd"}


def test_a_failed_pull_leaves_the_arm_what_it_had():
    arm = Arm(0, {"x": 0.1})
    counts = counted([asked_event(Pull(arm, 0, 1), arm.config, True), ended(Pull(arm, 0, 1), reward=0.5, saved=True)])
    counted([asked_event(Pull(arm, 1, 3), None, False), ended(Pull(arm, 1, 3), reason="NaN", seconds=2.0)], counts)
    record = counts.arms[0]
    assert (record.steps, record.reward, record.failed, record.checkpoint) == (1, 0.5, True, "arm-0-step-1-0123abcd")
    assert (counts.steps, counts.seconds, counts.pulls, counts.failures) == (3, 2.0, 1, 1)


def test_the_best_state_of_an_arm_is_needed_next_to_its_newest():
    arm, counts = Arm(0, {"x": 0.1}), Counts("minimize")
    for start, reward in enumerate((0.5, 0.1, 0.1, 0.4)):
        pull = Pull(arm, start, start + 1)
        counted([asked_event(pull, arm.config, start == 0), ended(pull, reward=reward, saved=True)], counts)
    record = counts.arms[0]
    assert (record.best_reward, record.best_step, record.reward, record.steps) == (0.1, 3, 0.4, 4)  # of equal ones the last
    assert record.mean_reward == pytest.approx(0.275)
    assert counts.needed() == {"arm-0-step-3-0123abcd", "arm-0-step-4-0123abcd"}
