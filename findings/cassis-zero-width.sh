#!/usr/bin/env bash
# dkpro-cassis 0.12.0, select_covered: annotations without width at the ends of a covering one.
# A mark without width at the beginning of a sentence is covered by it, one at its end is not: of the marks (0, 0), (4, 4), (5, 5) and
# (9, 9) the sentences (0, 4) and (5, 9) cover (0, 0) and (5, 5).
# An expert would guess that both ends are inclusive, by begin >= and end <=.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check dkpro-cassis==0.12.0
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import warnings
from importlib.metadata import version

warnings.filterwarnings("ignore")
from cassis import Cas, TypeSystem

types = TypeSystem()
Mark = types.create_type("x.Mark", "uima.tcas.Annotation")
Sentence = types.create_type("x.Sentence", "uima.tcas.Annotation")
cas = Cas(types)
cas.sofa_string = "One. Two."
sentences = [Sentence(begin=0, end=4), Sentence(begin=5, end=9)]
cas.add_all(sentences)
cas.add_all([Mark(begin=place, end=place) for place in (0, 4, 5, 9)])
covered = [[(mark.begin, mark.end) for mark in cas.select_covered("x.Mark", sentence)] for sentence in sentences]
print("dkpro-cassis", version("dkpro-cassis"), "covered by each sentence:", covered)
assert covered == [[(0, 0)], [(5, 5)]], covered
PYTHON
