"""How a lost connection is noticed, made again and given up, in a time that passes at will."""

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, OperationalError

from manyarms.errors import ManyarmsWarning, StudyLocked
from manyarms.journal.connection import ConnectionLost, PersistentConnection, StillLocked, is_lost, pauses
from manyarms.journal.database import parse_url
from manyarms.journal.timeouts import Timeouts

pytestmark = pytest.mark.filterwarnings("ignore:the connection to:manyarms.ManyarmsWarning")


class Cause(Exception):
    """What a driver raises."""

    def __init__(self, sqlstate):
        super().__init__("server closed the connection")
        self.sqlstate = sqlstate


def failed(sqlstate=None, kind=OperationalError, invalidated=False):
    return kind("SELECT 1", {}, Cause(sqlstate), connection_invalidated=invalidated)


class Time:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now, self.slept = 0.0, []

    def clock(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        self.slept.append(seconds)


class Trouble:
    """Work that fails with each of these errors in turn, and then succeeds."""

    def __init__(self, *errors):
        self.errors, self.attempts = list(errors), 0

    def __call__(self, connection):
        self.attempts += 1
        if self.errors:
            raise self.errors.pop(0)
        return connection.execute(sa.text("SELECT 7")).scalar()


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def prepared():
    return []


@pytest.fixture
def connection(time, prepared):
    engine = sa.create_engine("sqlite://")
    connection = PersistentConnection(engine, "somewhere", 600.0, prepared.append, time.clock, time.sleep)
    connection.connect()
    yield connection
    connection.close()


def test_the_pauses_double_up_to_a_limit_and_add_up_to_the_patience(time):
    for pause in pauses(600.0, time.clock):
        time.sleep(pause)
    assert time.slept[:9] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 15.0]
    assert set(time.slept[9:-1]) == {15.0}
    assert sum(time.slept) == pytest.approx(600.0)
    assert len(time.slept) == 47


def test_attempts_that_take_long_count_towards_the_patience(time):
    for pause in pauses(600.0, time.clock):
        time.sleep(pause)
        time.now += 60.0  # an attempt that the server does not answer
    assert len(time.slept) == 10


def test_work_is_done_again_on_a_new_connection_until_it_succeeds(connection, time, prepared):
    work = Trouble(failed(), failed("57P01"), failed("08006"), failed(invalidated=True))
    assert connection.run(work) == 7
    assert work.attempts == 5
    assert len(prepared) == 5
    assert time.slept == [0.1, 0.2, 0.4, 0.8]
    assert connection.run(Trouble()) == 7
    assert len(prepared) == 5


def test_a_server_that_does_not_come_back_is_given_up(connection, time):
    work = Trouble(*[failed()] * 1_000)
    with pytest.raises(ConnectionLost, match=r"server closed the connection \(gave up reconnecting after 600 s\)"):
        connection.run(work)
    assert time.now == pytest.approx(600.0)
    assert work.attempts == 48
    assert connection.run(Trouble()) == 7  # the next one finds it back


def test_without_patience_nothing_is_tried_again(time, prepared):
    connection = PersistentConnection(sa.create_engine("sqlite://"), "somewhere", 0.0, prepared.append, time.clock, time.sleep)
    with pytest.raises(ConnectionLost, match="^server closed the connection$"):
        connection.run(Trouble(failed()))
    assert time.slept == []
    assert connection.run(Trouble()) == 7
    assert len(prepared) == 2
    connection.close()


@pytest.mark.parametrize("error", [failed("53100"), failed("42501"), failed(None, IntegrityError), StudyLocked("taken")])
def test_an_error_that_a_new_connection_cannot_help_is_raised_at_once(connection, time, prepared, error):
    for errors in ((error,), (failed(), error)):
        with pytest.raises(type(error)):
            connection.run(Trouble(*errors))
    assert time.slept == [0.1]
    assert len(prepared) == 2


def test_a_lock_that_is_not_yet_free_is_waited_for(time):
    refusals = [StillLocked("still locked")] * 3

    def prepare(_):
        if refusals and time.slept:
            raise refusals.pop()

    connection = PersistentConnection(sa.create_engine("sqlite://"), "somewhere", 600.0, prepare, time.clock, time.sleep)
    assert connection.run(Trouble(failed())) == 7
    assert time.slept == [0.1, 0.2, 0.4, 0.8]
    connection.close()


def test_a_first_connection_that_cannot_be_prepared_is_not_tried_again(time):
    def prepare(_):
        raise failed()

    connection = PersistentConnection(sa.create_engine("sqlite://"), "somewhere", 600.0, prepare, time.clock, time.sleep)
    with pytest.raises(OperationalError):
        connection.connect()
    assert time.slept == []
    connection.close()


