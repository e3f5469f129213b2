"""Modules built from genotypes: all run forward and backward, and mutants inherit the weights that survive."""

from __future__ import annotations

import numpy as np
import pytest

from manyarms.networks import Graph, Network, Node, build, inherit

from ..spaces import COLOR, GRAY, SPACES, check_network, samples

torch = pytest.importorskip("torch")


def check_runs(network, space):
    """Forward and backward, with a gradient for every weight."""
    module = build(network, space)
    scores = module(torch.randn(2, *space.input_shape))
    assert scores.shape == (2, space.n_outputs)
    scores.sum().backward()
    assert all(weight.grad is not None for weight in module.parameters())
    with torch.no_grad():
        module.eval()(torch.randn(1, *space.input_shape))  # one example alone


def bred(space, count, seed):
    """Random networks, their mutants, and crossings with a neighbour and with the mutant."""
    rng = np.random.default_rng(seed)
    parents = [space.sample(rng) for _ in range(count)]
    for a, b in zip(parents, [*parents[1:], parents[0]], strict=True):
        before = a.to_json(), b.to_json()
        mutant, crossing = space.mutate(a, rng), space.crossover(a, b, rng)
        related = space.crossover(a, mutant, rng)
        assert (a.to_json(), b.to_json()) == before
        assert mutant.structure() != a.structure() and crossing.structure() not in (a.structure(), b.structure())
        assert related.structure() not in (a.structure(), mutant.structure())
        yield from (a, mutant, crossing, related)


def check_images(count, seed=0):
    """So many of each: every genotype is valid, and runs on images of both shapes, whichever it was made for."""
    gray, color = SPACES["gray images"], SPACES["color images"]
    assert (gray.input_shape, color.input_shape) == (GRAY, COLOR)
    for own in (gray, color):
        for network in bred(own, count // 2, seed):
            check_network(network, own)
            check_runs(network, gray)
            check_runs(network, color)


def test_random_networks_mutants_and_crossings_run_on_both_shapes_of_images():
    check_images(90)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("thousand", range(10))
def test_ten_thousand_of_each_run_on_both_shapes_of_images(thousand):
    check_images(1000, seed=10 + thousand)


@pytest.mark.parametrize("kind", ["sequences", "tables"])
def test_random_networks_mutants_and_crossings_run_on_other_data(kind):
    for network in bred(SPACES[kind], 45, seed=3):
        check_network(network, SPACES[kind])
        check_runs(network, SPACES[kind])


def test_a_line_of_mutants_runs():
    space, rng = SPACES["color images"], np.random.default_rng(5)
    network = space.sample(rng)
    for number in range(300):
        network = space.mutate(network, rng)
        check_network(network, space)
        if number % 10 == 0:
            check_runs(network, space)


def test_the_same_seed_builds_the_same_weights():
    space = SPACES["gray images"]
    (network,) = samples(space, 1, seed=8)
    weights = []
    for _ in range(2):
        torch.manual_seed(3)
        weights.append(build(network, space).state_dict())
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_inputs_are_standardised_by_what_the_module_was_told():
    space = SPACES["tables"]
    module = build(samples(space, 1)[0], space).eval()
    x = torch.randn(4, 7)
    plain = module(x)
    module.mean.fill_(2.0)
    module.scale.fill_(3.0)
    assert torch.allclose(module(3 * x + 2), plain, atol=1e-5)


def test_columns_are_standardised_in_double_precision_and_all_else_in_single():
    space = SPACES["tables"]
    module = build(samples(space, 1)[0], space).eval()
    x = torch.randn(4, 7)
    plain = module(x)
    module.mean.fill_(1.7e9)
    dated = 1.7e9 + x.double()
    assert plain.dtype == torch.float32 and torch.allclose(module(dated), plain, atol=1e-4)
    for name, other in SPACES.items():
        buffers = build(samples(other, 1)[0], other)
        assert buffers.mean.dtype == buffers.scale.dtype == (torch.float64 if name == "tables" else torch.float32)


def test_any_type_of_numbers_will_do_and_so_will_a_module_of_another():
    space = SPACES["gray images"]
    module = build(samples(space, 1)[0], space).eval()
    x = torch.randint(0, 256, (2, 1, 28, 28), dtype=torch.uint8)
    assert torch.equal(module(x), module(x.float())) and torch.equal(module(x), module(x.double()))
    assert torch.allclose(module(x), module.double()(x).float(), rtol=1e-3, atol=1e-3)


# -- inheritance


def chain(*layers, next_id=10):
    """Nodes with these identities and units, one after the other."""
    nodes, before = [], 0
    for id, units in layers:
        nodes.append(Node(id, (before,), "dense", {"units": units}, activation="relu"))
        before = id
    return Network({"vector": Graph(tuple(nodes), next_id)}, {})


def heirs(parent, child):
    space = SPACES["tables"]
    one, other = build(parent, space), build(child, space)
    fresh = {name: weight.clone() for name, weight in other.state_dict().items()}
    kept = inherit(other, one.state_dict())
    for name, weight in other.state_dict().items():
        assert torch.equal(weight, one.state_dict()[name] if name in kept else fresh[name])
    return {name for name in kept if "." in name}


def test_a_mutant_inherits_what_keeps_its_node_and_its_shape():
    whole = {f"vector_dense_{id}.{part}" for id in (1, 2, 3) for part in ("weight", "bias")} | {"head.weight", "head.bias"}
    parent = chain((1, 8), (2, 16), (3, 8))
    assert heirs(parent, parent) == whole
    wider = chain((1, 8), (2, 20), (3, 8))
    assert heirs(parent, wider) == whole - {"vector_dense_2.weight", "vector_dense_2.bias", "vector_dense_3.weight"}
    without = chain((1, 8), (3, 8))
    assert heirs(parent, without) == {
        "vector_dense_1.weight",
        "vector_dense_1.bias",
        "vector_dense_3.bias",
        "head.weight",
        "head.bias",
    }


def test_a_new_node_inherits_nothing_even_if_the_shape_is_that_of_one_that_is_gone():
    parent, child = chain((1, 8), (2, 8), (3, 8)), chain((1, 8), (10, 8), (3, 8), next_id=11)
    assert not any("dense_10" in name for name in heirs(parent, child))


def test_mutants_inherit_most_of_their_weights():
    space, rng, shares = SPACES["gray images"], np.random.default_rng(0), []
    for network in samples(space, 60):
        child = build(space.mutate(network, rng), space)
        kept = inherit(child, build(network, space).state_dict())
        own = dict(child.named_parameters())
        shares.append(sum(name in kept for name in own) / len(own))
    assert np.mean(shares) > 0.6


def test_children_of_a_crossing_inherit_from_the_first_parent_only_what_is_of_it():
    space, rng = SPACES["color images"], np.random.default_rng(4)
    for a, b in zip(samples(space, 40), samples(space, 40, seed=1), strict=True):
        child = space.crossover(a, b, rng)
        of_a = {f"{name}_{node.operation}_{node.id}" for name, graph in a.graphs.items() for node in graph.nodes}
        kept = inherit(build(child, space), build(a, space).state_dict())
        for graph, old in ((child.graphs[name], a.graphs[name]) for name in child.graphs):
            known = {node.id: node for node in old.nodes}
            assert all(node.operation == known[node.id].operation for node in graph.nodes if node.id in known)
        assert all(name.split(".")[0] in of_a for name in kept if name not in ("mean", "scale", "head.weight", "head.bias"))
