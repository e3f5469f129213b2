"""A trained network for use without this library: TorchScript, and Python source text with its weights beside it."""

from __future__ import annotations

import ast
import copy
import inspect
import io
import os
import textwrap
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .building import NetworkModule, module_name
from .graph import INPUT
from .layout import Fit, Layout, Stage
from .pytorch import nn, torch

SOURCE, WEIGHTS, SCRIPT = "network.py", "weights.pt", "network.torchscript.pt"
"""The files that `export_model` writes."""

_ROWS = 4  # that source text is tried on


def export_model(model: NetworkModule, directory: str | os.PathLike[str]) -> None:
    """Write a network as a Python module with its weights, and as TorchScript, all of it for the CPU.

    Nothing is written unless the module gives the scores of the model.

    Args:
        model: as `study.best_model()` gives it.
        directory: where `network.py`, `weights.pt` and `network.torchscript.pt` are written.
    """
    model = copy.deepcopy(model).to("cpu").eval()
    text = python_source(model.layout)
    _check_source(text, model)
    weights, script = io.BytesIO(), io.BytesIO()
    torch.save(model.state_dict(), weights)
    torch.jit.save(torchscript(model), script)
    place = Path(directory)
    place.mkdir(parents=True, exist_ok=True)
    (place / SOURCE).write_text(text)
    (place / WEIGHTS).write_bytes(weights.getvalue())
    (place / SCRIPT).write_bytes(script.getvalue())


def torchscript(model: NetworkModule) -> torch.jit.ScriptModule:
    """The network as TorchScript, in the state it has outside training; any number of rows will do."""
    example = torch.zeros(2, *model.layout.input_shape, device=model.mean.device)
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            script: torch.jit.ScriptModule = torch.jit.trace(model, example)  # type: ignore[no-untyped-call]
    finally:
        model.train(was_training)
    return script


def python_source(layout: Layout) -> str:
    """The network as the text of a Python module that needs nothing but PyTorch. It can load the weights of the original.

    >>> import numpy as np
    >>> from manyarms.networks import table_space
    >>> space = table_space(4, 3)
    >>> text = python_source(space.layout(space.sample(np.random.default_rng(0))))
    >>> text.splitlines()[-1]
    '        return self.head(x.flatten(1))'
    """
    stages = [stage for graph in layout.stages.values() for stage in graph]
    title = (
        f'"""A network of {len(stages)} layers and a head, with {layout.n_parameters:,} parameters.\n\n'
        f'    model = Network()\n    model.load_state_dict(torch.load("{WEIGHTS}", weights_only=True))\n    model.eval()\n"""'
    )
    imports = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F"
    return "\n\n\n".join([f"{title}\n\n{imports}", *_own_classes(stages), "\n".join(_network_class(layout))]) + "\n"


def _check_source(text: str, model: NetworkModule) -> None:
    """Refuse source text that does not run by itself, or gives other scores than the model with the same weights.

    Args:
        text: from `python_source`.
        model: on the CPU, as it is outside training.
    """
    rows = torch.randn(_ROWS, *model.layout.input_shape, generator=torch.Generator().manual_seed(0))
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            found = _written(text, model)(rows * model.scale + model.mean)
    except NameError as error:
        raise ValueError(
            f"the source text of {_class_at(error, text)} must use nothing but torch, nn, F and itself to be exported, "
            f"got {error.name}"
        ) from error
    except Exception as error:  # classes of the user can fail in any way
        raise ValueError(f"the exported source text must run by itself, got {type(error).__name__}: {error}") from error
    with torch.no_grad():
        wanted = model(rows * model.scale + model.mean)
    if not torch.allclose(found, wanted, rtol=1e-4, atol=1e-5, equal_nan=True):
        raise ValueError(f"the exported source text must give the model's scores, got {found[0]} for {wanted[0]}")


