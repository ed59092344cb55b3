SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

GO ?= go
ARGS ?=
FUZZTIME ?= 30s
RUNS ?= $(or $(AGENTSTREAM_TORTURE),1000)
AGENTS ?= opencode gemini zed-codex
COVERAGE := bin/coverage.out

# Recorded sessions of real agents. They are no part of the project; the tests
# that read them are skipped where they are not.
export AGENTSTREAM_TRACES ?= $(abspath $(wildcard ../shared/acp-traces))

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## serve, with the web UI, at an address it prints (ARGS="--listen 127.0.0.1:0 ...")
	CGO_ENABLED=0 $(GO) run ./cmd/agentstream serve $(ARGS)

.PHONY: build
build: ## build bin/agentstream, one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o bin/agentstream ./cmd/agentstream

.PHONY: test
test: ## everything a change must pass; does its own set-up (apt for gcc, npm ci)
	./scripts/setup.sh
	$(MAKE) lint build clients race typescript frontends page
	./scripts/coverage.sh $(COVERAGE)
	if [ -f bench/go.mod ]; then cd bench && $(GO) vet ./...; fi
	$(MAKE) fuzz-minute

.PHONY: race
race: ## all tests, the end-to-end ones included, with the race detector and coverage
	mkdir -p bin
	AGENTSTREAM_E2E=1 CGO_ENABLED=1 $(GO) test -race -shuffle=on -p 2 -timeout 25m -coverprofile=$(COVERAGE) ./...

.PHONY: quick
quick: ## the Go tests alone: no C compiler, no Node, no coverage
	CGO_ENABLED=0 $(GO) test -p 2 ./...

.PHONY: cover
cover: ## the Go tests with coverage, and the floors
	mkdir -p bin
	CGO_ENABLED=0 $(GO) test -p 2 -coverprofile=$(COVERAGE) ./...
	./scripts/coverage.sh $(COVERAGE)

.PHONY: lint
lint: ## vet and gofmt; golangci-lint where it is installed
	$(GO) vet ./...
	out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "gofmt -w:" $$out; exit 1; fi
	if command -v golangci-lint >/dev/null; then golangci-lint run; fi

.PHONY: clients
clients: ## install the AG-UI clients that the end-to-end tests drive (npm ci)
	./scripts/clients.sh

.PHONY: typescript
typescript: build ## the TypeScript client: types and tests against both AG-UI clients, on the real binary
	cd clients/typescript && AGENTSTREAM_BIN=$(abspath bin/agentstream) npm run check && AGENTSTREAM_BIN=$(abspath bin/agentstream) npm test

.PHONY: web
web: clients ## build the page into web/dist, which is committed and embedded
	cd web && npm run build && npm run pack

.PHONY: page
page: build clients ## the page: types, unit tests, web/dist is what its sources build, and the browser tests (screenshots: bin/screens)
	cd web && npm run check && npm test && npx vite build --logLevel warn && npm run pack -- --check
	cd e2e/web && AGENTSTREAM_BIN=$(abspath bin/agentstream) npm test

.PHONY: frontends
frontends: build ## CopilotKit, assistant-ui and TanStack AI, their own code, on the real binary
	cd e2e/frontends && npm run check && AGENTSTREAM_BIN=$(abspath bin/agentstream) npm test

.PHONY: pictures
pictures: build clients ## take the pictures of the README and the guides anew; look at them
	./scripts/pictures.sh

.PHONY: agents
agents: ## install real agents for the end-to-end tests (AGENTS="opencode gemini ...")
	./scripts/agents.sh $(AGENTS)

.PHONY: torture
torture: ## kill, cut and stall through RUNS runs, drawn from AGENTSTREAM_SEED; minutes
	AGENTSTREAM_E2E=1 AGENTSTREAM_TORTURE=$(RUNS) $(GO) test -count=1 -v -timeout 2h ./e2e/torture

.PHONY: bench
bench: ## benchmarks with allocations, comparisons with peers included
	$(GO) test -run '^$$' -bench . -benchmem -p 1 ./...
	if [ -f bench/go.mod ]; then cd bench && $(GO) test -run '^$$' -bench . -benchmem ./...; fi

.PHONY: fuzz
fuzz: ## fuzz each target for FUZZTIME; a find fails
	./scripts/fuzz.sh each $(FUZZTIME)

.PHONY: fuzz-minute
fuzz-minute: ## fuzz for a minute over all targets; a find is kept and shown, it does not fail
	./scripts/fuzz.sh total 60
