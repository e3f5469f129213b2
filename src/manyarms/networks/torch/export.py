"""A trained network for use without this library: TorchScript, and Python source text with its weights beside it."""

from __future__ import annotations

import ast
import copy
import inspect
import io
import linecache
import os
import textwrap
import traceback
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ... import checks
from ..graphs.graph import INPUT
from ..graphs.layout import Fit, Layout, Stage
from .network_module import NetworkModule, module_name
from .pytorch import nn, torch

SOURCE, WEIGHTS, SCRIPT = "network.py", "weights.pt", "network.torchscript.pt"
"""The files that `export_model` writes."""

_UNSURE: type[Warning] = torch.jit.TracerWarning  # type: ignore[attr-defined]
_DEPRECATED = "`torch.jit"  # how the warnings begin that TorchScript is old


def export_model(model: NetworkModule, directory: str | os.PathLike[str], script: bool = True) -> None:
    """Write a network as a Python module with its weights, and as TorchScript, all of it for the CPU.

    Nothing is written unless both give the scores of the model.

    Args:
        model: as `study.best_model()` gives it.
        directory: where `network.py`, `weights.pt` and `network.torchscript.pt` are written.
        script: False for a network that `torchscript` refuses; only the other two files are then there.
    """
    checks.flag("script", script)
    model = copy.deepcopy(model).to("cpu").eval()
    text = python_source(model.layout)
    _check_source(text, model)
    weights = io.BytesIO()
    torch.save(model.state_dict(), weights)
    traced = _script_bytes(torchscript(model)) if script else b""
    place = Path(directory)
    place.mkdir(parents=True, exist_ok=True)
    (place / SOURCE).write_text(text, encoding="utf-8")
    (place / WEIGHTS).write_bytes(weights.getvalue())
    if script:
        (place / SCRIPT).write_bytes(traced)
    else:
        (place / SCRIPT).unlink(missing_ok=True)  # of an earlier network


def torchscript(model: NetworkModule) -> torch.jit.ScriptModule:
    """The network as TorchScript, in the state it has outside training; any number of rows will do.

    It is traced: what the Python code of a module does with one input is what the script does with any. A module of one's own
    that decides by the values or the sizes of its input, or counts its rows, is therefore refused.
    """
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            script = _traced(model)
            _check_script(script, model)
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


def _traced(model: NetworkModule) -> torch.jit.ScriptModule:
    example = torch.zeros(2, *model.layout.input_shape, device=model.mean.device)
    with warnings.catch_warnings(record=True) as found:
        warnings.filterwarnings("ignore", _DEPRECATED)
        warnings.filterwarnings("always", category=_UNSURE)
        warnings.filterwarnings("ignore", category=_UNSURE, module=r"torch\.")  # its own modules check sizes
        try:
            script: torch.jit.ScriptModule = torch.jit.trace(model, example, check_trace=False)  # type: ignore[no-untyped-call]
        except RuntimeError as error:
            raise _untraceable(f"RuntimeError: {str(error).splitlines()[0]}") from error
    for warning in found:  # any other is given again when the model is compared with its script
        if issubclass(warning.category, _UNSURE):
            line = linecache.getline(warning.filename, warning.lineno).strip()
            raise _untraceable(f"{line!r} in {warning.filename}, line {warning.lineno}")
    return script


def _check_script(script: torch.jit.ScriptModule, model: NetworkModule) -> None:
    """Refuse a script that gives other scores than the model for other rows than it was traced with."""
    for rows in _trials(model):
        try:
            found = script(rows)
        except RuntimeError as error:
            raise _untraceable(f"{str(error).splitlines()[-1]} for {len(rows)} rows") from error
        if not _close(found, model(rows)):
            raise _untraceable(f"other scores for {len(rows)} rows")


def _untraceable(found: str) -> ValueError:
    return ValueError(
        "the Python code of a module must not depend on the values or the sizes of its input to become TorchScript, "
        f"got {found}; export_model(..., script=False) writes the Python source alone"
    )


def _script_bytes(script: torch.jit.ScriptModule) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _DEPRECATED)
        torch.jit.save(script, file)
    return file.getvalue()


def _trials(model: NetworkModule) -> list[torch.Tensor]:
    """What an exported network is tried on: four rows, and three on the other side of the mean."""
    rows = torch.randn(4, *model.layout.input_shape, generator=torch.Generator().manual_seed(0)).to(model.mean.device)
    return [rows * model.scale + model.mean, model.mean - rows[1:] * model.scale]


def _close(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    return found.shape == wanted.shape and torch.allclose(found, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)


def _check_source(text: str, model: NetworkModule) -> None:
    """Refuse source text that does not run by itself, or gives other scores than the model with the same weights.

    Args:
        text: from `python_source`.
        model: on the CPU, as it is outside training.
    """
    trials = _trials(model)
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            network = _written(text, model)
            found = [network(rows) for rows in trials]
    except NameError as error:
        raise ValueError(
            f"the source text of {_class_at(error, text)} must use nothing but torch, nn, F and itself to be exported, "
            f"got {error.name}"
        ) from error
    except Exception as error:  # classes of the user can fail in any way
        raise ValueError(f"the exported source text must run by itself, got {type(error).__name__}: {error}") from error
    with torch.no_grad():
        wanted = [model(rows) for rows in trials]
    for scores, right in zip(found, wanted, strict=True):
        if not _close(scores, right):
            raise ValueError(f"the exported source text must give the model's scores, got {scores[0]} for {right[0]}")


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
