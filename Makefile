# Every target makes what it needs: Python 3.11+ and make are enough to start.
#
#   make demo      install, study the bundled penguins table, name the report
#   make test      lint, compile the kernels, run the tests and the examples in the docstrings
#   make test-all  the same with the slow tests, with fresh random examples and in the tools around
#                  scikit-learn (shap, MLflow and others), which it installs first
#   make test-deep the tests of the deep models; installs PyTorch first
#   make bench     ours against the peers, as ratios
#   make site      the documentation as HTML in build/site/html; nothing is fetched
#   make lint      ruff, stubs, mypy, import-linter
#   make mutants   wrong changes of the source at random, and whether the tests see them
#   make check     lint, and the tests that the change at hand can affect
#   make estimator FAMILY=discriminant NAME=PassiveAggressiveClassifier: the files of a new estimator
#   make stubs     what editors see, renewed from the tables of public names
#   make audit     sbom.json (CycloneDX) from what is installed, and pip check; asks no server
#   make dist      sdist and wheel, tried in clean environments of every Python found
#   make clean     remove the environment and everything that was generated
#
# Another interpreter: make PYTHON=python3.12 test
#
# Where plain pip would fetch PyTorch's build for CUDA (Linux, gigabytes), name its index of builds
# for the CPU:
#   make PIP_TORCH='--index-url https://download.pytorch.org/whl/cpu' test-deep

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

PIP_TORCH ?=
TORCH ?= torch==2.13.0  # what the tests run with; the package takes any from 2.5 on

# Compiled kernels are in src/pellucid/__kernels__: the tests, the demo and your own scripts share
# them, and `pellucid warm` makes them before the test workers start, so that no two of them compile
# the same one.
#
# Each test worker gets two threads. One would never run the thread pool; all cores for every
# worker would put cores squared threads on the machine. Tests that compare thread counts set
# them with limit_threads.
THREADS := PELLUCID_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 OMP_NUM_THREADS=2
PYTEST := $(THREADS) $(BIN)/python -m pytest -n auto --maxprocesses=8 --dist=worksteal \
  --doctest-modules --ignore-glob='*/conftest.py' tests src

# What needs PyTorch, by the names of its folders, files and classes.
NEEDS_TORCH := deep or torch or Convolutional or Recurrent or Transformer or GraphNeural or Adversarial \
  or attention or embeddings or feature_maps

.PHONY: dist demo test test-all test-deep ready bench site check mutants stubs audit estimator lint warm clean
.DEFAULT_GOAL := test

demo: $(VENV)/.run
	$(BIN)/pellucid learn src/pellucid/data/tables/penguins.csv --target species \
	  --out pellucid-demo --overwrite

test: ready
	$(PYTEST) -m "not slow"

test-all: $(VENV)/.tools
	@$(MAKE) --no-print-directory ready
	PELLUCID_TOOLS=1 $(PYTEST) --hypothesis-profile=fresh

test-deep: $(VENV)/.deep
	$(BIN)/pellucid warm --quiet
	PELLUCID_DEEP=1 $(PYTEST) -m "not slow" -k "$(NEEDS_TORCH)"

# Compiling keeps every core busy; checking waits for one and for the disk.
ready: $(VENV)/.test
	@$(MAKE) --no-print-directory -j2 warm lint

bench: $(VENV)/.bench
	$(BIN)/pellucid warm --quiet
	$(BIN)/python -m benchmarks

# Pages, pictures and the lab's pages are made here; Sphinx turns a warning into an error.
site: $(VENV)/.site
	$(BIN)/pellucid warm --quiet
	PELLUCID_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tools.website.build

# Lint, types, layers and the tests that the change at hand can affect.
check: $(VENV)/.test
	$(THREADS) $(BIN)/python tools/check.py

# make mutants [COUNT=40] [SEED=0] [JOBS=2] [ONLY="evaluation study/judging"]
COUNT ?= 40
SEED ?= 0
mutants: $(VENV)/.test warm
	$(BIN)/python tests/mutants --count $(COUNT) --seed $(SEED) $(if $(JOBS),--jobs $(JOBS)) \
	  $(if $(ONLY),--only $(ONLY))

# The static face of the lazy packages, for editors and type checkers.
stubs: $(VENV)/.test
	$(BIN)/python tools/stubs.py

audit: $(VENV)/.test
	$(BIN)/python tools/audit.py

# The wheel, and whether it works where nothing else is.
dist: $(VENV)/.made
	$(BIN)/python tools/dist.py

# make estimator FAMILY=discriminant NAME=PassiveAggressiveClassifier [KIND=classifier] [SUB=editing]
estimator: $(VENV)/.test
	$(BIN)/python tools/estimator.py $(FAMILY) $(NAME) --kind=$(KIND) --sub=$(SUB)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/stubs.py --check
	$(BIN)/mypy
	$(BIN)/lint-imports

warm: $(VENV)/.test
	$(BIN)/pellucid warm

clean:
	rm -rf $(VENV) build dist pellucid-demo .pytest_cache .mypy_cache .ruff_cache \
	  .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf src/pellucid/__kernels__
	find . -name '*.egg-info' -type d -prune -exec rm -rf {} +

# An environment, once; then a stamp for each set of packages, renewed when pyproject.toml changes.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Pellucid needs Python 3.11 or newer as '$(PYTHON)'; name another one: make PYTHON=python3.12" >&2; \
	  exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) cannot make an environment: install its venv module (Debian, Ubuntu: apt install python3-venv)" >&2; \
	  exit 1; }
	@touch $@

$(VENV)/.run: $(VENV)/.made pyproject.toml
	$(PIP) -e .
	@touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml
	$(PIP) -e '.[test]'
	@touch $@ $(VENV)/.run

$(VENV)/.tools: $(VENV)/.made pyproject.toml
	$(PIP) -e '.[test,tools]'
	@touch $@ $(VENV)/.test $(VENV)/.run

$(VENV)/.deep: $(VENV)/.test
	$(PIP) $(PIP_TORCH) $(TORCH)
	@touch $@

$(VENV)/.site: $(VENV)/.made pyproject.toml
	$(PIP) -e '.[site]'
	@touch $@ $(VENV)/.run

$(VENV)/.bench: $(VENV)/.made pyproject.toml
	$(PIP) -e '.[bench]'
	@touch $@ $(VENV)/.test $(VENV)/.run
