"""The problems that really train: networks of the right shape, the same in any slices, in a study and in a loop."""

from __future__ import annotations

import subprocess
import sys

import cloudpickle
import numpy as np
import pytest
from pictures import bright_quarters

import manyarms as ma
from manyarms.bench.problems import Images, NetworkProblem, Training, cifar_cnn, mnist_mlp, svhn_cnn
from manyarms.bench.problems.architectures import (
    Cnn,
    Mlp,
    average_pooling,
    cifar_space,
    learning_rates,
    max_pooling,
    svhn_space,
)

torch = pytest.importorskip("torch")

GOOD = {"hidden": 30, "learning_rate": 0.5, "dropout": 0.2, "batch_size": 50}


@pytest.fixture(scope="module")
def images():
    return Images.split(*bright_quarters(200), 50, *bright_quarters(200, seed=1))


def cnn_config(space, **changes):
    good = {"beta1": 0.9, "beta2": 0.95, "learning_rate": learning_rates()[25]}
    return space.sample(np.random.default_rng(3)) | good | changes


def test_the_mlp_learns_and_a_seed_makes_its_network(images):
    problem = mnist_mlp(images, max_steps=60)
    accuracy = problem.evaluate(GOOD, 60, seed=1)
    assert problem.evaluate(GOOD, 1, seed=1) < 0.9 < accuracy
    assert problem.evaluate(GOOD, 60, seed=1) == accuracy
    first = [problem.start(GOOD, seed).network[1].weight.sum().item() for seed in (1, 1, 2)]
    assert first[0] == first[1] != first[2]


@pytest.mark.parametrize("kind", ["mlp", "cnn"])
def test_a_training_that_was_paused_and_pickled_ends_as_one_that_was_not(images, kind):
    problem = (
        mnist_mlp(images, max_steps=5, batches=4) if kind == "mlp" else cifar_cnn(images, max_steps=5, hidden=8, channels=4)
    )
    config = GOOD if kind == "mlp" else cnn_config(problem.space)
    whole, sliced = problem.start(config, 7), problem.start(config, 7)
    problem.advance(whole, config, 5)
    for steps in (1, 3, 5):
        sliced = cloudpickle.loads(cloudpickle.dumps(sliced))
        problem.advance(sliced, config, steps)
    assert sliced.iterations == whole.iterations == (20 if kind == "mlp" else 5)
    for one, other in zip(whole.network.parameters(), sliced.network.parameters(), strict=True):
        assert torch.equal(one, other)


def test_it_is_tuned_by_a_study_that_trains_in_slices(images, tmp_path):
    problem = mnist_mlp(images, max_steps=4, batches=5)
    study = ma.tune(
        problem.train, problem.space, budget=40, max_steps=4, seed=0, progress=False, checkpoints=str(tmp_path), bounds=(0, 1)
    )
    model = study.best_model()
    assert isinstance(model, Training)
    assert model.accuracy(images.x_valid, images.y_valid) == study.best_reward
    assert (study.pulls_dataframe()["start"] > 0).any()


def test_in_setting_a_the_length_is_a_parameter_and_the_cost_of_a_pull(images):
    problem = mnist_mlp(images, "A", max_steps=81)
    assert problem.max_steps == 1 and problem.space.parameters["iterations"] == ma.Int(10, 81)
    study = ma.tune(problem.train, problem.space, budget=4, max_steps=1, strategy=ma.RandomSearch, seed=0, progress=False)
    pulls = study.pulls_dataframe()
    lengths = [study.counts.arms[arm].arm.config["iterations"] for arm in pulls["arm"]]
    assert pulls["cost"].tolist() == lengths
    assert cifar_cnn(images, "A").space.parameters["iterations"].options == tuple(range(200, 3001, 200))
    assert svhn_cnn(images, "A").space.parameters["iterations"].options == tuple(range(300, 1501, 100))
    assert mnist_mlp(images, "A").space.parameters["iterations"] == ma.Int(30, 243)


@pytest.mark.parametrize("space", [cifar_space(), svhn_space()], ids=["cifar", "svhn"])
@pytest.mark.parametrize("shape", [(3, 9, 7), (1, 8, 8)], ids=str)
def test_every_config_of_a_cnn_fits_images_of_any_shape(space, shape):
    architecture, rng = Cnn(space, channels=2, hidden=4), np.random.default_rng(0)
    for _ in range(30):
        network = architecture.network(space.sample(rng), shape, 4)
        assert network(torch.zeros(2, *shape)).shape == (2, 4)


