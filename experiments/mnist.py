"""TreeUCB and ContextualTreeUCB tune the MLP of their paper on MNIST, compared with random search, Hyperband and TPE.

In setting A, the number of iterations of a training is one of five parameters. In setting B, the search decides it
(ContextualTreeUCB with a schedule, Hyperband with its rungs); other searches always train to the end. An iteration is one
batch. All searches get the same number of iterations, and use the accuracy on validation images. A training that diverges is
charged in full and counts as an accuracy of 0. Scale: a training has at most 81 iterations instead of 243, and at least 10
instead of 30. The ranges of the other parameters are those of the paper. Needs the data directory (MANYARMS_DATA, or the
user's data directory), torch and optuna.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import common
import numpy as np

import manyarms as ma
from manyarms.bench.problems import NetworkProblem, load_images, mnist_mlp
from manyarms.bench.problems.protocol import noise_seed

LONGEST = 81  # iterations of a full training
N_VALID = 5000  # of the 60,000 training images; the 10,000 test images are used only to report the found networks
MARKS = (10, 20, 30, 40)  # the budget, in full trainings

Point = tuple[int, float, float]  # iterations spent, validation accuracy, test accuracy


class Tpe:
    """The default sampler of Optuna as a strategy, with full trainings."""

    def __init__(self, space: ma.Space, max_steps: int, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._space, self._steps = space, max_steps
        self._study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))

    def ask(self) -> ma.Pull:
        trial = self._study.ask()
        config = {
            name: trial.suggest_int(name, kind.low, kind.high)
            if isinstance(kind, ma.Int)
            else trial.suggest_float(name, kind.low, kind.high)
            for name, kind in self._space.parameters.items()
        }
        return ma.Pull(ma.Arm(trial.number, config), 0, self._steps)

    def tell(self, pull: ma.Pull, reward: float) -> None:
        self._study.tell(pull.arm.id, reward)


SEARCHES: dict[tuple[str, str], Callable[..., Any]] = {
    ("A", "TreeUCB"): ma.TreeUCB,
    ("A", "TPE (Optuna)"): Tpe,
    ("A", "RandomSearch"): ma.RandomSearch,
    ("B", "ContextualTreeUCB, harmonic"): ma.ContextualTreeUCB,
    ("B", "ContextualTreeUCB, hyperband"): functools.partial(ma.ContextualTreeUCB, schedule="hyperband"),
    ("B", "Hyperband"): ma.Hyperband,
    ("B", "TreeUCB"): ma.TreeUCB,
    ("B", "TPE (Optuna)"): Tpe,
    ("B", "RandomSearch"): ma.RandomSearch,
}


@functools.cache  # read once in each process
def load(setting: str) -> NetworkProblem:
    return mnist_mlp(load_images("mnist", n_valid=N_VALID), setting, LONGEST)


def run(job: tuple[str, str, int, int]) -> tuple[int, list[Point]]:
    """The number of configs tried, and each network that was better than all earlier ones."""
    setting, name, budget, seed = job
    problem = load(setting)
    search = SEARCHES[setting, name](problem.space, max_steps=problem.max_steps, seed=seed)
    paused: dict[int, Any] = {}  # by arm
    spent, points = 0, [(0, 0.0, 0.0)]
    while (pull := search.ask()) is not None:
        config, arm = pull.config, pull.arm.id
        spent += problem.iterations(config, pull.stop) - problem.iterations(config, pull.start)
        if spent > budget:
            break
        training = paused.setdefault(arm, None) or problem.start(config, noise_seed(seed, arm))
        accuracy = problem.advance(training, config, pull.stop) or 0.0
        paused[arm] = training if pull.stop < problem.max_steps else None
        search.tell(pull, accuracy)
        if accuracy > points[-1][1]:
            points.append((spent, accuracy, training.accuracy(problem.images.x_test, problem.images.y_test)))
    return len(paused), points


def at(points: list[Point], spent: float) -> Point:
    """The best network after this many iterations."""
    return [point for point in points if point[0] <= spent][-1]


def until(points: list[Point], accuracy: float, budget: int) -> int:
    """The iterations until the validation accuracy was reached, or the whole budget."""
    return next((spent for spent, reached, _ in points if reached >= accuracy), budget)


def main() -> None:
    arguments = common.options(__doc__).parse_args()
    marks = (2, 5) if arguments.quick else MARKS
    seeds = range(arguments.seeds or (2 if arguments.quick else 3))
    budget = marks[-1] * LONGEST
    jobs = [(*key, budget, seed) for seed in seeds for key in SEARCHES]
    results = common.parallel(run, jobs)
    found = {key: [results[i] for i, job in enumerate(jobs) if job[:2] == key] for key in SEARCHES}
    for setting in "AB":
        report(setting, found, marks, budget)
    if not arguments.quick:
        draw(found, budget)


def report(
    setting: str, found: dict[tuple[str, str], list[tuple[int, list[Point]]]], marks: tuple[int, ...], budget: int
) -> None:
    runs = {name: found[key, name] for key, name in SEARCHES if key == setting}
    level = float(np.mean([points[-1][1] for _, points in runs["RandomSearch"]]))
    rows = []
    for name, searches in runs.items():
        points = [points for _, points in searches]
        valid = [common.plus_minus([100 * at(run, mark * LONGEST)[1] for run in points], 2) for mark in marks]
        test = common.plus_minus([100 * run[-1][2] for run in points], 2)
        needed = common.plus_minus([until(run, level, budget) for run in points], 0)
        rows.append((name, f"{np.mean([arms for arms, _ in searches]):.0f}", *valid, test, needed))
    n_seeds = len(runs["RandomSearch"])
    title = f"Setting {setting}: best accuracy so far in %, by iterations spent; {n_seeds} seeds"
    columns = ("", "configs", *(f"{mark * LONGEST:,}" for mark in marks), "test, at the end", f"until {level:.2%}")
    note = (
        f"{LONGEST} iterations are a whole training. Validation: {N_VALID:,} images that are not trained on. The last column: "
        f"iterations until the accuracy that random search has at the end on average; {budget:,} where it was not reached"
    )
    common.show(title, columns, rows, note)


def draw(found: dict[tuple[str, str], list[tuple[int, list[Point]]]], budget: int) -> None:
    figure, axes = common.panels(2, width=5.0)
    spent = np.linspace(LONGEST, budget, 200)
    names = list(dict.fromkeys(name for _, name in SEARCHES))
    for axis, setting in zip(axes, "AB", strict=True):
        for name, color in zip(names, common.COLORS, strict=False):
            if (setting, name) not in found:
                continue
            curves = [[100 * at(points, place)[1] for place in spent] for _, points in found[setting, name]]
            means, errors = (
                np.array(part) for part in zip(*map(common.mean_and_error, zip(*curves, strict=True)), strict=True)
            )
            ours = "UCB" in name
            axis.plot(spent, means, color=color, label=name, linewidth=2 if ours else 1.2, linestyle="-" if ours else "--")
            axis.fill_between(spent, means - errors, means + errors, color=color, alpha=0.12, linewidth=0)
        axis.set(title=f"Setting {setting}", xlabel="iterations spent", ylabel="best validation accuracy (%)", ylim=(80, None))
        axis.legend(fontsize=7, loc="lower right")
    common.save(figure, "mnist")


if __name__ == "__main__":
    main()
