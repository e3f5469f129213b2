"""What can be tested about Windows on Linux: the library needs nothing that Windows lacks, and does nothing that it forbids."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import wait_until

import manyarms

SOURCE = Path(manyarms.__file__).parent
POSIX_ONLY = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
SUPPORT = Path(__file__).parent / "support"
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{SUPPORT}{os.pathsep}{SOURCE.parent}", "PYTHONIOENCODING": "cp1252"}
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="Windows is simulated on top of Linux")


def start(
    code: str, folder: Path, first: str = "numpy, scipy.stats, sqlalchemy, pandas, rich.progress, filelock"
) -> subprocess.Popen[str]:
    """Start a process, in its own group, that imports these modules normally and then sees a simulated Windows."""
    command = [sys.executable, "-c", f"import {first}\nimport windows\nwindows.pretend()\n{code}"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "encoding": "cp1252"}
    return subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, start_new_session=True, **pipes)


def run(code: str, folder: Path, **more: str) -> list[str]:
    process = start(code, folder, **more)
    said, errors = process.communicate()
    assert process.returncode == 0, errors
    return said.splitlines()


# -- imports

IMPORT_ALL = """
import importlib, pkgutil, sys
for name in ("torch", "matplotlib", "distributed", "ray"):
    sys.modules[name] = None  # they would load their own modules for Windows
import manyarms
for module in pkgutil.walk_packages(manyarms.__path__, "manyarms."):
    if not module.name.endswith("__main__") and not module.name.startswith("manyarms.bench.race.peers."):
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            print(module.name, "asked for" if "pip install" in str(error) else str(error.name).partition(".")[0])
"""


@needs_linux
def test_every_module_can_be_imported_without_the_modules_of_posix(tmp_path):
    lines = run(
        IMPORT_ALL,
        tmp_path,
        first="sklearn.ensemble, pyarrow.parquet, pandas, sqlalchemy, rich.progress, starlette.testclient, uvicorn",
    )
    missing = {line.partition(" ")[2] for line in lines}
    assert missing <= {"torch", "matplotlib", "distributed", "asked for"}


def unguarded_imports(body: list[ast.stmt]) -> set[str]:
    """The modules that these statements import unconditionally: not below `if` or `try`, and not in a function."""
    found = set()
    for statement in body:
        if isinstance(statement, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            found.add(str(statement.module).partition(".")[0])
        elif isinstance(statement, (ast.ClassDef, ast.With)):
            found |= unguarded_imports(statement.body)
    return found


@pytest.mark.parametrize("module", sorted(POSIX_ONLY))
def test_an_unconditional_import_of_a_posix_module_is_found(module):
    for text in (f"import {module}", f"from {module} import a", f"class A:\n    import {module}.b"):
        assert unguarded_imports(ast.parse(text).body) == {module}
    assert not unguarded_imports(ast.parse(f"import sys\nif sys.platform == 'linux':\n    import {module}").body) & POSIX_ONLY


def test_no_module_imports_a_posix_module_unconditionally():
    for file in SOURCE.rglob("*.py"):
        found = unguarded_imports(ast.parse(file.read_text(encoding="utf-8")).body) & POSIX_ONLY
        assert not found, f"{file.relative_to(SOURCE)} imports {found}"


def text_calls_without_encoding(tree: ast.AST) -> list[int]:
    """The lines of calls that read or write text in the default encoding, which is not UTF-8 on Windows."""
    lines = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        owner = getattr(getattr(call.func, "value", None), "id", None)
        texts = [
            argument.value for argument in call.args if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        ]
        opens = (name == "open" and isinstance(call.func, ast.Name)) or (name == "open" and owner == "gzip" and "rt" in texts)
        is_text = name in ("read_text", "write_text") and isinstance(call.func, ast.Attribute)
        is_text |= opens and not any("b" in text for text in texts)
        if is_text and not any(keyword.arg == "encoding" for keyword in call.keywords):
            lines.append(call.lineno)
    return lines


def test_a_text_file_in_the_default_encoding_is_found():
    text = 'open(a)\nopen(a, "rb")\nb.read_text()\nb.write_text(c, encoding="utf-8")\ngzip.open(d, "rt")\ne.open(f)'
    assert text_calls_without_encoding(ast.parse(text)) == [1, 3, 5]


def test_every_text_file_is_opened_with_an_explicit_encoding():
    for file in SOURCE.rglob("*.py"):
        if file.name != "journals.py":  # its argument `open` is another function
            lines = text_calls_without_encoding(ast.parse(file.read_text(encoding="utf-8")))
            assert not lines, f"{file.relative_to(SOURCE)}, lines {lines}"


# -- a study

STUDY = """
import os, sys
from pathlib import Path
import manyarms as ma
from manyarms import cli
from manyarms.journal.lock import FileLock

