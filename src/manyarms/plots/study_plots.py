"""The plots of a study: `study.plot`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import checks
from ..strategies.protocol import Strategy
from . import charts
from .chart import Chart
from .history import History
from .matplotlib_figure import matplotlib_figure
from .plotly_figure import plotly_figure

_BACKENDS: dict[str, Callable[[Chart], Any]] = {"plotly": plotly_figure, "matplotlib": matplotlib_figure}


class StudyPlots:
    """Plots of a study. Each method returns a plotly figure, or a matplotlib figure with `backend="matplotlib"`.

    Args:
        history: Returns the history of the study as it is now.
        strategy: Returns its strategy as it is now; None if it cannot be restored.
        header: The header of the study.

    >>> import manyarms as ma
    >>> study = ma.tune(lambda pull: pull["x"], ma.Space(x=ma.Float(0, 1)), budget=20, seed=0, progress=False)
    >>> figure = study.plot.history()
    >>> figure.layout.yaxis.title.text
    'reward'
    """

    def __init__(
        self, history: Callable[[], History], strategy: Callable[[], Strategy | None], header: Mapping[str, Any]
    ) -> None:
        self._history, self._strategy, self._header = history, strategy, header

    def __repr__(self) -> str:
        return f"StudyPlots with the methods {', '.join([*charts.CHARTS, 'latest_pulls', *charts.STRATEGY_CHARTS])}"

    def history(self, x: str = "steps", *, backend: str = "plotly") -> Any:
        """Every reward, and the best one so far.

        Args:
            x: What the horizontal axis shows: "steps" spent, "seconds" of training, or "time", when each pull ended.
            backend: "plotly" or "matplotlib".
        """
        return self._drawn(charts.best_reward, backend, x=x)

    def curves(self, max_arms: int = 2000, *, backend: str = "plotly") -> Any:
        """The reward of each arm over its steps, with the best arm highlighted.

        Args:
            max_arms: Maximum number of curves. The best ones are always shown, and the others are chosen evenly by rank.
            backend: "plotly" or "matplotlib".
        """
        return self._drawn(charts.curves, backend, most=checks.whole("max_arms", max_arms, 1))

    def parallel_coordinates(self, parameters: Sequence[str] | None = None, *, backend: str = "plotly") -> Any:
        """Each arm as a line through its parameters and its best reward.

        Args:
            parameters: The names of the parameters, from left to right; all of them by default.
            backend: "plotly" or "matplotlib".
        """
        return self._drawn(charts.parallel_coordinates, backend, parameters=parameters)

    def slices(self, parameters: Sequence[str] | None = None, *, backend: str = "plotly") -> Any:
        """The best reward of each arm over each of its parameters.

        Args:
            parameters: The names of the parameters; by default, all of them up to 12.
            backend: "plotly" or "matplotlib".
        """
        return self._drawn(charts.slices, backend, parameters=parameters)

    def contour(self, x: str | None = None, y: str | None = None, *, backend: str = "plotly") -> Any:
        """The predicted reward over two parameters, and the arms that were tried. It needs scikit-learn.

        Args:
            x, y: Names of the parameters; by default, the two that matter most.
            backend: "plotly" or "matplotlib".
        """
        return self._drawn(charts.contour, backend, x=x, y=y)

    def importance(self, *, backend: str = "plotly") -> Any:
        """How much each parameter matters for the reward. It needs scikit-learn.

        Args:
            backend: "plotly" or "matplotlib".
        """
        return self._drawn(charts.importance, backend)

    def family(self, max_arms: int = 1000, *, backend: str = "plotly") -> Any:
        """Which arm was mutated from which.

        Args:
            max_arms: Maximum number of arms. If there are more, the best ones are shown with all their ancestors.
            backend: "plotly" or "matplotlib".
        """
        return self._drawn(charts.family, backend, most=checks.whole("max_arms", max_arms, 1))

    def timeline(self, max_pulls: int = 3000, *, backend: str = "plotly") -> Any:
        """What each worker did, and when.

        Args:
            max_pulls: Maximum number of pulls. If there are more, the newest ones are shown.
            backend: "plotly" or "matplotlib".
        """
        return self._drawn(charts.timeline, backend, most=checks.whole("max_pulls", max_pulls, 1))

    def rungs(self, *, backend: str = "plotly") -> Any:
        """How many pulls ended at each step, and how many steps they took.

        Args:
            backend: "plotly" or "matplotlib".
        """
        return self._drawn(charts.rungs, backend)

    def decisions(self, *, backend: str = "plotly") -> Any:
        """The share of the pulls that continued an arm, started a mutant, or started a new arm.

        Args:
            backend: "plotly" or "matplotlib".
        """
        return self._drawn(charts.decisions, backend)

    def scores(self, *, backend: str = "plotly") -> Any:
        """How the strategy scores its arms: the value of each arm, and the bonus for exploration.

        Args:
            backend: "plotly" or "matplotlib".
        """
        return self._thought("scores", backend)

    def predictions(self, *, backend: str = "plotly") -> Any:
        """The final reward that the surrogate of `AdaptiveMutantUCB` predicts for arms, and what was measured.

        Args:
            backend: "plotly" or "matplotlib".
        """
        return self._thought("predictions", backend)

    def posteriors(self, *, backend: str = "plotly") -> Any:
        """What `DTTTS` believes about the leading arms: the distribution of the value of each, given its rewards.

        Args:
            backend: "plotly" or "matplotlib".
        """
        return self._thought("posteriors", backend)

    def boxes(self, *, backend: str = "plotly") -> Any:
        """How `TreeUCB`, `PartitionUCB` or a contextual variant has split the space.

        Args:
            backend: "plotly" or "matplotlib".
        """
        return self._thought("boxes", backend)

    def latest_pulls(self, *, backend: str = "plotly") -> Any:
        """Which rule chose the latest pulls: continue an arm, start a mutant or a new arm, or train an arm to completion.

        Args:
            backend: "plotly" or "matplotlib".
        """
        checks.one_of("backend", backend, _BACKENDS)
        to_completion = getattr(self._strategy(), "trained_to_completion", ())
        return self._drawn(charts.latest_pulls, backend, to_completion=to_completion)

    def algorithms(self, *, backend: str = "plotly") -> Any:
        """The share of the pulls of each child of a `Cascade`, or of each part of a `Joint` space, over the steps.

        Args:
            backend: "plotly" or "matplotlib".
        """
        return self._drawn(charts.algorithms, backend)

    def failures(self, *, backend: str = "plotly") -> Any:
        """How many pulls failed for each reason.

        Args:
            backend: "plotly" or "matplotlib".
        """
        return self._drawn(charts.failures, backend)

    def _drawn(self, describe: Callable[..., Chart], backend: str, **options: Any) -> Any:
        checks.one_of("backend", backend, _BACKENDS)  # before the history is read, which may take a while
        return _BACKENDS[backend](describe(self._history(), **options))

    def _thought(self, name: str, backend: str) -> Any:
        checks.one_of("backend", backend, _BACKENDS)  # before the journal is replayed
        return _BACKENDS[backend](strategy_chart(name, self._strategy(), self._header))


def strategy_chart(name: str, strategy: Strategy | None, header: Mapping[str, Any]) -> Chart:
    """A chart of what a strategy knows.

    Args:
        name: A name in `STRATEGY_CHARTS`.
        strategy: The strategy; None if it cannot be restored.
        header: The header of the study.
    """
    known = getattr(strategy, name, None)
    return charts.STRATEGY_CHARTS[name](None if known is None else known(), header)
