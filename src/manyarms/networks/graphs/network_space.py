"""A space of networks: samples, mutates and crosses them, within limits on their size."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import checks
from ...spaces import Space
from ..layers import Shape
from .crossover import cross_graphs, renumber
from .encoding import encode_network, n_features
from .graph import INPUT, Graph
from .graph_space import GraphSpace, check_graph_spaces
from .layout import Layout, network_layout
from .mutations import mutate_graph
from .network import Network
from .parsing import parse_network

_ATTEMPTS = 50  # to make a network within the limits
_FALLBACK_ATTEMPTS = 400  # to find the first network within the limits
_SECOND_MUTATION = 0.5  # probability that a second mutation follows the first
_TRAINING_MUTATION = 0.2  # probability that a mutation changes the training instead of a graph
_WHOLE_GRAPH = 0.25  # probability that crossover takes a whole graph of one parent instead of crossing two


class NetworkSpace:
    """Networks of one or more graphs in a row with a dense head, and the hyperparameters of their training.

    A graph of vectors that follows a graph of images or sequences takes its flattened output. Every network of the space can be
    built and run, and is within the limits.

    Args:
        input_shape: Shape of one example: channels, then height and width of an image or length of a sequence. A vector has one
            size.
        n_outputs: Number of outputs of the head, which is the number of classes.
        graphs: Space of each graph, by name, in the order in which the graphs follow each other.
        training: Space of the hyperparameters of the training.
        max_parameters: Maximum number of learned parameters of a network.
        max_flops: Maximum number of multiplications and additions for one example.

    >>> import numpy as np
    >>> from manyarms import Choice, Float, Space
    >>> from manyarms.networks import Dense, Dropout, GraphSpace, NetworkSpace
    >>> graphs = {"vector": GraphSpace([Dense(), Dropout()], dimensions=0)}
    >>> training = Space(learning_rate=Float(1e-3, 1e-1, log=True), batch_size=Choice(32, 64), optimizer="adam")
    >>> space = NetworkSpace((20,), 3, graphs, training, max_parameters=10_000)
    >>> network = space.sample(np.random.default_rng(0))
    >>> child = space.mutate(network, np.random.default_rng(0))
    >>> child != network, space.layout(child).n_parameters <= 10_000
    (True, True)
    """

    def __init__(
        self,
        input_shape: Shape,
        n_outputs: int,
        graphs: Mapping[str, GraphSpace],
        training: Space,
        *,
        max_parameters: int | None = None,
        max_flops: int | None = None,
    ) -> None:
        self.input_shape = _check_shape(input_shape)
        self.n_outputs = checks.whole("n_outputs", n_outputs, 1)
        if not isinstance(graphs, Mapping):
            raise TypeError(f"graphs must be a dict of name to GraphSpace, got {graphs!r}")
        self.graphs = dict(graphs)
        if not isinstance(training, Space):
            raise TypeError(f"training must be a Space, got {training!r}")
        self.training = training
        self.max_parameters = None if max_parameters is None else checks.whole("max_parameters", max_parameters, 1)
        self.max_flops = None if max_flops is None else checks.whole("max_flops", max_flops, 1)
        check_graph_spaces(self.graphs, len(self.input_shape) - 1)
        self.dimension = n_features(self.graphs, self.training, n_costs=2)
        self._fallback = self._first_within_limits()

    # -- the methods of a space

    def sample(self, rng: np.random.Generator) -> Network:
        """A random network."""
        for _ in range(_ATTEMPTS):
            graphs = {name: space.sample(rng) for name, space in self.graphs.items()}
            if self._within_limits(graphs):
                return Network(graphs, self.training.sample(rng))
        return self.mutate(self._fallback, rng)

    def mutate(self, config: Network, rng: np.random.Generator) -> Network:
        """A network with one or, half of the time, two changes that affect what it computes or how it is trained.

        Most changes affect a graph (see `manyarms.networks.graphs.mutations`), some the training.
        """
        before = config.structure()
        for _ in range(_ATTEMPTS):
            child = self._mutate_once(config, rng)
            if rng.random() < _SECOND_MUTATION:
                child = self._mutate_once(child, rng)
            if child.structure() != before and self._within_limits(child.graphs):
                return child
        return self._different_from(config, rng)

    def crossover(self, a: Network, b: Network, rng: np.random.Generator) -> Network:
        """The network `a` with segments of its graphs, or whole graphs, replaced by those of `b`. The training is mixed."""
        parents = a.structure(), b.structure()
        for _ in range(_ATTEMPTS):
            graphs = dict(zip(self.graphs, self._crossed_graphs(a, b, rng), strict=True))
            child = Network(graphs, self.training.crossover(a.training, b.training, rng))
            if child.structure() not in parents and self._within_limits(graphs):
                return child
        mutants = (self.mutate(a, rng) for _ in range(_ATTEMPTS))
        return next((mutant for mutant in mutants if mutant.structure() not in parents), a)

    def to_json(self, config: Network) -> dict[str, Any]:
        """The network as JSON data."""
        return config.to_json()

    def from_json(self, data: Any) -> Network:
        """The network that `to_json` wrote. Raises `ValueError` if it does not belong to this space or exceeds its limits."""
        network = parse_network(data, self.graphs, self.training)
        if not self._within_limits(network.graphs):
            layout = self.layout(network)
            raise ValueError(
                f"a network must be within max_parameters={self.max_parameters} and max_flops={self.max_flops}, got one with "
                f"{layout.n_parameters:,} parameters and {layout.n_flops:,} operations"
            )
        return network

    def contains(self, config: Any) -> bool:
        """Whether the config is a network of this space, within its limits."""
        if not isinstance(config, Network):
            return False
        try:
            data = config.to_json()
        except (AttributeError, TypeError, ValueError):  # a graph, a node or settings have the wrong type
            return False
        try:
            self.from_json(data)
        except ValueError:
            return False
        return True

    def encode(self, config: Network) -> NDArray[np.float64]:
        """Features of the network as a point of the unit cube, from which strategies predict the rewards of new networks.

        The encoding cannot be reversed: networks with the same layers in a different order can have the same point.
        """
        layout = self.layout(config)
        costs = (layout.n_parameters, self.max_parameters), (layout.n_flops, self.max_flops)
        return np.array(encode_network(config, self.graphs, self.training, costs))

    def describe(self) -> Any:
        """The space as JSON data, with which a study recognizes it."""
        return {
            "networks": {
                "input_shape": list(self.input_shape),
                "n_outputs": self.n_outputs,
                "parts": {name: space.describe() for name, space in self.graphs.items()},  # the name in stored studies
                "training": self.training.describe(),
                "max_parameters": self.max_parameters,
                "max_flops": self.max_flops,
            }
        }

    # -- methods for networks only

    def layout(self, network: Network) -> Layout:
        """The shapes of all layers of a network, and its costs."""
        return self._layout(self.graphs_of(network))

    def graphs_of(self, network: Network) -> dict[str, Graph]:
        """The graphs of a network. Raises an error if they are not named like the graphs of this space."""
        if not isinstance(network, Network):
            raise TypeError(f"network must be a Network, got {network!r:.200}")
        if network.graphs.keys() != self.graphs.keys():
            wanted, found = (", ".join(names) for names in (self.graphs, network.graphs))
            raise ValueError(f"a network of this space must have the graphs {wanted}, got {found or 'none'}")
        return network.graphs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NetworkSpace) and json.dumps(self.describe()) == json.dumps(other.describe())

    def __hash__(self) -> int:
        return hash((self.input_shape, self.n_outputs, tuple(self.graphs)))

    def __repr__(self) -> str:
        return f"NetworkSpace({self.input_shape}, {self.n_outputs}, {self.graphs})"

    # -- internal

    def _layout(self, graphs: Mapping[str, Graph]) -> Layout:
        return network_layout(graphs, self.graphs, self.input_shape, self.n_outputs)

    def _within_limits(self, graphs: Mapping[str, Graph]) -> bool:
        if self.max_parameters is None and self.max_flops is None:
            return True
        layout = self._layout(graphs)
        small = self.max_parameters is None or layout.n_parameters <= self.max_parameters
        return small and (self.max_flops is None or layout.n_flops <= self.max_flops)

    def _mutate_once(self, network: Network, rng: np.random.Generator) -> Network:
        """Mutate the training or a graph, which is chosen in proportion to its number of nodes."""
        graphs = self.graphs_of(network)
        if self.training.varies and rng.random() < _TRAINING_MUTATION:
            return Network(graphs, self.training.mutate(network.training, rng))
        place = int(rng.random() * network.n_nodes)
        for name, graph in graphs.items():
            place -= len(graph.nodes)
            if place < 0:
                return Network({**graphs, name: mutate_graph(graph, self.graphs[name], rng) or graph}, network.training)
        raise AssertionError("a network has nodes")

    def _different_from(self, network: Network, rng: np.random.Generator) -> Network:
        """Another network, for when mutations fail; the same one if the space has no other."""
        graphs = {name: renumber(graph, network.graphs[name]) for name, graph in self._fallback.graphs.items()}
        others = [Network(graphs, self.training.sample(rng)) for _ in range(_ATTEMPTS)]
        return next((other for other in others if other.structure() != network.structure()), network)

    def _crossed_graphs(self, a: Network, b: Network, rng: np.random.Generator) -> Iterator[Graph]:
        a_graphs, b_graphs = self.graphs_of(a), self.graphs_of(b)
        for name, space in self.graphs.items():
            one, other = a_graphs[name], b_graphs[name]
            if rng.random() < _WHOLE_GRAPH:
                yield one if rng.random() < 0.5 else renumber(other, one)
            else:
                yield cross_graphs(one, other, space.max_nodes, rng)

    def _first_within_limits(self) -> Network:
        """A network within the limits. Tries networks with one node per graph and random ones in turn."""
        rng = np.random.default_rng(0)
        costs = []
        for number in range(_FALLBACK_ATTEMPTS):
            graphs = {
                name: space.sample(rng) if number % 2 else Graph((space.random_node(1, (INPUT,), rng),), 2)
                for name, space in self.graphs.items()
            }
            if self._within_limits(graphs):
                return Network(graphs, self.training.sample(rng))
            layout = self._layout(graphs)
            costs.append((layout.n_parameters, layout.n_flops))
        n_parameters, n_flops = map(min, zip(*costs, strict=True))
        raise ValueError(
            f"max_parameters and max_flops are too small: all networks tried have at least {n_parameters:,} parameters and "
            f"{n_flops:,} operations, got max_parameters={self.max_parameters} and max_flops={self.max_flops}"
        )


def _check_shape(given: Any) -> Shape:
    sizes = tuple(checks.whole("input_shape", size, 1) for size in given) if isinstance(given, Iterable) else ()
    if not sizes:
        raise ValueError(f"input_shape must be channels, followed by height and width or length if any, got {given!r}")
    return sizes
