#!/usr/bin/env bash
# continuous-eval 0.3.14.post2, RankedRetrievalMetrics: a is retrieved at rank 1, the truth is a and b.
# Average precision is divided by the relevant chunks that were retrieved, not by those there are: it is 1, as it is when b is
# retrieved, too; b at rank 3 lowers it to .83. So a retriever is better off without the second right chunk. nDCG is .61.
# An expert would guess .5, as trec_eval has it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps continuous-eval==0.3.14.post2
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check rouge==1.0.1
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import sys
import types
from importlib.metadata import distribution

package = distribution("continuous-eval")
# The packages' __init__ files and the base class import providers' clients and telemetry; they are left out.
for name in ("continuous_eval", "continuous_eval.metrics", "continuous_eval.metrics.retrieval", "continuous_eval.metrics.base"):
    module = types.ModuleType(name)
    module.__path__ = [str(package.locate_file(name.replace(".", "/")))]
    sys.modules[name] = module
module.Metric = type("Metric", (), {"__init__": lambda self, *arguments, **options: None})
module.Field = object

from continuous_eval.metrics.retrieval.matching_strategy import ExactChunkMatch
from continuous_eval.metrics.retrieval.ranked import RankedRetrievalMetrics


def measured(*retrieved):
    scores = RankedRetrievalMetrics(ExactChunkMatch()).compute(list(retrieved), ["a", "b"])
    return round(scores["average_precision"], 2), round(scores["ndcg"], 2)


alone, both, late = measured("a", "x", "y"), measured("a", "b", "x"), measured("a", "x", "b")
print("continuous-eval", package.version, "AP and nDCG: a alone", alone, "both", both, "b at rank 3", late)
assert alone == (1, 0.61), alone
assert both == (1, 1), both
assert late == (0.83, 0.92), late
PYTHON
