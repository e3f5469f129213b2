"""The output of every benchmark: the machine, and a table with our figure, that of the peer, and whether the target is met."""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from rich.console import Console
from rich.table import Table

_LIBRARIES = ("manyarms", "optuna", "numpy", "SQLAlchemy")
_WIDTH = 140  # columns where there is no terminal to ask


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A target that is met by this much or more."""

    bound: float
    value: float
    unit: str

    @property
    def met(self) -> bool:
        return self.value >= self.bound

    @property
    def measured(self) -> str:
        return self._with_unit(f"{self.value:,.0f}" if self.value >= 100 else f"{self.value:.3g}")

    def _with_unit(self, number: str) -> str:
        return number + ("" if self.unit.startswith("%") else " ") + self.unit

    def __str__(self) -> str:
        return f"at least {self._with_unit(f'{self.bound:g}')}"


@dataclass(frozen=True, slots=True)
class AtMost(AtLeast):
    """A target that is met by this much or less."""

    @property
    def met(self) -> bool:
        return self.value <= self.bound

    def __str__(self) -> str:
        return f"at most {self._with_unit(f'{self.bound:g}')}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `target` is None where the line is there to compare only."""

    what: str
    ours: str = ""
    peer: str = ""
    target: AtLeast | None = None

    def cells(self) -> tuple[str, ...]:
        if self.target is None:
            return self.what, self.ours, self.peer, "", "", ""
        verdict = "[green]met[/]" if self.target.met else "[red]not met[/]"
        return self.what, self.ours, self.peer, self.target.measured, str(self.target), verdict


def parser(description: str) -> argparse.ArgumentParser:
    """The command line of a benchmark, from its module's docstring; each adds its own options."""
    arguments = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="fewer rounds and smaller sizes, for a first look")
    return arguments


def show(title: str, peer: str, rows: Sequence[Row], rounds: int, note: str = "") -> None:
    """Print the table, below the machine and the versions it was measured with."""
    console = _console()
    console.print(machine(), style="dim")
    table = Table(title=f"{title} (rounds: {rounds})", title_justify="left", caption=note or None, caption_justify="left")
    table.add_column("")
    for name in ("manyarms", peer):
        table.add_column(name, justify="right")
    for name in ("measured", "target", ""):
        table.add_column(name)
    for row in rows:
        table.add_row(*row.cells())
    console.print(table)


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> None:
    """Print a table without targets. The first column is text, the others are numbers."""
    table = Table(title=title, title_justify="left", caption=note or None, caption_justify="left")
    for place, name in enumerate(columns):
        table.add_column(name, justify="right" if place else "left")
    for row in rows:
        table.add_row(*row)
    _console().print(table)


def machine() -> str:
    """The versions and the machine, on one line."""
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    return (
        f"Python {platform.python_version()}, {libraries}, SQLite {sqlite3.sqlite_version}; "
        f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"
    )


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else _WIDTH)
