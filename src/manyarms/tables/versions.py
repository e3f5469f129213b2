"""Which packages a model is made of, and whether they are the same here."""

from __future__ import annotations

import functools
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import cloudpickle

from ..version import __version__

_OTHERWISE = {"sklearn": ["scikit-learn"], "xgboost": ["xgboost-cpu"]}  # packages that are not called as their modules
_ALWAYS = ("numpy", "scipy", "pandas", "scikit-learn", "joblib")


def versions_of(model: Any) -> dict[str, str]:
    """The packages that the model cannot be loaded without, with their versions."""
    packages = {package for module in _modules_of(model) for package in _packages_of(module)}
    found = {package: installed(package) for package in sorted(packages | set(_ALWAYS))}
    return {"manyarms": __version__} | {name: version for name, version in found.items() if version and name != "manyarms"}


def _packages_of(module: str) -> Sequence[str]:
    """The packages that a module comes from: none for one of Python itself."""
    if module in sys.stdlib_module_names:
        return ()
    known = [package for package in (module, *_OTHERWISE.get(module, ())) if installed(package) is not None]
    return known[:1] or _packages_of_modules().get(module, [])


@functools.cache
def _packages_of_modules() -> Mapping[str, list[str]]:
    """Finding out takes a while: every file of every package is looked at."""
    return metadata.packages_distributions()


def installed(package: str) -> str | None:
    """Its version here; None if it is not installed."""
    if package == "manyarms":
        return __version__
    if package == "python":
        return ".".join(platform.python_version_tuple()[:2])  # patches change no pickles
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def differences(versions: Mapping[str, str]) -> list[str]:
    """What is another version here, or not installed, in words."""
    here = {package: installed(package) for package in versions}
    return [
        f"{package} {version} (here {here[package] or 'not installed'})"
        for package, version in versions.items()
        if here[package] != version
    ]


def _modules_of(model: Any) -> set[str]:
    """The packages of everything that is in it."""

    class Looker(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, part: Any) -> None:
            kind = part if isinstance(part, type) else type(part)
            found.add(str(kind.__module__).partition(".")[0])

    found: set[str] = set()
    Looker(_Nowhere()).dump(model)
    return found


class _Nowhere:
    """A file that keeps nothing."""

    def write(self, part: Any) -> int:
        return memoryview(part).nbytes
