"""Plots of a study: what happened, described as charts and drawn with plotly or matplotlib."""

from .chart import Chart
from .charts import CHARTS, STRATEGY_CHARTS
from .history import History
from .matplotlib_figure import matplotlib_figure
from .plotly_figure import plotly_figure, plotly_json
from .study_plots import StudyPlots, strategy_chart

__all__ = [
    "CHARTS",
    "STRATEGY_CHARTS",
    "Chart",
    "History",
    "StudyPlots",
    "matplotlib_figure",
    "plotly_figure",
    "plotly_json",
    "strategy_chart",
]
