# Two commands for a newcomer: `make up` and `make test`. Everything they need, they install or build.
.DEFAULT_GOAL := help
.PHONY: help up down preview test check lint unit docs bench format lock
SHELL := /bin/sh

UV = $$(lab/find-uv)
BIN := .venv/bin
COMPUTE ?= 1
CONTEXT ?=

help:  ## what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.venv/ready: requirements.lock pyproject.toml
	@uv=$(UV) && $$uv venv -q --allow-existing --python '>=3.11' .venv \
		&& $$uv pip sync -q --compile-bytecode --require-hashes requirements.lock \
		&& $$uv pip install -q --no-deps -e . && touch $@

up: .venv/ready  ## a lab on this machine with the dev stack (COMPUTE=N compute nodes, or CONTEXT=<kubectl context>)
	@$(BIN)/lab up --compute $(COMPUTE) --context "$(CONTEXT)"

preview: .venv/ready  ## what `make up` would change in the dev stack, and whether the rules allow it
	@lab=$$($(BIN)/lab env) && eval "$$lab" && slipway preview --stack dev

down: .venv/ready  ## take the lab away; nothing but the cache stays
	@$(BIN)/lab down

check: lint docs unit  ## ruff, pyright, shellcheck, the site and the unit tests

lint: .venv/ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/shellcheck -x $$(git ls-files -- . ':!slurm/templates' ':!tests/unit/slurm/golden' \
		| xargs awk 'FNR == 1 && /^#!.*(\/| )(ba)?sh/ {print FILENAME}')

docs: .venv/ready  ## the documentation as a site, in site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

unit: .venv/ready
	@{ command -v cc && command -v curl; } > /dev/null \
		|| { apt-get update -q && apt-get install -y -q --no-install-recommends gcc libc6-dev curl; }
	$(BIN)/pytest -q -n auto tests/unit policies

test: check  ## all tests, in labs that are started and stopped for them
	$(BIN)/lab tools
	tests/in-labs

bench: .venv/ready  ## measure everything in a lab of its own, and write docs/benchmarks/results.md
	$(BIN)/lab --name bench run -- $(BIN)/python -m bench

format: .venv/ready  ## put the code into shape
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: .venv/ready  ## choose versions anew and write requirements.lock
	@plain=$$(mktemp -d) && sed '/^managed = false/d' pyproject.toml > $$plain/pyproject.toml \
		&& $(UV) pip compile -q --upgrade --universal --generate-hashes --no-header --no-annotate \
			--group $$plain/pyproject.toml:dev $$plain/pyproject.toml -o requirements.lock; rm -r $$plain
