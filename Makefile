# The one way to build, test and try sandbox-lsp. `make help` lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

GO ?= go
NODE ?= node
NPM ?= npm

GO_MIN := 1.26
NODE_MIN := 20.19

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
BIN := bin/sandbox-lsp
WASM := runtime/quickjs/assets/quickjs.wasm
RUNNERS := runtime/harness/assets/campaign.js
RUNNER_SOURCES := $(shell find runtime/harness/js -name node_modules -prune -o -type f -print)

# A stamp inside node_modules says which lockfile it was installed from, so that
# nothing is installed twice and a removed node_modules is.
JS_PACKAGES := runtime/js runtime/harness/js testdata/projects/storefront testdata/projects/faulty testdata/corpus testdata/bundlers
JS_STAMPS := $(JS_PACKAGES:%=%/node_modules/.installed)
BENCH := testdata/bench

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Tools.

.PHONY: tools
tools:
	@testdata/tools.sh $(GO) $(GO_MIN) $(NODE) $(NODE_MIN) $(NPM)

# Dependencies.

.PHONY: deps
deps: $(JS_STAMPS) ## Install the npm packages of the runtime and the fixture projects

%/node_modules/.installed: %/package-lock.json %/package.json | tools
	@echo "installing $*"
	@cd $* && $(NPM) ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

# The projects link the runtime, so its packages have to be there first.
$(filter testdata/%,$(JS_STAMPS)): | runtime/js/node_modules/.installed

.PHONY: wasm
wasm: $(WASM) ## Copy the QuickJS engine to where the Go package embeds it

.PHONY: runners
runners: $(RUNNERS) ## Bundle the test frameworks to where the Go package embeds them

$(RUNNERS): $(RUNNER_SOURCES) | runtime/harness/js/node_modules/.installed tools
	$(NODE) runtime/harness/js/build.mjs $(abspath $(@D))

# Only other bytes are copied: a new time alone would make Go link everything anew.
$(WASM): runtime/js/node_modules/.installed
	@mkdir -p $(@D)
	@cmp -s runtime/js/node_modules/quickjs-wasi/quickjs.wasm $@ || cp runtime/js/node_modules/quickjs-wasi/quickjs.wasm $@
	@touch $@

# Building.

.PHONY: build
build: $(WASM) $(RUNNERS) | tools ## Build bin/sandbox-lsp
	$(GO) build -ldflags "-X main.version=$(VERSION)" -o $(BIN) ./cmd/sandbox-lsp

.PHONY: demo
demo: build deps ## Check and build the storefront, then show what a faulty policy gets
	@testdata/demo.sh $(BIN)

# Testing.

# What runs with the race detector: whatever starts goroutines of ours. The TypeScript
# compiler, which is compiled once more for it, is reached through lsp and analysis.
# The embedded host starts none, and its suite is long.
RACE_PACKAGES = ./analysis/... ./lsp/... ./policy/text/... $(addsuffix /...,$(filter-out ./runtime/embedded ./runtime/js,$(wildcard ./runtime/*)))

# What else `go test` is told, such as -json.
TEST_FLAGS ?=

# The embedded host's suite alone takes half of go test's own ten minutes.
PATIENCE := -timeout 40m

.PHONY: test test-go test-go-race test-js
test: test-go test-go-race test-js ## Run every test, with the race detector where it is affordable

test-go: build deps
	$(GO) test $(PATIENCE) $(TEST_FLAGS) ./...

test-go-race: deps $(WASM) $(RUNNERS)
	$(GO) test -race $(PATIENCE) $(TEST_FLAGS) $(RACE_PACKAGES)

test-js: build deps
	cd runtime/js && $(NPM) test --silent

.PHONY: test-fast
test-fast: deps $(WASM) $(RUNNERS) ## Run the quick tests, without Chromium and the hostile programs
	$(GO) test -short ./...
	cd runtime/js && $(NPM) run --silent test:fast

.PHONY: test-race
test-race: deps $(WASM) $(RUNNERS) ## Run every Go test with the race detector (slow the first time)
	$(GO) test -race $(PATIENCE) -shuffle=on ./...

.PHONY: fuzz
FUZZTIME ?= 30s
fuzz: deps $(WASM) $(RUNNERS) ## Run every fuzz target for FUZZTIME (30s)
	@grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' --exclude-dir=node_modules . | xargs -n1 dirname | sort -u | while read -r dir; do \
	  for target in $$(grep -rhoE '^func (Fuzz[A-Za-z0-9_]+)' --include='*_test.go' $$dir/*_test.go | awk '{ print $$2 }'); do \
	    echo "$$dir $$target"; $(GO) test $$dir -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME); \
	  done; \
	done

.PHONY: bench
bench: build deps $(BENCH)/node_modules/.installed ## Measure against the peers
	@testdata/bench/run.sh $(BIN)

# Keeping it tidy.

.PHONY: fmt
fmt: deps ## Format the Go and JavaScript sources
	gofmt -w $(GO_SOURCES)
	cd runtime/js && node_modules/.bin/biome format --write .

GO_SOURCES = $(shell git ls-files -co --exclude-standard '*.go')

.PHONY: lint lint-format lint-go lint-js
lint: lint-format lint-go lint-js ## Look for what is unformatted or suspicious

lint-format:
	@unformatted="$$(gofmt -l $(GO_SOURCES))"; if [ -n "$$unformatted" ]; then echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; fi

lint-go: deps $(WASM)
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

lint-js: deps
	cd runtime/js && $(NPM) run --silent lint

.PHONY: check
check: lint test ## Everything that has to pass before a change is merged

.PHONY: clean
clean: ## Remove what was built and installed
	rm -rf bin .cache $(JS_PACKAGES:%=%/node_modules) $(BENCH)/node_modules $(WASM)
	find $(dir $(RUNNERS)) -mindepth 1 ! -name README.md -delete
	rm -rf testdata/projects/*/dist testdata/projects/*/.sandbox/proxys testdata/corpus/dist testdata/corpus/.sandbox/proxys
