"""Studies opened for reading: they show what their writer sees."""

import copy
import json
import pickle
import sqlite3

import pandas as pd
import pytest
from rechaining import rechain

import manyarms as ma
from manyarms.errors import NoResult, StorageError, StudyClosed, StudyNotFound
from manyarms.journal import Event, MemoryJournal
from manyarms.journal.database import parse_url, place_of, url_to_reopen

pytestmark = pytest.mark.filterwarnings("ignore::manyarms.errors.ManyarmsWarning")  # small studies are not good ones

SPACE = ma.Space(x=ma.Float(0, 1), act=ma.Choice("relu", "tanh"))


class Walk:
    """A space of one's own, which cannot be described."""

    def sample(self, rng):
        return {"x": float(rng.random())}

    def mutate(self, config, rng):
        return {"x": float(rng.random())}


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path}/studies.db"


def train(pull):
    if pull.config["x"] > 0.9:
        raise RuntimeError("too large")
    pull.report(pull.config["x"])
    return {"reward": pull.config["x"] * pull.stop, "loss": 1 - pull.config["x"], "cost": 0.5}


def run(storage, name="study", direction="maximize", budget=60, space=SPACE, function=train):
    strategy = ma.MutantUCB(space, budget=budget, max_steps=5, initial=6, seed=1)
    study = ma.Study(strategy, storage=storage, name=name, direction=direction)
    study.optimize(function, progress=False)
    return study


def assert_same(view, study):
    assert view.best() == study.best()
    assert (view.best_config, view.best_reward, view.max_steps) == (study.best_config, study.best_reward, study.max_steps)
    assert vars(view.counts) == vars(study.counts)
    pd.testing.assert_frame_equal(view.arms_dataframe(), study.arms_dataframe())
    pd.testing.assert_frame_equal(view.pulls_dataframe(), study.pulls_dataframe())


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_a_reader_sees_what_the_writer_sees_while_it_writes_and_after(storage, direction):
    with run(storage, direction=direction) as study:
        assert study.counts.failures > 0
        with ma.load_study(storage) as view:
            assert_same(view, study)
            view_of_the_past = view.best_reward, view.counts.pulls
        study.close()
        with run(storage, direction=direction, budget=90) as longer, ma.load_study(storage) as view:
            assert_same(view, longer)
            assert view.counts.pulls > view_of_the_past[1]


def test_a_reader_sees_pulls_in_flight_once_they_are_recorded(storage):
    with ma.Study(ma.RandomSearch(SPACE, budget=10, max_steps=1, seed=0), storage=storage) as study:
        first, second = study.ask(), study.ask()
        study.tell(first, 0.5, seconds=2.0)
        with ma.load_study(storage) as view:
            assert_same(view, study)
            assert view.arms_dataframe()["status"].tolist() == ["done", "running"]
            assert view.pulls_dataframe()["arm"].tolist() == [first.arm.id, second.arm.id]


def test_a_reader_of_a_study_without_results_says_so(storage):
    with ma.Study(ma.RandomSearch(SPACE, budget=3, max_steps=1, seed=0), storage=storage) as study:
        with ma.load_study(storage) as view, pytest.raises(NoResult, match="no pull has ended yet"):
            view.best()
        assert list(view.counts.arms) == []
        with pytest.raises(NoResult):
            study.optimize(lambda config: 1 / 0, progress=False)
        with ma.load_study(storage) as view, pytest.raises(NoResult, match="all 3 pulls failed.*ZeroDivisionError"):
            view.best_config  # noqa: B018
        assert view.arms_dataframe()["status"].tolist() == ["failed"] * 3


def test_a_reader_cannot_change_the_study(storage):
    run(storage).close()
    with ma.load_study(storage) as view:
        assert not hasattr(view, "tell")
        with pytest.raises(StorageError, match="opened for reading"):
            view.journal.append([Event("budget", data={"budget": 1})])


def test_a_missing_study_is_refused_with_the_names_of_those_there(storage, tmp_path):
    with pytest.raises(StudyNotFound, match="there is no file '.*studies.db'"):
        ma.load_study(storage)
    assert list(tmp_path.iterdir()) == []
    for name in ("one", "it's"):
        run(storage, name).close()
    with pytest.raises(StudyNotFound, match="there is no study 'none' in .*studies.db: it contains 'one', \"it's\""):
        ma.load_study(storage, "none")
    with pytest.raises(StudyNotFound, match="there is no study 'none'"):
        ma.load_study(MemoryJournal("none"), "none")


def test_the_only_study_needs_no_name(storage):
    run(storage, "mine").close()
    with ma.load_study(storage) as view:
        assert view.name == "mine"


def test_one_of_several_studies_needs_a_name_unless_it_has_the_default_one(storage):
    for name in ("one", "it's"):
        run(storage, name).close()
    with pytest.raises(StudyNotFound, match="2 studies. Give the name of one of them: 'one', \"it's\"$"):
        ma.load_study(storage)
    with ma.load_study(storage, "one") as view:
        assert view.name == "one"
    run(storage).close()
    with ma.load_study(storage) as view:
        assert view.name == "study"


