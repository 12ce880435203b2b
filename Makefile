# `make help` lists what there is. Set-up happens once, in .venv and build/, and again when
# pyproject.toml changes.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
BUILD = $(BIN)/python setup.py -q build --build-base build/$(1) --build-lib build/$(1)/lib

# The kernels this CPU can run, narrowest first; without a force the widest is taken.
SIMD := scalar
ifeq ($(shell uname -m),x86_64)
SIMD += sse2 $(if $(shell grep -m 1 -ow avx2 /proc/cpuinfo),avx2)
else ifneq ($(filter aarch64 arm64,$(shell uname -m)),)
SIMD += neon
endif
WIDEST := $(lastword $(SIMD))

# One worker for each core.
PYTEST := $(BIN)/pytest -q -n auto --dist loadgroup

export PYTHON
export GOBLIN_WERROR := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

say = @printf '\n=== %s\n' '$(1)'

.NOTPARALLEL:
.PHONY: help demo test test-py test-doc docs test-c test-neon test-asan test-ubsan test-tsan \
    test-valgrind test-slow test-simd test-debug test-wheel fuzz fuzz-smoke lint format notebooks \
    bench bench-full build wheel clean

help: ## list these targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

demo: build ## set up, build, and count a generated MediaWiki History dump
	$(call say,Writing a dump of 20000 pages to build/demo)
	@mkdir -p build/demo
	@$(BIN)/python -c 'import goblin.synthetic; \
	    goblin.synthetic.wikimedia(20_000, seed=1).write_history("build/demo/pages.tsv.bz2")'
	$(call say,python -m goblin count build/demo/pages.tsv.bz2)
	@$(BIN)/python -m goblin count build/demo/pages.tsv.bz2

test: lint docs test-c test-doc test-debug test-simd test-py ## set up, build, and run every test

$(READY): pyproject.toml
	$(call say,Setting up: system packages)
	@sh .ci/prerequisites
	$(call say,Setting up: a virtual environment in .venv)
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install -q 'setuptools>=77' 'numpy>=2'
	$(call say,Installing what tests and docs need and building goblin (some minutes the first time))
	@$(BIN)/pip install -q --no-build-isolation -e '.[dev]'
	@touch $@

build: $(READY) ## build the extension in place
	@$(BIN)/python setup.py -q build_ext --inplace

# For another interpreter: make wheel FOR=python3.13
FOR := $(BIN)/python
wheel: $(READY) ## the source archive and, of it, a wheel for this system, in dist/
	$(call say,Source archive and wheel)
	@rm -rf build/wheel dist
	@$(BIN)/python -m build -q --sdist -o dist
	@CFLAGS=-g0 $(FOR) -m pip wheel -q --no-deps -w build/wheel dist/*.tar.gz
	@PATH="$(CURDIR)/$(BIN):$$PATH" auditwheel repair -w dist build/wheel/*.whl

test-wheel: wheel ## the wheel's content, and tests of it beside the oldest numpy and the newest
	$(call say,Wheel: tests in fresh environments)
	@$(FOR) tests/wheel.py dist/*.whl

test-py: build ## all Python tests, on the widest SIMD path
	$(call say,Python tests: release build with $(WIDEST) kernels)
	@GOBLIN_SIMD=$(WIDEST) $(PYTEST)

test-doc: build ## the examples in docstrings, docs and README
	$(call say,Doctests)
	@$(BIN)/pytest -q --doctest-modules --doctest-glob='*.md' goblin docs README.md

docs: build ## the site, in build/docs; a broken link or a public name left out is an error
	$(call say,Documentation: build/docs/index.html)
	@$(BIN)/python -m sphinx -qEaW --keep-going -c docs -d build/doctrees . build/docs

# Groups of bytes are compared one by one or, on each wider path, by the baseline: the scalar path
# meets every container. Paths between differ only in the counts of codes, in pages of integers.
MACHINES := tests/property/test_*_machine.py
BETWEEN := tests/property/test_sortedset_machine.py -k '_int and _True'
test-simd: build ## model tests under each narrower SIMD path (test-py takes the widest)
	@$(if $(filter avx2 neon,$(SIMD)),,echo 'This CPU has no AVX2: that path is not tested here.')
	$(call say,Model tests: scalar kernels)
	@GOBLIN_SIMD=scalar $(PYTEST) $(MACHINES)
	@set -e; for path in $(filter-out scalar $(WIDEST),$(SIMD)); do \
	    printf '\n=== Model tests of compressed integers: %s kernels\n' "$$path"; \
	    GOBLIN_SIMD=$$path $(PYTEST) $(BETWEEN); done

# What looks at no container, or at how its time grows, would find there what it finds in test-py;
# laws draw what the machines draw too, which meet every operation.
NO_CONTAINERS := --ignore-glob='*/test_cli*' --ignore-glob='*/test_synthetic*' \
    $(addprefix --ignore=tests/unit/test_,$(addsuffix .py,benchmark_page build docstrings layers progress real_data))
test-debug: $(READY) ## unit and model tests with assertions, validating after each mutation
	$(call say,Debug build: unit and model tests)
	@GOBLIN_DEBUG=1 $(call BUILD,debug)
	@PYTHONPATH=$(CURDIR)/build/debug/lib $(PYTEST) tests/unit $(MACHINES) $(NO_CONTAINERS) \
	    -k 'not never_quadratic'

test-c: $(READY) ## C unit tests and fuzz corpora under the address and undefined-behaviour sanitizers
	$(call say,C unit tests and fuzz corpora: address and undefined-behaviour sanitizers)
	@$(MAKE) --no-print-directory -j2 -C tests/c

