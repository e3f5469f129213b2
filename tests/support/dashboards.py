"""What the tests of the dashboard share: studies to show, and a server that shows them."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import contextmanager

import uvicorn
from starlette.testclient import TestClient
from waiting import wait_until

import manyarms as ma
from manyarms.dashboard.app import Dashboard, make_app
from manyarms.dashboard.security import Guard
from manyarms.dashboard.studies import Studies
from manyarms.networks import table_space

SPACE = ma.Space(rate=ma.Float(1e-3, 1, log=True), depth=ma.Int(1, 5), act=ma.Choice("relu", "tanh"))
HOSTILE = "<img src=x onerror=alert(1)>\x1b[2J\u202e"
"""Text that would do harm as HTML or in a terminal."""


def train(pull):
    """A reward that grows with the steps, and fails for some arms."""
    if pull["depth"] == 5:
        raise RuntimeError("too deep")
    pull.report(pull["rate"] / 2)
    pull.save(pull.stop)
    return {"reward": (1 - abs(pull["rate"] - 0.1)) * (1 - 0.5**pull.stop), "loss": 0.5**pull.stop}


def make_study(storage, name="study", budget=60, function=train, space=SPACE, **options):
    """A finished study."""
    options = {"max_steps": 4, "seed": 0, **options}
    return ma.tune(function, space, budget=budget, storage=storage, name=name, progress=False, **options)


def make_network_study(storage, name="networks", budget=60, **options):
    """A finished study of networks. They are not trained."""
    space = table_space(4, 3)
    return make_study(storage, name, budget, lambda pull: 1 - 1 / (pull.config.n_nodes + pull.stop), space, **options)


def open_study(storage, name="study", budget=1000):
    """A study that a test writes step by step with `ask` and `tell`."""
    strategy = ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=budget, seed=0)
    return ma.Study(strategy, storage=storage, name=name)


def pull_once(study, reward=None):
    """Run one pull."""
    pull = study.ask()
    study.tell(pull, pull.config["x"] if reward is None else reward)


@contextmanager
def client_of(storage, host="127.0.0.1", token=None, base_url="http://127.0.0.1:8899"):
    """A client of the dashboard in this process, without a server."""
    studies = Studies(str(storage))
    guard = Guard(make_app(Dashboard(studies)), host, token=token, cookie="cookie")
    try:
        yield TestClient(guard, base_url=base_url)
    finally:
        studies.close()


@contextmanager
def server_of(storage, token=None):
    """A server in a thread; gives its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    dashboard = Dashboard(Studies(str(storage)))
    guard = Guard(make_app(dashboard), "127.0.0.1", token=token)
    server = uvicorn.Server(uvicorn.Config(guard, log_level="error", access_log=False, timeout_graceful_shutdown=60))
    thread = threading.Thread(target=asyncio.run, args=(server.serve(sockets=[listening]),), daemon=True)
    thread.start()
    assert wait_until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        dashboard.stop_streams()
        server.should_exit = True
        thread.join()
        listening.close()
