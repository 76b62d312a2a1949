#!/usr/bin/env bash
# llama-index-core 0.14.25, AnswerRelevancyEvaluator and ContextRelevancyEvaluator, which ask for "[RESULT] " and a score of at most 2 (4).
# The answer's evaluator reads one digit: 1.5 is 1, a score of .5, and 10 is 1, too. The context's reads 1.5 and 10 as they are: .375 and
# 2.5, though its scores go to 1. No row says that a reply was out of the scale, and passing is None.
# An expert would guess .75 for the answer with 1.5, and that 10 is refused or capped.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check llama-index-core==0.14.25
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
from importlib.metadata import version

from llama_index.core.evaluation import AnswerRelevancyEvaluator, ContextRelevancyEvaluator
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata


class Written(CustomLLM):
    """A judge with one reply."""

    reply: str

    @property
    def metadata(self):
        return LLMMetadata()

    def complete(self, prompt, formatted=False, **options):
        return CompletionResponse(text=self.reply)

    def stream_complete(self, *arguments, **options):
        raise NotImplementedError


def result(evaluator, reply):
    return evaluator(llm=Written(reply=reply)).evaluate(query="q", response="a", contexts=["c"])


scores = [
    result(evaluator, f"It fits. [RESULT] {points}").score
    for evaluator in (AnswerRelevancyEvaluator, ContextRelevancyEvaluator)
    for points in ("1.5", "10")
]
high = result(AnswerRelevancyEvaluator, "It fits. [RESULT] 10")
print("llama-index-core", version("llama-index-core"), "answer 1.5, 10; context 1.5, 10:", scores)
assert scores == [0.5, 0.5, 0.375, 2.5], scores
assert high.passing is None and not high.invalid_result, high
PYTHON
