# The front door. Everything is built by CMake and Ninja in build/; each target
# below installs what it misses first (scripts/setup).
#   make demo                 build, profile a small real program, show its hot paths
#   make test                 every test, on every supported LLVM that is installed
#   make LLVM=22 ...          with that LLVM as the default
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# The limit is for what is stuck. A busy machine only makes tests slower.
CTEST = scripts/ctest $(BUILD) -j$(JOBS) --timeout 14400
export LLVM
# in tests the verifier of LLVM looks at what the plugin made
test test-long test-real test-torture sanitize: export FOOTPATH_VERIFY_IR = 1

all: build

help:
	@echo "make demo | test | test-long | test-real [SHORT=1] | test-torture [TORTURE=--levels=O0,O2] | test-fresh [QUICK=1] | test-deb | test-loaded [TIMES=3] | bench [BENCH=bzip2,lua] | tables [BENCH=bzip2,lua] [TABLES=use,stats] | sanitize | fuzz [SECONDS=600] | format | deb | install PREFIX=..."

setup-%:
	@scripts/setup $*

build: setup-core
	@scripts/build $(BUILD) "$$(scripts/llvm default)"

demo: build
	@scripts/demo $(BUILD)/bin

test: setup-test
	@scripts/build $(BUILD) "$$(scripts/llvm all)"
	@scripts/llvm missing
	@$(CTEST) -LE long
	@scripts/llvm missing

test-long: setup-test
	@scripts/build $(BUILD) "$$(scripts/llvm all)"
	@$(CTEST) -L long --timeout 86400

test-real: setup-all
	@scripts/build $(BUILD) "$$(scripts/llvm all)"
	@scripts/test-real --bin $(BUILD)/bin $(if $(SHORT),--short)
	$(if $(SHORT),,@tests/real/combined.py --bin $(BUILD)/bin)

# GCC's run-time suites: hours; see tests/torture/run.py for what TORTURE may say
test-torture: setup-torture
	@scripts/build $(BUILD) "$$(scripts/llvm all)"
	@tests/torture/run.py --bin $(BUILD)/bin --llvm "$$(scripts/llvm default)" --jobs $(JOBS) $(TORTURE)

# beside busy processes on all cores
test-loaded: setup-test
	@scripts/test-loaded $(or $(TIMES),1)

# both commands of README.md on a bare Debian: needs root
test-fresh: setup-fresh
	@scripts/test-fresh $(if $(QUICK),--quick)

# the packages on two bare Debians, one that builds them and one that uses them: needs root
test-deb: setup-fresh
	@scripts/test-deb

bench: setup-all
	@scripts/build $(BUILD) "$$(scripts/llvm all)"
	@scripts/bench $(BUILD)

# the measured tables of docs/, each with commit, machine and day: hours; see scripts/tables
tables: setup-all
	@scripts/build $(BUILD) "$$(scripts/llvm all)"
	@scripts/tables $(BUILD)

# the tools and libraries with ASan and UBSan, and the tests that run them
sanitize: setup-test
	@scripts/build $(BUILD)-sanitize "$$(scripts/llvm default)" -DFOOTPATH_SANITIZE=ON -DGRAPH_COUNT=20000
	@LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0 \
	    scripts/ctest $(BUILD)-sanitize -j$(JOBS) --timeout 14400 -LE long

fuzz: setup-test
	@scripts/fuzz $(or $(SECONDS),600)

format:
	@scripts/format

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

# Debian packages, in .cache/deb; with NO_TESTS=1 without the tests of the packages
deb: setup-deb
	@scripts/deb $(if $(NO_TESTS),--no-tests)

clean:
	rm -rf $(BUILD) $(BUILD)-sanitize

.PHONY: all help build demo test test-long test-real test-torture test-loaded test-fresh test-deb bench tables sanitize fuzz format deb install clean
