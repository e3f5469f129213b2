"""Many workers: how much quality is lost, and how much time saved, with 8, 64 or 512 pulls in flight.

Each run is a study on simulated workers. A step takes about a minute: the duration of a pull is its number of steps, times a
random factor of its arm and one of the pull (both lognormal, with sigma 0.5). The regret is normalized: 0 is the best config,
100 the median random config. NAS-Bench-201 needs the data directory (MANYARMS_DATA, or the user's data directory).
"""

from __future__ import annotations

import functools
import warnings

import common
import numpy as np

import manyarms as ma
from manyarms.bench.problems import CurveWorld, Problem, nasbench201, regret
from manyarms.bench.problems.protocol import noise_seed

STEPS = 10  # N: of a full training
SPREAD = 0.5  # sigma of the lognormal durations
PROBLEMS = {
    "CurveWorld, slow": lambda seed: CurveWorld("slow", max_steps=STEPS, seed=7_000 + seed),  # a landscape for each seed
    "NAS-Bench-201, CIFAR-100": lambda seed: nasbench201("cifar100", max_steps=STEPS),
}
STRATEGIES = (ma.MutantUCB, ma.AdaptiveMutantUCB, ma.ASHA, ma.RandomSearch)
WORKERS = (1, 8, 64, 512)


@functools.cache  # once in each process
def load(name: str, seed: int) -> Problem:
    return PROBLEMS[name](seed)


def run(job: tuple[str, type, int, int, int]) -> tuple[float, float]:
    """The regret in percent, and the simulated hours, of one study."""
    name, make, workers, budget, seed = job
    problem = load(name, seed)
    warnings.simplefilter("ignore", ma.ManyarmsWarning)  # the alarm of Mutant-UCB on slow curves

    def seconds(pull: ma.Pull) -> float:
        arm = np.random.default_rng(noise_seed(seed, pull.arm.id)).normal()
        luck = np.random.default_rng(noise_seed(seed, pull.arm.id, pull.start + 1)).normal()
        return float(60 * pull.steps * np.exp(SPREAD * (arm + luck)))

    runner = ma.SimulatedRunner(workers, seconds)
    study = ma.Study(make(problem.space, budget=budget, max_steps=STEPS, seed=seed))
    study.optimize(lambda pull: problem.reward(pull.config, pull.stop, pull.seed), runner=runner, progress=False)
    return regret(problem, study.best_config), runner.now() / 3600


def main() -> None:
    parser = common.options(__doc__)
    parser.add_argument("--budget", type=int, default=10_000, metavar="T", help="steps of each study (default: 10,000)")
    arguments = parser.parse_args()
    budget = 1000 if arguments.quick else arguments.budget
    seeds = range(arguments.seeds or (2 if arguments.quick else 4))
    cells = [(name, make, workers) for name in PROBLEMS for make in STRATEGIES for workers in WORKERS]
    jobs = [(*cell, budget, seed) for seed in seeds for cell in cells]
    results = np.reshape(common.parallel(run, jobs), (len(seeds), len(cells), 2)).swapaxes(0, 1)
    found = dict(zip(cells, results, strict=True))
    scale = f"T = {budget:,}, N = {STEPS}, {len(seeds)} seeds"
    columns = ("strategy", *(f"W = {workers}" for workers in WORKERS))
    for name in PROBLEMS:
        for what, measure in (("normalized regret, %", 0), ("simulated hours", 1)):
            rows = [
                (make.__name__, *(common.plus_minus(found[name, make, workers][:, measure], 2) for workers in WORKERS))
                for make in STRATEGIES
            ]
            common.show(f"{name}: {what}; {scale}", columns, rows)
    if not arguments.quick:
        draw(found, budget)


def draw(found: dict[tuple[str, type, int], np.ndarray], budget: int) -> None:
    figure, axes = common.panels(3, width=3.7)
    for make, color, marker in zip(STRATEGIES, common.COLORS, common.MARKERS, strict=False):
        for axis, name in zip(axes, PROBLEMS, strict=False):
            points = [common.mean_and_error(found[name, make, workers][:, 0]) for workers in WORKERS]
            axis.errorbar(WORKERS, *zip(*points, strict=True), color=color, marker=marker, label=make.__name__, capsize=2)
            axis.set(title=name, ylabel="normalized regret (%)")
        hours = [found[next(iter(PROBLEMS)), make, workers][:, 1].mean() for workers in WORKERS]
        axes[2].plot(WORKERS, hours, color=color, marker=marker, label=make.__name__)
    for axis in axes:
        axis.set(xscale="log", xlabel="workers", xticks=WORKERS, xticklabels=WORKERS)
        axis.minorticks_off()
    for axis in axes[:2]:
        axis.set_ylim(bottom=0)  # once all is drawn, as it fixes the top too
    for axis in axes:
        axis.axvline(budget / 100, color="black", linestyle=":", linewidth=1, label="W = T / 100")
    axes[2].set(yscale="log", ylabel="simulated time (hours)", title=f"time, {next(iter(PROBLEMS))}")
    axes[2].legend(fontsize=7, loc="lower left")
    common.save(figure, "workers")


if __name__ == "__main__":
    main()
