"""Studies on a PostgreSQL server that restarts, freezes, cuts connections or loses replies."""

import itertools
import random
import threading
from contextlib import closing

import pg_outages
import pytest
from pg_outages import HARMS, end_sessions, open_when_free, session_of
from sqlalchemy.engine import make_url

import manyarms as ma
from manyarms.errors import ManyarmsWarning, StorageError, StudyLocked
from manyarms.journal import Event
from manyarms.journal.sql import SqlJournal
from manyarms.journal.storage import study_names
from manyarms.study.verify import audit

SPACE = ma.Space(x=ma.Float(0, 1))
EVENTS = [Event("asked", arm, 0, 1, data={"config": arm}) for arm in range(6)]

pytestmark = pytest.mark.filterwarnings("ignore:the connection to:manyarms.ManyarmsWarning")


@pytest.fixture(scope="module")
def own_server():
    with pg_outages.running_server() as server:
        yield pg_outages.Server(server)


_numbers = itertools.count()


@pytest.fixture
def own_url(own_server):
    """The URL of an empty database on a server that may be stopped."""
    return own_server.url(f"outage_{next(_numbers)}")


def search(storage, tmp_path, disturb=lambda: None, at=(7,), budget=24, **options):
    """Run a study that is disturbed during some pulls. Returns its events without their times."""
    pulls = itertools.count(1)

    def train(pull):
        if next(pulls) in at:
            disturb()
        return pull["x"] * pull.stop

    strategy = ma.MutantUCB(SPACE, budget=budget, max_steps=3, seed=3)
    with ma.Study(strategy, storage=storage, checkpoints=str(tmp_path / "checkpoints")) as study:
        study.optimize(train, progress=False, **options)
        return content(study.journal)


def content(journal):
    """The events, without the worker and the time of each pull."""
    return [
        (e.kind, e.arm, e.start, e.stop, e.reward, {key: e.data[key] for key in e.data if key not in ("ended", "worker")})
        for e in journal.events()
    ]


def check_survival(url, tmp_path, disturb):
    """Check that a study reconnects after the disturbance and leaves the journal of an undisturbed one."""
    with pytest.warns(ManyarmsWarning, match="the connection to .* was lost at"):
        events = search(url, tmp_path, disturb)
    check_uninterrupted(events, url, tmp_path)


def check_uninterrupted(events, url, tmp_path):
    """Check that the events are those of a study in memory, and that the journal that was stored is sound."""
    assert events == search(None, tmp_path)
    with closing(SqlJournal(url, "study", write=False)) as journal:
        assert content(journal) == events
        assert list(audit(journal)) == []


# -- studies end with the journal of an uninterrupted run


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_study_survives_a_restart_of_the_server(own_server, own_url, tmp_path, mode):
    def restart():
        own_server.stop(mode)
        own_server.start()

    check_survival(own_url, tmp_path, restart)


def test_a_study_waits_for_a_server_that_is_down(own_server, own_url, tmp_path):
    def stop():
        own_server.stop("fast")
        threading.Timer(0.5, own_server.start).start()

    check_survival(own_url, tmp_path, stop)


def test_a_study_survives_a_server_that_is_frozen_for_a_while(own_server, own_url, tmp_path, clock):
    def freeze():
        own_server.freeze()
        clock.racing = True
        threading.Timer(0.5, thaw).start()

    def thaw():
        clock.racing = False
        own_server.thaw()

    check_survival(own_url, tmp_path, freeze)


@pytest.mark.slow
@pytest.mark.parametrize("reply_timeout", ["30s", "5s"])
def test_a_study_survives_a_server_that_is_frozen_for_20_seconds(own_server, own_url, tmp_path, reply_timeout):
    """With the longer limit the study waits, with the shorter one it reconnects."""

    def freeze():
        own_server.freeze()
        threading.Timer(20.0, own_server.thaw).start()

    url = f"{own_url}&reply_timeout={reply_timeout}"
    check_uninterrupted(search(url, tmp_path, freeze), url, tmp_path)


def test_a_study_survives_the_end_of_its_session(postgres, tmp_path):
    check_survival(postgres, tmp_path, lambda: end_sessions(postgres))


def test_a_study_waits_for_its_lock_while_its_own_session_is_frozen(postgres, tmp_path, clock):
    def freeze():
        session = session_of(postgres)
        session.suspend()
        clock.racing = True
        threading.Timer(0.5, thaw, [session]).start()

    def thaw(session):
        clock.racing = False
        session.resume()

    check_survival(postgres, tmp_path, freeze)


@pytest.mark.parametrize("harm", HARMS)
def test_a_study_survives_a_commit_whose_request_or_reply_is_lost(proxy, tmp_path, harm):
    def disturb():
        proxy.next_commit = harm

    check_survival(proxy.url, tmp_path, disturb)


