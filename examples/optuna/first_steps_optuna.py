"""Find the minimum of a function of one variable, with Optuna."""

import optuna


def objective(trial):
    x = trial.suggest_float("x", -10, 10)
    return (x - 2) ** 2


if __name__ == "__main__":
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=100)
    print(study.best_params)
    print(f"best {study.best_value:.6f} after {len(study.trials)} steps")
