"""Graphs from JSON that anyone may have written: what is wrong is refused, with the name of the node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .graph import INPUT, Graph, Node
from .graph_space import Part

_NODE_KEYS = {"id", "inputs", "operation", "settings", "combiner", "activation"}


def read_graph(name: str, data: Any, part: Part) -> Graph:
    """The graph that `Graph.to_json` wrote.

    Args:
        name: of the graph, for messages.
        data: JSON data.
        part: what the graph may be made of.
    """
    where = f"graph {name!r}"
    _check_keys(where, data, {"nodes", "next_id"})
    if not isinstance(data["nodes"], list) or not data["nodes"]:
        raise ValueError(f"{where} must have a list of nodes, at least one, got {data['nodes']!r}")
    if len(data["nodes"]) > part.max_nodes:
        raise ValueError(f"{where} must have at most {part.max_nodes} nodes, got {len(data['nodes'])}")
    nodes = tuple(_read_node(where, place, each, part) for place, each in enumerate(data["nodes"]))
    _check_connections(where, nodes)
    if not _is_whole(data["next_id"]) or data["next_id"] <= max(node.id for node in nodes):
        raise ValueError(f"{where}: next_id must be a whole number above every node's id, got {data['next_id']!r}")
    return Graph(nodes, data["next_id"])


def _read_node(where: str, place: int, data: Any, part: Part) -> Node:
    """One node, by itself."""
    known = isinstance(data, Mapping) and _is_whole(data.get("id"))
    name = _name(data["id"], data.get("operation"), where) if known else f"node at place {place} of {where}"
    _check_keys(name, data, _NODE_KEYS)
    if not _is_whole(data["id"]) or data["id"] <= INPUT:
        raise ValueError(f"{name} must have a whole number above {INPUT} as id, got {data['id']!r}")
    if not isinstance(data["operation"], str) or data["operation"] not in part.layers:
        raise ValueError(f"{name}: unknown layer {data['operation']!r}, must be one of {', '.join(part.operations)}")
    space = part.layers[data["operation"]].space
    if not space.contains(data["settings"]):
        raise ValueError(f"{name}: settings must be of {space!r}, got {data['settings']!r}")
    for key, options in (("combiner", part.combiners), ("activation", part.activations)):
        if data[key] not in options:
            raise ValueError(f"{name}: {key} must be one of {', '.join(options)}, got {data[key]!r}")
    inputs = data["inputs"]
    if not isinstance(inputs, list) or not inputs or not all(map(_is_whole, inputs)) or len(set(inputs)) < len(inputs):
        raise ValueError(f"{name}: inputs must be a list of different ids, at least one, got {inputs!r}")
    return Node(data["id"], tuple(inputs), data["operation"], dict(data["settings"]), data["combiner"], data["activation"])


def _check_connections(where: str, nodes: tuple[Node, ...]) -> None:
    """Every node is reached from the input, for its inputs are earlier; and every one leads to the last."""
    inputs = {node.id: node.inputs for node in nodes}
    place = {INPUT: 0} | {node.id: number for number, node in enumerate(nodes, 1)}
    if len(inputs) < len(nodes):
        twice = next(node for number, node in enumerate(nodes, 1) if place[node.id] != number)
        raise ValueError(f"{_name(twice.id, twice.operation, where)}: another node has the same id")
    for node in nodes:
        name = _name(node.id, node.operation, where)
        for source in node.inputs:
            if source not in place:
                raise ValueError(f"{name} is disconnected: it takes node {source}, which is not there")
            if place[source] >= place[node.id]:
                if _comes_from(source, node.id, inputs):
                    raise ValueError(f"{name} is in a cycle: it takes node {source}, which comes from it")
                raise ValueError(f"{name} takes node {source}, which must come before it in the list of nodes")
        if list(node.inputs) != sorted(node.inputs, key=place.__getitem__):
            raise ValueError(f"{name}: inputs must be in the order of the nodes, got {list(node.inputs)}")
    used = {source for node in nodes for source in node.inputs}
    for node in nodes[:-1]:
        if node.id not in used:
            raise ValueError(f"{_name(node.id, node.operation, where)} is disconnected: it leads to no other node")


def _comes_from(node: int, ancestor: int, inputs: Mapping[int, tuple[int, ...]]) -> bool:
    """Whether what the ancestor gives can reach the node."""
    found, waiting = set(), [node]
    while waiting:
        id = waiting.pop()
        if id == ancestor:
            return True
        if id not in found:
            found.add(id)
            waiting.extend(inputs.get(id, ()))
    return False


def _check_keys(name: str, data: Any, keys: set[str]) -> None:
    if not isinstance(data, Mapping):
        raise ValueError(f"{name} must be a dict with {', '.join(sorted(keys))}, got {data!r}")
    if data.keys() != keys:
        raise ValueError(f"{name} must have {', '.join(sorted(keys))}, got {', '.join(sorted(map(str, data)))}")


def _name(id: Any, operation: Any, where: str) -> str:
    return f"node {id} ({operation}) of {where}"


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
