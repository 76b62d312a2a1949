"""The declarations of files that evaluators of frameworks write: Azure's SDK, LlamaIndex.

Those of Haystack and DSPy are tables that are read by the names of their columns (`predictions`).
"""

from __future__ import annotations

from longmark.records.shapes import Shape

AZURE = Shape(
    "results of Azure AI Evaluation",
    "azure-ai-evaluation 1.18.10 (results that its evaluate wrote: examples/exports/azure_ai_evaluation)",
    keys=(),
    when="keys(@)[?starts_with(@, 'inputs.')] && keys(@)[?starts_with(@, 'outputs.')]",
    fields={
        "id": '"inputs.id"',
        "question": 'question(not_null("inputs.query", "inputs.question", "inputs.input", "inputs.prompt"))',
        # Of a target the outputs, else the column of the data.
        "answer": 'answer(not_null("outputs.response", "outputs.answer", "outputs.output", "inputs.response",'
        ' "inputs.answer"))',
        "contexts": 'not_null("outputs.context", "outputs.contexts", "inputs.context", "inputs.contexts")',
        "references": 'not_null("inputs.ground_truth", "inputs.expected_response", "inputs.reference")',
    },
    conversation=('"inputs.conversation"',),
    ignored={"results of Azure's evaluators": "keys(@)[?ends_with(@, '_result')]"},
)

LLAMA_INDEX = Shape(
    "results of LlamaIndex",
    "llama-index-core 0.14.25 (EvaluationResult, as BatchEvalRunner gives it: examples/exports/llama_index)",
    keys=("query", "response", "passing", "feedback", "score"),
    fields={
        "question": "query",
        "answer": "response",
        "contexts": "contexts",
    },
    # In JSON Lines, where an answer has a line for each evaluator.
    once="[query, response]",
    repeats="results of another evaluator",
    ignored={"results of LlamaIndex's evaluators": "evaluators || [passing]"},
)

SHAPES = (AZURE, LLAMA_INDEX)
