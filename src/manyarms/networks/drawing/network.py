"""A drawing of a network: its layers, shapes and combiners, and what changed from its parent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..graphs.differences import GraphChanges, graph_changes, short_text, training_changes
from ..graphs.graph import INPUT
from ..graphs.layout import Layout, Stage
from ..graphs.network import Network
from ..graphs.network_space import NetworkSpace
from .svg import (
    ADDED_COLOR,
    CHANGED_COLOR,
    LIGHT_TEXT_COLOR,
    LINE_COLOR,
    REMOVED_COLOR,
    TEXT_COLOR,
    Arrow,
    Box,
    diagram,
)

Key = tuple[str, int]
"""The graph and the node of a box."""

_SYMBOLS = {"add": "+", "multiply": "×", "concatenate": "‖"}
_FILLS = ("#dbe9f6", "#fde8d0", "#e0f0dc", "#ece2f3", "#f6dfe3", "#f3f0d6", "#dff1f0", "#ebebeb")
_TO = "▸"
_LEGEND = f"+ sum, × product, ‖ concatenation of the inputs; {_TO} output shape"
_HEAD: Key = ("", INPUT)  # no graph can have an empty name
_NO_CHANGES = GraphChanges()


def draw_network(
    network: Network | Mapping[str, Any], space: NetworkSpace, parent: Network | Mapping[str, Any] | None = None
) -> str:
    """The text of an SVG file with the network.

    Args:
        network: A network, or its JSON data.
        space: Space of the network.
        parent: Parent of the network. If given, additions are green, changes orange, and removals are listed in red.

    >>> import numpy as np
    >>> from manyarms.networks import table_space
    >>> space = table_space(4, 3)
    >>> draw_network(space.sample(np.random.default_rng(0)), space)[:4]
    '<svg'
    """
    child = network_of(network, space)
    before = None if parent is None else network_of(parent, space)
    changes = {
        name: _NO_CHANGES if before is None else graph_changes(space.graphs_of(before)[name], graph)
        for name, graph in space.graphs_of(child).items()
    }
    layout = space.layout(child)
    training = ", ".join(f"{name} {short_text(value)}" for name, value in child.training.items())
    titles = [
        (f"{layout.n_parameters:,} parameters, {layout.n_flops:,} operations per example", TEXT_COLOR),
        (training, LIGHT_TEXT_COLOR),
        *((line, CHANGED_COLOR) for line in ([] if before is None else training_changes(before, child))),
        *((line, REMOVED_COLOR) for name, found in changes.items() for line in _removals(name, found)),
    ]
    boxes = dict(_boxes(layout, space, changes))
    return diagram(titles, boxes, list(_arrows(layout, changes)), [(_LEGEND, LIGHT_TEXT_COLOR)])


def network_of(network: Network | Mapping[str, Any], space: NetworkSpace) -> Network:
    """The network, which may be given as JSON data, as in a stored study."""
    return network if isinstance(network, Network) else space.from_json(network)


def _boxes(layout: Layout, space: NetworkSpace, changes: Mapping[str, GraphChanges]) -> Iterator[tuple[Key, Box]]:
    """Boxes in the order of the network: the input of each graph, its nodes, and finally the head."""
    operations = list(dict.fromkeys(operation for graph in space.graphs.values() for operation in graph.operations))
    shape = layout.input_shape
    for name, stages in layout.stages.items():
        entry = layout.entries[name]
        flattened = len(entry) < len(shape)
        yield (name, INPUT), Box((f"{name}: {_size(entry)}{' (flattened)' if flattened else ''}",), "white")
        for stage in stages:
            fill = _FILLS[operations.index(stage.node.operation) % len(_FILLS)]
            yield (name, stage.node.id), _box(stage, changes[name], fill)
        shape = stages[-1].after
    yield _HEAD, Box(("head", f"{layout.n_features} {_TO} {layout.n_outputs}"), "white")


def _box(stage: Stage, changes: GraphChanges, fill: str) -> Box:
    node, changed = stage.node, changes.changed.get(stage.node.id, [])
    settings = ", ".join(f"{name} {short_text(value)}" for name, value in node.settings.items())
    lines = [f"{node.operation} {node.id}", settings, f"{node.activation} {_TO} {_size(stage.after)}", *changed]
    edge = ADDED_COLOR if node.id in changes.added else CHANGED_COLOR if changed else LINE_COLOR
    symbol = _SYMBOLS[node.combiner] if len(node.inputs) > 1 else ""
    return Box(tuple(line for line in lines if line), fill, edge, symbol, len(changed))


def _arrows(layout: Layout, changes: Mapping[str, GraphChanges]) -> Iterator[Arrow[Key]]:
    previous: Key | None = None
    for name, stages in layout.stages.items():
        if previous is not None:
            yield Arrow(previous, (name, INPUT))
        for stage in stages:
            for source in stage.node.inputs:
                added = (source, stage.node.id) in changes[name].added_edges
                yield Arrow((name, source), (name, stage.node.id), ADDED_COLOR if added else LINE_COLOR)
        previous = (name, stages[-1].node.id)
    if previous is not None:
        yield Arrow(previous, _HEAD)


def _removals(name: str, changes: GraphChanges) -> Iterator[str]:
    """Removed nodes and edges, one line each."""
    for node in changes.removed:
        yield f"{name}: {node.operation} {node.id} removed"
    removed = {node.id for node in changes.removed}
    for source, target in sorted(changes.removed_edges):
        if not {source, target} & removed:
            yield f"{name}: edge {source} → {target} removed"


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))
