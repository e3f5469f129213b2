"""Plots of a study: what happened, described as charts and drawn with plotly or matplotlib."""

from .chart import Chart
from .charts import CHARTS
from .history import History
from .matplotlib_figure import matplotlib_figure
from .plotly_figure import plotly_figure, plotly_json
from .study_plots import StudyPlots

__all__ = ["CHARTS", "Chart", "History", "StudyPlots", "matplotlib_figure", "plotly_figure", "plotly_json"]
