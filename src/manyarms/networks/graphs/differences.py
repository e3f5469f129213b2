"""Differences between a network and its parent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .graph import Graph, Node
from .network import Network

Edge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class GraphChanges:
    """Changes from one graph to another.

    Attributes:
        added: Ids of new nodes.
        removed: Removed nodes.
        changed: Descriptions of what changed in a node, by id.
        added_edges: New edges.
        removed_edges: Removed edges.
    """

    added: frozenset[int] = frozenset()
    removed: tuple[Node, ...] = ()
    changed: Mapping[int, list[str]] = field(default_factory=dict)
    added_edges: frozenset[Edge] = frozenset()
    removed_edges: frozenset[Edge] = frozenset()


def graph_changes(parent: Graph, child: Graph) -> GraphChanges:
    """Changes from the parent to the child."""
    before, after = ({node.id: node for node in graph.nodes} for graph in (parent, child))
    descriptions = {id: list(_node_changes(before[id], after[id])) for id in after if id in before}
    return GraphChanges(
        frozenset(after.keys() - before.keys()),
        tuple(node for id, node in before.items() if id not in after),
        {id: texts for id, texts in descriptions.items() if texts},
        frozenset(child.edges) - frozenset(parent.edges),
        frozenset(parent.edges) - frozenset(child.edges),
    )


def changes_in_words(parent: Network, child: Network) -> list[str]:
    """All changes from the parent to the child, one line each.

    >>> from manyarms.networks import Graph, Network, Node
    >>> one = Network({"vector": Graph((Node(1, (0,), "dense", {"units": 8}),), 2)}, {"batch_size": 32})
    >>> two = Network({"vector": Graph((Node(1, (0,), "dense", {"units": 16}),), 2)}, {"batch_size": 64})
    >>> changes_in_words(one, two)
    ['vector: dense 1: units 8 → 16', 'training: batch_size 32 → 64']
    """
    lines = [
        f"{name}: {line}"
        for name, graph in child.graphs.items()
        if name in parent.graphs
        for line in _graph_lines(parent.graphs[name], graph)
    ]
    return [*lines, *training_changes(parent, child)]


def training_changes(parent: Network, child: Network) -> list[str]:
    """Changes of the training, one line each."""
    return [f"training: {text}" for text in _value_changes(parent.training, child.training)]


def _graph_lines(parent: Graph, child: Graph) -> Iterator[str]:
    changes = graph_changes(parent, child)
    operations = {node.id: node.operation for node in (*parent.nodes, *child.nodes)}
    yield from (f"{operations[id]} {id} added" for id in sorted(changes.added))
    yield from (f"{node.operation} {node.id} removed" for node in changes.removed)
    yield from (f"{operations[id]} {id}: {', '.join(texts)}" for id, texts in changes.changed.items())
    kept = set(parent.order) & set(child.order)  # edges of added and removed nodes are not listed
    yield from (f"edge {a} → {b} added" for a, b in sorted(changes.added_edges) if {a, b} <= kept)
    yield from (f"edge {a} → {b} removed" for a, b in sorted(changes.removed_edges) if {a, b} <= kept)


def _node_changes(before: Node, after: Node) -> Iterator[str]:
    if before.operation != after.operation:
        yield f"was {before.operation}"
    else:
        yield from _value_changes(before.settings, after.settings)
    if before.combiner != after.combiner and len(after.inputs) > 1:
        yield f"{before.combiner} → {after.combiner}"
    if before.activation != after.activation:
        yield f"{before.activation} → {after.activation}"


def _value_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for name in {**before, **after}:
        if before.get(name) != after.get(name):
            yield f"{name} {short_text(before.get(name))} → {short_text(after.get(name))}"


def short_text(value: Any) -> str:
    """The value as text, with numbers rounded to three digits."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)
