"""The cascade: a picker over strategies, which is a strategy itself."""

import math
import subprocess
import sys
import textwrap
from collections import Counter

import numpy as np
import pytest
from commands import quick_directory

import manyarms as ma
from manyarms.audit import audit
from manyarms.errors import StudyMismatch
from manyarms.header import make_header, restored_strategy
from manyarms.strategies import restart
from manyarms.strategies.cascade import child_seed, hopeless
from manyarms.testing import play

SPACE = ma.Space(x=ma.Float(0, 1))


class Digits:
    """A space of one's own."""

    def sample(self, rng):
        return int(rng.integers(100))

    def mutate(self, config, rng):
        return (config + 1 + int(rng.integers(99))) % 100


def mixed(budget=200, seed=0, picker=None):
    children = {
        "random": ma.RandomSearch(SPACE, max_steps=4),
        "mutant": ma.MutantUCB(SPACE, max_steps=4, initial=10),
        "thompson": ma.DTTTS(SPACE, max_steps=4),
        "adaptive": ma.AdaptiveMutantUCB(SPACE, max_steps=4, initial=6),
    }
    return ma.Cascade(children, picker, budget=budget, seed=seed)


def two(picker=None, **given):
    return ma.Cascade({"a": ma.RandomSearch(SPACE), "b": ma.RandomSearch(SPACE)}, picker, **{"budget": 100, "seed": 0, **given})


def near(pull):
    """The nearer to 0.3, the better."""
    return 1 - abs(pull.config["config"]["x"] - 0.3)


def names(cascade, **played):
    """Whose each pull was, in the order they were told."""
    return [pull.config["algorithm"] for pull, _ in play(cascade, **played)]


# -- picking


def test_the_child_that_gives_most_is_picked_most():
    for picker in (ma.ERUCB(), ma.UCB1(), ma.EpsilonGreedy()):
        cascade = two(picker, budget=500)
        counts = Counter(names(cascade, reward=lambda pull: {"a": 0.2, "b": 0.8}[pull.config["algorithm"]] * near(pull)))
        assert counts["b"] > 1.3 * counts["a"], picker


def test_each_child_is_picked_once_first_and_picks_in_flight_spread():
    cascade = mixed()
    assert [cascade.ask().config["algorithm"] for _ in range(8)] == ["random", "mutant", "thompson", "adaptive"] * 2


def test_the_children_are_told_what_the_cascade_is_told():
    cascade = mixed()
    for pull, reward in play(cascade, near, workers=3, fail=0.1):
        assert cascade.children[pull.config["algorithm"]].book.spent > 0
        assert reward is None or reward == near(pull)
    books = [child.book for child in cascade.children.values()]
    assert sum(book.spent for book in books) == cascade.book.spent == 200
    assert sum(len(book.arms) for book in books) == len(cascade.book.arms)
    assert sum(len(book.failed) for book in books) == len(cascade.book.failed) > 0
    assert sum(sum(book.steps) for book in books) == sum(cascade.book.steps)


def test_an_arm_trained_on_is_the_same_arm_and_its_parents_are_the_cascades():
    cascade, arms = mixed(budget=400, picker=ma.Uniform()), {}
    for pull, _ in play(cascade, near, workers=2):
        arms.setdefault(pull.arm.id, pull.arm)
        assert arms[pull.arm.id] is pull.arm
        for parent in pull.arm.parents:
            assert arms[parent].config["algorithm"] == pull.config["algorithm"]
    assert any(arm.parents for arm in arms.values())
    assert max(cascade.book.steps) == 4
    place, own = 1, cascade.children["mutant"].book
    for arm in own.arms:
        known = cascade._arms[place]
        ours = cascade.book.arms[known[arm.id]]
        assert ours.config == {"algorithm": "mutant", "config": arm.config}
        assert ours.parents == tuple(known[parent] for parent in arm.parents)