test-neon: ## C unit tests on the NEON kernels, cross-compiled and emulated
	$(call say,C unit tests for AArch64: NEON kernels)
	@$(MAKE) --no-print-directory -j2 -C tests/c neon

# The lock of the binding in C, then the extension. The interpreter and numpy are not sanitized: only
# what the extension does is looked at, but the locks of all are known.
# The capture leaves the file of stderr alone, for the reports.
test-tsan: $(READY) ## the lock, and tests of threads on an extension, built with the thread sanitizer
	$(call say,Thread sanitizer: the lock in C)
	@$(MAKE) --no-print-directory -j2 -C tests/threads/c
	$(call say,Thread sanitizer: Python tests)
	@GOBLIN_SANITIZE=thread $(call BUILD,tsan-py)
	@PYTHONPATH=$(CURDIR)/build/tsan-py/lib TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=66 \
	    LD_PRELOAD="$$($${CC:-cc} -print-file-name=libtsan.so)" $(BIN)/pytest -q --capture=sys \
	    tests/threads --ignore=tests/threads/test_fork.py --ignore=tests/threads/test_interpreters.py

# The interpreter itself is not sanitized, so the run-time library comes first by LD_PRELOAD, and
# with it libstdc++, whose exceptions it must find. Python never frees all it owns: no leak check.
test-asan: $(READY) ## Python tests on an extension built with the address sanitizer
	$(call say,Address sanitizer: Python tests)
	@GOBLIN_DEBUG=1 GOBLIN_SANITIZE=address,undefined $(call BUILD,asan)
	@PYTHONPATH=$(CURDIR)/build/asan/lib PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 \
	    LD_PRELOAD="$$($${CC:-cc} -print-file-name=libasan.so) \
	    $$($${CC:-cc} -print-file-name=libstdc++.so.6)" \
	    $(BIN)/pytest -q tests/unit tests/property tests/adversarial tests/threads \
	    --ignore=tests/unit/test_build.py --ignore=tests/threads/test_interpreters.py

test-ubsan: $(READY) ## Python tests on an extension built with the undefined-behaviour sanitizer
	$(call say,Undefined-behaviour sanitizer: Python tests)
	@GOBLIN_DEBUG=1 GOBLIN_SANITIZE=undefined $(call BUILD,ubsan)
	@PYTHONPATH=$(CURDIR)/build/ubsan/lib $(BIN)/pytest -q tests/unit tests/property tests/adversarial

# Sanitizers leave out what valgrind sees: bytes that are used before they were set.
VALGRIND := valgrind -q --error-exitcode=1
test-valgrind: build ## C tests, and each structure from Python, under valgrind (2 minutes of two idle cores, and more)
	$(call say,Valgrind: C tests)
	@$(MAKE) --no-print-directory -j2 -C tests/c run OUT=$(CURDIR)/build/valgrind SANITIZE= \
	    RUN='$(VALGRIND) --leak-check=full'
	$(call say,Valgrind: Python)
	@GOBLIN_SIMD=$(WIDEST) PYTHONMALLOC=malloc \
	    $(VALGRIND) --suppressions=tests/valgrind.supp $(BIN)/python tests/valgrind.py

test-slow: build ## every combination of what test-py samples, and full sizes: minutes, gigabytes
	$(call say,Slow tests)
	@$(BIN)/pytest -q -m slow

FUZZ := $(MAKE) --no-print-directory -j2 -C tests/fuzz

fuzz: $(READY) ## fuzz with clang's libFuzzer (TARGET=pgn, RUNS=1000000)
	$(call say,Fuzzing: see tests/fuzz/README.md)
	@sh .ci/prerequisites fuzz
	@$(FUZZ) run

fuzz-smoke: $(READY) ## fuzz all targets, for a minute in all
	$(call say,Fuzzing for a minute: see tests/fuzz/README.md)
	@sh .ci/prerequisites fuzz
	@$(FUZZ) smoke

lint: build ## ruff, mypy, clang-format
	$(call say,Lint)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@find csrc tests/c tests/fuzz tests/threads -name '*.[ch]' | xargs $(BIN)/clang-format --dry-run -Werror

format: $(READY) ## rewrite Python and C sources in the house style
	@$(BIN)/ruff check --fix --select I .
	@$(BIN)/ruff format .
	@find csrc tests/c tests/fuzz tests/threads -name '*.[ch]' | xargs $(BIN)/clang-format -i

notebooks: build ## run notebooks/*.py (NAMES=, without .py, for some) and write each as .ipynb beside it
	$(call say,Notebooks)
	@$(BIN)/python tests/notebooks/rendering.py $(NAMES)

bench: build ## run the benchmarks beside their peers, and write docs/benchmarks (SIZE=--quick, --full)
	$(call say,Benchmarks)
	@$(BIN)/pip install -q --no-build-isolation -e '.[bench]'
	@set -e; for script in benchmarks/bench_*.py; do $(BIN)/python $$script $(SIZE); done
	@$(BIN)/python benchmarks/page.py

bench-full: build ## replay English Wikipedia and a million games of Lichess, and write docs/benchmarks
	$(call say,Full-size replays)
	@$(BIN)/pip install -q --no-build-isolation -e '.[bench]'
	@$(BIN)/python benchmarks/bench_full_replay.py --full
	@$(BIN)/python benchmarks/bench_lichess.py --full
	@$(BIN)/python benchmarks/page.py

clean: ## remove everything that was built, and .venv
	rm -rf .venv build dist *.egg-info goblin/*.so .hypothesis .pytest_cache .ruff_cache .mypy_cache
