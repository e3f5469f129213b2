"""Comparison with dragon-autodl 1.1, the package of the authors of the Mutant-UCB paper: accuracy, time, a NaN, and kill -9.

Both run Mutant-UCB with the same T, K, N and E on the same images of MNIST. A sub-train is the same function, with the same
learning rate, batches and optimizer. Each package uses its own networks, with the same kinds of layers in the same ranges and
without size limits. dragon needs NumPy below 2, so it gets its own virtual environment, which is created at the first run (a
minute or two, from the package index). Then, with a smaller T, the sixth sub-train returns NaN, and both searches are killed
half-way and run again. Needs the data directory (MANYARMS_DATA, or the user's data directory) and torch.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from scale import Scale
from summaries import markdown, percent, spread

import manyarms
from manyarms.bench.problems.data import data_directory

HERE = Path(__file__).parent
PACKAGES = ("dragon-autodl==1.1", "numpy<2", "torch==2.13.0")
OURS = ("cloudpickle", "rich", "scipy", "SQLAlchemy")  # what the library needs, for the sub-train and the images
SIDES = {"theirs": "dragon-autodl 1.1", "ours": "manyarms"}
NAN = 5  # the number of the sub-train that gives it, from 0
PATIENCE = 900  # seconds


def prepare(environment: Path) -> None:
    """Create the environment of dragon, if it does not exist."""
    ready = environment / "ready"
    if ready.exists():
        return
    print(f"Making a virtual environment for dragon in {environment} ...", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
    install = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, *PACKAGES, *OURS], check=True, stderr=subprocess.DEVNULL)
    ready.touch()


class Search:
    """One search of one side, in its own folder and process.

    Args:
        side: "theirs" or "ours".
        folder: Folder of the search, which is emptied.
        environment: Virtual environment of dragon.
        scale: Scale of the search.
        seed: Random seed of the search.
    """

    def __init__(self, side: str, folder: Path, environment: Path, scale: Scale, seed: int = 0) -> None:
        self.side, self.folder = side, folder
        python = environment / "bin" / "python" if side == "theirs" else Path(sys.executable)
        numbers = [text for name, value in asdict(scale).items() for text in (f"--{name}", str(value))]
        self._command = [python, HERE / "sides" / f"{side}.py", "--folder", folder, "--seed", str(seed), *numbers]
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """Start the process. Its output goes to output.txt."""
        library = str(Path(manyarms.__file__).parents[1])
        variables = {"PYTHONPATH": library, "OMP_NUM_THREADS": "1", "MANYARMS_DATA": str(data_directory().resolve())}
        with (self.folder / "output.txt").open("ab") as output:
            streams = {"stdout": output, "stderr": subprocess.STDOUT}
            command = [*map(str, self._command), *options]
            return subprocess.Popen(command, cwd=self.folder, env={**os.environ, **variables}, **streams)

    def run(self, *options: str) -> dict[str, Any] | str:
        """The result of the search, or the last line of its output if it failed."""
        (self.folder / "result.json").unlink(missing_ok=True)
        process = self.start(*options)
        try:
            failed = process.wait(PATIENCE) != 0
        finally:
            process.kill()  # in case it never ends
        if failed:
            return (self.folder / "output.txt").read_text(errors="replace").strip().splitlines()[-1]
        result: dict[str, Any] = json.loads((self.folder / "result.json").read_text())
        return result

    def log(self) -> list[dict[str, Any]]:
        """The sub-trains so far, of all processes."""
        file = self.folder / "log.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def run_until(self, subtrains: int) -> int:
        """Kill the search after this many sub-trains, and return how many there were."""
        process = self.start()
        deadline = time.monotonic() + PATIENCE
        while len(self.log()) < subtrains and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        return len(self.log())


def finished(result: dict[str, Any] | str, search: Search) -> dict[str, Any]:
    """The result of a search that must not fail."""
    if isinstance(result, str):
        raise SystemExit(f"{SIDES[search.side]} failed: {result} (see {search.folder / 'output.txt'})")
    return result


def after_nan(search: Search) -> tuple[int, int, float]:
    """With a NaN: how many of the later sub-trains went to its model and the mutants of that, of how many, and the accuracy."""
    result = finished(search.run("--nan", str(NAN)), search)
    log = search.log()
    assert math.isnan(log[NAN]["accuracy"]), log[NAN]
    parents = {int(child): parent for child, parent in result["parents"].items()}
    family = [descends(line["model"], log[NAN]["model"], parents) for line in log[NAN + 1 :]]
    return sum(family), len(family), result["test"]


def descends(model: int, ancestor: int, parents: dict[int, int]) -> bool:
    """Whether a model is another one, or a mutant of its mutants.

    >>> descends(3, 1, {2: 1, 3: 2}), descends(4, 1, {2: 1, 4: 0})
    (True, False)
    """
    seen = set()
    while model != ancestor and model in parents and model not in seen:
        seen.add(model)
        model = parents[model]
    return model == ancestor


def after_kill(search: Search, budget: int) -> dict[str, str]:
    """Kill it half-way, run it again in its own way of going on, and, where that fails, from the start."""
    killed = search.run_until(budget // 2)
    told = {"killed after": f"{killed} sub-trains"}
    again = search.run("--again")
    if isinstance(again, dict):
        told["run again"] = f"resumes: {len(search.log())} of {budget} sub-trains in total"
        told["validation accuracy then"] = f"{again['valid']:.3f}"
        return told
    told["run again"] = f"`{again}`"
    anew = finished(search.run(), search)
    told["run from the start"] = f"{anew['subtrains']} sub-trains again, {killed} lost"
    return told


def main() -> None:
    """Compare, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, metavar="n", help="searches of each side (default 3)")
    parser.add_argument(
        "--trouble", type=int, default=60, metavar="n", help="T of the searches with a NaN or a kill (default 60)"
    )
    parser.add_argument("--folder", type=Path, default=Path("build/dragon"), help="for the searches (default build/dragon)")
    parser.add_argument(
        "--environment", type=Path, default=Path("build/dragon-venv"), help="of dragon (default build/dragon-venv)"
    )
    Scale.add_options(parser, train=500, valid=1000, epochs=1, budget=100, steps=5)
    arguments = parser.parse_args()
    scale, small = Scale.of(arguments), replace(Scale.of(arguments), budget=arguments.trouble)
    environment, folder = arguments.environment.resolve(), arguments.folder.resolve()
    prepare(environment)
    began = time.perf_counter()

    def make(side: str, name: str, scale: Scale, seed: int = 0) -> Search:
        return Search(side, folder / f"{side}-{name}", environment, scale, seed)

    def compare(side: str) -> list[dict[str, Any]]:
        searches = [make(side, f"seed-{seed}", scale, seed) for seed in range(arguments.seeds)]
        return [finished(search.run(), search) for search in searches]

    with ThreadPoolExecutor(2) as pool:  # one process a side
        compared = dict(zip(SIDES, pool.map(compare, SIDES), strict=True))
        nans = dict(zip(SIDES, pool.map(lambda side: after_nan(make(side, "nan", small)), SIDES), strict=True))
        kills = dict(zip(SIDES, pool.map(lambda side: after_kill(make(side, "kill", small), small.budget), SIDES), strict=True))
    reference = make("ours", "reference", small)
    whole = finished(reference.run(), reference)
    kills["ours"]["without the kill"] = f"{whole['valid']:.3f}"
    words = f"{scale.images}; graphs of at most {scale.nodes} and {max(1, scale.nodes // 2)} nodes"
    words += f"; a step is {scale.cycle}, N = {scale.steps}, T = {scale.budget:,}; {arguments.seeds} seeds"
    print(f"Scale: {words}. {time.perf_counter() - began:.0f} seconds.\n")
    print(markdown(("", *SIDES.values()), rows(compared, nans, kills, small.budget)))