def test_recommended_is_the_childs_recommendation_with_the_largest_last_reward():
    cascade = two(ma.Uniform())
    last = {pull.arm.id: reward for pull, reward in play(cascade, near)}
    best = [max((near(ma.Pull(arm, 0, 1)), arm.id) for arm in cascade.book.arms if arm.config["algorithm"] == n) for n in "ab"]
    assert cascade.best().id == max(best)[1] == max(last, key=last.get)


def test_what_only_failed_is_not_recommended():
    cascade = two()
    with pytest.raises(ma.NoResult):
        cascade.best()
    for _ in play(cascade, lambda pull: near(pull) / 2 if pull.config["algorithm"] == "a" else None):
        pass
    assert cascade.best().config["algorithm"] == "a"


def test_the_configs_of_the_joint_space_of_the_children_are_its_own():
    cascade = mixed()
    joint = ma.Joint(dict.fromkeys(("random", "mutant", "thompson", "adaptive"), SPACE))
    assert cascade.book.space.describe() == joint.describe()
    assert all(joint.contains(pull.config) for pull, _ in play(cascade, near))
    search = ma.MutantUCB(joint, budget=200, max_steps=4, seed=0)
    for _ in play(search, near):  # the same function, either way
        pass
    assert near(ma.Pull(search.best(), 0, 1)) > 0.8


# -- who may be picked


def test_a_child_that_is_done_is_passed_over():
    cascade = ma.Cascade({"short": ma.RandomSearch(SPACE, budget=7), "long": ma.RandomSearch(SPACE)}, budget=50, seed=0)
    assert Counter(names(cascade, reward=near, workers=3)) == {"short": 7, "long": 43}
    assert cascade.children["short"].book.budget == 7


def test_when_all_children_are_done_so_is_the_cascade():
    cascade = ma.Cascade({"a": ma.RandomSearch(SPACE, budget=5), "b": ma.RandomSearch(SPACE, budget=6)}, seed=0)
    assert len(names(cascade, reward=near, workers=4)) == 11
    assert cascade.ask() is None


def test_a_child_that_has_to_wait_does_not_hold_up_the_others():
    halving = ma.SuccessiveHalving(SPACE, budget=21, max_steps=9)  # one bracket: waits for its rungs
    cascade = ma.Cascade({"halving": halving, "random": ma.RandomSearch(SPACE)}, ma.Uniform(), budget=60, seed=0)
    pulls = []
    while (pull := cascade.ask()) is not None:
        pulls.append(pull)
    counts = Counter(pull.config["algorithm"] for pull in pulls)
    assert counts == {"halving": 9, "random": 51}  # none was told, yet every step was asked for


def test_all_waiting_it_waits_and_changes_nothing():
    halving = {name: ma.SuccessiveHalving(SPACE, budget=21, max_steps=9) for name in "ab"}
    cascade = ma.Cascade(halving, ma.Softmax(), budget=100, seed=0)
    pulls = [cascade.ask() for _ in range(18)]
    assert len(cascade.book.in_flight) == 18
    before = cascade.book.rng.bit_generator.state
    assert cascade.ask() is None and cascade.ask() is None
    assert cascade.book.rng.bit_generator.state == before
    for pull in pulls:
        cascade.tell(pull, near(pull))
    assert cascade.ask() is not None


@pytest.mark.parametrize(
    ("failed", "rewarded", "expected"),
    [(4, 0, False), (5, 0, True), (5, 1, False), (9, 1, True), (90, 9, True), (90, 11, False)],
)
def test_hopeless_is_who_failed_often_and_nearly_always(failed, rewarded, expected):
    assert hopeless(failed, rewarded) is expected


@pytest.mark.parametrize("picker", [ma.ERUCB(), ma.Uniform()])
def test_a_child_that_keeps_failing_is_left_alone_and_said(picker):
    cascade = two(picker)
    counts = Counter(names(cascade, reward=lambda pull: None if pull.config["algorithm"] == "b" else near(pull)))
    assert counts["b"] <= 5 and counts["a"] == 100 - counts["b"]
    if counts["b"] == 5:
        assert cascade.warning() == "b: 5 of 5 pulls failed, so it was left alone while others had hope."


