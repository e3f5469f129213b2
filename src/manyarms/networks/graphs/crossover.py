"""Crossover: one graph made from two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .graph import INPUT, Graph, Node, sorted_inputs
from .graph_space import choose, connect_unused


def cross_graphs(a: Graph, b: Graph, max_nodes: int, rng: np.random.Generator) -> Graph:
    """The graph `a` with a segment of its nodes replaced by a segment of `b`.

    Nodes of `a` keep their ids, and thus their weights; nodes of `b` get new ids. Edges within a segment are kept. An edge that
    crosses the border of a segment is connected to a random node on the other side.
    """
    start, stop = _segment(len(a.nodes), max(1, len(a.nodes) - 1), rng)
    kept = len(a.nodes) - (stop - start)
    first, last = _segment(len(b.nodes), min(len(b.nodes), max(1, max_nodes - kept)), rng)
    next_id = max(a.next_id, b.next_id)
    new_ids = {node.id: next_id + number for number, node in enumerate(b.nodes[first:last])}
    before = a.nodes[:start]
    middle = _attach(b.nodes[first:last], new_ids, [INPUT, *(node.id for node in before)], rng)
    substitutes = {node.id: choose(middle, rng).id for node in a.nodes[start:stop]}
    order = [INPUT, *(node.id for node in (*before, *middle, *a.nodes[stop:]))]
    after = [node.with_inputs(sorted_inputs({substitutes.get(id, id) for id in node.inputs}, order)) for node in a.nodes[stop:]]
    return Graph(connect_unused([*before, *middle, *after], rng), next_id + len(new_ids))


def renumber(graph: Graph, other: Graph) -> Graph:
    """The graph with new ids, none of which occurs in `other`."""
    next_id = max(graph.next_id, other.next_id)
    new_ids = {node.id: next_id + number for number, node in enumerate(graph.nodes)}
    nodes = (node.with_inputs(tuple(new_ids.get(id, id) for id in node.inputs), new_ids[node.id]) for node in graph.nodes)
    return Graph(tuple(nodes), next_id + len(new_ids))


def _segment(n: int, longest: int, rng: np.random.Generator) -> tuple[int, int]:
    """Start and stop of a random segment of `n` nodes, with 1 to `longest` nodes."""
    length = 1 + int(rng.random() * longest)
    start = int(rng.random() * (n - length + 1))
    return start, start + length


def _attach(
    nodes: Sequence[Node], new_ids: dict[int, int], before: Sequence[int], rng: np.random.Generator
) -> tuple[Node, ...]:
    """Nodes of another graph with new ids. Inputs from outside the segment become random ids of `before`."""
    order = [*before, *new_ids.values()]
    attached = []
    for node in nodes:
        inputs = {new_ids[id] if id in new_ids else choose(before, rng) for id in node.inputs}
        attached.append(node.with_inputs(sorted_inputs(inputs, order), new_ids[node.id]))
    return tuple(attached)
