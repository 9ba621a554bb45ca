# make run    all set-up, then the site with the demo
# make test   all set-up, then the tests
.PHONY: setup run test check lock vendor slow clean interop-setup interop interop-hf

# where it is set, as in many images, each of the many processes of a test compiles all that it imports
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
INTEROP := .interop
# one more than there are cores: tests wait for sockets and processes half of their time
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

setup: $(VENV)/.dev

run: $(VENV)/.base
	@exec $(BIN)/python manage.py up $(UP)

test: $(VENV)/.dev
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(PYTEST)

# side by side what does not keep time, the longest first (tests/conftest.py); then what does, alone
slow: $(VENV)/.dev
	@$(BIN)/python -m pytest -m "slow and not alone" -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(PYTEST)
	@$(BIN)/python -m pytest -m "slow and alone" $(PYTEST)

# clients and servers that others wrote, in an environment of their own
interop-setup: $(INTEROP)/.ready

interop: $(VENV)/.dev $(INTEROP)/.ready
	@REQUIRE=interop $(BIN)/python -m pytest -m slow tests/interop $(PYTEST)

# Hugging Face's speech-to-speech, where it is installed: docs/interop.md says how
interop-hf: $(VENV)/.dev $(INTEROP)/.ready
	@REQUIRE=interop,$(REQUIRE) $(BIN)/python -m pytest -m slow -rs tests/interop/test_speech_to_speech.py $(PYTEST)

check: $(VENV)/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports
	@$(BIN)/mypy
	@$(BIN)/python manage.py makemigrations --check --dry-run

lock: $(VENV)/.dev
	@$(BIN)/uv pip compile --universal --generate-hashes --python-version 3.11 --no-header --quiet \
	  pyproject.toml --extra postgres -o requirements/base.txt
	@$(BIN)/uv pip compile --universal --generate-hashes --python-version 3.11 --no-header --quiet \
	  pyproject.toml --extra postgres --group dev -c requirements/base.txt -o requirements/dev.txt
	@$(BIN)/uv pip compile --universal --generate-hashes --python-version 3.11 --no-header --quiet \
	  requirements/interop.in -o requirements/interop.txt

vendor: $(VENV)/.dev
	@$(BIN)/python scripts/vendor.py

$(VENV)/.base: requirements/base.txt scripts/setup.sh
	@sh scripts/setup.sh $(VENV) base

$(VENV)/.dev: requirements/dev.txt scripts/setup.sh
	@sh scripts/setup.sh $(VENV) dev

$(INTEROP)/.ready: requirements/interop.txt tests/interop/node/package-lock.json scripts/setup.sh scripts/setup_interop.sh
	@sh scripts/setup_interop.sh $(INTEROP)

clean:
	rm -rf $(VENV) $(INTEROP) tests/interop/node/node_modules .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