def test_where_all_children_fail_the_budget_is_spent_all_the_same():
    counts = Counter(names(two(), reward=lambda pull: None))
    assert counts.total() == 100 and min(counts.values()) >= 5


def test_a_failure_told_late_does_not_bury_a_child_that_recovers():
    cascade = two(ma.Uniform())
    pulls = [cascade.ask() for _ in range(40)]
    mine = [pull for pull in pulls if pull.config["algorithm"] == "b"]
    for pull in mine[:5]:
        cascade.tell(pull, None)
    assert {cascade.ask().config["algorithm"] for _ in range(10)} == {"a"}
    cascade.tell(mine[5], 0.5)
    assert "b" in {cascade.ask().config["algorithm"] for _ in range(30)}


# -- budgets


def test_what_is_left_is_what_a_child_may_spend():
    children = {"long": ma.RandomSearch(SPACE, max_steps=7), "short": ma.RandomSearch(SPACE, max_steps=2)}
    cascade = ma.Cascade(children, ma.Uniform(), budget=40, seed=0)
    pulls = [pull for pull, _ in play(cascade, near, workers=5)]
    assert 39 <= sum(pull.steps for pull in pulls) <= 40
    assert all(child.book.budget is None for child in cascade.children.values())


def test_a_child_ends_as_it_would_alone():
    alone = ma.MutantUCB(SPACE, budget=60, max_steps=5, initial=10, seed=child_seed(3, "mutant"))
    cascade = ma.Cascade({"mutant": ma.MutantUCB(SPACE, max_steps=5, initial=10)}, budget=60, seed=3)
    reward = {False: near, True: lambda pull: 1 - abs(pull.config["x"] - 0.3)}
    one = [(p.config["config"], p.start, p.stop) for p, _ in play(cascade, reward[False])]
    two = [(p.config, p.start, p.stop) for p, _ in play(alone, reward[True])]
    assert one == two
    assert cascade.best().config["config"] == alone.best().config


def test_a_budget_that_is_raised_brings_back_who_had_ended():
    cascade = mixed(budget=60)
    assert sum(pull.steps for pull, _ in play(cascade, near)) <= 60
    cascade.book.budget = 120
    for _ in play(cascade, near):
        pass
    assert 117 <= cascade.book.spent <= 120


# -- seeds


def test_children_without_a_seed_get_one_that_derives_from_the_cascades():
    cascade = two(seed=7)
    assert {name: child.book.seed for name, child in cascade.children.items()} == {n: child_seed(7, n) for n in "ab"}
    assert child_seed(7, "a") != child_seed(7, "b") != child_seed(8, "b")
    own = ma.Cascade({"a": ma.RandomSearch(SPACE, seed=5), "b": ma.RandomSearch(SPACE)}, seed=7)
    assert own.children["a"].book.seed == 5


def test_restarted_it_is_as_at_the_beginning_also_with_another_seed():
    cascade = mixed(seed=1)
    first = [pull for pull, _ in play(cascade, near)]
    restart(cascade, seed=2, budget=100)
    assert (cascade.book.budget, cascade.book.seed, cascade.book.arms) == (100, 2, [])
    other = [pull for pull, _ in play(cascade, near)]
    restart(cascade, seed=1, budget=200)
    assert [pull for pull, _ in play(cascade, near)] == first != other


# -- rewards of any scale


PICKERS = (ma.ExtremeUCB, ma.ERUCB, ma.UCB1, ma.EpsilonGreedy, ma.Softmax, ma.Uniform)


@pytest.mark.parametrize("picker", PICKERS)
def test_any_picker_takes_any_reward_and_so_do_the_children(picker):
    for cascade in (two(picker()), mixed(picker=picker())):
        for _ in play(cascade, lambda pull: -100 * abs(pull.config["config"]["x"] - 0.3), workers=2):
            pass
        assert abs(cascade.best().config["config"]["x"] - 0.3) < 0.1


