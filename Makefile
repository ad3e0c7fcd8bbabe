# Purser's commands. `make` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo up test bench images fuzz fuzz-readers fuzz-http endurance lifecycle build format lint clean setup

# Debug builds: a fresh machine has them in half the time of release builds.
BIN := .build/debug
SWIFT_FILES := git ls-files -z '*.swift'

help: ## Lists the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## Starts everything, plays a story of purchases that you can follow, and stops everything
	@$(BIN)/purser demo

up: build ## Starts everything and keeps it running until Ctrl-C
	@$(BIN)/purser up

test: setup ## Runs all tests
	@deploy/scripts/test

bench: setup ## Measures Purser's figures beside their limits; ARGS="--smoke" is a short run
	swift build --configuration release --static-swift-stdlib
	@.build/release/bench $(ARGS)

images: ## Builds the images of the services and tools with docker, podman or buildah
	@deploy/scripts/images

fuzz: fuzz-readers fuzz-http ## Feeds readers and services what nobody asked for; SECONDS_EACH=60, EXAMPLES=50

SECONDS_EACH ?= 60
fuzz-readers: setup
	deploy/scripts/fuzz $(SECONDS_EACH)

EXAMPLES ?= 50
fuzz-http: build
	deploy/scripts/fuzz-http $(EXAMPLES)

MINUTES ?= 10
endurance: setup ## Faults under load for MINUTES=10, repeatable with SEED=…
	swift build --build-tests
	PURSER_TEST_ENDURANCE_MINUTES=$(MINUTES) PURSER_TEST_SEED=$(SEED) \
	  swift test --skip-build --filter 'Faults|FaultTests'

CUSTOMERS ?= 10000
lifecycle: setup ## CUSTOMERS=10000 live while services are killed; then each store is lost and rebuilt
	swift build --build-tests
	PURSER_TEST_CUSTOMERS=$(CUSTOMERS) PURSER_TEST_SEED=$(SEED) swift test --skip-build --disable-xctest --filter 'PipelineTests.*LifecycleTests'

build: setup ## Builds the services and tools
	swift build

setup: ## Installs the Debian and PyPI packages that Purser needs
	@deploy/scripts/setup

format: ## Formats all Swift files in place
	$(SWIFT_FILES) | xargs -0 swift format format --in-place --parallel

lint: setup ## Checks format, imports, the rules for files, and what deploy/ holds
	$(SWIFT_FILES) | xargs -0 swift format lint --strict --parallel
	deploy/scripts/check-imports
	deploy/scripts/check-files
	deploy/scripts/write-event-forms --check
	deploy/scripts/write-event-documents --check
	.venv/bin/python3 deploy/scripts/check-manifests

clean: ## Removes what was built; stores and logs of `purser up` stay
	rm -rf .build
