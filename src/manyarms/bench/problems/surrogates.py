"""A surrogate of real trainings: YAHPO Gym's network that predicts how XGBoost does, over a conditional space."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ManyarmsError
from ...spaces import Choice, Float, Int, Space
from .data import data_directory
from .reference_values import survey

# The best and the typical value: what survey(problem, 10_000, rounds=60, seed) found with the seeds 0 to 7, of the best the
# largest, of the typical ones the median.
_MEASURED = {
    12: (1.0, 0.8488),  # mfeat-factors
    16: (1.0, 0.6757),  # mfeat-karhunen
    29: (0.9502, 0.6674),  # credit-approval
    44: (0.9963, 0.8413),  # spambase
    54: (0.9153, 0.4836),  # vehicle
    1049: (0.9705, 0.8813),  # pc4
    1489: (0.9834, 0.7531),  # phoneme
    1494: (0.9514, 0.6671),  # qsar-biodeg
    1501: (1.0, 0.1713),  # semeion
    40701: (0.9938, 0.8550),  # churn
    40966: (0.9981, 0.1852),  # MiceProtein
    40984: (1.0, 0.8016),  # segment
}
RBV2_TASKS = tuple(_MEASURED)
"""Data sets, by OpenML's id, of two classes and of many, on which a random config is seldom as good as the best."""

_KINDS = ("task_id", "booster", "num.impute.selected.cpo")
_NUMBERS = (
    *("nrounds", "eta", "gamma", "lambda", "alpha", "subsample", "max_depth", "min_child_weight"),
    *("colsample_bytree", "colsample_bylevel", "rate_drop", "skip_drop"),
)
_RESOURCES = ("trainsize", "repl")  # which follow the numbers
_STEPS = 10
_REPEATS = 10  # `repl`, the other resource: the most there is
_ACCURACY = 0  # the first output
_AT_ONCE = 2000  # configs that are predicted together


class SurrogateProblem:
    """XGBoost on a data set, as a network predicts it that was fitted to real trainings (YAHPO Gym, rbv2_xgboost).

    A step is a tenth of the rows to train on, the reward is the accuracy, and there is no noise. `best` is an estimate from
    below, the largest value that `survey` found: but for `RBV2_TASKS` it is made when first asked for, in a second or two.
    A config may turn out better, and has a regret below 0: the surrogate has narrow peaks, which a search may find or miss.

    Args:
        task_id: OpenML's id of the data set.
        folder: with model.onnx, encoding.json and config_space.json.
    """

    max_steps = _STEPS

    def __init__(self, task_id: int, folder: Path) -> None:
        self.name = f"XGBoost {task_id}"
        self._model = str((folder / "model.onnx").resolve())  # a worker may run in another directory
        self._encoding: dict[str, dict[str, int]] = json.loads((folder / "encoding.json").read_text(encoding="utf-8"))
        tasks = self._encoding["task_id"].keys() - {"#na#"}
        if str(task_id) not in tasks:
            known = ", ".join(sorted(tasks, key=int)[:5])
            raise ValueError(f"task_id must be one of the {len(tasks)} of the surrogate, such as {known}, got {task_id!r}")
        self._task = int(task_id)
        self.space = surrogate_space(json.loads((folder / "config_space.json").read_text(encoding="utf-8")))

    def reward(self, config: Any, step: int, seed: int) -> float:
        """The accuracy with so many tenths of the rows."""
        return self._curve(config)[step - 1]

    def value(self, config: Any) -> float:
        """The accuracy with all rows."""
        return self._curve(config)[-1]

    def values(self, configs: Sequence[Any]) -> NDArray[np.float64]:
        """The accuracies of many configs with all rows, faster than one by one, and the same up to rounding."""
        kinds, numbers = zip(*(inputs(config, str(self._task), self._encoding) for config in configs), strict=True)
        parts = range(0, len(kinds), _AT_ONCE)
        return np.concatenate(
            [predicted(self._model, kinds[at : at + _AT_ONCE], numbers[at : at + _AT_ONCE], [1.0]) for at in parts]
        )

    @cached_property
    def best(self) -> float:
        """The largest value known."""
        return self._survey[0]

    @cached_property
    def typical(self) -> float:
        """The median of random configs."""
        return self._survey[1]

    @cached_property
    def _survey(self) -> tuple[float, float]:
        if self._task in _MEASURED:
            return _MEASURED[self._task]
        found = survey(self, 10_000, rounds=60)
        return found.best, found.typical

    def _curve(self, config: Any) -> tuple[float, ...]:
        return _curve(self._model, *inputs(config, str(self._task), self._encoding))


