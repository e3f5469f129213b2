"""What both sides of experiments/networks/dragon.py share: their command line, images, the sub-train, and the log of it.

This runs in two environments: that of the project, and one with dragon-autodl and NumPy below 2.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))  # last, since it has a dragon.py that is not theirs

from scale import Scale, load_images

DATASET = "mnist"
RATE, BATCH, OPTIMISER, LOWEST = 0.01, 64, "sgd", 0.01  # the paper's learning rate; the same for every network of either side
EXPLORATION = 0.05
CHANNELS, KERNELS, POOLS, UNITS, DROPOUT = (4, 16), (1, 5), (2, 3), (8, 64), (0.1, 0.5)  # ranges of the layers of either side


def options() -> argparse.Namespace:
    """The command line of a side, and the scale."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True, help="folder of the search")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nan", type=int, help="number of the sub-train that returns NaN")
    parser.add_argument("--again", action="store_true", help="resume the search in the folder")
    Scale.add_options(parser)
    return parser.parse_args()


class Log:
    """A log with a line for each finished sub-train, which shows the progress of a killed process."""

    def __init__(self, folder: Path, nan: int | None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / "log.jsonl").open("a")
        self._nan, self.count = nan, 0
        self.training = 0.0  # seconds

    def note(self, model: int, accuracy: float, seconds: float) -> float:
        """Log a sub-train, and return the accuracy, or NaN if requested."""
        accuracy = math.nan if self.count == self._nan else accuracy
        self.count += 1
        self.training += seconds
        self._file.write(json.dumps({"model": int(model), "accuracy": accuracy}) + "\n")
        self._file.flush()
        return accuracy


def write_result(folder: Path, log: Log, began: float, **figures: Any) -> None:
    """Write the result of the search, with CPU seconds."""
    seconds = time.process_time() - began
    result = {"subtrains": log.count, "seconds": seconds, "training": log.training, **figures}
    (folder / "result.json").write_text(json.dumps(result))


def images(scale: Scale) -> Any:
    """The images of both sides."""
    return load_images(DATASET, scale)


def initial(scale: Scale) -> int:
    """The number of initial random networks, K."""
    return max(2, scale.budget // (2 * scale.steps))
