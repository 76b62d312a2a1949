#!/usr/bin/env bash
# open-rag-eval 0.3.0, AutoNuggetMetric: an answer that supports every nugget, none of which is merely okay.
# The weighted score counts an okay nugget that is not there: all of two vital nuggets supported is All 1, Vital 1 and
# Weighted .8, since the denominator is 2 + .5. With one okay nugget that is supported, too, it is 1. Without a vital
# nugget, two okay ones supported are .5.
# An expert would guess 1 for a perfect answer, whatever its nuggets are.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps open-rag-eval==0.3.0
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pydantic==2.14.4 numpy==1.26.4
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import sys
import types
from importlib.metadata import distribution

package = distribution("open-rag-eval")
# The packages' __init__ files import every metric and every provider's client; they are left out.
for name in ("metrics", "models", "data_classes"):
    module = types.ModuleType(f"open_rag_eval.{name}")
    module.__path__ = [str(package.locate_file(f"open_rag_eval/{name}"))]
    sys.modules[module.__name__] = module
judges = types.ModuleType("open_rag_eval.models.llm_judges")
judges.LLMJudgeModel = object
sys.modules[judges.__name__] = judges

from open_rag_eval.data_classes.rag_results import (
    AugmentedGenerationResult,
    GeneratedAnswerPart,
    RAGResult,
    RetrievalResult,
)
from open_rag_eval.metrics.autonugget_metric import AutoNuggetMetric


class Judge:
    """A judge that lists the nuggets, labels them as it was told, and finds all of them in the answer."""

    def __init__(self, labels):
        self.fields = {
            "nuggets": [f"nugget {number}" for number in range(len(labels))],
            "importance": labels,
            "assignment": ["support"] * len(labels),
        }

    def parse(self, prompt, response_format, model_kwargs):
        (field,) = response_format.model_fields
        return {"response": response_format(**{field: self.fields[field]}), "metadata": {}}


result = RAGResult(
    retrieval_result=RetrievalResult(query="q", retrieved_passages={"p": "passage"}),
    generation_result=AugmentedGenerationResult(
        query="q", generated_answer=[GeneratedAnswerPart(text="answer", citations=[])]
    ),
)
weighted = {}
for labels in (["vital", "vital"], ["vital", "vital", "okay"], ["okay", "okay"]):
    scores = AutoNuggetMetric(Judge(labels)).compute(result, {"p": 3})["nuggetizer_scores"]
    weighted[" ".join(labels)] = scores["All"], scores["Vital"], scores["Weighted"]
print("open-rag-eval", package.version, "All, Vital, Weighted of perfect answers:", weighted)
assert list(weighted.values()) == [(1, 1, 0.8), (1, 1, 1), (1, 0, 0.5)], weighted
PYTHON
