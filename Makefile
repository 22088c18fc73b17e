# The ways into this tree. Everything is installed into .venv, once.
#
#   make demo    trains on the bundled speech, exports, scores
#   make test    all tests; PYTEST="-k golden" or a file narrows them
#   make lint    style, format, types, imports between the folders
#   make bench   measurements beside other tools; BENCHMARKS="ark_reading" for some
#   make bazel   the tests under Bazel; BAZEL_TESTS=//:quick for some of them

PYTHON ?= python3
VENV ?= .venv
PYTEST ?= -n auto --maxprocesses 4 --dist loadfile
BAZEL_TESTS ?= //...
BENCHMARKS ?= ark_reading train_step train_dnn train_small train_cnn train_lstm train_rbm forward_dnn \
	frame_pipeline train_language evaluate_language table_rules vocabulary_size

BIN := $(abspath $(VENV))/bin
PIP_INSTALL = $(BIN)/python -m pip install -qq --disable-pip-version-check \
	--no-warn-script-location -c constraints.txt
BAZEL_HOME := build/bazel
BAZEL := $(BAZEL_HOME)/node_modules/@bazel/bazel-linux_x64/bazel-2.1.0-linux-x86_64

export PATH := $(BIN):$(PATH)

.PHONY: demo test lint bench bazel clean
.DELETE_ON_ERROR:

demo: $(VENV)/demo.stamp
	@python -m seqzoo.zoo.acoustic.demo

test: $(VENV)/test.stamp
	@python -m pytest $(PYTEST)

lint: $(VENV)/test.stamp
	@failed=; \
	ruff check --quiet . || failed=1; \
	ruff format --check . || failed=1; \
	mypy || failed=1; \
	PYTHONPATH=.typing lint-imports || failed=1; \
	test -z "$$failed"

bench: $(VENV)/bench.stamp
	@set -e; for name in $(BENCHMARKS); do python benchmarks/$$name.py; done

bazel: $(VENV)/test.stamp $(BAZEL)
	@$(BAZEL) --batch test $(BAZEL_TESTS)

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache \
		.import_linter_cache .hypothesis

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
		"seqzoo needs Python 3.11 or newer; name one with PYTHON=python3.11.")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: setup.py constraints.txt | $(BIN)/pip
	@echo "Installing seqzoo into $(VENV); the first time takes a minute or two."
	@$(PIP_INSTALL) -e .
	@touch $@

$(VENV)/test.stamp: setup.py constraints.txt | $(BIN)/pip
	@echo "Installing seqzoo and its test tools into $(VENV)."
	@$(PIP_INSTALL) -e '.[test]'
	@touch $(VENV)/demo.stamp $@

$(VENV)/bench.stamp: setup.py constraints.txt | $(BIN)/pip
	@echo "Installing seqzoo and what it is measured against into $(VENV)."
	@$(PIP_INSTALL) -e '.[bench]'
	@touch $(VENV)/demo.stamp $@

$(BAZEL):
	@echo "Fetching Bazel into $(BAZEL_HOME)."
	@npm install --silent --no-save --no-audit --no-fund --prefix $(BAZEL_HOME) \
		@bazel/bazel-linux_x64@2.1.0
	@chmod +x $@
	@touch $@
