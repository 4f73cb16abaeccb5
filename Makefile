# make demo: the main job on procedural faces    make test: the test suite    make lint: style and types    make docs: the site    make clean: back to the checkout
# Each makes .venv in the checkout, or reuses it. Variables: PYTHON (which Python makes it), VENV (where), ORT (cpu or gpu), ARGS (for pytest).
VENV ?= .venv
BIN := $(VENV)/bin
ORT ?= $(shell nvidia-smi -L 2>/dev/null | grep -q GPU && echo gpu || echo cpu)
READY := $(VENV)/.ready-$(ORT)
PIP := $(BIN)/python -m pip
SUITABLE := import ensurepip, sys, venv; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 14))
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.10 python3 python; do \
	$$p -c '$(SUITABLE)' >/dev/null 2>&1 && { echo $$p; break; }; done)

.PHONY: demo test lint docs clean
demo: $(READY)
	$(BIN)/python tools/demo.py

test: $(READY)
	$(BIN)/python -m pytest $(ARGS)

lint: $(BIN)/ruff
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(BIN)/sphinx-build
	$(BIN)/sphinx-build -W --keep-going -q docs docs/_build

clean:
	rm -rf $(VENV) build dist docs/_build docs/api *.egg-info mmface/.mim .pytest_cache .ruff_cache .mypy_cache
	find mmface tools tests configs -name __pycache__ -prune -exec rm -rf {} +

# Older than a changed requirement, it is made anew. The two ONNX Runtime packages overwrite each other: only ever one of them.
$(READY): setup.py pyproject.toml $(wildcard requirements/*.txt) | $(BIN)/python
	@echo 'Installing into $(VENV): minutes the first time, torch is large'
	@rm -f $(VENV)/.ready-*
	@$(PIP) uninstall -qq --yes onnxruntime onnxruntime-gpu
	$(PIP) install --quiet --constraint requirements/constraints.txt --editable '.[lite,$(ORT),tests]'
	@touch $@

$(BIN)/ruff: $(READY)
	$(PIP) install --quiet --constraint requirements/constraints.txt --requirement requirements/dev.txt
	@touch $@

$(BIN)/sphinx-build: $(READY) requirements/docs.txt
	$(PIP) install --quiet --constraint requirements/constraints.txt --requirement requirements/docs.txt
	@touch $@

$(BIN)/python:
	@test -n '$(PYTHON)' || { echo 'No suitable Python: mmface needs 3.10 to 3.13 with venv and ensurepip' \
		'(on Debian and Ubuntu: apt install python3-venv). Name one with: make PYTHON=/path/to/python3.11' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
