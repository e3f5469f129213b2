"""Which devices each worker sees."""

import subprocess
from types import SimpleNamespace

import pytest

from manyarms.runners.resources import device_leases, visible_devices

EIGHT = [str(i) for i in range(8)]


@pytest.mark.parametrize(
    ("workers", "share", "devices", "leases"),
    [
        (3, 1, EIGHT, ["0", "1", "2"]),
        (2, 1.0, ["GPU-a", "GPU-b"], ["GPU-a", "GPU-b"]),
        (2, 4, EIGHT, ["0,1,2,3", "4,5,6,7"]),
        (4, 0.5, EIGHT, ["0", "0", "1", "1"]),
        (3, 0.3, EIGHT, ["0", "0", "0"]),
        (10, 0.1, ["3"], ["3"] * 10),
        (2, 0.7, EIGHT, ["0", "1"]),
        (2, 0, EIGHT, ["", ""]),
        (1, 1, ["5"], ["5"]),
    ],
)
def test_each_worker_gets_its_share_of_the_devices(workers, share, devices, leases):
    assert device_leases(workers, {"gpu": share}, devices) == leases


@pytest.mark.parametrize("resources", [None, {}])
def test_without_resources_workers_see_what_the_study_sees(resources):
    assert device_leases(2, resources) == [None, None]


@pytest.mark.parametrize(
    ("workers", "share", "devices", "needed"),
    [(3, 1, ["0", "1"], 3), (1, 1, [], 1), (2, 2, ["0", "1", "2"], 4), (5, 0.5, ["0", "1"], 3)],
)
def test_too_few_devices_are_refused_with_the_numbers(workers, share, devices, needed):
    with pytest.raises(ValueError, match=f"need {needed} devices, but {len(devices)} are visible"):
        device_leases(workers, {"gpu": share}, devices)


@pytest.mark.parametrize(
    ("resources", "error"),
    [
        ({"gpu": -1}, ValueError),
        ({"gpu": 1.5}, TypeError),
        ({"gpu": float("nan")}, ValueError),
        ({"gpu": float("inf")}, ValueError),
        ({"gpu": "1"}, TypeError),
        ({"gpu": True}, TypeError),
        ({"tpu": 1}, ValueError),
        ({"gpu": 1, "cpu": -2}, ValueError),
    ],
)
def test_a_wrong_resource_is_named(resources, error):
    with pytest.raises(error, match="resources"):
        device_leases(1, resources, EIGHT)


@pytest.mark.parametrize(("listed", "devices"), [("0,1", ["0", "1"]), (" 2 , GPU-7 ", ["2", "GPU-7"]), ("", [])])
def test_the_visible_devices_are_those_the_study_itself_may_use(monkeypatch, listed, devices):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", listed)
    assert visible_devices() == devices


def test_without_the_variable_the_driver_is_asked(monkeypatch):
    text = "GPU 0: NVIDIA A100 (UUID: GPU-1)\n  MIG 1g.5gb Device 0: (UUID: MIG-1)\nGPU 1: NVIDIA A100 (UUID: GPU-2)\n"
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: SimpleNamespace(stdout=text))
    assert visible_devices() == ["0", "1"]


def test_without_a_driver_there_are_none(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert visible_devices() == []
