"""Your own space: anything with `sample` and `mutate`. Here a config is a list of layers, of any length."""

import warnings

from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import manyarms as ma

WIDTHS = (2, 4, 8, 16, 32)


class Layers:
    """One to four layers. Configs are lists of widths, which survive JSON, so that a study of them can be stored."""

    def sample(self, rng):
        return [int(rng.choice(WIDTHS)) for _ in range(rng.integers(1, 5))]

    def mutate(self, layers, rng):
        """Add a layer, remove one, or change one: a new list, and never the same."""
        spot = int(rng.integers(len(layers)))
        change = rng.choice(["add", "remove", "resize"])
        if change == "add" and len(layers) < 4:
            return [*layers[:spot], int(rng.choice(WIDTHS)), *layers[spot:]]
        if change == "remove" and len(layers) > 1:
            return layers[:spot] + layers[spot + 1 :]
        other = [width for width in WIDTHS if width != layers[spot]]
        return [*layers[:spot], int(rng.choice(other)), *layers[spot + 1 :]]

    def crossover(self, one, two, rng):
        """The beginning of one and the end of the other; optional."""
        return (one[: int(rng.integers(1, len(one) + 1))] + two[int(rng.integers(len(two))) :])[:4]


def score(pull):
    """Mean accuracy of five-fold cross-validation on a table of wines."""
    table, kinds = load_wine(return_X_y=True)
    network = MLPClassifier(pull.config, max_iter=60, learning_rate_init=0.02, random_state=0)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return cross_val_score(make_pipeline(StandardScaler(), network), table, kinds, cv=5).mean()


if __name__ == "__main__":
    study = ma.tune(score, Layers(), budget=40, seed=0)
    print(f"best accuracy {study.best_reward:.4f} with layers {study.best_config}, of {len(study.counts.arms)} tried")
    print(study.arms_dataframe().sort_values("reward", ascending=False).head().to_string(index=False))