def _written(text: str, model: NetworkModule) -> nn.Module:
    """A network of the source text, with the weights of the model."""
    namespace: dict[str, Any] = {"__name__": "network"}
    exec(compile(text, SOURCE, "exec", dont_inherit=True), namespace)
    network: nn.Module = namespace["Network"]()
    network.load_state_dict(model.state_dict())
    return network.eval()


def _class_at(error: NameError, text: str) -> str:
    """The class of the source text that an error comes from."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == SOURCE]
    classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    return next(node.name for node in classes if lines[-1] <= (node.end_lineno or 0))


def _own_classes(stages: Sequence[Stage]) -> Iterator[str]:
    """The source text of modules that PyTorch does not have, each once."""
    found = dict.fromkeys(stage.layer.blueprint(stage.before, stage.node.settings).own for stage in stages)
    for own in found:
        if own is not None:
            yield _source_of(own)


def _source_of(own: type[nn.Module]) -> str:
    try:
        return textwrap.dedent(inspect.getsource(own)).rstrip()
    except (OSError, TypeError):
        raise ValueError(f"the source text of {own.__name__} was not found: define it in a file") from None


def _network_class(layout: Layout) -> Iterator[str]:
    shape = " x ".join(map(str, layout.input_shape))
    across = (layout.input_shape[0], *(1 for _ in layout.input_shape[1:]))
    yield "class Network(nn.Module):"
    yield f'    """Takes rows x {shape}, standardises them, and gives rows x {layout.n_outputs} scores."""'
    yield "\n    def __init__(self):"
    yield "        super().__init__()"
    precise = ", dtype=torch.float64" if len(across) == 1 else ""
    yield f'        self.register_buffer("mean", torch.zeros({across}{precise}))'
    yield f'        self.register_buffer("scale", torch.ones({across}{precise}))'
    for graph, stages in layout.stages.items():
        for stage in stages:
            after = " x ".join(map(str, stage.after))
            made = stage.layer.blueprint(stage.before, stage.node.settings)
            yield f"        self.{module_name(graph, stage.node)} = {made}  # gives {after}"
    yield f"        self.head = nn.Linear({layout.n_features}, {layout.n_outputs})"
    yield "\n    def forward(self, x):"
    yield "        x = ((x.to(self.mean.dtype) - self.mean) / self.scale).to(self.head.weight.dtype)"
    for graph, stages in layout.stages.items():
        yield f"        {graph}_{INPUT} = x{'.flatten(1)' if len(layout.entries[graph]) == 1 else ''}"
        for stage in stages:
            yield from (f"        {line}" for line in _steps(graph, stage))
        yield f"        x = {graph}_{stages[-1].node.id}"
    yield "        return self.head(x.flatten(1))"


def _steps(graph: str, stage: Stage) -> Iterator[str]:
    """What a node does, in one line or two."""
    node = stage.node
    value, given = f"{graph}_{node.id}", f"{graph}_{node.inputs[0]}"
    if len(node.inputs) > 1:
        filling = 1.0 if node.combiner == "multiply" else 0.0
        pairs = zip(node.inputs, stage.fits, strict=True)
        inputs = [_fitted(f"{graph}_{id}", fit, len(stage.before) - 1, filling) for id, fit in pairs]
        yield f"{value} = {_joined(inputs, node.combiner)}"
        given = value
    result = f"self.{module_name(graph, node)}({given})"
    yield f"{value} = {result if node.activation == 'identity' else f'F.{node.activation}({result})'}"


def _joined(inputs: Sequence[str], combiner: str) -> str:
    if combiner == "concatenate":
        return f"torch.cat([{', '.join(inputs)}], dim=1)"
    return (" * " if combiner == "multiply" else " + ").join(inputs)


def _fitted(value: str, fit: Fit, n_extents: int, filling: float) -> str:
    """The expression of an input made to fit."""
    if fit.pooled is not None:
        value = f"F.adaptive_avg_pool{len(fit.pooled)}d({value}, {fit.pooled})"
    if fit.padded:
        value = f"F.pad({value}, {[0, 0] * n_extents + [0, fit.padded]}, value={filling})"
    return value
