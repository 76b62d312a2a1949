#!/usr/bin/env bash
# AutoRAG 0.3.27, retrieval metrics: the truth [["a", "b"], ["c"]] wants c, and one of a and b.
# Recall counts the groups, nDCG counts the passages: a and b, of which one would do, and no c are recall .5 and nDCG 1; a and
# c are recall 1 and nDCG 1; an alternative alone, a and a wrong passage for [["a", "b"]], is recall 1 and nDCG .61. A passage
# that is retrieved twice counts twice: a, a for [["a"], ["b"]] is recall .5 and nDCG 1.
# An expert would guess less than 1 for the first and the last, and 1 for the alternative alone.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps AutoRAG==0.3.27
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check numpy==1.26.4 pandas==2.3.3
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import sys
import types
from importlib.metadata import distribution

package = distribution("AutoRAG")
# The packages' __init__ files import every retriever; they are left out, as is what makes lists of the inputs: they are lists.
for name in ("", ".evaluation", ".evaluation.metric", ".schema", ".utils", ".utils.util"):
    module = types.ModuleType(f"autorag{name}")
    module.__path__ = [str(package.locate_file(module.__name__.replace(".", "/")))]
    sys.modules[module.__name__] = module
module.convert_inputs_to_list = lambda function: function

from autorag.evaluation.metric.retrieval import retrieval_ndcg, retrieval_recall
from autorag.schema.metricinput import MetricInput

cases = [
    ([["a", "b"], ["c"]], ["a", "b"]),
    ([["a", "b"], ["c"]], ["a", "c"]),
    ([["a", "b"]], ["a", "x"]),
    ([["a"], ["b"]], ["a", "a"]),
]
inputs = [MetricInput(retrieval_gt=truth, retrieved_ids=retrieved) for truth, retrieved in cases]
recall = [round(float(score), 2) for score in retrieval_recall(inputs)]
ndcg = [round(float(score), 2) for score in retrieval_ndcg(inputs)]
print("AutoRAG", package.version, "recall", recall, "nDCG", ndcg)
assert recall == [0.5, 1, 1, 0.5], recall
assert ndcg == [1, 1, 0.61, 1], ndcg
PYTHON
