"""From a table to a trained model and predictions, on the command line.

Writes scikit-learn's breast cancer data as CSV and then does what you would do with your own table: `manyarms fit` for 20
seconds, and `manyarms predict` for new rows. If you run it again, the search is already finished and nothing is trained.
"""

import subprocess
import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer

PLACE = Path("table-demo")


def write_tables():
    """Write rows to learn from and rows to predict. The latter include the diagnosis, so that the predictions are scored."""
    data = load_breast_cancer(as_frame=True)
    table = data.data.assign(diagnosis=data.target_names[data.target]).sample(frac=1, random_state=0)
    PLACE.mkdir(exist_ok=True)
    table[:469].to_csv(PLACE / "cancer.csv", index=False)
    table[469:].to_csv(PLACE / "new.csv", index=False)


def manyarms(line):
    """Run a command as in a terminal."""
    print(f"\n$ manyarms {line}", flush=True)
    subprocess.run([sys.executable, "-m", "manyarms", *line.split()], cwd=PLACE, check=True)


if __name__ == "__main__":
    write_tables()
    manyarms("fit cancer.csv --target diagnosis --time 20s")
    manyarms("predict cancer-model new.csv --proba --out predictions.csv")
    manyarms("best cancer-model/study.db")
    print(f"\nOpen {PLACE / 'cancer-model' / 'report.html'} in a browser")
