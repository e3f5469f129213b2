"""Grow neural networks for scikit-learn's digits: graphs of layers, trained a cycle at a time, paused, mutated, continued.

Draws the best one (network.svg) and its ancestors (family.svg), and exports it for use without this library (winner/).
Kill it at any time and run it again: it resumes. Needs PyTorch and scikit-learn: `pip install ".[torch,sklearn]"` in a clone.
"""

from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import manyarms as ma
from manyarms import networks

if __name__ == "__main__":
    digits = load_digits()
    x, x_test, y, y_test = train_test_split(digits.images, digits.target, test_size=400, random_state=0)
    classifier = networks.image_classifier(x[:1000], y[:1000], x[1000:], y[1000:], epochs=2)
    strategy = ma.MutantUCB(classifier.space, budget=150, max_steps=6, initial=20, seed=0)
    with ma.Study(strategy, storage="network.db", name="digits", bounds=(0, 1)) as study:
        study.optimize(classifier)
        model = study.best_model(classifier)
        Path("network.svg").write_text(networks.draw_network(study.best_config, classifier.space), encoding="utf-8")
        Path("family.svg").write_text(networks.draw_family(study, classifier.space), encoding="utf-8")
        networks.export_model(model, "winner")
        print(f"the best of {len(study.counts.arms)} networks has {model.layout.n_parameters:,} parameters")
        accuracy = classifier.accuracy(model, x_test, y_test)
        print(f"accuracy: {study.best_reward:.4f} in the search, {accuracy:.4f} on other images")
