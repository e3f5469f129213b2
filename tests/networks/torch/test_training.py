"""A cycle of the learning rate: its rates, its batches, its seeds, and what happens when it diverges."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from manyarms.networks.torch.precision import Precision  # noqa: E402
from manyarms.networks.torch.training import Cycle, derived_seed, shuffled, subtrain  # noqa: E402

CPU = torch.device("cpu")
CYCLE = Cycle(epochs=3, batch_size=16, highest=0.1, lowest=0.001)


class Recorded(torch.optim.SGD):
    """Notes the learning rate of each step."""

    def __init__(self, module):
        super().__init__(module.parameters(), 1.0)
        self.rates = []

    def step(self, closure=None):
        self.rates.append(self.param_groups[0]["lr"])
        super().step()


def problem(dropout=0.5):
    torch.manual_seed(0)
    x = torch.randn(50, 4)
    module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Dropout(dropout), torch.nn.Linear(8, 2))
    return module, x, (x[:, 0] > 0).long()


def test_the_rate_falls_from_the_highest_to_the_lowest_along_a_cosine():
    module, x, y = problem()
    optimizer = Recorded(module)
    subtrain(module, optimizer, x, y, CYCLE, seed=0)
    assert len(optimizer.rates) == 12  # three epochs of four batches
    assert optimizer.rates == sorted(optimizer.rates, reverse=True)
    assert optimizer.rates[0] == 0.1 and optimizer.rates[6] == pytest.approx(0.0505) and 0.001 < optimizer.rates[-1] < 0.004


def trained(seed, dropout=0.5):
    module, x, y = problem(dropout)
    subtrain(module, torch.optim.SGD(module.parameters(), 0.1), x, y, CYCLE, seed)
    return torch.cat([weight.flatten() for weight in module.parameters()])


def test_the_seed_decides_everything_and_the_generator_of_others_is_left_alone():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    one = trained(5)
    torch.set_rng_state(before)
    torch.rand(7)
    assert torch.equal(one, trained(5)) and not torch.equal(one, trained(6))
    module, x, y = problem()
    state = torch.get_rng_state()
    subtrain(module, torch.optim.SGD(module.parameters(), 0.1), x, y, CYCLE, 0)
    assert torch.equal(state, torch.get_rng_state())


def test_every_epoch_has_the_examples_in_another_order_and_every_seed_too():
    seen = []
    for seed in (5, 6):
        module, _, y = problem(dropout=0.0)
        x = torch.arange(50.0)[:, None].expand(50, 4)
        module.register_forward_pre_hook(lambda _module, inputs: seen.extend(inputs[0][:, 0].tolist()))
        subtrain(module, torch.optim.SGD(module.parameters(), 1e-6), x, y, CYCLE, seed)
    epochs = [tuple(seen[start : start + 50]) for start in range(0, len(seen), 50)]
    assert all(sorted(epoch) == list(range(50)) for epoch in epochs)
    assert len({*epochs, tuple(range(50))}) == 7  # three of each seed, none as given
    assert not torch.equal(trained(5, dropout=0.0), trained(6, dropout=0.0))


def test_it_learns():
    module, x, y = problem()
    losses = [subtrain(module, torch.optim.SGD(module.parameters(), 0.1), x, y, CYCLE, seed) for seed in range(10)]
    assert losses[-1] < 0.8 * losses[0]


@pytest.mark.parametrize("count", [1, 2, 16, 17, 18, 50])
def test_batches_cover_all_rows_but_a_single_last_one(count):
    batches = shuffled(count, 16, torch.Generator().manual_seed(0))
    rows = torch.cat(batches)
    assert len(rows) == len(rows.unique()) == (16 if count == 17 else count)
    assert count == 1 or all(len(batch) > 1 for batch in batches)


def test_a_loss_that_is_not_finite_raises():
    module, x, y = problem()
    with pytest.raises(FloatingPointError, match="the loss was nan in epoch 1 of 3"):
        subtrain(module, torch.optim.SGD(module.parameters(), 0.1), x * float("nan"), y, CYCLE, 0)


def test_mixed_precision_computes_in_half_and_keeps_whole_weights():
    module, x, y = problem()
    found = []
    module[0].register_forward_hook(lambda _module, _inputs, output: found.append(output.dtype))
    subtrain(module, torch.optim.SGD(module.parameters(), 0.1), x, y, CYCLE, 0, Precision(CPU, mixed=True))
    assert set(found) == {torch.bfloat16} and module[0].weight.dtype == torch.float32
    assert not Precision(CPU, mixed=True).scaler().is_enabled()


@pytest.mark.parametrize(("capability", "dtype"), [((7, 5), torch.float16), ((8, 0), torch.bfloat16)])
def test_a_gpu_that_only_imitates_the_wide_half_gets_the_other(monkeypatch, capability, dtype):
    asked = []
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: asked.append(device) or capability)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *_: True)  # the one it works on, and imitations too
    second = torch.device("cuda:1")
    assert Precision(second, mixed=True).dtype == dtype and asked == [second]


def test_examples_reach_the_module_as_they_are():
    class Seconds(torch.nn.Linear):
        def forward(self, x):
            assert x.dtype == torch.float64
            return super().forward((x - 1.7e9).float())

    x = 1.7e9 + torch.randn(50, 1, dtype=torch.float64)
    module = Seconds(1, 2)
    assert subtrain(module, torch.optim.SGD(module.parameters(), 0.1), x, (x[:, 0] > 1.7e9).long(), CYCLE, 0) < 1


def test_seeds_of_parts_differ():
    assert len({derived_seed(seed, step) for seed in range(5) for step in range(5)}) == 25
