"""Every strategy keeps the contract, and the contract catches those that do not."""

import math
import random

import pytest

from manyarms import (
    ASHA,
    DTTTS,
    ERUCB,
    UCB1,
    AdaptiveMutantUCB,
    Arm,
    Cascade,
    Choice,
    ContextualPartitionUCB,
    ContextualTreeUCB,
    EpsilonGreedy,
    Float,
    Harmonica,
    Hyperband,
    InfiniteUCBE,
    Int,
    MutantUCB,
    NoResult,
    PartitionUCB,
    Pull,
    RandomSearch,
    Softmax,
    Space,
    SteadyStateEA,
    SuccessiveHalving,
    TreeUCB,
    Uniform,
)
from manyarms.testing import STRATEGY_CHECKS

FLAT = Space(x=Float(0, 1), rate=Float(1e-4, 1, log=True), width=Int(5, 50))
CONDITIONAL = Space(
    model=Choice(Space(kind="svm", C=Float(1e-3, 1e3, log=True)), Space(kind="forest", trees=Int(10, 1000)), "majority"),
    scale=Choice(True, False, 1),
)
STEPS = Space(x=Float(0, 1, step=0.05), width=Int(8, 256, step=8), rate=Float(1e-4, 1, log=True))
THREE = Space(c=Choice("a", "b", "c"))


class Digits:
    """The least a space can be."""

    def sample(self, rng):
        return int(rng.integers(100))

    def mutate(self, config, rng):
        return (config + 1 + int(rng.integers(99))) % 100


class Sets(Digits):
    """A space whose configs are neither JSON nor in order."""

    def sample(self, rng):
        return frozenset("abcdefgh"[i] for i in rng.integers(8, size=3))

    def mutate(self, config, rng):
        return config ^ {"abcdefgh"[rng.integers(8)]}

    def to_json(self, config):
        return sorted(config)

    def from_json(self, data):
        return frozenset(data)


class Three:
    """The least a strategy can be: ask, tell and best."""

    def __init__(self):
        self._rng = random.Random(0)
        self._waiting, self._rewards = {}, {}
        self._arms = []

    def ask(self):
        if len(self._arms) == 30:
            return None
        self._arms.append(Arm(len(self._arms), self._rng.random()))
        return self._waiting.setdefault(len(self._arms) - 1, Pull(self._arms[-1], 0, 1))

    def tell(self, pull, reward):
        if pull.arm.id not in range(len(self._arms)) or (pull.start, pull.stop) != (0, 1):
            raise ValueError(f"pull must be one that ask returned, got {pull}")
        if reward is not None and not math.isfinite(reward):
            raise ValueError(f"reward must be finite or None, got {reward}")
        if self._waiting.pop(pull.arm.id, None) and reward is not None:
            self._rewards[pull.arm.id] = reward

    def best(self):
        if not self._rewards:
            raise NoResult("no pull has succeeded yet")
        return self._arms[max(self._rewards, key=self._rewards.get)]


def mixed():
    children = {
        "random": RandomSearch(FLAT, max_steps=5),
        "mutant": MutantUCB(FLAT, max_steps=5, initial=10),
        "thompson": DTTTS(CONDITIONAL, max_steps=5),
        "adaptive": AdaptiveMutantUCB(FLAT, max_steps=5, initial=6),
    }
    return Cascade(children, ERUCB(), budget=200, seed=1)


def halvings():
    children = {
        "one": Hyperband(FLAT, max_steps=9),
        "two": ASHA(FLAT, max_steps=9),
        "three": SuccessiveHalving(THREE, max_steps=9),
    }
    return Cascade(children, UCB1(), budget=200, seed=1)


def nested():
    inner = Cascade({"random": RandomSearch(FLAT, max_steps=3), "mutant": MutantUCB(FLAT, max_steps=3, initial=5)})
    return Cascade({"inner": inner, "evolution": SteadyStateEA(FLAT, max_steps=3)}, ERUCB(), budget=150, seed=1)


def of_two(one, two, picker, **given):
    return Cascade({"one": one, "two": two}, picker, seed=1, **given)


