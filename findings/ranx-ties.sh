#!/usr/bin/env bash
# ranx 0.3.21 (numba 0.68.1, NumPy 1.26.4): documents with equal scores.
# The order of ties depends on how many documents a run has. With ten equal scores the second document that was inserted has rank 2
# (MRR .5), with twenty the same document has rank 18 (MRR .056).
# An expert would guess the order of insertion, or its reverse, for both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ranx==0.3.21 numba==0.68.1 numpy==1.26.4
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from ranx import Qrels, Run, evaluate

found = {}
for count in (10, 20):
    run = Run({"q": {f"d{number:02d}": 1.0 for number in range(count)}})
    found[count] = float(evaluate(Qrels({"q": {"d01": 1}}), run, "mrr"))
print("ranx", version("ranx"), "MRR of the second of n ties:", {n: round(mrr, 4) for n, mrr in found.items()})
assert abs(found[10] - 1 / 2) < 1e-9 and abs(found[20] - 1 / 18) < 1e-9, found
PYTHON
