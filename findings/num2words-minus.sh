#!/usr/bin/env bash
# num2words 0.5.14: -0.5 is "zero point five" in English, "null Komma fünf" in German; -1.5 has its minus.
#
# An expert would guess: "minus zero point five". The sign is taken from the whole part, and that of -0.5 is 0.
set -euo pipefail
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check 'num2words==0.5.14'
cd "$venv"
"$venv/bin/python" - <<'PY'
from importlib.metadata import version

from num2words import num2words

words = [num2words(value, lang=lang) for value in (-0.5, -1.5) for lang in ("en", "de")]
print("num2words", version("num2words"), words)
assert words[:2] == ["zero point five", "null Komma fünf"]
assert words[2:] == ["minus one point five", "minus eins Komma fünf"]
PY
