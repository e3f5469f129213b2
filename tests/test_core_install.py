"""The library without any of its extras: it imports quickly and tunes a plain function."""

from __future__ import annotations

import subprocess
import sys

import pytest

import manyarms

EXTRAS = (
    "pandas",
    "fsspec",
    "sklearn",
    "torch",
    "ConfigSpace",
    "psycopg",
    "dask",
    "ray",
    "optuna",
    "plotly",
    "starlette",
    "uvicorn",
    "lightgbm",
    "xgboost",
    "matplotlib",
    "onnxruntime",
    "pyarrow",
)


def run(code: str) -> str:
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


def test_the_installed_package_has_its_version_its_command_and_its_types():
    code = """
import importlib.metadata, importlib.resources
from manyarms.version import __version__
print(importlib.metadata.version("manyarms") == __version__)
print([entry.value for entry in importlib.metadata.entry_points(group="console_scripts", name="manyarms")])
print(importlib.resources.files("manyarms").joinpath("py.typed").is_file())
"""
    assert run(code).splitlines() == ["True", "['manyarms.cli:console_main']", "True"]


def test_importing_the_library_imports_neither_extras_nor_slow_parts():
    loaded = run("import sys, manyarms; print(' '.join(name for name in sys.modules if '.' not in name))").split()
    assert not {*EXTRAS, "sqlalchemy", "numpy", "scipy", "rich"} & set(loaded)


def test_every_public_name_is_there_and_listed_once():
    names = manyarms.__all__
    assert len(names) == len(set(names)) and set(names) <= set(dir(manyarms))
    code = "from manyarms import *; import manyarms; print(all(globals()[name] is not None for name in manyarms.__all__))"
    assert run(code) == "True"
    assert run("import manyarms; print(manyarms.spaces.as_space({'x': [1]}))")
    assert run("import manyarms; print(hasattr(manyarms, 'Spaec'), hasattr(manyarms, 'networks'))") == "False False"


@pytest.mark.parametrize("command", ["status", "arms", "best"])
def test_a_study_that_has_ended_is_inspected_without_numpy(command, tmp_path):
    storage = str(tmp_path / "study.db")
    manyarms.tune(lambda config: config["x"], {"x": (0.0, 1.0)}, budget=5, storage=storage, seed=0, progress=False)
    code = f"""
import sys
sys.modules["numpy"] = None  # importing it fails
from manyarms.cli import main
main([{command!r}, {storage!r}])
"""
    assert run(code)


def test_a_plain_function_is_tuned_with_every_extra_missing():
    code = f"""
import sys
for name in {EXTRAS!r}:
    sys.modules[name] = None  # importing it fails
import manyarms as ma, tempfile
space = ma.Space(x=ma.Float(0, 1))
storage = tempfile.mkdtemp() + "/study.db"
study = ma.tune(lambda config: 1 - abs(config["x"] - 0.3), space, budget=100, workers=2, storage=storage, seed=0)
print(round(study.best_config["x"], 1))
try:
    study.arms_dataframe()
except ImportError as error:
    print(error)
"""
    assert run(code) == '0.3\ntables need pandas: pip install "manyarms[pandas]"'


def test_the_test_problems_are_imported_with_every_extra_missing():
    code = f"""
import sys
for name in {EXTRAS!r}:
    sys.modules[name] = None
from manyarms.bench.problems import Hartmann, digits_mlp, rbv2_xgboost
print(Hartmann(3).best > 3.8)
for make in (digits_mlp, lambda: rbv2_xgboost(12)):
    try:
        make()
    except ImportError as error:
        print(str(error).rpartition(": ")[2])
"""
    assert run(code).splitlines() == ["True", 'pip install "manyarms[sklearn]"', 'pip install "manyarms[onnx]"']


def test_networks_are_made_without_pytorch_and_what_needs_it_says_so():
    code = f"""
import sys
for name in {EXTRAS!r}:
    sys.modules[name] = None
import numpy as np
from manyarms import networks
from manyarms.networks import data
space, rng = networks.image_space((1, 28, 28), 10), np.random.default_rng(0)
network = space.sample(rng)
child = space.crossover(space.mutate(network, rng), network, rng)
print(space.layout(child).n_parameters > 0, networks.draw_network(child, space, network)[:4], len(data.NAMES))
for name in ("build", "Classifier", "python_source"):
    try:
        getattr(networks, name)
    except ImportError as error:
        print(str(error).rpartition(": ")[2])
"""
    assert run(code).splitlines() == ["True <svg 5", *3 * ['pip install "manyarms[torch]"']]


def test_the_part_for_scikit_learn_says_what_to_install():
    code = """
import sys
sys.modules["sklearn"] = None
try:
    import manyarms.sklearn
except ImportError as error:
    print(error)
"""
    assert run(code) == 'manyarms.sklearn needs scikit-learn: pip install "manyarms[sklearn]"'
