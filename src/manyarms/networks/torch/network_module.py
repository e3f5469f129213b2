"""The PyTorch module of a network, and how a mutant inherits the weights of its parent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..graphs.graph import INPUT, Node
from ..graphs.layout import Fit, Layout, Stage
from ..graphs.network import Network
from ..graphs.network_space import NetworkSpace
from .pytorch import F, nn, torch


class NetworkModule(nn.Module):
    """A network that can be trained. It standardizes its input and returns a score for each class.

    The input has the shape rows x channels (x height x width, or x length), and any numeric type. Columns of tables are
    standardized in double precision, everything else is computed in single precision.

    Submodules are named after their graph, operation and node, so that a mutant can inherit the weights of its parent.

    Args:
        layout: A result of `NetworkSpace.layout`.

    >>> import numpy as np
    >>> from manyarms.networks import image_space
    >>> space = image_space((1, 28, 28), 10)
    >>> module = build(space.sample(np.random.default_rng(0)), space)
    >>> module(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 10])
    """

    mean: torch.Tensor
    scale: torch.Tensor

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        self.layout = layout
        per_channel = (layout.input_shape[0], *(1 for _ in layout.input_shape[1:]))
        dtype = torch.float64 if len(per_channel) == 1 else torch.float32  # a column can be a date in seconds
        self.register_buffer("mean", torch.zeros(per_channel, dtype=dtype))
        self.register_buffer("scale", torch.ones(per_channel, dtype=dtype))
        for graph, stages in layout.stages.items():
            for stage in stages:
                self.add_module(module_name(graph, stage.node), stage.blueprint.build())
        self.head = nn.Linear(layout.n_features, layout.n_outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = ((x.to(self.mean.dtype) - self.mean) / self.scale).to(self.head.weight.dtype)
        for graph, stages in self.layout.stages.items():
            x = x.flatten(1) if len(self.layout.entries[graph]) == 1 else x
            x = self._forward_graph(graph, stages, x)
        scores: torch.Tensor = self.head(x.flatten(1))
        return scores

    def _forward_graph(self, graph: str, stages: Sequence[Stage], x: torch.Tensor) -> torch.Tensor:
        values = {INPUT: x}
        for stage in stages:
            node = stage.node
            inputs = [values[source] for source in node.inputs]
            x = self.get_submodule(module_name(graph, node))(combine(inputs, stage.fits, node.combiner))
            values[node.id] = x = x if node.activation == "identity" else getattr(F, node.activation)(x)
        return x


def build(network: Network, space: NetworkSpace) -> NetworkModule:
    """The module of a network. Its weights are initialized with PyTorch's global generator.

    >>> import numpy as np
    >>> from manyarms.networks import table_space
    >>> space = table_space(4, 3)
    >>> network = space.sample(np.random.default_rng(0))
    >>> sum(weight.numel() for weight in build(network, space).parameters()) == space.layout(network).n_parameters
    True
    """
    return NetworkModule(space.layout(network))


def inherit(module: nn.Module, weights: Mapping[str, torch.Tensor]) -> list[str]:
    """Copy every weight of the parent that has the same name and shape in the module.

    Args:
        module: Module of the mutant. It is changed in place.
        weights: The `state_dict()` of the parent.

    Returns:
        Names of the copied weights.

    >>> import numpy as np
    >>> from manyarms.networks import table_space
    >>> space, rng = table_space(4, 3), np.random.default_rng(0)
    >>> network = space.sample(rng)
    >>> parent, child = build(network, space), build(space.mutate(network, rng), space)
    >>> copied = inherit(child, parent.state_dict())
    >>> all(torch.equal(child.state_dict()[name], parent.state_dict()[name]) for name in copied)
    True
    """
    own = module.state_dict()
    shared = [name for name, weight in own.items() if name in weights and weights[name].shape == weight.shape]
    for name in shared:
        own[name].copy_(weights[name])
    return shared


def module_name(graph: str, node: Node) -> str:
    """Name of the submodule of a node, also in exported source."""
    return f"{graph}_{node.operation}_{node.id}"


def combine(inputs: Sequence[torch.Tensor], fits: Sequence[Fit], combiner: str) -> torch.Tensor:
    """Combine several inputs into one, after each is made to fit."""
    if len(inputs) == 1:
        return inputs[0]
    padding_value = 1.0 if combiner == "multiply" else 0.0
    fitted = [fit_input(x, fit, padding_value) for x, fit in zip(inputs, fits, strict=True)]
    if combiner == "concatenate":
        return torch.cat(fitted, dim=1)
    total = fitted[0]
    for x in fitted[1:]:
        total = total * x if combiner == "multiply" else total + x
    return total


def fit_input(x: torch.Tensor, fit: Fit, padding_value: float) -> torch.Tensor:
    """Pool and pad an input."""
    if fit.pooled is not None:
        pool: Callable[..., torch.Tensor] = F.adaptive_avg_pool1d if len(fit.pooled) == 1 else F.adaptive_avg_pool2d
        x = pool(x, fit.pooled)
    return F.pad(x, [0, 0] * (x.dim() - 2) + [0, fit.padded], value=padding_value) if fit.padded else x
