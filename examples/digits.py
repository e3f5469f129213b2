"""Train neural networks on scikit-learn's digits, a few epochs at a time, and keep the best one.

Networks are paused and continued; mutants of good ones are tried. Kill it at any time (Ctrl-C, or kill -9) and run it again: it
resumes. Run it once more when it is done: nothing is trained twice.
"""

import warnings

from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import manyarms as ma

EPOCHS = 2  # in one step

space = ma.Space(
    learning_rate_init=ma.Float(1e-5, 1e-1, log=True),
    alpha=ma.Float(1e-7, 1e-1, log=True),
    hidden_layer_sizes=ma.Choice([16], [64], [128], [64, 32], [128, 64]),
    activation=ma.Choice("relu", "tanh", "logistic"),
    batch_size=ma.Int(16, 256, log=True),
)


def train(pull):
    """One slice of training."""
    images, labels = load_digits(return_X_y=True)
    images, valid_images, labels, valid_labels = train_test_split(images / 16, labels, random_state=0)
    model = pull.load()
    if model is None:  # the first pull of this arm
        model = MLPClassifier(**pull, warm_start=True, max_iter=EPOCHS, random_state=pull.seed)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        for _ in range(pull.start, pull.stop):
            model.fit(images, labels)  # warm_start: continues from where the last step ended
            pull.report(model.score(valid_images, valid_labels))
    pull.save(model)
    return model.score(valid_images, valid_labels)


if __name__ == "__main__":
    strategy = ma.MutantUCB(space, budget=150, max_steps=10, initial=20, seed=0)
    with ma.Study(strategy, storage="sqlite:///digits.db", name="digits") as study:
        print(study.plan())
        study.optimize(train, workers=2)
        model = study.best_model()
        print(f"best accuracy {study.best_reward:.4f} of {len(study.counts.arms)} networks: {study.best_config}")
        print(f"the trained network: {model}")
    print('Inspect it with: manyarms arms digits.db, or in Python: ma.load_study("sqlite:///digits.db", "digits")')
