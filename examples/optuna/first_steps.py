"""Find the minimum of a function of one variable."""

import manyarms as ma


def objective(pull):
    return (pull["x"] - 2) ** 2


if __name__ == "__main__":
    study = ma.tune(objective, {"x": (-10.0, 10.0)}, budget=100, direction="minimize", seed=0)
    print(study.best_config)
    print(f"best {study.best_reward:.6f} after {study.counts.steps} steps")
