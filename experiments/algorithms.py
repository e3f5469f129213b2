"""Table 2 of the ER-UCB paper: which of ten scikit-learn algorithms gets the next trial, on twelve UCI datasets.

A trial is a random config of an algorithm, and its reward is the validation accuracy. All methods draw from one pool of 1000
evaluated configs for each dataset and algorithm (experiments/pool.py), in an order given by the seed: with the same seed, the
k-th trial of an algorithm is the same for all methods. The pool is built once, in about 40 minutes, and can be interrupted.
The searches then take minutes. The tables show the best validation accuracy, the share of trials on the algorithm that is
best over the whole pool, the chosen algorithm, and the test accuracy of the chosen config. Random search on the joint space
has the same distribution as `Uniform`.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import common
import numpy as np
from paper_er_ucb import PAPER
from pool import ALGORITHMS, DATASETS, SCALE, Pool, add_options, default_folder, open_pool, splits

import manyarms as ma

NAMES = tuple(ALGORITHMS)
PAPERS_BETA, AUTO, OURS, JOINT = "ERUCB (paper)", "ERUCB (auto)", "ExtremeUCB", "joint"  # by beta; one space of all algorithms
PICKERS: dict[str, Callable[[str], Any]] = {  # for a set
    PAPERS_BETA: lambda dataset: ma.ERUCB(beta=PAPER[dataset].beta),
    AUTO: lambda dataset: ma.ERUCB(beta="auto"),
    OURS: lambda dataset: ma.ExtremeUCB(),
    "UCB1": lambda dataset: ma.UCB1(),
    "EpsilonGreedy": lambda dataset: ma.EpsilonGreedy(0.1),
    "Softmax": lambda dataset: ma.Softmax(0.1),
    "Uniform": lambda dataset: ma.Uniform(),
}
METHODS = (*PICKERS, JOINT)
BETAS = tuple(round(0.05 * number, 2) for number in range(6, 21))  # 0.3 to 1
THETA = 0.01  # of ERUCB: its default, and the paper's
QUICK = ("glass", "balance_scale", "wdbc")


class Job(NamedTuple):
    """One search. The method is a name, or a beta for `ERUCB`."""

    folder: Path
    n_configs: int
    dataset: str
    method: str | float
    n_trials: int
    seed: int


class Result(NamedTuple):
    """The result of one search."""

    best: float
    shares: np.ndarray  # of trials, by algorithm
    chosen: str
    test: float


class Shuffled:
    """The configs of a part of the pool, by number, in a random order: what random search finds there."""

    def __init__(self, n: int, seed: Sequence[int]) -> None:
        self._order = np.random.default_rng(seed).permutation(n).tolist()
        self._drawn = 0

    def sample(self, rng: np.random.Generator) -> dict[str, int]:
        number = self._order[self._drawn % len(self._order)]
        self._drawn += 1
        return {"number": number}

    def mutate(self, config: Any, rng: np.random.Generator) -> dict[str, int]:
        return self.sample(rng)


@functools.cache
def accuracies(folder: Path, n_configs: int, dataset: str) -> np.ndarray:
    """Validation and test accuracy, by algorithm and config."""
    pool = Pool(folder, n_configs)
    return np.array([pool.accuracies(dataset, algorithm) for algorithm in NAMES])


def search(job: Job) -> Result:
    table = accuracies(job.folder, job.n_configs, job.dataset)
    spaces = {name: Shuffled(job.n_configs, [job.seed, place]) for place, name in enumerate(NAMES)}
    strategy: ma.Cascade | ma.RandomSearch
    if job.method == JOINT:
        strategy = ma.RandomSearch(ma.Joint(spaces), budget=job.n_trials, seed=job.seed)
    else:
        picker = PICKERS[job.method](job.dataset) if isinstance(job.method, str) else ma.ERUCB(beta=job.method)
        children = {name: ma.RandomSearch(space) for name, space in spaces.items()}
        strategy = ma.Cascade(children, picker, budget=job.n_trials, seed=job.seed)
    trials = np.zeros(len(NAMES))
    while (pull := strategy.ask()) is not None:
        place, number = address(pull.config)
        trials[place] += 1
        reward = table[place, number, 0]
        strategy.tell(pull, None if np.isnan(reward) else reward)
    place, number = address(strategy.best().config)
    return Result(table[place, number, 0], trials / trials.sum(), NAMES[place], table[place, number, 1])


def address(config: dict[str, Any]) -> tuple[int, int]:
    """The algorithm's place, and the number of its config."""
    return NAMES.index(config["algorithm"]), config["config"]["number"]


