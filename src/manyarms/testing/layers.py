"""The contract of a layer type: its shapes and costs must be those of its module. Needs PyTorch.

def test_my_layer_keeps_the_contract_of_layers():
    check_layer(MyLayer())
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..networks.layers import ALL_DIMENSIONS, Layer, Settings, Shape, is_shape

if TYPE_CHECKING:
    from torch import nn

_SHAPES: tuple[Shape, ...] = ((5,), (1,), (3, 17), (4, 1), (3, 28, 28), (2, 1, 7), (6, 1, 1))


def check_layer(layer: Layer, shapes: Iterable[Shape] | None = None, seed: int = 0, n: int = 8) -> None:
    """Check that a layer type describes its module correctly: output shape, number of parameters and operations.

    Args:
        layer: The layer type, such as `Dense()`.
        shapes: Input shapes to try. By default several for each of its dimensions, including the smallest.
        seed: Random seed for the settings and weights.
        n: Number of settings to try with each shape.

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
    _check(layer.name.isidentifier(), "the name of a layer must be a Python identifier", repr(layer.name))
    known = bool(layer.dimensions) and set(layer.dimensions) <= set(ALL_DIMENSIONS)
    _check(known, f"the dimensions of layer {layer.name!r} must be some of 0, 1 and 2", repr(layer.dimensions))


def _shapes(layer: Layer, shapes: Iterable[Shape] | None) -> Sequence[Shape]:
    if shapes is None:
        return [shape for shape in _SHAPES if len(shape) - 1 in layer.dimensions]
    given = list(shapes)
    for shape in given:
        if not any(is_shape(shape, 1 + dimensions) for dimensions in layer.dimensions):
            wanted = " or ".join(str(1 + dimensions) for dimensions in sorted(layer.dimensions))
            raise ValueError(f"shapes must be tuples of {wanted} sizes for layer {layer.name!r}, got {shape!r}")
    return given


def _check_case(layer: Layer, shape: Shape, settings: Settings) -> None:
    """Check the layer for one input shape and one choice of settings."""
    name, case = f"of layer {layer.name!r}", f"for the input shape {shape} with {settings}"
    after = layer.output_shape(shape, settings)
    valid = is_shape(after, len(shape))
    _check(valid, f"output_shape {name} must return a tuple of positive integers of length {len(shape)}", f"{after!r} {case}")
    module = _build(layer, shape, settings, case)
    n_parameters = sum(weight.numel() for weight in module.parameters())
    for n_rows in (2, 1):  # several rows for training, one for prediction
        measured, n_flops = _run(module.train(n_rows > 1), (n_rows, *shape), f"the module {name} must", case)
        _check(after == measured, f"output_shape {name} must be {measured}, like the output of the module", f"{after} {case}")
    for method, claimed, counted in (
        ("n_parameters", layer.n_parameters(shape, settings), n_parameters),
        ("n_flops", layer.n_flops(shape, settings), n_flops),
    ):
        same = type(claimed) is int and claimed == counted
        _check(same, f"{method} {name} must be {counted}, as counted in the module", f"{claimed!r} {case}")


def _build(layer: Layer, shape: Shape, settings: Settings, case: str) -> nn.Module:
    try:
        return layer.blueprint(shape, settings).build()
    except Exception as error:
        raise AssertionError(
            f"the blueprint of layer {layer.name!r} must build without an error, got {_text(error)} {case}"
        ) from error


def _run(module: nn.Module, shape: Shape, rule: str, case: str) -> tuple[Shape, int]:
    """The output shape of a row and the number of operations, as PyTorch counts them."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    from ..networks.torch.pytorch import torch

    try:
        with warnings.catch_warnings(), FlopCounterMode(display=False) as counter:
            warnings.filterwarnings("ignore", "TF32 acceleration")
            # PyTorch does not count operations in the LSTM of MKL-DNN and in fused attention, so both are turned off
            with torch.backends.mkldnn.flags(enabled=False), sdpa_kernel(SDPBackend.MATH):
                output = module(torch.randn(shape))
    except Exception as error:
        raise AssertionError(f"{rule} run without an error, got {_text(error)} {case}") from error
    _check(isinstance(output, torch.Tensor), f"{rule} return a tensor", f"{type(output).__name__} {case}")
    _check(output.shape[:1] == shape[:1], f"{rule} return as many rows as it gets, {shape[0]}", f"{tuple(output.shape)} {case}")
    return tuple(output.shape[1:]), int(counter.get_total_flops())


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _check(holds: bool, rule: str, found: str) -> None:
    if not holds:  # not an assert statement: those vanish under python -O
        raise AssertionError(f"{rule}, got {found}")