def rows(compared: dict[str, list[dict[str, Any]]], nans: Any, kills: dict[str, dict[str, str]], small: int) -> list[list[str]]:
    """The table, a column a side."""

    def row(title: str, cell: Any) -> list[str]:
        return [title, *(cell(side) for side in SIDES)]

    def figures(name: str, side: str) -> list[float]:
        return [result[name] for result in compared[side]]

    def spent(side: str) -> list[float]:
        return [1000 * (result["seconds"] - result["training"]) / result["subtrains"] for result in compared[side]]

    lines = [
        row("test accuracy in %", lambda side: percent(figures("test", side))),
        row("validation accuracy in %", lambda side: percent(figures("valid", side))),
        row("sub-trains", lambda side: spread(figures("subtrains", side), 0)),
        row("models kept", lambda side: spread(figures("models", side), 0)),
        row("seconds per search, one core", lambda side: spread(figures("seconds", side), 1)),
        row("overhead, milliseconds per sub-train", lambda side: spread(spent(side), 1)),
        row(
            f"T = {small}, a NaN: later sub-trains on its model or mutants", lambda side: f"{nans[side][0]} of {nans[side][1]}"
        ),
        row("test accuracy in % then", lambda side: f"{100 * nans[side][2]:.2f}"),
    ]
    titles = dict.fromkeys(title for told in kills.values() for title in told)
    return lines + [row(f"kill -9: {title}", lambda side, title=title: kills[side].get(title, "–")) for title in titles]


if __name__ == "__main__":
    main()
