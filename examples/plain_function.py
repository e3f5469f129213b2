"""Tune a plain function: nothing to pause, nothing to save."""

import manyarms as ma

space = ma.Space(
    temperature=ma.Float(1, 100, log=True),
    stirs=ma.Int(0, 20),
    pot=ma.Choice("clay", ma.Space(kind="iron", age=ma.Float(0, 50))),  # only an iron pot has an age
)


def taste(pull):
    """How good the soup is, from 0 to 1."""
    heat = 1 / (1 + abs(pull["temperature"] - 12) / 12)
    care = 1 - abs(pull["stirs"] - 7) / 20
    pot = 0.8 if pull["pot"] == "clay" else 1 - abs(pull["pot"]["age"] - 30) / 60
    return heat * care * pot


if __name__ == "__main__":
    study = ma.tune(taste, space, budget=400, seed=0)
    print(f"best of {len(study.counts.arms)}: {study.best_reward:.3f} with {study.best_config}")