STRATEGIES = {
    "random search": lambda: RandomSearch(FLAT, budget=100, max_steps=3, seed=1),
    "random search, one step each": lambda: RandomSearch(FLAT, budget=40, seed=1),
    "random search, endless": lambda: RandomSearch(FLAT, max_steps=3, seed=1),
    "random search, conditional": lambda: RandomSearch(CONDITIONAL, budget=60, max_steps=2, seed=1),
    "random search, three configs": lambda: RandomSearch(THREE, budget=60, max_steps=2, seed=1),
    "mutant ucb": lambda: MutantUCB(FLAT, budget=150, max_steps=5, initial=10, seed=1),
    "mutant ucb, by default": lambda: MutantUCB(FLAT, budget=150, seed=1),
    "mutant ucb, from one arm": lambda: MutantUCB(FLAT, budget=120, max_steps=4, initial=1, seed=1),
    "mutant ucb, one step each": lambda: MutantUCB(FLAT, budget=80, max_steps=1, initial=8, seed=1),
    "mutant ucb, the smallest budget": lambda: MutantUCB(FLAT, budget=14, max_steps=5, initial=10, seed=1),
    "mutant ucb, exponential": lambda: MutantUCB(FLAT, budget=150, max_steps=5, train_probability="exponential", seed=1),
    "mutant ucb, a fair coin": lambda: MutantUCB(FLAT, budget=150, max_steps=5, train_probability=lambda n, N: 0.5, seed=1),
    "mutant ucb, exploring": lambda: MutantUCB(FLAT, budget=150, max_steps=5, exploration=2, seed=1),
    "mutant ucb, greedy": lambda: MutantUCB(FLAT, budget=150, max_steps=5, exploration=0, seed=1),
    "mutant ucb, endless": lambda: MutantUCB(FLAT, max_steps=5, initial=10, seed=1),
    "mutant ucb, conditional": lambda: MutantUCB(CONDITIONAL, budget=150, max_steps=5, seed=1),
    "mutant ucb, three configs": lambda: MutantUCB(THREE, budget=100, max_steps=5, initial=10, seed=1),
    "mutant ucb, a user's space": lambda: MutantUCB(Digits(), budget=100, max_steps=4, seed=1),
    "mutant ucb, sets": lambda: MutantUCB(Sets(), budget=100, max_steps=4, seed=1),
    "adaptive": lambda: AdaptiveMutantUCB(FLAT, budget=120, max_steps=5, seed=1),
    "adaptive, without a surrogate": lambda: AdaptiveMutantUCB(FLAT, budget=80, max_steps=5, surrogate=False, seed=1),
    "adaptive, few initial arms": lambda: AdaptiveMutantUCB(FLAT, budget=80, max_steps=10, initial=3, seed=1),
    "adaptive, in two slices": lambda: AdaptiveMutantUCB(FLAT, budget=150, max_steps=9, slices=2, seed=1),
    "adaptive, greedy": lambda: AdaptiveMutantUCB(FLAT, budget=80, max_steps=5, exploration=0, seed=1),
    "adaptive, the smallest budget": lambda: AdaptiveMutantUCB(FLAT, budget=10, max_steps=10, seed=1),
    "adaptive, one step each": lambda: AdaptiveMutantUCB(FLAT, budget=40, max_steps=1, seed=1),
    "adaptive, endless": lambda: AdaptiveMutantUCB(FLAT, max_steps=5, seed=1),
    "adaptive, conditional": lambda: AdaptiveMutantUCB(CONDITIONAL, budget=70, max_steps=5, seed=1),
    "adaptive, three configs": lambda: AdaptiveMutantUCB(THREE, budget=60, max_steps=5, seed=1),
    "adaptive, numbers with steps": lambda: AdaptiveMutantUCB(STEPS, budget=80, max_steps=5, seed=1),
    "adaptive, a user's space": lambda: AdaptiveMutantUCB(Digits(), budget=80, max_steps=4, seed=1),
    "adaptive, sets": lambda: AdaptiveMutantUCB(Sets(), budget=80, max_steps=4, seed=1),
    "halving": lambda: SuccessiveHalving(FLAT, budget=150, max_steps=9, seed=1),
    "halving, from three steps": lambda: SuccessiveHalving(FLAT, budget=150, max_steps=10, eta=2, min_steps=3, seed=1),
    "halving, many first arms": lambda: SuccessiveHalving(FLAT, budget=150, max_steps=9, initial=20, seed=1),
    "halving, few first arms": lambda: SuccessiveHalving(FLAT, budget=150, max_steps=9, initial=4, seed=1),
    "halving, the smallest budget": lambda: SuccessiveHalving(FLAT, budget=21, max_steps=9, seed=1),
    "halving, one step each": lambda: SuccessiveHalving(FLAT, budget=40, max_steps=1, seed=1),
    "halving, endless": lambda: SuccessiveHalving(FLAT, max_steps=9, seed=1),
    "halving, three configs": lambda: SuccessiveHalving(THREE, budget=100, max_steps=9, seed=1),
    "halving, sets": lambda: SuccessiveHalving(Sets(), budget=100, max_steps=4, eta=2, seed=1),
    "hyperband": lambda: Hyperband(FLAT, budget=200, max_steps=9, seed=1),
    "hyperband, in halves": lambda: Hyperband(FLAT, budget=200, max_steps=10, eta=2, seed=1),
    "hyperband, the smallest budget": lambda: Hyperband(FLAT, budget=21, max_steps=9, seed=1),
    "hyperband, endless": lambda: Hyperband(FLAT, max_steps=9, seed=1),
    "hyperband, conditional": lambda: Hyperband(CONDITIONAL, budget=150, max_steps=9, seed=1),
    "hyperband, three configs": lambda: Hyperband(THREE, budget=100, max_steps=9, seed=1),
    "hyperband, a user's space": lambda: Hyperband(Digits(), budget=100, max_steps=4, eta=2, seed=1),
    "harmonica": lambda: Harmonica(FLAT, budget=240, max_steps=3, seed=1),
    "harmonica, with hyperband": lambda: Harmonica(FLAT, budget=300, max_steps=9, base="hyperband", seed=1),
    "harmonica, few samples": lambda: Harmonica(FLAT, budget=150, max_steps=3, samples=8, stages=2, keep=4, bits=3, seed=1),
    "harmonica, too small for a stage": lambda: Harmonica(FLAT, budget=40, max_steps=3, seed=1),
    "harmonica, the smallest budget": lambda: Harmonica(FLAT, budget=21, max_steps=9, base="hyperband", seed=1),
    "harmonica, endless": lambda: Harmonica(FLAT, max_steps=3, samples=15, seed=1),
    "harmonica, endless with hyperband": lambda: Harmonica(FLAT, max_steps=4, eta=2, samples=10, base="hyperband", seed=1),
    "harmonica, conditional": lambda: Harmonica(CONDITIONAL, budget=150, max_steps=2, seed=1),
    "harmonica, numbers with steps": lambda: Harmonica(STEPS, budget=150, max_steps=2, seed=1),
    "harmonica, three configs": lambda: Harmonica(THREE, budget=90, max_steps=2, seed=1),
    "asha": lambda: ASHA(FLAT, budget=150, max_steps=9, seed=1),
    "asha, from two steps": lambda: ASHA(FLAT, budget=150, max_steps=9, eta=2, min_steps=2, seed=1),
    "asha, one rung": lambda: ASHA(FLAT, budget=100, max_steps=4, min_steps=4, seed=1),
    "asha, endless": lambda: ASHA(FLAT, max_steps=9, seed=1),
    "asha, conditional": lambda: ASHA(CONDITIONAL, budget=150, max_steps=9, seed=1),
    "asha, three configs": lambda: ASHA(THREE, budget=100, max_steps=9, seed=1),
    "asha, sets": lambda: ASHA(Sets(), budget=100, max_steps=4, eta=2, seed=1),
    "evolution": lambda: SteadyStateEA(FLAT, budget=150, max_steps=3, seed=1),
    "evolution, the smallest budget": lambda: SteadyStateEA(FLAT, budget=40, max_steps=4, population=10, seed=1),
    "evolution, mutation only": lambda: SteadyStateEA(FLAT, budget=150, max_steps=3, mutation_only=True, seed=1),
    "evolution, of two": lambda: SteadyStateEA(FLAT, budget=150, max_steps=3, population=2, tournament=1, seed=1),
    "evolution, endless": lambda: SteadyStateEA(FLAT, max_steps=3, seed=1),
    "evolution, conditional": lambda: SteadyStateEA(CONDITIONAL, budget=150, max_steps=3, seed=1),
    "evolution, three configs": lambda: SteadyStateEA(THREE, budget=100, max_steps=3, seed=1),
    "evolution, sets": lambda: SteadyStateEA(Sets(), budget=100, max_steps=4, mutation_only=True, seed=1),
    "infinite ucb-e": lambda: InfiniteUCBE(FLAT, budget=150, initial=50, exploration=0.05, max_steps=10, seed=1),
    "infinite ucb-e, by default": lambda: InfiniteUCBE(Digits(), budget=150, seed=1),
    "infinite ucb-e, from one arm": lambda: InfiniteUCBE(Digits(), budget=60, initial=1, seed=1),
    "infinite ucb-e, no limit": lambda: InfiniteUCBE(Digits(), budget=100, initial=20, exploration=0.05, seed=1),
    "infinite ucb-e, one step each": lambda: InfiniteUCBE(FLAT, budget=80, initial=8, max_steps=1, seed=1),
    "infinite ucb-e, the smallest budget": lambda: InfiniteUCBE(FLAT, budget=30, initial=30, max_steps=6, seed=1),
    "infinite ucb-e, greedy": lambda: InfiniteUCBE(FLAT, budget=150, initial=50, exploration=0, max_steps=10, seed=1),
    "infinite ucb-e, endless": lambda: InfiniteUCBE(FLAT, seed=1),
    "infinite ucb-e, conditional": lambda: InfiniteUCBE(CONDITIONAL, budget=150, initial=40, max_steps=5, seed=1),
    "infinite ucb-e, three configs": lambda: InfiniteUCBE(THREE, budget=100, initial=20, seed=1),
    "infinite ucb-e, sets": lambda: InfiniteUCBE(Sets(), budget=100, initial=10, max_steps=4, seed=1),
    "d-ttts": lambda: DTTTS(Digits(), budget=150, seed=1),
    "d-ttts, long trainings": lambda: DTTTS(FLAT, budget=150, max_steps=75, seed=1),
    "d-ttts, one step each": lambda: DTTTS(Digits(), budget=80, max_steps=1, seed=1),
    "d-ttts, leaders only": lambda: DTTTS(FLAT, budget=150, beta=1, max_steps=150, recommend="most_pulled", seed=1),
    "d-ttts, challengers only": lambda: DTTTS(Sets(), budget=100, beta=0, max_steps=4, recommend="mean", seed=1),
    "d-ttts, endless": lambda: DTTTS(FLAT, seed=1),
    "d-ttts, conditional": lambda: DTTTS(CONDITIONAL, budget=150, max_steps=75, seed=1),
    "d-ttts, three configs": lambda: DTTTS(THREE, budget=100, seed=1),
    "cascade": mixed,
    "cascade, of halvings": halvings,
    "cascade, nested": nested,
    "cascade, of one": lambda: Cascade({"one": MutantUCB(FLAT, max_steps=4, initial=8)}, Softmax(), budget=100, seed=1),
    "cascade, users' spaces": lambda: of_two(
        RandomSearch(Sets()), MutantUCB(Digits(), max_steps=4, initial=8), EpsilonGreedy(), budget=100
    ),
    "cascade, endless": lambda: of_two(RandomSearch(FLAT), ASHA(FLAT, max_steps=9), Uniform()),
    "cascade, a child with a budget and a seed": lambda: of_two(
        RandomSearch(FLAT, budget=20, max_steps=2, seed=3), DTTTS(FLAT, max_steps=50), ERUCB(beta=0.5), budget=150
    ),
    "partition ucb": lambda: PartitionUCB(FLAT, budget=150, max_steps=3, seed=1),
    "partition ucb, the theory's": lambda: PartitionUCB(FLAT, budget=60, factor=1, seed=1),
    "partition ucb, fine": lambda: PartitionUCB(FLAT, budget=40, alpha=0.2, l=0.1, seed=1),
    "partition ucb, endless": lambda: PartitionUCB(FLAT, seed=1),
    "partition ucb, conditional": lambda: PartitionUCB(CONDITIONAL, budget=100, max_steps=2, seed=1),
    "partition ucb, three configs": lambda: PartitionUCB(THREE, budget=60, max_steps=2, seed=1),
    "contextual partition ucb": lambda: ContextualPartitionUCB(FLAT, budget=180, max_steps=9, seed=1),
    "contextual partition ucb, hyperband": lambda: ContextualPartitionUCB(
        FLAT, budget=180, max_steps=9, schedule="hyperband", seed=1
    ),
    "contextual partition ucb, endless": lambda: ContextualPartitionUCB(FLAT, max_steps=9, seed=1),
    "contextual partition ucb, conditional": lambda: ContextualPartitionUCB(CONDITIONAL, budget=90, max_steps=9, seed=1),
    "contextual partition ucb, three configs": lambda: ContextualPartitionUCB(THREE, budget=120, max_steps=4, seed=1),
    "tree ucb": lambda: TreeUCB(FLAT, budget=150, max_steps=3, seed=1),
    "tree ucb, split early": lambda: TreeUCB(FLAT, budget=150, max_steps=3, min_leaf=2, min_split=4, seed=1),
    "tree ucb, refitted": lambda: TreeUCB(FLAT, budget=40, refit=True, seed=1),
    "tree ucb, refitted at times": lambda: TreeUCB(FLAT, budget=80, refit="doubling", seed=1),
    "tree ucb, hardly split": lambda: TreeUCB(FLAT, budget=60, min_gain=0.2, seed=1),
    "tree ucb, endless": lambda: TreeUCB(FLAT, seed=1),
    "tree ucb, conditional": lambda: TreeUCB(CONDITIONAL, budget=100, max_steps=2, seed=1),
    "tree ucb, three configs": lambda: TreeUCB(THREE, budget=60, max_steps=2, seed=1),
    "contextual tree ucb": lambda: ContextualTreeUCB(FLAT, budget=180, max_steps=9, seed=1),
    "contextual tree ucb, hyperband": lambda: ContextualTreeUCB(FLAT, budget=180, max_steps=9, schedule="hyperband", seed=1),
    "contextual tree ucb, a user's schedule": lambda: ContextualTreeUCB(
        FLAT, budget=180, max_steps=9, schedule=lambda t: 9 if t % 3 == 0 else 3, seed=1
    ),
    "contextual tree ucb, endless": lambda: ContextualTreeUCB(FLAT, max_steps=9, seed=1),
    "contextual tree ucb, conditional": lambda: ContextualTreeUCB(CONDITIONAL, budget=180, max_steps=9, seed=1),
    "contextual tree ucb, three configs": lambda: ContextualTreeUCB(THREE, budget=100, max_steps=4, seed=1),
    "a user's strategy": Three,
}


