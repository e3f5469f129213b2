"""Graphs made of parts of two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .graph import INPUT, Graph, Node, sorted_inputs
from .graph_space import any_of, leading_on, rewired


def crossed(a: Graph, b: Graph, max_nodes: int, rng: np.random.Generator) -> Graph:
    """The graph `a` with a stretch of its nodes exchanged for a stretch of `b`.

    What is of `a` keeps its identity and so its weights; what is of `b` is new to it. Connections inside a stretch stay; those
    across a seam lead to a random node on the other side of it.
    """
    head, tail = _cut(len(a.nodes), rng)
    kept = head + len(a.nodes) - tail
    first, last = _stretch(len(b.nodes), max(1, max_nodes - kept), rng)
    next_id = max(a.next_id, b.next_id)
    names = {node.id: next_id + number for number, node in enumerate(b.nodes[first:last])}
    before = a.nodes[:head]
    middle = _attached(b.nodes[first:last], names, [INPUT, *(node.id for node in before)], rng)
    lost = {node.id: any_of(middle, rng).id for node in a.nodes[head:tail]}
    order = [INPUT, *(node.id for node in (*before, *middle, *a.nodes[tail:]))]
    after = [rewired(node, sorted_inputs({lost.get(id, id) for id in node.inputs}, order)) for node in a.nodes[tail:]]
    return Graph(leading_on([*before, *middle, *after], rng), next_id + len(names))


def adopted(graph: Graph, former: Graph) -> Graph:
    """A whole graph in place of another, under new identities: none of its nodes is one of those."""
    next_id = max(graph.next_id, former.next_id)
    names = {node.id: next_id + number for number, node in enumerate(graph.nodes)}
    nodes = (rewired(node, tuple(names.get(id, id) for id in node.inputs), names[node.id]) for node in graph.nodes)
    return Graph(tuple(nodes), next_id + len(names))


def _cut(n: int, rng: np.random.Generator) -> tuple[int, int]:
    """The stretch of `a` that goes: at least one node, and not all of several."""
    length = 1 + int(rng.random() * max(1, n - 1))
    start = int(rng.random() * (n - length + 1))
    return start, start + length


def _stretch(n: int, longest: int, rng: np.random.Generator) -> tuple[int, int]:
    """The stretch of `b` that comes."""
    length = 1 + int(rng.random() * min(n, longest))
    start = int(rng.random() * (n - length + 1))
    return start, start + length


def _attached(
    nodes: Sequence[Node], names: dict[int, int], before: Sequence[int], rng: np.random.Generator
) -> tuple[Node, ...]:
    """Nodes of another graph under new names, with one of these for each input that did not come along."""
    order = [*before, *names.values()]
    attached = []
    for node in nodes:
        inputs = {names[id] if id in names else any_of(before, rng) for id in node.inputs}
        attached.append(rewired(node, sorted_inputs(inputs, order), names[node.id]))
    return tuple(attached)
