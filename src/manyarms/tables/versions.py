"""The packages that a model needs, and whether the installed versions are the same."""

from __future__ import annotations

import functools
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import cloudpickle

from ..version import __version__

_PACKAGES = {"sklearn": ["scikit-learn"], "xgboost": ["xgboost-cpu"]}  # whose names differ from their modules
_ALWAYS = ("numpy", "scipy", "pandas", "scikit-learn", "joblib")


def versions_of(model: Any) -> dict[str, str]:
    """The packages that are needed to load the model, with their versions."""
    packages = {package for module in _modules_of(model) for package in _packages_of(module)}
    found = {package: installed(package) for package in sorted(packages | set(_ALWAYS))}
    return {"manyarms": __version__} | {name: version for name, version in found.items() if version and name != "manyarms"}


def _packages_of(module: str) -> Sequence[str]:
    """The packages that a module comes from; none for the standard library."""
    if module in sys.stdlib_module_names:
        return ()
    known = [package for package in (module, *_PACKAGES.get(module, ())) if installed(package) is not None]
    return known[:1] or _packages_of_modules().get(module, [])


@functools.cache
def _packages_of_modules() -> Mapping[str, list[str]]:
    """The packages of all installed modules. This is slow: it inspects every file of every package."""
    return metadata.packages_distributions()


def installed(package: str) -> str | None:
    """The installed version; None if it is not installed."""
    if package == "manyarms":
        return __version__
    if package == "python":
        return ".".join(platform.python_version_tuple()[:2])  # patch releases do not change pickles
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def differences(versions: Mapping[str, str]) -> list[str]:
    """The packages with another installed version, or not installed, as text."""
    here = {package: installed(package) for package in versions}
    return [
        f"{package} {version} (installed: {here[package] or 'none'})"
        for package, version in versions.items()
        if here[package] != version
    ]


def _modules_of(model: Any) -> set[str]:
    """The top-level modules of all objects in a model."""

    class Inspector(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, part: Any) -> None:
            kind = part if isinstance(part, type) else type(part)
            found.add(str(kind.__module__).partition(".")[0])

    found: set[str] = set()
    Inspector(_Nowhere()).dump(model)
    return found


class _Nowhere:
    """A file that discards what is written."""

    def write(self, part: Any) -> int:
        return memoryview(part).nbytes
