"""What the experiments share: the command line, runs in two processes, means and standard errors, tables and plots."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: each process is one job

from rich.console import Console
from rich.table import Table

from manyarms.bench.runs.pool import map_runs
from manyarms.bench.runs.statistics import mean_and_error as mean_and_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Job = TypeVar("Job")
Result = TypeVar("Result")

PLOTS = Path(__file__).parent / "plots"
COLORS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#7f7f7f",
    "#e69f00",
    "#000000",
)  # color-blind safe
MARKERS = "osD^vPX*"
_PROCESSES = 2
_WIDTH = 130  # columns if the output is not a terminal


def options(description: str | None) -> argparse.ArgumentParser:
    """The command line of an experiment, described by its module docstring. `--seeds` is None by default."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer seeds and smaller budgets, for a first look; no plot")
    parser.add_argument("--seeds", type=int, metavar="n", help="number of seeds")
    return parser


def parallel(function: Callable[[Job], Result], jobs: Iterable[Job]) -> list[Result]:
    """The result of `function` for each job, in order. Both must be picklable."""
    jobs, start = list(jobs), time.perf_counter()
    results = map_runs(function, jobs, _PROCESSES)
    print(f"{len(jobs)} runs in {time.perf_counter() - start:.0f} seconds", file=sys.stderr)
    return results


def plus_minus(values: Sequence[float], digits: int = 3) -> str:
    """Mean ± standard error, as a cell of a table."""
    mean, error = mean_and_error(values)
    return f"{mean:,.{digits}f} ± {error:.{digits}f}"


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> None:
    """Print a table. The first column is left-aligned, the others are right-aligned."""
    table = Table(title=title, title_justify="left", caption=note or None, caption_justify="left")
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number else "left")
    for row in rows:
        table.add_row(*map(str, row))
    Console(width=None if sys.stdout.isatty() else _WIDTH).print(table)


def panels(
    n_panels: int = 1, width: float = 4.2, height: float = 3.4, ratios: Sequence[float] | None = None, rows: int = 1
) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side, in rows. `width` is their mean width, `ratios` are their relative widths."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        raise SystemExit("The plots of the experiments need matplotlib: pip install matplotlib") from None
    matplotlib.use("Agg")  # draws to a file, also without a screen
    from matplotlib import pyplot

    pyplot.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    pyplot.rcParams.update({"axes.grid": True, "grid.alpha": 0.25, "legend.frameon": False, "lines.markersize": 4})
    shape = rows, n_panels // rows
    size = (width * shape[1], height * rows)
    figure, axes = pyplot.subplots(*shape, figsize=size, squeeze=False, layout="constrained", width_ratios=ratios)
    return figure, list(axes.flat)


def save(figure: Figure, name: str, folder: Path = PLOTS) -> None:
    """Save the figure as NAME.png in the folder, with few colors, which takes a quarter of the space."""
    from PIL import Image  # comes with matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    figure.savefig(path, dpi=100)
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(96, Image.Quantize.MAXCOVERAGE, kmeans=2)  # which keeps small marks
    small.save(path, optimize=True)
    print(f"plot: {path}", file=sys.stderr)
