"""The arithmetic, the file and the time limits of `benchmarks/uci.py`."""
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

from uci_race.results import Result, Results, Run, read
from uci_race.searches import Found, best_in_time
from uci_race.sets import Task
from uci_race.spaces import as_trial, suggest, to_scipy
from uci_race.standings import Standings, page

import manyarms as ma

SPACE = ma.Space(
    rate=ma.Float(1e-3, 1, log=True),
    depth=ma.Int(1, 9, log=True),
    layers=ma.Choice([8], [8, 8]),
    kind=ma.Choice("a", None),
    n=3,
)


def result(name, split, method, accuracy, **others):
    told = {"limit": 60.0, "cores": 1, "status": "ok", "seconds": 59.0, "processor": 58.0, "version": "1", "note": ""}
    return Result(**{"set": name, "split": split, "method": method, "accuracy": accuracy, **told, **others})


def standings(table, splits=(0, 1)):
    """Of sets, each with an accuracy for every method: the mean of two splits."""
    rows = [
        result(name, split, method, accuracy + (0.01 if split else -0.01))
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


def test_equal_accuracies_share_the_mean_of_their_places():
    ranks = standings(THREE).ranks()
    assert ranks.loc["one"].to_dict() == {"ours": 1, "peer": 2.5, "other": 2.5}
    assert ranks.loc["two"].to_dict() == {"ours": 2, "peer": 1, "other": 3}
    assert ranks.loc["three"].to_dict() == {"ours": 2, "peer": 2, "other": 2}


def test_a_duel_counts_sets_won_tied_and_lost():
    assert standings(THREE).duel("ours", "peer") == (1, 1, 1)
    assert standings(THREE).duel("ours", "other") == (2, 1, 0)


def test_sets_with_missing_heats_are_left_out():
    runs = standings(THREE).runs
    short = Standings.of(runs[~((runs["set"] == "two") & (runs["method"] == "peer") & (runs["split"] == 1))])
    assert short.left_out == ["two"] and sorted(short.accuracy.index) == ["one", "three"]
    assert set(short.runs["set"]) == {"one", "three"}


def test_the_page_tells_means_errors_and_ranks_best_rank_first():
    lines = page(standings(THREE), {"ours": "Ours"}, ["ours"]).splitlines()
    overall = [line for line in lines if "59.0 (59.0)" in line]
    assert [line.split(" | ")[0] for line in overall] == ["| Ours", "| peer", "| other"]
    error = np.std([90, 50, 70], ddof=1) / np.sqrt(3)
    assert f"| 70.00 ± {error:.2f} | 1.67 ± {np.std([1, 2, 2], ddof=1) / np.sqrt(3):.2f} |" in overall[0]
    assert "| peer | 1 / 1 / 1 | +0.00 ± 5.77 |" in lines
    assert "| one | **90.00** | 80.00 | 80.00 |" in lines


def test_a_page_of_nothing_that_can_be_compared_is_refused():
    with pytest.raises(ValueError, match="one set at least"):
        page(standings({"one": {"ours": 1.0}, "two": {"peer": 1.0}}), {}, [])


def test_a_line_cut_short_is_run_again_and_the_file_goes_on(tmp_path):
    file, runs = tmp_path / "uci.csv", [Run("one", split, "ours") for split in range(3)]
    with Results(file, 60, 1) as results:
        results.append(result("one", 0, "ours", 0.9, note='odd, "note"'))
        results.append(result("one", 1, "ours", 0.1, status="failed"))
    with open(file, "a") as torn:
        torn.write("one,2,ours,60.0,1,o")
    assert len(read(file)) == 2
    with Results(file, 60, 1) as results:
        assert results.missing(runs) == runs[2:]
        assert results.missing(runs, retry=True) == runs[1:]
        results.append(result("one", 1, "ours", 0.8))
        results.append(result("one", 2, "ours", 0.7))
    assert sorted(read(file)["accuracy"]) == [0.7, 0.8, 0.9]  # the failed one was replaced
    assert 'odd, "note"' in set(read(file)["note"])


def test_results_of_other_limits_do_not_go_into_one_file(tmp_path):
    with Results(tmp_path / "uci.csv", 60, 1) as results:
        results.append(result("one", 0, "ours", 0.9))
    with pytest.raises(ValueError, match="60 and 1, got 30 and 2"):
        Results(tmp_path / "uci.csv", 30, 2)


def test_two_runs_cannot_write_to_one_file(tmp_path):
    with Results(tmp_path / "uci.csv", 60, 1), pytest.raises(ValueError, match="no other run"):
        Results(tmp_path / "uci.csv", 60, 1)


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


def test_a_search_is_ended_when_its_time_is_over_and_its_best_is_kept():
    now = iter([0.0, 0.0, 600.0])  # after each of the three that are found
    best, tried = best_in_time(improving, Task(None, None, seconds=600, cores=1, seed=0, began=0.0), None, now.__next__)
    assert best.config == {"depth": 3} and tried == 3


def test_a_search_that_breaks_is_no_result():
    with pytest.raises(RuntimeError, match="no more"):
        best_in_time(broken, Task(None, None, seconds=600, cores=1, seed=0), None)
