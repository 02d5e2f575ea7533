# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
HASHED := -m pip --disable-pip-version-check install --quiet --require-hashes --no-build-isolation

LOWEST := .venv-lowest
LOWEST_PYTHON ?= python3.11

RELEASE := .venv-release
# --universal: one lock for every platform and every Python that the pinned packages support
COMPILE = $(RELEASE)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--annotation-style line --custom-compile-command 'make lock' $(UPGRADE)

AUDIT = $(RELEASE)/bin/pip-audit --strict --disable-pip --progress-spinner off
VERSION = $(shell sed -n 's/__version__ = "\(.*\)"/\1/p' src/lsprune/_version.py)

MINUTES ?= 60
CASES ?= 1000

.PHONY: demo test test-gpu soak same-bits-environments lowest check lint types format bench results report docs lock audit \
	wheel reproducible sbom clean

demo: $(VENV)/gnn  ## train on a generated graph, whole and pruned by several methods; print what came of it
	@$(BIN)/lsprune demo

test: $(VENV)/dev  ## all tests and doctests
	$(BIN)/python -m pytest -n 2

test-gpu:  ## the tests that need a GPU, with a verdict; any Python with torch, Triton, PyG and pytest will do; ARGS='-n 8'
	PYTHONPATH=src $(firstword $(wildcard $(BIN)/python) python3) -m pytest $(ARGS) \
	  tests/gpu tests/kernels/gpu -W ignore::DeprecationWarning

soak: $(VENV)/dev  ## try what docs/promises.md promises on generated cases for an hour (MINUTES=60) and print a table
	PYTHONPATH=tests/helpers $(BIN)/python -W ignore -m soak --minutes $(MINUTES) --jobs 2 --out results/soak.json; \
	  failed=$$?; $(BIN)/python docs/make_promises.py; exit $$failed

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

results: $(VENV)/dev  ## docs/results.md, the pages behind it and their figures, from results/*.jsonl
	$(BIN)/lsprune study page --results results --out docs

report: $(VENV)/dev  ## build/report.html: all results as one page for the browser
	@mkdir -p build && $(BIN)/lsprune report results -o build/report.html

docs: $(VENV)/dev  ## build/site: the documentation, without a warning
	$(BIN)/python docs/make_cli.py --check
	$(BIN)/python docs/make_architecture.py --check
	$(BIN)/python docs/make_promises.py --check
	$(BIN)/python docs/make_tutorial.py --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

lock: $(RELEASE)/done  ## locks/*.txt: the versions of constraints.txt with hashes; UPGRADE=--upgrade renews the other tools
	$(COMPILE) locks/build.in --constraint constraints.txt --output-file locks/build.txt
	$(COMPILE) pyproject.toml locks/build.in locks/dev.in --extra gnn --extra report --extra dev --extra spark --extra bench \
		--extra docs --constraint constraints.txt --excludes locks/torch.txt --output-file locks/dev.txt
	$(COMPILE) locks/release.in --output-file locks/release.txt

audit: $(RELEASE)/done  ## look every locked version up in the advisory database; one that cannot be looked up is a failure
	$(AUDIT) --require-hashes --requirement locks/dev.txt
	$(AUDIT) --require-hashes --requirement locks/release.txt
	$(AUDIT) --no-deps --requirement locks/torch.txt

wheel: $(VENV)/dev  ## dist: wheel and source archive of the last commit; the wheel is tried in an empty environment
	$(BIN)/python release/build.py dist
	rm -rf build/empty && $(PYTHON) -m venv --without-pip build/empty
	$(BIN)/python -m pip --disable-pip-version-check --python build/empty/bin/python install --quiet \
		--constraint constraints.txt --find-links dist lsprune==$(VERSION)
	cd build/empty && bin/lsprune --version && bin/lsprune methods

reproducible: $(VENV)/dev  ## build twice, in two folders with other file modes: the same bytes
	$(BIN)/python release/build.py --twice build/twice

sbom: wheel $(RELEASE)/done  ## dist/*.cdx.json (CycloneDX): what `pip install lsprune` installs, with the pinned versions
	sed 's/^dynamic = .*/version = "$(VERSION)"/' pyproject.toml > build/pyproject.toml
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(RELEASE)/bin/cyclonedx-py environment build/empty/bin/python \
		--pyproject build/pyproject.toml --mc-type library --output-reproducible --output-file dist/lsprune-$(VERSION).cdx.json

$(VENV)/core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

$(VENV)/gnn: $(VENV)/core
	$(PIP) torch  # by itself and first: the constraint picks the build without CUDA
	$(PIP) --editable '.[gnn,report]'
	@touch $@

$(VENV)/dev: pyproject.toml constraints.txt locks/build.txt locks/dev.txt locks/torch.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(HASHED) --requirement locks/build.txt
	$(BIN)/python $(HASHED) --requirement locks/dev.txt
	$(PIP) --requirement locks/torch.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	$(BIN)/python -m pip check
	@touch $@

$(RELEASE)/done: locks/release.txt
	test -x $(RELEASE)/bin/python || $(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python $(HASHED) --requirement locks/release.txt
	@touch $@

$(LOWEST)/done: pyproject.toml constraints-lowest.txt
	test -x $(LOWEST)/bin/python || $(LOWEST_PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints-lowest.txt \
		--editable '.[plots,report,spark]' networkx pytest pytest-xdist hypothesis 'setuptools>=77'
	@touch $@

clean:
	rm -rf $(VENV) $(LOWEST) $(RELEASE) .venv-environments build dist
