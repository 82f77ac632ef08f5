# Two commands do everything, set-up included, in a virtual environment of their own:
#   make demo    the main job, on data that comes with the install
#   make test    style, types, import directions, and all tests
# `make coverage` runs the tests once more and says which lines and branches they reach; the floor is in pyproject.toml.
# `make docs` builds the site into docs/_build/html; a warning is an error.
# `make soak` runs the long tests (`make soak PART=tables` some of them), and writes their figures to docs/soak.md.
# `make test-wheel` tests the wheel without extras and with each of them, in environments of their own.
# `make test-core PYTHON=python3.13 DEPENDENCIES=oldest` runs the core of the tests on another Python, or with other versions.
# `make test-spark`, `make test-mlflow` and `make test-isotree` install what is too large or too slow for `make test`, or at
# odds with it, and run the tests that need it.
# `make test-data` runs the tests on the paper's data sets, where RDPLEARN_DATA names their folder.

# The first Python that fits: 3.11 or newer. `make PYTHON=... test` takes another one.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
# One thread each, said to Numba too: experiments hold their own processes to one, and Numba takes no second answer.
PYTEST := OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadgroup

.PHONY: demo test docs test-data test-core test-wheel test-spark test-mlflow test-isotree soak coverage browser postgresql lint benchmark clean

demo: $(VENV)/installed
	$(BIN)/rdplearn demo

# Nothing outside this folder is looked at: data sets have a command of their own.
test: lint browser postgresql
	env -u RDPLEARN_DATA RDPLEARN_CACHE=$(CURDIR)/$(VENV)/no-cache $(PYTEST) -m "not data and not soak and not apart"

# Slower than `make test` by half, and so apart from it. The floor is in pyproject.toml. What is measured is written to a file,
# so that tests of a full disk and of kills while writing would be about that file.
coverage: $(VENV)/ready-for-tests browser postgresql
	env -u RDPLEARN_DATA RDPLEARN_CACHE=$(CURDIR)/$(VENV)/no-cache $(PYTEST) -q -m "not data and not soak and not apart" \
	  -k "not test_a_full_disk_is_told_by_fit and not test_a_killed_write_leaves_the_table" \
	  --cov --cov-report=term:skip-covered --cov-report=html:build/coverage

# A part that passes leaves its figures in tests/soak/results; commit them with the page.
PART ?=
soak: $(VENV)/ready-for-tests browser
	OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python -m pytest -m soak tests/soak -k "$(PART)"; \
	status=$$?; $(BIN)/python -m tests.soak.page; exit $$status

test-data: $(VENV)/ready-for-tests
	@test -d "$(RDPLEARN_DATA)" || { echo "Set RDPLEARN_DATA to the folder of the paper's data sets first."; exit 1; }
	RDPLEARN_DATA="$(RDPLEARN_DATA)" $(PYTEST) -m data

# The oldest or the newest versions that pyproject.toml allows and that have wheels for this Python; extras too, but for
# PyTorch, which has none for the processor alone on every Python. Old packages warn of what newer ones have mended.
DEPENDENCIES ?= newest
CORE := tests/cli/test_commands.py tests/files tests/table/test_encoder.py tests/table/test_reading.py \
	tests/table/test_ways_in.py tests/test_clusterer.py tests/test_demo.py tests/test_detector.py tests/test_engines.py \
	tests/test_onnx.py tests/test_storage.py tests/test_table_model.py tests/test_transformer.py \
	tests/distributed/test_commands_on_a_cluster.py tests/report/test_findings.py tests/serving/test_rows.py \
	tests/sql/test_queries.py
test-core: OF_CORE := $(VENV)-core/bin
test-core:
	$(PYTHON) -m venv --clear $(VENV)-core
	$(OF_CORE)/python -m pip install --quiet --disable-pip-version-check uv
	$(OF_CORE)/uv pip install --quiet --python $(OF_CORE)/python --only-binary :all: \
	  --resolution $(if $(filter oldest,$(DEPENDENCIES)),lowest-direct,highest) -e ".[distributed,excel,onnx,serve,sql]"
	$(OF_CORE)/uv pip install --quiet --python $(OF_CORE)/python \
	  pytest pytest-xdist hypothesis pandas polars openpyxl requests
	env -u RDPLEARN_DATA OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)-core/numba \
	  $(OF_CORE)/python -m pytest -n auto --dist loadgroup $(if $(filter oldest,$(DEPENDENCIES)),-W default) $(CORE)

# MLflow and Spark have targets of their own.
test-wheel:
	$(PYTHON) -m venv --clear $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir $(VENV)-wheel .
	$(VENV)-wheel/bin/python tests/wheel.py $(VENV)-wheel/*.whl
	$(VENV)-wheel/bin/python tests/wheel.py $(VENV)-wheel/*.whl distributed excel onnx serve sql torch

# Spark weighs half a gigabyte with its Java, and takes half a minute to start: a command of its own.
test-spark: $(VENV)/ready-for-tests
	@command -v java > /dev/null && exit; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	  export DEBIAN_FRONTEND=noninteractive; \
	  timeout 600 sh -c "apt-get -q update; apt-get -q install -y --no-install-recommends default-jre-headless" \
	    > /dev/null 2>&1 && exit; \
	fi; \
	echo "There is no Java here: the tests of Spark are skipped."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt pyspark
	$(PYTEST) -n 1 -m apart tests/spark

# MLflow holds pyarrow back, so its flavour is tested in an environment of its own, which is made anew each time.
test-mlflow:
	$(PYTHON) -m venv --clear $(VENV)-mlflow
	$(VENV)-mlflow/bin/python -m pip install --quiet --disable-pip-version-check ".[mlflow]" pytest hypothesis
	$(VENV)-mlflow/bin/python -m pytest -W default tests/test_mlflow.py

# The extended isolation forest, a competitor in the experiments, is compiled for many minutes: there is no wheel of it.
test-isotree: $(VENV)/ready-for-tests
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt isotree
	$(PYTEST) -n 1 -m apart tests/experiments

# A link to a page or a heading that is not there is a warning, too, so links are checked without a network.
docs: $(VENV)/ready-for-docs
	rm -rf docs/api  # pages of names that are gone
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --fresh-env -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

lint: $(VENV)/ready-for-tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/zizmor --offline --quiet .github

benchmark: $(VENV)/ready-for-tests
	$(BIN)/python -m benchmarks all

# PostgreSQL is tested for real, where it is or may be installed; elsewhere these tests are skipped.
postgresql:
	@ls /usr/lib/postgresql/*/bin/postgres > /dev/null 2>&1 || command -v postgres > /dev/null && exit; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	  export DEBIAN_FRONTEND=noninteractive; \
	  timeout 600 sh -c "apt-get -q update; apt-get -q install -y --no-install-recommends postgresql" \
	    > /dev/null 2>&1 && exit; \
	fi; \
	echo "There is no PostgreSQL here: its tests are skipped."

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
	@test -n "$(PYTHON)" || { echo "rdplearn needs Python 3.11 or newer, and none was found. Install one, or run: make PYTHON=/path/to/python test"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

# PyTorch first, in the exact version: a range would fetch gigabytes of GPU libraries.
$(VENV)/ready-for-tests: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$(grep '^torch==' constraints.txt)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group dev
	touch $@

# pip 25.1 and later know dependency groups.
$(VENV)/ready-for-docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group docs
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-core $(VENV)-mlflow $(VENV)-wheel build dist docs/_build docs/api docs/gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis
