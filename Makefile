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
.PHONY: help demo test test-py test-slow test-doc test-c test-asan test-ubsan test-simd test-debug \
    lint format bench build clean

help: ## list these targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

demo: build ## set up, build, and count a generated MediaWiki History dump
	$(call say,Writing a dump of 20000 pages to build/demo)
	@mkdir -p build/demo
	@$(BIN)/python -c 'import goblin.synthetic; \
	    goblin.synthetic.wikimedia(20_000, seed=1).write_history("build/demo/pages.tsv.bz2")'
	$(call say,python -m goblin count build/demo/pages.tsv.bz2)
	@$(BIN)/python -m goblin count build/demo/pages.tsv.bz2

test: lint test-c test-doc test-debug test-simd test-py ## set up, build, and run every test

$(READY): pyproject.toml
	$(call say,Setting up: system packages)
	@sh .ci/prerequisites
	$(call say,Setting up: .venv with what the tests need (a minute or two the first time))
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install -q 'setuptools>=77' 'numpy>=2'
	$(call say,Building goblin)
	@$(BIN)/pip install -q --no-build-isolation -e '.[dev]'
	@touch $@

build: $(READY) ## build the extension in place
	@$(BIN)/python setup.py -q build_ext --inplace

test-py: build ## all Python tests, on the widest SIMD path
	$(call say,Python tests: release build with $(WIDEST) kernels)
	@GOBLIN_SIMD=$(WIDEST) $(PYTEST)

test-slow: build ## the Python tests that take minutes, which no other target runs
	$(call say,Slow Python tests)
	@$(PYTEST) -m slow

test-doc: build ## the examples in docstrings, docs and README
	$(call say,Doctests)
	@$(BIN)/pytest -q --doctest-modules --doctest-glob='*.md' goblin docs README.md

test-simd: build ## property tests under each narrower SIMD path (test-py takes the widest)
	@$(if $(filter avx2,$(SIMD)),,echo 'This CPU has no AVX2: that path is not tested here.')
	@set -e; for path in $(filter-out $(WIDEST),$(SIMD)); do \
	    printf '\n=== Property tests: %s kernels\n' "$$path"; \
	    GOBLIN_SIMD=$$path $(PYTEST) tests/property; done

test-debug: $(READY) ## unit and property tests with assertions, validating after each mutation
	$(call say,Debug build: unit and property tests)
	@GOBLIN_DEBUG=1 $(call BUILD,debug)
	@PYTHONPATH=$(CURDIR)/build/debug/lib $(PYTEST) tests/unit tests/property

test-c: $(READY) ## C unit tests under the address and undefined-behaviour sanitizers
	$(call say,C unit tests: address and undefined-behaviour sanitizers)
	@$(MAKE) --no-print-directory -j2 -C tests/c

# The interpreter itself is not sanitized, so the run-time library comes first by LD_PRELOAD, and
# with it libstdc++, whose exceptions it must find. Python never frees all it owns: no leak check.
test-asan: $(READY) ## Python tests on an extension built with the address sanitizer
	$(call say,Address sanitizer: Python tests)
	@GOBLIN_DEBUG=1 GOBLIN_SANITIZE=address,undefined $(call BUILD,asan)
	@PYTHONPATH=$(CURDIR)/build/asan/lib PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 \
	    LD_PRELOAD="$$($${CC:-cc} -print-file-name=libasan.so) \
	    $$($${CC:-cc} -print-file-name=libstdc++.so.6)" \
	    $(BIN)/pytest -q tests/unit tests/property tests/adversarial --ignore=tests/unit/test_build.py

test-ubsan: $(READY) ## Python tests on an extension built with the undefined-behaviour sanitizer
	$(call say,Undefined-behaviour sanitizer: Python tests)
	@GOBLIN_DEBUG=1 GOBLIN_SANITIZE=undefined $(call BUILD,ubsan)
	@PYTHONPATH=$(CURDIR)/build/ubsan/lib $(BIN)/pytest -q tests/unit tests/property tests/adversarial

lint: build ## ruff, mypy, clang-format
	$(call say,Lint)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@find csrc tests/c -name '*.[ch]' | xargs $(BIN)/clang-format --dry-run -Werror

format: $(READY) ## rewrite Python and C sources in the house style
	@$(BIN)/ruff check --fix --select I .
	@$(BIN)/ruff format .
	@find csrc tests/c -name '*.[ch]' | xargs $(BIN)/clang-format -i

bench: build ## run the benchmarks beside their peers (SIZE=--quick, --full); JSON in build/bench
	$(call say,Benchmarks)
	@$(BIN)/pip install -q --no-build-isolation -e '.[bench]'
	@set -e; for script in benchmarks/bench_*.py; do $(BIN)/python $$script $(SIZE); done

clean: ## remove everything that was built, and .venv
	rm -rf .venv build dist *.egg-info goblin/*.so .hypothesis .pytest_cache .ruff_cache .mypy_cache
