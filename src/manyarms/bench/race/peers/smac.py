"""SMAC3: Hyperband whose newcomers a random forest chooses."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

import joblib
from smac import MultiFidelityFacade, Scenario
from smac.main.exceptions import ConfigurationSpaceExhaustedException
from smac.runhistory import StatusType, TrialValue

from ..track import Track
from .common import ETA, Costs, flat_space
from .configspace import configuration_space

_AT_RANDOM = 5  # configs before the forest is asked, as in SMAC's own example of training by epochs


def search(track: Track) -> None:
    """The multi-fidelity facade, by ask and tell; a budget of SMAC is a number of steps, rounded.

    A failure is told as crashed, at the worst cost so far: the infinite cost that SMAC has by default breaks its forest.
    It returns where SMAC finds no new config, which in small spaces is before all were tried. In another process it repeats
    itself only under the same PYTHONHASHSEED: its local search runs through a set.
    """
    flat, costs = flat_space(track), Costs()
    logging.getLogger("smac").setLevel(logging.CRITICAL)
    # One thread, as all have: its forest would take every core.
    with tempfile.TemporaryDirectory() as folder, joblib.parallel_config(backend="sequential"):
        scenario = Scenario(
            configuration_space(flat, track.seed),
            output_directory=Path(folder),
            deterministic=True,
            min_budget=1,
            max_budget=track.problem.max_steps,
            n_trials=track.budget,  # more than there can be: the track ends the search
            seed=track.seed,
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
            reward = track.train(flat.config(info.config), max(1, round(info.budget)))
            status = StatusType.CRASHED if reward is None else StatusType.SUCCESS
            facade.tell(info, TrialValue(cost=costs.of(reward), status=status), save=False)
