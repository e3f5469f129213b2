"""The contract of a space: checks of what strategies and studies rely on.

    @pytest.mark.parametrize("check", SPACE_CHECKS, ids=lambda check: check.__name__)
    def test_my_space_keeps_the_contract_of_spaces(check):
        check(MySpace())

Optional methods (`crossover`, `contains`, `encode`, `decode`) are checked if the space has them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..spaces.protocol import from_json, to_json

_TOLERANCE = 1e-6
"""Relative rounding error that is allowed for `decode(encode(config))`."""


def check_samples_survive_json(space: Any, seed: int = 0, n: int = 200) -> None:
    """A sample is in the space and survives a round trip through JSON, as configs are stored in journals."""
    for config in _samples(space, seed, n):
        _check_valid(space, config, "sample")


def check_same_seed_gives_same_configs(space: Any, seed: int = 0, n: int = 200) -> None:
    """All randomness comes from the generator that is passed in: a study is resumed by replaying it."""
    rng, again = np.random.default_rng(seed), np.random.default_rng(seed)
    for _ in range(n):
        config, other = space.sample(rng), space.sample(again)
        _check(_text(space, config) == _text(space, other), "the same seed must sample the same config", config, other)
        restored = from_json(space, json.loads(_text(space, config)))
        child, other = space.mutate(config, rng), space.mutate(restored, again)
        same = _text(space, child) == _text(space, other)
        _check(same, "a config and its copy from JSON must have the same mutant with the same seed", config, child, other)


def check_mutants_are_valid_and_differ(space: Any, seed: int = 0, n: int = 200) -> None:
    """A mutant is in the space and differs from its parent, which is not changed. With one config only, it may be equal."""
    rng = np.random.default_rng(seed)
    varies = len({_text(space, config) for config in _samples(space, seed, n)}) > 1
    parent = space.sample(rng)
    for _ in range(n):
        before = _text(space, parent)
        child = space.mutate(parent, rng)
        _check(_text(space, parent) == before, "mutate must not change the parent", before, parent)
        _check_valid(space, child, "mutate")
        _check(not varies or _text(space, child) != before, "mutate must return another config if there is one", parent)
        parent = child


def check_crossover_is_valid(space: Any, seed: int = 0, n: int = 200) -> None:
    """A crossing of two configs is in the space and depends only on the seed. The two configs are not changed."""
    if not hasattr(space, "crossover"):
        return
    for i, a in enumerate(_samples(space, seed, n)):
        b = space.mutate(a, np.random.default_rng(i)) if i % 2 else space.sample(np.random.default_rng([seed, i]))
        before = _text(space, a), _text(space, b)
        child = space.crossover(a, b, np.random.default_rng(i))
        _check((_text(space, a), _text(space, b)) == before, "crossover must not change its parents", before, a, b)
        _check_valid(space, child, "crossover")
        again = space.crossover(a, b, np.random.default_rng(i))
        _check(
            _text(space, child) == _text(space, again), "crossover must return the same config with the same seed", child, again
        )


def check_codes_are_in_the_unit_cube(space: Any, seed: int = 0, n: int = 200) -> None:
    """Every config is encoded by the same number of finite numbers from 0 to 1."""
    if not hasattr(space, "encode"):
        return
    lengths = set()
    for config in _samples(space, seed, n):
        code = np.asarray(space.encode(config), dtype=float)
        _check(code.ndim == 1, "encode must return a vector", config, code)
        _check(bool(np.all((code >= 0) & (code <= 1))), "encode must return numbers between 0 and 1", config, code)
        lengths.add(len(code))
        _check(
            len(lengths) == 1, f"encode must always return the same number of coordinates, returned {sorted(lengths)}", config
        )


def check_decode_undoes_encode(space: Any, seed: int = 0, n: int = 200) -> None:
    """Decoding an encoded config gives the config again, up to rounding."""
    if not (hasattr(space, "encode") and hasattr(space, "decode")):
        return
    for config in _samples(space, seed, n):
        decoded = space.decode(space.encode(config))
        _check_valid(space, decoded, "decode")
        _check(_close(to_json(space, config), to_json(space, decoded)), "decode must undo encode", config, decoded)


SPACE_CHECKS: tuple[Callable[..., None], ...] = (
    check_samples_survive_json,
    check_same_seed_gives_same_configs,
    check_mutants_are_valid_and_differ,
    check_crossover_is_valid,
    check_codes_are_in_the_unit_cube,
    check_decode_undoes_encode,
)
"""Checks of a space. Each takes a space, optionally a seed and a number of configs to try, and raises `AssertionError`."""


def _check(holds: bool, rule: str, *witnesses: Any) -> None:
    if not holds:  # not an assert statement, because python -O removes those
        raise AssertionError(f"{rule}, got {', '.join(map(repr, witnesses))}")


def _samples(space: Any, seed: int, n: int) -> Iterator[Any]:
    rng = np.random.default_rng(seed)
    return (space.sample(rng) for _ in range(n))


def _text(space: Any, config: Any) -> str:
    """The config as JSON text, to compare configs that do not define equality."""
    try:
        return json.dumps(to_json(space, config), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise AssertionError(
            f"a config must be JSON, or the space must have to_json and from_json, got {config!r}: {error}"
        ) from None


def _check_valid(space: Any, config: Any, method: str) -> None:
    text = _text(space, config)
    returned = from_json(space, json.loads(text))
    same = _text(space, returned) == text and (hasattr(space, "to_json") or bool(returned == config))
    _check(same, f"what {method} returns must survive JSON unchanged", config, returned)
    if hasattr(space, "contains"):
        _check(space.contains(config), f"what {method} returns must be in the space", config)
        _check(space.contains(returned), f"what {method} returns must be in the space after JSON too", config, returned)


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_close(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(_close, a, b))
    if type(a) is not type(b):
        return False
    return math.isclose(a, b, rel_tol=_TOLERANCE) if isinstance(a, (int, float)) else bool(a == b)
