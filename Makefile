# Every target works in .venv of this checkout, which is made on demand. `make` alone lists the targets.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Where pip finds the CPU build of torch when its own sources have none (Linux only; elsewhere every build is one).
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

TOPIC ?= Renaissance

# Experiments: LM=… SEARCH=… TOPICS=… SIZE=smoke|full, and whatever else `storm experiment run` takes in MORE=….
SIZE ?= full
MORE ?=
STORM_DATA ?= $(firstword $(wildcard data ../shared/data) data)
export STORM_DATA
CHOICES = --size $(SIZE) $(if $(LM),--lm $(LM)) $(if $(SEARCH),--search $(SEARCH)) $(if $(TOPICS),--topics $(TOPICS)) $(MORE)
EXPERIMENT = @$(BIN)/storm experiment run
export LITELLM_LOCAL_MODEL_COST_MAP := True

.PHONY: help setup demo test coverage check format assets freshwiki-data freshwiki freshwiki-outlines freshwiki-ablations freshwiki-report wikigenbench-data wikigenbench wikigenbench-rankers wikigenbench-documents wikigenbench-report wiki-live storm-runs conner bench-parse bench-speed bench-store bench-retrieval bench-extraction bench-sources bench-judges bench-metrics bench-datasets bench-statements bench-faults bench-fuzz bench-lengths clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F '\t' '{ printf "  make %-22s %s\n", $$1, $$2 }'

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11 …"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) …"
	@$(INSTALL) torch || $(INSTALL) torch --extra-index-url $(TORCH_INDEX)
	@$(INSTALL) --editable '.[dev]'
	@touch $@

setup: $(READY) ## make the environment (done on demand by all others)

demo: $(READY) ## write an article with the embedded model and corpus (TOPIC=…)
	@$(BIN)/storm assets pull
	@$(BIN)/storm write "$(TOPIC)" --search wiki-leads --perspectives 2 --turns 2 --top-k 5 --answer-facts 6 --section-facts 6

test: $(READY) ## run all tests (the pinned downloads are fetched once)
	@$(BIN)/storm assets pull --all
	@$(BIN)/pytest tests/e2e
	@$(BIN)/pytest --numprocesses 2 --dist loadfile --durations 10 tests/integration tests/unit

coverage: $(READY) ## the same tests, telling which lines they reach (twice the time)
	@$(BIN)/storm assets pull --all
	@$(BIN)/pytest --cov --cov-report=term

check: $(READY) ## ruff, formatting and mypy --strict
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(READY) ## let ruff rewrite the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

assets: $(READY) ## fetch every pinned download into cache/models
	@$(BIN)/storm assets pull --all

freshwiki-data: $(READY) ## build a FreshWiki of any months (MONTHS="2026-09 2026-10"); asks Wikimedia
	@$(BIN)/storm experiment data freshwiki $(or $(MONTHS),$(error name the months, such as MONTHS="2026-09 2026-10")) --to data/freshwiki $(MORE)

freshwiki: $(READY) ## STORM beside its paper's baselines (LM=… SEARCH=… TOPICS=… SIZE=smoke|full)
	$(EXPERIMENT) experiments/freshwiki.toml $(CHOICES)

freshwiki-outlines: $(READY) ## their outlines alone (as above)
	$(EXPERIMENT) experiments/freshwiki-outlines.toml $(CHOICES)

freshwiki-ablations: $(READY) ## STORM without its parts (as above)
	$(EXPERIMENT) experiments/freshwiki-ablations.toml $(CHOICES)

freshwiki-report: $(READY) ## write the reports of these experiments anew, as far as they are
	@for folder in runs/experiments/freshwiki*; do test ! -d "$$folder" || $(BIN)/storm experiment report "$$folder"; done

wikigenbench-data: $(READY) ## build a WikiGenBench of any months (MONTHS=… SEARCH=…); asks Wikimedia and the web
	@$(BIN)/storm experiment data wikigenbench $(or $(MONTHS),$(error name the months, such as MONTHS="2026-09 2026-10")) --to data/wikigenbench $(if $(SEARCH),--search $(SEARCH)) $(MORE)

