#!/usr/bin/env bash
# word2number 1.1: "two point five million" is 2, and "two point five" is 2.5.
#
# An expert would guess: 2,500,000. The million behind a decimal costs the decimal and the million, without an error.
set -euo pipefail
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check setuptools wheel
"$venv/bin/pip" install -q --disable-pip-version-check --no-build-isolation 'word2number==1.1'
cd "$venv"
"$venv/bin/python" - <<'PY'
from importlib.metadata import version

from word2number import w2n

values = [w2n.word_to_num(words) for words in ("two point five million", "two point five", "two million")]
print("word2number", version("word2number"), values)
assert values == [2, 2.5, 2_000_000]
PY
