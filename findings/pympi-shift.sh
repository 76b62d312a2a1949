#!/usr/bin/env bash
# pympi-ling 1.71, Elan.Eaf.shift_annotations(-600), ELAN's annotations in milliseconds.
# An annotation that would begin before 0 begins at 0 and keeps its end: 500 to 1500 becomes 0 to 1500, and 0 to 1000 stays where it is,
# while one that begins at 1600 is moved by 600. The order on the tier is lost: 1600 to 1700 is 1000 to 1100, inside the first.
# An expert would guess 0 to 900 and 0 to 400: the end is moved, the beginning cut.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pympi-ling==1.71
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
from importlib.metadata import version

from pympi.Elan import Eaf

recording = Eaf()
recording.add_tier("a")
recording.add_tier("b")
recording.add_annotation("a", 0, 1000, "begins the recording")
recording.add_annotation("b", 500, 1500, "early")
recording.add_annotation("b", 1600, 1700, "late")
recording.shift_annotations(-600)
times = {
    text: (start, end)
    for tier in ("a", "b")
    for start, end, text in recording.get_annotation_data_for_tier(tier)
}
print("pympi-ling", version("pympi-ling"), times)
assert times == {"begins the recording": (0, 1000), "early": (0, 1500), "late": (1000, 1100)}, times
PYTHON
