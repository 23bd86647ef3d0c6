# make demo: set up and run the tour.  make test: set up and run the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := demo

.PHONY: demo test test-all lint compiled clean

demo: $(VENV)/installed
	$(BIN)/harness run leaderboards/tour/suite.yaml --store $(DEMO)/store --out $(DEMO)

test: $(VENV)/installed-dev
	$(MAKE) -j2 lint compiled
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow and not real"

test-all: $(VENV)/installed-dev lint
	$(BIN)/python -m pytest -n auto --dist worksteal --hypothesis-profile=thorough

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# the kernels that numba compiles on import, where tests/conftest.py keeps them: else every worker of pytest
# compiles them at its start, and mypy leaves a core idle
compiled: $(VENV)/installed-dev
	NUMBA_CACHE_DIR=$${NUMBA_CACHE_DIR:-$(CURDIR)/.pytest_cache/compiled} $(BIN)/python -c "import harness_bm25.retriever"

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 or newer is needed: make PYTHON=python3.12"'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) $(DEMO) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
