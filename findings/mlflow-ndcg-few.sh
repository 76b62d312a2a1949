#!/usr/bin/env bash
# mlflow 3.18.0, ndcg_at_k(10) with three documents in the ground truth, of which one is retrieved at rank 1.
# The ideal ranking is as long as the retrieved one, whatever k is: that document alone is 1, the same document and one or
# two that are wrong are .61 and .47, and only from three retrieved documents on is it the nDCG@10 of trec_eval. So a
# retriever that gives one document is perfect, and recall_at_k(10) of the four is 1/3.
# An expert would guess .47 for each of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps mlflow==3.18.0
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check numpy==1.26.4 pandas==2.3.3 scikit-learn==1.9.1
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import sys
import types
from importlib.metadata import distribution

import pandas

package = distribution("mlflow")
# The packages' __init__ files import the tracking client and the judges; they and the aggregates are left out.
for name in ("mlflow", "mlflow.metrics", "mlflow.metrics.base"):
    module = types.ModuleType(name)
    module.__path__ = [str(package.locate_file(name.replace(".", "/")))]
    sys.modules[name] = module
module.MetricValue = types.SimpleNamespace
module.standard_aggregations = list

from mlflow.metrics.metric_definitions import _ndcg_at_k_eval_fn, _recall_at_k_eval_fn

retrieved = pandas.Series([["a"], ["a", "x"], ["a", "x", "y"], ["a", "x", "y", "z"]])
truth = pandas.Series([["a", "b", "c"]] * len(retrieved))
ndcg = [round(float(score), 2) for score in _ndcg_at_k_eval_fn(10)(retrieved, truth).scores]
recall = [round(float(score), 2) for score in _recall_at_k_eval_fn(10)(retrieved, truth).scores]
print("mlflow", package.version, "nDCG@10 of 1, 2, 3 and 4 retrieved documents", ndcg, "recall@10", recall)
assert ndcg == [1, 0.61, 0.47, 0.47], ndcg
assert recall == [0.33] * 4, recall
PYTHON
