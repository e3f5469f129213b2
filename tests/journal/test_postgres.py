"""Journals on a PostgreSQL server: the lock lives as long as the connection."""

import json
import signal
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from pg_outages import open_when_free

import manyarms as ma
from manyarms.checkpoints import OWNER
from manyarms.cli import main
from manyarms.errors import StorageError, StudyLocked
from manyarms.journal import Event
from manyarms.journal.database import parse_url
from manyarms.journal.sql import SqlJournal

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


# -- checkpoints


def keep(pull):
    pull.save(pull["x"])
    return pull["x"]


def models():
    return {path.name for path in Path("manyarms-checkpoints").glob("*/arm-*")}


def search(storage, budget=15, **options):
    """Run a study, and give how many steps were trained again."""
    with ma.Study(ma.RandomSearch(SPACE, budget=budget, max_steps=3, seed=3), storage=storage, **options) as study:
        study.optimize(keep, progress=False)
        return study.tally.retrained


@pytest.fixture
def another(server, postgres):
    """A copy of the database, made when it is asked for; gives its URL."""
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
    url = postgres.replace("postgres:@", f"postgres:{SECRET}@")  # the server trusts whoever can reach its socket
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
