"""Real learning curves from published tables, with the same interface as the synthetic problems."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import checks
from ...spaces import Choice, Float, Int, Space
from ...spaces.batches import Batch, Known, Points
from .data import data_directory

Curves = NDArray[np.float64]


class TableSpace:
    """The rows of a table as a space. A mutant is a row with similar parameters, a crossover of two rows is a row between them.

    Args:
        space: Space of the columns, which encodes a row as a point in the unit cube.
        configs: The rows.

    Attributes:
        around: The space of the columns.
    """

    def __init__(self, space: Space, configs: list[dict[str, Any]]) -> None:
        self.around = space
        self.configs = configs
        self.points = np.array([space.encode(config) for config in configs])
        self.dimension = space.dimension
        self._rows = {self._key(config): row for row, config in enumerate(configs)}

    def row(self, config: Mapping[str, Any]) -> int:
        """The row number of a config."""
        return self._rows[self._key(config)]

    def sample(self, rng: np.random.Generator) -> dict[str, Any]:
        """A random row."""
        return dict(self.configs[int(rng.integers(len(self.configs)))])

    def mutate(self, config: Mapping[str, Any], rng: np.random.Generator, size: float = 0.1) -> dict[str, Any]:
        """The mutated config if it is a row, or else the nearest other row."""
        mutant = self.around.mutate(config, rng, size)
        return mutant if self.contains(mutant) else self._nearest(self.around.encode(mutant), but=self.row(config))

    def crossover(self, a: Mapping[str, Any], b: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        """The crossover of two configs if it is a row, or else the nearest row."""
        child = self.around.crossover(a, b, rng)
        return child if self.contains(child) else self._nearest(self.around.encode(child))

    def encode(self, config: Mapping[str, Any]) -> NDArray[np.float64]:
        """The point of the row in the unit cube."""
        return np.array(self.points[self.row(config)])

    def decode(self, vector: Any) -> dict[str, Any]:
        """The nearest row to a point."""
        return self._nearest(np.asarray(vector, dtype=float))

    def snap(self, config: Mapping[str, Any], taken: Iterable[int] = ()) -> int:
        """The row number of a config of the surrounding space: its own row, or else the nearest row that is not taken."""
        if self.contains(config):
            return self.row(config)
        distances = ((self.points - self.around.encode(config)) ** 2).sum(axis=1)
        free = np.ones(len(distances), dtype=bool)
        free[list(taken)] = False
        return int(np.where(free, distances, np.inf).argmin() if free.any() else distances.argmin())

    def batch_maker(self) -> _Rows:
        """Generates many rows at once."""
        return _Rows(self)

    def contains(self, config: Any) -> bool:
        """Whether a config is a row."""
        return (
            isinstance(config, Mapping) and config.keys() == self.around.parameters.keys() and self._key(config) in self._rows
        )

    def _key(self, config: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(config[name] for name in self.around.parameters)  # JSON may have changed their order

    def _nearest(self, point: NDArray[np.float64], but: int | None = None) -> dict[str, Any]:
        distances = ((self.points - point) ** 2).sum(axis=1)
        if but is not None and len(self.configs) > 1:
            distances[but] = np.inf
        return dict(self.configs[int(distances.argmin())])


class _Rows:
    """Generates many configs of the surrounding space at once and replaces each by the nearest row."""

    def __init__(self, space: TableSpace) -> None:
        self._space, self._around = space, space.around.batch_maker()
        self._squares = (space.points**2).sum(axis=1)
        options = [len(getattr(parameter, "options", ())) for parameter in space.around.parameters.values()]
        self._complete = math.prod(options) == len(space.configs)  # every config is a row

    def sample(self, count: int, rng: np.random.Generator) -> Batch:
        rows = rng.integers(len(self._space.configs), size=count)
        return self._space.points[rows], lambda i: dict(self._space.configs[rows[i]])

    def mutate(self, parent: Known, sizes: Points, rng: np.random.Generator) -> Batch:
        return self._nearest(self._around.mutate(parent, sizes, rng), but=self._space.row(parent[0]))

    def cross(self, parent: Known, others: Sequence[Known], rng: np.random.Generator) -> Batch:
        return self._nearest(self._around.cross(parent, others, rng))

    def _nearest(self, batch: Batch, but: int | None = None) -> Batch:
        if self._complete or not len(batch[0]):
            return batch
        distances = self._squares - 2.0 * batch[0] @ self._space.points.T
        if but is not None and len(self._space.configs) > 1:
            distances[:, but] = np.inf
        rows = distances.argmin(axis=1)
        return self._space.points[rows], lambda i: dict(self._space.configs[rows[i]])


class TableProblem:
    """Tabulated learning curves. Larger rewards are better.

    Args:
        name: Name in tables and plots.
        space: Space whose configs are the rows.
        curves: Rewards as `curves[row, step - 1]`, NaN if the training diverged.
    """

    def __init__(self, name: str, space: TableSpace, curves: Curves) -> None:
        self.name, self.space, self._curves = name, space, curves
        self.max_steps = curves.shape[1]
        final = curves[:, -1]
        self.best = float(np.nanmax(final))
        self._worst = float(np.nanmin(final))
        self.typical = float(np.median(np.where(np.isnan(final), self._worst, final)))

    def reward(self, config: Any, step: int, seed: int) -> float | None:
        """The entry of the table; None if the training diverged."""
        reward = float(self._curves[self.space.row(config), step - 1])
        return None if np.isnan(reward) else reward

    def value(self, config: Any) -> float:
        """The last entry of the row. If the training diverged, the worst last entry of all rows."""
        value = float(self._curves[self.space.row(config), -1])
        return self._worst if np.isnan(value) else value


def lcbench() -> Iterator[TableProblem]:
    """LCBench: 17 tasks, 500 configurations of an MLP, validation accuracy after 1 to 52 epochs."""
    table = np.load(data_directory() / "bench" / "lcbench_table.npz")
    space = Space(
        batch_size=Int(16, 512, log=True),
        learning_rate=Float(1e-4, 1e-1, log=True),
        momentum=Float(0.1, 0.99),
        weight_decay=Float(1e-5, 1e-1),
        num_layers=Int(1, 5),
        max_units=Int(64, 1024, log=True),
        max_dropout=Float(0, 1),
    )
    rows = TableSpace(space, _configs(space, table["hp_names"], table["hp"]))
    for number, task in enumerate(table["tasks"]):
        yield TableProblem(f"LCBench {task}", rows, table["val_accuracy_e3"][number] / 1e5)


def taskset() -> Iterator[TableProblem]:
    """TaskSet: 6 text networks, 1000 settings of Adam, validation loss at 51 points. The reward is the negative loss."""
    table = np.load(data_directory() / "bench" / "taskset.npz")
    space = Space(
        learning_rate=Float(1e-8, 1e1, log=True),
        beta1=Float(0, 1),
        beta2=Float(0, 1),
        epsilon=Float(1e-10, 1e3, log=True),
        l1=Float(1e-8, 1e1, log=True),
        l2=Float(1e-8, 1e1, log=True),
        linear_decay=Float(1e-7, 1e-4, log=True),
        exponential_decay=Float(1e-6, 1e-3, log=True),
    )
    for number, task in enumerate(table["tasks"]):
        rows = TableSpace(space, _configs(space, table["hp_names"], table["hp"][number]))
        name = str(task).removeprefix("FixedTextRNNClassification_imdb_")
        yield TableProblem(f"TaskSet {name}", rows, -table["valid"][number].astype(float))


def nasbench201(dataset: str = "cifar10", max_steps: int = 10) -> TableProblem:
    """NAS-Bench-201: all 15,625 cells, validation accuracy after 12 and after 200 epochs.

    A step is 200 / max_steps epochs. Between the two known points, the gap to the final accuracy closes at a constant rate.
    """
    checks.one_of("dataset", dataset, ("cifar10", "cifar100", "imagenet"))
    table = np.load(data_directory() / "bench" / "nasbench201.npz")
    operations = [str(name) for name in table["ops"]]
    space = Space(**{f"edge{i}": Choice(*operations) for i in range(6)})
    configs = [{f"edge{i}": operations[code] for i, code in enumerate(row)} for row in table["code"]]
    early = table[f"{dataset}_val_acc_e12"].astype(float) / 100
    # Some cells were trained with two seeds only.
    final = np.nanmean(table[f"{dataset}_val_acc"].astype(float), axis=1) / 100
    epochs = np.arange(1, max_steps + 1) * 200 / max_steps
    left = np.exp(-3.0 * epochs / 200) - np.exp(-3.0)  # share of the gap, scaled to be 1 at 12 epochs and 0 at 200
    left /= np.exp(-3.0 * 12 / 200) - np.exp(-3.0)
    curves = final[:, None] - (final - early)[:, None] * left
    return TableProblem(f"NAS-Bench-201 {dataset}", TableSpace(space, configs), curves)


def lcdb(dataset: int = 3) -> TableProblem:
    """LCDB: 20 scikit-learn learners on an OpenML dataset. A step trains on the next larger sample.

    The reward is the mean score over all splits.
    """
    table = _lcdb_table(data_directory() / "bench" / "lcdb.npz")
    known = np.unique(table["openmlid"])
    if dataset not in known:
        raise ValueError(
            f"dataset must be one of the {len(known)} OpenML ids in the table, such as {known[:5].tolist()}, got {dataset!r}"
        )
    here = table["openmlid"] == dataset
    learners, sizes, scores = (table[key][here] for key in ("learner", "size_train", "score_valid_e4"))
    steps = np.unique(sizes)
    sums = np.zeros((len(table["learners"]), len(steps)))
    counts = np.zeros_like(sums)
    place = np.searchsorted(steps, sizes)
    np.add.at(sums, (learners, place), scores / 1e4)
    np.add.at(counts, (learners, place), 1)
    with np.errstate(invalid="ignore"):
        curves = sums / counts  # NaN if a learner was not trained with this size
    names = [str(name).rpartition(".")[2] for name in table["learners"]]
    space = Space(learner=Choice(*names))
    return TableProblem(f"LCDB {dataset}", TableSpace(space, [{"learner": name} for name in names]), curves)


@lru_cache(maxsize=1)
def _lcdb_table(path: Path) -> dict[str, Any]:
    """All columns of the table, which all datasets share."""
    with np.load(path) as table:
        return {name: table[name] for name in table.files}


def _configs(space: Space, names: Any, rows: Any) -> list[dict[str, Any]]:
    """The rows of a table as configs. Values are integers if the space says so."""
    column = {str(name): number for number, name in enumerate(names)}
    whole = {name for name, parameter in space.parameters.items() if isinstance(parameter, Int)}
    return [
        {name: int(row[column[name]]) if name in whole else float(row[column[name]]) for name in space.parameters}
        for row in rows
    ]
