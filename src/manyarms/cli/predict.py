"""`predict`: what a model that `fit` trained says of a new table."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .fit import add_reading, own_warnings
from .job import check_packages
from .terminal import say, show

if TYPE_CHECKING:
    import pandas as pd

_PREDICT = """examples:
  manyarms predict wine-model new.csv
  manyarms predict wine-model new.csv --proba --out predictions.parquet

The new table needs the columns of the one the model was trained on; others are ignored. If it has the target too, the score
is printed. Loading a model runs code in it: predict only with models that you trust."""


def add_commands(commands: Any) -> None:
    """Add `predict`."""
    predict = commands.add_parser(
        "predict",
        help="predict a table with a model that `fit` trained",
        epilog=_PREDICT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    predict.add_argument("model", help="the folder that `fit` wrote")
    predict.add_argument("data", help="a CSV or Parquet file, as for `fit`")
    predict.add_argument("--out", metavar="FILE", help="a .csv or .parquet file (default: CSV on standard output)")
    predict.add_argument("--proba", action="store_true", help="add the probability of each class")
    add_reading(predict)
    predict.set_defaults(command=_predict)


def _predict(options: argparse.Namespace) -> int:
    check_packages("predict")
    from ..tables import load_model
    from ..tables.names import counted
    from ..tables.reading.memory import explained
    from ..tables.saved import read_facts
    from ..tables.writing import frame_writer, write_frame

    out = None if options.out is None else _checked(Path(options.out))
    if out is not None:
        frame_writer(out)  # whether it can be written, before anything else is done
    if options.proba and read_facts(Path(options.model)).classes is None:
        raise ValueError("--proba needs a model of classes, got one of numbers")
    with own_warnings(), explained(options.data):
        model = load_model(options.model, say)
        reading = {"rows": options.rows, "encoding": options.encoding, "delimiter": options.delimiter}
        frame = model.read(options.data, **reading, say=say)
        predictions = _predictions(model, frame, options.proba)
    if out is None:
        sys.stdout.write(predictions.to_csv(index=False))
    else:
        write_frame(out, predictions)
        show(f"{counted(len(predictions), 'prediction')} written to {out}", file=sys.stderr)
    with own_warnings():
        _tell_score(model, frame)
    return 0


def _checked(out: Path) -> Path:
    if out.is_dir():
        raise ValueError(f"--out must be a file, got {str(out)!r}, which is a folder")
    if not out.parent.is_dir() or not os.access(out.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"--out must be in a folder that is there and can be written, got {str(out)!r}")
    return out


def _predictions(model: Any, frame: pd.DataFrame, proba: bool) -> pd.DataFrame:
    """A column of predictions and, if asked for, one for each class."""
    answers: pd.DataFrame = model.predict(frame, say).to_frame()
    if proba:
        likely = model.predict_proba(frame, lambda note: None)
        answers = answers.join(likely.rename(columns=lambda label: f"probability of {label}"))
    return answers


def _tell_score(model: Any, frame: pd.DataFrame) -> None:
    """The score, where the table says what would have been right."""
    facts = model.facts
    if facts.target not in frame.columns or not frame[facts.target].notna().any():
        return
    try:
        score = model.score(frame, lambda note: None)
    except ValueError as error:
        say(f"no score by {facts.metric}: {' '.join(str(error).split())}")
    else:
        show(f"{facts.metric} by the column {facts.target!r}: {score:.4f}", file=sys.stderr)
