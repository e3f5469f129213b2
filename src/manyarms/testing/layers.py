"""The contract of a type of layer: what it says of its module, compared with the module itself, which needs PyTorch.

def test_my_layer_keeps_the_contract_of_layers():
    check_layer(MyLayer())
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..networks.layers import EVERY, Layer, Settings, Shape, is_shape

if TYPE_CHECKING:
    from torch import nn

_SHAPES: tuple[Shape, ...] = ((5,), (1,), (3, 17), (4, 1), (3, 28, 28), (2, 1, 7), (6, 1, 1))


def check_layer(layer: Layer, shapes: Iterable[Shape] | None = None, seed: int = 0, n: int = 8) -> None:
    """The module takes what the layer says it does, gives what it says, learns as much and costs as much.

    Args:
        layer: the type, such as `Dense()`.
        shapes: of the inputs to try; by default some for each of its dimensions, the smallest too.
        seed: of the settings to try and of the weights.
        n: how many settings to try with each shape.

    >>> from manyarms.networks import Dense
    >>> check_layer(Dense(), shapes=[(5,), (100,)])
    """
    from ..networks.torch.pytorch import torch

    _check_type(layer)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for shape in _shapes(layer, shapes):
            rng = np.random.default_rng(seed)
            for _ in range(n):
                _check_case(layer, shape, layer.space.sample(rng))


def _check_type(layer: Layer) -> None:
    _check(isinstance(layer, Layer), "a layer must be an object such as Dense()", repr(layer))
    _check(layer.name.isidentifier(), "the name of a layer must be a Python name", repr(layer.name))
    known = bool(layer.dimensions) and set(layer.dimensions) <= set(EVERY)
    _check(known, f"the dimensions of layer {layer.name!r} must be some of 0, 1 and 2", repr(layer.dimensions))


def _shapes(layer: Layer, shapes: Iterable[Shape] | None) -> Sequence[Shape]:
    if shapes is None:
        return [shape for shape in _SHAPES if len(shape) - 1 in layer.dimensions]
    given = list(shapes)
    for shape in given:
        if not any(is_shape(shape, 1 + dimensions) for dimensions in layer.dimensions):
            wanted = " or ".join(str(1 + dimensions) for dimensions in sorted(layer.dimensions))
            raise ValueError(f"shapes must be tuples of {wanted} sizes, which layer {layer.name!r} takes, got {shape!r}")
    return given


def _check_case(layer: Layer, shape: Shape, settings: Settings) -> None:
    """One shape, one choice of settings."""
    name, case = f"of layer {layer.name!r}", f"for an input of {shape} with {settings}"
    after = layer.output_shape(shape, settings)
    valid = is_shape(after, len(shape))
    _check(valid, f"output_shape {name} must give {len(shape)} whole sizes, each at least 1", f"{after!r} {case}")
    module = _built(layer, shape, settings, case)
    n_parameters = sum(weight.numel() for weight in module.parameters())
    for n_rows in (2, 1):  # several to train on, one to predict
        given, n_flops = _measured(module.train(n_rows > 1), (n_rows, *shape), f"the module {name} must", case)
        _check(after == given, f"output_shape {name} must be {given}, as the module gives it", f"{after} {case}")
    for method, said, counted, act in (
        ("n_parameters", layer.n_parameters(shape, settings), n_parameters, "learns"),
        ("n_flops", layer.n_flops(shape, settings), n_flops, "takes"),
    ):
        same = type(said) is int and said == counted
        _check(same, f"{method} {name} must be {counted}, as many as the module {act}", f"{said!r} {case}")


def _built(layer: Layer, shape: Shape, settings: Settings, case: str) -> nn.Module:
    try:
        return layer.blueprint(shape, settings).build()
    except Exception as error:
        raise AssertionError(f"the blueprint of layer {layer.name!r} must build, got {_text(error)} {case}") from error


def _measured(module: nn.Module, shape: Shape, rule: str, case: str) -> tuple[Shape, int]:
    """The shape that each row becomes, and the operations, as PyTorch counts them."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    from ..networks.torch.pytorch import torch

    try:
        with warnings.catch_warnings(), FlopCounterMode(display=False) as counter:
            warnings.filterwarnings("ignore", "TF32 acceleration")
            # PyTorch counts neither the LSTM of MKL-DNN nor fused attention, so both are done in steps
            with torch.backends.mkldnn.flags(enabled=False), sdpa_kernel(SDPBackend.MATH):
                given = module(torch.randn(shape))
    except Exception as error:
        raise AssertionError(f"{rule} run, got {_text(error)} {case}") from error
    _check(isinstance(given, torch.Tensor), f"{rule} give a tensor", f"{type(given).__name__} {case}")
    _check(given.shape[:1] == shape[:1], f"{rule} give {shape[0]} rows for as many", f"{tuple(given.shape)} {case}")
    return tuple(given.shape[1:]), int(counter.get_total_flops())


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _check(holds: bool, rule: str, found: str) -> None:
    if not holds:  # not an assert statement: those vanish under python -O
        raise AssertionError(f"{rule}, got {found}")
