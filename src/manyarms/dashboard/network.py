"""The drawing of the network of an arm, if its config is one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..networks.drawing import draw_network
from ..networks.graphs import NetworkSpace, changes_in_words
from ..networks.graphs.description import restored_network_space
from ..safe_text import safe_text
from . import json_values

_MOST_CHANGES = 10  # that the text names


@dataclass(frozen=True, slots=True)
class NetworkDrawing:
    """A drawing as SVG, and what it shows in words."""

    svg: str
    text: str


def network_drawing(header: Mapping[str, Any], config: Any, parent: Any) -> NetworkDrawing | None:
    """The drawing of a network; None if the config is not one.

    Args:
        header: The header of the study.
        config: The config of an arm, as JSON.
        parent: The config of its first parent; None if it has none. Changes are highlighted.
    """
    space = network_space(header)
    if space is None:
        return None
    try:
        network = space.from_json(config)
        before = None if parent is None else space.from_json(parent)
        svg = draw_network(network, space, before)
        layout = space.layout(network)
        layers = ", ".join(f"{node.operation} {node.id}" for graph in network.graphs.values() for node in graph.nodes)
        text = f"Network with {layout.n_parameters:,} parameters and the layers {layers}."
        if before is not None:
            changes = changes_in_words(before, network)
            more = f" and {len(changes) - _MOST_CHANGES} more" if len(changes) > _MOST_CHANGES else ""
            text += f" Changes from its parent: {'; '.join(changes[:_MOST_CHANGES])}{more}."
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError, RecursionError):
        return None  # an untrusted journal may contain anything
    return NetworkDrawing(safe_text(svg, keep="\n"), json_values.text(text))


def network_space(header: Mapping[str, Any]) -> NetworkSpace | None:
    """The space of networks of a study; None if it has another space, or one with custom layers."""
    space = header.get("space")
    return _restored(json.dumps(space)) if isinstance(space, dict) and "networks" in space else None


@lru_cache(maxsize=8)
def _restored(description: str) -> NetworkSpace | None:
    return restored_network_space(json.loads(description))
