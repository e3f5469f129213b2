"""Parse networks from JSON. The data is not trusted: errors name the node and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...spaces import Space
from .graph import INPUT, Graph, Node
from .graph_space import GraphSpace
from .network import Network

_NODE_KEYS = {"id", "inputs", "operation", "settings", "combiner", "activation"}


def parse_network(data: Any, spaces: Mapping[str, GraphSpace], training: Space) -> Network:
    """The network that `Network.to_json` wrote.

    Args:
        data: JSON data.
        spaces: Space of each graph, by name.
        training: Space of the hyperparameters of the training.
    """
    if not isinstance(data, Mapping) or data.keys() != {"graphs", "training"}:
        raise ValueError(f"a network must be a dict with the keys graphs and training, got {data!r:.200}")
    graphs = data["graphs"]
    if not isinstance(graphs, Mapping) or graphs.keys() != spaces.keys():
        raise ValueError(f"graphs must be a dict with the keys {', '.join(spaces)}, got {graphs!r:.200}")
    if not training.contains(data["training"]):
        raise ValueError(f"training must be a config of {training!r}, got {data['training']!r}")
    return Network({name: parse_graph(name, graphs[name], space) for name, space in spaces.items()}, dict(data["training"]))


def parse_graph(name: str, data: Any, space: GraphSpace) -> Graph:
    """The graph that `Graph.to_json` wrote.

    Args:
        name: Name of the graph, for error messages.
        data: JSON data.
        space: Space of the graph.
    """
    where = f"graph {name!r}"
    _check_keys(where, data, {"nodes", "next_id"})
    if not isinstance(data["nodes"], list) or not data["nodes"]:
        raise ValueError(f"{where} must have a list of at least one node, got {data['nodes']!r}")
    if len(data["nodes"]) > space.max_nodes:
        raise ValueError(f"{where} must have at most {space.max_nodes} nodes, got {len(data['nodes'])}")
    nodes = tuple(_parse_node(where, place, each, space) for place, each in enumerate(data["nodes"]))
    _check_edges(where, nodes)
    if not _is_whole(data["next_id"]) or data["next_id"] <= max(node.id for node in nodes):
        raise ValueError(f"{where}: next_id must be an integer above every node's id, got {data['next_id']!r}")
    return Graph(nodes, data["next_id"])


def _parse_node(where: str, place: int, data: Any, space: GraphSpace) -> Node:
    """A node that is valid by itself; its edges are checked later."""
    known = isinstance(data, Mapping) and _is_whole(data.get("id"))
    name = _name(data["id"], data.get("operation"), where) if known else f"node at position {place} of {where}"
    _check_keys(name, data, _NODE_KEYS)
    if not _is_whole(data["id"]) or data["id"] <= INPUT:
        raise ValueError(f"{name}: id must be an integer above {INPUT}, got {data['id']!r}")
    if not isinstance(data["operation"], str) or data["operation"] not in space.layers:
        raise ValueError(f"{name}: unknown layer {data['operation']!r}, must be one of {', '.join(space.operations)}")
    settings = space.layers[data["operation"]].space
    if not settings.contains(data["settings"]):
        raise ValueError(f"{name}: settings must be a config of {settings!r}, got {data['settings']!r}")
    for key, options in (("combiner", space.combiners), ("activation", space.activations)):
        if data[key] not in options:
            raise ValueError(f"{name}: {key} must be one of {', '.join(options)}, got {data[key]!r}")
    inputs = data["inputs"]
    if not isinstance(inputs, list) or not inputs or not all(map(_is_whole, inputs)) or len(set(inputs)) < len(inputs):
        raise ValueError(f"{name}: inputs must be a list of one or more distinct ids, got {inputs!r}")
    return Node(data["id"], tuple(inputs), data["operation"], dict(data["settings"]), data["combiner"], data["activation"])


def _check_edges(where: str, nodes: tuple[Node, ...]) -> None:
    """Raise an error unless ids are unique, inputs come before their nodes, and every node leads to the last one."""
    place = {INPUT: 0} | {node.id: number for number, node in enumerate(nodes, 1)}
    for number, node in enumerate(nodes, 1):
        if place[node.id] != number:
            raise ValueError(f"{_name(node.id, node.operation, where)}: another node has the same id")
    inputs = {node.id: node.inputs for node in nodes}
    for node in nodes:
        _check_inputs(_name(node.id, node.operation, where), node, place, inputs)
    used = {source for node in nodes for source in node.inputs}
    for node in nodes[:-1]:
        if node.id not in used:
            raise ValueError(f"{_name(node.id, node.operation, where)} is disconnected: no other node uses it")


def _check_inputs(name: str, node: Node, place: Mapping[int, int], inputs: Mapping[int, tuple[int, ...]]) -> None:
    """Raise an error unless all inputs of the node exist, come before it and are in order."""
    for source in node.inputs:
        if source not in place:
            raise ValueError(f"{name} is disconnected: its input, node {source}, does not exist")
        if place[source] >= place[node.id]:
            if _is_ancestor(node.id, source, inputs):
                raise ValueError(f"{name} is in a cycle: its input, node {source}, depends on it")
            raise ValueError(f"{name}: its input, node {source}, must come before it in the list of nodes")
    if list(node.inputs) != sorted(node.inputs, key=place.__getitem__):
        raise ValueError(f"{name}: inputs must be in the order of the nodes, got {list(node.inputs)}")


def _is_ancestor(ancestor: int, node: int, inputs: Mapping[int, tuple[int, ...]]) -> bool:
    """Whether the node depends on the ancestor."""
    seen, waiting = set(), [node]
    while waiting:
        id = waiting.pop()
        if id == ancestor:
            return True
        if id not in seen:
            seen.add(id)
            waiting.extend(inputs.get(id, ()))
    return False


def _check_keys(name: str, data: Any, keys: set[str]) -> None:
    if not isinstance(data, Mapping):
        raise ValueError(f"{name} must be a dict with the keys {', '.join(sorted(keys))}, got {data!r}")
    if data.keys() != keys:
        raise ValueError(f"{name} must have the keys {', '.join(sorted(keys))}, got {', '.join(sorted(map(str, data)))}")


def _name(id: Any, operation: Any, where: str) -> str:
    return f"node {id} ({operation}) of {where}"


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
