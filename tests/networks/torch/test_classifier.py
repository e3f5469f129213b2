"""Training in pulls: the same however it is sliced, warm for mutants, and safe to load."""

from __future__ import annotations

import os
import pickle
import shutil

import numpy as np
import pytest

import manyarms as ma
from manyarms import networks
from manyarms.checkpoints import commit
from manyarms.runners.execute import execute
from manyarms.runners.running_pull import RunningPull
from manyarms.testing.runners import make_task

from ..images import DATA, SPACE
from ..spaces import samples

torch = pytest.importorskip("torch")

from manyarms.networks.torch.classifier import prediction_batch_size  # noqa: E402
from manyarms.networks.torch.optimizers import make_optimizer  # noqa: E402
from manyarms.networks.torch.trained_network import FILE, read_state  # noqa: E402

CPU = torch.device("cpu")


def play(classifier, config, stops, place, parent=None, seed=5):
    """An arm pulled to each of these stops; gives the directory of its last checkpoint, and its last reward."""
    previous, start = None, 0
    for stop in stops:
        pull = RunningPull(ma.Pull(ma.Arm(0, config), start, stop), seed + start, place / f"{stop}.part", previous, parent)
        value = classifier(pull)
        previous, start = place / str(stop), stop
        commit(place / f"{stop}.part", previous)
    return previous, value["reward"]


def equal(one, other):
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return all(map(equal, one, other)) if isinstance(one, (list, tuple)) else one == other


def check_pauses(classifier, config, place):
    """A training that was paused ends as one that was not."""
    ends = []
    for number, stops in enumerate(([3], [1, 2, 3])):
        (place / str(number)).mkdir(parents=True)
        torch.manual_seed(number)  # what others do with the generator must not matter
        ends.append(play(classifier, config, stops, place / str(number)))
    (whole, reward), (sliced, other) = ends
    assert reward == other and equal(read_state(whole), read_state(sliced))


def test_a_training_that_was_paused_equals_one_that_was_not_bit_for_bit(classifier, tmp_path):
    met = set()
    for number, config in enumerate(samples(SPACE, 7, seed=3)):
        met |= {node.operation for graph in config.graphs.values() for node in graph.nodes}
        check_pauses(classifier, config, tmp_path / str(number))
    assert {"dropout", "normalisation", "convolution", "dense"} <= met


def plain(*nodes, **training):
    """A convolution, these layers after it, and a dense one."""
    convolution = networks.Node(1, (0,), "convolution", {"channels": 8, "kernel": 3, "stride": 2}, activation="relu")
    chain = [convolution, *(networks.Node(2 + place, (1 + place,), *node) for place, node in enumerate(nodes))]
    vector = networks.Graph((networks.Node(1, (0,), "dense", {"units": 8}, activation="relu"),), 2)
    return networks.Network({"image": networks.Graph(tuple(chain), 2 + len(nodes)), "vector": vector}, training)


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw", "rmsprop"])
def test_every_optimizer_continues_where_it_was_paused(optimizer, tmp_path):
    training = {"learning_rate": 0.01, "batch_size": 16, "optimizer": optimizer}
    space = networks.image_space((1, 8, 8), 4, training=ma.Space(**training))
    config = plain(("normalisation", {"over": "batch"}), ("dropout", {"rate": 0.3}), **training)
    check_pauses(networks.image_classifier(*DATA, space=space, epochs=2), config, tmp_path)


PLAIN = plain(learning_rate=0.008, batch_size=16, optimiser="adam")  # eight iterations an epoch


@pytest.mark.parametrize("epochs", [1, 3])
def test_a_cycle_has_as_many_epochs_as_asked_for(epochs, tmp_path):
    directory, _ = play(networks.image_classifier(*DATA, space=SPACE, epochs=epochs), PLAIN, [2], tmp_path)
    assert read_state(directory)["optimiser"]["state"][0]["step"] == 2 * 8 * epochs