def rbv2_xgboost(task_id: int) -> SurrogateProblem:
    """XGBoost on one of 119 data sets, by OpenML's id; `RBV2_TASKS` names a dozen. Needs the data folder and onnxruntime."""
    _onnxruntime()
    folder = data_directory() / "bench" / "rbv2_xgboost"
    if not (folder / "model.onnx").is_file():
        raise ManyarmsError(f"there is no model.onnx in {str(folder)!r}: it comes with YAHPO Gym's data, as rbv2_xgboost")
    return SurrogateProblem(task_id, folder)


def surrogate_space(description: Mapping[str, Any]) -> Space:
    """The space in a config_space.json of YAHPO Gym, without task and resources; conditions as in `from_configspace`."""
    parts = {part["name"]: part for part in description["hyperparameters"]}
    children: dict[str, list[tuple[str, list[str]]]] = {}
    for condition in description["conditions"]:
        active = condition["values"] if condition["type"] == "IN" else [condition["value"]]
        children.setdefault(condition["parent"], []).append((condition["child"], active))
    inner = {child for listed in children.values() for child, _ in listed}

    def parameter(part: Mapping[str, Any]) -> Any:
        match part["type"]:
            case "uniform_float":
                return Float(part["lower"], part["upper"], log=part["log"])
            case "uniform_int":
                return Int(part["lower"], part["upper"], log=part["log"])
        return Choice([option(part["name"], value) for value in part["choices"]])

    def option(parent: str, value: str) -> Any:
        active = [child for child, values in children.get(parent, ()) if value in values]
        return Space(**{parent: value}, **{child: parameter(parts[child]) for child in active}) if active else value

    outer = (name for name in parts if name not in {*inner, *_RESOURCES, "task_id"})
    return Space(**{name: parameter(parts[name]) for name in outer})


def inputs(config: Any, task: str, encoding: Mapping[str, Mapping[str, int]]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """A config as the surrogate takes it, without the resources: codes of the kinds, and the numbers, 0 where inactive."""
    booster = config["booster"]
    flat = {**config, **(booster if isinstance(booster, Mapping) else {}), "task_id": task}
    return (
        tuple([encoding[name][flat.get(name, "#na#")] for name in _KINDS]),
        tuple([flat.get(name, 0.0) for name in _NUMBERS]),
    )


def predicted(
    model: str, kinds: Sequence[Sequence[int]], numbers: Sequence[Sequence[float]], shares: Iterable[float]
) -> NDArray[np.float64]:
    """The accuracies of configs, each with all of these shares of the rows to train on."""
    resources = [(share, _REPEATS) for share in shares]
    n = len(resources)
    x_kinds = np.repeat(np.array(kinds, dtype=np.int32), n, axis=0)
    x_numbers = np.repeat(np.array(numbers, dtype=np.float32), n, axis=0)
    x_resources = np.tile(np.array(resources, dtype=np.float32), (len(numbers), 1))
    feed = {"x_cat": x_kinds, "x_cont": np.hstack([x_numbers, x_resources])}
    accuracies: NDArray[np.float64] = _session(model, os.getpid()).run(None, feed)[0][:, _ACCURACY].astype(float)
    return np.clip(accuracies, 0.0, 1.0)  # which rounding leaves by some millionths


@lru_cache(maxsize=10_000)
def _curve(model: str, kinds: tuple[int, ...], numbers: tuple[float, ...]) -> tuple[float, ...]:
    """All steps at once: ten rows cost the network hardly more than one."""
    return tuple(predicted(model, [kinds], [numbers], [step / _STEPS for step in range(1, _STEPS + 1)]).tolist())


@cache
def _session(model: str, process: int) -> Any:
    """One for each process, of one thread; the number of the process keeps those that were forked apart."""
    onnxruntime = _onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _onnxruntime() -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise ImportError('the surrogate needs onnxruntime: pip install "manyarms[onnx]"') from None
    return onnxruntime
