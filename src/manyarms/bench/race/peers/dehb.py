"""DEHB: Hyperband whose new configs come from differential evolution."""

from __future__ import annotations

import tempfile

from dehb import DEHB
from loguru import logger

from ..charged_problem import ChargedProblem
from .common import ETA, Costs, flat_space
from .configspace import configuration_space


def search(charged: ChargedProblem) -> None:
    """Search with DEHB by ask and tell. Its fidelity is the number of steps, rounded.

    DEHB cannot be told that a training failed, so a failure costs as much as the worst success so far.
    """
    flat, costs = flat_space(charged), Costs()
    with tempfile.TemporaryDirectory() as folder:
        dehb = DEHB(
            cs=configuration_space(flat, charged.seed),
            min_fidelity=1,
            max_fidelity=charged.problem.max_steps,
            eta=ETA,
            n_workers=1,
            seed=charged.seed,
            output_path=folder,
            save_freq="end",
            log_level="CRITICAL",
        )
        try:
            while True:
                job = dehb.ask()
                reward = charged.train(flat.config(job["config"]), max(1, round(job["fidelity"])))
                dehb.tell(job, {"fitness": costs.of(reward), "cost": 0.0})
        finally:
            logger.remove()  # closes its log file before the folder is deleted
