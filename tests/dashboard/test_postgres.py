"""The dashboard of studies on a PostgreSQL server, which may go away."""

from __future__ import annotations

import pg_outages
import pytest
from dashboards import client_of, make_study
from sqlalchemy.engine import make_url
from waiting import wait_until

from manyarms.dashboard.studies import Studies
from manyarms.journal.stored_events import StoredEvents


@pytest.fixture(scope="module")
def server():
    """A PostgreSQL server."""
    pytest.importorskip("psycopg", reason="PostgreSQL needs psycopg")
    with pg_outages.running_server() as server:
        yield server


@pytest.fixture
def postgres(server):
    """The URL of an empty database."""
    server.psql("CREATE DATABASE dashboard")
    yield server.get_uri(database="dashboard")
    server.psql("DROP DATABASE dashboard WITH (FORCE)")


def test_studies_on_a_server_are_shown_and_sessions_that_end_are_made_again(postgres, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = make_study(postgres, budget=40)
    url = make_url(postgres).set(password="secret").render_as_string(hide_password=False)
    with client_of(url) as client:
        (row,) = client.get("/api/studies").json()["studies"]
        assert row["pulls"] == study.counts.pulls and row["steps"] == 40 and row["best_reward"] is not None
        page = client.get("/api/study/1/arms", params={"text": "TANH", "sort": "config:rate"}).json()
        assert 0 < page["matching"] < page["total"] == len(study.counts.arms)
        assert client.get(f"/api/study/1/arm/{page['rows'][0]['arm']}").json()["pull_rows"]
        assert client.get("/api/study/1/chart/history").json()["figure"]["data"]
        pg_outages.end_sessions(postgres)
        codes = [client.get(path).status_code for path in 2 * ["/api/studies", "/api/study/1", "/api/study/1/arms"]]
        assert codes[3:] == [200, 200, 200] and set(codes) <= {200, 503}
        assert "secret" not in client.get("/api/studies").text


def test_no_session_is_kept_for_what_nobody_watches(postgres, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_study(postgres, budget=8)
    studies = Studies(postgres)
    before = studies.study(1), studies.failures(1)
    assert sessions(postgres) == 2
    studies.rest(1)
    assert wait_until(lambda: sessions(postgres) == 0)
    monkeypatch.setattr(StoredEvents, "_parsed", None)  # nothing is read again
    assert (studies.study(1), studies.failures(1)) == before
    studies.close()


def sessions(url):
    """Number of connections to a database, without the one that counts them."""
    ((found,),) = pg_outages.execute(url, f"SELECT count(*) {pg_outages._OTHERS}")
    return found
