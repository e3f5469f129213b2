"""DEHB: Hyperband whose newcomers differential evolution makes."""

from __future__ import annotations

import tempfile

from dehb import DEHB
from loguru import logger

from ..track import Track
from .common import ETA, Costs, flat_space
from .configspace import configuration_space


def search(track: Track) -> None:
    """By ask and tell; a fidelity of DEHB is a number of steps, rounded.

    DEHB has no word for failures: one costs as much as the worst success so far.
    """
    flat, costs = flat_space(track), Costs()
    with tempfile.TemporaryDirectory() as folder:
        dehb = DEHB(
            cs=configuration_space(flat, track.seed),
            min_fidelity=1,
            max_fidelity=track.problem.max_steps,
            eta=ETA,
            n_workers=1,
            seed=track.seed,
            output_path=folder,
            save_freq="end",
            log_level="CRITICAL",
        )
        try:
            while True:
                job = dehb.ask()
                reward = track.train(flat.config(job["config"]), max(1, round(job["fidelity"])))
                dehb.tell(job, {"fitness": costs.of(reward), "cost": 0.0})
        finally:
            logger.remove()  # its log file, before the folder goes
