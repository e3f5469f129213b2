"""The rules of AdaptiveMutantUCB: the pictures on its page, docs/strategies/adaptive-mutant-ucb.md.

    python experiments/rule_pictures.py

Each panel shows one rule at work, in a real search on synthetic curves, or plots the function of the rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from common import COLORS, panels, save

import manyarms as ma
from manyarms.bench.problems import CurveWorld, Problem, evaluate
from manyarms.strategies.surrogate import rules
from manyarms.strategies.surrogate.gaussian_process import GaussianProcess, ScoredArms

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLOTS = Path(__file__).parent.parent / "docs" / "strategies" / "plots"
BLUE, ORANGE, GRAY, LIGHT = COLORS[0], COLORS[1], "0.35", "0.6"
MAX_STEPS = 27
TICKS = (0, 9, 18, 27)  # steps of an arm
SHOWN = 30  # full trainings in the panel on shares

Array = np.ndarray[Any, np.dtype[np.float64]]
Curve = tuple[list[int], list[float]]  # steps and rewards


class TurningCurves(CurveWorld):
    """Slow curves that fall after a step that depends on the arm, as if it overfitted."""

    def reward(self, config: Any, step: int, seed: int) -> float:
        return super().reward(config, step, seed) - 0.03 * max(0.0, step - 20 + 12 * float(config["x0"]))


class Search:
    """A search that can be stopped at any pull, and the rewards of each arm so far."""

    def __init__(self, problem: Problem, seed: int, trainings: int = 20, **settings: Any) -> None:
        self.problem, self.seed, self.spent = problem, seed, 0
        given: dict[str, Any] = {"budget": trainings * problem.max_steps, "max_steps": problem.max_steps, "seed": seed}
        self.strategy = ma.AdaptiveMutantUCB(problem.space, **given, **settings)
        self.rewards: dict[int, list[float]] = defaultdict(list)

    def pulls(self) -> Iterator[ma.Pull]:
        """Each pull, after its reward is told."""
        while (pull := self.strategy.ask()) is not None:
            reward = self.reward(pull.arm, pull.stop)
            self.strategy.tell(pull, reward)
            self.rewards[pull.arm.id].append(reward)
            self.spent += pull.steps
            yield pull

    def after(self, n_pulls: int) -> Search:
        """This search, after a number of pulls."""
        for number, _ in enumerate(self.pulls(), start=1):
            if number == n_pulls:
                break
        return self

    def reward(self, arm: ma.Arm, step: int) -> float:
        reward = evaluate(self.problem, ma.Pull(arm, step - 1, step), self.seed)
        assert reward is not None  # no pull fails on these curves
        return reward

    def curve(self, arm: int) -> Curve:
        """The steps at which the arm was measured, and its rewards."""
        rewards = self.rewards[arm]
        return self.strategy.stops[: len(rewards)], rewards

    def scores(self) -> tuple[Array, Array]:
        """The score and the bonus of each arm."""
        scores = self.strategy.scores()
        assert scores.bonuses is not None
        return scores.values, scores.bonuses

    def best(self, arms: Collection[int]) -> int:
        """The one of these arms with the best reward."""
        return max(arms, key=lambda arm: max(self.rewards[arm]))


def slow(**settings: Any) -> CurveWorld:
    return CurveWorld("slow", max_steps=MAX_STEPS, **settings)


def write(
    panel: Axes, text: str, at: tuple[float, float], color: str = GRAY, offset: tuple[float, float] = (0, 0), **options: Any
) -> None:
    """Write a label at a point of the panel, moved by the offset in points."""
    panel.annotate(text, at, color=color, xytext=offset, textcoords="offset points", **options)


def add_titles(axes: list[Axes], *titles: str) -> None:
    for panel, title in zip(axes, titles, strict=True):
        panel.set_title(title, loc="left", fontsize="medium", fontweight="bold")


# The predicted reward, which arm to train or mutate, and when the curve of an arm has turned.


def draw_scores() -> None:
    figure, axes = panels(3, width=2.8, height=3.3)
    search = Search(slow(seed=104), seed=1).after(59)
    draw_predicted_rewards(axes[0], search)
    draw_score_plus_bonus(axes[1], search)
    turning = Search(TurningCurves("slow", max_steps=MAX_STEPS, seed=102), seed=1)
    draw_turned_curve(axes[2], turning, first_turned_arm(turning, steps=17))
    add_titles(axes, "Predicted reward", "Which arm to train or mutate", "When a curve has turned")
    save(figure, "rules-scores", PLOTS)


def draw_predicted_rewards(panel: Axes, search: Search) -> None:
    """The rewards, the running average and the score of a young arm, an older one and a complete one."""
    scores, _ = search.scores()
    for arm, color in zip(three_arms(search), (ORANGE, BLUE, GRAY), strict=True):
        steps, rewards = search.curve(arm)
        now, average = steps[-1], search.strategy._scores.counts.averages[arm]
        panel.plot(steps, rewards, "o-", color=color)
        panel.plot([now, now], [average, scores[arm]], ":", color=color)
        panel.plot([now], [average], "o", color=color, mfc="white", ms=7)
        panel.plot([now], [scores[arm]], "D", color=color, ms=6)
    write(panel, "score of each arm", (2, 0.98))
    write(panel, "gains\nof\nothers", (4, 0.7), ORANGE, va="center")
    write(panel, "young arm", (4, 0.13), ORANGE, va="center")
    write(panel, "older arm:\naverage so far", (12.5, 0.39), BLUE, va="center")
    write(panel, "complete arm", (28, 0.62), ha="right")
    panel.set(xlabel="steps of the arm", ylabel="reward", xlim=(0, 29), ylim=(0, 1.1), xticks=TICKS)


def three_arms(search: Search) -> tuple[int, int, int]:
    """The best arm after one slice, the worst one after four, and the best complete one, by their scores."""
    scores, _ = search.scores()
    slices = np.array([len(search.rewards[arm]) for arm in range(len(scores))])
    young, older, complete = (np.flatnonzero(slices == number) for number in (1, 4, 10))
    return young[scores[young].argmax()], older[scores[older].argmin()], complete[scores[complete].argmax()]


def draw_score_plus_bonus(panel: Axes, search: Search) -> None:
    """The best paused arms and the best complete one. The one with the largest score plus bonus is chosen."""
    scores, bonuses = search.scores()
    sums = scores + bonuses
    arms = np.argsort(-sums)
    complete = np.isin(arms, search.strategy._scores.complete())
    shown = [*arms[~complete][:5], arms[complete][0]]
    for x, arm in enumerate(shown):
        color = ORANGE if arm == arms[0] else BLUE if x < 5 else GRAY
        panel.plot([x, x], [scores[arm], sums[arm]], color=color, linewidth=6, alpha=0.4, solid_capstyle="butt")
        panel.plot([x], [scores[arm]], "D", color=color, ms=6)
    panel.axhline(sums[arms[0]], color=ORANGE, linestyle=":", zorder=0)
    write(panel, "largest sum: continues", (-0.4, sums[arms[0]]), ORANGE, (0, 2))
    write(panel, "bonus", (0, (scores[arms[0]] + sums[arms[0]]) / 2), ORANGE, (8, 0), va="center")
    write(panel, "score", (0, scores[arms[0]]), ORANGE, (8, 0), va="center")
    write(panel, "complete", (5.5, scores[shown[-1]]), offset=(0, -8), ha="right", va="top")
    panel.set(xlabel="steps of the arm", ylabel="score plus bonus", xlim=(-0.6, 5.6))
    panel.margins(y=0.1)
    panel.set_xticks(range(6), [str(search.strategy.ledger.steps[arm]) for arm in shown])


def first_turned_arm(search: Search, steps: int) -> int:
    """Run the search until the curve of an arm turns after this many steps."""
    return next(
        pull.arm.id for pull in search.pulls() if pull.stop == steps and search.strategy._scores.is_complete(pull.arm.id)
    )


def draw_turned_curve(panel: Axes, search: Search, arm: int) -> None:
    """The rewards of the arm until it turned, and those that it would have had."""
    steps, rewards = search.curve(arm)
    best = max(rewards)
    later = search.strategy.stops[len(steps) - 1 :]
    would_be = [search.reward(search.strategy.ledger.arms[arm], step) for step in later]
    panel.plot(later, would_be, "o--", color=LIGHT, mfc="white")
    panel.plot(steps, rewards, "o-", color=BLUE)
    panel.plot(steps[-2:], rewards[-2:], "o", color=ORANGE, ms=7)
    panel.axhline(best - rules.TURN_DEPTH * search.strategy._scores.spread, color=GRAY, linestyle=":")
    panel.plot(steps[-1:], [best], "D", color=BLUE, ms=6)
    write(panel, "score: best reward", (28.5, best), BLUE, (0, 7), ha="right")
    write(panel, "two drops:\nstopped", (steps[-1], rewards[-1]), ORANGE, (9, 2))
    write(panel, "not trained", (later[-2], would_be[-2]), offset=(-10, 0), ha="right", va="center")
    panel.set(xlabel="steps of the arm", ylabel="reward", xlim=(0, 29), ylim=(0, best + 0.05), xticks=TICKS)


# When to make a new arm, and which.


@dataclass(frozen=True)
class Choice:
    """A new arm, and what it was chosen by."""

    arm: ma.Arm
    process: GaussianProcess
    candidates: Array
    known: ScoredArms
    slices: Array

    def bounds(self, points: Array, deviations: float) -> Array:
        """The predicted score at each point plus standard deviations."""
        bounds = self.process.upper_confidence_bounds(points, self.known, self.slices, deviations)
        return self.known.median + self.known.spread * bounds


def next_choice(search: Search, n_pulls: int) -> Choice:
    """Run the search for this many pulls, and then until it makes a new arm that is not a mutant."""
    calls: list[tuple[Any, ...]] = []
    compute = GaussianProcess.upper_confidence_bounds

    def recorded(process: GaussianProcess, *arguments: Any) -> Array:
        calls.append((process, *arguments[:3]))
        return compute(process, *arguments)

    search.after(n_pulls)
    with patch.object(GaussianProcess, "upper_confidence_bounds", recorded):
        pull = next(pull for pull in search.pulls() if pull.start == 0 and not pull.arm.parents)
    return Choice(pull.arm, *calls[-1])


def draw_new_arms() -> None:
    figure, axes = panels(2, height=3.2, ratios=(2, 3))
    draw_new_arm_probability(axes[0])
    search = Search(slow(dimensions=1, seed=2), seed=0, initial=6)
    draw_choice(axes[1], search, next_choice(search, 10))
    add_titles(axes, "When to make a new arm", "Which new arm: the most promising candidate")
    save(figure, "rules-new-arms", PLOTS)


def draw_new_arm_probability(panel: Axes) -> None:
    pulls = range(1001)
    for guided, color, name in ((True, BLUE, "chosen by the\nGaussian process"), (False, GRAY, "drawn at random")):
        percent = [100 * rules.new_arm_probability(n, guided) for n in pulls]
        panel.plot(pulls, percent, color=color)
        write(panel, name, (330, percent[330]), color, (0, 8))
    panel.set(xlabel="pulls of the search", ylabel="probability in %", xlim=(0, 1000), ylim=(0, 52))


def draw_choice(panel: Axes, search: Search, choice: Choice) -> None:
    """The prediction over the whole space, the arms that it is based on, and the candidates."""
    grid = np.linspace(0, 1, 201)[:, None]
    means, upper = choice.bounds(grid, 0.0), choice.bounds(grid, rules.DEVIATIONS)
    bounds = choice.bounds(choice.candidates, rules.DEVIATIONS)
    places = [search.strategy.ledger.arms[arm].config["x0"] for arm in choice.known.arms]
    panel.fill_between(grid[:, 0], 2 * means - upper, upper, color=BLUE, alpha=0.2, linewidth=0)
    panel.plot(grid, means, color=BLUE)
    panel.plot(places, choice.known.scores, "D", color="black", ms=5)
    panel.plot(choice.candidates[:, 0], bounds, "|", color=GRAY, ms=7)
    panel.plot([choice.arm.config["x0"]], [bounds.max()], "*", color=ORANGE, ms=14)
    write(panel, "chosen", (choice.arm.config["x0"], bounds.max()), ORANGE, (0, 7), ha="center")
    write(panel, "candidates", (0.3, bounds.max()), offset=(0, 7))
    write(panel, "predicted score", (0.15, means[30]), BLUE, (0, 4))
    write(panel, "± 2 standard deviations", (0.1, means[30]), BLUE, (0, -42))
    worst = choice.known.scores.argmin()
    write(panel, "arms so far", (places[worst], choice.known.scores[worst]), "black", (-6, -11), ha="right")
    panel.set(xlabel="the only parameter", ylabel="score", xlim=(-0.01, 1.01))
    panel.margins(y=0.1)


# When to train to completion, when to finish the leader, and when time is the budget.


@dataclass(frozen=True)
class Course:
    """A search in which an arm trained to completion becomes the best.

    Attributes:
        spent: Full trainings spent after each pull.
        shares: The share of the steps for arms trained to completion until then, in percent.
        lead: Full trainings spent when one of these became the best arm.
        leader, other: The steps and rewards of this arm, and of the best other complete arm at that time.
    """

    spent: list[float]
    shares: list[float]
    lead: float
    leader: Curve
    other: Curve


def course(search: Search) -> Course:
    strategy, steps = search.strategy, 0
    spent, shares = [], []
    leads: list[tuple[float, Curve, Curve]] = []
    for pull in search.pulls():
        steps += pull.steps * (pull.arm.id in strategy.trained_to_completion)
        spent.append(search.spent / MAX_STEPS)
        shares.append(100 * steps / max(1, search.spent - strategy.initial * strategy.stops[0]))
        if not leads and strategy._best_completed > strategy._best_other:
            others = set(strategy._scores.complete().tolist()) - strategy.trained_to_completion
            leads.append((spent[-1], search.curve(pull.arm.id), search.curve(search.best(others))))
    return Course(spent, shares, *leads[0])


def draw_plans() -> None:
    figure, axes = panels(4, height=3.0, rows=2)
    figure.set_layout_engine("constrained", hspace=0.06)
    crossing = course(Search(CurveWorld("crossing", max_steps=MAX_STEPS, seed=101), seed=1, trainings=SHOWN))
    draw_crossing_curves(axes[0], crossing)
    draw_shares(axes[1], crossing)
    draw_finished_leaders(axes[2], Search(CurveWorld("fast", max_steps=10, seed=103), seed=2, trainings=45))
    draw_margin_for_time(axes[3])
    completion = "When to train to completion"
    add_titles(axes, f"{completion}: reason", f"{completion}: share", "When to finish the leader", "When time is the budget")
    save(figure, "rules-plans", PLOTS)


def draw_crossing_curves(panel: Axes, course: Course) -> None:
    panel.plot(*course.leader, "o-", color=ORANGE)
    panel.plot(*course.other, "o-", color=BLUE)
    write(panel, "trained to completion", (course.leader[0][5], course.leader[1][5]), ORANGE, (-8, 4), ha="right")
    write(panel, "best of the other arms", (27, course.other[1][-1]), BLUE, (0, -10), ha="right", va="top")
    panel.set(xlabel="steps of the arm", ylabel="reward", xlim=(0, 28), xticks=TICKS)


def draw_shares(panel: Axes, course: Course) -> None:
    panel.plot(course.spent, course.shares, color=ORANGE, drawstyle="steps-post")
    limits = ((rules.COMPLETION_SHARE, 0, course.lead), (rules.COMPLETION_SHARE_IN_LEAD, course.lead, SHOWN))
    for share, first, last in limits:
        panel.plot([first, last], [100 * share] * 2, ":", color=GRAY)
        write(panel, f"at most {share:.0%}", (first, 100 * share), offset=(4, 2))
    panel.axvline(course.lead, color=GRAY, linewidth=1)
    write(panel, "one of them\nis the best arm", (course.lead, 98), offset=(-4, 0), ha="right", va="top")
    panel.set(xlabel="full trainings spent", ylabel="share of the steps in %", xlim=(0, SHOWN), ylim=(0, 100))


def draw_finished_leaders(panel: Axes, search: Search) -> None:
    """The steps of the arm that would be recommended, over the full trainings spent."""
    max_steps, spent, steps, finished = search.problem.max_steps, [], [], []
    for pull in search.pulls():
        spent.append(search.spent / max_steps)
        steps.append(search.strategy.ledger.steps[search.strategy.best().id])
        if pull.arm.id == search.strategy._leader:
            finished.append((spent[-1], pull.stop))
    panel.plot(spent, steps, color=BLUE, drawstyle="steps-post")
    panel.plot(*zip(*finished, strict=True), "o", color=ORANGE)
    marks = [rules.FINISH_BY * rules.FINISH_FACTOR**i for i in range(4)]
    for mark in marks:
        panel.axvline(mark, color=GRAY, linestyle=":")
    write(panel, "finished in time", (4.6, 11), ORANGE, ha="right", va="center")
    panel.set(xlabel="full trainings spent, and the deadlines", ylabel="steps of the leader", xscale="log")
    panel.set(xlim=(1.5, 44), ylim=(0, 11.9), yticks=(0, 5, 10))
    panel.set_xticks(marks, list(map(str, marks)))
    panel.set_xticks([], minor=True)


def draw_margin_for_time(panel: Axes) -> None:
    ratios = 2.0 ** np.arange(5)
    margins = [rules.slowness_penalty(ratio, 1) - rules.slowness_penalty(1.0, 1) for ratio in ratios]
    panel.fill_between(ratios, margins, 0.5, color=ORANGE, alpha=0.2, linewidth=0)
    panel.fill_between(ratios, margins, color=BLUE, alpha=0.2, linewidth=0)
    panel.plot(ratios, margins, color="black")
    write(panel, "the slower arm is chosen", (1.2, 0.35), ORANGE)
    write(panel, "the faster arm is chosen", (15, 0.08), BLUE, ha="right")
    panel.set(
        xlabel="time of its steps, compared with the faster arm", ylabel="lead of the slower arm\nin spreads", xscale="log"
    )
    panel.set(xlim=(1, 16), ylim=(0, 0.5))
    panel.set_xticks(ratios, [f"{ratio:.0f}×" for ratio in ratios])
    panel.set_xticks([], minor=True)


def main() -> None:
    draw_scores()
    draw_new_arms()
    draw_plans()


if __name__ == "__main__":
    main()
