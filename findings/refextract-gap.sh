#!/usr/bin/env bash
# refextract 1.1.7: a list of references in which a number is left out, as in an excerpt: [1], [2], [4], [5].
# From the gap on, all lines are read as a part of the reference before it: four references come out, and the last two have
# the line marker 2 of the one before, with their own numbers among the miscellaneous texts. Without the gap each has its own.
# An expert would guess the markers as they are written: 1, 2, 4, 5.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check refextract==1.1.7 inspire-utils==3.0.70 pypdf==6.21.4 python-magic==0.4.27 Unidecode==1.4.0
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from refextract import extract_references_from_string

LINES = [
    "J. Doe, Phys. Rev. D 82, 024010 (2010).",
    "R. Poe, Nature 83, 1 (2011).",
    "A. Roe, JHEP 05, 123 (2015).",
    "B. Moe, Science 7, 9 (2016).",
]


def markers(numbers):
    text = "\n".join(f"[{number}] {line}" for number, line in zip(numbers, LINES))
    references = extract_references_from_string(text, is_only_references=True)
    return [(*reference["linemarker"], *reference["author"], reference.get("misc")) for reference in references]


complete = markers([1, 2, 3, 4])
gap = markers([1, 2, 4, 5])
print("refextract", version("refextract"), "complete", complete, "with a gap", gap)
assert [marker for marker, *_ in complete] == ["1", "2", "3", "4"], complete
assert gap == [
    ("1", "J. Doe", None),
    ("2", "R. Poe", None),
    ("2", "A. Roe", ["[4]"]),
    ("2", "B. Moe", ["[5]"]),
], gap
PYTHON
