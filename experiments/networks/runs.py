"""The runs of the network experiments: one search for networks, on one dataset of images and with one seed.

An interrupted experiment is resumed with the runs that are missing.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from results import LAYOUT, Curve, to_json
from scale import Scale, load_images, make_classifier

import manyarms as ma
from manyarms.bench.runs.execute import execute
from manyarms.bench.runs.pool import Pool
from manyarms.bench.runs.results import Key, Results, Row


@dataclass(frozen=True)
class Method:
    """A strategy with settings.

    Attributes:
        name: Name in tables and plots.
        kind: Name of the strategy class in manyarms.
        settings: Arguments of the strategy.
        warm: Whether mutants inherit weights.
    """

    name: str
    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    warm: bool = True

    def strategy(self, space: Any, scale: Scale, seed: int) -> Any:
        """A new strategy for a run of this scale."""
        usual = {"budget": scale.budget, "max_steps": scale.steps, "seed": seed}
        return getattr(ma, self.kind)(space, **{**usual, **self.settings})


@dataclass(frozen=True)
class Run:
    """One search."""

    dataset: str
    method: Method
    seed: int

    @property
    def key(self) -> Key:
        """What identifies its row in the result file."""
        return (self.dataset, self.method.name, self.seed)

    def __str__(self) -> str:
        return f"{self.method.name} on {self.dataset}, seed {self.seed}"


def execute_run(run: Run, scale: Scale) -> list[Row]:
    """Search, and return the row of the run, with the accuracy of the network that was recommended after each pull."""
    classifier, images = make_classifier(run.dataset, scale, run.method.warm), load_images(run.dataset, scale)
    curve: Curve = []

    def note(study: ma.Study, outcome: Any) -> None:
        if study.counts.pulls:
            curve.append((study.counts.steps, study.best_reward))

    began = time.process_time()
    study = ma.Study(run.method.strategy(classifier.space, scale, run.seed), bounds=(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ma.ManyarmsWarning)  # that there are many mutants, which the number of models shows
        study.optimize(classifier, progress=False, callbacks=[note])
    seconds = time.process_time() - began
    assert study.counts.steps <= scale.budget, f"{run}: {study.counts.steps} steps"
    row = {
        **dict(zip(LAYOUT.key, run.key, strict=True)),
        "scale": to_json(scale),
        "test": classifier.accuracy(study.best_model(), images.x_test, images.y_test),
        "valid": study.best_reward,
        "models": len(study.counts.arms),
        "steps": study.counts.steps,
        "failed": study.counts.failures,
        "seconds": round(seconds, 1),
        "curve_steps": [steps for steps, _ in curve],
        "curve_accuracy": [accuracy for _, accuracy in curve],
    }
    study.close()
    return [row]


def execute_runs(runs: Sequence[Run], scale: Scale, path: Path, workers: int) -> None:
    """Execute the runs that are missing in the result file, in their order."""
    try:
        with Results(path, LAYOUT, {"scale": to_json(scale)}) as results:
            stored = results.keys()
            missing = [run for run in runs if run.key not in stored]
            print(f"Scale: {scale}.\n{len(runs)} runs, {len(runs) - len(missing)} of them stored.", flush=True)
            _execute_missing(missing, scale, results, workers)
    except (ma.ManyarmsError, ValueError) as error:
        raise SystemExit(str(error)) from None


def _execute_missing(missing: Sequence[Run], scale: Scale, results: Results, workers: int) -> None:
    began = time.perf_counter()
    pool = Pool(partial(execute_run, scale=scale), workers)
    for number, finished in enumerate(execute(missing, results, pool), 1):
        shown = f"failed: {finished.reason}"
        if finished.value is not None:
            (row,) = finished.value
            shown = f"test {row['test']:.2%}, {row['models']} models, {row['seconds']} s"
        print(f"{number}/{len(missing)}, {time.perf_counter() - began:.0f} s: {finished.run}: {shown}", flush=True)


def command_line(description: str | None, results: str, seeds: int) -> argparse.ArgumentParser:
    """The commands `run`, with the scale, and `table`, both with the result file."""
    default = Path("build") / f"{results}.parquet"
    usual = argparse.ArgumentParser(add_help=False)
    usual.add_argument("--results", type=Path, default=default, metavar="file", help="result file (default: %(default)s)")
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", parents=[usual], help="execute the runs that are missing in the result file")
    run.add_argument("--workers", type=int, default=2, metavar="n", help="number of runs at the same time (default: 2)")
    run.add_argument("--seeds", type=int, default=seeds, metavar="n", help=f"number of seeds of each method (default: {seeds})")
    Scale.add_options(run)
    commands.add_parser("table", parents=[usual], help="print the tables and draw the plot")
    parser.set_defaults(run=run)  # so that an experiment can add its own options
    return parser
