# Shorthands for people; everything works without make, as the README shows.
PYTHON ?= python3

.venv/bin/harness: pyproject.toml
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install -q -e ".[test]"
	touch $@

.PHONY: quickstart test test-all lint docs bench
quickstart: .venv/bin/harness
	.venv/bin/harness run configs/quickstart.yaml

test: .venv/bin/harness
	.venv/bin/python -m pytest -q -n 2

test-all: .venv/bin/harness
	.venv/bin/python -m pytest -q -n 2 -m "slow or not slow" --hypothesis-profile=thorough

lint: .venv/bin/harness
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

docs: .venv/bin/harness
	.venv/bin/python -m docs.generate

bench: .venv/bin/harness
	.venv/bin/python -m pip install -q -e ".[bench]"
	.venv/bin/python -m benchmarks
