"""A fitted model in a directory: the model itself, what it was trained on, and the package versions it needs."""

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
from typing import Any

import numpy as np
import pandas as pd

from ..errors import ManyarmsError
from ..html.writing import write_text, written_aside
from ..sklearn.automl.column_kinds import DATE, NOTHING, NUMBER, TEXT
from ..sklearn.automl.conversions import numbers
from ..sklearn.automl.scoring import score
from ..sklearn.automl.wording import listed, one_line
from .matching_columns import conformed, durations, note_missing
from .names import Notify, with_text_names
from .reading.table import read_table, warn
from .target import with_target
from .versions import differences

MODEL, FACTS, REQUIREMENTS = "model.joblib", "model.json", "requirements.txt"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about a saved model: the content of `model.json`.

    Args:
        task: "classification" or "regression".
        target: Name of the column that it predicts.
        columns: How the columns that it predicts from were stored, by name and in order.
        dtypes: The dtypes of these columns.
        target_kind: How the target was stored.
        classes: The classes in the order of the probabilities; None for regression.
        scoring: Name of the scorer.
        scores: Scores: cross-validated ("search"), on the held-out rows ("held out"), and of a constant baseline ("baseline").
        rows: Number of rows for training and for testing.
        members: The models of the ensemble: family, weight and arm of each.
        versions: Versions of the packages that it needs.
        python: Version of Python that it was trained with.
        command: Command line that made it, if any.
        settings: Settings of the fit.
        checksum: Checksum of the model file.
    """

    task: str
    target: str
    columns: Mapping[str, str]
    dtypes: Mapping[str, str]
    target_kind: str
    classes: list[Any] | None
    scoring: str
    scores: Mapping[str, float | None]
    rows: Mapping[str, int]
    members: list[Mapping[str, Any]]
    versions: Mapping[str, str]
    python: str
    command: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    checksum: str = ""


class SavedModel:
    """A saved model and what is known about it. Made by `load_model`.

    Args:
        estimator: A fitted scikit-learn estimator.
        facts: What is known about it.
    """

    def __init__(self, estimator: Any, facts: Facts) -> None:
        self.estimator, self.facts = estimator, facts

    def read(self, path: str | os.PathLike[str], **options: Any) -> pd.DataFrame:
        """Read a new table, storing its columns as in training. The options are those of `read_table`."""
        text = [name for name, kind in self.facts.columns.items() if kind == TEXT]
        text += [self.facts.target] if self.facts.target_kind == TEXT else []
        return read_table(path, text=text, **options)

    def predict(self, table: pd.DataFrame | str | os.PathLike[str], notify: Notify = warn) -> pd.Series[Any]:
        """Predictions for a data frame, or for the table in a file."""
        rows = self._rows(table, notify)
        return pd.Series(self.estimator.predict(rows), index=rows.index, name=self.facts.target)

    def predict_proba(self, table: pd.DataFrame | str | os.PathLike[str], notify: Notify = warn) -> pd.DataFrame:
        """The probability of each class, one column per class."""
        self.check_probabilities()
        rows = self._rows(table, notify)
        return pd.DataFrame(self.estimator.predict_proba(rows), index=rows.index, columns=self.facts.classes)

    def predictions(self, table: pd.DataFrame, proba: bool = False, notify: Notify = warn) -> pd.DataFrame:
        """A column of predictions and, if `proba` is true, a column `probability of <class>` for each class."""
        answers = self.predict(table, notify).to_frame()
        if not proba:
            return answers
        probabilities = self.predict_proba(table, lambda note: None)
        probabilities = probabilities.rename(columns=lambda label: f"probability of {label}")
        return pd.concat([answers, probabilities], axis=1)  # unlike join, it keeps the rows if labels occur twice in the index

    def check_probabilities(self) -> None:
        """Raise an error if the model is a regression, which has no probabilities."""
        if self.facts.classes is None:
            raise ValueError("A regression has no class probabilities.")

    def has_target(self, table: pd.DataFrame) -> bool:
        """Whether the table has the target in some of its rows, so that it can be scored."""
        table = with_text_names(table, lambda note: None)
        return self.facts.target in table.columns and bool(table[self.facts.target].notna().any())

    def score(self, table: pd.DataFrame | str | os.PathLike[str], notify: Notify = warn) -> float:
        """The score on a table that has the target."""
        name, frame = self.facts.target, self._named(table, notify).copy(deep=False)
        frame[name] = conformed(frame[[name]], {name: self.facts.target_kind}, notify)[name]
        rest, target = with_target(frame, name, notify)
        spaced = {label.strip(): label for label in self.facts.classes or () if isinstance(label, str)}
        target = target.map(lambda label: spaced.get(label, label))  # classes of version 0.1 may end with spaces
        return score(self.estimator, self.facts.scoring, self._rows(rest, notify), target)

    def _rows(self, table: Any, notify: Notify) -> pd.DataFrame:
        frame = self._named(table, notify)
        learned = list(zip(self.facts.columns, getattr(self.estimator, "columns_", {"kind": ()})["kind"], strict=False))
        unused = [name for name, kind in learned if kind == NOTHING and name not in frame.columns]
        frame = frame.assign(**dict.fromkeys(unused))  # they hold nothing to learn from, so they may be missing
        rows = conformed(frame.drop(columns=self.facts.target, errors="ignore"), self.facts.columns, notify)
        formats = getattr(self.estimator, "formats_", {})  # models saved by version 0.1 have none
        for place, (name, kind) in enumerate(learned):
            if kind == NUMBER and self.facts.columns[name] == TEXT:  # such as "$1,747"
                note_missing(rows[name], np.isnan(numbers(rows[name], formats.get(place))), kind, notify)
            elif kind == DATE and self.facts.dtypes.get(name, "").startswith("timedelta"):  # text in a CSV file
                rows[name] = durations(rows[name], notify)
        return rows

    def _named(self, table: Any, notify: Notify) -> pd.DataFrame:
        """A table with names as in training."""
        return with_text_names(table, notify) if hasattr(table, "columns") else self.read(table, notify=notify)


def load_model(directory: str | os.PathLike[str], notify: Notify = warn) -> SavedModel:
    """Load the model that `manyarms fit` or `TableFit.save` wrote. Loading runs code: load only models that you trust.

    Args:
        directory: Directory of the model.
        notify: Receives a note if the model was trained with different package versions from those installed.
    """
    directory = Path(directory)
    facts = read_facts(directory)
    file = directory / MODEL
    if not file.is_file() or checksum(file) != facts.checksum:
        raise ManyarmsError(f"{file} is missing, corrupt, or does not belong to {FACTS}. Fit the table again.")
    other = differences({**facts.versions, "python": facts.python})
    advice = f"Install the same versions with: pip install -r {directory / REQUIREMENTS}"
    if other:
        notify(
            f"The model was trained with different package versions, and may fail or predict differently: "
            f"{listed(other, False)}. {advice}"
        )
    with _loading(file, advice):
        import joblib

        return SavedModel(joblib.load(file), facts)


def predict_table(
    directory: str | os.PathLike[str],
    source: pd.DataFrame | str | os.PathLike[str],
    *,
    proba: bool = False,
    notify: Notify = warn,
    **reading: Any,
) -> pd.DataFrame:
    """Predict a table with a saved model. `manyarms predict` on the command line does the same.

    Args:
        directory: Directory of the model.
        source: A CSV or Parquet file, or a data frame, with the columns that the model was trained on.
        proba: Add a column with the probability of each class.
        notify: Receives a note for each irregularity. By default each is a `ManyarmsWarning`.
        reading: Options of `read_table`: `rows`, `encoding` and `delimiter`.
    """
    model = load_model(directory, notify)
    frame = source if isinstance(source, pd.DataFrame) else model.read(source, notify=notify, **reading)
    return model.predictions(frame, proba, notify)


@contextmanager
def _loading(file: Path, advice: str) -> Iterator[None]:
    """Report anything that goes wrong inside a pickle on one line."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise ManyarmsError(f"{file} cannot be loaded ({type(error).__name__}: {one_line(error)}). {advice}") from error


