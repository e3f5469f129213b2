"""A space of networks: makes, mutates and crosses them, within limits of their size."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import checks
from ...spaces import Space
from ..layers import Shape
from .crossover import adopted, crossed
from .encoding import features, n_features
from .graph import INPUT, Graph
from .graph_space import Part, check_parts
from .layout import Layout, layout
from .mutations import mutated
from .network import Network
from .parsing import read_graph

_TRIES = 50  # until a child must be within the limits
_SMALL_TRIES = 400  # networks made to find one within the limits
_TWICE = 0.5  # how often a second mutation follows the first
_TRAINING = 0.2  # how often a mutation is of the training rather than of a graph
_WHOLE = 0.25  # how often crossover takes a whole graph, rather than crossing two


class NetworkSpace:
    """Networks of one or more graphs that follow each other, with a dense head, and the parameters of their training.

    A graph of vectors that follows one of images or sequences is given these flattened. Every network that the space makes can
    be built and runs, and is within the limits.

    Args:
        input_shape: of one example: channels, then height and width of an image or the length of a sequence, if it is one.
        n_outputs: of the head: the number of classes.
        parts: by name, what each graph may be made of.
        training: the space of the parameters of the training.
        max_parameters: the most numbers a network may learn.
        max_flops: the most multiplications and additions it may take for one example.

    >>> import numpy as np
    >>> from manyarms import Choice, Float, Space
    >>> from manyarms.networks import Dense, Dropout, NetworkSpace, Part
    >>> parts = {"vector": Part([Dense(), Dropout()], dimensions=0)}
    >>> training = Space(learning_rate=Float(1e-3, 1e-1, log=True), batch_size=Choice(32, 64), optimiser="adam")
    >>> space = NetworkSpace((20,), 3, parts, training, max_parameters=10_000)
    >>> network = space.sample(np.random.default_rng(0))
    >>> child = space.mutate(network, np.random.default_rng(0))
    >>> child != network, space.layout(child).n_parameters <= 10_000
    (True, True)
    """

    def __init__(
        self,
        input_shape: Shape,
        n_outputs: int,
        parts: Mapping[str, Part],
        training: Space,
        *,
        max_parameters: int | None = None,
        max_flops: int | None = None,
    ) -> None:
        self.input_shape = _shape(input_shape)
        self.n_outputs = checks.whole("n_outputs", n_outputs, 1)
        if not isinstance(parts, Mapping):
            raise TypeError(f"parts must be a dict of name to Part, got {parts!r}")
        self.parts = dict(parts)
        if not isinstance(training, Space):
            raise TypeError(f"training must be a Space, got {training!r}")
        self.training = training
        self.max_parameters = None if max_parameters is None else checks.whole("max_parameters", max_parameters, 1)
        self.max_flops = None if max_flops is None else checks.whole("max_flops", max_flops, 1)
        check_parts(self.parts, len(self.input_shape) - 1)
        self.dimension = n_features(self.parts, self.training, n_costs=2)
        self._small = self._some_small()

    # -- what a space does

    def sample(self, rng: np.random.Generator) -> Network:
        """A random network."""
        for _ in range(_TRIES):
            graphs = {name: part.sample(rng) for name, part in self.parts.items()}
            if self._fits(graphs):
                return Network(graphs, self.training.sample(rng))
        return self.mutate(self._small, rng)

    def mutate(self, config: Network, rng: np.random.Generator) -> Network:
        """A network with one change, every other time with two, that computes or trains differently.

        Most changes are of a graph (see `manyarms.networks.graphs.mutations`), some of the training.
        """
        before = config.structure()
        for _ in range(_TRIES):
            child = self._changed(config, rng)
            if rng.random() < _TWICE:
                child = self._changed(child, rng)
            if child.structure() != before and self._fits(child.graphs):
                return child
        return self._another(config, rng)

    def crossover(self, a: Network, b: Network, rng: np.random.Generator) -> Network:
        """The network `a` with stretches of its graphs, or whole ones, exchanged for ones of `b`; the training is of either."""
        parents = a.structure(), b.structure()
        for _ in range(_TRIES):
            graphs = dict(zip(self.parts, self._crossings(a, b, rng), strict=True))
            child = Network(graphs, self.training.crossover(a.training, b.training, rng))
            if child.structure() not in parents and self._fits(graphs):
                return child
        mutants = (self.mutate(a, rng) for _ in range(_TRIES))
        return next((mutant for mutant in mutants if mutant.structure() not in parents), a)

    def to_json(self, config: Network) -> dict[str, Any]:
        """A network as JSON data."""
        return config.to_json()

    def from_json(self, data: Any) -> Network:
        """The network that `to_json` wrote; what is none of this space's layers, no graph, or beyond the limits is refused."""
        if not isinstance(data, Mapping) or data.keys() != {"graphs", "training"}:
            raise ValueError(f"a network must be a dict with graphs and training, got {data!r:.200}")
        graphs = data["graphs"]
        if not isinstance(graphs, Mapping) or graphs.keys() != self.parts.keys():
            raise ValueError(f"graphs must be a dict with {', '.join(self.parts)}, got {graphs!r:.200}")
        if not self.training.contains(data["training"]):
            raise ValueError(f"training must be of {self.training!r}, got {data['training']!r}")
        network = Network(
            {name: read_graph(name, graphs[name], part) for name, part in self.parts.items()}, dict(data["training"])
        )
        if not self._fits(network.graphs):
            plan = self.layout(network)
            raise ValueError(
                f"a network must be within max_parameters={self.max_parameters} and max_flops={self.max_flops}, got one with "
                f"{plan.n_parameters:,} parameters that takes {plan.n_flops:,} operations"
            )
        return network

    def contains(self, config: Any) -> bool:
        """Whether it is a network of this space, within its limits."""
        if not isinstance(config, Network):
            return False
        try:
            data = config.to_json()
        except (AttributeError, TypeError, ValueError):  # what should be a graph, a node or settings is something else
            return False
        try:
            self.from_json(data)
        except ValueError:
            return False
        return True

    def encode(self, config: Network) -> NDArray[np.float64]:
        """What the network is made of, as a point of the unit cube: forecasts of untried networks are made from it.

        There is no way back: networks of the same layers in another order have the same point.
        """
        plan = self.layout(config)
        costs = (plan.n_parameters, self.max_parameters), (plan.n_flops, self.max_flops)
        return np.array(features(config, self.parts, self.training, costs))

    def describe(self) -> Any:
        """The space as JSON, by which a study tells it from others."""
        return {
            "networks": {
                "input_shape": list(self.input_shape),
                "n_outputs": self.n_outputs,
                "parts": {name: part.describe() for name, part in self.parts.items()},
                "training": self.training.describe(),
                "max_parameters": self.max_parameters,
                "max_flops": self.max_flops,
            }
        }

    # -- what networks need besides

    def layout(self, network: Network) -> Layout:
        """The shapes of all its layers, and what it costs."""
        return layout(self.graphs_of(network), self.parts, self.input_shape, self.n_outputs)

    def graphs_of(self, network: Network) -> dict[str, Graph]:
        """The graphs of a network of this space; one of a space with other graphs is refused."""
        if not isinstance(network, Network):
            raise TypeError(f"a network must be a Network, got {network!r:.200}")
        if network.graphs.keys() != self.parts.keys():
            wanted, found = (", ".join(names) for names in (self.parts, network.graphs))
            raise ValueError(f"a network of this space must have the graphs {wanted}, got {found or 'none'}")
        return network.graphs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NetworkSpace) and json.dumps(self.describe()) == json.dumps(other.describe())

    def __hash__(self) -> int:
        return hash((self.input_shape, self.n_outputs, tuple(self.parts)))

    def __repr__(self) -> str:
        return f"NetworkSpace({self.input_shape}, {self.n_outputs}, {self.parts})"

    # -- inside

    def _fits(self, graphs: Mapping[str, Graph]) -> bool:
        if self.max_parameters is None and self.max_flops is None:
            return True
        plan = layout(graphs, self.parts, self.input_shape, self.n_outputs)
        few = self.max_parameters is None or plan.n_parameters <= self.max_parameters
        return few and (self.max_flops is None or plan.n_flops <= self.max_flops)

    def _changed(self, network: Network, rng: np.random.Generator) -> Network:
        """One mutation, of the training or of a graph: the more nodes it has, the more often."""
        graphs = self.graphs_of(network)
        if self.training.varies and rng.random() < _TRAINING:
            return Network(graphs, self.training.mutate(network.training, rng))
        place = int(rng.random() * network.n_nodes)
        for name, graph in graphs.items():
            place -= len(graph.nodes)
            if place < 0:
                return Network({**graphs, name: mutated(graph, self.parts[name], rng) or graph}, network.training)
        raise AssertionError("a network has nodes")

    def _another(self, network: Network, rng: np.random.Generator) -> Network:
        """Where mutations lead nowhere: any other network, or this one if there is none."""
        graphs = {name: adopted(graph, network.graphs[name]) for name, graph in self._small.graphs.items()}
        others = [Network(graphs, self.training.sample(rng)) for _ in range(_TRIES)]
        return next((other for other in others if other.structure() != network.structure()), network)

    def _crossings(self, a: Network, b: Network, rng: np.random.Generator) -> Iterator[Graph]:
        ones, others = self.graphs_of(a), self.graphs_of(b)
        for name, part in self.parts.items():
            one, other = ones[name], others[name]
            if rng.random() < _WHOLE:
                yield one if rng.random() < 0.5 else adopted(other, one)
            else:
                yield crossed(one, other, part.max_nodes, rng)

    def _some_small(self) -> Network:
        """A network within the limits: one with a node in each graph, or any other."""
        rng = np.random.default_rng(0)
        sizes = []
        for number in range(_SMALL_TRIES):
            graphs = {
                name: part.sample(rng) if number % 2 else Graph((part.node(1, (INPUT,), rng),), 2)
                for name, part in self.parts.items()
            }
            if self._fits(graphs):
                return Network(graphs, self.training.sample(rng))
            plan = layout(graphs, self.parts, self.input_shape, self.n_outputs)
            sizes.append((plan.n_parameters, plan.n_flops))
        n_parameters, n_flops = map(min, zip(*sizes, strict=True))
        raise ValueError(
            f"max_parameters and max_flops must leave room for a network; all that were tried have {n_parameters:,} parameters "
            f"or more and take {n_flops:,} operations or more, got max_parameters={self.max_parameters} and "
            f"max_flops={self.max_flops}"
        )


def _shape(given: Any) -> Shape:
    sizes = tuple(checks.whole("input_shape", size, 1) for size in given) if isinstance(given, Iterable) else ()
    if not sizes:
        raise ValueError(f"input_shape must be channels, then the extents, if there are any, got {given!r}")
    return sizes
