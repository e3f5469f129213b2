"""Search for a neural network for scikit-learn's digits: networks are trained in cycles, paused, mutated and continued.

Draws the best network (network.svg) and its ancestors (family.svg), and exports it for use without this library (winner/).
Interrupt it at any time and run it again: it resumes. Needs PyTorch and scikit-learn: run `pip install ".[torch,sklearn]"` in a
clone of the repository.
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
        print(f"Best of {len(study.counts.arms)} networks: {model.layout.n_parameters:,} parameters")
        accuracy = classifier.accuracy(model, x_test, y_test)
        print(f"Accuracy: {study.best_reward:.4f} on validation images, {accuracy:.4f} on test images")
