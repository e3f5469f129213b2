"""BoTorch: a Gaussian process with noisy expected improvement, with full trainings."""

from __future__ import annotations

from typing import Any

import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from ..charged_problem import ChargedProblem
from .common import Costs

_RESTARTS, _RAW_SAMPLES = 5, 128  # of the search for the largest expected improvement


def log_noisy_ei(charged: ChargedProblem) -> None:
    """Search with qLogNEI, one config at a time, after max(5, 2 x parameters) points of a Sobol sequence, as Ax does.

    Configs are encoded as points in the unit cube, choices one-hot. A failure gets the worst reward so far.
    """
    space: Any = getattr(charged.problem.space, "around", charged.problem.space)
    costs, dimension = Costs(), space.dimension
    points, rewards = torch.zeros(0, dimension, dtype=torch.double), torch.zeros(0, 1, dtype=torch.double)
    sobol = torch.quasirandom.SobolEngine(dimension, scramble=True, seed=charged.seed)  # type: ignore[no-untyped-call]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(charged.seed)
        while True:
            at_random = len(points) < max(5, 2 * len(space.parameters))
            drawn = sobol.draw(1, dtype=torch.double)[0] if at_random else _best_candidate(points, rewards)
            config = space.decode(drawn.numpy())
            reward = -costs.of(charged.train(config))
            points = torch.cat([points, torch.as_tensor(space.encode(config), dtype=torch.double)[None]])
            rewards = torch.cat([rewards, torch.tensor([[reward]], dtype=torch.double)])


def _best_candidate(points: torch.Tensor, rewards: torch.Tensor) -> torch.Tensor:
    """The point with the largest expected improvement."""
    model = SingleTaskGP(points, _standardized(rewards))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    acquisition = qLogNoisyExpectedImprovement(model, points, prune_baseline=True)
    bounds = torch.stack([torch.zeros(points.shape[1]), torch.ones(points.shape[1])]).double()
    found: torch.Tensor = optimize_acqf(acquisition, bounds, q=1, num_restarts=_RESTARTS, raw_samples=_RAW_SAMPLES)[0][0]
    return found.detach()


def _standardized(rewards: torch.Tensor) -> torch.Tensor:
    return (rewards - rewards.mean()) / rewards.std().clamp(min=1e-9)