def test_a_study_with_workers_survives_a_lost_commit(proxy, tmp_path):
    def harm(study, outcome):
        if study.counts.pulls == 9:
            proxy.next_commit = "lose reply"

    def run(storage):
        strategy = ma.MutantUCB(SPACE, budget=24, max_steps=3, seed=3)
        with ma.Study(strategy, storage=storage, checkpoints=str(tmp_path / "checkpoints")) as study:
            study.optimize(lambda pull: pull["x"], workers=2, deterministic=True, progress=False, callbacks=[harm])
            return content(study.journal)

    assert run(proxy.url) == run(None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_study_survives_any_sequence_of_disturbances(own_server, own_url, tmp_path, seed):
    rng = random.Random(seed)
    url = make_url(own_url)
    proxy = pg_outages.Proxy(url.query["host"], pg_outages.Clock())
    through = f"postgresql://postgres@127.0.0.1:{proxy.port}/{url.database}?sslmode=disable&gssencmode=disable&reply_timeout=2s"

    def lose():
        proxy.next_commit = rng.choice(HARMS)

    def end():
        end_sessions(own_url)

    def freeze():
        own_server.freeze()
        threading.Timer(3 * rng.random(), own_server.thaw).start()

    def restart():
        own_server.stop(rng.choice(("fast", "immediate")))
        threading.Timer(rng.random(), own_server.start).start()

    def disturb():
        act = rng.choices((lose, end, freeze, restart, None), (10, 3, 1, 1, 85))[0]
        if act is not None:
            act()

    with closing(proxy):
        events = search(through, tmp_path, disturb, at=range(1, 1_000), budget=300)
        assert events == search(None, tmp_path, budget=300)
        with closing(SqlJournal(own_url, "study", write=False)) as journal:
            assert list(audit(journal)) == []


# -- a server that does not come back


def test_a_study_whose_server_is_gone_for_good_ends_with_an_error_and_resumes_later(proxy, tmp_path):
    def die():
        proxy.next_commit = "die"

    with pytest.raises(StorageError, match=r"\(gave up reconnecting after 0.5 s\); run the search again when"):
        search(proxy.impatient, tmp_path, die, timeout=600)
    proxy.revive()
    with pytest.raises(StudyLocked, match="the server releases the study within about a minute"):
        search(proxy.url, tmp_path)
    proxy.end_sessions()
    open_when_free(proxy.url).close()
    check_uninterrupted(search(proxy.url, tmp_path), proxy.url, tmp_path)


def test_optimize_may_be_called_again_after_the_server_was_gone(proxy, tmp_path):
    def train(pull):
        if pull.arm.id == 4:
            proxy.next_commit = "die"
        return pull["x"] * pull.stop

    strategy = ma.MutantUCB(SPACE, budget=24, max_steps=3, seed=3)
    with ma.Study(strategy, storage=proxy.impatient, checkpoints=str(tmp_path / "checkpoints")) as study:
        with pytest.raises(StorageError, match="gave up reconnecting after 0.5 s"):
            study.optimize(train, progress=False)
        proxy.end_sessions()
        proxy.revive()
        open_when_free(proxy.url).close()
        study.optimize(lambda pull: pull["x"] * pull.stop, progress=False)
        check_uninterrupted(content(study.journal), proxy.url, tmp_path)


@pytest.mark.parametrize("harm", ["lose reply", "lose request"])
def test_an_append_that_failed_may_be_tried_again_together_with_more_events(proxy, harm):
    """Whether or not the server has written the events of the first attempt."""
    with closing(SqlJournal(f"{proxy.url}&reconnect_timeout=0", "study")) as journal:
        journal.create({})
        journal.append(EVENTS[:1])
        proxy.next_commit = harm
        with pytest.raises(StorageError, match="cannot write the journal of study 'study'.*; run the search again when"):
            journal.append(EVENTS[1:3])
        open_when_free(proxy.url).close()
        journal.append(EVENTS[1:5])
        assert len(journal) == 5
        journal.append(EVENTS[5:])
        assert list(journal.events()) == EVENTS


def test_a_reader_of_a_server_that_is_gone_ends_with_an_error(proxy, postgres):
    with closing(SqlJournal(postgres, "study")) as writer:
        writer.create({})
        writer.append(EVENTS)
    with closing(SqlJournal(proxy.impatient, "study", write=False)) as reader:
        proxy.next_commit = "die"
        with pytest.raises(StorageError, match="cannot read the journal of study 'study'"):
            list(reader.events())
        proxy.revive()
        assert list(reader.events()) == EVENTS


@pytest.mark.parametrize("open", [SqlJournal, lambda url, name: study_names(url)], ids=["open", "list"])
def test_opening_a_study_on_a_server_that_cannot_be_reached_fails_at_once(postgres, open, recwarn):
    url = make_url(postgres).update_query_dict({"port": "1"}).render_as_string(hide_password=False)
    with pytest.raises(StorageError, match="cannot (open|read)"):
        open(url, "study")
    assert [warning for warning in recwarn if warning.category is ManyarmsWarning] == []


def test_opening_a_study_through_a_connection_that_falls_silent_ends_with_an_error(proxy):
    proxy.next_commit = "silence"
    with pytest.raises(StorageError, match=r"cannot open .*the server has not replied for 30 s"):
        SqlJournal(proxy.url, "study")
