"""The folder that keeps what runs gave.

It has one line for each run in runs.csv, its accuracy over time in curves/, and in scale.json how large all of them are.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scale import Scale

COLUMNS = ("dataset", "method", "seed", "test", "valid", "models", "steps", "failed", "seconds")

Curve = list[tuple[int, float]]  # steps spent, accuracy


@dataclass(frozen=True)
class Found:
    """What a run gave: the curve is the best accuracy so far of the networks recommended, on the images to validate on."""

    seed: int
    test: float
    models: int
    failed: int
    seconds: float
    curve: Curve


class Results:
    """Reads and writes the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / "runs.csv"

    def begin(self, scale: Scale) -> None:
        """Note the scale of a new folder; refuse another one than it has."""
        (self.folder / "curves").mkdir(parents=True, exist_ok=True)
        file = self.folder / "scale.json"
        if not file.exists():
            file.write_text(json.dumps(asdict(scale)))
        elif self.scale() != scale:
            raise SystemExit(f"the results in {self.folder} are of another scale ({self.scale()}): choose another --results")

    def scale(self) -> Scale:
        """Of all runs."""
        file = self.folder / "scale.json"
        if not file.exists():
            raise SystemExit(f"there are no results in {self.folder}: run the runs first")
        return Scale(**json.loads(file.read_text()))

    def add(self, line: Mapping[str, Any], curve: Curve) -> None:
        """Keep what a run gave: first its curve, so that a line always has one."""
        self._curve_file(line).write_text("".join(f"{spent},{accuracy}\n" for spent, accuracy in curve))
        is_new = not self._file.exists()
        with self._file.open("a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            if is_new:
                writer.writeheader()
            writer.writerow(line)

    def lines(self) -> list[dict[str, str]]:
        """Every run."""
        if not self._file.exists():
            return []
        with self._file.open(newline="") as file:
            return list(csv.DictReader(file))

    def done(self) -> set[tuple[str, str, str]]:
        """The keys of the runs there are."""
        return {(line["dataset"], line["method"], line["seed"]) for line in self.lines()}

    def found(self) -> dict[tuple[str, str], list[Found]]:
        """What came of the runs, by set and method, ordered by seed."""
        found: dict[tuple[str, str], list[Found]] = {}
        for line in sorted(self.lines(), key=lambda line: int(line["seed"])):
            points = [row.split(",") for row in self._curve_file(line).read_text().split()]
            curve = best_so_far((int(spent), float(accuracy)) for spent, accuracy in points)
            values = int(line["seed"]), float(line["test"]), int(line["models"]), int(line["failed"]), float(line["seconds"])
            found.setdefault((line["dataset"], line["method"]), []).append(Found(*values, curve))
        return found

    def _curve_file(self, line: Mapping[str, Any]) -> Path:
        name = "-".join(str(line[key]) for key in ("dataset", "method", "seed"))
        return self.folder / "curves" / f"{name.replace(', ', '_').replace(' ', '_')}.csv"


def best_so_far(curve: Iterable[tuple[int, float]]) -> Curve:
    """The points at which the accuracy was higher than at all before."""
    points: Curve = []
    for spent, accuracy in curve:
        if not points or accuracy > points[-1][1]:
            points.append((spent, accuracy))
    return points
