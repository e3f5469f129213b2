"""A family of models, and the size of the problem that it is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...spaces import Space

_ROUNDS = 150  # of boosting, for four classes or fewer
_FEWEST_ROUNDS = 50
_EPOCHS = 100  # of a network, for a thousand rows or fewer
_FEWEST_EPOCHS = 20
_TREES, _FEWEST_TREES = 100, 20  # of a forest; fewer if there are many classes
_MANY_CLASSES = 100
_LARGE = 4_000  # rows to train on
_FOREST_BYTES, _FOREST_BYTES_OF_MANY = (
    500_000_000,
    200_000_000,
)  # of a forest; with many classes, saving takes long
_NODE_BYTES = 64  # size of a node of a tree, without its number for each class


@dataclass(frozen=True, slots=True)
class Family:
    """Models of one kind, with a search space.

    Args:
        estimator: A pipeline of the steps "prepare" and "model".
        space: The space of the parameters of both steps.
        resource: What grows from slice to slice, as for `BanditSearchCV`; None if training cannot be sliced.
        max_steps: Number of slices of a full training.
    """

    estimator: Any
    space: Space
    resource: str | None = None
    max_steps: int = 1


@dataclass(frozen=True, slots=True)
class Task:
    """The size of a problem.

    Args:
        classes: Number of classes; 0 for regression.
        rows: Number of rows to train on.
        columns: Approximate number of columns after preparation; of a sparse table, the stored values per row.
        sparse_columns: Number of columns of a sparse table; 0 if the table is dense.
    """

    classes: int
    rows: int
    columns: int = 10
    sparse_columns: int = 0

    @property
    def classifies(self) -> bool:
        """Whether it is a classification."""
        return self.classes > 0

    @property
    def is_large(self) -> bool:
        """Whether there are enough rows for a single validation set."""
        return self.rows >= _LARGE

    @property
    def rounds(self) -> int:
        """Rounds of boosting. Each grows one tree per class."""
        return max(_FEWEST_ROUNDS, min(_ROUNDS, 4 * _ROUNDS // max(self.classes, 1)))

    @property
    def trees(self) -> int:
        """Trees of a forest. Every node of a tree stores a number for each class."""
        return max(_FEWEST_TREES, min(_TREES, _TREES * _MANY_CLASSES // max(self.classes, 1)))

    def leaves(self, trees: int) -> int | None:
        """The largest number of leaves per tree with which a forest fits into memory; None if there is no need for a limit."""
        most = _FOREST_BYTES_OF_MANY if self.classes > _MANY_CLASSES else _FOREST_BYTES
        nodes = most // (trees * (_NODE_BYTES + 8 * self.classes))
        return None if 2 * self.rows <= nodes else max(8, nodes // 2)

    @property
    def epochs(self) -> int:
        """Epochs of a network."""
        return max(_FEWEST_EPOCHS, min(_EPOCHS, _EPOCHS * 1_000 // max(self.rows, 1)))
