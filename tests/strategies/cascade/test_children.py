"""What passes between the cascade and its children: rewards, arms, configs, recommendations and warnings."""

import pytest

import manyarms as ma
from manyarms.testing import play

from .searches import SPACE, mixed, near, two


def test_the_children_are_told_what_the_cascade_is_told():
    cascade = mixed()
    for pull, reward in play(cascade, near, workers=3, fail=0.1):
        assert cascade.children[pull.config["algorithm"]].ledger.spent > 0
        assert reward is None or reward == near(pull)
    ledgers = [child.ledger for child in cascade.children.values()]
    assert sum(ledger.spent for ledger in ledgers) == cascade.ledger.spent == 200
    assert sum(len(ledger.arms) for ledger in ledgers) == len(cascade.ledger.arms)
    assert sum(len(ledger.failed) for ledger in ledgers) == len(cascade.ledger.failed) > 0
    assert sum(sum(ledger.steps) for ledger in ledgers) == sum(cascade.ledger.steps)


def test_an_arm_trained_on_is_the_same_arm_and_its_parents_are_the_cascades():
    cascade, arms = mixed(budget=400, picker=ma.Uniform()), {}
    for pull, _ in play(cascade, near, workers=2):
        arms.setdefault(pull.arm.id, pull.arm)
        assert arms[pull.arm.id] is pull.arm
        for parent in pull.arm.parents:
            assert arms[parent].config["algorithm"] == pull.config["algorithm"]
    assert any(arm.parents for arm in arms.values())
    assert max(cascade.ledger.steps) == 4
    place, own = 1, cascade.children["mutant"].ledger
    for arm in own.arms:
        known = cascade._arms[place]
        ours = cascade.ledger.arms[known[arm.id]]
        assert ours.config == {"algorithm": "mutant", "config": arm.config}
        assert ours.parents == tuple(known[parent] for parent in arm.parents)


def test_the_configs_of_the_joint_space_of_the_children_are_its_own():
    cascade = mixed()
    joint = ma.Joint(dict.fromkeys(("random", "mutant", "thompson", "adaptive"), SPACE))
    assert cascade.ledger.space.describe() == joint.describe()
    assert all(joint.contains(pull.config) for pull, _ in play(cascade, near))
    search = ma.MutantUCB(joint, budget=200, max_steps=4, seed=0)
    for _ in play(search, near):  # the same function, either way
        pass
    assert near(ma.Pull(search.best(), 0, 1)) > 0.8


def test_recommended_is_the_childs_recommendation_with_the_largest_last_reward():
    cascade = two(ma.Uniform())
    last = {pull.arm.id: reward for pull, reward in play(cascade, near)}
    best = [
        max((near(ma.Pull(arm, 0, 1)), arm.id) for arm in cascade.ledger.arms if arm.config["algorithm"] == n) for n in "ab"
    ]
    assert cascade.best().id == max(best)[1] == max(last, key=last.get)


def test_what_only_failed_is_not_recommended():
    cascade = two()
    with pytest.raises(ma.NoResult):
        cascade.best()
    for _ in play(cascade, lambda pull: near(pull) / 2 if pull.config["algorithm"] == "a" else None):
        pass
    assert cascade.best().config["algorithm"] == "a"


def test_its_plan_priorities_and_warnings_come_from_its_children():
    cascade = ma.Cascade({"mutant": ma.MutantUCB(SPACE, budget=100, max_steps=10, initial=4, seed=0)}, ma.UCB1(), budget=90)
    assert cascade.plan() == [ma.strategies.Phase("pulls of mutant, chosen by UCB1()", None, 90)]
    for _ in play(cascade, lambda pull: pull.stop / 10):  # rises slowly: mutants crowd out training
        pass
    own = cascade.children["mutant"]
    order = sorted(range(len(own.ledger.arms)), key=own.priority)
    priorities = [cascade.priority(cascade._arms[0][arm]) for arm in order]
    assert priorities == sorted(priorities) and max(priorities) < 1
    assert cascade.warning() == f"mutant: {own.warning()}"
    assert own.warning() is not None
