# Two commands do all the set-up: `make demo` and `make test`. Both make the virtual environment if it is missing.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
LOCK   := requirements-dev.lock
# The tests start many processes; without bytecode each of them would compile the sources again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo demo-full test test-embedded test-lowest check format lint types unit bench site lock clean

# The environment is made again when the lock file or the project's own metadata change.
$(VENV)/.stamp: $(LOCK) pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: $(VENV)/.stamp
	$(BIN)/longmark models install judge
	$(BIN)/longmark demo --out demo

demo-full: $(VENV)/.stamp
	$(BIN)/longmark models install judge small embedder
	$(BIN)/longmark demo --full --out demo-full

test: $(VENV)/.stamp
	$(BIN)/longmark models install judge small embedder
	$(MAKE) --no-print-directory check

check: $(VENV)/.stamp
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	@# types are checked while the tests run, and reported after them; one process more than cores, since many tests wait.
	@# Tests are collected first: the bytecode of a fresh checkout is then made once and not by every process.
	$(BIN)/mypy > $(VENV)/mypy.txt 2>&1 & types=$$!; \
	$(BIN)/pytest --collect-only -qq > $(VENV)/collected.txt || { cat $(VENV)/collected.txt; wait; exit 1; }; \
	$(BIN)/pytest -m "not slow" -n $$($(BIN)/python -c "import os; print(min(4, os.cpu_count() + 1))") --dist loadscope --no-loadscope-reorder --durations 25 --durations-min 3; tests=$$?; \
	wait $$types; types=$$?; cat $(VENV)/mypy.txt; exit $$((tests || types))

# What needs the judge for longer than a unit test may take: documented commands on the embedded judge.
test-embedded: $(VENV)/.stamp
	$(BIN)/longmark models install judge small embedder
	$(BIN)/pytest -m slow

# The lower bounds of pyproject.toml are versions that pass the tests: by hand, after a change of one of them.
test-lowest: $(VENV)/.stamp
	$(BIN)/uv venv --quiet --clear --seed --python $(BIN)/python .venv-lowest
	$(BIN)/uv pip compile --quiet --python .venv-lowest/bin/python --resolution lowest-direct \
		--group dev --extra parquet --extra stats --extra rag --extra graphs --extra train --extra classic --extra xlsx --extra postgres pyproject.toml -o .venv-lowest/requirements.txt
	$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python -r .venv-lowest/requirements.txt
	PYTHONPATH=src .venv-lowest/bin/python -m pytest -m "not slow and not embedded" --ignore=tests/docs

format: $(VENV)/.stamp
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: $(VENV)/.stamp
	$(BIN)/python -m bench.engine

# The documentation site, in build/site. It works from its folder, without a server and without the network.
site: $(VENV)/.stamp
	$(BIN)/python -m tests.docs.site

lock: $(VENV)/.stamp
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--group dev --extra embedded --extra parquet --extra stats --extra rag --extra graphs --extra train --extra classic --extra xlsx --extra postgres pyproject.toml -o $(LOCK)

clean:
	rm -rf $(VENV) .venv-lowest .mypy_cache .ruff_cache .cache build demo demo-full
