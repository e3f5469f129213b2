"""Mutations of a graph. Each is a pure function that returns a new, valid graph, or None if it does not apply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from .graph import INPUT, Graph, Node, sorted_inputs
from .graph_space import GraphSpace, choose

Mutation = Callable[[Graph, GraphSpace, np.random.Generator], Graph | None]


def add_node(graph: Graph, space: GraphSpace, rng: np.random.Generator) -> Graph | None:
    """Insert a random node on an edge, replacing or keeping the edge, or append it after the last node."""
    if len(graph.nodes) >= space.max_nodes:
        return None
    place = int(rng.random() * (len(graph.nodes) + 1))
    nodes = list(graph.nodes)
    if place == len(nodes):
        nodes.append(space.random_node(graph.next_id, (nodes[-1].id,), rng))
        return Graph(tuple(nodes), graph.next_id + 1)
    after = nodes[place]
    before = choose(after.inputs, rng)
    kept = [id for id in after.inputs if id != before or rng.random() < 0.5]
    nodes[place] = after.with_inputs((*kept, graph.next_id))  # inputs are in graph order, and the new node is right before
    nodes.insert(place, space.random_node(graph.next_id, (before,), rng))
    return Graph(tuple(nodes), graph.next_id + 1)


def remove_node(graph: Graph, space: GraphSpace, rng: np.random.Generator) -> Graph | None:
    """Remove a node and connect its inputs to the nodes that used it."""
    if len(graph.nodes) < 2:
        return None
    place = int(rng.random() * len(graph.nodes))
    removed = graph.nodes[place]
    nodes = [node for node in graph.nodes if node.id != removed.id]
    if place == len(nodes):
        return Graph(_connect_to_last(nodes, removed.inputs), graph.next_id)
    order = graph.order
    for number, node in enumerate(nodes):
        if removed.id in node.inputs:
            nodes[number] = node.with_inputs(sorted_inputs({*node.inputs, *removed.inputs} - {removed.id}, order))
    return Graph(tuple(nodes), graph.next_id)


def change_operation(graph: Graph, space: GraphSpace, rng: np.random.Generator) -> Graph | None:
    """Give a node another layer type with random hyperparameters; its connections stay."""
    if len(space.operations) < 2:
        return None
    node = choose(graph.nodes, rng)
    operation = choose_other(space.operations, node.operation, rng)
    return _replace_node(graph, replace(node, operation=operation, settings=space.layers[operation].space.sample(rng)))


def change_setting(graph: Graph, space: GraphSpace, rng: np.random.Generator) -> Graph | None:
    """Change one or two hyperparameters of a node."""
    adjustable = [node for node in graph.nodes if space.layers[node.operation].space.varies]
    if not adjustable:
        return None
    node = choose(adjustable, rng)
    return _replace_node(graph, replace(node, settings=space.layers[node.operation].space.mutate(node.settings, rng)))


def change_combiner(graph: Graph, space: GraphSpace, rng: np.random.Generator) -> Graph | None:
    """Change the combiner of a node with several inputs."""
    several = [node for node in graph.nodes if len(node.inputs) > 1]
    if not several or len(space.combiners) < 2:
        return None
    node = choose(several, rng)
    return _replace_node(graph, replace(node, combiner=choose_other(space.combiners, node.combiner, rng)))


def change_activation(graph: Graph, space: GraphSpace, rng: np.random.Generator) -> Graph | None:
    """Change the activation of a node."""
    if len(space.activations) < 2:
        return None
    node = choose(graph.nodes, rng)
    return _replace_node(graph, replace(node, activation=choose_other(space.activations, node.activation, rng)))


def add_edge(graph: Graph, space: GraphSpace, rng: np.random.Generator) -> Graph | None:
    """Add an earlier node to the inputs of a node."""
    order = graph.order
    missing = [
        (source, node) for place, node in enumerate(graph.nodes) for source in order[: place + 1] if source not in node.inputs
    ]
    if not missing:
        return None
    source, node = choose(missing, rng)
    return _replace_node(graph, node.with_inputs(sorted_inputs({*node.inputs, source}, order)))


def remove_edge(graph: Graph, space: GraphSpace, rng: np.random.Generator) -> Graph | None:
    """Remove one input of a node that has several. Its source must be `INPUT`, or still be an input of another node."""
    uses = Counter(source for source, _ in graph.edges)
    removable = [
        (source, node)
        for node in graph.nodes
        if len(node.inputs) > 1
        for source in node.inputs
        if source == INPUT or uses[source] > 1
    ]
    if not removable:
        return None
    source, node = choose(removable, rng)
    return _replace_node(graph, node.with_inputs(tuple(id for id in node.inputs if id != source)))


MUTATIONS: tuple[Mutation, ...] = (
    add_node,
    remove_node,
    change_operation,
    change_setting,
    change_combiner,
    change_activation,
    add_edge,
    remove_edge,
)


def mutate_graph(
    graph: Graph, space: GraphSpace, rng: np.random.Generator, mutations: Sequence[Mutation] = MUTATIONS
) -> Graph | None:
    """Apply one of the applicable mutations, chosen with equal probabilities; None if none applies."""
    for number in rng.permutation(len(mutations)):
        child = mutations[int(number)](graph, space, rng)
        if child is not None:
            return child
    return None


def choose_other(options: Sequence[str], current: str, rng: np.random.Generator) -> str:
    """One of the options except the current one."""
    return choose([option for option in options if option != current], rng)


def _replace_node(graph: Graph, changed: Node) -> Graph:
    """The graph with the node of the same id replaced."""
    return Graph(tuple(changed if node.id == changed.id else node for node in graph.nodes), graph.next_id)


def _connect_to_last(nodes: Sequence[Node], sources: Sequence[int]) -> tuple[Node, ...]:
    """The nodes, with those among `sources` that are not used elsewhere made inputs of the last node."""
    *rest, last = nodes
    used = {source for node in nodes for source in node.inputs}
    unused = {id for id in sources if id not in (INPUT, last.id) and id not in used}
    order = [INPUT, *(node.id for node in nodes)]
    return (*rest, last.with_inputs(sorted_inputs({*last.inputs, *unused}, order)))
