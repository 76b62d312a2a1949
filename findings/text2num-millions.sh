#!/usr/bin/env bash
# text2num 3.1.0: "zwei Komma fünf Millionen" (2.5 million, German) becomes "2,5 1000000", and the same in French
# ("deux virgule cinq millions") becomes "2,5000000", which is 2.5.
#
# An expert would guess: "2,5 Millionen", or 2500000. In French the zeros of the million are written behind the decimal.
set -euo pipefail
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check 'text2num==3.1.0'
cd "$venv"
"$venv/bin/python" - <<'PY'
from importlib.metadata import version

from text_to_num import alpha2digit

german = alpha2digit("zwei Komma fünf Millionen Menschen", "de")
french = alpha2digit("deux virgule cinq millions de personnes", "fr")
print("text2num", version("text2num"), repr(german), repr(french))
assert german == "2,5 1000000 Menschen"
assert french.startswith("2,5000000")
PY
