"""Choose between two algorithms, each with parameters of its own."""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale
from sklearn.svm import SVC

import manyarms as ma

table, diagnoses = load_breast_cancer(return_X_y=True)
table = scale(table)

algorithms = {"svc": SVC, "forest": RandomForestClassifier}
space = ma.Joint(
    {
        "svc": {"C": (1e-2, 1e2, "log"), "gamma": (1e-5, 1e0, "log")},
        "forest": {"n_estimators": (5, 30, "log"), "max_depth": (1, 10), "random_state": 0},
    }
)


def objective(pull):
    model = algorithms[pull["algorithm"]](**pull["config"])
    return cross_val_score(model, table, diagnoses, cv=3).mean()


if __name__ == "__main__":
    study = ma.tune(objective, space, budget=40, seed=0)
    print(study.best_config)
    print(f"best {study.best_reward:.4f} after {study.counts.steps} steps")
