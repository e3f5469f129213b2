"""A space as an HTML table, for notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..html.notebook import block_html, heading_html, rows_html, shown
from .choice import Choice
from .joint import Joint
from .parameters import Constant, Float, Int
from .space import Space

_MOST_ROWS = 20
_MOST_OPTIONS = 10

Row = tuple[str, str, str]


def space_html(space: Space | Joint) -> str:
    """The parameters of a space: the name, kind and range of each."""
    parts = space.spaces if isinstance(space, Joint) else space.parameters
    count = f"{len(parts)} {'space' if isinstance(space, Joint) else 'parameter'}{'' if len(parts) == 1 else 's'}"
    first = [f"{len(space.firsts)} to try first"] if isinstance(space, Space) and space.firsts else []
    rows = list(parameter_rows(space))
    if (more := len(rows) - _MOST_ROWS) > 0:
        rows[_MOST_ROWS:] = [("…", "", f"{more} more")]
    table = rows_html(("parameter", "kind", "values"), rows) if rows else ""
    return block_html(heading_html(type(space).__name__, count, *first), table)


def parameter_rows(space: Any, prefix: str = "") -> Iterator[Row]:
    """A row for each parameter. Those of nested spaces follow, named such as `model.depth`.

    >>> list(parameter_rows(Space(rate=Float(0.001, 1, log=True), model=Space(depth=Int(1, 5)))))
    [('rate', 'float', '0.001 to 1, log'), ('model.depth', 'int', '1 to 5')]
    """
    if isinstance(space, Joint):
        for name, part in space.spaces.items():
            yield from _nested(f"{prefix}{name}", part)
        return
    for name, parameter in space.parameters.items():
        yield from _rows(f"{prefix}{name}", parameter)


def _rows(name: str, parameter: Any) -> Iterator[Row]:
    if isinstance(parameter, Space):
        yield from _nested(name, parameter)
    elif isinstance(parameter, (Float, Int)):
        yield name, type(parameter).__name__.lower(), _range(parameter)
    elif isinstance(parameter, Choice):
        yield name, "ordered choice" if parameter.ordered else "choice", _options(parameter)
        for number, option in enumerate(parameter.options, 1):
            if isinstance(option, Space):
                yield from _nested(f"{name}[{number}]", option)
    else:
        yield name, "constant", shown(parameter.value if isinstance(parameter, Constant) else parameter)


def _nested(name: str, space: Any) -> Iterator[Row]:
    """The parameters of a space within another one."""
    if isinstance(space, (Space, Joint)):
        rows = parameter_rows(space, f"{name}.")
        first = next(rows, None)
        yield (name, "space", "no parameters") if first is None else first
        yield from rows
    else:
        yield name, "space", shown(space)


def _range(parameter: Float | Int) -> str:
    step = "" if parameter.step is None else f", in steps of {parameter.step:.6g}"
    written = "{}" if isinstance(parameter, Int) else "{:.6g}"
    return f"{written.format(parameter.low)} to {written.format(parameter.high)}{', log' if parameter.log else ''}{step}"


def _options(choice: Choice) -> str:
    """The options; a space is shown by the number that its parameters have in their names."""
    options = list(enumerate(choice.options, 1))
    texts = [
        f"space [{number}]" if isinstance(option, Space) else _written(option) for number, option in options[:_MOST_OPTIONS]
    ]
    more = len(options) - len(texts)
    return ", ".join(texts) + (f", … {more} more" if more else "")


def _written(option: Any) -> str:
    """An option as it is written in code, so that the text "1" differs from the number 1."""
    return repr(option) if isinstance(option, str) else shown(option)
