"""The free slots of a cluster."""

import random

from manyarms.runners.engines.slots import Slots


def slots_of(**sizes):
    slots = Slots()
    for worker, size in sizes.items():
        slots.add(worker, size)
    return slots


def test_pulls_are_spread_over_the_workers():
    slots = slots_of(a=3, b=1, c=2)
    taken = [slots.take() for _ in range(6)]
    assert taken[0] == "a"
    assert sorted(taken) == ["a", "a", "a", "b", "c", "c"]
    assert slots.take() is None
    assert slots.total == 6


def test_the_preferred_worker_is_used_while_it_has_a_free_slot():
    slots = slots_of(a=3, b=1)
    assert slots.take("b") == "b"
    assert slots.take("b") == "a"
    slots.give_back("b")
    assert slots.take("b") == "b"
    assert slots.take("unknown") == "a"


def test_among_equals_the_worker_that_was_used_last_is_used_again():
    slots = slots_of(**{f"w{number}": 1 for number in range(10)})
    first = slots.take()
    for _ in range(5):
        slots.give_back(first)
        assert slots.take() == first


def test_a_worker_that_has_left_is_not_used_until_it_comes_back():
    slots = slots_of(a=2, b=1)
    assert slots.take("a") == "a"
    slots.remove("a")
    slots.remove("a")  # again, which changes nothing
    assert "a" not in slots
    assert (slots.total, slots.take("a"), slots.take()) == (1, "b", None)
    slots.add("a", 2)  # its pull has not been returned
    assert (slots.take(), slots.take()) == ("a", None)
    slots.give_back("a")
    slots.give_back("a")
    assert (slots.take(), slots.take(), slots.take()) == ("a", "a", None)


def test_a_slot_of_a_worker_that_has_left_can_be_returned():
    slots = slots_of(a=1)
    slots.take()
    slots.clear()
    assert (slots.total, slots.take()) == (0, None)
    slots.give_back("a")
    slots.add("a", 1)
    assert slots.take() == "a"


def test_a_worker_without_slots_is_known_but_not_used():
    slots = slots_of(a=0)
    assert "a" in slots
    assert (slots.total, slots.take("a")) == (0, None)


def test_slots_agree_with_a_count_from_scratch():
    rng, slots = random.Random(0), Slots()
    sizes, taken = {}, []
    for _ in range(3000):
        worker = f"w{rng.randrange(8)}"
        act = rng.choice(["add", "remove", "take", "take", "take", "give back", "give back"])
        if act == "add":
            sizes[worker] = rng.randrange(4)
            slots.add(worker, sizes[worker])
        elif act == "remove":
            sizes.pop(worker, None)
            slots.remove(worker)
        elif act == "give back" and taken:
            slots.give_back(taken.pop(rng.randrange(len(taken))))
        elif act == "take":
            free = {name: size - taken.count(name) for name, size in sizes.items() if size > taken.count(name)}
            got = slots.take(worker)
            if worker in free:
                assert got == worker
            elif free:
                assert free[got] == max(free.values())
            else:
                assert got is None
            taken += [] if got is None else [got]
        assert slots.total == sum(sizes.values())


def test_with_a_depth_of_two_each_slot_has_a_pull_that_runs_and_one_that_waits():
    slots = Slots()
    slots.add("a", 1)
    slots.add("b", 1)
    slots.depth = 2
    assert sorted([slots.take(), slots.take()]) == ["a", "b"]  # first one that runs on each
    assert sorted([slots.take("a"), slots.take("a")]) == ["a", "b"]  # then one that waits on each
    assert slots.take() is None
    slots.depth = 1
    slots.give_back("a")
    assert slots.take() is None  # the other pull of "a" has not ended
    slots.give_back("a")
    assert slots.take() == "a"
    assert slots.total == 2
