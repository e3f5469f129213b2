"""As much of Windows as can be had on Linux: what Windows lacks is gone, and what it refuses is refused.

For a process of its own, which calls `pretend()` before it imports the library, and after it has imported what would look for
real parts of Windows. It is no substitute for Windows: its pipes, handles and open files are still those of Linux.
"""

from __future__ import annotations

import errno
import fcntl
import multiprocessing.connection
import os
import shutil
import signal
import stat
import subprocess
import sys

import psutil

_MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
_NAMES = {
    os: (
        *("fork", "forkpty", "register_at_fork", "killpg", "getpgrp", "getpgid", "setpgid", "setpgrp", "setsid", "getsid"),
        *("getuid", "geteuid", "getgid", "getegid", "chown", "fchmod", "fchown", "mkfifo", "nice", "sysconf", "uname", "sync"),
        *("getloadavg", "sched_getaffinity", "statvfs", "pipe2", "posix_spawn", "O_NOFOLLOW", "O_ASYNC", "O_DIRECTORY"),
    ),
    signal: ("SIGKILL", "SIGALRM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCHLD", "alarm", "setitimer", "pthread_sigmask"),
}
_PRETEND = "import windows; windows.pretend(); "
_open, _fsync, _unlink, _fcntl = os.open, os.fsync, os.unlink, fcntl.fcntl
_GET = fcntl.F_GETFL
_READ_ONLY = os.O_RDONLY


def pretend() -> None:
    """Make this process see Windows."""
    multiprocessing.connection.PipeConnection = multiprocessing.connection.Connection
    for name in _MODULES:
        sys.modules[name] = None
    for module, names in _NAMES.items():
        for name in names:
            delattr(module, name)
    vars(subprocess).update(STARTUPINFO=_StartupInfo, CREATE_NEW_PROCESS_GROUP=0x200, CREATE_NO_WINDOW=0x8000000, Popen=_Popen)
    vars(os).update(set_handle_inheritable=os.set_inheritable, open=_open_file, fsync=_sync, unlink=_delete, remove=_delete)
    shutil._use_fd_functions = False
    sys.platform = "win32"


def _open_file(path, flags, mode=0o777, **more):
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
    return _open(path, flags, mode, **more)


def _sync(file) -> None:
    if _fcntl(file, _GET) & os.O_ACCMODE == _READ_ONLY:
        raise OSError(errno.EBADF, "Bad file descriptor")
    _fsync(file)


def _delete(path, **more) -> None:
    if not os.lstat(path).st_mode & stat.S_IWRITE:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
    _unlink(path, **more)


class _StartupInfo:
    def __init__(self, *, lpAttributeList=None) -> None:
        self.lpAttributeList = lpAttributeList or {}


class _Popen(subprocess.Popen):
    def __init__(self, command, *, startupinfo=None, creationflags=0, pass_fds=(), start_new_session=False, **more) -> None:
        if pass_fds or start_new_session:
            raise AssertionError("only for POSIX")
        handles = startupinfo.lpAttributeList.get("handle_list", []) if startupinfo else []
        if not all(map(os.get_inheritable, handles)):
            raise OSError(errno.EINVAL, "ERROR_INVALID_PARAMETER")
        if command[0] == "taskkill":
            command = _killed(*command[1:])
        elif command[:2] == [sys.executable, "-c"]:
            command = [*command[:2], _PRETEND + command[2], *command[3:]]
        super().__init__(command, pass_fds=handles, **more)

    def kill(self) -> None:
        self.send_signal(9)


def _killed(force: str, tree: str, by: str, pid: str) -> list[str]:
    """End a process and all below it, and give a command that says whether there was one."""
    assert (force, tree, by) == ("/F", "/T", "/PID")
    try:
        process = psutil.Process(int(pid))
        for one in (*process.children(recursive=True), process):
            os.kill(one.pid, 9)
    except (psutil.NoSuchProcess, ProcessLookupError):
        return ["false"]
    return ["true"]
