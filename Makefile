# `make` alone lists the targets. Each target creates the virtual environment that it needs.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin
PIP := -m pip --quiet --disable-pip-version-check
THREADS := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

# Python stores its bytecode, even if the environment says otherwise: tests start hundreds of processes that import the library.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test checks lint types types-linux types-windows docs unit dist core test-long test-slow test-lowest peers benchmarks format clean

help:
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS="	" read -r name text; do printf 'make %-13s%s\n' "$$name" "$$text"; done

setup: $(VENV)/ready  ## create the environment for development in .venv

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(RUN)/python $(PIP) install --upgrade "pip>=25.1"
	$(RUN)/python $(PIP) install --constraint constraints.txt --editable ".[all,torch]" --group dev
	touch $@

demo: setup  ## fit a model to a real table, and predict with it
	$(THREADS) $(RUN)/python examples/table.py

# The checks that use one processor each run two at a time. Their output is kept apart where make can do that.
test: setup  ## run all checks, except the long and the slow tests
	$(MAKE) --no-print-directory --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync) checks
	$(MAKE) --no-print-directory unit

checks: lint core types docs  ## run all checks of make test except make unit

lint: setup  ## check formatting and style
	$(RUN)/ruff format --check .
	$(RUN)/ruff check .

types: types-linux types-windows  ## check types, for Linux and for Windows

types-linux: setup
	$(RUN)/mypy

# On Windows, the parts of the standard library that only POSIX has are unknown.
types-windows: setup
	$(RUN)/mypy --platform win32 --cache-dir .mypy_cache/win32

# Without --quiet, which would hide the warnings that --strict counts. The variable silences an announcement of the theme.
docs: setup  ## build the documentation site into site/, and check its links
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --strict

unit: setup  ## run the tests
	$(THREADS) $(RUN)/python -m pytest --numprocesses 2 --dist worksteal

dist: setup  ## build the wheel and the source distribution into dist/, and check them
	rm -rf dist
	$(RUN)/python -m build
	$(RUN)/twine check --strict dist/*

# The wheel without extras must install, import and tune a plain function. Later runs replace only the wheel itself.
core: dist $(VENV)-core/ready  ## install the wheel without extras in its own environment, and try it
	$(VENV)-core/bin/python $(PIP) install --force-reinstall --no-deps dist/*.whl
	$(VENV)-core/bin/manyarms --version
	$(VENV)-core/bin/python examples/plain_function.py
	$(VENV)-core/bin/python -m pytest tests/test_core_install.py

$(VENV)-core/ready: pyproject.toml | dist
	$(PYTHON) -m venv --clear $(VENV)-core
	$(VENV)-core/bin/python $(PIP) install dist/*.whl pytest pytest-timeout
	touch $@

test-long: setup  ## run the tests that take several seconds each
	$(THREADS) $(RUN)/python -m pytest -m "long and not slow" --numprocesses 2 --dist worksteal --timeout 600

test-slow: setup  ## run the slow tests
	$(THREADS) $(RUN)/python -m pytest -m slow --timeout 3600

# Old releases warn about newer versions of what they depend on, so that warnings are not errors here.
test-lowest: $(VENV)-lowest/ready  ## run the tests with the lowest versions that pyproject.toml allows
	$(THREADS) $(VENV)-lowest/bin/python -m pytest --numprocesses 2 --dist worksteal -W default

# PyTorch is installed first, by pip, at the version of constraints.txt: uv may not find the build for the CPU alone.
$(VENV)-lowest/ready: pyproject.toml constraints.txt | setup
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(VENV)-lowest/bin/python $(PIP) install --upgrade "pip>=25.1"
	$(VENV)-lowest/bin/python $(PIP) install --constraint constraints.txt torch
	$(RUN)/uv pip install --quiet --python $(VENV)-lowest/bin/python --resolution lowest-direct \
	  --constraint constraints.txt --requirement pyproject.toml --extra all "xgboost-cpu>=2.1"
	$(VENV)-lowest/bin/python $(PIP) install --no-deps --editable .
	$(VENV)-lowest/bin/python $(PIP) install --group test
	touch $@

# The other libraries have an environment of their own because DEHB needs NumPy 1.
peers: $(VENV)-peers/ready  ## run the tests of the race with the other libraries installed
	$(THREADS) $(VENV)-peers/bin/python -m pytest tests/bench/race

$(VENV)-peers/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python $(PIP) install --constraint constraints.txt --editable ".[race,peers]" pytest pytest-timeout hypothesis
	touch $@

benchmarks: setup  ## measure speed, compared with other libraries
	$(RUN)/python $(PIP) install --constraint constraints.txt --group benchmark
	for name in decisions deciding strategies partitions storage workers resume simulated halving sklearn_overhead networks; do $(THREADS) $(RUN)/python benchmarks/$$name.py || exit 1; done

format: setup  ## format the code and fix what ruff can fix
	$(RUN)/ruff format .
	$(RUN)/ruff check --fix .

clean:  ## remove the environments and everything that was built
	rm -rf $(VENV) $(VENV)-core $(VENV)-lowest $(VENV)-peers table-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist site
