"""The training that is needed to match `HalvingRandomSearchCV` of scikit-learn: trees, or epochs, times rows.

Both search the same space on the same folds with the same scoring, seed by seed. Halving runs with its defaults: as many random
candidates as the resource allows, of which a third is trained three times as long in each round, each time from scratch. Its
result is the score of its winner with the full resource; that training does not count. Ours adds trees (epochs) in slices. Its
result at any time is the score of the arm that it would choose, with the steps of that arm so far. Its budget is the work of
halving.

The ratio is our work until we match halving for the first time, divided by all work of halving. If we never do, it counts as
infinite. Figures are medians over seeds.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from report import AtMost, Row, parser, show
from scipy.stats import loguniform, randint, uniform
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingRandomSearchCV, StratifiedKFold, cross_val_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manyarms.sklearn import BanditSearchCV

STEPS = 25  # slices of a full training: 4 trees, 2 epochs

warnings.simplefilter("ignore")


@dataclass(frozen=True)
class Task:
    """What both search.

    Attributes:
        unit: what is counted.
        resource: the parameter that halving lets grow, and how much of it is a full training.
    """

    name: str
    unit: str
    estimator: Any
    space: dict[str, Any]
    data: tuple[Any, Any]
    resource: tuple[str, int]
    metric: str = "accuracy"


def boosting(metric: str) -> Task:
    data = make_classification(600, 20, n_informative=8, n_clusters_per_class=3, flip_y=0.05, random_state=0)
    space = {
        "learning_rate": loguniform(1e-3, 1),
        "max_depth": randint(1, 8),
        "subsample": uniform(0.3, 0.7),
        "max_features": uniform(0.1, 0.9),
        "min_samples_leaf": randint(1, 30),
    }
    model, name = GradientBoostingClassifier(n_estimators=100), f"boosting, {metric}"
    return Task(name, "trees", model, space, data, ("n_estimators", 100), metric)


def network() -> Task:
    model = MLPClassifier((64,), max_iter=50)
    space = {
        "mlpclassifier__learning_rate_init": loguniform(1e-5, 1e-1),
        "mlpclassifier__alpha": loguniform(1e-6, 1e1),
        "mlpclassifier__batch_size": [16, 32, 64, 128, 256],
        "mlpclassifier__activation": ["relu", "tanh", "logistic"],
    }
    pipeline = make_pipeline(StandardScaler(), model)
    return Task("network, accuracy", "epochs", pipeline, space, load_digits(return_X_y=True), ("mlpclassifier__max_iter", 50))


def halving(task: Task, folds: Any, seed: int) -> tuple[float, int]:
    """The score of its winner with the full resource, and the units it spent."""
    name, most = task.resource
    search = HalvingRandomSearchCV(
        task.estimator,
        task.space,
        resource=name,
        max_resources=most,
        scoring=task.metric,
        cv=folds,
        refit=False,
        random_state=seed,
    ).fit(*task.data)
    winner = task.estimator.set_params(**{**search.best_params_, name: most})
    spent = sum(n * units for n, units in zip(search.n_candidates_, search.n_resources_, strict=True))
    return float(cross_val_score(winner, *task.data, cv=folds, scoring=task.metric).mean()), spent


def ours(task: Task, folds: Any, seed: int, units: int) -> list[tuple[float, float]]:
    """The units spent so far, and the score of the arm that would be chosen then; pull by pull."""
    each = task.resource[1] / STEPS
    search = BanditSearchCV(
        task.estimator,
        task.space,
        max_steps=STEPS,
        budget=int(units / each),
        scoring=task.metric,
        cv=folds,
        refit=False,
        random_state=seed,
    ).fit(*task.data)
    spent, scores, curve = 0.0, {}, []
    for arm, start, stop, score in search.study_.pulls_dataframe()[["arm", "start", "stop", "reward"]].itertuples(index=False):
        spent += (stop - start) * each
        scores[arm] = score
        curve.append((spent, max(scores.values())))
    return curve


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--seeds", type=int, help="how many (default 5; 2 with --quick)")
    options = arguments.parse_args()
    seeds = options.seeds or (2 if options.quick else 5)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    rows = []
    for make in (lambda: boosting("accuracy"), lambda: boosting("neg_log_loss"), network):
        task, ratios, ends, goals = make(), [], [], []
        for seed in range(seeds):
            goal, spent = halving(make(), folds, seed)
            curve = ours(make(), folds, seed, spent)
            ratios.append(next((units for units, score in curve if score >= goal), math.inf) / spent)
            ends.append(curve[-1][1])
            goals.append(goal)
        print(f"{task.name}, of halving's work, by seed: {', '.join(f'{ratio:.2f}' for ratio in ratios)}", flush=True)
        million = spent * sum(len(train) for train, _ in folds.split(*task.data)) / 1e6
        rows.append(
            Row(
                f"{task.name}, {task.unit} × rows",
                f"{median(ratios) * million:.2f} M, in the end {mean(ends):.4f}",
                f"{million:.2f} M, in the end {mean(goals):.4f}",
                AtMost(0.5, median(ratios), "of its work"),
            )
        )
    show("Work to be as good as successive halving", "HalvingRandomSearchCV", rows, seeds)


if __name__ == "__main__":
    main()
