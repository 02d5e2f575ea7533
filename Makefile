# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo test check lint types format bench results report docs wheel clean

demo: $(VENV)/gnn  ## prune generated graphs with several methods, train on them, print what came of it
	@$(BIN)/lsprune demo

test: $(VENV)/dev  ## all tests and doctests
	$(BIN)/python -m pytest -n 2

check: lint types test  ## what must pass before a commit

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev
	$(BIN)/mypy

format: $(VENV)/dev  ## mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/dev  ## every figure of benchmarks/README.md (several minutes)
	$(PIP) --editable '.[bench]'
	$(BIN)/python benchmarks/run.py

results: $(VENV)/dev  ## docs/results.md and its figures, from results/*.jsonl
	$(BIN)/lsprune study page --results results --out docs

report: $(VENV)/dev  ## build/report.html: all results as one page for the browser
	@mkdir -p build && $(BIN)/lsprune report results -o build/report.html

docs: $(VENV)/dev  ## build/site: the documentation, without a warning
	$(PIP) --editable '.[docs]'
	$(BIN)/python docs/make_cli.py --check
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
	$(PIP) --editable '.[gnn,dev,spark]'
	@touch $@

clean:
	rm -rf $(VENV) build dist
