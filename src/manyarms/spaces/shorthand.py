"""Spaces written as plain dicts."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from .choice import Choice
from .convert import from_configspace, from_distribution, is_optuna, listed
from .parameters import Constant, Float, Int, Parameter
from .protocol import check_space
from .space import Space


def as_space(space: Any) -> Any:
    """The space itself, or a `Space` made from a dict.

    The values of the dict are:

    - a tuple of two numbers: a range. Two whole numbers are an `Int`, others a `Float`. With a third part, "log", the range
      is logarithmic: `(1e-5, 1e-1, "log")`.
    - a list (or range or array): a `Choice`. Three or more numbers in ascending or descending order make it ordered. A dict in
      the list is a nested space, whose parameters exist only if it is chosen; lists and tuples in it are values.
    - a dict: a nested `Space`.
    - a parameter such as `Float(0, 1, step=0.1)`, or a frozen distribution of `scipy.stats` or Optuna: that parameter.
    - anything else: a constant.

    A ConfigSpace is converted by `from_configspace`.

    >>> as_space({"rate": (1e-4, 1e-1, "log"), "width": (5, 50), "batch": [16, 32, 64], "epochs": 3})
    Space(rate=Float(0.0001, 0.1, log=True), width=Int(5, 50), batch=Choice(16, 32, 64, ordered=True), epochs=3)
    """
    if not isinstance(space, Mapping) or hasattr(space, "sample"):
        return check_space(space)
    if type(space).__module__.startswith("ConfigSpace."):
        return from_configspace(space)
    return _space(space, "")


def choice_of(options: Sequence[Any]) -> Choice:
    """A choice among these options, ordered if they are three or more numbers in ascending or descending order.

    >>> choice_of([16, 32, 64]), choice_of([1, 3, 2])
    (Choice(16, 32, 64, ordered=True), Choice(1, 3, 2))
    """
    numbers = all(isinstance(option, (int, float)) and not isinstance(option, bool) for option in options)
    pairs = list(itertools.pairwise(options)) if numbers and len(options) > 2 else []
    ordered = bool(pairs) and (all(a < b for a, b in pairs) or all(a > b for a, b in pairs))
    return Choice(list(options), ordered=ordered)


def _space(parameters: Mapping[str, Any], path: str) -> Space:
    """The space of a dict. `path` is its path in the outermost dict, for error messages."""
    for name in parameters:
        if not isinstance(name, str):
            raise TypeError(f"the names of parameters must be strings, got {name!r}{f' in {path!r}' if path else ''}")
    return Space(**{name: _parameter(value, f"{path}.{name}" if path else name) for name, value in parameters.items()})


def _parameter(value: Any, path: str) -> Parameter:
    if isinstance(value, Mapping):
        return _space(value, path)
    options = isinstance(value, (list, range)) or (isinstance(value, np.ndarray) and value.ndim > 0)
    parts = [_option(option, f"{path}[{number}]") for number, option in enumerate(value)] if options else []
    try:
        return choice_of(parts) if options else _single(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"parameter {path!r}: {error}") from None


def _option(option: Any, path: str) -> Any:
    """An option of a list."""
    return _space(option, path) if isinstance(option, Mapping) else listed(option)


def _single(value: Any) -> Parameter:
    """The parameter for a value that is neither a dict nor a list."""
    if isinstance(value, (Float, Int, Choice, Constant, Space)):
        return value
    if isinstance(value, tuple):
        return range_of(value)
    if hasattr(value, "rvs") or is_optuna(value):
        return from_distribution(value)
    return Constant(value)


def range_of(bounds: tuple[Any, ...]) -> Float | Int:
    """The range for a tuple.

    >>> range_of((5, 50)), range_of((1e-4, 1e-1, "log"))
    (Int(5, 50), Float(0.0001, 0.1, log=True))
    """
    log = len(bounds) == 3 and bounds[2] == "log"
    numbers = all(isinstance(bound, Real) and not isinstance(bound, bool) for bound in bounds[:2])
    if len(bounds) != 2 + log or not numbers:
        raise TypeError(
            f'a tuple must be a range, (low, high) or (low, high, "log"), got {bounds!r}; write a list for a choice'
        )
    kind = Int if all(isinstance(bound, Integral) for bound in bounds[:2]) else Float
    return kind(bounds[0], bounds[1], log=log)
