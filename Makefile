# The commands of the project. `make` lists them. No function is named here: a new one needs no line.

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help run test check build deploy tools fmt clean built machine machine-ports

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

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

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
	RUSTDOCFLAGS='--deny warnings' cargo doc --workspace --no-deps $(LOCKED)
	sam validate --lint --region us-east-1
	cfn-lint template.yaml
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

deploy: built .tools/all.stamp ## Deploy what make build has built. Asks the first time, and remembers in samconfig.toml
	@built=$$(cat .aws-sam/architecture); \
	if test ! -f samconfig.toml; then \
	  echo "The functions are built for $$built: answer Architecture with that."; \
	  exec sam deploy --guided --capabilities CAPABILITY_IAM; \
	fi; \
	wanted=$$(sed -n 's/.*Architecture=[^a-z]*\([a-z0-9_]*\).*/\1/p' samconfig.toml | head -n 1); \
	if test "$$built" != "$${wanted:-arm64}"; then \
	  echo "error: built for $$built, but samconfig.toml deploys for $${wanted:-arm64}: run make build ARCH=$${wanted:-arm64}" >&2; \
	  exit 1; \
	fi; \
	exec sam deploy --capabilities CAPABILITY_IAM

tools: $(PYTHON_TOOLS) ## Install the pinned tools into .tools

fmt: ## Format the code
	cargo fmt --all

clean: ## Remove everything that was built and installed here
	rm -rf target .aws-sam .tools

built:
	@test -f .aws-sam/build/template.yaml -a -f .aws-sam/architecture || \
	  { echo 'error: nothing is built yet: run make build first' >&2; exit 1; }

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
