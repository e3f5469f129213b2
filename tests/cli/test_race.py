"""`race`, on problems that take no time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

import pandas as pd
import psutil
import pytest
from commands import quick_directory, refused
from waiting import PATIENCE

from manyarms import cli
from manyarms.cli import race as command
from manyarms.strategies import DEFAULT_STRATEGY

FAST = ("race", "--quick", "--problems", "fast curves", "--peers", "none", "--workers", 2, "--budget", 5)
TWO = (*FAST, "--strategies", DEFAULT_STRATEGY, "RandomSearch")
KEY = ["family", "problem", "method", "seed", "budget", "trainings", "version"]


def stored(path):
    """The rows of a file, sorted, without the times, which differ between runs."""
    return pd.read_parquet(path).drop(columns="deciding").sort_values(KEY, ignore_index=True)


STOPPING = """
import os, signal, sys
from manyarms import cli

replace = os.replace

def replace_and_stop(*paths):
    os.replace = replace
    replace(*paths)
    os.kill(os.getpid(), signal.SIGSTOP)

os.replace = replace_and_stop
cli.main(sys.argv[1:])
"""


def stopped(*arguments):
    """The command in its own process, which is halted as soon as the first runs are stored."""
    command = [sys.executable, "-c", STOPPING, *map(str, arguments)]
    enable = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731 - Ctrl-C, also if the tests run in the background
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=enable)
    assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
    assert os.path.exists("race.parquet")
    return process


@pytest.fixture(scope="module")
def race_file():
    """A race of two methods on two problems."""
    with quick_directory() as directory:
        path = os.path.join(directory, "race.parquet")
        with pytest.raises(SystemExit) as end:
            cli.main([str(argument) for argument in (*TWO, "--seeds", 2, "--quiet", "--out", path)])
        assert end.value.code == 0
        yield path


@pytest.fixture
def raced(manyarms, race_file):
    """Runs a command in a directory with the results of that race."""
    shutil.copy(race_file, ".")
    return manyarms


def test_a_race_prints_tables_and_stores_its_results(place, manyarms):
    answer = manyarms(*TWO, "--seeds", 2, "--markdown", "tables.md", "--plots", "plots")
    assert answer.code == 0, answer.err
    for words in ("Regret in %, fast curves: 2 problems, 2 seeds", "Mean rank over 2 problems", "Time spent deciding"):
        assert words in answer.out and f"### {words}" in (place / "tables.md").read_text()
    assert "8 runs, 8 of them new" in answer.err
    assert {path.name for path in (place / "plots").iterdir()} == {"anytime.png", "differences-5.png"}
    rows = stored(place / "race.parquet")
    assert len(rows) == 8 * 4 and rows["trainings"].unique().tolist() == [1, 2, 3, 5]
    assert not rows.duplicated(KEY).any()


def test_only_missing_runs_are_executed(place, raced):
    before = pd.read_parquet("race.parquet")
    answer = raced(*TWO, "--seeds", 2)
    assert "8 runs, 0 of them new" in answer.err
    assert pd.read_parquet("race.parquet").equals(before)
    answer = raced(*TWO, "--seeds", 3, "--half", "tuned")
    assert "6 runs, 2 of them new" in answer.err
    assert "1 problem, 3 seeds" in answer.out
    answer = raced(*TWO[:-1], "--seeds", 1)
    assert "2 runs, 0 of them new" in answer.err and "RandomSearch" not in answer.out


def test_named_methods_run_again(place, raced):
    before = pd.read_parquet("race.parquet")
    answer = raced(*TWO, "--seeds", 1, "--again", "randomsearch")
    assert "4 runs, 2 of them new" in answer.err
    pd.testing.assert_frame_equal(stored("race.parquet"), stored_of(before))
    deciding = pd.read_parquet("race.parquet").merge(before, on=KEY)
    changed = deciding[deciding["deciding_x"] != deciding["deciding_y"]]
    assert set(changed["method"]) == {"RandomSearch"} and set(changed["seed"]) == {0}


def stored_of(rows):
    return rows.drop(columns="deciding").sort_values(KEY, ignore_index=True)


def test_a_killed_race_resumes_and_ends_as_if_it_had_not_been_killed(place, manyarms):
    arguments = (*TWO, "--seeds", 4, "--quiet")
    process = stopped(*arguments)
    workers = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    alive = psutil.wait_procs(workers, timeout=PATIENCE)[1]
    assert not alive
    kept = stored("race.parquet")
    assert 0 < len(kept) < 16 * 4 and (kept.groupby(KEY[:-2]).size() == 4).all()
    assert manyarms(*arguments).code == 0
    whole = stored("race.parquet")
    assert len(whole) == 16 * 4 and not whole.duplicated(KEY).any()
    assert manyarms(*arguments, "--out", "other.parquet").code == 0
    pd.testing.assert_frame_equal(whole, stored("other.parquet"))


def test_ctrl_c_reports_what_is_stored_and_how_to_resume(place, manyarms):
    process = stopped(*TWO, "--seeds", 200)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and out == ""
    runs = pd.read_parquet("race.parquet").groupby(KEY[:-2]).ngroups
    assert f"Interrupted. {runs} of 800 runs are stored in race.parquet. Run the same command again to resume." in err
    assert "Traceback" not in err


def test_a_run_that_fails_is_reported_at_the_end_and_the_others_are_stored(place, manyarms):
    answer = manyarms(
        "race", "--quick", "--problems", "fast curves", "--peers", "none", "--budget", 1, "--seeds", 2, "--workers", 1
    )
    assert answer.code == 1
    assert "failed: ValueError: budget must be" in answer.err and "(and 3 more like it)" in answer.err
    assert "Regret in %" in answer.out and DEFAULT_STRATEGY in set(stored("race.parquet")["method"])


def test_a_report_executes_nothing_and_may_be_restricted(place, raced, monkeypatch):
    monkeypatch.setattr(command, "_run", None)
    before = (place / "race.parquet").stat().st_mtime_ns
    full = raced("race", "--report")
    assert full.code == 0 and "2 problems, 2 seeds" in full.out and full.err == ""
    part = raced(
        "race", "--report", "--half", "reported", "--strategies", DEFAULT_STRATEGY.lower(), "--seeds", 1, "--budget", 3
    )
    assert part.code == 0 and "1 problem, 1 seed" in part.out and "RandomSearch" not in part.out
    assert (place / "race.parquet").stat().st_mtime_ns == before
    assert refused(raced("race", "--report", "--problems", "LCBench"), 2, "problems must be among fast curves; got 'LCBench'")
    assert refused(raced("race", "--report", "--strategies", "none"), 2, "has no matching runs")


def test_a_report_without_a_file_is_refused(manyarms):
    assert refused(manyarms("race", "--report"), 1, "The result file 'race.parquet' does not exist")


@pytest.mark.parametrize("arguments", [TWO, ("race", "--report")])
def test_a_corrupt_file_is_refused(place, manyarms, arguments):
    (place / "race.parquet").write_bytes(b"PAR1")
    assert refused(manyarms(*arguments), 1, "'race.parquet' is corrupt or not a Parquet file")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--problems", "slow"), 2, "problems must be among LCBench, TaskSet"),
        (("--strategies", "UCB"), 2, "strategies must be among AdaptiveMutantUCB, MutantUCB"),
        (("--peers", "Optuna"), 2, "peers must be among "),
        (("--again", "Optuna"), 2, "--again must be among "),
        (("--seeds", 0), 2, "--seeds must be at least 1, got 0"),
        (("--budget", 0), 2, "--budget must be at least 1, got 0"),
        (("--workers", 0), 2, "--workers must be at least 1, got 0"),
        (("--markdown", "no/such/tables.md"), 2, "--markdown must be a file in an existing directory, got 'no/such/tables.md'"),
        (("--patience", 0), 2, "--patience must be above 0, got 0"),
        (("--problems", "fast curves", "--peers", "none", "--strategies", "none"), 2, "Nothing to run"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(manyarms, arguments, code, words):
    assert refused(manyarms("race", *arguments), code, words)


def test_missing_data_is_an_error_only_if_its_family_is_named(manyarms, monkeypatch):
    monkeypatch.setenv("MANYARMS_DATA", "/nowhere")
    from manyarms.bench.race import families

    for family in families.FAMILIES.values():
        monkeypatch.setitem(families.FAMILIES, family.name, families.Family(family.name, family.make, family.half))
    assert refused(
        manyarms("race", "--problems", "lcbench"), 1, "The problems of LCBench are not available: The data directory"
    )
    listed = manyarms("race", "--list")
    assert listed.code == 0 and "LCBench" in listed.out and "not available: The data directory" in listed.out


def test_the_list_names_families_and_methods(manyarms):
    listed = manyarms("race", "--list")
    assert listed.code == 0
    for words in ("crossing curves", DEFAULT_STRATEGY, "Optuna TPE", 'pip install "manyarms[peers]"'):
        assert words in listed.out


def test_without_its_packages_the_race_says_what_to_install(manyarms, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert refused(manyarms("race", "--list"), 2, 'pip install "manyarms[race]"')