wikigenbench: $(READY) ## RR, RPRR, oRAG and STORM over each topic's documents (LM=… TOPICS=… SIZE=smoke|embedded|full)
	$(EXPERIMENT) experiments/wikigenbench.toml $(CHOICES)

wikigenbench-rankers: $(READY) ## RR by ranker (as above)
	$(EXPERIMENT) experiments/wikigenbench-rankers.toml $(CHOICES)

wikigenbench-documents: $(READY) ## RR by number and source of documents (as above)
	$(EXPERIMENT) experiments/wikigenbench-documents.toml $(CHOICES)

wikigenbench-report: $(READY) ## write the reports of these experiments anew, as far as they are
	@for folder in runs/experiments/wikigenbench*; do test ! -d "$$folder" || $(BIN)/storm experiment report "$$folder"; done

wiki-live: $(READY) ## STORM beside eleven deep-research systems (LM=… TOPICS=… SIZE=smoke|embedded|systems|full)
	$(EXPERIMENT) experiments/wiki-live.toml $(CHOICES)

storm-runs: $(READY) ## the official system's recorded articles, scored
	$(EXPERIMENT) experiments/storm-runs.toml $(CHOICES)

conner: $(READY) ## knowledge of NQ and WoW from CONNER's six perspectives, and its tables (MORE="--items 100 …")
	@$(BIN)/storm experiment conner run $(MORE)
	@$(BIN)/storm experiment conner report

bench-parse: $(READY) ## share of typed replies of the embedded model that parse
	@$(BIN)/python -m benchmarks.parsing

bench-speed: $(READY) ## wall time of a run beside its longest chain of calls, and prefix-cache share
	@$(BIN)/python -m benchmarks.speed

bench-store: $(READY) ## the reference store beside plain faiss and sentence-transformers
	@$(BIN)/storm assets pull
	@$(BIN)/python -m benchmarks.store scale --model cache/models/all-MiniLM-L6-v2 --leads cache/models/wikipedia-vital-article-leads-en.json --snippets 10000

bench-retrieval: $(READY) ## rankings over Cranfield and WikiGenBench (STORM_DATA=… says where they lie)
	@$(BIN)/storm assets pull
	@$(BIN)/python -m benchmarks.retrieval

bench-extraction: $(READY) ## text of web pages beside trafilatura alone (STORM_DATA=…)
	@$(BIN)/python -m benchmarks.extraction

bench-judges: $(READY) ## what judges of support are worth beside people's labels (STORM_DATA=…)
	@$(BIN)/python -m benchmarks.judges calibrate

bench-metrics: $(READY) ## metrics without a judge over recorded and human articles (STORM_DATA=…)
	@$(BIN)/python -m benchmarks.metrics

bench-datasets: $(READY) ## the published data sets beside the papers' tables (STORM_DATA=…)
	@$(BIN)/python -m benchmarks.datasets

bench-statements: $(READY) ## what the screen of statement coverage is worth (STORM_DATA=…)
	@$(BIN)/storm assets pull
	@$(BIN)/python benchmarks/statements.py

bench-faults: $(READY) ## runs that are killed, starved and lied to
	@$(BIN)/python -m benchmarks.faults

bench-fuzz: $(READY) ## random replies, hits, documents and run folders (MINUTES=5)
	@$(BIN)/python -m benchmarks.fuzz --minutes $(or $(MINUTES),5)

bench-lengths: $(READY) ## time against length of what reads replies and pages
	@$(BIN)/python -m benchmarks.lengths

bench-sources: $(READY) ## what the source filter keeps out of real search results (STORM_DATA=…)
	@$(BIN)/python -m benchmarks.source_filter

clean: ## remove the environment and the downloads (runs/ is kept)
	rm -rf $(VENV) build ./*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find cache -mindepth 1 ! -name .gitkeep -delete
