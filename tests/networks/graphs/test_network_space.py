"""The space of networks: the contract of spaces, its limits, its studies."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import manyarms as ma
from manyarms import networks
from manyarms.journal import open_journal
from manyarms.networks import Dense, Dropout, Graph, GraphSpace, Identity, Network, NetworkSpace, Node
from manyarms.networks.graphs.graph import ACTIVATIONS, COMBINERS
from manyarms.study.verify import audit
from manyarms.testing.spaces import SPACE_CHECKS

from ..spaces import SMALL_TRAINING, SPACES, check_network, samples

TIGHT = networks.image_space((3, 32, 32), 10, max_parameters=3_000, max_flops=300_000)
CONTRACT = {**SPACES, "tight limits": TIGHT}
each_space = pytest.mark.parametrize("space", CONTRACT.values(), ids=CONTRACT)


@pytest.mark.parametrize("check", SPACE_CHECKS, ids=lambda check: check.__name__)
@each_space
def test_it_keeps_the_contract_of_spaces(space, check):
    check(space)


@each_space
def test_children_are_valid_different_from_their_parents_and_leave_them_alone(space):
    rng = np.random.default_rng(2)
    for a, b in zip(samples(space, 60), samples(space, 60, seed=1), strict=True):
        before = copy.deepcopy((a, b))
        mutant, crossing = space.mutate(a, rng), space.crossover(a, b, rng)
        assert (a, b) == before
        for child in (mutant, crossing):
            check_network(child, space)
        assert mutant.structure() != a.structure()
        assert crossing.structure() not in (a.structure(), b.structure())


def test_every_kind_of_change_happens_and_most_are_small():
    space, rng, changed = SPACES["gray images"], np.random.default_rng(0), []
    for network in samples(space, 300):
        child = space.mutate(network, rng)
        changed.append({name for name in network.graphs if network.graphs[name] != child.graphs[name]})
        if network.training != child.training:
            changed[-1].add("training")
    assert {"image", "vector", "training"} == set().union(*changed)
    assert np.mean([len(names) == 1 for names in changed]) > 0.6


def test_every_other_mutant_has_two_changes():
    one = GraphSpace([Identity()], dimensions=0, max_nodes=1)  # whose activation alone can change
    space = NetworkSpace((4,), 2, {f"part_{number}": one for number in range(20)}, ma.Space(learning_rate=0.1))
    network, rng = samples(space, 1)[0], np.random.default_rng(0)
    children = [space.mutate(network, rng) for _ in range(300)]
    n_changed = [sum(network.graphs[name] != child.graphs[name] for name in network.graphs) for child in children]
    assert set(n_changed) == {1, 2} and 0.4 < np.mean([n == 2 for n in n_changed]) < 0.55


def test_crossover_exchanges_parts_of_the_graphs_or_takes_whole_ones():
    space, rng = SPACES["gray images"], np.random.default_rng(0)
    found = []
    for a, b in zip(samples(space, 200), samples(space, 200, seed=1), strict=True):
        one, other = a.graphs["image"], b.graphs["image"]
        graph = space.crossover(a, b, rng).graphs["image"]
        if len(one.nodes) == 1:
            continue  # of which any exchange takes all
        old = sum(node.id in one.order for node in graph.nodes)
        found.append("first" if graph == one else "mixed" if old else "second")
        assert found[-1] != "second" or graph.structure() == other.structure()
        assert found[-1] != "mixed" or old < len(graph.nodes)
    shares = {kind: found.count(kind) / len(found) for kind in ("first", "second", "mixed")}
    assert 0.06 < shares["first"] < 0.2 and 0.06 < shares["second"] < 0.2 and shares["mixed"] > 0.6


def test_crossover_takes_each_parameter_of_the_training_from_either():
    space, rng = SPACES["gray images"], np.random.default_rng(0)
    from_second = {name: [] for name in space.training.parameters}
    for a, b in zip(samples(space, 200), samples(space, 200, seed=1), strict=True):
        for name, value in space.crossover(a, b, rng).training.items():
            assert value in (a.training[name], b.training[name])
            if a.training[name] != b.training[name]:
                from_second[name].append(value == b.training[name])
    assert all(0.4 < np.mean(taken) < 0.6 for taken in from_second.values())


def test_crossing_a_network_with_itself_still_gives_another():
    space, rng = SPACES["tables"], np.random.default_rng(0)
    for network in samples(space, 30):
        assert space.crossover(network, network, rng).structure() != network.structure()


def test_crossing_a_network_with_its_mutant_gives_a_third_however_few_there_are():
    graph_space = GraphSpace([Identity()], dimensions=0, max_nodes=1, activations=("relu", "tanh", "gelu"))
    space, rng = NetworkSpace((4,), 2, {"vector": graph_space}, ma.Space(learning_rate=0.1)), np.random.default_rng(0)
    for network in samples(space, 20):
        mutant = space.mutate(network, rng)
        family = network, mutant, space.crossover(network, mutant, rng)
        assert {member.graphs["vector"].nodes[0].activation for member in family} == {"relu", "tanh", "gelu"}


def test_limits_hold_along_a_line_of_descent_and_are_made_use_of():
    network, rng, most = TIGHT.sample(np.random.default_rng(0)), np.random.default_rng(1), 0
    for _ in range(300):
        network = TIGHT.mutate(network, rng)
        plan = TIGHT.layout(network)
        assert plan.n_parameters <= 3_000 and plan.n_flops <= 300_000
        most = max(most, plan.n_parameters)
    assert most > 1_500


def test_limits_that_leave_no_room_are_refused():
    with pytest.raises(ValueError, match=r"all networks tried have at least 33 parameters .* got max_parameters=10"):
        networks.table_space(10, 3, max_parameters=10)


def test_a_space_of_one_network_gives_it_again_and_one_with_little_choice_something_else():
    graph_space = GraphSpace([Identity()], dimensions=0, max_nodes=1, activations=("relu",))
    rng = np.random.default_rng(0)
    lonely = NetworkSpace((4,), 2, {"vector": graph_space}, ma.Space(learning_rate=0.1))
    network = lonely.sample(rng)
    assert lonely.mutate(network, rng) == network == lonely.crossover(network, network, rng)
    two = NetworkSpace((4,), 2, {"vector": graph_space}, ma.Space(learning_rate=ma.Choice(0.1, 0.2)))
    assert two.mutate(network, rng).training != network.training


def test_it_is_told_from_others_by_its_description():
    one, same, other = (networks.table_space(4, 2, max_nodes=n) for n in (3, 3, 4))
    assert one == same and hash(one) == hash(same) and one != other and one != 3
    assert one.describe() == same.describe() != other.describe()
    assert repr(one).startswith("NetworkSpace((4,), 2, {'vector': GraphSpace([dense")
    assert not one.contains(3)
    assert not one.contains(samples(SPACES["tables"], 1)[0])


def test_networks_that_are_none_are_not_in_the_space():
    space = SPACES["tables"]
    right = samples(space, 1)[0]
    assert space.contains(right)
    for graphs, training in (
        ({"vector": 1}, right.training),
        (1, right.training),
        (right.graphs, 1),
        (right.graphs, "ab"),
        ({"vector": Graph(1, 2)}, right.training),
        ({"vector": Graph((1,), 2)}, right.training),
        ({"vector": Graph((Node(1, None, "identity", {}),), 2)}, right.training),
        ({"vector": Graph((Node(1, (0,), ["identity"], {}),), 2)}, right.training),
        ({"vector": Graph((Node(1, (0,), "identity", None),), 2)}, right.training),
    ):
        assert not space.contains(Network(graphs, training))


@pytest.mark.parametrize("dimensions", [3, -1])
def test_a_part_is_of_vectors_sequences_or_images(dimensions):
    with pytest.raises(ValueError, match=rf"dimensions must be 0 \(vectors\), 1 .* or 2 \(images\), got {dimensions}"):
        GraphSpace([Identity()], dimensions=dimensions)


def test_a_graph_space_documents_which_activations_and_combiners_there_are():
    assert all(name in GraphSpace.__doc__ for name in (*ACTIVATIONS, *COMBINERS))
    with pytest.raises(ValueError, match="activations must be one of 'relu', .* got 'mish'"):
        GraphSpace([Identity()], dimensions=0, activations=("relu", "mish"))


def test_what_is_no_space_is_refused():
    graph_space = GraphSpace([Dense(), Dropout()], dimensions=0)
    for shape, graphs, message in (
        ((4,), {}, "graphs must name at least one graph"),
        ((4,), {"a": 3}, "graphs must be a dict of name to GraphSpace, got 3 for 'a'"),
        ((4,), {"two words": graph_space}, "the name of a graph must be a Python identifier"),
        (
            (4,),
            {"a": graph_space, "b": GraphSpace([Identity()], dimensions=1)},
            "graph 'b' must have 0 dimensions like its input",
        ),
        ((0,), {"a": graph_space}, "input_shape must be at least 1"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            NetworkSpace(shape, 2, graphs, SMALL_TRAINING)


def size(pull):
    """A reward without any training: near a thousand parameters is best."""
    space = SPACES["tables"]
    return -abs(np.log(space.layout(pull.config).n_parameters / 1000.0)) + 0.01 * pull.stop


STRATEGIES = {
    "random": lambda space: ma.RandomSearch(space, budget=120, max_steps=4, seed=0),
    "hyperband": lambda space: ma.Hyperband(space, budget=120, max_steps=4, seed=0),
    "evolution": lambda space: ma.SteadyStateEA(space, budget=120, max_steps=4, seed=0),
    "mutant": lambda space: ma.MutantUCB(space, budget=120, max_steps=4, seed=0),
    "adaptive": lambda space: ma.AdaptiveMutantUCB(space, budget=120, max_steps=4, seed=0),
    "joint": lambda space: ma.MutantUCB(ma.Joint({"a": space, "b": ma.Space(x=3)}), budget=12, max_steps=4, seed=0),
}


@pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")
@pytest.mark.parametrize("make", STRATEGIES.values(), ids=STRATEGIES)
def test_every_strategy_searches_it_and_goes_on_from_storage(make, tmp_path):
    storage, found = f"sqlite:///{tmp_path}/study.db", []
    for _ in range(2):
        strategy = make(SPACES["tables"])
        study = ma.Study(strategy, storage=storage)
        study.optimize(lambda pull: 0.5 if isinstance(pull.config, dict) else size(pull), progress=False)
        found.append((study.best().id, study.best_reward, study.counts.steps))
        study.close()
    assert found[0] == found[1]
    with ma.load_study(storage, space=strategy.ledger.space) as view:
        assert (view.best().id, view.best_reward, view.counts.steps) == found[0]
        assert view.best_config == strategy.best().config
    with ma.load_study(storage) as view:  # which cannot make the space again, but can show the study
        assert view.best_reward == found[0][1]
        data = view.best_config.get("config", view.best_config)
        assert data == {"x": 3} or SPACES["tables"].from_json(data).n_nodes
    journal = open_journal(storage, "study", write=False)
    assert list(audit(journal)) == []
    journal.close()


def test_going_on_with_another_space_is_refused(tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ma.Study(ma.MutantUCB(networks.table_space(4, 2), budget=10, seed=0), storage=storage).close()
        with pytest.raises(ma.StudyMismatch, match="was made with space="):
            ma.Study(ma.MutantUCB(networks.table_space(4, 2, max_nodes=3), budget=10, seed=0), storage=storage)