class Truth(NamedTuple):
    """The algorithms of a set by their best validation accuracy over the whole pool, the best first."""

    order: list[str]
    best: list[float]
    n_valid: int  # rows validated on

    @property
    def place(self) -> int:
        """Of the best algorithm."""
        return NAMES.index(self.order[0])

    @property
    def error(self) -> float:
        """The standard error of the best accuracy, from the number of rows."""
        return float(np.sqrt(self.best[0] * (1 - self.best[0]) / self.n_valid))

    @property
    def level(self) -> set[str]:
        """The algorithms that are within this error of the best, so that the order among them is chance."""
        return {name for name, best in zip(self.order, self.best, strict=True) if best >= self.best[0] - self.error}


def truth(folder: Path, n_configs: int, dataset: str) -> Truth:
    validation = accuracies(folder, n_configs, dataset)[:, :, 0]
    best = np.max(np.where(np.isnan(validation), -np.inf, validation), axis=1)
    order = np.argsort(-best, kind="stable")
    return Truth([NAMES[place] for place in order], best[order].tolist(), sum(part.n_valid for part in splits(dataset)))


def main() -> None:
    parser = common.options(__doc__)
    add_options(parser)
    arguments = parser.parse_args()
    folder, quick = arguments.pool or default_folder(), arguments.quick
    datasets = QUICK if quick else tuple(sorted(DATASETS))
    n_configs, n_trials = (100, 200) if quick else (1000, 1000)
    seeds = range(arguments.seeds or (3 if quick else 10))
    open_pool(folder, n_configs, [dataset for dataset in DATASETS if dataset in datasets])
    methods: list[str | float] = [*METHODS] if quick else [*METHODS, *BETAS]
    keys = [(dataset, method) for dataset in datasets for method in methods]
    jobs = [Job(folder, n_configs, *key, n_trials, seed) for key in keys for seed in seeds]
    found = iter(common.parallel(search, jobs))
    results = {key: [next(found) for _ in seeds] for key in keys}
    truths = {dataset: truth(folder, n_configs, dataset) for dataset in datasets}
    scale = f"{n_trials:,} trials, {len(seeds)} seeds"
    show_truths(truths, results, n_configs)
    show_results(truths, results, scale, quick)
    show_summary(truths, results, scale)
    if not quick:
        needed = [
            finding_betas(accuracies(folder, n_configs, dataset)[:, :, 0], known.place) for dataset, known in truths.items()
        ]
        show_betas(truths, results, needed, scale)
        draw(truths, results)


Truths = dict[str, Truth]
Results = dict[tuple[str, str | float], list[Result]]


def on_best(truths: Truths, results: Results, method: str | float) -> np.ndarray:
    """The share of trials on the truly best algorithm, by dataset and seed."""
    return np.array([[result.shares[known.place] for result in results[dataset, method]] for dataset, known in truths.items()])


def most_tried(results: list[Result]) -> str:
    """The algorithm with the most trials over all seeds."""
    return NAMES[int(np.mean([result.shares for result in results], axis=0).argmax())]


def most_frequent(values: Sequence[str]) -> str:
    """And how often, where not always."""
    (value, count), *_ = Counter(values).most_common()
    return value if count == len(values) else f"{value} {count}/{len(values)}"


def show_truths(truths: Truths, results: Results, n_configs: int) -> None:
    rows = []
    for dataset, known in truths.items():
        first = [f"{name} {value:.4f}" for name, value in zip(known.order[:3], known.best[:3], strict=True)]
        tried = [most_tried(results[dataset, method]) for method in (PAPERS_BETA, AUTO, OURS)]
        rows.append((dataset, *first, f"{known.error:.4f}", len(known.level), PAPER[dataset].best, *tried))
    columns = "set", "best", "second", "third", "error", "level", "paper's best", "most tried: paper's beta", "auto", OURS
    note = f"{SCALE} Error: standard error of the best, by the rows validated on. Level: algorithms within it of the best."
    common.show(f"The best validation accuracy in {n_configs:,} random configs of an algorithm", columns, rows, note)


def show_results(truths: Truths, results: Results, scale: str, quick: bool) -> None:
    columns = "set (its best)", "method", "validation", "paper", "share", "paper", "chosen", "test", "paper"
    rows = []
    for number, (dataset, known) in enumerate(truths.items()):
        for method in METHODS:
            found, printed = results[dataset, method], ("", "", "") if quick else PAPER[dataset].of(method)
            best, test = ([getattr(result, name) for result in found] for name in ("best", "test"))
            share, chosen = on_best(truths, results, method)[number], most_frequent([result.chosen for result in found])
            cells = common.plus_minus(best, 4), printed[0], common.plus_minus(share), printed[1], chosen
            name = f"{dataset} ({known.order[0]})" if method == METHODS[0] else ""
            rows.append((name, method, *cells, common.plus_minus(test, 4), printed[2]))
    note = "Share: of trials on the set's best algorithm. Validation, test: of the config chosen. " + SCALE
    common.show(f"Ten algorithms on UCI sets; {scale}", columns, rows, note)


