"""Connections to PostgreSQL with time limits, so that a lost server or client is noticed."""

from __future__ import annotations

import secrets
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL
from sqlalchemy.exc import NoSuchModuleError

from ..errors import StorageError
from .database import shown_url
from .timeouts import Timeouts, without_timeouts

_CLIENT = {  # for libpq; options in the URL take precedence
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
_SERVER = {  # for the session, so that the server releases the lock of a lost client within about a minute
    "tcp_keepalives_idle": "30s",
    "tcp_keepalives_interval": "10s",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "60s",
    "idle_session_timeout": "0",  # a pull may take hours
}
_SERVER_FACTOR = 10  # time limits of the server, in reply timeouts: they include the time to send a long journal
_LONGEST = 2**31 - 1  # milliseconds
_SET = (
    "SELECT set_config(name, wanted, false) FROM unnest(%s::text[], %s::text[]) AS session (name, wanted) "
    "JOIN pg_settings USING (name)"  # older servers do not have all of them
)


def make_postgres_engine(url: URL) -> sa.Engine:
    """Make an engine whose connections have time limits on both sides and a unique application name."""
    timeouts = Timeouts.of(url)
    options = {key: value for key, value in _CLIENT.items() if key not in url.query} | {"application_name": _unique_name(url)}
    try:
        engine = sa.create_engine(without_timeouts(url), connect_args=options, poolclass=sa.pool.NullPool)
        from .reply_limit import LimitedConnection
    except (NoSuchModuleError, ImportError) as error:
        raise StorageError(f'storage {shown_url(url)} needs a driver: pip install "manyarms[postgresql]" ({error})') from error
    if engine.dialect.driver != "psycopg":
        raise StorageError(f"storage {shown_url(url)} must use the driver psycopg: start its URL with postgresql://")

    @sa.event.listens_for(engine, "do_connect")
    def connect(_: Any, __: Any, arguments: list[Any], parameters: dict[str, Any]) -> LimitedConnection:
        connection = LimitedConnection.connect(*arguments, **parameters)
        try:
            connection.reply_timeout = timeouts.reply
            settings = _session(timeouts)
            connection.execute(_SET, (list(settings), list(settings.values())))
            connection.commit()
        except BaseException:
            connection.close()
            raise
        return connection

    return engine


def _unique_name(url: URL) -> str:
    """A unique application name for the sessions of an engine: the name in the URL, and a random number."""
    given = str(url.query.get("application_name", "manyarms"))
    return f"{given.encode('ascii', 'replace').decode()[:46]} {secrets.token_hex(8)}"  # the server keeps 63 bytes


def _session(timeouts: Timeouts) -> dict[str, str]:
    """The settings of a session on the server."""
    longest = f"{min(1000 * _SERVER_FACTOR * timeouts.reply, _LONGEST):.0f}"
    return _SERVER | {"statement_timeout": longest, "idle_in_transaction_session_timeout": longest}
