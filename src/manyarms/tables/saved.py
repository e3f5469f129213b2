"""A model of a table in a folder: the model itself, what it was trained on, and the versions it needs."""

from __future__ import annotations

import gzip
import json
import os
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ManyarmsError
from .columns import TEXT, conformed
from .metrics import score
from .names import Say, listed
from .reading.table import pandas, read_table, warn
from .task import with_target
from .versions import differences
from .writing import write_text, written_aside

if TYPE_CHECKING:
    import pandas as pd

MODEL, FACTS, REQUIREMENTS = "model.joblib", "model.json", "requirements.txt"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a saved model: the content of `model.json`.

    Args:
        task: "classification" or "regression".
        target: the name of the column it predicts.
        columns: the kinds of those it predicts from, by name and in order.
        dtypes: what pandas made of them.
        target_kind: of the target.
        classes: in the order of probabilities; None for a number.
        metric: what it was searched by.
        scores: by that metric, on rows held out in turn ("search") and on those it never saw ("held out").
        rows: it was trained on, and it was judged on.
        members: the parts of the model: family, weight and arm.
        versions: of the packages it needs.
        python: the version it was trained with.
        command: that made it.
        settings: of that command.
        checksum: of the model's file.
    """

    task: str
    target: str
    columns: Mapping[str, str]
    dtypes: Mapping[str, str]
    target_kind: str
    classes: list[Any] | None
    metric: str
    scores: Mapping[str, float | None]
    rows: Mapping[str, int]
    members: list[Mapping[str, Any]]
    versions: Mapping[str, str]
    python: str
    command: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    checksum: str = ""


class SavedModel:
    """A model and the facts on it. Made by `load_model`.

    Args:
        estimator: as scikit-learn has them, fitted.
        facts: on it.
    """

    def __init__(self, estimator: Any, facts: Facts) -> None:
        self.estimator, self.facts = estimator, facts

    def read(self, path: str | os.PathLike[str], **options: Any) -> pd.DataFrame:
        """A new table, its columns taken for what they were in training; options as for `read_table`."""
        text = [name for name, kind in self.facts.columns.items() if kind == TEXT]
        text += [self.facts.target] if self.facts.target_kind == TEXT else []
        return read_table(path, text=text, **options)

    def predict(self, table: pd.DataFrame | str | os.PathLike[str], say: Say = warn) -> pd.Series[Any]:
        """The predictions for a frame, or for the table in a file."""
        rows = self._rows(table, say)
        return pandas().Series(self.estimator.predict(rows), index=rows.index, name=self.facts.target)  # type: ignore[no-any-return]

    def predict_proba(self, table: pd.DataFrame | str | os.PathLike[str], say: Say = warn) -> pd.DataFrame:
        """The probability of each class, a column each."""
        if self.facts.classes is None:
            raise ValueError("a model of numbers has no probabilities")
        rows = self._rows(table, say)
        return pandas().DataFrame(self.estimator.predict_proba(rows), index=rows.index, columns=self.facts.classes)  # type: ignore[no-any-return]

    def score(self, table: pd.DataFrame | str | os.PathLike[str], say: Say = warn) -> float:
        """The metric of its search, on a table that has the target."""
        frame: Any = table if hasattr(table, "columns") else self.read(table, say=say)
        name = self.facts.target
        frame = frame.copy(deep=False)
        frame[name] = conformed(frame[[name]], {name: self.facts.target_kind}, say)[name]
        rest, target = with_target(frame, name, say)
        return score(self.estimator, self.facts.metric, self._rows(rest, say), target)

    def _rows(self, table: Any, say: Say) -> pd.DataFrame:
        frame = table if hasattr(table, "columns") else self.read(table, say=say)
        return conformed(frame.drop(columns=self.facts.target, errors="ignore"), self.facts.columns, say)


def load_model(folder: str | os.PathLike[str], say: Say = warn) -> SavedModel:
    """The model that `manyarms fit` wrote into this folder. Loading a model runs code in it: load only those you trust.

    Args:
        folder: where it is.
        say: called with a line if packages have other versions here than the model was trained with.
    """
    folder = Path(folder)
    facts = read_facts(folder)
    file = folder / MODEL
    if not file.is_file() or checksum(file) != facts.checksum:
        raise ManyarmsError(f"{file} is missing, damaged or of another training than {FACTS}: run `manyarms fit` again")
    other = differences({**facts.versions, "python": facts.python})
    advice = f"pip install -r {folder / REQUIREMENTS} makes them the same"
    if other:
        say(f"the model was trained with other versions, and may fail or predict otherwise: {listed(other, False)}; {advice}")
    with _loading(file, advice):
        import joblib

        return SavedModel(joblib.load(file), facts)


@contextmanager
def _loading(file: Path, advice: str) -> Iterator[None]:
    """Whatever goes wrong inside a pickle is told in one line."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        cause = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise ManyarmsError(f"{file} cannot be loaded ({cause}): {advice}") from error


def read_facts(folder: Path) -> Facts:
    """What is known of the model in a folder; an error if there is none."""
    if not folder.exists():
        raise FileNotFoundError(f"there is no folder {str(folder)!r}")
    absent = [name for name in (MODEL, FACTS, REQUIREMENTS) if not (folder / name).is_file()]
    if absent:
        raise ManyarmsError(
            f"{folder} is not the folder of a model that `manyarms fit` made: it has no {' and no '.join(absent)}"
        )
    try:
        return Facts(**json.loads((folder / FACTS).read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise ManyarmsError(f"{folder / FACTS} is damaged, or of another version of manyarms: {error}") from None


def save_model(folder: Path, estimator: Any, facts: Facts) -> None:
    """Write the model, its facts and the versions it needs. Each file is whole, and the facts know the model they belong to.

    The model is a compressed pickle, which `joblib.load` reads: `joblib.dump` takes five times as long for many trees.
    """
    with written_aside(folder / MODEL) as aside:
        with gzip.open(aside, "wb", compresslevel=1) as file:
            pickle.dump(estimator, file, protocol=5)
        known = asdict(facts) | {"checksum": checksum(aside)}
    lines = [f"{package}=={version}" for package, version in facts.versions.items()]
    write_text(folder / REQUIREMENTS, "\n".join([f"# Python {facts.python}", *lines]) + "\n")
    write_text(folder / FACTS, json.dumps(known, indent=2, ensure_ascii=False) + "\n")


def checksum(file: Path) -> str:
    """Of a file's content."""
    digest = blake2b(digest_size=16)
    with open(file, "rb") as content:
        while part := content.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()
