"""The tables, runs and time limits of `benchmarks/uci.py`."""
# ruff: noqa: E402  (what it needs may not be installed)

import sys
import time
from itertools import count
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("psutil")
pytest.importorskip("sklearn")
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from uci_race.datasets import Split, Task
from uci_race.results import LAYOUT, Run
from uci_race.runs import failure_rows_of
from uci_race.searches import Found, best_in_time
from uci_race.spaces import as_trial, suggest, to_scipy
from uci_race.standings import Standings, page

import manyarms as ma
from manyarms.bench.runs.pool import Finished
from manyarms.bench.runs.results import Results, read

SPACE = ma.Space(
    rate=ma.Float(1e-3, 1, log=True),
    depth=ma.Int(1, 9, log=True),
    layers=ma.Choice([8], [8, 8]),
    kind=ma.Choice("a", None),
    n=3,
)


def row(dataset, split, method, accuracy, **others):
    usual = {"limit": 60.0, "cores": 1, "status": "ok", "seconds": 59.0, "processor": 58.0, "version": "1", "note": ""}
    return {"dataset": dataset, "split": split, "method": method, "accuracy": accuracy, **usual, **others}


def standings(table, splits=(0, 1)):
    """Standings from the mean accuracy of each method on each dataset, over two splits."""
    rows = [
        row(name, split, method, accuracy + (0.01 if split else -0.01))
        for name, accuracies in table.items()
        for method, accuracy in accuracies.items()
        for split in splits
    ]
    return Standings.of(pd.DataFrame(rows))


THREE = {
    "one": {"ours": 0.9, "peer": 0.8, "other": 0.8},
    "two": {"ours": 0.5, "peer": 0.6, "other": 0.4},
    "three": {"ours": 0.7, "peer": 0.7, "other": 0.7},
}


def test_accuracies_are_means_over_the_splits():
    assert standings(THREE).accuracy.loc["one"].to_dict() == THREE["one"]


def test_equal_accuracies_share_their_mean_rank():
    ranks = standings(THREE).ranks()
    assert ranks.loc["one"].to_dict() == {"ours": 1, "peer": 2.5, "other": 2.5}
    assert ranks.loc["two"].to_dict() == {"ours": 2, "peer": 1, "other": 3}
    assert ranks.loc["three"].to_dict() == {"ours": 2, "peer": 2, "other": 2}


def test_a_duel_counts_datasets_won_tied_and_lost():
    assert standings(THREE).duel("ours", "peer") == (1, 1, 1)
    assert standings(THREE).duel("ours", "other") == (2, 1, 0)


def test_datasets_with_missing_runs_are_left_out():
    runs = standings(THREE).runs
    short = Standings.of(runs[~((runs["dataset"] == "two") & (runs["method"] == "peer") & (runs["split"] == 1))])
    assert short.left_out == ["two"] and sorted(short.accuracy.index) == ["one", "three"]
    assert set(short.runs["dataset"]) == {"one", "three"}


def test_the_page_has_means_errors_and_ranks_best_rank_first():
    lines = page(standings(THREE), {"ours": "Ours"}, ["ours"]).splitlines()
    overall = [line for line in lines if "59.0 (59.0)" in line]
    assert [line.split(" | ")[0] for line in overall] == ["| Ours", "| peer", "| other"]
    error = np.std([90, 50, 70], ddof=1) / np.sqrt(3)
    assert f"| 70.00 ± {error:.2f} | 1.67 ± {np.std([1, 2, 2], ddof=1) / np.sqrt(3):.2f} |" in overall[0]
    assert "| peer | 1 / 1 / 1 | +0.00 ± 5.77 |" in lines
    assert "| one | **90.00** | 80.00 | 80.00 |" in lines


def test_a_page_without_comparable_runs_is_refused():
    with pytest.raises(ValueError, match="at least one dataset"):
        page(standings({"one": {"ours": 1.0}, "two": {"peer": 1.0}}), {}, [])


def test_stored_runs_are_skipped_and_other_limits_are_refused(tmp_path):
    file, runs = tmp_path / "uci.parquet", [Run("one", split, "ours") for split in range(2)]
    with Results(file, LAYOUT, {"limit": 60.0, "cores": 1}) as results:
        results.add([row("one", 0, "ours", 0.9, note='odd, "note"')])
    with Results(file, LAYOUT, {"limit": 60.0, "cores": 1}) as results:
        assert results.keys() == {runs[0].key}
    with pytest.raises(ValueError, match="cores = 1, not 2"):
        Results(file, LAYOUT, {"limit": 60.0, "cores": 2})
    assert read(file, LAYOUT)["note"].to_pylist() == ['odd, "note"']


def test_a_failed_run_gets_the_accuracy_of_the_most_frequent_class(monkeypatch):
    train, test = pd.DataFrame({"x": range(3)}), pd.DataFrame({"x": range(4)})
    split = Split(train, np.array(["a", "b", "a"], dtype=object), test, np.array(["a", "a", "a", "b"], dtype=object))
    monkeypatch.setattr("uci_race.datasets.split", lambda name, number: split)
    finished = Finished(Run("one", 0, "forest"), None, "not finished after 150 seconds", 150.0)
    (found,) = failure_rows_of(finished, {"limit": 60.0, "cores": 1})
    assert (found["status"], found["accuracy"], found["note"]) == ("failed", 0.75, "not finished after 150 seconds")
    assert found.keys() == set(LAYOUT.schema.names)


def test_scikit_learn_draws_configs_of_the_space():
    from sklearn.model_selection import ParameterSampler

    drawn = list(ParameterSampler(to_scipy(SPACE), 200, random_state=0))
    assert all(map(SPACE.contains, drawn))
    assert {config["depth"] for config in drawn} == set(range(1, 10))
    assert 0.4 < np.mean([config["rate"] < np.sqrt(1e-3) for config in drawn]) < 0.6  # uniform in the logarithm


def test_optuna_suggests_configs_of_the_space_and_begins_with_a_given_one():
    optuna = pytest.importorskip("optuna")
    study, first = optuna.create_study(), {"rate": 0.01, "depth": 2, "layers": [8, 8], "kind": None, "n": 3}
    study.enqueue_trial(as_trial("tree", first))
    configs = []
    for _ in range(20):
        trial = study.ask()
        trial.suggest_categorical("family", ["tree"])
        configs.append(suggest(trial, "tree", SPACE))
    assert configs[0] == first and all(map(SPACE.contains, configs))


def improving(task, candidates):
    for number in count(1):
        yield Found(number / 100, "tree", {"depth": number}, 0.0)
        if number == 3:
            time.sleep(600)  # what is under way when the time is over


def broken(task, candidates):
    yield Found(0.5, "tree", {}, 0.0)
    raise ArithmeticError("no more")


def test_a_search_is_ended_when_its_time_is_over_and_its_best_candidate_is_kept():
    now = iter([0.0, 0.0, 600.0])  # after each of the three that are found
    best, tried = best_in_time(improving, Task(None, None, seconds=600, cores=1, seed=0, began=0.0), None, now.__next__)
    assert best.config == {"depth": 3} and tried == 3


def test_a_search_that_fails_has_no_result():
    with pytest.raises(RuntimeError, match="no more"):
        best_in_time(broken, Task(None, None, seconds=600, cores=1, seed=0), None)
