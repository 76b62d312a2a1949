#!/usr/bin/env bash
# dateparser 1.5.0: `search_dates` finds two dates in a German sentence that has a height and a length and no date.
#
# An expert would guess: none. The height of 12 m is the day a year ago, and the decimal comma of "und 3,5 km" is between
# a day and a month: the fifth of March, with the conjunction as a part of what was found. In English the same height is
# twelve minutes ago.
set -euo pipefail
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check 'dateparser==1.5.0'
cd "$venv"
"$venv/bin/python" - <<'PY'
from datetime import datetime
from importlib.metadata import version

from dateparser.search import search_dates

settings = {"RELATIVE_BASE": datetime(2026, 6, 15, 12, 0)}
german = search_dates("Der Damm ist 12 m hoch und 3,5 km lang.", languages=["de"], settings=settings)
english = search_dates("The dam is 12 m high and 3.5 km long.", languages=["en"], settings=settings)
print("dateparser", version("dateparser"), german, english)
assert [words for words, _ in german] == ["12 m", "und 3,5"]
assert german[0][1] == datetime(2025, 6, 15, 12, 0)
assert (german[1][1].month, german[1][1].day) == (3, 5)
assert english == [("12 m", datetime(2026, 6, 15, 11, 48))]
PY
