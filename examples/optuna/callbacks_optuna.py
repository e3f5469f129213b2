"""Stop when 20 trials in a row found nothing better, with Optuna."""

import optuna


def objective(trial):
    x, y = trial.suggest_float("x", -5, 5), trial.suggest_float("y", -5, 5)
    return (x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2  # Himmelblau's function


def stop_without_progress(study, trial):
    if trial.number - study.best_trial.number >= 20:
        study.stop()


if __name__ == "__main__":
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=200, callbacks=[stop_without_progress])
    print(study.best_params)
    print(f"best {study.best_value:.4f} after {len(study.trials)} steps")
