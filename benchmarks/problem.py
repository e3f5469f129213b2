"""The problem that the benchmarks share: one space, for us and for the peer, and rewards that cost nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

import manyarms as ma

MAX_STEPS = 10
SPACE = ma.Space(lr=ma.Float(1e-5, 1e-1, log=True), width=ma.Int(5, 50), act=ma.Choice("relu", "tanh"))
DISTRIBUTIONS = {
    "lr": FloatDistribution(1e-5, 1e-1, log=True),
    "width": IntDistribution(5, 50),
    "act": CategoricalDistribution(["relu", "tanh"]),
}

optuna.logging.set_verbosity(optuna.logging.WARNING)


def noisy(config: Mapping[str, Any], steps: int = MAX_STEPS) -> float:
    """A bandit's reward in [0, 1]: best near lr=0.001, width=30, relu, with noise that is the same in every run."""
    distance = abs(math.log10(config["lr"]) + 3) / 4 + abs(config["width"] - 30) / 100 + 0.1 * (config["act"] == "tanh")
    noise = (config["lr"] * 1e9 + steps * 0.618) % 1.0
    return 0.9 * (1 - distance / 2) + 0.1 * noise


def rising(config: Mapping[str, Any], steps: int = MAX_STEPS) -> float:
    """The same on a slow learning curve, where MutantUCB makes a mutant at nearly every pull: its costliest case."""
    return noisy(config, steps) * steps / (steps + 1)


REWARDS = {"noisy rewards": noisy, "rising rewards: nearly an arm a pull": rising}


def train(pull: Any) -> float:
    """Our objective."""
    return noisy(pull.config, pull.stop)


def objective(trial: optuna.Trial) -> float:
    """The peer's objective."""
    trial.suggest_float("lr", 1e-5, 1e-1, log=True)
    trial.suggest_int("width", 5, 50)
    trial.suggest_categorical("act", ["relu", "tanh"])
    return noisy(trial.params)


def mutant_ucb(budget: int | None = None, seed: int = 0) -> ma.MutantUCB:
    """MutantUCB with our settings. Without a budget it continues until it is stopped."""
    return ma.MutantUCB(SPACE, budget=budget, max_steps=MAX_STEPS, seed=seed)


def random_study(storage: Any = None) -> optuna.Study:
    """The peer's cheapest study: its random sampler."""
    return optuna.create_study(storage=storage, sampler=optuna.samplers.RandomSampler(seed=0), direction="maximize")
