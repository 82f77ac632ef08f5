# Two commands do everything, set-up included, in a virtual environment of their own:
#   make demo    the main job, on data that comes with the install
#   make test    all tests
# `make check` runs every check: style, types, import directions, tests.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RDPLEARN_DATA ?= ../shared/data
export RDPLEARN_DATA

.PHONY: demo test browser check lint benchmark clean

demo: $(VENV)/installed
	$(BIN)/rdplearn demo

test: $(VENV)/ready-for-tests browser
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadgroup

check: lint test

lint: $(VENV)/ready-for-tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

benchmark: $(VENV)/ready-for-tests
	$(BIN)/python -m benchmarks all

# The report is tested in a real browser, where there is one or one may be installed; elsewhere these tests are skipped.
browser:
	@command -v chromium > /dev/null && command -v chromedriver > /dev/null && exit; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	  export DEBIAN_FRONTEND=noninteractive; \
	  timeout 600 sh -c "apt-get -q update; apt-get -q install -y --no-install-recommends chromium chromium-driver" \
	    > /dev/null 2>&1 && exit; \
	fi; \
	echo "There is no Chromium with its driver here: the tests of the report in a browser are skipped."

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

# PyTorch first, in the exact version: a range would fetch gigabytes of GPU libraries.
$(VENV)/ready-for-tests: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$(grep '^torch==' constraints.txt)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group dev
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
