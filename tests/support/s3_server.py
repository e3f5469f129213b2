"""Run as a program: an S3 server on this machine, which prints its port and ends when its input does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def s3_server() -> Iterator[str]:
    """Starts the server in another process, and gives its URL."""
    command = [sys.executable, "-W", "ignore", __file__]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            port = server.stdout.readline().strip()
            assert port, "the server did not start"
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


if __name__ == "__main__":
    from moto.server import ThreadedMotoServer

    own = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    own.start()
    print(own.get_host_and_port()[1], flush=True)
    sys.stdin.read()
    own.stop()
