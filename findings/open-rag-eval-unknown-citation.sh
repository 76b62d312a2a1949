#!/usr/bin/env bash
# open-rag-eval 0.3.0, CitationMetric: a part of the answer whose only citation is of a passage that was not retrieved.
# The part is left out of the mean over parts, though recall is documented as the sum over the total parts. An answer of two
# parts, the first supported by its citation, has recall .5 (F1 .667) while the second has no citation, and recall 1 (F1 1)
# once the second gets one that leads nowhere.
# An expert would guess recall .5 for both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps open-rag-eval==0.3.0
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pydantic==2.14.4
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

import logging

logging.disable(logging.CRITICAL)
from open_rag_eval.data_classes.rag_results import (
    AugmentedGenerationResult,
    GeneratedAnswerPart,
    RAGResult,
    RetrievalResult,
)
from open_rag_eval.metrics.citation_metric import CitationMetric


class Judge:
    """A judge that finds full support whenever it is asked."""

    def parse(self, prompt, response_format, model_kwargs):
        return {"response": response_format(support="full_support"), "metadata": {}}


def scores(citations):
    parts = [
        GeneratedAnswerPart(text="Whales are mammals.", citations=["[1]"]),
        GeneratedAnswerPart(text="Sharks are fish.", citations=citations),
    ]
    retrieved = RetrievalResult(query="q", retrieved_passages={"[1]": "first", "[2]": "second"})
    result = CitationMetric(Judge()).compute(
        RAGResult(
            retrieval_result=retrieved,
            generation_result=AugmentedGenerationResult(query="q", generated_answer=parts),
        )
    )
    return [round(result[name], 3) for name in ("weighted_precision", "weighted_recall", "f1")]


uncited = scores([])
unknown = scores(["[9]"])
print("open-rag-eval", package.version, "precision, recall, F1: uncited", uncited, "unknown passage", unknown)
assert uncited == [1, 0.5, 0.667], uncited
assert unknown == [1, 1, 1], unknown
PYTHON
