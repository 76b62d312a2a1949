#!/usr/bin/env bash
# budoux 0.10.1, the default Japanese parser: a date with a year of four digits.
# A number is cut between its digits: 2023 becomes 202 and 3, so that a line may break within the year.
# An expert would guess phrases such as 2023 with its character for year.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check budoux==0.10.1
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import budoux

phrases = budoux.load_default_japanese_parser().parse("会議は2023年10月5日に開かれた。")
print("budoux", version("budoux"), phrases)
assert phrases == ["会議は", "202", "3年10月5日に", "開かれた。"], phrases
PYTHON
