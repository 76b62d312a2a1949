#!/usr/bin/env bash
# anyascii 0.3.3: the transliteration of "1½ m" is "11/2 m"; Unidecode's is "1 1/2 m".
#
# An expert would guess: "1 1/2 m", as by Unidecode, which anyascii is offered in place of. One and a half becomes five
# and a half.
set -euo pipefail
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check 'anyascii==0.3.3' 'Unidecode==1.4.0'
cd "$venv"
"$venv/bin/python" - <<'PY'
from importlib.metadata import version

from anyascii import anyascii
from unidecode import unidecode

texts = [anyascii("1½ m"), unidecode("1½ m"), anyascii("1⁄2 m")]
print("anyascii", version("anyascii"), texts)
assert texts[0] == "11/2 m"
assert texts[1] == "1 1/2 m"
PY