def show_summary(truths: Truths, results: Results, scale: str) -> None:
    shares = np.array([on_best(truths, results, method) for method in METHODS])
    highest = shares.mean(axis=2).argmax(axis=0)
    rows = []
    for number, method in enumerate(METHODS):
        found = [(known, results[dataset, method]) for dataset, known in truths.items()]
        short = np.mean([[known.best[0] - result.best for result in of_set] for known, of_set in found], axis=0)
        test = np.mean([[result.test for result in of_set] for _, of_set in found], axis=0)
        counts = (
            (highest == number).sum(),
            sum(most_tried(of_set) == known.order[0] for known, of_set in found),
            sum(most_tried(of_set) in known.level for known, of_set in found),
        )
        cells = common.plus_minus(100 * short, 2), common.plus_minus(100 * test, 2)
        rows.append((method, common.plus_minus(shares[number].mean(axis=0)), *counts, *cells))
    columns = "method", "share of the best", "sets: highest", "most tried is best", "or level", "short of best, %", "test, %"
    note = (
        "Sets: in how many this method has the highest share of all; in how many the algorithm it tried most is the best, or "
        "level with it. Short of best: the validation accuracy, of the pool's best. Errors: of the mean over the sets, by seed."
    )
    common.show(f"Over {len(truths)} sets; {scale}", columns, rows, note)


def finding_betas(validation: np.ndarray, place: int) -> str:
    """For which beta equation 7, with the mean and variance of all configs known, is largest for this algorithm."""
    works = ~np.isnan(validation).all(axis=1)
    means = np.nanmean(validation[works], axis=1, keepdims=True) - np.linspace(0, 1, 101)  # by algorithm and beta
    targets = np.full((len(NAMES), means.shape[1]), -np.inf)
    targets[works] = means + np.sqrt((np.nanvar(validation[works], axis=1, keepdims=True) + means**2) / THETA)
    found = np.flatnonzero(targets.argmax(axis=0) == place) / 100
    return f"{found.min():g} to {found.max():g}" if len(found) else "none"


def show_betas(truths: Truths, results: Results, needed: Sequence[str], scale: str) -> None:
    """The loss of "auto" compared with the best beta, chosen afterwards."""
    methods: list[str | float] = [PAPERS_BETA, AUTO, *BETAS]
    shares = {method: on_best(truths, results, method) for method in methods}
    rows: list[tuple[object, ...]] = []
    for number, dataset in enumerate(truths):
        best = max(BETAS, key=lambda beta: shares[beta][number].mean())
        cells = [common.plus_minus(shares[method][number]) for method in (PAPERS_BETA, AUTO, best)]
        rows.append((dataset, PAPER[dataset].beta, cells[0], cells[1], best, cells[2], needed[number]))
    one = max(BETAS, key=lambda beta: shares[beta].mean())
    cells = [common.plus_minus(shares[method].mean(axis=0)) for method in (PAPERS_BETA, AUTO, one)]
    rows.append(("all, one beta", "", cells[0], cells[1], one, cells[2], ""))
    columns = (
        "set",
        "paper's beta",
        "share of the best",
        "auto: share",
        f"best of {BETAS[0]} to {BETAS[-1]:g}",
        "its share",
        "equation 7 finds it for",
    )
    note = (
        "The best beta is chosen afterwards, with the best algorithm known. Equation 7: the betas from 0 to 1 for which its "
        "target is largest for the best algorithm, if the mean and variance of all configs were known."
    )
    common.show(f"ERUCB by its beta; {scale}", columns, rows, note)


def draw(truths: Truths, results: Results) -> None:
    figure, axes = common.panels(2, width=6.2)
    places = np.arange(len(truths))
    for number, (method, color, marker) in enumerate(zip(METHODS, common.COLORS, common.MARKERS, strict=True)):
        shift = 0.1 * (number - (len(METHODS) - 1) / 2)
        best = np.array([[result.best for result in results[dataset, method]] for dataset in truths])
        short = 100 * (np.array([[known.best[0]] for known in truths.values()]) - best)
        for axis, values in zip(axes, (on_best(truths, results, method), short), strict=True):
            means, errors = zip(*(common.mean_and_error(of_set) for of_set in values), strict=True)
            axis.errorbar(places + shift, means, errors, color=color, marker=marker, linestyle="", label=method, capsize=1)
    axes[0].set(ylabel="share of trials on the best algorithm", ylim=(0, 1))
    axes[1].set(ylabel="best validation accuracy,\nshort of the pool's best (%)", ylim=(0, None))
    for axis in axes:
        names = [f"{dataset.split('_')[0]}\n{known.order[0]}" for dataset, known in truths.items()]
        axis.set_xticks(places, names, fontsize=6)
        axis.set_xlabel("set, and its best algorithm")
    axes[1].legend(fontsize=7)
    common.save(figure, "algorithms")


if __name__ == "__main__":
    main()
