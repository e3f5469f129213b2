"""SMAC3: Hyperband whose new configs are chosen by a random forest."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

import joblib
from smac import MultiFidelityFacade, Scenario
from smac.main.exceptions import ConfigurationSpaceExhaustedException
from smac.runhistory import StatusType, TrialValue

from ..charged_problem import ChargedProblem
from .common import ETA, Costs, flat_space
from .configspace import configuration_space

_AT_RANDOM = 5  # configs before the forest is used, as in the multi-fidelity example of SMAC


def search(charged: ChargedProblem) -> None:
    """Search with the multi-fidelity facade by ask and tell. Its budget is the number of steps, rounded.

    A failed training is reported as crashed, with the worst cost so far, because the infinite default cost breaks the forest.
    The search returns if SMAC finds no new config, which happens in small spaces before all are tried. Results are the same in
    another process only with the same PYTHONHASHSEED, because the local search of SMAC iterates over a set.
    """
    flat, costs = flat_space(charged), Costs()
    logging.getLogger("smac").setLevel(logging.CRITICAL)
    # One thread, like all methods: the forest would use every core.
    with tempfile.TemporaryDirectory() as folder, joblib.parallel_config(backend="sequential"):
        scenario = Scenario(
            configuration_space(flat, charged.seed),
            output_directory=Path(folder),
            deterministic=True,
            min_budget=1,
            max_budget=charged.problem.max_steps,
            n_trials=charged.budget,  # never reached: the charged problem ends the search
            seed=charged.seed,
        )
        facade = MultiFidelityFacade(
            scenario,
            initial_design=MultiFidelityFacade.get_initial_design(scenario, n_configs=_AT_RANDOM),
            intensifier=MultiFidelityFacade.get_intensifier(scenario, eta=ETA),
            logging_level=False,
            overwrite=True,
        )
        while True:
            try:
                info = facade.ask()
            except (StopIteration, ConfigurationSpaceExhaustedException):
                return
            reward = charged.train(flat.config(info.config), max(1, round(info.budget or 1)))
            status = StatusType.CRASHED if reward is None else StatusType.SUCCESS
            facade.tell(info, TrialValue(cost=costs.of(reward), status=status), save=False)
