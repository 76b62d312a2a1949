#!/usr/bin/env bash
# ir-measures 0.4.3 (pytrec-eval-terrier 0.5.11): three documents with equal scores, as from a judge's grades.
# RR without a cutoff comes from trec_eval, which puts the last document id first among ties; RR@10 comes from the script of
# MS MARCO, which puts the first one first. For the relevant document d1 one call gives RR 1/3 and RR@10 1; for d3 RR 1 and
# RR@10 1/3. P@1 and nDCG@1 go with RR. The order of the run's lines changes nothing.
# An expert would guess that RR and RR@10 of three documents are equal.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ir-measures==0.4.3 pytrec-eval-terrier==0.5.11 numpy==1.26.4 scipy==1.17.1
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import ir_measures
from ir_measures import RR, P, Qrel, ScoredDoc, nDCG


def measured(relevant, order):
    run = [ScoredDoc("q", document, 1.0) for document in order]
    values = ir_measures.calc_aggregate([RR, RR @ 10, P @ 1, nDCG @ 1], [Qrel("q", relevant, 1)], run)
    return {str(measure): round(value, 3) for measure, value in values.items()}


for order in (["d1", "d2", "d3"], ["d3", "d1", "d2"]):
    first, last = measured("d1", order), measured("d3", order)
    print("ir-measures", version("ir-measures"), "order", order, "d1 relevant", first, "d3 relevant", last)
    assert first == {"RR": 0.333, "RR@10": 1.0, "P@1": 0.0, "nDCG@1": 0.0}, first
    assert last == {"RR": 1.0, "RR@10": 0.333, "P@1": 1.0, "nDCG@1": 1.0}, last
PYTHON
