#!/bin/sh
# in_venv.sh SCRIPT PACKAGE==VERSION...: runs a script with pinned packages, in a virtual environment that is removed.
set -eu
script=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check "$@"
"$folder/bin/python" "$script"
