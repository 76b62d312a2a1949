#!/bin/sh
# Runs test_received.py with the pinned releases of the tools that `export --to` writes for. It needs a network.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check "$here" pytest inspect_ai==0.3.285 langfuse==5.0.4 \
  label-studio-sdk==2.1.2 opentelemetry-proto==1.45.2
cd "$folder"
"$folder/bin/python" -m pytest -q --noconftest -p no:cacheprovider --rootdir "$folder" "$here/tests/scores/test_received.py"
