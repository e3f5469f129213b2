"""The server as a process: what it prints, whom it answers, and how it ends."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys

import httpx
import pytest
from commands import start
from dashboards import make_study
from waiting import PATIENCE

from manyarms.dashboard import serve
from manyarms.dashboard.serve import link


@pytest.fixture
def run(storage):
    """Starts the dashboard, and stops it at the end; gives the process and the address that it printed."""
    make_study(storage, budget=8)
    processes = []

    def run(*options):
        process = start("dashboard", storage, "--no-browser", *options, stderr=subprocess.PIPE)
        processes.append(process)
        line = process.stderr.readline()
        assert storage in line, line + process.stderr.read()
        return process, re.search(r"http://\S+", line)[0]

    yield run
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
def test_ctrl_c_stops_the_server_also_while_a_page_is_open(run):
    process, address = run("--port", 0)
    with httpx.stream("GET", f"{address}api/changes", timeout=PATIENCE) as answer:
        lines = answer.iter_lines()
        while not next(lines).startswith("data"):
            pass
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    assert process.stderr.read() == "Press Ctrl-C to stop it.\n"


def test_another_host_needs_the_token_that_is_printed(run):
    _, address = run("--port", 0, "--host", "0.0.0.0")
    port, token = re.search(r":(\d+)/\?token=(\S{20,})", address).groups()
    local = f"http://127.0.0.1:{port}"
    with httpx.Client(timeout=PATIENCE) as client:
        assert client.get(f"{local}/api/studies").status_code == 403
        assert client.get(f"{local}/?token={token}").status_code == 200
        assert client.get(f"{local}/api/studies").json()["studies"]
        assert client.get(f"{local}/api/studies", headers={"host": "evil.example"}).status_code == 403


def test_a_token_can_be_set_in_the_environment(run, monkeypatch):
    monkeypatch.setenv("MANYARMS_DASHBOARD_TOKEN", "from-the-environment")
    _, address = run("--port", 0)
    assert address.endswith("/?token=from-the-environment")
    assert httpx.get(address.partition("?")[0], timeout=PATIENCE).status_code == 403


def test_a_port_in_use_is_an_error_only_if_it_was_asked_for(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(serve, "PORT", port)
        with serve._socket("127.0.0.1", None) as free:
            assert free.getsockname()[1] != port
        with pytest.raises(OSError, match=f"Cannot listen on 127.0.0.1, port {port}"):
            serve._socket("127.0.0.1", port)


def test_the_link_can_be_opened_on_this_machine():
    assert link("0.0.0.0", 80, None) == f"http://{socket.gethostname()}:80/"
    assert link("localhost", 80, "secret-1") == "http://localhost:80/?token=secret-1"


def test_without_the_extra_the_command_says_what_to_install(storage):
    make_study(storage, budget=8)
    code = f"import sys; sys.modules['starlette'] = None; from manyarms.cli import main; main(['dashboard', {storage!r}])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert answer.stderr == 'manyarms: The dashboard needs starlette: pip install "manyarms[dashboard]"\n'
