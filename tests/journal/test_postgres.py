"""Journals on a PostgreSQL server: locks, which last as long as the connection, and checkpoints."""

import json
import os
import signal
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from pg_outages import end_sessions, open_when_free
from waiting import wait_until

import manyarms as ma
from manyarms.checkpoints import OWNER
from manyarms.cli import main
from manyarms.errors import StorageError, StudyLocked
from manyarms.journal import Event
from manyarms.journal.database import parse_url
from manyarms.journal.sql import SqlJournal
from manyarms.study.verify import audit

EVENTS = [Event("asked", arm, 0, 1, data={"config": arm}) for arm in range(4)]
SPACE = ma.Space(x=ma.Float(0, 1))


def test_the_lock_is_free_when_its_holder_was_killed(postgres, start):
    def hold(ready):
        journal = SqlJournal(postgres, "study")
        journal.create({})
        journal.append(EVENTS)
        ready()
        signal.pause()

    holder = start(hold)
    with pytest.raises(StudyLocked, match="wait for it, stop it, or give this study another name"):
        SqlJournal(postgres, "study")
    holder.kill()
    with closing(open_when_free(postgres)) as journal:
        assert list(journal.events()) == EVENTS


# -- studies that are opened again


def opened(storage, budget=30):
    return ma.Study(ma.RandomSearch(SPACE, budget=budget, max_steps=1, seed=3), storage=storage, name="again")


def play(study, pulls):
    for _ in range(pulls):
        pull = study.ask()
        study.tell(pull, pull.config["x"])


def value(pull):
    return pull["x"]


def sessions(url):
    """The number of sessions that the library has on the server."""
    engine = sa.create_engine(parse_url(url))
    count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'manyarms %'"
    with engine.connect() as connection:
        found = connection.execute(sa.text(count)).scalar()
    engine.dispose()
    return found


