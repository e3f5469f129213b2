"""Lists of the problems and methods of a race."""

from __future__ import annotations

from .families import FAMILIES, HALVES, Family
from .methods import OURS, methods
from .text_table import TextTable


def family_list() -> TextTable:
    """The families of problems, by half."""
    note = "tuned: for choosing settings; reported: for reporting results."
    rows = [_family_row(family) for family in FAMILIES.values()]
    return TextTable("Problems", ("family", *HALVES, ""), rows, note=note, left=4)


def _family_row(family: Family) -> tuple[str, ...]:
    trouble = family.trouble()
    if trouble is not None:
        return (family.name, "", "", f"not available: {trouble}")
    names = [name.removeprefix(f"{family.name} ") for name in family.names()]
    halves = ("; ".join(names[number] for number in family.numbers(half)) for half in HALVES)
    return (family.name, *halves, "")


def method_list() -> TextTable:
    """Our strategies and the peers, and whether they are installed."""
    rows = []
    for method in methods().values():
        missing = ", ".join(method.missing)
        state = f"not installed: {missing}" if missing else method.version
        runs = "one run for all budgets" if method.anytime else "one run per budget"
        rows.append((method.name, "ours" if method.name in OURS else "peer", state, runs))
    note = 'pip install "manyarms[peers]" installs the peers.'
    return TextTable("Methods", ("name", "", "version", ""), rows, sections=frozenset({len(OURS) - 1}), note=note, left=4)
