# fsdash: `make` alone lists what can be done. Works with GNU make 3.81 and newer.
VENV ?= .venv
HOST ?= 127.0.0.1
PORT ?= 8501
WORKERS ?= 2
PYTEST_ARGS ?=

PY  := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
export PYTHON

# A stamp is newer than what it was installed from, so a second run installs nothing.
RUN_STAMP   := $(VENV)/.installed-run
DEV_STAMP   := $(VENV)/.installed-dev
BENCH_STAMP := $(VENV)/.installed-bench
KERNELS     := $(VENV)/.compiled

# Every process is one worker: threaded BLAS inside two workers is many times slower, not faster.
test bench room reproduce: export OPENBLAS_NUM_THREADS = 1
test bench room reproduce: export OMP_NUM_THREADS = 1
test bench room reproduce: export OMP_WAIT_POLICY = passive
test bench room reproduce: export NUMBA_NUM_THREADS = 1

.DEFAULT_GOAL := help
.PHONY: help run test browser lint bench room reproduce clean

help: ## list these goals
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo "  make run HOST=0.0.0.0 PORT=9000    serves everyone on the network"
	@echo "  make test PYTEST_ARGS='-k home'    passes arguments to pytest"

run: $(KERNELS) ## start the dashboard (installs what it needs the first time)
	@$(PY) -m fsdash dashboard --host '$(HOST)' --port '$(PORT)'

test: $(DEV_STAMP) $(KERNELS) browser ## run all tests, those in a real browser too
	$(PY) -m pytest -n $(WORKERS) --dist loadgroup $(PYTEST_ARGS)

browser: $(DEV_STAMP) ## find a Chromium for the tests, or install one
	@$(PY) tools/browser.py

lint: $(DEV_STAMP) ## check the code with ruff
	$(PY) -m ruff check .

bench: $(BENCH_STAMP) $(DEV_STAMP) $(KERNELS) browser ## time solvers, samplers, experiments, pages
	$(PY) -m benchmarks.solve
	$(PY) -m benchmarks.sampled
	$(PY) -m benchmarks.experiments
	$(PY) -m benchmarks.overhead
	$(PY) -m benchmarks.pages

room: $(DEV_STAMP) $(KERNELS) browser ## time a room of 30 browser sessions
	$(PY) -m benchmarks.room

reproduce: $(KERNELS) ## compute the paper's figures and claims again, into reproduction/
	$(PY) -m fsdash reproduce all --workers $(WORKERS)

clean: ## remove the virtual environment and everything generated
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PY):
	@python=$$(sh tools/find-python) && echo "Creating $(VENV) with $$python" && "$$python" -m venv $(VENV)

$(RUN_STAMP): requirements.txt pyproject.toml | $(PY)
	@echo "Installing packages into $(VENV) (a minute or two, only when the requirements change)"
	@$(PIP) -r requirements.txt -e .
	@touch $@

# Numba looks at a function's own file only: when one of them changes, all are compiled anew.
$(KERNELS): $(shell grep -rlE '^@(jit|inlined)' fsdash --include='*.py') $(RUN_STAMP)
	@echo "Compiling the numerical kernels"
	@find fsdash -name '*.nb[ic]' -delete
	@$(PY) -m fsdash solve inventory --method fsvi > /dev/null
	@$(PY) -m fsdash constants inventory > /dev/null
	@for domain in inventory gridworld pricing; do \
	  $(PY) -m fsdash run $$domain --algorithm e-vi,e-fsvi,e-qi,slow-agnostic,lin-fsfvi -T 2 \
	    --iterations 1 --replications 1 --with M=1 --with M_u=1 > /dev/null || exit 1; \
	done
	@touch $@

$(DEV_STAMP): requirements-dev.txt $(RUN_STAMP)
	@echo "Installing the packages for the tests into $(VENV)"
	@$(PIP) -r requirements-dev.txt
	@touch $@

$(BENCH_STAMP): requirements-bench.txt $(RUN_STAMP)
	@echo "Installing the packages for the benchmarks into $(VENV)"
	@$(PIP) -r requirements-bench.txt
	@touch $@
