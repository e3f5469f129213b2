"""The strategy contract: checks of what studies rely on.

    @pytest.mark.parametrize("check", STRATEGY_CHECKS, ids=lambda check: check.__name__)
    def test_my_strategy_keeps_the_contract_of_strategies(check):
        check(lambda: MyStrategy(space, budget=200, max_steps=5, seed=1))

A check takes a function that makes the strategy, with the same arguments each time, on a space with several configs.
The attributes of `ExtendedStrategy` are checked if the strategy has all of them. The end of the search is not checked if the
budget is None.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core import Arm, Pull
from ..strategies import RandomSearch, Strategy, extended, fresh_copy
from ..strategies.kit.representation import LONGEST
from . import evidence
from .other_interpreter import elsewhere
from .simulation import Asked, Recorded, Told, play, replay

Make = Callable[[], Strategy]

_WORKERS = (1, 4, 64)
_FAIL = 0.1
_CUT = 120  # pulls after which a strategy without a budget is stopped
_SLACK = 0.01  # tolerance, for rewards from 0 to 1
_FEW = 10  # pulls that are enough to see how an error is handled
_NEVER_ASKED = "a pull that was never asked for must raise ValueError and change nothing"
_TOO_MANY = 100_000  # pulls after which a strategy without a ledger is reported not to end


def check_replay_is_identity(make: Make) -> None:
    """A new strategy that replays the asks and tells makes the same pulls and ends in the same state, as in a resumed study."""
    for workers in _WORKERS:
        first, again = Recorded(make()), make()
        _finish(first, workers, fail=_FAIL)
        _check_same_asks("replay must be identity", again, first.moves)
        same = evidence.state(again) == evidence.state(first.strategy)
        _check(same, "replay must end in the same state", f"another with {workers} workers")
        _check(evidence.best(again) == evidence.best(first), "replay must recommend the same arm", evidence.best(again))


def check_a_snapshot_continues_like_the_original(make: Make) -> None:
    """A new strategy with a state that was stored at any time continues like the original."""
    for reward in (evidence.noise, evidence.loss):
        original, walking = Recorded(make()), make()
        if evidence.state(walking) is None:
            return
        _finish(original, workers=4, fail=_FAIL, reward=reward)
        moves, end = original.moves, evidence.state(original.strategy)
        moments = {0, len(moves), *np.random.default_rng(0).integers(len(moves), size=6).tolist()}
        for moment in range(len(moves) + 1):
            if moment in moments:
                _check_snapshot(walking, make(), moves[moment:], end, f"move {moment}")
            for _ in replay(walking, moves[moment : moment + 1]):
                pass


def check_ask_without_a_pull_changes_nothing(make: Make) -> None:
    """A strategy that waits or is done can be asked any number of times."""
    for workers in _WORKERS:
        strategy = make()
        for _ in _played(strategy, workers, fail=_FAIL):
            before = evidence.state(strategy)
            pull = strategy.ask()
            if pull is not None:
                strategy.tell(pull, evidence.noise(pull))
                continue
            again = strategy.ask()
            _check(again is None, "ask must return None again until a reward is told", again)
            _check(evidence.state(strategy) == before, "an ask that returns None must change nothing", "another state")


def check_the_budget_is_used(make: Make) -> None:
    """A strategy ends only when less than a full training is left and nothing is in flight, and does not start again."""
    for workers in _WORKERS:
        strategy = make()
        steps = sum(pull.steps for pull, _ in _played(strategy, workers, fail=_FAIL))
        if evidence.is_endless(strategy):
            return
        _check_ended(strategy, steps, f"{workers} workers")


def check_pulls_fit_together(make: Make) -> None:
    """Pulls stay within the budget and `max_steps`, start where the last pull of the arm stopped, and never overlap."""
    for workers, fail in itertools.product(_WORKERS, (0.0, _FAIL)):
        recorded = Recorded(make())
        _finish(recorded, workers, fail)
        _check_moves(recorded)


def check_arms_come_from_the_space(make: Make) -> None:
    """Every config is in the space, every parent is an earlier arm, and an id always belongs to the same arm."""
    strategy = make()
    space, known = evidence.space(strategy), dict[int, str]()
    for pull, _ in _played(strategy, workers=4, fail=_FAIL):
        arm, text = pull.arm, evidence.arm_text(pull.arm, space)
        _check(not hasattr(space, "contains") or space.contains(arm.config), "arms must stay in the space", text)
        _check(all(0 <= parent < arm.id for parent in arm.parents), "parents must be earlier arms", text)
        _check(known.setdefault(arm.id, text) == text, "an arm must not change", known[arm.id], text)


def check_telling_twice_changes_nothing(make: Make) -> None:
    """A repeated result of a pull is ignored, whether or not it is the same."""
    strategy, told, rng = make(), list[Pull](), np.random.default_rng(0)
    for pull, _ in _played(strategy, workers=4, fail=_FAIL):
        told.append(pull)
        before = evidence.state(strategy), evidence.best(strategy)
        for again, reward in itertools.product((pull, told[rng.integers(len(told))]), (1.0, None)):
            strategy.tell(again, reward)
            same = (evidence.state(strategy), evidence.best(strategy)) == before
            _check(same, "a pull told twice must change nothing", again, reward)


def check_a_pull_never_asked_is_refused(make: Make) -> None:
    """The result of a pull that was never asked for raises a `ValueError`."""
    strategy = make()
    pull = strategy.ask()
    assert pull is not None
    _check_refused(strategy, [Pull(pull.arm, pull.start, pull.stop + 1)])
    strategy.tell(pull, 0.5)
    for pull, reward in _played(strategy, workers=4, fail=_FAIL):
        strangers = [Pull(Arm(id, pull.config), 0, 1) for id in (10**9, -1)]
        ahead = [Pull(pull.arm, pull.stop, pull.stop + 1)] if reward is not None else []
        _check_refused(strategy, ahead + strangers)


def check_a_reward_that_is_not_finite_is_refused(make: Make) -> None:
    """NaN and infinity raise a `ValueError` and change nothing. A failed pull is told as None."""
    strategy = make()
    for _ in range(_FEW):
        pull = strategy.ask()
        if pull is None:
            return
        rule = "a reward of {reward} must raise ValueError and change nothing"
        _check_refused(strategy, [pull], (math.nan, math.inf, -math.inf), rule)
        strategy.tell(pull, 0.5)
        _check(evidence.best(strategy) is not None, "a pull must accept a reward after an invalid one was rejected", pull)


def check_a_failed_pull_never_looks_good(make: Make) -> None:
    """An arm without a reward is not recommended while another arm has one."""
    for workers in _WORKERS:
        strategy, rewarded = make(), set[int]()
        for pull, reward in _played(strategy, workers, reward=_mostly_failed):
            if reward == 0.0:
                rewarded.add(pull.arm.id)
            best = evidence.best(strategy)
            _check(
                (best is None) == (not rewarded),
                "best must raise NoResult until a pull has succeeded, but not after that",
                best,
            )
            _check(best is None or best in rewarded, "an arm that only failed must not be recommended", best)


def check_a_search_of_failures_ends(make: Make) -> None:
    """If every pull fails, failures are charged to the budget, and `best` raises `NoResult`."""
    for workers in _WORKERS:
        strategy = make()
        steps = sum(pull.steps for pull, _ in _played(strategy, workers, fail=1.0))
        _check(evidence.best(strategy) is None, "best must raise NoResult when every pull failed", evidence.best(strategy))
        if not evidence.is_endless(strategy):
            _check_ended(strategy, steps, "every pull failed")


def check_randomness_comes_from_the_seed(make: Make) -> None:
    """The same seed gives the same pulls, even in another process with different hashes. Other seeds give different pulls."""
    pulls = _transcript(make)
    _check(_transcript(make) == pulls, "the same seed must give the same pulls", "others")
    _check(elsewhere(partial(_transcript, make)) == pulls, "another process must give the same pulls", "others")
    strategy = extended(make())
    if strategy is not None:
        other = fresh_copy(strategy, seed=strategy.ledger.seed + 1)
        _check(_transcript(lambda: other) != pulls, "a different seed must give different pulls", "the same")


def check_more_budget_continues_the_search(make: Make) -> None:
    """A search that ended and gets a larger budget continues to the new total, and may recommend new arms."""
    for workers in _WORKERS:
        strategy = extended(make())
        if strategy is None or strategy.ledger.budget is None:
            return
        steps = sum(pull.steps for pull, _ in _played(strategy, workers, reward=lambda pull: 0.1))
        strategy.ledger.budget *= 3
        known = len(strategy.ledger.arms)
        later = list(_played(strategy, workers, reward=partial(_better_from, known)))
        _check_ended(strategy, steps + sum(pull.steps for pull, _ in later), "budget tripled at the end")
        if any(reward == 0.9 for _, reward in later):
            best = strategy.best().id
            _check(
                best >= known,
                "arms found after the budget was increased must be recommended if they are better",
                f"arm {best} of {known} old ones",
            )


def check_no_worse_than_random_search(make: Make) -> None:
    """On an easy problem, where configs closer to a target are better, the strategy is as good as random search on average."""
    found = list[tuple[float, float]]()
    for seed in range(16):
        strategy = extended(make())
        if strategy is None or strategy.ledger.budget is None:
            return
        strategy = fresh_copy(strategy, seed=seed)
        space, steps = strategy.ledger.space, strategy.ledger.max_steps or 1
        budget = (
            strategy.ledger.budget if hasattr(space, "encode") else steps
        )  # without encodings there is no easy problem: compare with one random arm
        rival = RandomSearch(space, budget=budget, max_steps=steps, seed=seed)
        found.append((_found(strategy, space), _found(rival, space)))
    mean, least = np.mean(found, axis=0).tolist()
    _check(mean >= least - _SLACK, f"it must be as good as random search, which found {least:.3f}", f"{mean:.3f}")


def check_the_study_can_ask_about_it(make: Make) -> None:
    """The plan fits the budget, priorities are numbers, the warning is None or text, and the settings recreate the strategy."""
    strategy = extended(make())
    if strategy is None:
        return
    fresh, budget = evidence.state(strategy), strategy.ledger.budget
    planned = sum(phase.steps or 0 for phase in strategy.plan())
    _check(budget is None or planned <= budget, f"the plan must fit the budget of {budget}", planned)
    for _ in _played(strategy, workers=4, fail=_FAIL):
        priorities = [strategy.priority(arm.id) for arm in strategy.ledger.arms]
        _check(not any(map(math.isnan, priorities)), "priority must be a number for every arm", priorities)
    warning = strategy.warning()
    _check(warning is None or isinstance(warning, str), "warning must be None or text", warning)
    again = fresh_copy(strategy, seed=strategy.ledger.seed)
    _check(evidence.state(again) == fresh, "its settings must recreate the same strategy", strategy.settings)


def check_its_repr_names_its_class_and_settings(make: Make) -> None:
    """The repr is one line of limited length with the class and the settings, before, during and after a search.

    Use `__repr__ = manyarms.strategies.strategy_repr` in the class.
    """
    strategy = extended(make())
    if strategy is None:
        return
    for _ in itertools.chain([None], _played(strategy, workers=4, fail=_FAIL)):
        text = repr(strategy)
        _check(type(strategy).__name__ in text, "the repr must name the class", text)
        _check(len(text.splitlines()) == 1 and len(text) <= LONGEST, f"the repr must be one line of {LONGEST} characters", text)
        for name, value in strategy.settings.items():
            plain = isinstance(value, (bool, int, float, str))
            _check(not plain or f"{name}=" in text, f"the repr must have the setting {name!r}", text)


STRATEGY_CHECKS: tuple[Callable[[Make], None], ...] = (
    check_replay_is_identity,
    check_a_snapshot_continues_like_the_original,
    check_ask_without_a_pull_changes_nothing,
    check_the_budget_is_used,
    check_pulls_fit_together,
    check_arms_come_from_the_space,
    check_telling_twice_changes_nothing,
    check_a_pull_never_asked_is_refused,
    check_a_reward_that_is_not_finite_is_refused,
    check_a_failed_pull_never_looks_good,
    check_a_search_of_failures_ends,
    check_randomness_comes_from_the_seed,
    check_more_budget_continues_the_search,
    check_no_worse_than_random_search,
    check_the_study_can_ask_about_it,
    check_its_repr_names_its_class_and_settings,
)
"""Checks of a strategy. Each takes a function that makes the strategy, and raises `AssertionError`."""


def _check(holds: bool, rule: str, *witnesses: Any) -> None:
    if not holds:  # not an assert statement, because python -O removes those
        raise AssertionError(f"{rule}, got {', '.join(map(str, witnesses))}")


def _played(
    strategy: Strategy, workers: int, fail: float = 0.0, reward: Callable[[Pull], float | None] = evidence.noise
) -> Iterator[tuple[Pull, float | None]]:
    """`play`, stopped after some pulls if the strategy has no budget."""
    own = extended(strategy.strategy if isinstance(strategy, Recorded) else strategy)
    budget = _TOO_MANY if own is None else own.ledger.budget
    told = play(strategy, reward, workers, seed=workers, fail=fail)
    if budget is None:
        yield from itertools.islice(told, _CUT)
        return
    for number, row in enumerate(told):
        _check(number < budget, f"it must end after at most {budget} pulls", "one more")
        yield row


def _finish(
    strategy: Strategy, workers: int, fail: float = 0.0, reward: Callable[[Pull], float | None] = evidence.noise
) -> None:
    for _ in _played(strategy, workers, fail, reward):
        pass


def _mostly_failed(pull: Pull) -> float | None:
    return 0.0 if (pull.arm.id + pull.start) % 5 == 4 else None


def _better_from(first: int, pull: Pull) -> float:
    return 0.9 if pull.arm.id >= first else 0.1


def _found(strategy: Strategy, space: Any) -> float:
    quality = evidence.landscape(space)
    _finish(strategy, workers=1, reward=lambda pull: quality(pull.config))
    return quality(strategy.best().config)


def _transcript(make: Make) -> str:
    """Every pull of a short run with several in flight, as text."""
    strategy = make()
    told = itertools.islice(_played(strategy, workers=4, fail=_FAIL), _CUT)
    return "\n".join(evidence.pull_text(pull, evidence.space(strategy)) for pull, _ in told)


def _check_same_asks(rule: str, strategy: Strategy, moves: Sequence[Asked | Told]) -> None:
    space = evidence.space(strategy)
    for then, now in replay(strategy, moves):
        asked, again = evidence.pull_text(then, space), evidence.pull_text(now, space)
        _check(asked == again, f"{rule}: it asked for {asked}", again)


def _check_snapshot(walking: Strategy, restored: Strategy, rest: Sequence[Asked | Told], end: str | None, when: str) -> None:
    text = evidence.state(walking)
    assert text is not None
    evidence.load(restored, text)
    _check(evidence.state(restored) == text, f"a state loaded at {when} must be the state that was stored", "another")
    _check_same_asks(f"a snapshot taken at {when} must continue like the original", restored, rest)
    _check(evidence.state(restored) == end, f"a snapshot taken at {when} must end like the original", "another state")


def _check_ended(strategy: Strategy, steps: int, case: str) -> None:
    pull = strategy.ask()
    _check(pull is None, f"a strategy that is done must stay done ({case})", pull)
    own = extended(strategy)
    if own is None:
        return
    ledger = own.ledger
    _check(not ledger.in_flight, f"nothing may be in flight at the end ({case})", ledger.in_flight)
    _check(ledger.spent == steps, f"steps spent must be the steps of its pulls ({case})", ledger.spent, steps)
    _check(0 <= ledger.left < (ledger.max_steps or 1), f"it must end with less than a full training left ({case})", ledger.left)


def _check_moves(recorded: Recorded) -> None:
    own = extended(recorded.strategy)
    budget = math.inf if own is None or own.ledger.budget is None else own.ledger.budget
    most = math.inf if own is None or own.ledger.max_steps is None else own.ledger.max_steps
    stopped, in_flight, spent = dict[int, int](), set[int](), 0
    for move in recorded.moves:
        pull = move.pull
        if pull is None:
            continue
        arm = pull.arm.id
        if isinstance(move, Told):
            in_flight.remove(arm)
            stopped[arm] = pull.start if move.reward is None else pull.stop
            continue
        _check(arm not in in_flight, "an arm must not have two pulls in flight", pull)
        in_flight.add(arm)
        spent += pull.steps
        _check(pull.start == stopped.get(arm, 0), f"a pull must start where its arm stopped, {stopped.get(arm, 0)}", pull)
        _check(pull.start < pull.stop <= most, f"a pull must stop after its start and by {most}", pull)
        _check(spent <= budget, f"the steps asked for must stay within the budget of {budget}", spent)


def _check_refused(
    strategy: Strategy, pulls: Sequence[Pull], rewards: Sequence[float] = (1.0,), rule: str = _NEVER_ASKED
) -> None:
    """Each of the pulls with each of the rewards raises an error and changes nothing. The rule may contain the reward."""
    before = evidence.state(strategy)
    for pull, reward in itertools.product(pulls, rewards):
        try:
            strategy.tell(pull, reward)
        except ValueError:
            _check(evidence.state(strategy) == before, rule.format(reward=reward), "another state")
        else:
            _check(False, rule.format(reward=reward), pull)
