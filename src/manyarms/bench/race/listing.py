"""Lists of what can be raced on, and of who can race."""

from __future__ import annotations

from .entrants import OURS, entrants
from .families import FAMILIES, HALVES, Family
from .sheets import Sheet


def family_list() -> Sheet:
    """The families, with their problems by half."""
    note = "tuned: to choose settings on; reported: to report on."
    rows = [_family_row(family) for family in FAMILIES.values()]
    return Sheet("Problems", ("family", *HALVES, ""), rows, note=note, left=4)


def _family_row(family: Family) -> tuple[str, ...]:
    trouble = family.trouble()
    if trouble is not None:
        return (family.name, "", "", f"not available: {trouble}")
    names = [name.removeprefix(f"{family.name} ") for name in family.names()]
    halves = ("; ".join(names[number] for number in family.numbers(half)) for half in HALVES)
    return (family.name, *halves, "")


def entrant_list() -> Sheet:
    """Our strategies and the peers, with what is installed of them."""
    rows = []
    for entrant in entrants().values():
        missing = ", ".join(entrant.missing)
        state = f"not installed: {missing}" if missing else entrant.version
        runs = "one run, read on the way" if entrant.anytime else "a run for each budget"
        rows.append((entrant.name, "ours" if entrant.name in OURS else "peer", state, runs))
    note = 'pip install "manyarms[peers]" installs the peers.'
    return Sheet("Entrants", ("name", "", "version", ""), rows, sections=frozenset({len(OURS) - 1}), note=note, left=4)
