"""Table 1 and figure 1 of the ER-UCB paper: seven Gaussian arms, of which the first is rarely good, and then best.

Its mean is among the lowest and its variance is the largest, so that the best of many rewards almost always comes from it.
The tables show the share of trials on this arm and the best reward, and the share for other values of theta, gamma and beta
of `ERUCB`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import common
import numpy as np
from scipy.stats import norm

import manyarms as ma

MEANS = np.array([0.84, 0.84, 0.85, 0.85, 0.88, 0.88, 0.89])
SPREADS = np.array([0.07, 0.01, 0.04, 0.02, 0.01, 0.02, 0.01])
EXTREME = 1.0  # of a reward, in figure 1 b
PICKERS: dict[str, Callable[..., Any]] = {
    "ERUCB, beta 0.85": functools.partial(ma.ERUCB, beta=0.85),
    "ERUCB, beta auto": ma.ERUCB,
    "ExtremeUCB": ma.ExtremeUCB,
    "UCB1": ma.UCB1,
    "EpsilonGreedy(0.1)": functools.partial(ma.EpsilonGreedy, 0.1),
    "Softmax(0.1)": functools.partial(ma.Softmax, 0.1),
    "Uniform": ma.Uniform,
}
PAPER = {  # share of arm 1, best reward; its ± are over 3 runs
    "ERUCB, beta 0.85": ("0.90 ± 0.01", "1.06 ± 0.02"),
    "UCB1": ("0.01 ± 0.01", "0.94 ± 0.01"),
    "EpsilonGreedy(0.1)": ("0.31 ± 0.42", "0.98 ± 0.04"),
    "Softmax(0.1)": ("0.18 ± 0.01", "1.01 ± 0.01"),
    "Uniform": ("0.15 ± 0.01", "1.00 ± 0.05"),
}
BASE = {"theta": 0.01, "gamma": 20.0, "beta": 0.85}
RANGES: dict[str, tuple[float, ...]] = {  # as in figure 1 a
    "theta": (0.0001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
    "gamma": (0, 1, 2, 4, 6, 8, 10, 15, 20, 25, 30, 40, 50),
    "beta": (0, 0.3, 0.6, 0.7, 0.75, 0.8, 0.82, 0.83, 0.84, 0.85, 0.86, 0.87, 0.88, 0.9, 0.95, 1, 1.1, 1.3, 1.5),
}
SHOWN: dict[
    str, dict[float, str]
] = {  # in the table, with the share of arm 1 in an earlier run of the algorithm; the paper draws these and prints none
    "theta": {0.0001: "", 0.01: "0.89", 0.1: "", 0.5: ""},
    "gamma": {0: "", 10: "", 20: "0.89", 50: ""},
    "beta": {0: "", 0.8: "0.05", 0.85: "0.89", 0.88: "0.94", 1: "0.72", 1.5: ""},
}


def play(picker: Any, n_trials: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The arms picked and their rewards."""
    rng = np.random.default_rng(seed)
    draws = rng.standard_normal(n_trials)
    arms, rewards = np.empty(n_trials, dtype=int), np.empty(n_trials)
    for trial in range(n_trials):
        arm = picker.pick(rng)
        reward = MEANS[arm] + SPREADS[arm] * draws[trial]
        picker.update(arm, reward)
        arms[trial], rewards[trial] = arm, reward
    return arms, rewards


def compare(job: tuple[str, int, int]) -> tuple[np.ndarray, np.ndarray]:
    name, n_trials, seed = job
    return play(PICKERS[name](n=len(MEANS)), n_trials, seed)


def shares(job: tuple[str, float, int, int]) -> np.ndarray:
    """The share of trials on each arm, with one setting of `ERUCB` changed."""
    name, value, n_trials, seed = job
    settings: dict[str, Any] = BASE | {name: value}
    arms, _ = play(ma.ERUCB(**settings, n=len(MEANS)), n_trials, seed)
    return np.bincount(arms, minlength=len(MEANS)) / n_trials


