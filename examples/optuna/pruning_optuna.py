"""Train networks epoch by epoch and stop those that fall behind, with Optuna."""

import optuna
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

images, labels = load_digits(return_X_y=True)
images, valid_images, labels, valid_labels = train_test_split(images / 16, labels, random_state=0)


def objective(trial):
    model = MLPClassifier(
        hidden_layer_sizes=trial.suggest_int("hidden_layer_sizes", 8, 64, log=True),
        learning_rate_init=trial.suggest_float("learning_rate_init", 1e-4, 1e-1, log=True),
        alpha=trial.suggest_float("alpha", 1e-6, 1e-1, log=True),
        random_state=0,
    )
    for epoch in range(20):
        model.partial_fit(images, labels, classes=range(10))
        accuracy = model.score(valid_images, valid_labels)
        trial.report(accuracy, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned()
    return accuracy


if __name__ == "__main__":
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=0), pruner=optuna.pruners.MedianPruner(n_warmup_steps=3)
    )
    study.optimize(objective, n_trials=25)
    epochs = sum(len(trial.intermediate_values) for trial in study.trials)
    print(study.best_params)
    print(f"best {study.best_value:.4f} after {epochs} steps")
