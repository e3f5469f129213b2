"""`predict`: predictions of a saved model for a new table."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .fit import add_reading, advice_as_options, check_packages, own_warnings, reading_options
from .terminal import print_line, print_note

if TYPE_CHECKING:
    import pandas as pd

    from ..tables import SavedModel

_EXAMPLES = """examples:
  manyarms predict wine-model new.csv
  manyarms predict wine-model new.csv --proba --out predictions.parquet

The new table needs the columns that the model was trained on; other columns are ignored. If it has the target too, the score is
printed. Loading a model runs code in it: use only models that you trust."""


def add_command(commands: Any) -> None:
    """Add `predict`."""
    predict = commands.add_parser(
        "predict",
        help="predict the rows of a table with a model from `fit`",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    predict.add_argument("model", help="the directory that `fit` wrote")
    predict.add_argument("data", help="a CSV or Parquet file, as for `fit`")
    predict.add_argument("--out", metavar="FILE", help="a .csv or .parquet file (default: CSV on standard output)")
    predict.add_argument("--proba", action="store_true", help="add the probability of each class")
    add_reading(predict)
    predict.set_defaults(command=_predict)


def _predict(options: argparse.Namespace) -> int:
    check_packages("predict")
    from ..sklearn.automl.wording import counted
    from ..tables import load_model
    from ..tables.reading.memory import explained
    from ..tables.writing import frame_writer, write_frame

    out = None if options.out is None else _checked(Path(options.out))
    if out is not None:
        frame_writer(out)  # whether this format can be written, before anything else is done
    with own_warnings(), advice_as_options(), explained(options.data):
        model = load_model(options.model, print_note)
        if options.proba:
            model.check_probabilities()
        frame = model.read(options.data, notify=print_note, **reading_options(options))
        predictions = model.predictions(frame, options.proba, print_note)
    if out is None:
        sys.stdout.write(predictions.to_csv(index=False))
    else:
        write_frame(out, predictions)
        print_line(f"Wrote {counted(len(predictions), 'prediction')} to {out}", file=sys.stderr)
    with own_warnings():
        _show_score(model, frame)
    return 0


def _checked(out: Path) -> Path:
    if out.is_dir():
        raise ValueError(f"--out must be a file, got {str(out)!r}, which is a directory")
    if not out.parent.is_dir() or not os.access(out.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"--out must be in an existing, writable directory, got {str(out)!r}")
    return out


def _show_score(model: SavedModel, frame: pd.DataFrame) -> None:
    """Print the score if the table has the target."""
    from ..sklearn.automl.wording import one_line

    facts = model.facts
    if not model.has_target(frame):
        return
    try:
        score = model.score(frame, lambda note: None)
    except ValueError as error:
        print_note(f"No score for column {facts.target!r}: {one_line(error)}")
    else:
        print_line(f"Score for column {facts.target!r}: {score:.4f} ({facts.scoring})", file=sys.stderr)
