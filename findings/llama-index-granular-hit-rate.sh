#!/usr/bin/env bash
# llama-index-core 0.14.25, HitRate with use_granular_hit_rate: the documents a and b are expected, and several retrieved chunks are of a.
# Each of them is a hit, divided by the expected documents: a, a is 1 though b is missing, and a, a, a is 1.5. NDCG and
# AveragePrecision of a, a, a are above 1, too (1.31 and 1.5). Recall is .5 for both.
# An expert would guess .5, the share of the expected documents that are there.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check llama-index-core==0.14.25
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from llama_index.core.evaluation.retrieval.metrics import NDCG, AveragePrecision, HitRate, Recall


def measured(retrieved):
    metrics = HitRate(use_granular_hit_rate=True), Recall(), NDCG(), AveragePrecision()
    scores = (metric.compute(expected_ids=["a", "b"], retrieved_ids=retrieved).score for metric in metrics)
    return [round(float(score), 2) for score in scores]


two, three = measured(["a"] * 2), measured(["a"] * 3)
print("llama-index-core", version("llama-index-core"), "hit rate, recall, NDCG, AP: a a", two, "a a a", three)
assert two == [1, 0.5, 1, 1], two
assert three == [1.5, 0.5, 1.31, 1.5], three
PYTHON
