"""From a table to a trained model, and to predictions, from the command line.

Writes scikit-learn's table of breast cancers as CSV, and then does what you would do with a table of your own: `manyarms fit`
for 20 seconds, `manyarms predict` on rows it never saw. Run it again: the search is finished, and nothing is trained twice.
"""

import subprocess
import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer

PLACE = Path("table-demo")


def write_tables():
    """Rows to learn from, and others to predict. Those have the diagnosis too, so that the predictions can be scored."""
    data = load_breast_cancer(as_frame=True)
    table = data.data.assign(diagnosis=data.target_names[data.target]).sample(frac=1, random_state=0)
    PLACE.mkdir(exist_ok=True)
    table[:469].to_csv(PLACE / "cancer.csv", index=False)
    table[469:].to_csv(PLACE / "new.csv", index=False)


def manyarms(line):
    """What a terminal would do with this line."""
    print(f"\n$ manyarms {line}", flush=True)
    subprocess.run([sys.executable, "-m", "manyarms", *line.split()], cwd=PLACE, check=True)


if __name__ == "__main__":
    write_tables()
    manyarms("fit cancer.csv --target diagnosis --time 20s")
    manyarms("predict cancer-model new.csv --proba --out predictions.csv")
    manyarms("best cancer-model/study.db")
    print(f"\nopen {PLACE / 'cancer-model' / 'report.html'} in a browser")
