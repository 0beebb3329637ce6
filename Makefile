# Needs nothing but Python >= 3.11, pip and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# Modules are compiled when they are first needed, which takes a third of the time that compiling all does.
INSTALL := $(BIN)/pip install --quiet --no-compile --disable-pip-version-check --editable
export PYTHONDONTWRITEBYTECODE =

# Where make can: what runs side by side is printed one after the other.
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync)

APART := tests/contracts/test_methods.py tests/methods tests/gp tests/belief/test_noise.py tests/cli tests/programs tests/test_reproducibility.py

.PHONY: demo test lint types layers package unit coverage docs clean

demo: $(VENV)/.core
	$(BIN)/python examples/demo.py

test: $(VENV)/.dev
	$(MAKE) --no-print-directory --jobs=2 $(SYNC) lint types layers package docs
	$(MAKE) --no-print-directory unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(BIN)/python tests/long_files.py
	@$(BIN)/python tests/import_circles.py

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

# Wheel and sdist, tried in an environment without anything else.
package: $(VENV)/.dev
	$(BIN)/python tests/package.py

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
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir $(VENV)/site

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) '.[plot]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) '.[dev,docs]'
	touch $@ $(VENV)/.docs $(VENV)/.core

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .coverage .import_linter_cache
