"""A surrogate for real training: the YAHPO Gym network that predicts the accuracy of XGBoost, over a conditional space."""

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

# The best and the typical value, from survey(problem, 10_000, rounds=60, seed) with the seeds 0 to 7: the largest of the best
# values, and the median of the typical ones.
_MEASURED = {
    3: (0.9988, 0.7216),  # kr-vs-kp
    11: (0.9300, 0.6225),  # balance-scale
    12: (1.0, 0.8488),  # mfeat-factors
    16: (1.0, 0.6757),  # mfeat-karhunen
    23: (0.7921, 0.4332),  # cmc
    29: (0.9502, 0.6674),  # credit-approval
    44: (0.9963, 0.8413),  # spambase
    54: (0.9153, 0.4836),  # vehicle
    60: (1.0, 0.8124),  # waveform-5000
    1049: (0.9705, 0.8813),  # pc4
    1053: (0.9994, 0.8086),  # jm1
    1475: (1.0, 0.4056),  # first-order-theorem-proving
    1486: (1.0, 0.8938),  # nomao
    1489: (0.9834, 0.7531),  # phoneme
    1494: (0.9514, 0.6671),  # qsar-biodeg
    1501: (1.0, 0.1713),  # semeion
    23512: (1.0, 0.6538),  # higgs
    40498: (1.0, 0.5131),  # wine-quality-white
    40701: (0.9938, 0.8550),  # churn
    40966: (0.9981, 0.1852),  # MiceProtein
    40982: (0.9997, 0.5120),  # steel-plates-fault
    40984: (1.0, 0.8016),  # segment
    41138: (1.0, 0.9285),  # APSFailure
    41143: (0.9234, 0.7482),  # jasmine
}
RBV2_TASKS = tuple(_MEASURED)
"""OpenML ids of datasets with two or more classes on which a random config is rarely as good as the best one."""

_KINDS = ("task_id", "booster", "num.impute.selected.cpo")
_NUMBERS = (
    *("nrounds", "eta", "gamma", "lambda", "alpha", "subsample", "max_depth", "min_child_weight"),
    *("colsample_bytree", "colsample_bylevel", "rate_drop", "skip_drop"),
)
_RESOURCES = ("trainsize", "repl")  # inputs that follow the numbers
_STEPS = 10
_REPEATS = 10  # the largest value of `repl`, the other resource
_ACCURACY = 0  # index of the output
_AT_ONCE = 2000  # configs per prediction


class SurrogateProblem:
    """XGBoost on a dataset, as predicted by a network that was fitted to real training runs (YAHPO Gym, rbv2_xgboost).

    A step is a tenth of the training rows. The reward is the accuracy, without noise. `best` is the largest value that `survey`
    found, which is a lower bound. It is stored for `RBV2_TASKS`. For other tasks it is measured on first use, which takes a
    second or two. A config may be better than `best`, because the surrogate has narrow peaks; its regret is then negative.

    Args:
        task_id: OpenML id of the dataset.
        folder: Folder with model.onnx, encoding.json and config_space.json.
    """

    max_steps = _STEPS

    def __init__(self, task_id: int, folder: Path) -> None:
        self.name = f"XGBoost {task_id}"
        self._model = str((folder / "model.onnx").resolve())  # a worker may run in another directory
        self._encoding: dict[str, dict[str, int]] = json.loads((folder / "encoding.json").read_text(encoding="utf-8"))
        tasks = self._encoding["task_id"].keys() - {"#na#"}
        if str(task_id) not in tasks:
            known = ", ".join(sorted(tasks, key=int)[:5])
            raise ValueError(f"task_id must be one of the {len(tasks)} known tasks, such as {known}, got {task_id!r}")
        self._task = int(task_id)
        self.space = surrogate_space(json.loads((folder / "config_space.json").read_text(encoding="utf-8")))

    def reward(self, config: Any, step: int, seed: int) -> float:
        """The accuracy with this many tenths of the rows."""
        return self._curve(config)[step - 1]

    def value(self, config: Any) -> float:
        """The accuracy with all rows."""
        return self._curve(config)[-1]

    def values(self, configs: Sequence[Any]) -> NDArray[np.float64]:
        """The accuracies of many configs with all rows. Faster than one at a time, with the same results up to rounding."""
        kinds, numbers = zip(*(inputs(config, str(self._task), self._encoding) for config in configs), strict=True)
        parts = range(0, len(kinds), _AT_ONCE)
        return np.concatenate(
            [predicted(self._model, kinds[at : at + _AT_ONCE], numbers[at : at + _AT_ONCE], [1.0]) for at in parts]
        )

    @cached_property
    def best(self) -> float:
        """The largest known value."""
        return self._survey[0]

    @cached_property
    def typical(self) -> float:
        """The median value of random configs."""
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
    """XGBoost on one of 119 datasets, by OpenML id, such as those in `RBV2_TASKS`. Needs the data directory and onnxruntime."""
    _onnxruntime()
    folder = data_directory() / "bench" / "rbv2_xgboost"
    if not (folder / "model.onnx").is_file():
        raise ManyarmsError(f"There is no model.onnx in {str(folder)!r}. It is in rbv2_xgboost in the YAHPO Gym data.")
    return SurrogateProblem(task_id, folder)


def surrogate_space(description: Mapping[str, Any]) -> Space:
    """The space in a config_space.json of YAHPO Gym, without task and resources. Conditions are as in `from_configspace`."""
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
    """The inputs of the surrogate for a config, without the resources: categories as codes, and numbers, 0 if inactive."""
    booster = config["booster"]
    flat = {**config, **(booster if isinstance(booster, Mapping) else {}), "task_id": task}
    return (
        tuple([encoding[name][flat.get(name, "#na#")] for name in _KINDS]),
        tuple([flat.get(name, 0.0) for name in _NUMBERS]),
    )


def predicted(
    model: str, kinds: Sequence[Sequence[int]], numbers: Sequence[Sequence[float]], shares: Iterable[float]
) -> NDArray[np.float64]:
    """The accuracies of configs, each with all these shares of the training rows."""
    resources = [(share, _REPEATS) for share in shares]
    n = len(resources)
    x_kinds = np.repeat(np.array(kinds, dtype=np.int32), n, axis=0)
    x_numbers = np.repeat(np.array(numbers, dtype=np.float32), n, axis=0)
    x_resources = np.tile(np.array(resources, dtype=np.float32), (len(numbers), 1))
    feed = {"x_cat": x_kinds, "x_cont": np.hstack([x_numbers, x_resources])}
    accuracies: NDArray[np.float64] = _session(model, os.getpid()).run(None, feed)[0][:, _ACCURACY].astype(float)
    return np.clip(accuracies, 0.0, 1.0)  # rounding may exceed 1 by a few millionths


@lru_cache(maxsize=10_000)
def _curve(model: str, kinds: tuple[int, ...], numbers: tuple[float, ...]) -> tuple[float, ...]:
    """All steps of a curve at once, because predicting ten rows takes hardly more time than predicting one."""
    return tuple(predicted(model, [kinds], [numbers], [step / _STEPS for step in range(1, _STEPS + 1)]).tolist())


@cache
def _session(model: str, process: int) -> Any:
    """A session with one thread for each process. The process id distinguishes forked processes."""
    onnxruntime = _onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _onnxruntime() -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise ImportError('The surrogate needs onnxruntime: pip install "manyarms[onnx]"') from None
    return onnxruntime