def test_an_interrupt_in_the_middle_of_a_statement_costs_the_connection_but_no_more(connection, prepared):
    def interrupt(connection):
        connection.invalidate()  # as SQLAlchemy does when a statement is interrupted
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        connection.run(interrupt)
    assert connection.run(Trouble()) == 7
    assert len(prepared) == 2


def test_the_loss_and_the_return_are_each_reported_once(connection):
    with pytest.warns(ManyarmsWarning) as caught:
        connection.run(Trouble(failed(), failed(), failed()))
    lost, back = (str(warning.message) for warning in caught)
    assert "the connection to somewhere was lost at" in lost
    assert "(server closed the connection): trying to reconnect for up to 600 s" in lost
    assert back == "the connection to somewhere was restored after 0.70 s"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (failed(None), True),  # not sent by the server
        (failed("08006"), True),  # connection_failure
        (failed("57P01"), True),  # admin_shutdown
        (failed("57P02"), True),  # crash_shutdown
        (failed("57P03"), True),  # cannot_connect_now
        (failed("57014"), True),  # query_canceled, also by a timeout
        (failed("25P03"), True),  # idle_in_transaction_session_timeout
        (failed("53100", invalidated=True), True),
        (failed("53100"), False),  # disk_full
        (failed("42501"), False),  # insufficient_privilege
        (failed(None, IntegrityError), False),
        (sa.exc.ResourceClosedError("closed"), False),
        (ValueError("57P01"), False),
    ],
)
def test_only_errors_of_the_connection_count_as_its_loss(error, expected):
    assert is_lost(error) == expected


def test_an_error_of_sqlite_is_never_the_loss_of_a_connection():
    with sa.create_engine("sqlite://").connect() as connection, pytest.raises(OperationalError) as raised:
        connection.execute(sa.text("SELECT * FROM nothing"))
    assert not is_lost(raised.value)


# -- replies


def exchange(ready, result):
    """What psycopg waits for: as many things as become ready, and then a result."""
    for expected in ready:
        assert (yield "wait") == expected
    return result


def wait(exchange, ready, time, seconds):
    """Answer as psycopg does: nothing is ready for `seconds`, or something is at once."""
    try:
        next(exchange)
        for one in ready:
            time.now += 0 if one else seconds
            exchange.send(one)
    except StopIteration as end:
        return end.value


def test_a_reply_may_take_long_as_long_as_something_arrives(time):
    limited = pytest.importorskip("manyarms.journal.reply_limit").limited
    ready = [0, 0, 1] * 20
    assert wait(limited(exchange(ready, "reply"), 30.0, time.clock), ready, time, 10.0) == "reply"
    assert time.now == 400.0
    assert wait(limited(exchange([], "reply"), 30.0, time.clock), [], time, 10.0) == "reply"


def test_silence_ends_the_wait_for_a_reply(time):
    module = pytest.importorskip("manyarms.journal.reply_limit")
    with pytest.raises(module.NoReply, match="the server has not replied for 30 s"):
        wait(module.limited(exchange([1] + [0] * 9, "reply"), 30.0, time.clock), [1] + [0] * 9, time, 10.0)
    assert time.now == 40.0  # counted from when psycopg first found nothing ready


def test_an_error_of_the_server_is_passed_on(time):
    def refuse():
        yield "wait"
        raise ValueError("refused")

    limited = pytest.importorskip("manyarms.journal.reply_limit").limited
    with pytest.raises(ValueError, match="refused"):
        wait(limited(refuse(), 30.0, time.clock), [1], time, 10.0)


# -- settings


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", Timeouts(30.0, 600.0)),
        ("?reply_timeout=5", Timeouts(5.0, 600.0)),
        ("?reply_timeout=0.5s&reconnect_timeout=2h", Timeouts(0.5, 7200.0)),
        ("?reconnect_timeout=0", Timeouts(30.0, 0.0)),
        ("?connect_timeout=3&reconnect_timeout=1.5m", Timeouts(30.0, 90.0)),
    ],
)
def test_the_url_says_how_long_to_wait(query, expected):
    assert Timeouts.of(parse_url(f"postgresql://host/base{query}")) == expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "reply_timeout=soon",
            "reply_timeout in the storage URL must be a number of seconds or a string such as .*, got 'soon'",
        ),
        ("reply_timeout=0", "reply_timeout in the storage URL must be above 0"),
        ("reply_timeout=-3", "reply_timeout in the storage URL must be at least 0"),
        ("reconnect_timeout=nan", "reconnect_timeout in the storage URL must be at least 0, got nan"),
        ("reconnect_timeout=1s&reconnect_timeout=2s", "reconnect_timeout in the storage URL must .* got '1s and 2s'"),
    ],
)
def test_a_time_that_is_none_is_refused_with_the_rule(query, message):
    with pytest.raises(ValueError, match=message):
        parse_url(f"postgresql://host/base?{query}")


def test_a_file_is_never_reconnected_to():
    assert Timeouts.of(parse_url("sqlite:///study.db")).reconnect == 0
