"""Run each of these scripts and its Optuna counterpart, and print what they found, what it cost, and their lengths.

    python examples/optuna/compare.py --seeds 5

The scripts run as they are, one after the other, each in a directory of its own; only the seed in them is replaced. Numbers are
medians over the seeds. Seconds are CPU time of the whole script, imports included (not counted on Windows).
"""

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

PLACE = Path(__file__).parent
PAIRS = ("first_steps", "pruning", "conditional", "callbacks", "resuming")
COLUMNS = ("script", "lines", "best", "steps", "seconds")


@dataclass(frozen=True)
class Run:
    """What one script found with one seed."""

    best: float
    steps: int
    seconds: float


def script(name, library):
    """The file of a script: "pruning" is ours, "pruning_optuna" is Optuna's."""
    return PLACE / (f"{name}_optuna.py" if library == "optuna" else f"{name}.py")


def count_lines(source):
    """Lines that are neither blank nor comments."""
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in source.splitlines())


def with_seed(source, seed):
    """The source with a different seed. Each script has exactly one seed."""
    changed, times = re.subn(r"\bseed=0\b", f"seed={seed}", source)
    if times != 1:
        raise ValueError(f"a script must have one seed=0, this one has {times}:\n{source}")
    return changed


def result(printed):
    """The best value and the training steps that a script printed last."""
    best, steps = re.findall(r"^best (\S+) after (\d+) steps$", printed, re.MULTILINE)[-1]
    return float(best), int(steps)


def run(file, seed):
    with tempfile.TemporaryDirectory(prefix="compare-") as directory:
        Path(directory, file.name).write_text(with_seed(file.read_text(encoding="utf-8"), seed), encoding="utf-8")
        before = os.times()
        done = subprocess.run([sys.executable, file.name], cwd=directory, capture_output=True, text=True, check=False)
        after = os.times()
    if done.returncode != 0:
        raise SystemExit(f"{file.name} failed:\n{done.stderr}")
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return Run(*result(done.stdout), seconds)


def row(name, seeds):
    """The cells of one pair: ours after Optuna's in each column."""
    files = [script(name, library) for library in ("optuna", "manyarms")]
    runs = [[run(file, seed) for seed in range(seeds)] for file in files]
    lines = [count_lines(file.read_text(encoding="utf-8")) for file in files]
    cells = [name, "{} | {}".format(*lines)]
    for column, shape in (("best", "{:.4g} | {:.4g}"), ("steps", "{:.0f} | {:.0f}"), ("seconds", "{:.1f} | {:.1f}")):
        cells.append(shape.format(*(median(getattr(one, column) for one in several) for several in runs)))
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1, help="number of runs of each script, with the seeds 0, 1, 2, ...")
    arguments = parser.parse_args()
    if arguments.seeds < 1:
        parser.error(f"argument --seeds: must be at least 1, got {arguments.seeds}")
    if importlib.util.find_spec("optuna") is None:
        print('Nothing to compare: Optuna is not installed. To install it: pip install "optuna>=4"')
        return
    both = [f"{column} Optuna | {column} manyarms" for column in COLUMNS[1:]]
    print(f"| {COLUMNS[0]} | {' | '.join(both)} |")
    print("|---" * (1 + 2 * len(both)) + "|")
    for name in PAIRS:
        print(f"| {' | '.join(row(name, arguments.seeds))} |", flush=True)


if __name__ == "__main__":
    main()
