# Every target works in .venv of this checkout, which is created on demand. `make` alone lists the targets.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Fallback index for the CPU build of torch (Linux only; on other systems every build is a CPU build).
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

export TOPIC ?= Renaissance

# Experiments: LM=… SEARCH=… TOPICS=… SIZE=smoke|full, and further options of `storm experiment run` in MORE=….
SIZE ?= full
MORE ?=
STORM_DATA ?= $(firstword $(wildcard data ../shared/data) data)
export STORM_DATA
CHOICES = --size $(SIZE) $(if $(LM),--lm $(LM)) $(if $(SEARCH),--search $(SEARCH)) $(if $(TOPICS),--topics $(TOPICS)) $(MORE)
EXPERIMENT = @$(BIN)/storm experiment run
export LITELLM_LOCAL_MODEL_COST_MAP := True
# Downloads go to ./cache instead of the user's cache folder.
export STORM_HOME := $(CURDIR)
# Where it is set, every process that a test starts compiles the package anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup demo test test-core coverage check check-environments format docs notebooks dist assets freshwiki-data freshwiki freshwiki-outlines freshwiki-outline-models freshwiki-ablations freshwiki-report wikigenbench-data wikigenbench wikigenbench-writers wikigenbench-rankers wikigenbench-documents wikigenbench-report wiki-live storm-runs bench-speed bench-scale bench-store bench-screen bench-planted bench-labels bench-faults bench-fuzz training-tables clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F '\t' '{ printf "  make %-22s %s\n", $$1, $$2 }'

$(READY): pyproject.toml bench/pyproject.toml training/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is required: make PYTHON=/path/to/python3.11 …"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) …"
	@$(INSTALL) torch || $(INSTALL) torch --extra-index-url $(TORCH_INDEX)
	@$(INSTALL) --editable '.[dev]' --editable './bench[dev]' --editable './training[dev]'
	@# its bound on typer is that of its own command line, of which nothing is used that changed
	@$(INSTALL) --no-deps openapi-python-client
	@touch $@

setup: $(READY) ## create the environment (all other targets do so on demand)

demo: $(READY) ## make an extract from the embedded corpus, without a language model (TOPIC=…)
	@$(BIN)/storm assets pull
	@$(BIN)/storm write "$$TOPIC" --search wiki-leads

test: $(READY) ## run all tests (the pinned downloads are fetched once)
	@$(BIN)/storm assets pull --all
	@$(BIN)/pytest -rs --numprocesses 2 --dist loadfile bench/tests/e2e tests/e2e tests/browser
	@$(BIN)/pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder --durations 10 bench/tests/integration tests/integration bench/tests/unit training/tests tests/unit

test-core: $(READY) ## run the package's unit tests, while you work on it
	@$(BIN)/storm assets pull
	@HYPOTHESIS_PROFILE=quick $(BIN)/pytest -m "not slow" --numprocesses 3 --dist loadfile tests/unit

coverage: $(READY) ## run all tests with line and branch coverage (twice the time)
	@$(BIN)/storm assets pull --all
	@$(BIN)/pytest --cov --cov-report=term

check: $(READY) ## run ruff, check the formatting, run mypy --strict
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

check-environments: $(READY) ## install the wheel in clean environments and write an article in each (MORE="--embedded …"; needs uv)
	@PYTHONPATH=bench $(BIN)/python -m storm_benchmarks.environments $(MORE)

docs: $(READY) ## build the documentation's pages into build/site
	@$(INSTALL) --editable '.[docs]'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

notebooks: $(READY) ## execute the notebooks in examples/ and store their outputs
	@$(BIN)/storm assets pull
	@PYTHONPATH=bench $(BIN)/python -m storm_benchmarks.notebooks examples/*.ipynb

dist: $(READY) ## build the wheels and the source distributions of the package, its bench and its training into dist/
	@! grep -q 'storm-pipeline\.example' pyproject.toml bench/pyproject.toml bench/README.md training/pyproject.toml training/README.md || { echo "first replace https://storm-pipeline.example in pyproject.toml and in pyproject.toml and README.md of bench/ and training/ by the repository's address"; exit 1; }
	@$(BIN)/python -m hatchling build
	@cd bench && ../$(BIN)/python -m hatchling build --directory ../dist
	@cd training && ../$(BIN)/python -m hatchling build --directory ../dist

format: $(READY) ## fix and format the code with ruff
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

assets: $(READY) ## fetch every pinned download into cache/models
	@$(BIN)/storm assets pull --all

freshwiki-data: $(READY) ## build a FreshWiki data set for given months (MONTHS="2026-09 2026-10") from Wikimedia
	@$(BIN)/storm experiment data freshwiki $(or $(MONTHS),$(error name the months, such as MONTHS="2026-09 2026-10")) --to data/freshwiki $(MORE)

freshwiki: $(READY) ## compare STORM with its paper's baselines (LM=… SEARCH=… TOPICS=… SIZE=smoke|full)
	$(EXPERIMENT) experiments/freshwiki.toml $(CHOICES)

freshwiki-outlines: $(READY) ## compare their outlines (options as above)
	$(EXPERIMENT) experiments/freshwiki-outlines.toml $(CHOICES)

freshwiki-outline-models: $(READY) ## compare the outlines of two models (options as above)
	$(EXPERIMENT) experiments/freshwiki-outline-models.toml $(CHOICES)

freshwiki-ablations: $(READY) ## run STORM's ablations (options as above)
	$(EXPERIMENT) experiments/freshwiki-ablations.toml $(CHOICES)

freshwiki-report: $(READY) ## rewrite the reports of these experiments, finished or not
	@for folder in runs/experiments/freshwiki*; do test ! -d "$$folder" || $(BIN)/storm experiment report "$$folder"; done

wikigenbench-data: $(READY) ## build a WikiGenBench data set for given months (MONTHS=… SEARCH=…) from Wikimedia and the web
	@$(BIN)/storm experiment data wikigenbench $(or $(MONTHS),$(error name the months, such as MONTHS="2026-09 2026-10")) --to data/wikigenbench $(if $(SEARCH),--search $(SEARCH)) $(MORE)

wikigenbench: $(READY) ## compare RR, RPRR, oRAG and STORM on each topic's documents (LM=… TOPICS=… SIZE=smoke|embedded|lengths|full)
	$(EXPERIMENT) experiments/wikigenbench.toml $(CHOICES)

wikigenbench-writers: $(READY) ## compare RR and RPRR by several models, unchecked (options as above)
	$(EXPERIMENT) experiments/wikigenbench-writers.toml $(CHOICES)

wikigenbench-rankers: $(READY) ## compare rankers in RR (options as above)
	$(EXPERIMENT) experiments/wikigenbench-rankers.toml $(CHOICES)

wikigenbench-documents: $(READY) ## compare numbers and sources of documents in RR (options as above)
	$(EXPERIMENT) experiments/wikigenbench-documents.toml $(CHOICES)

wikigenbench-report: $(READY) ## rewrite the reports of these experiments, finished or not
	@for folder in runs/experiments/wikigenbench*; do test ! -d "$$folder" || $(BIN)/storm experiment report "$$folder"; done

wiki-live: $(READY) ## compare STORM with eleven deep-research systems (LM=… TOPICS=… SIZE=smoke|embedded|systems|full)
	$(EXPERIMENT) experiments/wiki-live.toml $(CHOICES)

storm-runs: $(READY) ## score the official system's recorded articles
	$(EXPERIMENT) experiments/storm-runs.toml $(CHOICES)

bench-speed: $(READY) ## compare a run's wall time with its critical path, and measure prefix-cache hits
	@PYTHONPATH=bench $(BIN)/python -m storm_benchmarks.speed

bench-scale: $(READY) ## write 24 topics by processes, and on a simulated cluster of which a node dies (MORE=…)
	@PYTHONPATH=bench $(BIN)/python -m storm_benchmarks.scale processes $(MORE)
	@PYTHONPATH=bench $(BIN)/python -m storm_benchmarks.scale nodes $(MORE)

bench-store: $(READY) ## measure the index of a large corpus (SIZE=200k|1m; encodes for hours, once)
	@PYTHONPATH=bench $(BIN)/python -m storm_benchmarks.store --size $(if $(filter full,$(SIZE)),200k,$(SIZE))

bench-screen: $(READY) ## what the screen does to sentences labelled by people (STORM_DATA=…)
	@PYTHONPATH=bench $(BIN)/python -m storm_benchmarks.screen

bench-planted: $(READY) ## planted errors that the screen and judges notice (STORM_DATA=…)
	@PYTHONPATH=bench $(BIN)/python -m storm_benchmarks.planted

bench-labels: $(READY) ## add up the labels that readers gave
	@PYTHONPATH=bench $(BIN)/python -m storm_benchmarks.labels

bench-faults: $(READY) ## inject faults into runs: kills, full disks, failing services
	@PYTHONPATH=bench $(BIN)/python -m storm_benchmarks.faults

bench-fuzz: $(READY) ## random replies, hits, whole documents, run folders, configuration, and requests (MINUTES=5)
	@PYTHONPATH=bench $(BIN)/python -m storm_benchmarks.fuzz --minutes $(or $(MINUTES),5)

training-tables: $(READY) ## train the models of FoRAG's tables in a synthetic world (MORE="--threads 2")
	@$(BIN)/python -m storm_training tables training/recipes/tables.toml --to runs/training/tables $(MORE)

clean: ## remove the environment and the downloads (runs/ is kept)
	rm -rf $(VENV) build ./*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find cache -mindepth 1 ! -name .gitkeep -delete
