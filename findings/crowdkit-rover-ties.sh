#!/usr/bin/env bash
# crowd-kit 1.4.2, ROVER: two transcripts of one task that differ by a word.
# A draw is decided by the length of the word, then by the alphabet, and no word counts as the shortest. So an extra word
# is always kept: "it is true" and "it is not true" become "it is not true" in either order; "no" and "yes" become "yes".
# An expert would guess that the first transcript wins a draw: "it is true".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps crowd-kit==1.4.2
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check attrs==26.1.0 numpy==1.26.4 pandas==2.3.3 scipy==1.12.0 scikit-learn==1.9.1 nltk==3.10.4 tqdm==4.70.1
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pandas
from crowdkit.aggregation import ROVER


def joined(*texts):
    rows = [("task", f"w{number}", text) for number, text in enumerate(texts)]
    table = pandas.DataFrame(rows, columns=["task", "worker", "text"])
    return ROVER(str.split, " ".join, silent=True).fit_predict(table)["task"]


pairs = [("it is true", "it is not true"), ("it is not true", "it is true"), ("no", "yes"), ("yes", "no")]
texts = {pair: joined(*pair) for pair in pairs}
print("crowd-kit", version("crowd-kit"), texts)
assert list(texts.values()) == ["it is not true", "it is not true", "yes", "yes"], texts
PYTHON
