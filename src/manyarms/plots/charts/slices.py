"""The reward over each parameter."""

from __future__ import annotations

from collections.abc import Sequence

from ..chart import Axis, Chart, Panel, Points, empty_chart, thinned
from ..history import History
from ..parameters import Parameter, parameters_of

TITLE = "Reward by parameter"
MOST_POINTS = 1_000
MOST_PANELS = 12


def slices(history: History, parameters: Sequence[str] | None = None) -> Chart:
    """The best reward of each arm over each of its parameters. The color shows how long the arm was trained.

    Args:
        history: The study.
        parameters: The names of the parameters; by default, all of them up to 12.
    """
    ranking = history.ranking()
    positions = ranking[thinned(len(ranking), MOST_POINTS)]
    found = chosen(parameters_of(history, positions), parameters)
    if not found:
        return empty_chart(TITLE, "No parameter varies between arms yet.")
    reward, steps = history.best_rewards()[positions], history.steps_of_arms()[positions]
    texts = [f"arm {history.id_of(position)}: {value:.6g}" for position, value in zip(positions, reward, strict=True)]
    panels = tuple(
        Panel(p.axis, Axis("reward"), (Points(p.values, reward, values=steps, scale="steps", texts=texts),))
        for p in found[:MOST_PANELS]
    )
    left_out = [] if len(positions) == len(ranking) else [f"Shows {len(positions):,} of {len(ranking):,} arms."]
    left_out += [] if len(found) <= MOST_PANELS else [f"Shows {MOST_PANELS} of {len(found)} parameters."]
    return Chart(TITLE, panels, note=" ".join(left_out))


def chosen(found: Sequence[Parameter], names: Sequence[str] | None) -> list[Parameter]:
    """The parameters with these names, in this order; all of them if `names` is None."""
    if names is None:
        return list(found)
    if isinstance(names, str):
        raise TypeError(f"parameters must be a list of names, got {names!r}")
    by_name = {parameter.name: parameter for parameter in found}
    for name in names:
        if name not in by_name:
            raise ValueError(f"parameters must be names of parameters that vary, {sorted(by_name)}, got {name!r}")
    return [by_name[name] for name in names]
