"""Stop when 20 arms in a row found nothing better."""

import manyarms as ma


def objective(pull):
    x, y = pull["x"], pull["y"]
    return (x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2  # Himmelblau's function


def stop_without_progress(study, outcome):
    if outcome.pull.arm.id - study.best().id >= 20:
        study.stop()


if __name__ == "__main__":
    space = {"x": (-5.0, 5.0), "y": (-5.0, 5.0)}
    study = ma.tune(objective, space, budget=200, direction="minimize", callbacks=[stop_without_progress], seed=0)
    print(study.best_config)
    print(f"best {study.best_reward:.4f} after {study.counts.steps} steps")