@pytest.mark.parametrize("lowest", [0.0, 0.5, 1.0])
def test_a_cycle_ends_near_the_lowest_rate(lowest, tmp_path):
    directory, _ = play(networks.image_classifier(*DATA, space=SPACE, epochs=2, lowest=lowest), PLAIN, [1], tmp_path)
    (group,) = read_state(directory)["optimiser"]["param_groups"]
    assert group["lr"] == pytest.approx(networks.Cycle(2, 16, 0.008, lowest * 0.008).rate(15 / 16))


@pytest.fixture
def passes(monkeypatch):
    """What goes through networks while a test runs: whether it trains, the examples, and the scores they are given."""
    forward, found = networks.NetworkModule.forward, []

    def noted(module, x):
        scores = forward(module, x)
        found.append((module.training, x, scores))
        return scores

    monkeypatch.setattr(networks.NetworkModule, "forward", noted)
    return found


def test_every_cycle_has_a_seed_of_its_own(passes, tmp_path):
    play(networks.image_classifier(*DATA, space=SPACE, epochs=1), PLAIN, [3], tmp_path)
    seen = torch.cat([x for training, x, _ in passes if training])
    one, two, three = torch.split(seen, len(DATA[0]))
    assert not any(torch.equal(*pair) for pair in ((one, two), (one, three), (two, three)))


def test_a_study_is_reproducible_and_returns_the_trained_model(classifier):
    def new_study():
        return ma.Study(ma.MutantUCB(SPACE, budget=24, max_steps=3, initial=6, seed=1), bounds=(0, 1))

    with new_study() as study, new_study() as other:
        study.optimize(classifier, progress=False)
        other.optimize(classifier, progress=False)
        model = study.best_model()
        assert not model.training
        x, y = DATA[2:]
        assert classifier.accuracy(model, x, y) == study.best_reward == other.best_reward > 0.5
        assert classifier.predict(model, x).shape == y.shape
        assert classifier.predict(model, x[:1])[0] == classifier.predict(model, x)[0]
        assert any(record.inherited for record in study.counts.arms.values())
        shutil.rmtree(study.checkpoint_of(study.best().id))
        again = study.best_model()  # trained again from its seed
    assert equal(dict(model.state_dict()), dict(again.state_dict()))


def test_a_mutant_starts_with_the_weights_of_its_parent_unless_warm_is_false(classifier, tmp_path):
    parent = samples(SPACE, 1, seed=3)[0]
    child = networks.Network(parent.graphs, parent.training | {"learning_rate": 1e-3, "optimiser": "sgd"})
    for name in ("parent", "warm", "cold"):
        (tmp_path / name).mkdir()
    directory, _ = play(classifier, parent, [6], tmp_path / "parent")
    frozen = networks.image_classifier(*DATA, space=SPACE, epochs=1, lowest=0.0)
    frozen._cycle = lambda trained: networks.Cycle(1, 16, 0.0, 0.0)
    warm, reward = play(frozen, child, [1], tmp_path / "warm", parent=directory)
    frozen.warm = False
    cold, chance = play(frozen, child, [1], tmp_path / "cold", parent=directory)
    weights = [read_state(place)["weights"] for place in (directory, warm, cold)]
    names = [name for name in weights[0] if name.endswith(("weight", "bias"))]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in names)
    assert not all(torch.equal(weights[0][name], weights[2][name]) for name in names)
    assert reward > chance


