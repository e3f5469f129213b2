"""Small changes of a graph. Each is a pure function: it gives a new, valid graph, or None where it does not apply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from .graph import INPUT, Graph, Node, sorted_inputs
from .graph_space import Part, any_of, rewired

Mutation = Callable[[Graph, Part, np.random.Generator], Graph | None]


def add_node(graph: Graph, part: Part, rng: np.random.Generator) -> Graph | None:
    """A new node on an edge, in place of it or beside it; or after the last node."""
    if len(graph.nodes) >= part.max_nodes:
        return None
    place = int(rng.random() * (len(graph.nodes) + 1))
    nodes = list(graph.nodes)
    if place == len(nodes):
        nodes.append(part.node(graph.next_id, (nodes[-1].id,), rng))
        return Graph(tuple(nodes), graph.next_id + 1)
    after = nodes[place]
    before = any_of(after.inputs, rng)
    kept = [id for id in after.inputs if id != before or rng.random() < 0.5]
    nodes[place] = rewired(after, (*kept, graph.next_id))  # the new one comes right before it, hence last among its inputs
    nodes.insert(place, part.node(graph.next_id, (before,), rng))
    return Graph(tuple(nodes), graph.next_id + 1)


def remove_node(graph: Graph, part: Part, rng: np.random.Generator) -> Graph | None:
    """One node fewer: those after it take what it took."""
    if len(graph.nodes) < 2:
        return None
    place = int(rng.random() * len(graph.nodes))
    gone = graph.nodes[place]
    nodes = [node for node in graph.nodes if node.id != gone.id]
    if place == len(nodes):
        return Graph(_ending(nodes, gone.inputs), graph.next_id)
    order = graph.order
    for number, node in enumerate(nodes):
        if gone.id in node.inputs:
            nodes[number] = rewired(node, sorted_inputs({*node.inputs, *gone.inputs} - {gone.id}, order))
    return Graph(tuple(nodes), graph.next_id)


def change_operation(graph: Graph, part: Part, rng: np.random.Generator) -> Graph | None:
    """Another type of layer, with random hyper-parameters, in a node that keeps its place."""
    if len(part.operations) < 2:
        return None
    node = any_of(graph.nodes, rng)
    operation = another(part.operations, node.operation, rng)
    return _with(graph, replace(node, operation=operation, settings=part.layers[operation].space.sample(rng)))


def change_setting(graph: Graph, part: Part, rng: np.random.Generator) -> Graph | None:
    """Another value of one hyper-parameter of a node, or of two."""
    open_to_it = [node for node in graph.nodes if part.layers[node.operation].space.varies]
    if not open_to_it:
        return None
    node = any_of(open_to_it, rng)
    return _with(graph, replace(node, settings=part.layers[node.operation].space.mutate(node.settings, rng)))


def change_combiner(graph: Graph, part: Part, rng: np.random.Generator) -> Graph | None:
    """Another combiner in a node with several inputs."""
    several = [node for node in graph.nodes if len(node.inputs) > 1]
    if not several or len(part.combiners) < 2:
        return None
    node = any_of(several, rng)
    return _with(graph, replace(node, combiner=another(part.combiners, node.combiner, rng)))


def change_activation(graph: Graph, part: Part, rng: np.random.Generator) -> Graph | None:
    """Another activation in a node."""
    if len(part.activations) < 2:
        return None
    node = any_of(graph.nodes, rng)
    return _with(graph, replace(node, activation=another(part.activations, node.activation, rng)))


def add_edge(graph: Graph, part: Part, rng: np.random.Generator) -> Graph | None:
    """One more input for a node, from an earlier one."""
    order = graph.order
    free = [
        (source, node) for place, node in enumerate(graph.nodes) for source in order[: place + 1] if source not in node.inputs
    ]
    if not free:
        return None
    source, node = any_of(free, rng)
    return _with(graph, rewired(node, sorted_inputs({*node.inputs, source}, order)))


def remove_edge(graph: Graph, part: Part, rng: np.random.Generator) -> Graph | None:
    """One input fewer for a node that has others, from one that leads elsewhere too."""
    sources = [source for source, _ in graph.edges]
    spare = [
        (source, node)
        for node in graph.nodes
        if len(node.inputs) > 1
        for source in node.inputs
        if source == INPUT or sources.count(source) > 1
    ]
    if not spare:
        return None
    source, node = any_of(spare, rng)
    return _with(graph, rewired(node, tuple(id for id in node.inputs if id != source)))


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


def mutated(graph: Graph, part: Part, rng: np.random.Generator, mutations: Sequence[Mutation] = MUTATIONS) -> Graph | None:
    """The graph after one of the mutations that apply, each as likely as another; None if none does."""
    for number in rng.permutation(len(mutations)):
        child = mutations[int(number)](graph, part, rng)
        if child is not None:
            return child
    return None


def another(options: Sequence[str], taken: str, rng: np.random.Generator) -> str:
    """One of the other options."""
    return any_of([option for option in options if option != taken], rng)


def _with(graph: Graph, changed: Node) -> Graph:
    """The graph with this node in place of the one of the same identity."""
    return Graph(tuple(changed if node.id == changed.id else node for node in graph.nodes), graph.next_id)


def _ending(nodes: Sequence[Node], loose: Sequence[int]) -> tuple[Node, ...]:
    """The nodes, whose last takes up those that now lead nowhere."""
    *rest, last = nodes
    used = {source for node in nodes for source in node.inputs}
    ends = {id for id in loose if id not in (INPUT, last.id) and id not in used}
    return (*rest, rewired(last, sorted_inputs({*last.inputs, *ends}, [INPUT, *(node.id for node in nodes)])))
