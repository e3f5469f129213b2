"""A network as the source of a Python module that needs nothing but PyTorch."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator, Sequence

from ..graphs.graph import INPUT
from ..graphs.layout import Fit, Layout, Stage
from .network_module import module_name
from .pytorch import nn

SOURCE_FILE, WEIGHTS_FILE = "network.py", "weights.pt"
"""Names of the exported module and of its weights."""


def python_source(layout: Layout) -> str:
    """The source of a Python module with the network. It needs nothing but PyTorch, and can load the weights of the original.

    >>> import numpy as np
    >>> from manyarms.networks import table_space
    >>> space = table_space(4, 3)
    >>> text = python_source(space.layout(space.sample(np.random.default_rng(0))))
    >>> text.splitlines()[-1]
    '        return self.head(x.flatten(1))'
    """
    title = (
        f'"""A network with {len(layout.all_stages)} layers, a head, and {layout.n_parameters:,} parameters.\n\n'
        f'    model = Network()\n    model.load_state_dict(torch.load("{WEIGHTS_FILE}", weights_only=True))\n'
        '    model.eval()\n"""'
    )
    imports = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F"
    network = "\n".join([*_constructor(layout), *_forward(layout)])
    return "\n\n\n".join([f"{title}\n\n{imports}", *_custom_classes(layout.all_stages), network]) + "\n"


def _custom_classes(stages: Sequence[Stage]) -> Iterator[str]:
    """The source of each module class that PyTorch does not have."""
    for custom in dict.fromkeys(stage.blueprint.custom_class for stage in stages):
        if custom is not None:
            yield _class_source(custom)


def _class_source(custom: type[nn.Module]) -> str:
    try:
        return textwrap.dedent(inspect.getsource(custom)).rstrip()
    except (OSError, TypeError):
        raise ValueError(f"the source of {custom.__name__} was not found: define the class in a file") from None


def _constructor(layout: Layout) -> Iterator[str]:
    shape = " x ".join(map(str, layout.input_shape))
    per_channel = (layout.input_shape[0], *(1 for _ in layout.input_shape[1:]))
    dtype = ", dtype=torch.float64" if len(per_channel) == 1 else ""
    yield "class Network(nn.Module):"
    yield f'    """Takes rows x {shape}, standardizes them, and returns rows x {layout.n_outputs} scores."""'
    yield "\n    def __init__(self):"
    yield "        super().__init__()"
    yield f'        self.register_buffer("mean", torch.zeros({per_channel}{dtype}))'
    yield f'        self.register_buffer("scale", torch.ones({per_channel}{dtype}))'
    for graph, stages in layout.stages.items():
        for stage in stages:
            after = " x ".join(map(str, stage.after))
            yield f"        self.{module_name(graph, stage.node)} = {stage.blueprint}  # output: {after}"
    yield f"        self.head = nn.Linear({layout.n_features}, {layout.n_outputs})"


def _forward(layout: Layout) -> Iterator[str]:
    yield "\n    def forward(self, x):"
    yield "        x = ((x.to(self.mean.dtype) - self.mean) / self.scale).to(self.head.weight.dtype)"
    for graph, stages in layout.stages.items():
        yield f"        {graph}_{INPUT} = x{'.flatten(1)' if len(layout.entries[graph]) == 1 else ''}"
        for stage in stages:
            yield from (f"        {line}" for line in _node_lines(graph, stage))
        yield f"        x = {graph}_{stages[-1].node.id}"
    yield "        return self.head(x.flatten(1))"


def _node_lines(graph: str, stage: Stage) -> Iterator[str]:
    """The computation of a node, in one or two lines."""
    node = stage.node
    value, source = f"{graph}_{node.id}", f"{graph}_{node.inputs[0]}"
    if len(node.inputs) > 1:
        padding_value = 1.0 if node.combiner == "multiply" else 0.0
        pairs = zip(node.inputs, stage.fits, strict=True)
        inputs = [_fitted(f"{graph}_{id}", fit, len(stage.before) - 1, padding_value) for id, fit in pairs]
        yield f"{value} = {_combined(inputs, node.combiner)}"
        source = value
    result = f"self.{module_name(graph, node)}({source})"
    yield f"{value} = {result if node.activation == 'identity' else f'F.{node.activation}({result})'}"


def _combined(inputs: Sequence[str], combiner: str) -> str:
    if combiner == "concatenate":
        return f"torch.cat([{', '.join(inputs)}], dim=1)"
    return (" * " if combiner == "multiply" else " + ").join(inputs)


def _fitted(value: str, fit: Fit, dimensions: int, padding_value: float) -> str:
    """The expression of an input that is made to fit."""
    if fit.pooled is not None:
        value = f"F.adaptive_avg_pool{len(fit.pooled)}d({value}, {fit.pooled})"
    if fit.padded:
        value = f"F.pad({value}, {[0, 0] * dimensions + [0, fit.padded]}, value={padding_value})"
    return value
