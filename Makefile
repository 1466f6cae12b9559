# The whole interface: make demo | test | lint | generate | bench | eval | eval-models | eval-retrieval | eval-guard | conformance | docs | test-real | test-faults
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
ENGINES := --extra chroma --extra mcp --extra pinecone --extra qdrant
# Where Python may keep no byte code beside the sources, the head of a run has it kept where tests/bytecode.py does.
KEPT := $(if $(PYTHONDONTWRITEBYTECODE),PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(or $(PYTHONPYCACHEPREFIX),$(CURDIR)/.cache/bytecode))
TESTS := $(KEPT) $(BIN)/pytest -q -n auto --dist loadfile --no-loadscope-reorder
# Tests that cover pure code (tools/coverage_floor.py) run first, under the tracer, which makes them take half as long again.
MEASURED := $(addprefix tests/unit/,dag dpe envelope ercp gateway common/questions common/reading) \
  $(filter-out $(addprefix tests/property/test_,dag_mutations.py dag_properties.py dag_returning.py dag_session_machine.py dag_writers.py \
      dpe_constraints.py dpe_properties.py dpe_scanning.py envelope_conditional.py envelope_isolation.py envelope_packing.py envelope_warm.py \
      ercp_predicates.py ercp_unknown_fields.py guard_hostile.py injection_hostile.py superseded_knowledge.py), \
    $(sort $(wildcard tests/property/test_*.py))) \
  $(addprefix tests/rpc/test_,dag_agents.py dag_composed.py dag_erasure.py dag_fan.py dag_relay.py dag_retention.py dpe_check.py \
    dpe_provenance.py dpe_summaries.py ercp_suspected.py ercp_words.py gateway_ai_systems.py gateway_courses.py gateway_remedies.py \
    gateway_summaries.py guard_coherence.py guard_injection.py guard_verification.py)
# Files in those folders that cover what others cover as well, and take long, run behind them without it (ADR 0198).
UNTRACED := $(addprefix tests/unit/,common/reading/test_growing.py dag/test_dag_round_trips.py dpe/test_dpe_segmentation.py \
  envelope/test_communities.py envelope/test_large_ingestion.py envelope/test_store_copy.py ercp/test_ercp_reading_cost.py)
TRAINING := .venv-training
TRAINING_STAMP := $(TRAINING)/.installed
.PHONY: help setup demo test lint format lock generate bench eval eval-models eval-retrieval eval-guard conformance docs test-real test-faults training test-training clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(BIN)/uv: tools/bootstrap.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Groundtrail needs Python 3.11 or newer; set PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tools/bootstrap.lock
	@touch $@

# Installing with dev tools satisfies the runtime too, so that make demo after make test installs nothing.
$(RUN_STAMP): $(BIN)/uv requirements.lock pyproject.toml
	@if [ ! -f $(DEV_STAMP) ]; then $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock; fi
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	@touch $@

$(DEV_STAMP): $(BIN)/uv requirements-dev.lock requirements.lock pyproject.toml
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements-dev.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	@touch $@

setup: $(RUN_STAMP) ## Install the command and what it needs into .venv, and nothing else
	@echo "ready: source $(BIN)/activate"

demo: $(RUN_STAMP) ## Set up on a fresh machine and see a question answered, checked and chained
	@$(BIN)/groundtrail demo

test: $(DEV_STAMP) ## Set up and run every test that needs no other server; of what is long, a fixed tenth
	@outcome=0; \
	$(TESTS) tests clients $(addprefix --traced=,$(MEASURED)) $(addprefix --untraced=,$(UNTRACED)) --cov --cov-report=json:.coverage.json --cov-report= || outcome=1; \
	$(BIN)/python tools/coverage_floor.py .coverage.json || outcome=1; \
	exit $$outcome

lint: $(DEV_STAMP) ## Formatting, types, layers, protos, drift
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy --num-workers 2
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python tools/env_example.py --check
	@$(BIN)/python tools/update_manifest.py --check
	@$(BIN)/python tools/gen_protos.py --check
	@$(BIN)/buf format --diff --exit-code proto
	@$(BIN)/buf lint
	@$(BIN)/python tools/buf_breaking.py

format: $(DEV_STAMP) ## Format Python and protos in place
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix . && $(BIN)/buf format -w proto

lock: $(DEV_STAMP) ## Resolve pyproject.toml anew into the lock files (needs the package index)
	@$(LOCK) pyproject.toml --extra milvus --extra neo4j --extra triton -o requirements.lock
	@$(LOCK) pyproject.toml --extra milvus --extra neo4j --extra triton $(ENGINES) --group dev -c requirements.lock -o requirements-dev.lock
	@$(LOCK) pyproject.toml --extra milvus --extra neo4j --extra triton $(ENGINES) --group training --group dev -c requirements-dev.lock -o requirements-training.lock

