"""Choose between two algorithms, each with parameters of its own, with Optuna."""

import optuna
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale
from sklearn.svm import SVC

table, diagnoses = load_breast_cancer(return_X_y=True)
table = scale(table)


def objective(trial):
    if trial.suggest_categorical("algorithm", ["svc", "forest"]) == "svc":
        model = SVC(C=trial.suggest_float("C", 1e-2, 1e2, log=True), gamma=trial.suggest_float("gamma", 1e-5, 1e0, log=True))
    else:
        model = RandomForestClassifier(
            n_estimators=trial.suggest_int("n_estimators", 5, 30, log=True),
            max_depth=trial.suggest_int("max_depth", 1, 10),
            random_state=0,
        )
    return cross_val_score(model, table, diagnoses, cv=3).mean()


if __name__ == "__main__":
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=40)
    print(study.best_params)
    print(f"best {study.best_value:.4f} after {len(study.trials)} steps")