def is_long(name):
    """Whether an entry runs with the long tests: all options of a strategy, except the two that change the most for it."""
    return name.partition(", ")[2] not in ("", "endless", "conditional")


def marked(name):
    return pytest.param(STRATEGIES[name], id=name, marks=[pytest.mark.long] if is_long(name) else [])


class Wild(RandomSearch):
    def ask(self):
        self.ledger.rng.random(random.Random().randrange(1, 100))
        return super().ask()


class Hashing(RandomSearch):
    def ask(self):
        self.ledger.rng.random(hash("a") % 1000)
        return super().ask()


class Forgetful(MutantUCB):
    def load(self, state):
        super().load(state)
        self._bounds.chosen = [1] * len(self._bounds.chosen)


class Restless(RandomSearch):
    def ask(self):
        self.ledger.rng.random()
        return super().ask()


class Lavish(RandomSearch):
    def ask(self):
        return self.ledger.open(self.ledger.sample(), 3) if self.ledger.left >= 0 else None


class Tireless(RandomSearch):
    def ask(self):
        return self.ledger.open(self.ledger.sample(), 1)


class Lazy(RandomSearch):
    def ask(self):
        return super().ask() if self.ledger.spent < 50 else None


class Doubling(RandomSearch):
    doubled = False

    def ask(self):
        if not self.doubled and len(self.ledger.in_flight) == 2:
            self.doubled = True
            return next(iter(self.ledger.in_flight.values()))
        return super().ask()


class Overtraining(RandomSearch):
    def ask(self):
        return self.ledger.open(self.ledger.sample(), 4) if self.ledger.left >= 4 else None


class Counting(RandomSearch):
    tells = 0

    def tell(self, pull, reward):
        super().tell(pull, reward)
        self.tells += 1
        self._standings.tell(pull.arm.id, float(self.tells))


class Trusting(RandomSearch):
    def tell(self, pull, reward):
        if pull.arm.id in range(len(self.ledger.arms)):
            super().tell(pull, reward)


class Tolerant(RandomSearch):
    def tell(self, pull, reward):
        super().tell(pull, None if reward is None or math.isnan(reward) else reward)


class Hopeful(RandomSearch):
    def best(self):
        super().best()
        return self.ledger.arms[0]


class Settled(RandomSearch):
    def best(self):
        return self.ledger.arms[min(super().best().id, 20)]


class Contrary(RandomSearch):
    def tell(self, pull, reward):
        super().tell(pull, None if reward is None else -reward)


class Outside(RandomSearch):
    def ask(self):
        pull = super().ask()
        return pull and Pull(Arm(pull.arm.id, {**pull.config, "x": 2.0}), pull.start, pull.stop)


class Timeless(RandomSearch):
    def ask(self):
        pull = super().ask()
        return pull and Pull(Arm(pull.arm.id, pull.config, (pull.arm.id + 1,)), pull.start, pull.stop)


