# Needs nothing but Python >= 3.11, pip and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

APART := tests/contracts/test_methods.py tests/methods tests/gp tests/belief/test_plateau.py tests/belief/test_noise.py

.PHONY: demo test lint types layers unit coverage docs clean

demo: $(VENV)/.core
	$(BIN)/python examples/demo.py

test: lint types layers unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(BIN)/python tests/long_files.py
	@$(BIN)/python tests/import_circles.py

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

# Two processes, half of the work each.
define halves
	$(ONE_THREAD) $(1) pytest $(APART) > $(VENV)/apart.log 2>&1 & apart=$$!; \
	$(ONE_THREAD) $(1) pytest $(APART:%=--ignore=%); rest=$$?; \
	wait $$apart; apart=$$?; cat $(VENV)/apart.log; exit $$((rest + apart))
endef

unit: $(VENV)/.dev
	$(call halves,$(BIN)/python -m)

# The same tests, half as long again.
coverage: $(VENV)/.dev
	rm -f .coverage .coverage.*
	$(call halves,$(BIN)/coverage run --parallel-mode -m)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --fail-under=90

# The pages as a site of plain files, which needs no network.
docs: $(VENV)/.docs
	$(BIN)/mkdocs build --quiet --strict --site-dir $(VENV)/site

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[plot]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .coverage .import_linter_cache
