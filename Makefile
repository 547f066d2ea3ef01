# make setup   what the build needs: packages (as root), Python environment
# make demo    the worked example on the embedded broker, checked against what was produced
# make test    builds what is missing and runs every test, those with a real Kafka broker included
# make bench  builds the release programs and measures them: benchmarks/README.md (BENCH="latency ysb": some figures alone)
# make handover TW_SPARK_RUN=...   queries change hands between this engine and real Spark: tests/handover/README.md
# make clients [VERSIONS=...]    the Connect tests with other releases of the client: tests/clients/README.md
# make program builds what is shipped, build/release/bin/thalweg; the tests run another build of it, with all checks on
# make build | release | asan | tsan | fuzz-smoke | crash | clean
SHELL := /bin/bash
JOBS ?= $(shell nproc)
TEST_JOBS ?= 2
PRESET ?= ci
# Compilers and tests keep their temporary files in the checkout.
export TMPDIR := $(CURDIR)/build/tmp
$(shell mkdir -p "$(TMPDIR)")

.PHONY: setup build program demo test release bench asan tsan fuzz-smoke crash handover clients clean

setup:
	@tools/setup.sh

# Configuring again costs half a second and finds new pins and new rooms.
build: setup
	@cmake --preset $(PRESET) > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }; rm -f build/configure.log
	@cmake --build --preset $(PRESET) -j $(JOBS) $(if $(TARGETS),--target $(TARGETS))

# The program as it is shipped: build/release/bin/thalweg.
program:
	@$(MAKE) --no-print-directory build PRESET=release TARGETS=thalweg

demo: program
	@build/release/bin/thalweg demo --python "$$(tools/setup.sh --print-venv)/bin/python"

test:
	@tools/setup.sh --kafka
	@$(MAKE) --no-print-directory build TARGETS="all benchmarks"
	@$(MAKE) --no-print-directory program
	@ctest --preset ci -j $(TEST_JOBS) --output-on-failure

release:
	@$(MAKE) --no-print-directory build PRESET=release TARGETS="thalweg libthalweg"
	@cmake --install build/release --prefix dist --strip > /dev/null && echo "dist/bin/thalweg"

bench:
	@tools/setup.sh --kafka
	@$(MAKE) --no-print-directory build PRESET=release TARGETS="thalweg libthalweg benchmarks"
	@TW_BUILD_DIR=$(CURDIR)/build/release TW_KAFKA_HOME="$$(tools/setup.sh --print-kafka)" \
	  "$$(tools/setup.sh --print-venv)/bin/python" -W ignore benchmarks/run.py --output build/bench.jsonl $(BENCH)

# The whole suite, in a build whose every memory error, undefined behaviour or data race makes the test fail (CONTRIBUTING.md, Sanitizers).
asan tsan:
	@tools/setup.sh --kafka
	@$(MAKE) --no-print-directory build PRESET=$@
	@ctest --preset $@ -j $(TEST_JOBS) --output-on-failure

fuzz-smoke:
	@tools/setup.sh --fuzz
	@tools/fuzz_smoke.sh

# An hour and more: 1,000 killed runs of queries, 300 of upserts by foreachBatch, 300 of OPTIMIZE, VACUUM and RESTORE, outages of a minute, every scenario at every durable step and with a failing disk.
KILL_RUNS ?= 1000
crash:
	@tools/setup.sh --kafka
	@$(MAKE) --no-print-directory build
	@TW_KILL_RUNS=$(KILL_RUNS) TW_UPSERT_KILLS=300 TW_MAINTENANCE_KILLS=300 TW_RACES=20 TW_LONG_OUTAGES=1 ctest --preset $(PRESET) -C crash -j $(TEST_JOBS) --output-on-failure -L crash

TEST_ENVIRONMENT = TW_SOURCE_DIR="$(CURDIR)" TW_BUILD_DIR="$(CURDIR)/build/$(PRESET)" \
  TW_KAFKA_HOME="$$(tools/setup.sh --print-kafka)" PYTHONPATH="$(CURDIR)/tests"
TEST_PYTHON = "$$(tools/setup.sh --print-venv)/bin/python" -B

handover: build
	@tools/setup.sh --kafka
	@$(TEST_ENVIRONMENT) TW_SPARK_RUN="$(TW_SPARK_RUN)" $(TEST_PYTHON) tests/handover/live.py $(CASES)

clients: build
	@$(TEST_ENVIRONMENT) tests/clients/run.sh "$$(tools/setup.sh --print-venv)" $(VERSIONS)

clean:
	rm -rf build dist