class Payload:
    """What a pickle can do to who loads it."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return os.mkdir, (str(self.place),)


def test_a_checkpoint_that_would_run_code_is_refused_and_not_run(classifier, tmp_path):
    staged, checkpoint, harm = tmp_path / "a.part", tmp_path / "a", tmp_path / "harm"
    staged.mkdir()
    torch.save({"network": Payload(harm)}, staged / FILE)
    commit(staged, checkpoint)
    pull = RunningPull(ma.Pull(ma.Arm(0, samples(SPACE, 1)[0]), 1, 2), 0, tmp_path / "b.part", checkpoint)
    with pytest.raises(pickle.UnpicklingError):
        classifier(pull)
    with pytest.raises(pickle.UnpicklingError):
        classifier.load_model(checkpoint)
    assert not harm.exists()


def test_a_pull_succeeds_without_room_for_its_checkpoint(classifier, tmp_path):
    pull = RunningPull(ma.Pull(ma.Arm(0, samples(SPACE, 1)[0]), 0, 1), 0, tmp_path / "a.part", room=10)
    assert 0 <= classifier(pull)["reward"] <= 1
    assert "max_bytes leaves 10" in pull.unsaved


def test_an_arm_without_a_checkpoint_cannot_continue(classifier, tmp_path):
    with pytest.raises(RuntimeError, match="arm 0 has no checkpoint, so it cannot continue from step 1"):
        classifier(RunningPull(ma.Pull(ma.Arm(0, samples(SPACE, 1)[0]), 1, 2), 0, tmp_path / "a.part"))


def test_a_checkpoint_of_another_step_is_refused(classifier, tmp_path):
    directory, _ = play(classifier, samples(SPACE, 1)[0], [1], tmp_path)
    with pytest.raises(RuntimeError, match="the checkpoint of arm 0 is at step 1, so it cannot continue from step 2"):
        classifier(RunningPull(ma.Pull(ma.Arm(0, samples(SPACE, 1)[0]), 2, 3), 0, tmp_path / "a.part", directory))


def test_every_cycle_is_reported_and_other_figures_returned(classifier, tmp_path):
    pull = RunningPull(ma.Pull(ma.Arm(0, samples(SPACE, 1)[0]), 0, 3), 0, tmp_path / "a.part")
    value = classifier(pull)
    assert len(pull.curve) == 3 and pull.curve[-1] == value["reward"]
    assert value["loss"] > 0 and value["n_parameters"] == SPACE.layout(pull.config).n_parameters


def test_a_network_stopped_by_a_time_limit_is_saved_and_catches_up_when_it_continues(classifier, tmp_path):
    config = samples(SPACE, 1)[0]
    stopped = execute(classifier, make_task(tmp_path, 0, config, stop=3, seed=5, time_left=0.0))
    assert stopped.stopped_early and len(stopped.curve) == 1 and stopped.checkpoint == "arm-0-step-3"
    previous = tmp_path / stopped.checkpoint
    assert read_state(previous)["steps"] == 1
    ended = execute(classifier, make_task(tmp_path, 0, config, start=3, stop=4, seed=8, previous=previous))
    (tmp_path / "whole").mkdir()
    whole, reward = play(classifier, config, [4], tmp_path / "whole")
    assert ended.reward == reward and equal(read_state(tmp_path / ended.checkpoint), read_state(whole))


def test_sequences_and_tables_are_learned_too():
    rng = np.random.default_rng(0)
    waves = np.sin(np.linspace(0, 6, 20) * rng.choice([1, 3], (160, 1)) + rng.normal(0, 0.1, (160, 1)))
    fast = (np.abs(np.diff(waves)).mean(axis=1) > 0.3).astype(int)
    table, label = rng.normal(size=(160, 3)), rng.integers(0, 2, 160)
    table[:, 1] += 4 * label
    for make, x, y in ((networks.sequence_classifier, waves, fast), (networks.table_classifier, table, label)):
        classifier = make(x[:100], y[:100], x[100:], y[100:], epochs=2)
        with ma.Study(ma.RandomSearch(classifier.space, budget=16, max_steps=2, seed=0), bounds=(0, 1)) as study:
            study.optimize(classifier, progress=False)
        assert study.best_reward > 0.9 and study.counts.failures == 0


def dated(rows, seed):
    """A column of seconds since 1970, within a minute of a moment, labeled by which came after it."""
    seconds = np.random.default_rng(seed).uniform(-60, 60, rows)
    return np.stack([1.7e9 + seconds, np.zeros(rows)], axis=1), (seconds > 0).astype(int)


def test_columns_of_large_numbers_that_differ_little_are_learned(tmp_path):
    classifier = networks.table_classifier(*dated(300, seed=0), *dated(300, seed=1), epochs=10)
    dense = networks.Graph((networks.Node(1, (0,), "dense", {"units": 16}, activation="relu"),), 2)
    config = networks.Network({"vector": dense}, {"learning_rate": 0.02, "batch_size": 32, "optimiser": "adam"})
    assert play(classifier, config, [2], tmp_path)[1] > 0.95


def test_tables_that_were_paused_equal_ones_that_were_not(tmp_path):
    classifier = networks.table_classifier(*dated(60, seed=0), *dated(60, seed=1), epochs=1)
    ends = []
    for name, stops in (("whole", [3]), ("sliced", [1, 2, 3])):
        (tmp_path / name).mkdir()
        ends.append(play(classifier, samples(classifier.space, 1, seed=3)[0], stops, tmp_path / name)[0])
    assert equal(*map(read_state, ends))
    assert read_state(ends[0])["weights"]["mean"].dtype == torch.float64


def test_fewer_examples_are_classified_together_the_more_a_layer_gives(classifier, monkeypatch):
    def at_once(height):
        space = networks.image_space((1, height, height), 4, max_parameters=None, max_flops=None)
        nodes = (networks.Node(1, (0,), "convolution", {"channels": 16, "kernel": 3, "stride": 1}),)
        vector = networks.Graph((networks.Node(1, (0,), "dense", {"units": 8}),), 2)
        return prediction_batch_size(space.layout(networks.Network({"image": networks.Graph(nodes, 2), "vector": vector}, {})))

    assert [at_once(height) for height in (8, 128, 512, 4096)] == [1000, 64, 4, 1]
    model = networks.build(samples(SPACE, 1)[0], SPACE)
    whole, sizes = classifier.predict(model, DATA[0]), []
    model.head.register_forward_hook(lambda _module, inputs, _output: sizes.append(len(inputs[0])))
    monkeypatch.setattr("manyarms.networks.torch.classifier.prediction_batch_size", lambda layout: 50)
    assert (classifier.predict(model, DATA[0]) == whole).all() and sizes == [50, 50, 20]


@pytest.mark.filterwarnings("ignore:.*copying from a non-meta parameter")
def test_the_step_counts_of_an_optimizer_stay_on_the_cpu_wherever_its_weights_are(classifier, tmp_path):
    config = samples(SPACE, 1, seed=3)[0]
    config = networks.Network(config.graphs, config.training | {"optimiser": "adam"})
    directory, _ = play(classifier, config, [1], tmp_path)
    elsewhere = networks.image_classifier(*DATA, space=SPACE, device="meta")
    trained = elsewhere._resume(RunningPull(ma.Pull(ma.Arm(0, config), 1, 2), 0, tmp_path / "b.part", directory))
    for state in trained.optimizer.state.values():
        assert state["step"].device == CPU and state["exp_avg"].device == torch.device("meta")


def test_weights_decay_where_the_training_says_so(classifier, tmp_path):
    training = ma.Space(learning_rate=1e-3, batch_size=16, optimiser=ma.Choice("sgd", "adam"), weight_decay=ma.Float(0.1, 0.2))
    space = networks.image_space((1, 8, 8), 4, max_nodes=6, training=training)
    config = samples(space, 1)[0]
    directory, _ = play(networks.image_classifier(*DATA, space=space, epochs=1), config, [1, 2], tmp_path)
    (group,) = read_state(directory)["optimiser"]["param_groups"]
    assert 0.1 <= group["weight_decay"] == config.training["weight_decay"] <= 0.2
    weight = torch.nn.Parameter(torch.ones(1))
    for name in ("sgd", "adam", "adamw", "rmsprop"):
        assert make_optimizer(name, [weight], 0.1, 0.3).defaults["weight_decay"] == 0.3
        assert make_optimizer(name, [weight], 0.1).defaults["weight_decay"] == (0.01 if name == "adamw" else 0)


@pytest.mark.parametrize(("asked", "dtype"), [(True, torch.bfloat16), (False, torch.float32), (None, torch.float32)])
def test_mixed_precision_can_be_asked_for_and_is_not_the_default_on_a_cpu(asked, dtype, passes, tmp_path):
    classifier = networks.image_classifier(*DATA, space=SPACE, epochs=2, mixed_precision=asked, device="cpu")
    _, reward = play(classifier, samples(SPACE, 1, seed=3)[0], [2, 3], tmp_path)
    assert 0 <= reward <= 1
    assert {(training, scores.dtype) for training, _, scores in passes} == {(True, dtype), (False, dtype)}
