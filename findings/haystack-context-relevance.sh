#!/usr/bin/env bash
# haystack-ai 3.4.1, ContextRelevanceEvaluator with raise_on_failure=False.
# The text "none" where a list of statements was asked for counts as relevant (1), as does the list ["None"]. A reply that is no JSON is
# nan among the individual scores, and is left out of the mean: of the four replies 1, 1, 0, nan the score is 2/3.
# An expert would guess that the mean with a nan among the scores is nan.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check haystack-ai==3.4.1
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import logging
import math
import os
from importlib.metadata import version

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
logging.disable(logging.CRITICAL)
from haystack import component
from haystack.components.evaluators import ContextRelevanceEvaluator
from haystack.dataclasses import ChatMessage


@component
class Written:
    """A generator that gives the replies in turn."""

    def __init__(self, replies):
        self.replies = list(replies)

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]):
        return {"replies": [ChatMessage.from_assistant(self.replies.pop(0))]}


replies = [
    '{"relevant_statements": "none"}',
    '{"relevant_statements": ["None"]}',
    '{"relevant_statements": []}',
    "not JSON",
]
evaluator = ContextRelevanceEvaluator(chat_generator=Written(replies), raise_on_failure=False, progress_bar=False)
result = evaluator.run(questions=["q"] * 4, contexts=[["c"]] * 4)
scores = result["individual_scores"]
print("haystack-ai", version("haystack-ai"), "scores", scores, "mean", result["score"])
assert scores[:3] == [1, 1, 0] and math.isnan(scores[3]), scores
assert abs(result["score"] - 2 / 3) < 1e-9, result["score"]
PYTHON
