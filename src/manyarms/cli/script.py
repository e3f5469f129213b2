"""The functions and spaces in a user's script or module."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle

from ..errors import ManyarmsError


def load_module(path: str) -> ModuleType:
    """Load a script by its file name, or a module by its dotted name.

    The functions of a script are sent to workers by value, so workers need not find the script.
    """
    if not path.endswith(".py"):
        sys.path.insert(0, "")
        return importlib.import_module(path)
    file = Path(path).absolute()
    if not file.is_file():
        raise ValueError(f"The script {path!r} does not exist.")
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ManyarmsError(f"{path} cannot be loaded:\n{_traceback_from(error, str(file))}") from error
    cloudpickle.register_pickle_by_value(module)
    return module


def member(module: ModuleType, name: str) -> Any:
    """The function, space or other object with this name in a module."""
    if not hasattr(module, name):
        known = ", ".join(sorted(key for key in vars(module) if not key.startswith("_"))[:20])
        raise ValueError(f"{module.__name__} has no {name!r}. It has: {known or 'nothing'}")
    return getattr(module, name)


def _traceback_from(error: BaseException, file: str) -> str:
    """The traceback of an error, from the first line of this file on."""
    place = error.__traceback__
    while place is not None and place.tb_frame.f_code.co_filename != file:
        place = place.tb_next
    return "".join(traceback.format_exception(type(error), error, place)).rstrip()
