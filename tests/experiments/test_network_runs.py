"""The summaries and the result file of the network experiments; no network is trained here."""

import sys
from pathlib import Path

import numpy as np
import pytest

import manyarms as ma
from manyarms.bench.runs.results import Results

sys.path.append(str(Path(__file__).parents[2] / "experiments" / "networks"))

from appendix_b import Family, Listed
from appendix_b import warmth as warmth_of_mutants
from results import LAYOUT, Found, best_so_far, load, to_json
from scale import Scale, shrunk
from summaries import at, markdown, percent, steps_until
from table1 import COLD, best_by_dataset, mean_warmth, methods, warmth

CURVE = [(3, 0.2), (6, 0.5), (9, 0.8)]


def row(seed, curve, scale):
    measured = {"test": 0.75, "valid": 0.8, "models": 12, "steps": 90, "failed": 0, "seconds": 1.5}
    steps, accuracies = zip(*curve, strict=True)
    identity = {"dataset": "mnist", "method": COLD, "seed": seed, "scale": to_json(scale)}
    return {**identity, **measured, "curve_steps": steps, "curve_accuracy": accuracies}


def found(*curves, test=0.5):
    return [Found(seed, test, 10, 0, 1.0, curve) for seed, curve in enumerate(curves)]


def test_the_best_so_far_never_decreases():
    assert best_so_far([(1, 0.3), (2, 0.2), (3, 0.3), (4, 0.6)]) == [(1, 0.3), (4, 0.6)]


def test_a_curve_is_constant_between_its_points():
    assert [at(CURVE, 3), at(CURVE, 8), at(CURVE, 100)] == [0.2, 0.5, 0.8]
    assert np.isnan(at(CURVE, 2))


def test_steps_until_an_accuracy():
    assert [steps_until(CURVE, level) for level in (0.1, 0.5, 0.6, 0.9)] == [3, 6, 9, None]


def test_warm_mutants_are_compared_with_cold_ones_seed_by_seed():
    cold = found([(5, 0.4), (80, 0.7)], [(60, 0.9)], CURVE)  # there is no third seed of warm ones
    warm = found([(5, 0.4), (20, 0.75)], [(50, 0.8)])
    rows = warmth({("mnist", COLD): cold, ("mnist", "MutantUCB"): warm}, ["mnist"])
    assert rows == [("MNIST", "80.00 ± 10.00", "1 of 2", "20", "70", "1 of 2")]


def test_warm_mutants_are_compared_with_cold_ones_on_average():
    runs = {("mnist", COLD): found([(5, 0.4), (80, 0.6)], [(60, 0.8)]), ("mnist", "MutantUCB"): found([(5, 0.6)], [(50, 0.8)])}
    assert mean_warmth(runs, ["mnist", "mrbi"], 90) == [("MNIST", "70.00", 50, 80)]
    runs["mnist", "MutantUCB"] = found(CURVE, [(5, 0.4)])
    assert mean_warmth(runs, ["mnist"], 90) == [("MNIST", "70.00", "never", 80)]


def test_the_datasets_on_which_ours_are_best_are_counted():
    runs = {("mnist", "MutantUCB"): found(CURVE, test=0.9), ("mnist", "Hyperband"): found(CURVE, test=0.8)}
    runs |= {("mrbi", "AdaptiveMutantUCB"): found(CURVE, test=0.6), ("mrbi", "RandomSearch"): found(CURVE, test=0.7)}
    assert best_by_dataset(runs, ["mnist", "mrbi"]).startswith("Best on average: MNIST: MutantUCB, MRBI: RandomSearch.")
    assert best_by_dataset(runs, ["mnist", "mrbi"]).endswith("on 1 of 2.")


def test_runs_are_stored_with_their_scale_and_curves(tmp_path):
    path, scale = tmp_path / "runs.parquet", Scale(budget=90)
    with Results(path, LAYOUT, {"scale": to_json(scale)}) as results:
        for seed in (1, 0):
            results.add([row(seed, [(9, 0.4), (18, 0.3), (27, 0.5)], scale)])
    with Results(path, LAYOUT, {"scale": to_json(scale)}) as results:
        assert results.keys() == {("mnist", COLD, 0), ("mnist", COLD, 1)}
    stored, runs = load(path)
    assert stored == scale and [run.seed for run in runs["mnist", COLD]] == [0, 1]
    assert runs["mnist", COLD][0] == Found(0, 0.75, 12, 0, 1.5, [(9, 0.4), (27, 0.5)])


def test_runs_of_another_scale_are_refused(tmp_path):
    path = tmp_path / "runs.parquet"
    with Results(path, LAYOUT) as results:
        results.add([row(0, CURVE, Scale(budget=90))])
    with pytest.raises(ValueError, match='"budget": 90'):
        Results(path, LAYOUT, {"scale": to_json(Scale(budget=91))})


def test_without_a_result_file_the_table_says_what_to_do(tmp_path):
    with pytest.raises(SystemExit, match="does not exist"):
        load(tmp_path / "runs.parquet")


def test_images_shrink_by_the_means_of_squares():
    x = np.arange(2 * 5 * 4).reshape(2, 5, 4)
    assert shrunk(x, 2).shape == (2, 2, 2, 1)
    assert shrunk(x, 2)[0, 0, 0, 0] == np.mean([0, 1, 4, 5])
    assert shrunk(np.zeros((3, 32, 32, 3)), 2).shape == (3, 16, 16, 3)


def test_every_method_fits_the_budget():
    from manyarms import Float, Space

    scale = Scale()
    names = [method.name for method in methods(scale, cold=True)]
    assert len(set(names)) == 6
    for method in methods(scale, cold=True):
        assert method.strategy(Space(x=Float(0, 1)), scale, seed=0).ask() is not None


def test_tables_are_markdown():
    assert markdown(("", "a"), [("b", percent([0.5]))]) == "|  | a |\n| --- | --: |\n| b | 50.00 |"


def test_mutants_are_compared_one_by_one_with_the_same_mutants_begun_cold():
    warm, cold = [[0.5, 0.7, 0.7], [0.1, 0.2, 0.6], [0.3, 0.3, 0.3]], [[0.2, 0.4, 0.6], [0.2, 0.4, 0.6], [0.1, 0.2, 0.4]]
    family = Family.of([[0.1, 0.3, 0.5], *warm], [[0.1, 0.3, 0.5], *cold])
    assert family.steps == [2, 3, 4]
    assert warmth_of_mutants([family]) == ("3", "3", "33%", "33%", "33%")
    assert family.row() == ("50.0", "60.0, 67%", "60.0, 67%")


def test_a_network_whose_training_fails_counts_as_nothing_and_the_next_is_trained():
    strategy = Listed([ma.Arm(0, "a"), ma.Arm(1, "b")], steps=2)
    told = []
    while (pull := strategy.ask()) is not None:
        told.append((pull.arm.id, pull.start))
        strategy.tell(pull, None if told[-1] == (0, 1) else 0.5)
    assert told == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert strategy.rewards == [[0.5, 0.0], [0.5, 0.5]]
    assert strategy.best().id == 0
