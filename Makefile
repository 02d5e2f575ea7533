# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

LOWEST := .venv-lowest
LOWEST_PYTHON ?= python3.11


MINUTES ?= 60
CASES ?= 1000

.PHONY: demo test test-gpu soak same-bits-environments lowest check lint types format bench results report docs wheel clean

demo: $(VENV)/gnn  ## train on a generated graph, whole and pruned by several methods; print what came of it
	@$(BIN)/lsprune demo

test: $(VENV)/dev  ## all tests and doctests
	$(BIN)/python -m pytest -n 2

test-gpu:  ## the tests that need a GPU, with a verdict; any Python with torch, Triton, PyG and pytest will do
	PYTHONPATH=src $(firstword $(wildcard $(BIN)/python) python3) -m pytest tests/gpu tests/kernels/gpu -W ignore::DeprecationWarning

soak: $(VENV)/dev  ## try what docs/promises.md promises on generated cases for an hour (MINUTES=60) and print a table
	PYTHONPATH=tests/helpers $(BIN)/python -W ignore -m soak --minutes $(MINUTES) --jobs 2 --out results/soak.json
	$(BIN)/python docs/make_promises.py

same-bits-environments: $(VENV)/dev  ## masks of CASES=1000 cases in Python 3.11 to 3.13 with the lowest and newest packages; those found here
	$(BIN)/python -W ignore -m soak.environments --build --cases $(CASES)

lowest: $(LOWEST)/done  ## the tests that need no torch, with the lowest versions that pyproject.toml allows
	$(LOWEST)/bin/python -m pytest -n 2 --doctest-ignore-import-errors -W ignore::DeprecationWarning

check: lint types test lowest  ## what must pass before a commit

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev
	$(BIN)/mypy

format: $(VENV)/dev  ## mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/dev  ## every figure of benchmarks/README.md (several minutes)
	$(BIN)/python benchmarks/run.py

results: $(VENV)/dev  ## docs/results.md and its figures, from results/*.jsonl
	$(BIN)/lsprune study page --results results --out docs

report: $(VENV)/dev  ## build/report.html: all results as one page for the browser
	@mkdir -p build && $(BIN)/lsprune report results -o build/report.html

docs: $(VENV)/dev  ## build/site: the documentation, without a warning
	$(PIP) --editable '.[docs]'
	$(BIN)/python docs/make_cli.py --check
	$(BIN)/python docs/make_architecture.py --check
	$(BIN)/python docs/make_promises.py --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

wheel: $(VENV)/dev  ## build the wheel and try it in an empty environment
	rm -rf dist build && $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	rm -rf build/empty && $(PYTHON) -m venv build/empty
	build/empty/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt dist/*.whl
	cd build/empty && bin/lsprune --version && bin/lsprune methods

$(VENV)/core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

$(VENV)/gnn: $(VENV)/core
	$(PIP) torch  # by itself and first: the constraint picks the build without CUDA
	$(PIP) --editable '.[gnn,report]'
	@touch $@

$(VENV)/dev: $(VENV)/gnn
	$(PIP) --editable '.[gnn,dev,spark,bench]'
	@touch $@

$(LOWEST)/done: pyproject.toml constraints-lowest.txt
	test -x $(LOWEST)/bin/python || $(LOWEST_PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints-lowest.txt \
		--editable '.[plots,report,spark]' networkx pytest pytest-xdist hypothesis 'setuptools>=77'
	@touch $@

clean:
	rm -rf $(VENV) $(LOWEST) .venv-environments build dist