def main() -> None:
    arguments = common.options(__doc__).parse_args()
    n_trials = 300 if arguments.quick else 1000
    seeds = range(arguments.seeds or (5 if arguments.quick else 50))
    results = common.parallel(compare, [(name, n_trials, seed) for name in PICKERS for seed in seeds])
    arms, rewards = np.moveaxis(np.reshape(results, (len(PICKERS), len(seeds), 2, n_trials)), 2, 0)
    scale = f"{n_trials:,} trials, {len(seeds)} seeds"
    show_comparison(arms, rewards, scale, arguments.quick)
    ranges = {name: tuple(SHOWN[name]) for name in SHOWN} if arguments.quick else RANGES
    jobs = [(name, value, n_trials, seed) for name, values in ranges.items() for value in values for seed in seeds]
    found = iter(common.parallel(shares, jobs))
    curves = {name: np.array([[next(found) for _ in seeds] for _ in values]) for name, values in ranges.items()}
    show_settings(ranges, curves, scale, arguments.quick)
    if not arguments.quick:
        draw(curves, rewards)


def show_comparison(arms: np.ndarray, rewards: np.ndarray, scale: str, quick: bool) -> None:
    rows = []
    for number, name in enumerate(PICKERS):
        share, best = (arms[number] == 0).mean(axis=1), rewards[number].max(axis=1)
        most = np.mean([np.bincount(of_seed.astype(int)).argmax() == 0 for of_seed in arms[number]])
        source = np.mean(arms[number][np.arange(len(best)), rewards[number].argmax(axis=1)] == 0)
        paper = ("", "") if quick else PAPER.get(name, ("", ""))
        measured = common.plus_minus(share), paper[0], common.plus_minus(best), paper[1]
        rows.append((name, *measured, f"{most:.0%}", f"{source:.0%}"))
    columns = (
        "picker",
        "share of arm 1",
        "paper",
        "best reward",
        "paper",
        "runs with most trials on it",
        "runs with the best from it",
    )
    common.show(f"Seven Gaussian arms; {scale}", columns, rows)


def show_settings(ranges: dict[str, Any], curves: dict[str, np.ndarray], scale: str, quick: bool) -> None:
    rows = []
    for name, shown in SHOWN.items():
        for value, expected in shown.items():
            of_setting = curves[name][ranges[name].index(value)]
            ours = common.plus_minus(of_setting[:, 0]), "" if quick else expected, common.plus_minus(of_setting[:, 6])
            rows.append((f"{name} = {value:g}", *ours))
    note = "The others at theta = 0.01, gamma = 20, beta = 0.85."
    common.show(f"ERUCB by its settings; {scale}", ("setting", "share of arm 1", "expected", "share of arm 7"), rows, note)


def draw(curves: dict[str, np.ndarray], rewards: np.ndarray) -> None:
    figure, axes = common.panels(4, width=3.3)
    for axis, (name, curve) in zip(axes, curves.items(), strict=False):
        for arm, color, marker in ((0, common.COLORS[2], "o"), (6, common.COLORS[1], "s")):
            means, errors = zip(*(common.mean_and_error(values) for values in curve[:, :, arm]), strict=True)
            axis.errorbar(RANGES[name], means, errors, color=color, marker=marker, markersize=3, label=f"arm {arm + 1}")
        axis.axvline(BASE[name], color="0.6", linestyle=":")
        axis.set(xlabel=f"{name} (dotted: {BASE[name]:g})", ylabel="share of trials", ylim=(0, 1))
    axes[0].legend()
    n_trials = rewards.shape[-1]
    trials = np.arange(1, n_trials + 1)
    for number, (name, color) in enumerate(zip(PICKERS, common.COLORS, strict=False)):
        axes[3].plot(trials, (rewards[number] > EXTREME).cumsum(axis=1).mean(axis=0), color=color, label=name)
    axes[3].plot(trials, trials * norm.sf((EXTREME - MEANS[0]) / SPREADS[0]), "k--", label="always arm 1")
    axes[3].set(xlabel="trials", ylabel=f"rewards above {EXTREME:g}", ylim=(0, None))
    axes[3].legend(fontsize=6)
    common.save(figure, "pickers")


if __name__ == "__main__":
    main()
