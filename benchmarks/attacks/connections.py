"""A PostgreSQL server that restarts, freezes, ends sessions or loses replies: the study must go through all of it."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path

import pg_outages  # in tests/support
from sqlalchemy.engine import make_url

from . import chain
from .score import Score

_BUDGET = 60
_HARMS = ("lose reply", "lose request", "silence")
_OPTIONS = "sslmode=disable&gssencmode=disable&reply_timeout=2s"


def connections(n: int, directory: Path, rng: random.Random) -> Score:
    """Disturb the connection of a study in the middle of a pull, `n` times, each time in one of eight ways."""
    score = Score("PostgreSQL cut off, frozen, restarted; replies lost")
    chain.search(whole := f"{directory}/undisturbed.db", budget=_BUDGET)
    with pg_outages.running_server() as handle:
        server = pg_outages.Server(handle)
        for i in range(n):
            url = make_url(server.url(f"disturbed_{i}"))
            proxy = pg_outages.Proxy(url.query["host"], pg_outages.Clock())
            through = f"postgresql://postgres@127.0.0.1:{proxy.port}/{url.database}?{_OPTIONS}"
            disturb = _disturbances(server, proxy, url.render_as_string(False), rng)[i % 8]
            pull = rng.randrange(1, 30)
            try:
                _search(through, directory / f"checkpoints-{i}", disturb, pull)
                wrong = chain.difference(through, whole, _BUDGET, str(directory / f"checkpoints-{i}"))
            except Exception as error:
                wrong = f"{type(error).__name__}: {error}"
            finally:
                proxy.close()
            score.attempts += 1
            score.failures += [] if wrong is None else [wrong]
    return score


def _search(url: str, checkpoints: Path, disturb: Callable[[], None], pull: int) -> None:
    told = []

    def watch(*_: object) -> None:
        told.append(1)
        if len(told) == pull:
            disturb()

    chain.search(url, budget=_BUDGET, callbacks=[watch], checkpoints=str(checkpoints))


def _disturbances(server: pg_outages.Server, proxy: pg_outages.Proxy, url: str, rng: random.Random) -> list[Callable[[], None]]:
    def lose(harm: str) -> Callable[[], None]:
        return lambda: setattr(proxy, "next_commit", harm)

    def restart(mode: str) -> None:
        server.stop(mode)
        threading.Timer(rng.random(), server.start).start()

    def freeze(seconds: float) -> None:
        server.freeze()
        threading.Timer(seconds, server.thaw).start()

    return [
        *map(lose, _HARMS),
        lambda: pg_outages.end_sessions(url),
        lambda: restart("fast"),
        lambda: restart("immediate"),
        lambda: freeze(1.0),
        lambda: freeze(5.0),
    ]
