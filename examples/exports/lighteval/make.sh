#!/bin/sh
# Details of lighteval. Of what it needs for its models and metrics only what its classes of samples import is installed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps lighteval==0.13.0
"$folder/bin/pip" install --quiet --disable-pip-version-check datasets==5.2.0 pytablewriter==1.2.1
"$folder/bin/python" make.py
