"""A network as a picture: its layers, shapes and combiners, and what is new since its parent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..graphs.differences import Changes, brief, changes_in_words, graph_changes
from ..graphs.graph import INPUT
from ..graphs.layout import Layout, Stage
from ..graphs.network import Network
from ..graphs.network_space import NetworkSpace
from .svg import CHANGED, FAINT, GONE, INK, LINE, NEW, Arrow, Box, diagram

Key = tuple[str, int]
"""The graph and the node of a box."""

_SIGNS = {"add": "+", "multiply": "×", "concatenate": "‖"}
_FILLS = ("#dbe9f6", "#fde8d0", "#e0f0dc", "#ece2f3", "#f6dfe3", "#f3f0d6", "#dff1f0", "#ebebeb")
_GIVES = "▸"
_LEGEND = f"+ sum, × product, ‖ concatenation of the inputs; {_GIVES} the shape given"
_HEAD: Key = ("", INPUT)  # a name that no graph can have
_NOTHING = Changes(frozenset(), (), {}, frozenset(), frozenset())


def draw_network(
    network: Network | Mapping[str, Any], space: NetworkSpace, parent: Network | Mapping[str, Any] | None = None
) -> str:
    """The text of an SVG file.

    Args:
        network: as the space made it, or as JSON.
        space: that made it.
        parent: what it was mutated from; new things are then green, changed ones orange, and lost ones named in red.

    >>> import numpy as np
    >>> from manyarms.networks import table_space
    >>> space = table_space(4, 3)
    >>> draw_network(space.sample(np.random.default_rng(0)), space)[:4]
    '<svg'
    """
    child = network_of(network, space)
    before = None if parent is None else network_of(parent, space)
    changes = {
        name: _NOTHING if before is None else graph_changes(space.graphs_of(before)[name], graph)
        for name, graph in space.graphs_of(child).items()
    }
    plan = space.layout(child)
    boxes = dict(_boxes(plan, space, changes))
    training = ", ".join(f"{name} {brief(value)}" for name, value in child.training.items())
    retrained = [] if before is None else changes_in_words(replace(before, graphs={}), replace(child, graphs={}))
    titles = [
        (f"{plan.n_parameters:,} parameters, {plan.n_flops:,} operations an example", INK),
        (training, FAINT),
        *((line, CHANGED) for line in retrained),
        *((line, GONE) for name, found in changes.items() for line in _losses(name, found)),
    ]
    return diagram(titles, boxes, list(_arrows(plan, changes)), [(_LEGEND, FAINT)])


def network_of(network: Network | Mapping[str, Any], space: NetworkSpace) -> Network:
    """The network itself, which may be given as JSON, as a stored study has it."""
    return network if isinstance(network, Network) else space.from_json(network)


def _boxes(plan: Layout, space: NetworkSpace, changes: Mapping[str, Changes]) -> Iterator[tuple[Key, Box]]:
    """In the order of the network: what comes into each graph, its nodes, at last the head."""
    operations = list(dict.fromkeys(operation for part in space.parts.values() for operation in part.operations))
    shape = plan.input_shape
    for name, stages in plan.stages.items():
        entry = plan.entries[name]
        flattened = len(entry) < len(shape)
        yield (name, INPUT), Box((f"{name}: {_size(entry)}{' (flattened)' if flattened else ''}",), "white")
        for stage in stages:
            fill = _FILLS[operations.index(stage.node.operation) % len(_FILLS)]
            yield (name, stage.node.id), _box(stage, changes[name], fill)
        shape = stages[-1].after
    yield _HEAD, Box(("head", f"{plan.n_features} {_GIVES} {plan.n_outputs}"), "white")


def _box(stage: Stage, found: Changes, fill: str) -> Box:
    node = stage.node
    settings = ", ".join(f"{name} {brief(value)}" for name, value in node.settings.items())
    lines = [
        f"{node.operation} {node.id}",
        settings,
        f"{node.activation} {_GIVES} {_size(stage.after)}",
        *found.changed.get(node.id, []),
    ]
    edge = NEW if node.id in found.added else CHANGED if node.id in found.changed else LINE
    sign = _SIGNS[node.combiner] if len(node.inputs) > 1 else ""
    return Box(tuple(line for line in lines if line), fill, edge, sign, len(found.changed.get(node.id, [])))


def _arrows(plan: Layout, changes: Mapping[str, Changes]) -> Iterator[Arrow[Key]]:
    before: Key | None = None
    for name, stages in plan.stages.items():
        if before is not None:
            yield Arrow(before, (name, INPUT))
        for stage in stages:
            for source in stage.node.inputs:
                new = (source, stage.node.id) in changes[name].joined
                yield Arrow((name, source), (name, stage.node.id), NEW if new else LINE)
        before = (name, stages[-1].node.id)
    if before is not None:
        yield Arrow(before, _HEAD)


def _losses(name: str, found: Changes) -> Iterator[str]:
    """What is not there any more, in words."""
    for node in found.removed:
        yield f"{name}: without {node.operation} {node.id}"
    gone = {node.id for node in found.removed}
    for source, target in sorted(found.parted):
        if not {source, target} & gone:
            yield f"{name}: without the edge {source} → {target}"


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))