def test_a_cell_with_a_stored_study_can_be_run_again(postgres, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    studies = [
        ma.tune(keep, SPACE, budget=budget, max_steps=1, storage=postgres, seed=0, progress=False) for budget in (10, 20)
    ]
    assert [study.counts.steps for study in studies] == [10, 20]
    assert wait_until(lambda: sessions(postgres) == 0)  # studies that have released the lock keep no session
    assert [len(study.pulls_dataframe()) for study in studies] == [10, 20]
    for study in studies:
        study.close()


def test_of_two_objects_in_one_process_the_newer_one_holds_the_lock_until_it_is_closed(postgres):
    with opened(postgres) as older:
        play(older, 3)
        with opened(postgres) as newer:
            play(newer, 3)
            with pytest.raises(StudyLocked, match="is held by another Study object in this process"):
                older.ask()
        play(older, 3)
        assert older.counts.pulls == 9
        assert list(audit(older.journal)) == []


def test_a_study_inside_optimize_is_neither_taken_over_nor_written_by_another_process(postgres, start):
    read, write = os.pipe()

    def attempt(ready):
        try:
            opened(postgres)
        except StudyLocked as error:
            os.write(write, str(error).encode())
        ready()

    def look(study, outcome):
        with pytest.raises(StudyLocked, match="in this process, by a Study object inside optimize"):
            opened(postgres)
        start(attempt)

    with opened(postgres, 1) as study:
        study.optimize(value, progress=False, callbacks=[look])
        assert "is being written by another process" in os.read(read, 9999).decode()
        with opened(postgres, 5) as newer:
            newer.optimize(value, progress=False)
        study.optimize(value, progress=False)
        assert study.counts.pulls == study.budget == 5
    os.close(read), os.close(write)


def test_a_process_killed_in_between_leaves_a_study_that_an_older_object_continues(postgres, start):
    study = opened(postgres, 5)
    study.optimize(value, progress=False)

    def run(ready):
        other = opened(postgres, 30)
        play(other, 3)
        other.ask()
        ready()
        signal.pause()

    other = start(run)
    with pytest.raises(StudyLocked, match="is being written by another process"):
        study.ask()
    other.kill()
    assert wait_until(lambda: is_free(study))
    study.optimize(value, progress=False)
    assert study.counts.pulls == 30
    study.close()


def is_free(study):
    """Whether the server has noticed that the process has ended, so that the study gets the lock."""
    try:
        study.ask()
    except StudyLocked:
        return False
    return True


def test_a_session_of_a_released_study_that_the_server_ended_is_made_again(postgres):
    with opened(postgres, 5) as study:
        study.optimize(value, progress=False)
        assert len(study.pulls_dataframe()) == 5
        end_sessions(postgres)
        study.optimize(value, budget=10, progress=False)
        assert study.counts.pulls == 10


# -- checkpoints


def keep(pull):
    pull.save(pull["x"])
    return pull["x"]


def models():
    return {path.name for path in Path("manyarms-checkpoints").glob("*/arm-*")}


def search(storage, budget=15, **options):
    """Run a study. Returns the number of steps that were trained again."""
    with ma.Study(ma.RandomSearch(SPACE, budget=budget, max_steps=3, seed=3), storage=storage, **options) as study:
        study.optimize(keep, progress=False)
        return study.counts.retrained


@pytest.fixture
def another(server, postgres):
    """Copies the database, and returns the URL of the copy."""
    name = f"copy_of_{parse_url(postgres).database}"

    def copy():
        server.psql(f"CREATE DATABASE {name} TEMPLATE {parse_url(postgres).database}")
        return server.get_uri(database=name)

    yield copy
    server.psql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def test_studies_of_the_same_name_in_two_databases_keep_their_models(postgres, another, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = another()
    search(postgres)
    first = models()
    search(other)
    assert len(first) >= 5 and len(models() - first) == len(first)
    assert first < models()


def test_a_copied_database_may_not_use_the_directory_of_the_original(postgres, another, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    search(postgres)
    before, copy = models(), another()
    with pytest.raises(StorageError, match="in 'postgresql://.*', of which this is a copy: give the copy another directory"):
        search(copy, 20)
    search(copy, 20, checkpoints="copied")
    assert models() == before
    with_options = f"{postgres}&application_name=again" if "?" in postgres else f"{postgres}?application_name=again"
    search(with_options, 20)  # still the same database


SECRET = "hunter2"


def fit_a_table(url):
    pytest.importorskip("sklearn")
    from sklearn.datasets import load_iris

    from manyarms.sklearn import AutoClassifier

    AutoClassifier(budget=3, families=["tree"], cv=2, random_state=0, storage=url).fit(*load_iris(return_X_y=True))


def run_a_command(url):
    Path("train.py").write_text(
        "import manyarms as ma\nspace = ma.Space(x=ma.Float(0, 1))\ndef train(pull):\n    pull.save(1)\n    return pull['x']\n"
    )
    for line in ("run train.py:train --budget 9 --max-steps 3 --quiet --storage", "best", "verify", "gc --best-only"):
        with pytest.raises(SystemExit) as end:
            main([*line.split(), url])
        assert end.value.code == 0
    with pytest.raises(SystemExit):
        main(["verify", url, "none"])


ENTRIES = {"study": search, "estimator": fit_a_table, "command line": run_a_command}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("use", ENTRIES.values(), ids=ENTRIES)
def test_a_password_reaches_no_path_no_file_no_header_and_no_message(postgres, tmp_path, monkeypatch, capfd, use):
    url = postgres.replace("postgres:@", f"postgres:{SECRET}@")  # the server accepts any password
    assert SECRET in url
    monkeypatch.chdir(tmp_path)
    use(url)
    printed = "".join(capfd.readouterr())
    found = [
        path for path in tmp_path.rglob("*") if SECRET in path.name or (path.is_file() and SECRET in path.read_text("latin-1"))
    ]
    assert not found and SECRET not in printed
    (owner,) = Path("manyarms-checkpoints").glob(f"*/{OWNER}")
    assert json.loads(owner.read_text())["storage"].startswith("postgresql://")
    engine = sa.create_engine(parse_url(url))
    with engine.connect() as connection:
        header = connection.execute(sa.text("SELECT header FROM manyarms_studies")).scalar()
        events = connection.execute(sa.text("SELECT string_agg(data, ' ') FROM manyarms_events")).scalar()
    engine.dispose()
    assert SECRET not in header + events
