"""Child processes on any system: starts them, ends them, and makes them die with their owner.

On POSIX, a child leads a process group, which is killed as a whole. On Linux, the kernel kills the group when its owner is
gone; elsewhere, a thread in the child does it. Windows has no such groups: `taskkill` ends a process and its children.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

if sys.platform == "win32":
    from multiprocessing.connection import PipeConnection

    PipeEnd: TypeAlias = "PipeConnection[Any, Any]"
else:
    import fcntl
    from multiprocessing.connection import Connection

    PipeEnd: TypeAlias = "Connection[Any, Any]"

_KILLED = 9  # SIGKILL, which Windows does not have


def start_child(command: Sequence[str], environment: Mapping[str, str], ends: Sequence[PipeEnd]) -> subprocess.Popen[bytes]:
    """Start a process that does not receive Ctrl-C.

    Args:
        command: The program and its arguments.
        environment: Its environment variables.
        ends: Ends of pipes for the child, which opens them with `pipe_end` and their `fileno()`.
    """
    numbers = [end.fileno() for end in ends]
    if sys.platform == "win32":
        for number in numbers:
            os.set_handle_inheritable(number, True)  # closed here once the child has them
        return subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            startupinfo=subprocess.STARTUPINFO(lpAttributeList={"handle_list": numbers}),
            creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
        )
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, pass_fds=numbers, start_new_session=True)


def pipe_end(number: int, writable: bool = True) -> PipeEnd:
    """The end of a pipe that this process was started with."""
    if sys.platform == "win32":
        return PipeConnection(number, writable=writable)
    else:
        return Connection(number, writable=writable)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C, which the owner handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def lead_group() -> None:
    """Make this process lead a group, so that it does not receive Ctrl-C, and is ended together with what it starts."""
    if sys.platform == "win32":
        ignore_interrupts()
    else:
        os.setsid()


def die_with(lifeline: PipeEnd) -> None:
    """Kill this process, and everything it starts, when its owner is gone. Only the owner has the other end of the pipe.

    On Linux the kernel does it, because a thread must wait for code that holds the interpreter lock.
    """
    threading.Thread(target=_die_when_closed, args=(lifeline,), daemon=True).start()
    if sys.platform == "linux":
        number = lifeline.fileno()
        fcntl.fcntl(number, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(number, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(number, fcntl.F_SETFL, fcntl.fcntl(number, fcntl.F_GETFL) | os.O_ASYNC)


def _die_when_closed(lifeline: PipeEnd) -> None:
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    if sys.platform == "win32":
        kill_group(os.getpid())
        os._exit(1)
    else:
        os.killpg(os.getpgrp(), signal.SIGKILL)


def kill_group(pid: int) -> None:
    """Kill a process that leads a group, and everything it started. Does nothing if it has ended."""
    if sys.platform == "win32":
        with suppress(OSError):  # the owner ends the process itself
            subprocess.run(
                ["taskkill", "/F", "/T", "/PID", str(pid)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                creationflags=subprocess.CREATE_NO_WINDOW,
                check=False,
            )
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def manner(code: int | None) -> str:
    """How a process ended, in words.

    >>> manner(-9)
    'was killed by SIGKILL (often: out of memory)'
    """
    if code is None or code >= 0:
        return f"exited with code {code}"
    names = {number.value: number.name for number in signal.Signals}  # most real-time signals have no name
    return f"was killed by {names.get(-code, f'signal {-code}')}{' (often: out of memory)' if -code == _KILLED else ''}"
