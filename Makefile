# Two commands do all the set-up: `make demo` and `make test`. Both make the virtual environment if it is missing.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
LOCK   := requirements-dev.lock
# The tests start many processes; without bytecode each of them would compile the sources again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo demo-full test test-embedded test-lowest dist test-wheel check format lint types unit bench site lock clean

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
	@# Two processes more than cores, since many tests wait. The first time tests are collected before: the bytecode of a
	@# fresh checkout is then made once and not by every process. Later this would only keep one core busy and the others
	@# idle. The tests make and delete tens of thousands of small files and databases, so that their files stand in memory
	@# where there is room (a container's /dev/shm is often 64 MB: not there).
	[ -f $(VENV)/collected.txt ] || $(BIN)/pytest --collect-only -qq > $(VENV)/collecting.txt || { cat $(VENV)/collecting.txt; exit 1; }
	touch $(VENV)/collected.txt
	free=$$(df -Pk /dev/shm 2> /dev/null | awk 'NR == 2 {print $$4}'); \
	if [ "$${free:-0}" -gt 4000000 ] && [ -w /dev/shm ]; then \
		TMPDIR=$$(mktemp -d /dev/shm/longmark-tests.XXXXXX) && export TMPDIR && \
		trap 'rm -rf "$$TMPDIR"' EXIT && trap 'exit 130' INT TERM; \
	fi; \
	$(BIN)/pytest -m "not slow" -n $$($(BIN)/python -c "import os; print(min(5, os.cpu_count() + 2))") --dist loadscope --no-loadscope-reorder --durations 25 --durations-min 3 --cpu-times

# The types of all sources and tests. Without a cache this takes two minutes of a core, so that it is no part of `test`.
types: $(VENV)/.stamp
	$(BIN)/mypy

# What needs the judge for longer than a unit test may take: documented commands on the embedded judge.
test-embedded: $(VENV)/.stamp
	$(BIN)/longmark models install judge small embedder
	$(BIN)/pytest -m slow

# The lower bounds of pyproject.toml are versions that pass the tests: by hand, after a change of one of them.
test-lowest: $(VENV)/.stamp
	$(BIN)/uv venv --quiet --clear --seed --python $(BIN)/python .venv-lowest
	$(BIN)/uv pip compile --quiet --python .venv-lowest/bin/python --resolution lowest-direct \
		--group dev --extra parquet --extra stats --extra rag --extra graphs --extra train --extra classic --extra xlsx --extra postgres --extra annotate pyproject.toml -o .venv-lowest/requirements.txt
	$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python -r .venv-lowest/requirements.txt
	PYTHONPATH=src .venv-lowest/bin/python -m pytest -m "not slow and not embedded" --ignore=tests/docs

# The archives of a release, in dist/: built twice from the commit in two folders, and compared (design/release.md).
dist: $(VENV)/.stamp
	rm -rf dist build/dist
	for copy in one two; do mkdir -p build/dist/$$copy && git archive HEAD | tar -x -C build/dist/$$copy && (cd build/dist/$$copy && \
		SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(CURDIR)/$(BIN)/python -m hatchling build) || exit 1; done
	for made in build/dist/one/dist/*; do cmp "$$made" "build/dist/two/dist/$${made##*/}" || exit 1; done
	mv build/dist/one/dist dist && rm -rf build/dist/two && sha256sum dist/*

# The wheel with each version of Python: alone in an empty environment, then with the locked packages and the tests that
# need no model. The tests run beside the wheel, without the sources.
PYTHONS ?= python3.11 python3.12 python3.13
WHEEL_TESTS ?= tests/records tests/scores tests/stats tests/metrics tests/compat tests/test_judge.py tests/test_deprecated.py
test-wheel: dist
	rm -rf build/dist/one/src
	for python in $(PYTHONS); do made=$(CURDIR)/build/wheel/$${python##*/}; \
		$(BIN)/uv venv --quiet --clear --python $$python $$made && \
		$(BIN)/uv pip install --quiet --python $$made dist/*.whl && \
		(cd build/dist/one && $$made/bin/longmark --version && $$made/bin/longmark look examples/answers.jsonl && \
			$$made/bin/longmark run examples/answers.jsonl --metrics score.readability --out runs/$${python##*/} --quiet) && \
		$(BIN)/uv pip install --quiet --python $$made --require-hashes -r $(LOCK) && \
		(cd build/dist/one && $$made/bin/pytest -m "not slow and not embedded" $(WHEEL_TESTS)) || exit 1; done

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
		--group dev --extra embedded --extra parquet --extra stats --extra rag --extra graphs --extra train --extra classic --extra xlsx --extra postgres --extra annotate pyproject.toml -o $(LOCK)

clean:
	rm -rf $(VENV) .venv-lowest .mypy_cache .ruff_cache .cache build demo demo-full