def read_facts(directory: Path) -> Facts:
    """What is known about the model in a directory; an error if there is none."""
    if not directory.exists():
        raise FileNotFoundError(f"The directory {str(directory)!r} does not exist.")
    absent = [name for name in (MODEL, FACTS, REQUIREMENTS) if not (directory / name).is_file()]
    if absent:
        raise ManyarmsError(f"{directory} does not hold a model from `manyarms fit`: it has no {' and no '.join(absent)}.")
    try:
        known = json.loads((directory / FACTS).read_text(encoding="utf-8"))
        if "metric" in known:  # its name in version 0.1
            known["scoring"] = known.pop("metric")
        return Facts(**known)
    except (ValueError, TypeError) as error:
        raise ManyarmsError(f"{directory / FACTS} is corrupt, or from another version of manyarms: {error}") from None


def save_model(directory: Path, estimator: Any, facts: Facts) -> None:
    """Write the model, what is known about it, and the versions it needs. Each file is complete or absent.

    The model is a compressed pickle that `joblib.load` reads; `joblib.dump` takes five times as long for many trees.
    """
    with written_aside(directory / MODEL) as aside:
        with gzip.open(aside, "wb", compresslevel=1) as file:
            pickle.dump(estimator, file, protocol=5)
        known = asdict(facts) | {"checksum": checksum(aside)}
    lines = [f"{package}=={version}" for package, version in facts.versions.items()]
    write_text(directory / REQUIREMENTS, "\n".join([f"# Python {facts.python}", *lines]) + "\n")
    known["scores"] = {name: None if score is None or not np.isfinite(score) else score for name, score in facts.scores.items()}
    write_text(directory / FACTS, json.dumps(known, indent=2, ensure_ascii=False) + "\n")


def checksum(file: Path) -> str:
    """The checksum of a file's content."""
    digest = blake2b(digest_size=16)
    with open(file, "rb") as content:
        while part := content.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()