def test_the_spaces_are_those_of_the_paper():
    assert len(learning_rates()) == 99
    assert [round(learning_rates()[i], 8) for i in (0, 49, 50, 98)] == [1e-6, 1.0, 1.08, 5.0]
    assert cifar_space().dimension == 10 and svhn_space().dimension == 5 and Mlp().space.dimension == 4
    assert cifar_space().parameters["beta1"].options[-2:] == (0.95, 1.0)


@pytest.mark.parametrize("size", range(1, 7))
def test_average_pooling_is_over_what_lies_within_the_image(size):
    image = torch.arange(35.0).reshape(1, 1, 5, 7)
    found = torch.nn.Sequential(*average_pooling(size))(image)[0, 0]
    before, after = (size - 1) // 2, size // 2 + 1
    for row, column in np.ndindex(5, 7):
        window = image[0, 0, max(0, row - before) : row + after, max(0, column - before) : column + after]
        assert found[row, column].item() == pytest.approx(window.mean().item())


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_max_pooling_pads_as_little_as_it_can_and_more_at_the_end(size, stride):
    image = torch.arange(24.0).reshape(1, 1, 4, 6)
    found = torch.nn.Sequential(*max_pooling(size, stride, 4, 6))(image)[0, 0]
    assert found.shape == (4 // stride, 6 // stride)
    before = max(0, size - stride) // 2
    for row, column in np.ndindex(*found.shape):
        top, left = stride * row - before, stride * column - before
        assert found[row, column] == image[0, 0, max(0, top) : top + size, max(0, left) : left + size].max()


def test_a_diverging_config_fails_and_never_looks_good(images):
    problem = cifar_cnn(images, max_steps=2, channels=2, hidden=4)
    config = cnn_config(problem.space, beta1=1.0)
    assert problem.evaluate(config, 2, seed=0) is None
    study = ma.Study(ma.RandomSearch(ma.Space(**config), budget=2, max_steps=2, seed=0))
    with pytest.raises(ma.NoResult):
        study.optimize(problem.train, progress=False)
    assert study.pulls_dataframe()["reason"].tolist() == ["FloatingPointError: the loss diverged after 0 iterations"]


def test_it_leaves_the_generator_and_the_threads_of_pytorch_alone(images):
    before = torch.get_rng_state(), torch.get_num_threads()
    mnist_mlp(images, max_steps=3).evaluate(GOOD, 3, seed=0)
    assert torch.equal(before[0], torch.get_rng_state()) and before[1] == torch.get_num_threads()


def test_images_that_do_not_fit_are_refused():
    x, y = bright_quarters(10)
    for given, message in (
        ((x[:, 0], y, x, y), "x_train must be rows x height x width"),
        ((x, y, x[:, :4], y), "x_valid must be rows x height x width"),
        ((x, y[:9], x, y), "y_train must have one label for each of the 10 images"),
        ((x, y / 2, x, y), "y_train must be whole numbers from 0, got float64 from 0.0"),
        ((x, y, x, y - 1), "y_valid must be whole numbers from 0, got int64 from -1"),
        ((x, y.astype(str), x, y), "y_train must be whole numbers from 0, got <U21"),
        ((x, y, x, y, x), "x_test and y_test must be given together"),
    ):
        with pytest.raises(ValueError, match=message):
            Images(*given)
    for given, message in (
        (([[[1]]], y, x, y), "x_train must be a NumPy array, got list"),
        ((x, y, x, (0, 1)), "y_valid must be a NumPy array, got tuple"),
        ((x, y, x, y, x, [0]), "y_test must be a NumPy array, got list"),
    ):
        with pytest.raises(TypeError, match=message):
            Images(*given)
    with pytest.raises(TypeError, match="y must be a NumPy array, got list"):
        Images.split(x, y.tolist(), 3)
    with pytest.raises(ValueError, match="n_valid must be below 10"):
        Images.split(x, y, 10)
    with pytest.raises(ValueError, match="setting must be one of"):
        mnist_mlp(Images.split(x, y, 3), "C")


@pytest.mark.filterwarnings("ignore:mnist.npz is a subset:manyarms.ManyarmsWarning")
def test_published_sets_are_read_from_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYARMS_DATA", str(tmp_path))
    (tmp_path / "images").mkdir()
    with pytest.raises(ma.ManyarmsError, match="mnist was not found"):
        mnist_mlp()
    x, y = np.zeros((30, 28, 28), np.uint8), np.arange(30) % 10
    np.savez(tmp_path / "images" / "mnist.npz", x_train=x, y_train=y, x_test=x, y_test=y)
    assert isinstance(mnist_mlp(), NetworkProblem)


def test_without_pytorch_the_other_problems_work_and_these_say_what_to_install(images, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'pip install "manyarms\[torch\]"'):
        mnist_mlp(images)
    code = "import sys, manyarms.bench.problems; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"
