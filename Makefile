# make demo        set up, then find a model for a real table, and predict with it
# make test        set up, then format, lint, types and all tests but the slow ones
# make docs        build the documentation site into site/
# make test-slow   the slow tests
# make peers       the tests of the race, with the other libraries installed
# make benchmarks  what the speed targets are measured with, peers beside
# make clean       remove what was set up

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin
PIP := $(RUN)/python -m pip --quiet --disable-pip-version-check
THREADS := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: setup demo test lint types docs unit core peers test-slow benchmarks format clean

setup: $(VENV)/ready

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade "pip>=25.1"
	$(PIP) install --constraint constraints.txt --editable ".[all,torch]" --group dev
	touch $@

demo: setup
	$(THREADS) $(RUN)/python examples/table.py

test: lint types docs unit core

lint: setup
	$(RUN)/ruff format --check .
	$(RUN)/ruff check .

# Again for Windows: what only POSIX has is unknown there.
types: setup
	$(RUN)/mypy
	$(RUN)/mypy --platform win32 --cache-dir .mypy_cache/win32

unit: setup
	$(THREADS) $(RUN)/python -m pytest --numprocesses 2 --dist worksteal

# A warning is an error. MkDocs checks all links and anchors; the variable silences an advertisement of the theme.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --strict

# The library without any of its extras: it must install, import and tune a plain function.
core: $(VENV)-core/ready
	$(VENV)-core/bin/python examples/plain_function.py
	$(VENV)-core/bin/python -m pytest tests/test_core_install.py

$(VENV)-core/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)-core
	$(VENV)-core/bin/python -m pip --quiet --disable-pip-version-check install . pytest pytest-timeout
	touch $@

# The adapters of the race, with the other libraries installed, which must live beside NumPy 1 (DEHB).
peers: $(VENV)-peers/ready
	$(THREADS) $(VENV)-peers/bin/python -m pytest tests/bench/race

$(VENV)-peers/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip --quiet --disable-pip-version-check install --constraint constraints.txt \
	  --editable ".[race,peers]" pytest pytest-timeout hypothesis
	touch $@

test-slow: setup
	$(THREADS) $(RUN)/python -m pytest -m slow --timeout 3600

benchmarks: setup
	$(PIP) install --constraint constraints.txt --group benchmark
	for name in decisions deciding strategies partitions storage workers resume simulated halving sklearn_overhead networks; do $(THREADS) $(RUN)/python benchmarks/$$name.py || exit 1; done

format: setup
	$(RUN)/ruff format .
	$(RUN)/ruff check --fix .

clean:
	rm -rf $(VENV) $(VENV)-core $(VENV)-peers table-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist site
