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
export LITELLM_LOCAL_MODEL_COST_MAP := True

.PHONY: help setup demo test check format assets bench-parse bench-speed bench-store bench-retrieval bench-extraction bench-sources bench-judges bench-metrics bench-datasets bench-faults clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F '\t' '{ printf "  make %-16s %s\n", $$1, $$2 }'

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

bench-parse: $(READY) ## share of typed replies of the embedded model that parse
	@$(BIN)/python benchmarks/parsing.py

bench-speed: $(READY) ## wall time of a run beside its longest chain of calls, and prefix-cache share
	@$(BIN)/python benchmarks/speed.py

bench-store: $(READY) ## the reference store beside plain faiss and sentence-transformers
	@$(BIN)/storm assets pull
	@$(BIN)/python benchmarks/store.py scale --model cache/models/all-MiniLM-L6-v2 --leads cache/models/wikipedia-vital-article-leads-en.json --snippets 10000

bench-retrieval: $(READY) ## rankings over Cranfield and WikiGenBench (STORM_DATA=… says where they lie)
	@$(BIN)/storm assets pull
	@$(BIN)/python benchmarks/retrieval.py

bench-extraction: $(READY) ## text of web pages beside trafilatura alone (STORM_DATA=…)
	@$(BIN)/python benchmarks/extraction.py

bench-judges: $(READY) ## what judges of support are worth beside people's labels (STORM_DATA=…)
	@$(BIN)/python benchmarks/judges.py calibrate

bench-metrics: $(READY) ## metrics without a judge over recorded and human articles (STORM_DATA=…)
	@$(BIN)/python benchmarks/metrics.py

bench-datasets: $(READY) ## the published data sets beside the papers' tables (STORM_DATA=…)
	@$(BIN)/python benchmarks/datasets.py

bench-faults: $(READY) ## runs that are killed, starved and lied to
	@$(BIN)/python benchmarks/faults.py

bench-sources: $(READY) ## what the source filter keeps out of real search results (STORM_DATA=…)
	@$(BIN)/python benchmarks/source_filter.py

clean: ## remove the environment and the downloads (runs/ is kept)
	rm -rf $(VENV) build ./*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find cache -mindepth 1 ! -name .gitkeep -delete