@pytest.mark.parametrize(("direction", "best"), [("maximize", max), ("minimize", min)])
def test_a_study_of_a_space_of_ones_own_falls_back_to_the_best_reward(storage, direction, best):
    with run(storage, direction=direction, space=Walk()) as study, ma.load_study(storage) as view:
        arms = study.arms_dataframe()
        sound = arms[arms["status"].isin(["paused", "done"])]
        assert view.best_reward == best(sound["best_reward"])
        assert view.best_config == study.counts.arms[view.best().id].arm.config
        pd.testing.assert_frame_equal(view.arms_dataframe(), arms)
        pd.testing.assert_frame_equal(view.pulls_dataframe(), study.pulls_dataframe())


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_a_study_of_a_space_of_ones_own_is_whole_where_the_space_is_given(storage, direction):
    with run(storage, direction=direction, space=Walk()) as study, ma.load_study(storage, space=Walk()) as view:
        assert_same(view, study)


def test_a_space_that_is_not_that_of_the_study_is_refused(storage):
    class Jump(Walk):
        def sample(self, rng):
            return {"x": float(rng.random() / 2)}

    with run(storage, space=Walk()):
        with pytest.raises(ma.StudyMismatch, match="asks for arm 0 from 0"):
            ma.load_study(storage, space=Jump())
        with pytest.raises(ma.StudyMismatch, match="created with space=None, but now has space={'space':"):
            ma.load_study(storage, space=ma.Space(x=ma.Float(0, 1)))


def test_an_arm_whose_last_pull_failed_is_only_the_best_if_there_is_no_other(storage):
    def stumble(pull):
        if pull.start and pull.config["x"] > 0.5:
            raise RuntimeError("out of luck")
        return pull.config["x"]

    with run(storage, space=Walk(), function=stumble) as study, ma.load_study(storage) as view:
        records = study.counts.arms.values()
        assert view.best_reward == max(record.reward for record in records if not record.failed)
        assert view.best_reward < max(record.reward for record in records if record.reward is not None)


def test_a_study_that_another_version_would_not_have_made_is_shown_by_its_counts(storage, tmp_path):
    with run(storage) as study:
        arms = study.arms_dataframe()
    with sqlite3.connect(tmp_path / "studies.db") as base:
        text = base.execute("SELECT header FROM manyarms_studies").fetchone()[0]
        header = json.loads(text)
        header["settings"]["exploration"] = 0.5
        base.execute("UPDATE manyarms_studies SET header = ?", [json.dumps(header)])
    base.close()
    rechain(tmp_path / "studies.db")
    with ma.load_study(storage) as view:
        sound = arms[arms["status"] != "failed"]
        assert view.best_reward == sound["reward"].max()
        pd.testing.assert_frame_equal(view.arms_dataframe(), arms)


def test_a_journal_of_ones_own_can_be_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where checkpoints go if the storage has no place of its own
    journal = MemoryJournal("study")
    with run(journal) as study:
        assert_same(ma.load_study(journal), study)


def test_a_view_shows_the_moment_it_was_opened(storage):
    with ma.Study(ma.RandomSearch(SPACE, budget=100, max_steps=1, seed=0), storage=storage) as study:
        for reward in (0.1, 0.05):
            study.tell(study.ask(), reward)
        with ma.load_study(storage) as view:
            study.tell(study.ask(), 0.9)
            assert view.best_reward == 0.1
            assert view.counts.pulls == len(view.pulls_dataframe()) == len(view.arms_dataframe()) == 2


@pytest.mark.parametrize("copied", [lambda view: pickle.loads(pickle.dumps(view)), copy.deepcopy], ids=["pickled", "copied"])
@pytest.mark.parametrize("options", [{}, {"space": SPACE}], ids=["counted", "replayed"])
def test_a_view_is_pickled_and_copied_as_one_with_a_connection_of_its_own(tmp_path, monkeypatch, copied, options):
    monkeypatch.chdir(tmp_path)
    with run("odd%20 name?.db") as study:
        view = ma.load_study("odd%20 name?.db", **options)
        monkeypatch.chdir("/")  # as another process may be
        twin = copied(view)
        view.close()
        assert_same(twin, study)
        twin.close()


def test_a_shallow_copy_of_a_view_shares_its_connection(storage):
    with run(storage) as study:
        view = ma.load_study(storage)
        twin = copy.copy(view)
        assert_same(twin, study)
        view.close()
        with pytest.raises(StudyClosed):
            twin.pulls_dataframe()


def test_a_study_that_is_written_is_not_pickled_and_says_what_to_do(storage):
    with (
        run(storage) as study,
        pytest.raises(TypeError, match="study 'study' cannot be pickled .* open it with load_study instead"),
    ):
        pickle.dumps(study)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_study_in_memory_is_not_copied_because_both_would_use_the_same_checkpoints(copied):
    with run(None) as study, pytest.raises(TypeError, match="study 'study' cannot be pickled or copied"):
        copied(study)


def reopened(storage):
    url = parse_url(storage)
    return url_to_reopen(url, place_of(url))


@pytest.mark.parametrize("options", ["ada:secret@host/base", "host/base?user=ada&password=secret"])
def test_a_password_is_not_pickled(options):
    with pytest.raises(TypeError, match="has a password, which is never stored: call load_study") as refused:
        reopened(f"postgresql://{options}")
    assert "secret" not in str(refused.value)


def test_a_server_is_found_again_by_its_url():
    url = "postgresql+psycopg://ada@host:5433/base?reconnect_timeout=5s"
    assert reopened(url) == url


def test_a_closed_study_says_that_it_is_closed_whatever_is_asked_of_its_journal(storage):
    study = run(storage)
    view = ma.load_study(storage)
    for one in (study, view):
        one.close()
        with pytest.raises(StudyClosed, match="study 'study' is closed: open it again with load_study"):
            one.pulls_dataframe()
    with pytest.raises(StudyClosed, match="study 'study' is closed"):
        view.best()
    assert len(view.arms_dataframe()) > 0
