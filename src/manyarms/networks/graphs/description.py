"""Restores spaces of networks from their descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...spaces import restore
from .. import layers
from .graph_space import GraphSpace
from .network_space import NetworkSpace

_KINDS = [kind for kind in vars(layers).values() if isinstance(kind, type) and issubclass(kind, layers.Layer)]
_LAYERS = {kind.name: kind for kind in _KINDS if kind is not layers.Layer}
_MOST_GRAPHS, _MOST_NODES = 20, 200  # descriptions are not trusted, and a larger space would take long to make


def restored_network_space(description: Any) -> NetworkSpace | None:
    """The space of networks that `NetworkSpace.describe` describes; None if it is something else, or has custom layers.

    >>> from manyarms.networks import table_space
    >>> restored_network_space(table_space(4, 3).describe()) == table_space(4, 3)
    True
    """
    try:
        content = description["networks"]
        graphs = {name: _graph_space(part) for name, part in content["parts"].items()}
        if len(graphs) > _MOST_GRAPHS:
            return None
        limits = {name: content[name] for name in ("max_parameters", "max_flops")}
        return NetworkSpace(content["input_shape"], content["n_outputs"], graphs, restore(content["training"]), **limits)
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
        return None


def _graph_space(description: Mapping[str, Any]) -> GraphSpace:
    kinds = [_LAYERS[name](restore(space)) for name, space in description["layers"].items()]
    others = {name: description[name] for name in ("dimensions", "max_nodes", "combiners", "activations")}
    if others["max_nodes"] > _MOST_NODES:
        raise ValueError(f"max_nodes must be at most {_MOST_NODES} in a description, got {others['max_nodes']}")
    return GraphSpace(kinds, **others)
