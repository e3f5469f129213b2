"""Store a study in a database, and continue it in a second run."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale
from sklearn.svm import SVC

import manyarms as ma

table, diagnoses = load_breast_cancer(return_X_y=True)
table = scale(table)
space = {"C": (1e-2, 1e2, "log"), "gamma": (1e-5, 1e0, "log")}


def objective(pull):
    return cross_val_score(SVC(**pull), table, diagnoses, cv=3).mean()


def run(budget):
    study = ma.tune(objective, space, budget=budget, storage="sqlite:///manyarms.db", name="svc", seed=0)
    print(f"best {study.best_reward:.4f} after {study.counts.steps} steps")


if __name__ == "__main__":
    run(budget=20)
    run(budget=40)  # the next day, in another process: 40 in total