def share_of_b(picker, seed, diverged=0, draw=lambda rng, place: rng.uniform(-3.0 + 0.5 * place, -2.6 + 0.6 * place)):
    """The share of 300 pulls that a study gives to the second child, which is the better one; the first runs may diverge."""
    rng = np.random.default_rng(seed)
    with ma.Study(two(picker, budget=300, seed=seed)) as study:
        while (pull := study.ask()) is not None:
            noise = -1e9 * (1 + rng.random())
            study.tell(pull, noise if study.tally.pulls < diverged else draw(rng, "ab".index(pull.config["algorithm"])))
        return study.strategy.picker.trials[1] / 300


def test_first_runs_that_diverged_do_not_count_for_ever():
    """Were old rewards not brought to each new scale, these would be 0.74 and 0.46."""
    assert np.mean([share_of_b(ma.UCB1(), seed, diverged=20) for seed in range(20)]) > 0.85
    assert np.mean([share_of_b(ma.EpsilonGreedy(), seed, diverged=2) for seed in range(20)]) > 0.75


def test_losses_of_many_sizes_do_not_mislead_as_to_the_better_child():
    """Were old rewards not brought to each new scale, it would be 0.82."""
    losses = lambda rng, place: -rng.lognormal(-place)  # noqa: E731
    assert np.mean([share_of_b(ma.ExtremeUCB(), seed, draw=losses) for seed in range(20)]) > 0.85


# -- in studies


@pytest.fixture
def quick():
    """A directory in memory, if there is one: these studies write much to disk."""
    with quick_directory() as directory:
        yield directory


def spread(**given):
    """A cascade that goes on with all its children."""
    return mixed(picker=ma.UCB1(), **given)


def train(pull):
    if pull["config"]["x"] > 0.95:
        raise ValueError("too large")
    return -abs(pull["config"]["x"] - 0.3) * 100 / pull.stop  # of another scale


def stopping(pulls):
    """Stops a study once it has so many."""
    return lambda study, outcome: study.tally.pulls >= pulls and study.stop()


def decisions(study):
    return [event.decision for event in study.journal.events() if event.kind == "asked"]


@pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")
def test_a_study_that_was_stopped_goes_on_as_if_it_had_not(quick):
    with ma.Study(spread(), storage=f"{quick}/whole.db") as whole:
        whole.optimize(train, progress=False)
        expected, best = decisions(whole), whole.best_config
    for stop in (1, 60):
        with ma.Study(spread(), storage=f"{quick}/broken.db") as study:
            study.optimize(train, progress=False, callbacks=[stopping(stop)])
    with ma.Study(spread(seed=None), storage=f"{quick}/broken.db") as study:
        study.optimize(train, progress=False)
        assert decisions(study) == expected
        assert study.best_config == best
    with ma.load_study(f"{quick}/broken.db") as view:
        assert view.best_config == best
        assert list(audit(view.journal)) == []
    with ma.Study(spread(budget=230), storage=f"{quick}/broken.db") as study:
        study.optimize(train, progress=False)
        assert 226 < study.tally.steps <= 230


@pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")
def test_a_snapshot_goes_on_as_the_journal_does(quick):
    with ma.Study(spread(), storage=f"{quick}/study.db") as study:
        study.optimize(train, progress=False, callbacks=[stopping(60)])
        study._save_snapshot()
    with ma.Study(spread(), storage=f"{quick}/study.db") as study:
        study.optimize(train, progress=False)
        assert list(audit(study.journal)) == []


@pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")
def test_workers_train_it_and_the_same_again(quick):
    runs = []
    for name in ("one", "two"):
        with ma.Study(spread(budget=80), storage=f"{quick}/{name}.db") as study:
            study.optimize(train, workers=2, deterministic=True, progress=False)
            runs.append(decisions(study))
            assert list(audit(study.journal)) == []
    assert runs[0] == runs[1]


KILLED = """
import os, signal, sys
import manyarms as ma
from test_cascade import spread, train

def end(study, outcome):
    if study.tally.pulls == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

ma.Study(spread(), storage=sys.argv[1]).optimize(train, progress=False, callbacks=[end])
"""


@pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")
def test_a_study_killed_twice_goes_on_as_if_it_had_not(quick, request):
    with ma.Study(spread(), storage=f"{quick}/whole.db") as whole:
        whole.optimize(train, progress=False)
        expected = decisions(whole)
    for pulls in ("20", "70"):
        command = [sys.executable, "-c", textwrap.dedent(KILLED), f"{quick}/broken.db", pulls]
        assert subprocess.run(command, cwd=request.path.parent, check=False).returncode == -9
    with ma.Study(spread(), storage=f"{quick}/broken.db") as study:
        assert study.tally.pulls == 70
        study.optimize(train, progress=False)
        assert decisions(study) == expected


def test_other_children_or_another_picker_are_another_study(quick):
    ma.Study(two(), storage=f"{quick}/study.db").close()
    for other, argument in [
        (two(ma.UCB1()), "picker"),
        (two(ma.ERUCB(beta=0.5)), "picker"),
        (ma.Cascade({"a": ma.RandomSearch(SPACE), "c": ma.RandomSearch(SPACE)}, budget=100, seed=0), "space"),
        (ma.Cascade({"a": ma.RandomSearch(SPACE), "b": ma.DTTTS(SPACE)}, budget=100, seed=0), "children"),
        (ma.Cascade({"a": ma.RandomSearch(SPACE), "b": ma.RandomSearch(SPACE, budget=9)}, budget=100, seed=0), "children"),
    ]:
        with pytest.raises(StudyMismatch, match=f"was made with {argument}="):
            ma.Study(other, storage=f"{quick}/study.db")
    ma.Study(two(budget=200, seed=None), storage=f"{quick}/study.db").close()


def test_its_header_makes_it_again_nested_too():
    inner = ma.Cascade({"x": ma.DTTTS(SPACE), "y": ma.ASHA(SPACE, max_steps=9)}, ma.Softmax(0.2), budget=50)
    original = ma.Cascade({"inner": inner, "z": ma.RandomSearch(SPACE, seed=4)}, ma.ERUCB(beta=0.5), budget=90, seed=3)
    again = restored_strategy(make_header(original, 3, "maximize", None))
    reward = lambda pull: np.random.default_rng([pull.arm.id, pull.stop]).random()  # noqa: E731
    assert [pull for pull, _ in play(again, reward)] == [pull for pull, _ in play(original, reward)]


def test_what_is_not_the_librarys_cannot_be_made_again():
    class Own(ma.RandomSearch):
        pass

    class Mine(ma.UCB1):
        pass

    for cascade in (
        ma.Cascade({"a": Own(SPACE)}, seed=0),
        ma.Cascade({"a": ma.RandomSearch(Digits())}, seed=0),
        ma.Cascade({"a": ma.RandomSearch(SPACE)}, Mine(), seed=0),
        ma.Cascade({"a": ma.MutantUCB(SPACE, train_probability=lambda n, N: 0.5)}, seed=0),
    ):
        assert restored_strategy(make_header(cascade, 0, "maximize", None)) is None


def test_a_study_of_a_space_of_ones_own_resumes(quick):
    def make():
        return ma.Cascade(
            {"digits": ma.MutantUCB(Digits(), max_steps=2, initial=5), "x": ma.RandomSearch(SPACE)}, budget=60, seed=0
        )

    def reward(config):
        return config["config"] / 100 if config["algorithm"] == "digits" else config["config"]["x"] / 2

    for stop in (20, 1000):
        with ma.Study(make(), storage=f"{quick}/study.db") as study:
            study.optimize(reward, progress=False, callbacks=[stopping(stop)])
    assert study.tally.steps == 60 and study.best_config["algorithm"] == "digits"


