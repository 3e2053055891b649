# Everything sets itself up: `make demo` and `make test` work in a fresh clone with Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src -name '*.py' -o -name '*.cpp' -o -name '*.hpp')

.PHONY: demo docs dist test test-numpy test-floor test-sanitize unchanged-record unchanged-compare lint bench bench-classify bench-defaults bench-choices bench-seeds bench-battery bench-growth bench-systems bench-million bench-massive bench-predict-files bench-peers bench-history reproduce reproduce-full reproduce-variants clean setup bench-shortlist bench-cli

setup: $(VENV)/installed

$(VENV)/tools:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.26" "ninja>=1.11"
	touch $@

$(VENV)/dependencies: $(VENV)/tools pyproject.toml
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[dev]" -Cbuild-dir=build/dev
	touch $@

# An editable install knows the files it was made with, so it is made again when one comes, goes or changes.
$(VENV)/installed: $(VENV)/dependencies CMakeLists.txt $(SOURCES)
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable . -Cbuild-dir=build/dev
	touch $@

demo: setup
	$(BIN)/python examples/demo.py

# Two workers share the cores; a BLAS with threads of its own in each would be in their way.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

test: setup lint
	$(PYTEST)

# Without the native core: the rooms that compute with it, and what is learned by it.
NUMPY_TESTS := $(addprefix tests/, bounds contract dictionary engine kernels losses native papers property pursuit stopping) \
	tests/learning/test_learned_scales.py tests/learning/test_refinement.py tests/estimators/test_fitting.py

test-numpy: setup
	KERNELPURSUIT_BACKEND=numpy $(PYTEST) $(NUMPY_TESTS)

# The same tests with the oldest versions that pyproject.toml declares, in an environment of their own.
FLOOR := .venv-floor
$(FLOOR)/installed: pyproject.toml tests/floor_versions.py CMakeLists.txt $(SOURCES)
	$(PYTHON) -m venv $(FLOOR)
	$(FLOOR)/bin/python -m pip install --quiet --upgrade pip
	$(FLOOR)/bin/python -m pip install --quiet "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.26" "ninja>=1.11"
	$(FLOOR)/bin/python tests/floor_versions.py > $(FLOOR)/constraints.txt
	$(FLOOR)/bin/python -m pip install --quiet --no-build-isolation --editable ".[test]" -c $(FLOOR)/constraints.txt -Cbuild-dir=build/floor
	touch $@

test-floor: $(FLOOR)/installed
	OPENBLAS_NUM_THREADS=1 $(FLOOR)/bin/python -m pytest -n 2

# The native tests under AddressSanitizer and UndefinedBehaviorSanitizer.
test-sanitize: setup
	tests/native/run_sanitized.sh

# Before and after a refactoring: record a broad set of fits in FILE, and compare with it; see tests/unchanged/record.py.
unchanged-record: setup
	$(BIN)/python tests/unchanged/record.py $(FILE)

unchanged-compare: setup
	$(BIN)/python tests/unchanged/record.py --compare $(FILE)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The documentation as a site in build/site, read from the folder; a warning is an error.
$(VENV)/docs: $(VENV)/dependencies | $(VENV)/installed
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[docs]" -Cbuild-dir=build/dev
	touch $@

docs: setup $(VENV)/docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/site
	@echo "read build/site/index.html"

# All checks of a release, its source distribution and its wheels for this machine; see docs/releasing.md.
dist: setup
	release/check.sh

bench: setup
	$(BIN)/python benchmarks/run.py

$(VENV)/bench: $(VENV)/dependencies | $(VENV)/installed
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[bench]" -Cbuild-dir=build/dev
	touch $@

# The defaults against SVR, Nyström features, LightGBM and SGPR; takes hours, and goes on where it was stopped.
bench-defaults: setup $(VENV)/bench
	PYTHONPATH=. $(BIN)/python benchmarks/defaults.py

# Classification against SVC, Nyström features, LightGBM and logistic regression; goes on where it was stopped.
bench-classify: setup $(VENV)/bench
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 PYTHONPATH=. $(BIN)/python benchmarks/classify.py
	PYTHONPATH=. $(BIN)/python benchmarks/classify.py --write

# The defaults with twenty seeds on every data set; goes on where it was stopped.
bench-seeds: setup
	PYTHONPATH=. $(BIN)/python benchmarks/seeds.py --write

# What else the defaults could have been, over all data sets.
bench-choices: setup
	PYTHONPATH=. $(BIN)/python benchmarks/choices.py

# The defaults on generated functions, beside simple models; takes hours, and goes on where it was stopped.
bench-battery: setup
	OPENBLAS_NUM_THREADS=1 PYTHONPATH=. $(BIN)/python benchmarks/battery.py
	PYTHONPATH=. $(BIN)/python benchmarks/battery.py --write

# More than 512 atoms on generated functions: errors and times; goes on where it was stopped.
bench-growth: setup
	OPENBLAS_NUM_THREADS=1 PYTHONPATH=. $(BIN)/python benchmarks/growth.py --write

# The systems of the papers beside the default, on all data sets; takes hours, and goes on where it was stopped.
# `python benchmarks/five_papers.py --learned` does the same with learned scales.
bench-systems: setup
	OPENBLAS_NUM_THREADS=1 PYTHONPATH=. $(BIN)/python benchmarks/five_papers.py

# A default fit of a million rows beside Nyström features: time, memory, error.
bench-million: setup
	$(BIN)/python benchmarks/million.py

# Fits of up to ten million rows, in memory and from files, and live data: the figures of docs/massive-{fits,live}.md.
bench-massive: setup
	$(BIN)/python -m benchmarks.massive

# Ten million rows predicted from a Parquet file to another: time beside its parts, and memory.
bench-predict-files: setup
	$(BIN)/python benchmarks/predict_files.py

# The command line: reading of CSV beside pyarrow alone, and the time of --help.
bench-cli: setup
	$(BIN)/python benchmarks/cli.py

# Shortlists beside the exact loop: times, and errors on four data sets; the figures of docs/massive-fits.md.
bench-shortlist: setup
	PYTHONPATH=. $(BIN)/python benchmarks/shortlist.py

# Ours beside twelve peers on thirty sets: docs/peers.md; takes days for all splits, and goes on where it was stopped.
# A peer that does not install is a line of the table, and keeps no other from being installed.
PEERS := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 PYTHONPATH=.:benchmarks $(BIN)/python -m peers
bench-peers: setup
	$(MAKE) $(VENV)/bench || for peer in matplotlib lightgbm gpytorch fastrvm; do \
	  $(BIN)/python -m pip install --quiet $$peer || true; done
	$(PEERS)
	$(PEERS) --write

# How fast this source is beside fixed references: a line of docs/history.csv, and its plot.
bench-history: setup $(VENV)/bench
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python benchmarks/history.py

# Every table and figure of the papers; see docs/reproduction/index.md.
reproduce: setup
	$(BIN)/python -m reproduce

reproduce-full: setup
	$(BIN)/python -m reproduce --full

reproduce-variants: setup
	$(BIN)/python -m reproduce --variants

# What `make reproduce` and the benchmarks of the defaults, generated functions, classes and peers have done took hours, and stays.
clean:
	rm -rf $(VENV) $(FLOOR) build dist $(filter-out out/reproduce out/bench-defaults.jsonl out/battery.jsonl out/growth.jsonl out/classify.jsonl out/bench-peers out/bench-peers.jsonl, $(wildcard out/*))
