#!/bin/sh
# Make the environment and install one lock into it: setup.sh VENV base|dev|interop. Called by make when a lock changed.
set -eu
venv=$1
lock=$2

python=
for candidate in python3 python3.14 python3.13 python3.12 python3.11 python; do
  if command -v "$candidate" >/dev/null 2>&1 \
    && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python=$(command -v "$candidate")
    break
  fi
done
if [ -z "$python" ]; then
  echo "Soundcheck needs Python 3.11 or newer; install it and run make again." >&2
  exit 1
fi

uv=$(command -v uv || true)
if [ ! -x "$venv/bin/python" ]; then
  if [ -n "$uv" ]; then
    "$uv" venv --quiet --seed --python "$python" "$venv"
  elif "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    "$python" -m venv "$venv"
  elif "$python" -m pip --version >/dev/null 2>&1; then
    # Debian's Python without python3-venv: virtualenv needs nothing from the system
    helper=$(mktemp -d)
    trap 'rm -rf "$helper"' EXIT
    "$python" -m pip install --quiet --target "$helper" virtualenv
    PYTHONPATH=$helper "$python" -m virtualenv --quiet "$venv"
  else
    echo "This Python has neither venv nor pip; install python3-venv (or uv) and run make again." >&2
    exit 1
  fi
fi

echo "Installing requirements/$lock.txt into $venv ..." >&2
if [ -n "$uv" ]; then
  VIRTUAL_ENV=$venv "$uv" pip install --quiet --compile-bytecode --require-hashes -r "requirements/$lock.txt"
else
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "requirements/$lock.txt"
fi
touch "$venv/.$lock"
# the development lock holds everything that the base lock has
[ "$lock" != dev ] || touch "$venv/.base"