def test_tune_takes_a_function_that_makes_a_cascade_of_a_joint_space():
    def cascade(space, max_steps, **given):
        return ma.Cascade({name: ma.RandomSearch(part, max_steps=max_steps) for name, part in space.spaces.items()}, **given)

    space = ma.Joint({"near": ma.Space(x=ma.Float(0, 0.5)), "far": ma.Space(x=ma.Float(0.5, 1))})
    study = ma.tune(lambda config: near(ma.Pull(ma.Arm(0, config), 0, 1)), space, budget=100, strategy=cascade, progress=False)
    assert study.best_config["algorithm"] == "near"


# -- what the study can ask, and wrong arguments


def test_its_plan_promises_and_warnings_come_from_its_children():
    cascade = ma.Cascade({"mutant": ma.MutantUCB(SPACE, budget=100, max_steps=10, initial=4, seed=0)}, ma.UCB1(), budget=90)
    assert cascade.plan() == [ma.strategies.Phase("pulls of mutant, as UCB1() picks", None, 90)]
    for _ in play(cascade, lambda pull: pull.stop / 10):  # rises slowly: mutants crowd out training
        pass
    own = cascade.children["mutant"]
    order = sorted(range(len(own.book.arms)), key=own.promise)
    promises = [cascade.promise(cascade._arms[0][arm]) for arm in order]
    assert promises == sorted(promises) and max(promises) < 1
    assert cascade.warning() == f"mutant: {own.warning()}"
    assert own.warning() is not None


def asked():
    search = ma.RandomSearch(SPACE)
    search.ask()
    return search


SAME = ma.RandomSearch(SPACE)
WRONG = {
    "no children": (lambda: ma.Cascade({}), ValueError, "children must name at least one strategy, got none"),
    "a list": (lambda: ma.Cascade([SAME]), TypeError, "children must be a dict of names to strategies"),
    "a number as name": (lambda: ma.Cascade({1: SAME}), TypeError, "the names of children must be text, got 1"),
    "a class": (lambda: ma.Cascade({"a": ma.RandomSearch}), TypeError, "child 'a' must be a strategy"),
    "no strategy": (lambda: ma.Cascade({"a": SPACE}), TypeError, "child 'a' must be a strategy"),
    "one twice": (lambda: ma.Cascade({"a": SAME, "b": SAME}), ValueError, "each child must be .* got one twice among 'a', 'b'"),
    "not fresh": (lambda: ma.Cascade({"a": asked()}), ValueError, "child 'a' must be fresh"),
    "a picker's class": (lambda: ma.Cascade({"a": SAME}, ma.UCB1), TypeError, r"picker must be one such as ERUCB\(\)"),
    "a picker in words": (lambda: ma.Cascade({"a": SAME}, "ucb1"), TypeError, "picker must be one such as .* got 'ucb1'"),
    "no budget": (lambda: ma.Cascade({"a": SAME}, budget=0), ValueError, "budget must be at least 1, got 0"),
    "less than a training": (
        lambda: ma.Cascade({"a": ma.RandomSearch(SPACE, max_steps=9)}, budget=8),
        ValueError,
        "budget must be at least 9, one whole training of child 'a', got 8",
    ),
    "negative seed": (lambda: ma.Cascade({"a": SAME}, seed=-1), ValueError, "seed must be at least 0, got -1"),
}


@pytest.mark.parametrize(("make", "error", "message"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_picker_given_to_two_cascades_is_used_by_neither():
    picker = ma.UCB1()
    one, other = two(picker), two(picker)
    for _ in play(one, near):
        pass
    assert picker.n == 0 and other.picker.trials.sum() == 0 and one.picker.trials.sum() == 100
    assert not math.isnan(one.picker.means(np.array([0, 1])).sum())