generate: $(DEV_STAMP) ## Generate gen/ from proto/ without a network
	@$(BIN)/python tools/gen_protos.py

bench: $(DEV_STAMP) ## Measure against named baselines in the same run
	@$(BIN)/python -m bench

eval: $(DEV_STAMP) ## Measure quality on the data that GROUNDTRAIL_EVAL_DATA names
	@$(BIN)/python -m tools.evaluate
	@$(BIN)/python -m tools.evaluate_models pipeline
	@$(BIN)/python -m tools.evaluate_verdicts all
	@$(BIN)/python -m tools.evaluate_ercp

eval-models: $(DEV_STAMP) ## Measure the encoders on that data, with the figures of other systems beside them
	@$(BIN)/python -m tools.evaluate_models

eval-retrieval: $(DEV_STAMP) ## Measure every mode of retrieval on that data
	@$(BIN)/python -m tools.evaluate_retrieval

eval-guard: $(DEV_STAMP) ## Measure the guard on that data, beside director-ai from the package registry, on the same rows
	@$(BIN)/python -m tools.compare_guard
	@for part in coherence injection claims streams; do \
	  test ! -f evaluation/guard/$$part.py || $(BIN)/python -m tools.evaluate_guard $$part || exit 1; done

conformance: $(DEV_STAMP) ## Run the wire-level conformance tests against the embedded system
	@$(BIN)/pytest -q tests/conformance

docs: $(DEV_STAMP) ## Check every link, cited file and command line in the docs
	@$(BIN)/pytest -q tests/unit/house

test-real: $(DEV_STAMP) ## Run the tests that need real servers, beside servers of our own, then sweep Triton's models
	@$(BIN)/python -m tools.real_servers triton --if-possible -- \
	  $(BIN)/python -m tools.real_servers neo4j --if-possible -- \
	  $(BIN)/python -m tools.real_servers milvus --if-possible -- \
	  $(BIN)/python -m tools.real_servers milvus-lite --if-possible -- \
	  $(BIN)/python -m tools.real_servers llm --if-possible -- \
	  $(BIN)/python -m tools.real_servers envoy --if-possible -- \
	  $(BIN)/python -m tools.real_servers litellm --if-possible -- \
	  $(BIN)/python -m tools.real_servers anthropic --if-possible -- \
	  $(BIN)/python -m tools.real_servers langchain --if-possible -- \
	  $(BIN)/python -m tools.real_servers node --if-possible -- \
	  $(BIN)/pytest -q -m "needs_triton or needs_milvus or needs_neo4j or needs_llm or needs_envoy or needs_litellm or needs_anthropic or needs_langchain or needs_node" tests
	@$(BIN)/python -m bench.triton_sweep --if-possible

test-faults: $(DEV_STAMP) ## What is long, whole: kill -9 again and again, new examples, every case of what make test samples
	@GROUNDTRAIL_TEST_WHOLE=1 GROUNDTRAIL_TEST_ON_DISK=1 GROUNDTRAIL_TEST_FAULT_ROUNDS=25 $(BIN)/pytest -q --timeout 900 tests/faults
	@GROUNDTRAIL_TEST_WHOLE=1 GROUNDTRAIL_TEST_EXPLORE=1 $(BIN)/pytest -q --timeout 900 tests/property
	@GROUNDTRAIL_TEST_WHOLE=1 $(BIN)/pytest -q --timeout 900 -m 'tenth or whole' --ignore tests/faults tests
	@$(BIN)/python -m bench linear

$(TRAINING_STAMP): $(BIN)/uv requirements-training.lock pyproject.toml
	@test -x $(TRAINING)/bin/python || $(PYTHON) -m venv $(TRAINING)
	@$(BIN)/uv pip install --quiet --python $(TRAINING)/bin/python --require-hashes -r requirements-training.lock
	@$(BIN)/uv pip install --quiet --python $(TRAINING)/bin/python --no-deps -e .
	@touch $@

training: $(TRAINING_STAMP) ## Set up the environment that trains and exports models (PyTorch, several GB)

test-training: $(TRAINING_STAMP) ## Run the tests of training and export, PyTorch included
	@$(TRAINING)/bin/pytest -q -n auto --dist loadfile tests/unit/training

clean: ## Remove what the targets above made, but no data
	rm -rf $(VENV) $(TRAINING) .cache dist .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis
