# fsdash: `make` alone lists the goals. Works with GNU make 3.81 and newer.
VENV ?= .venv
HOST ?= 127.0.0.1
PORT ?= 8501
DASHBOARD_ARGS ?=
WORKERS ?= 2
PYTEST_ARGS ?=
QUICK := not browser and not processes and not slow and not long and not packaging and not services

PY  := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
export PYTHON

# A stamp is newer than the files it was made from, so a second run installs nothing.
RUN_STAMP   := $(VENV)/.installed-run
DEV_STAMP   := $(VENV)/.installed-dev
BENCH_STAMP := $(VENV)/.installed-bench
SERVICES_STAMP := $(VENV)/.installed-services
MINUTES ?= 10
CHAOS_ARGS ?=
KERNELS     := $(VENV)/.compiled

# Every process is one worker. Threaded BLAS inside two workers is many times slower, not faster.
ONE_THREAD := test test-fast test-long test-lowest test-services chaos soak bench room reproduce
$(ONE_THREAD): export OPENBLAS_NUM_THREADS = 1
$(ONE_THREAD): export OMP_NUM_THREADS = 1
$(ONE_THREAD): export OMP_WAIT_POLICY = passive
$(ONE_THREAD): export NUMBA_NUM_THREADS = 1

.DEFAULT_GOAL := help
.PHONY: help run test test-fast test-long test-lowest test-services chaos soak browser lint types docs bench room reproduce clean

help: ## list these goals
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo "  make run HOST=0.0.0.0 PORT=9000    serves everyone on the network"
	@echo "  make test PYTEST_ARGS='-k home'    passes arguments to pytest"
	@echo "  make run DASHBOARD_ARGS='--data ~/runs --no-browser'"

run: $(KERNELS) ## start the dashboard (installs what it needs the first time)
	@$(PY) -m fsdash dashboard --host '$(HOST)' --port '$(PORT)' $(DASHBOARD_ARGS)

test: $(DEV_STAMP) $(KERNELS) browser ## run the tests, including those in a real browser
	$(PY) -m pytest -n $(WORKERS) --dist loadfile -m 'not long and not services' $(PYTEST_ARGS)

test-long: $(DEV_STAMP) $(KERNELS) browser ## run the long tests: all screens and themes, contrast, 30 browsers
	$(PY) -m pytest -n $(WORKERS) --dist loadfile -m long $(PYTEST_ARGS)

test-fast: $(DEV_STAMP) $(KERNELS) ## run the quick tests: no browser, no processes (under 90 s)
	$(PY) -m pytest -n $(WORKERS) --dist loadfile -m '$(QUICK)' $(PYTEST_ARGS)

test-lowest: ## run the quick tests with the lowest versions that requirements.txt allows
	@python=$$(sh tools/find-python) && "$$python" -m venv $(VENV)-lowest
	@$(VENV)-lowest/bin/python tools/lowest.py > $(VENV)-lowest/constraints.txt
	$(VENV)-lowest/bin/python -m pip install --quiet --disable-pip-version-check \
	  -c $(VENV)-lowest/constraints.txt -e '.[test]'
	$(VENV)-lowest/bin/python -m pytest -n $(WORKERS) --dist loadfile -m '$(QUICK)' $(PYTEST_ARGS)

test-services: $(DEV_STAMP) $(SERVICES_STAMP) $(KERNELS) browser ## run the tests on PostgreSQL and Dask
	@$(PY) -m tools.postgres
	$(PY) -m pytest -n $(WORKERS) --dist loadfile -m services tests/services tests/runs $(PYTEST_ARGS)

chaos: $(DEV_STAMP) $(SERVICES_STAMP) $(KERNELS) ## kill servers, workers and databases for MINUTES
	@$(PY) -m tools.postgres
	$(PY) -m tools.chaos --minutes $(MINUTES) --postgres --dask $(CHAOS_ARGS)

soak: $(DEV_STAMP) $(KERNELS) ## fuzz commands, links and imported files
	$(PY) -m tools.soak

browser: $(DEV_STAMP) ## find a Chromium for the tests, or install one
	@$(PY) tools/browser.py

lint: $(DEV_STAMP) ## check the code and its format with ruff
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(DEV_STAMP) ## check the types with mypy
	$(PY) -m mypy

docs: $(DEV_STAMP) ## build the documentation into site/
	$(PY) -m mkdocs build --strict

bench: $(BENCH_STAMP) $(DEV_STAMP) $(KERNELS) browser ## time solvers, samplers, experiments, pages
	$(PY) -m benchmarks.solve
	$(PY) -m benchmarks.sampled
	$(PY) -m benchmarks.evaluation
	$(PY) -m benchmarks.own_models
	$(PY) -m benchmarks.building
	$(PY) -m benchmarks.choice
	$(PY) -m benchmarks.experiments
	$(PY) -m benchmarks.overhead
	$(PY) -m benchmarks.pages

room: $(DEV_STAMP) $(KERNELS) browser ## time a room of 100 visitors for 12 minutes
	$(PY) -m benchmarks.room

reproduce: $(KERNELS) ## compute the paper's figures and claims again, into reproduction/
	$(PY) -m fsdash reproduce all --workers $(WORKERS)

clean: ## remove the virtual environment and everything generated
	rm -rf $(VENV) $(VENV)-lowest .pytest_cache .ruff_cache .mypy_cache .hypothesis
	rm -rf build dist site *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PY):
	@python=$$(sh tools/find-python) && echo "Creating $(VENV) with $$python" && "$$python" -m venv $(VENV)

$(RUN_STAMP): requirements.txt pyproject.toml | $(PY)
	@echo "Installing packages into $(VENV) (a minute or two, only when the requirements change)"
	@$(PIP) -r requirements.txt -e .
	@touch $@

# The command knows by itself which kernels are up to date; the stamp only saves starting it.
$(KERNELS): $(shell grep -rlE '^@(jit|inlined)' fsdash --include='*.py') $(RUN_STAMP)
	@$(PY) -m fsdash compile
	@touch $@

# The first import of quantecon writes its compiled functions. Two tests that do it at the same time
# leave a damaged cache, on which every later import aborts; so one process does it here.
$(DEV_STAMP): requirements-dev.txt $(RUN_STAMP)
	@echo "Installing the packages for the tests into $(VENV)"
	@$(PIP) -r requirements-dev.txt
	@$(PY) -c 'import quantecon'
	@touch $@

$(SERVICES_STAMP): requirements-services.txt $(RUN_STAMP)
	@echo "Installing Dask and the driver for PostgreSQL into $(VENV)"
	@$(PIP) -r requirements-services.txt
	@touch $@

$(BENCH_STAMP): requirements-bench.txt $(RUN_STAMP)
	@echo "Installing the packages for the benchmarks into $(VENV)"
	@$(PIP) -r requirements-bench.txt
	@touch $@