def train(pull):
    level = pull.load() or 0
    (pull.directory / "notes.txt").write_text(f"trained by {os.getpid()}", encoding="utf-8")
    os.chmod(pull.directory / "notes.txt", 0o444)
    pull.save(level + 1)
    return {"reward": pull["x"] * (level + 1), "trained": float(level == pull.start)}

space = {"x": (0.0, 1.0), "kind": ["日本"]}
options = dict(space=space, max_steps=3, storage="studies.db", name="étude", seed=0, progress=False, deterministic=True)
"""

ALONE = f"""{STUDY}
study = ma.tune(train, budget=20, **options)
lock = next(Path().glob("studies.db-*.lock"))
held = FileLock(lock)
held.acquire()
try:
    ma.tune(train, budget=30, **options)
except ma.StudyLocked as error:
    print(f"(process {{os.getpid()}})" in str(error))
held.release()
with ma.tune(train, budget=30, **options) as study:
    kept = [path for path in Path("studies.db-checkpoints").rglob("notes.txt")]
    print(study.counts.steps, study.counts.failures, study.counts.retrained, bool(kept), len(kept) <= len(study.counts.arms))
    best = study.best_model()
with ma.load_study("sqlite:///studies.db", "étude") as view:
    print(view.pulls_dataframe().metric_trained.min(), view.best_reward > 0, best)
for command in ("status", "arms", "best", "verify"):
    try:
        cli.main([command, "studies.db"])
    except SystemExit as end:
        print(command, end.code)
"""


@needs_linux
def test_a_study_is_stored_locked_resumed_read_and_shown(tmp_path):
    lines = run(ALONE, tmp_path)
    assert lines[:3] == ["True", "30 0 0 True True", lines[2]] and lines[2].startswith("1.0 True ")
    assert {"status 0", "arms 0", "best 0", "verify 0"} <= set(lines)
    assert any("\\u65e5\\u672c" in line for line in lines), "characters that the console cannot show are escaped"


WORKERS = f"""{STUDY}
study = ma.tune(train, budget=12, workers=2, **options)
pulls = study.pulls_dataframe()
print(study.counts.pulls, study.counts.failures, pulls.metric_trained.min())
slow = ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=2, seed=0))

def hang(config):
    import time
    time.sleep(600)

try:
    slow.optimize(hang, workers=2, pull_timeout=0.2, progress=False)
except ma.NoResult as error:
    print(error)
def die(config):
    os._exit(3)
try:
    ma.tune(die, ma.Space(x=ma.Float(0, 1)), budget=1, workers=2, seed=0, progress=False)
except ma.NoResult as error:
    print(error)
"""


@needs_linux
def test_worker_processes_train_time_out_and_die(tmp_path):
    assert run(WORKERS, tmp_path) == [
        "12 0 1.0",
        "all 2 pulls failed; most often (2 times): took longer than pull_timeout=0.2 s. "
        "The budget is spent: fix the cause, then run again with a larger budget or a new study",
        "the only pull failed: the worker exited with code 3. "
        "The budget is spent: fix the cause, then run again with a larger budget or a new study",
    ]


ORPHANS = """
import manyarms as ma

def wait(config):
    import os, time
    print(os.getpid(), flush=True)
    time.sleep(600)

ma.tune(wait, ma.Space(x=ma.Float(0, 1)), budget=1, workers=2, seed=0, progress=False)
"""


@needs_linux
def test_a_worker_dies_with_its_study(tmp_path):
    study = start(ORPHANS, tmp_path, first="filelock, numpy, scipy.stats")
    worker = int(study.stdout.readline())
    os.kill(study.pid, signal.SIGKILL)
    study.communicate()  # ends when the worker has closed its output too
    assert wait_until(lambda: not Path(f"/proc/{worker}").exists())


# -- links

JUNCTION = """
import os
from pathlib import Path
from manyarms.checkpoints import files

class Status:
    st_mode, st_reparse_tag, st_size = os.stat(".").st_mode, 0xA0000003, 0
real, os.lstat = os.lstat, lambda path: Status if str(path) == "junction" else real(path)
os.mkdir("junction")
print(files.is_directory(Path("junction")), files.is_directory(Path(".")))
os.lstat = real
Path("secret").write_text("x", encoding="utf-8")
os.symlink("secret", "link")
try:
    files.read_regular(Path("link"), 10)
except OSError as error:
    print(error)
"""


@needs_linux
def test_links_and_junctions_are_not_followed(tmp_path):
    assert run(JUNCTION, tmp_path, first="numpy") == ["False True", "link is not a regular file"]
