"""What a network has that its parent had not, and the other way round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .graph import Graph, Node
from .network import Network

Edge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Changes:
    """From one graph to another.

    Attributes:
        added: identities of new nodes.
        removed: nodes that are gone.
        changed: by identity, what is different in a node, in words.
        joined: new edges.
        parted: edges that are gone.
    """

    added: frozenset[int]
    removed: tuple[Node, ...]
    changed: dict[int, list[str]]
    joined: frozenset[Edge]
    parted: frozenset[Edge]


def graph_changes(parent: Graph, child: Graph) -> Changes:
    """What is different in the child."""
    before, after = ({node.id: node for node in graph.nodes} for graph in (parent, child))
    words = {id: list(_node_changes(before[id], after[id])) for id in after if id in before}
    return Changes(
        frozenset(after.keys() - before.keys()),
        tuple(node for id, node in before.items() if id not in after),
        {id: texts for id, texts in words.items() if texts},
        frozenset(child.edges) - frozenset(parent.edges),
        frozenset(parent.edges) - frozenset(child.edges),
    )


def changes_in_words(parent: Network, child: Network) -> list[str]:
    """All changes, a line each.

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
    return [*lines, *(f"training: {text}" for text in _differences(parent.training, child.training))]


def _graph_lines(parent: Graph, child: Graph) -> Iterator[str]:
    found = graph_changes(parent, child)
    names = {node.id: f"{node.operation} {node.id}" for node in (*parent.nodes, *child.nodes)}
    yield from (f"{names[id]} added" for id in sorted(found.added))
    yield from (f"{names[node.id]} removed" for node in found.removed)
    yield from (f"{names[id].split()[0]} {id}: {', '.join(texts)}" for id, texts in found.changed.items())
    kept = set(parent.order) & set(child.order)  # edges of new and lost nodes go without saying
    yield from (f"edge {a} → {b} added" for a, b in sorted(found.joined) if {a, b} <= kept)
    yield from (f"edge {a} → {b} removed" for a, b in sorted(found.parted) if {a, b} <= kept)


def _node_changes(before: Node, after: Node) -> Iterator[str]:
    if before.operation != after.operation:
        yield f"was {before.operation}"
    else:
        yield from _differences(before.settings, after.settings)
    if before.combiner != after.combiner and len(after.inputs) > 1:
        yield f"{before.combiner} → {after.combiner}"
    if before.activation != after.activation:
        yield f"{before.activation} → {after.activation}"


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for name in {**before, **after}:
        if before.get(name) != after.get(name):
            yield f"{name} {brief(before.get(name))} → {brief(after.get(name))}"


def brief(value: Any) -> str:
    """A value in few characters."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)
