"""Train networks a few epochs at a time, and give more epochs to those that deserve them."""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import manyarms as ma

images, labels = load_digits(return_X_y=True)
images, valid_images, labels, valid_labels = train_test_split(images / 16, labels, random_state=0)

space = {"hidden_layer_sizes": (8, 64, "log"), "learning_rate_init": (1e-4, 1e-1, "log"), "alpha": (1e-6, 1e-1, "log")}


def train(pull):
    model = pull.load()
    if model is None:
        model = MLPClassifier(**pull, random_state=0)
    for _ in range(pull.start, pull.stop):
        model.partial_fit(images, labels, classes=range(10))
    pull.save(model)
    return model.score(valid_images, valid_labels)


if __name__ == "__main__":
    study = ma.tune(train, space, budget=250, max_steps=20, seed=0)
    print(study.best_config)
    print(f"best {study.best_reward:.4f} after {study.counts.steps} steps")
