"""Measures whether `manyarms fit --time` keeps its limit for tables of all sizes, and how fast it reacts to Ctrl-C.

    python benchmarks/time_limits.py
    python benchmarks/time_limits.py --rows 200 500000 --seconds 5 60 --targets classes

The command may take its time plus 10% and 2 seconds, from start to exit. Run this benchmark on an idle machine.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

_SLACK, _MOMENT = 1.1, 2.0
TARGETS = {"yes or no": "flag", "number": "amount", "classes": "kind"}
"""Kinds of targets and their columns. `kind` has 1,279 classes."""


@dataclass(frozen=True)
class Run:
    """The result of one command."""

    seconds: float
    code: int
    last_line: str


def make_table(rows: int, seed: int = 0) -> pd.DataFrame:
    """A table with numbers, missing values, categories, dates, text, and three targets that depend on them."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(rows, 6))
    codes = rng.integers(0, 40, rows)
    table = pd.DataFrame({f"x{i}": column for i, column in enumerate(numbers.T)})
    table.loc[rng.random(rows) < 0.1, "x3"] = np.nan
    table["code"] = np.array([f"c{code}" for code in range(40)])[codes]
    table["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, rows), unit="D")
    words = np.array(["red", "green", "blue", "large", "small", "late", "early", "good", "bad", "new"])
    table["note"] = [" ".join(words[row]) for row in rng.integers(0, len(words), (rows, 5))]
    signal_ = numbers[:, 0] + 0.5 * numbers[:, 1] * numbers[:, 2] + 0.1 * codes
    table["flag"] = np.where(signal_ + rng.normal(size=rows) > 2, "yes", "no")
    table["amount"] = signal_ * 10 + rng.normal(size=rows)
    table["kind"] = np.array([f"k{kind}" for kind in range(1279)])[(np.abs(signal_) * 300).astype(int) % 1279]
    return table


def fit(table: Path, column: str, seconds: float, interrupt_after: float | None = None) -> Run:
    """Run the command. With an interrupt, the time is measured from the interrupt."""
    out = tempfile.mkdtemp(dir=table.parent)  # a new directory, because the command would resume a search in an existing one
    command = [sys.executable, "-m", "manyarms", "fit", str(table), "--target", column, "--time", f"{seconds}s", "--force"]
    command += ["--out", f"{out}/model"]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        if interrupt_after is not None:
            time.sleep(interrupt_after)
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
        output, _ = process.communicate()
    return Run(time.monotonic() - began, process.returncode, (output.strip().splitlines() or [""])[-1])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all combinations. Returns 1 if a limit was exceeded."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background commands that ignore Ctrl-C
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 5_000, 50_000, 500_000])
    parser.add_argument("--seconds", type=float, nargs="+", default=[5, 30])
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--interrupt", type=float, default=8.0, help="seconds after which Ctrl-C is sent (default: 8)")
    options = parser.parse_args(arguments)
    late = 0
    print(f"{'rows':>7}  {'target':<10} {'limit':>7}  {'took':>7}  {'allowed':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for rows in options.rows:
            whole, table = make_table(rows), Path(folder) / "table.csv"
            for target in options.targets:
                others = [name for name in TARGETS.values() if name != TARGETS[target]]
                whole.drop(columns=others).to_csv(table, index=False)
                for seconds in options.seconds:
                    late += _shown(rows, target, fit(table, TARGETS[target], seconds), seconds)
                run = fit(table, TARGETS[target], 600, options.interrupt)
                late += run.seconds > _MOMENT
                print(f"{rows:>7}  {target:<10} Ctrl-C   {run.seconds:>7.1f}  {_MOMENT:>7.1f}  exit {run.code}", flush=True)
    print(f"{late} commands exceeded their limit")
    return 1 if late else 0


def _shown(rows: int, target: str, run: Run, seconds: float) -> bool:
    allowed = _SLACK * seconds + _MOMENT
    note = "" if run.code == 0 else f"  exit {run.code}: {run.last_line}"
    mark = "  LATE" if run.seconds > allowed else ""
    print(f"{rows:>7}  {target:<10} {seconds:>5.0f} s  {run.seconds:>7.1f}  {allowed:>7.1f}{mark}{note}", flush=True)
    return run.seconds > allowed


if __name__ == "__main__":
    sys.exit(main())
