"""The line of the user's code that raised an error."""

from __future__ import annotations

import json
import traceback
from pathlib import Path

import manyarms
from manyarms.study.error_place import place_of

PACKAGE = Path(manyarms.__file__).parent


def text(*frames, error="KeyError: 'lr'"):
    lines = [f'  File "{path}", line {line}, in function\n    some code\n    ~~~~^^^^\n' for path, line in frames]
    return f"Traceback (most recent call last):\n{''.join(lines)}{error}\n"


CALL = (f"{PACKAGE}/runners/execute.py", 106)
USER = ("/home/me/train.py", 12)
NUMPY = ("/home/me/venv/lib/python3.11/site-packages/numpy/linalg.py", 88)


def test_it_is_the_last_line_that_is_neither_of_the_library_nor_installed():
    assert place_of(text(CALL, USER, ("/home/me/model.py", 3))) == "model.py, line 3"
    assert place_of(text(CALL, USER, (f"{PACKAGE}/runners/running_pull.py", 143))) == "train.py, line 12"
    assert place_of(text(CALL, USER, NUMPY, (json.__file__, 5), ("<frozen importlib._bootstrap>", 1))) == "train.py, line 12"
    assert place_of(text(CALL, (r"C:\Users\me\train.py", 4))) == "train.py, line 4"
    assert place_of(text(CALL, ("<string>", 4))) == "<string>, line 4"


def test_an_installed_function_is_named_and_the_library_never():
    elsewhere = ("/opt/lib/python3.12/site-packages/manyarms/runners/execute.py", 106)  # on another machine
    assert place_of(text(elsewhere, NUMPY, ("/opt/lib/python3.12/site-packages/numpy/more.py", 9))) == "linalg.py, line 88"
    assert place_of(text(CALL)) is None and place_of(text(elsewhere)) is None
    assert place_of("") is None and place_of("ValueError: told as failed") is None


def test_only_the_last_of_several_exceptions_counts_and_no_message():
    message = 'ValueError: in\n  File "/home/me/other.py", line 1, in spoof'
    assert place_of(text(CALL, ("/home/me/first.py", 7)) + "\nDuring handling:\n\n" + text(CALL, USER)) == "train.py, line 12"
    assert place_of(text(CALL, USER, error=message)) == "train.py, line 12"
    assert place_of(text(CALL, USER)[60:]) == "train.py, line 12"  # its beginning is cut off


def test_it_reads_what_python_writes():
    try:
        raise ExceptionGroup("several", [ValueError("one")])
    except ExceptionGroup as error:
        line = error.__traceback__.tb_lineno
        assert place_of("".join(traceback.format_exception(error))) == f"test_error_place.py, line {line}"
    try:
        compile("1 +", "/home/me/broken.py", "exec")
    except SyntaxError as error:
        assert place_of("".join(traceback.format_exception(error))) == "broken.py, line 1"