class Nameless(RandomSearch):
    def __repr__(self):
        return "a strategy"


class Unsettled(RandomSearch):
    def __repr__(self):
        return "Unsettled()"


class Talkative(RandomSearch):
    def __repr__(self):
        return f"{super().__repr__()}\nwith {len(self.ledger.arms)} arms"


BROKEN = {
    "randomness from elsewhere": (Wild, "replay must be identity"),
    "randomness from hashes": (Hashing, "another process must give the same pulls"),
    "a state that is not whole": (Forgetful, "a state loaded at move "),
    "draws while it waits": (Restless, "an ask that returns None must change nothing"),
    "goes beyond the budget": (Lavish, "the steps asked for must stay within the budget of 100"),
    "never ends": (Tireless, "it must end after at most 100 pulls"),
    "ends early": (Lazy, "it must end with less than a full training left"),
    "trains an arm twice at once": (Doubling, "an arm must not have two pulls in flight"),
    "trains past the end": (Overtraining, "a pull must stop after its start and by 3"),
    "counts what is told twice": (Counting, "a pull told twice must change nothing"),
    "takes any pull": (Trusting, "a pull that was never asked for must raise ValueError"),
    "takes NaN for a failure": (Tolerant, "a reward of nan must raise ValueError"),
    "recommends a failure": (Hopeful, "an arm that only failed must not be recommended"),
    "recommends the old": (Settled, "arms found after the budget was increased must be recommended"),
    "takes the worst": (Contrary, "it must be as good as random search"),
    "leaves the space": (Outside, "arms must stay in the space"),
    "parents not yet born": (Timeless, "parents must be earlier arms"),
    "a repr without its name": (Nameless, "the repr must name the class"),
    "a repr without its settings": (Unsettled, "the repr must have the setting 'budget'"),
    "a repr of two lines": (Talkative, "the repr must be one line of 200 characters"),
}


@pytest.mark.parametrize("check", STRATEGY_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", [marked(name) for name in STRATEGIES])
def test_every_strategy_keeps_the_contract(make, check):
    check(make)


def test_a_long_entry_has_a_quick_one_of_the_same_strategy():
    quick = {type(make()) for name, make in STRATEGIES.items() if not is_long(name)}
    assert {type(make()) for make in STRATEGIES.values()} == quick


@pytest.mark.parametrize(("broken", "rule"), BROKEN.values(), ids=BROKEN)
def test_the_contract_catches_a_broken_strategy_and_names_the_rule(broken, rule):
    messages = []
    for check in STRATEGY_CHECKS:
        try:
            check(lambda: broken(FLAT, budget=100, max_steps=3, seed=1))
        except AssertionError as error:
            messages.append(str(error))
            if rule in messages[-1]:
                return
    pytest.fail(f"no check says {rule!r}, only {messages}")
