"""Store a study in a database, and continue it in a second run, with Optuna."""

import optuna
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale
from sklearn.svm import SVC

table, diagnoses = load_breast_cancer(return_X_y=True)
table = scale(table)


def objective(trial):
    C, gamma = trial.suggest_float("C", 1e-2, 1e2, log=True), trial.suggest_float("gamma", 1e-5, 1e0, log=True)
    return cross_val_score(SVC(C=C, gamma=gamma), table, diagnoses, cv=3).mean()


def run(n_trials):
    study = optuna.create_study(
        storage="sqlite:///optuna.db",
        study_name="svc",
        load_if_exists=True,
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=0),
    )
    study.optimize(objective, n_trials=n_trials)
    print(f"best {study.best_value:.4f} after {len(study.trials)} steps")


if __name__ == "__main__":
    run(n_trials=20)
    run(n_trials=20)  # the next day, in another process: 20 more
