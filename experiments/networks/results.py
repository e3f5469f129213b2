"""The result file of the network experiments: one row for each run, with its curve, and the scale, which all runs share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
from scale import Scale

from manyarms import ManyarmsError
from manyarms.bench.runs.results import Layout, read

Curve = list[tuple[int, float]]  # steps spent, accuracy

LAYOUT = Layout(
    pa.schema(
        [
            ("dataset", pa.string()),
            ("method", pa.string()),
            ("seed", pa.int64()),
            ("scale", pa.string()),  # as JSON
            ("test", pa.float64()),  # accuracy of the recommended network
            ("valid", pa.float64()),
            ("models", pa.int64()),
            ("steps", pa.int64()),
            ("failed", pa.int64()),
            ("seconds", pa.float64()),
            ("curve_steps", pa.list_(pa.int64())),
            ("curve_accuracy", pa.list_(pa.float64())),
        ]
    ),
    key=("dataset", "method", "seed"),
)


@dataclass(frozen=True)
class Found:
    """The result of a run. The curve is the best validation accuracy so far of the recommended networks."""

    seed: int
    test: float
    models: int
    failed: int
    seconds: float
    curve: Curve


def to_json(scale: Scale) -> str:
    """The scale as it is stored in every row."""
    return json.dumps(asdict(scale))


def load(path: Path) -> tuple[Scale, dict[tuple[str, str], list[Found]]]:
    """The scale of a result file, and its runs by dataset and method, in the order of their seeds."""
    try:
        rows = read(path, LAYOUT).sort_by("seed").to_pylist()
    except ManyarmsError as error:
        raise SystemExit(str(error)) from None
    if not rows:
        raise SystemExit(f"{path} holds no runs. Execute the runs first.")
    found: dict[tuple[str, str], list[Found]] = {}
    for row in rows:
        curve = best_so_far(zip(row["curve_steps"], row["curve_accuracy"], strict=True))
        values = (row[name] for name in ("seed", "test", "models", "failed", "seconds"))
        found.setdefault((row["dataset"], row["method"]), []).append(Found(*values, curve))
    return Scale(**json.loads(rows[0]["scale"])), found


def best_so_far(curve: Iterable[tuple[int, float]]) -> Curve:
    """The points at which the accuracy exceeded all earlier ones."""
    points: Curve = []
    for spent, accuracy in curve:
        if not points or accuracy > points[-1][1]:
            points.append((spent, accuracy))
    return points
