# The commands of the project. `make` lists them. No function is named here: a new one needs no line.

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help run test check build deploy import rollout load rehearse capacity bench bench-build stress tools fmt clean built indexed machine machine-ports

# Tools that Cargo does not bring are installed here, at the versions in tools/.
export PATH := $(CURDIR)/.tools/venv/bin:$(CURDIR)/.tools/bin:$(PATH)
export SAM_CLI_TELEMETRY := 0

# The processor that the functions are built for: arm64 or x86_64.
ARCH ?= arm64
HOST_ARCH := $(if $(filter aarch64 arm64,$(shell uname -m)),arm64,x86_64)

PACKAGES := $(addprefix --package ,$(notdir $(wildcard functions/*)))
LOCKED := $(if $(CI),--locked)
NEXTEST := cargo nextest run --workspace $(LOCKED) --profile $(if $(CI),ci,default)
PYTHON_TOOLS := .tools/run.stamp .tools/all.stamp

# The operator's tool. For the whole workspace, so that no crate is built twice.
ROLLOUT := target/debug/rollout
BUILD_ROLLOUT := { test -x $(ROLLOUT) || echo 'Building the tool (the first time takes some minutes) ...' >&2; } && \
  cargo build --quiet --bin rollout $(LOCKED)
INDEXES := orders-by-customer person-by-tenant contract-by-entity bank-by-organization bank-by-provider
# What samconfig.toml deploys is known from the stack: its stages, its table prefix. With credentials from
# wherever the AWS command line has them.
DEPLOYED := .tools/deployed.json
ASK_STACK := .tools/venv/bin/python tools/deployed-parameters.py samconfig.toml $(DEPLOYED)
FROM_STACK := $(if $(LOCAL),,$(wildcard samconfig.toml))
AT_INDEX = $(if $(FROM_STACK),$(ASK_STACK)) $(ROLLOUT) $(1) '$(INDEX)' $(if $(LOCAL),--local) \
  $(if $(FROM_STACK),--deployed $(DEPLOYED)) $(if $(STAGE),--stage '$(STAGE)') $(if $(JSON),--json) \
  $(if $(SEGMENTS),--segments '$(SEGMENTS)')

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

run: machine-ports .tools/run.stamp ## Start the local stack: database, functions, sample data. Ctrl-C ends it
	@echo 'Building the functions and the local stack (the first time takes some minutes) ...'
	@cargo build --workspace --bins $(LOCKED)
	@exec cargo run --quiet --bin local -- run

test: machine ## Run all tests
	@cargo build --workspace --bins $(LOCKED)
	@if cargo nextest --version >/dev/null 2>&1; then \
	  $(NEXTEST); \
	else \
	  echo 'cargo-nextest is not installed: the same tests run with cargo test, without its time limits.'; \
	  cargo test --workspace --lib --bins --tests $(LOCKED); \
	fi
	@cargo test --workspace --doc $(LOCKED)

check: machine .tools/all.stamp ## Check style, lints, documentation and the template; test the release build
	cargo fmt --all --check
	cargo clippy --workspace --all-targets $(LOCKED) -- --deny warnings
	cargo test --quiet --workspace --bench hot $(LOCKED)
	RUSTDOCFLAGS='--deny warnings' cargo doc --workspace --no-deps $(LOCKED)
	sam validate --lint --region us-east-1
	cfn-lint template.yaml
	.tools/venv/bin/python tools/check-cycles.py template.yaml
	@$(MAKE) build ARCH=$(HOST_ARCH)
	@if cargo nextest --version >/dev/null 2>&1; then \
	  $(NEXTEST) --run-ignored only; \
	else \
	  cargo test --workspace --lib --bins --tests $(LOCKED) -- --ignored; \
	fi

build: machine .tools/all.stamp ## Build all functions for AWS, for ARCH=arm64 (the default) or ARCH=x86_64
	@cargo lambda build --release --$(subst _,-,$(ARCH)) $(PACKAGES) $(LOCKED)
	@echo 'Packing with sam build ...'
	@sam build --parameter-overrides Architecture=$(ARCH) >.tools/sam-build.log 2>&1 || { cat .tools/sam-build.log; exit 1; }
	@echo $(ARCH) >.aws-sam/architecture
	@echo 'Built for $(ARCH): .aws-sam/build'

deploy: built .tools/all.stamp ## Deploy what make build has built, if it is safe. Asks the first time, and remembers in samconfig.toml
	@$(BUILD_ROLLOUT)
	@built=$$(cat .aws-sam/architecture); \
	if test ! -f samconfig.toml; then \
	  echo "The functions are built for $$built: answer Architecture with that. Save the answers to samconfig.toml;"; \
	  echo 'nothing is deployed before they are checked.'; \
	  sam deploy --guided --no-execute-changeset --capabilities CAPABILITY_IAM; \
	  test -f samconfig.toml || { echo 'error: the answers were not saved to samconfig.toml, so nothing is deployed' >&2; exit 1; }; \
	fi; \
	$(ROLLOUT) parameters samconfig.toml >.tools/to-deploy.json || exit 1; \
	if ! $(ASK_STACK) $(ROLLOUT) deploy-check --from $(DEPLOYED) --to .tools/to-deploy.json --built "$$built"; then \
	  echo 'error: nothing is deployed. How an index goes live is in the README.' >&2; \
	  exit 1; \
	fi; \
	exec sam deploy --capabilities CAPABILITY_IAM

import: .tools/all.stamp ## Write what CloudFormation needs to take over tables that exist
	@test -f samconfig.toml || { echo 'error: there is no samconfig.toml yet: run make deploy first, which asks' >&2; exit 1; }
	@$(BUILD_ROLLOUT)
	@$(ASK_STACK) $(ROLLOUT) import --from $(DEPLOYED) --in .tools

rollout: indexed $(if $(FROM_STACK),.tools/all.stamp) ## Tell how far a new index is: INDEX=name [LOCAL=1] [JSON=1] [STAGE=..] [SEGMENTS=..]
	@$(BUILD_ROLLOUT)
	@$(call AT_INDEX,report)

load: indexed $(if $(FROM_STACK),.tools/all.stamp) ## Give stored items their key: INDEX=name [APPLY=1] [LOCAL=1] [WRITE_UNITS=..] [SEGMENTS=..]
	@$(BUILD_ROLLOUT)
	@$(call AT_INDEX,load) $(if $(APPLY),--apply) $(if $(WRITE_UNITS),--write-units '$(WRITE_UNITS)')

# Optimized: what takes two minutes takes ten without.
rehearse: indexed ## Rehearse a rollout on this machine: INDEX=name [ITEMS=..] [KILLS=..] [SEED=..]
	@cargo build --quiet --release --workspace --bins $(LOCKED)
	@target/release/rollout rehearse '$(INDEX)' $(if $(ITEMS),--items '$(ITEMS)') $(if $(KILLS),--kills '$(KILLS)') $(if $(SEED),--seed '$(SEED)')

capacity: ## Measure what every list reads by key, and what a scan would. ARGS='--help' tells more
	@cargo run --bin capacity $(LOCKED) -- $(or $(ARGS),--csv docs/capacity.csv --svg docs/capacity.svg)

bench: ## Measure the release binaries beside floors of the same run. ARGS='--help' tells more
	@cargo build --quiet --release --workspace --bins $(LOCKED)
	@target/release/bench $(ARGS)

# Not --locked: one more function is one more line of the lock file of a copy.
bench-build: machine .tools/all.stamp ## Measure what building takes: all from nothing, then one more function
	@tools/build-time.sh cargo lambda build --release --$(subst _,-,$(HOST_ARCH))

stress: ## Ask orders under load and with faults of DynamoDB, through a gateway. ARGS='--help' tells more
	@cargo build --quiet --release --workspace --bins $(LOCKED)
	@target/release/stress $(ARGS)

tools: $(PYTHON_TOOLS) ## Install the pinned tools into .tools

fmt: ## Format the code
	cargo fmt --all

clean: ## Remove everything that was built and installed here
	rm -rf target .aws-sam .tools

built:
	@test -f .aws-sam/build/template.yaml -a -f .aws-sam/architecture || \
	  { echo 'error: nothing is built yet: run make build first' >&2; exit 1; }
	@test ! template.yaml -nt .aws-sam/build/template.yaml || \
	  { echo 'error: template.yaml has changed since make build: run make build again' >&2; exit 1; }

indexed:
	@test -n '$(INDEX)' || { echo 'error: say which index: INDEX= one of $(INDEXES)' >&2; exit 1; }

machine:
	@tools/check-machine.sh

machine-ports:
	@tools/check-machine.sh 8000 9000

.tools/run.stamp: tools/requirements-run.txt
	@tools/install.sh $< cargo-lambda
	@touch $@

.tools/all.stamp: tools/requirements.txt tools/requirements-run.txt
	@tools/install.sh $< 'cargo-lambda, the AWS SAM CLI and cfn-lint'
	@touch $@ .tools/run.stamp
