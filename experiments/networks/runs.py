"""Heats: one search for networks each, on one set of images and with one seed, in processes of their own.

A run that was stopped goes on with the runs that are missing.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from results import COLUMNS, Curve, Results
from scale import Scale, load_images, make_classifier

import manyarms as ma


@dataclass(frozen=True)
class Method:
    """A strategy under a name: its class in manyarms, its own settings, and whether mutants inherit weights."""

    name: str
    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    warm: bool = True

    def strategy(self, space: Any, scale: Scale, seed: int) -> Any:
        """A fresh one for a run of this scale."""
        usual = {"budget": scale.budget, "max_steps": scale.steps, "seed": seed}
        return getattr(ma, self.kind)(space, **{**usual, **self.settings})


@dataclass(frozen=True)
class Run:
    """One search."""

    dataset: str
    method: Method
    seed: int

    @property
    def key(self) -> tuple[str, str, str]:
        """As in the results."""
        return self.dataset, self.method.name, str(self.seed)


def execute_run(run: Run, scale: Scale) -> tuple[dict[str, Any], Curve]:
    """Search; gives a line of the results, and the accuracy of the network that was recommended after each pull."""
    classifier, images = make_classifier(run.dataset, scale, run.method.warm), load_images(run.dataset, scale)
    curve: Curve = []

    def note(study: ma.Study, outcome: Any) -> None:
        if study.counts.pulls:
            curve.append((study.counts.steps, study.best_reward))

    began = time.process_time()
    study = ma.Study(run.method.strategy(classifier.space, scale, run.seed), bounds=(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ma.ManyarmsWarning)  # that mutants crowd out training is told by the models tested
        study.optimize(classifier, progress=False, callbacks=[note])
    seconds = time.process_time() - began
    assert study.counts.steps <= scale.budget, f"{run}: {study.counts.steps} steps"
    test = classifier.accuracy(study.best_model(), images.x_test, images.y_test)
    counts = len(study.counts.arms), study.counts.steps, study.counts.failures
    line = dict(zip(COLUMNS, (*run.key, test, study.best_reward, *counts, round(seconds, 1)), strict=True))
    study.close()
    return line, curve


def run_all(runs: Sequence[Run], scale: Scale, results: Results, workers: int) -> None:
    """Run those that are missing, in the order they are given."""
    results.begin(scale)
    done = results.done()
    missing = [run for run in runs if run.key not in done]
    print(f"Scale: {scale}.\n{len(runs)} runs, {len(runs) - len(missing)} of them done before.", flush=True)
    began = time.perf_counter()
    with processes(workers) as pool:
        running = {pool.submit(execute_run, run, scale): run for run in missing}
        for number, future in enumerate(as_completed(running), 1):
            line, curve = future.result()
            results.add(line, curve)
            shown = f"{', '.join(running[future].key)}: test {line['test']:.2%}, {line['models']} models, {line['seconds']} s"
            print(f"{number}/{len(missing)}, {time.perf_counter() - began:.0f} s: {shown}", flush=True)


@contextlib.contextmanager
def processes(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Worker processes, which end with this one; what was not begun when it is stopped is dropped."""
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _end_with_parent) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def command_line(description: str | None, results: str, seeds: int) -> argparse.ArgumentParser:
    """Two commands: `run`, with the scale, and `table`; both with the folder of results."""
    folder = Path("build") / results
    usual = argparse.ArgumentParser(add_help=False)
    usual.add_argument("--results", type=Path, default=folder, metavar="folder", help=f"where they are (default {folder})")
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", parents=[usual], help="run the runs; run again, those that are missing")
    run.add_argument("--workers", type=int, default=2, metavar="n", help="runs at once (default 2)")
    run.add_argument("--seeds", type=int, default=seeds, metavar="n", help=f"runs of each kind (default {seeds})")
    Scale.add_options(run)
    commands.add_parser("table", parents=[usual], help="print the tables and draw the plot")
    parser.set_defaults(run=run)  # for options of one experiment alone
    return parser
