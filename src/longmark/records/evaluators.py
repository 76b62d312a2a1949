"""The declarations of files that evaluators of frameworks and harnesses write: Azure's SDK, LlamaIndex, HELM, OpenCompass.

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

HELM_PREDICTIONS = Shape(
    "predictions of HELM",
    "stanford-crfm/helm (src/helm/benchmark/presentation/run_display.py: DisplayPrediction, display_predictions.json)",
    keys=("instance_id", "train_trial_index", "predicted_text", "stats"),
    fields={
        "id": "join('-', [instance_id, to_string(train_trial_index)])",
        "question_id": "instance_id",  # whose text is in instances.json: --questions
        "answer": "predicted_text",
    },
    ignored={"scores of HELM": "stats"},
    skips={
        "answers to perturbed questions": "perturbation",
        "probabilities of choices": "type(reference_index) == 'number'",
    },
)

HELM_INSTANCES = Shape(
    "instances of HELM",
    "stanford-crfm/helm (src/helm/benchmark/scenarios/scenario.py: Instance; instances.json)",
    keys=("input", "references", "id"),
    when="type(input) == 'object' && type(references) == 'array' && type(input.text) == 'string'",
    fields={
        "id": "id",
        "question_id": "id",
        "question": "input.text",
        "references": "references[?contains(not_null(tags, `[]`), 'correct')].output.text",
    },
    ignored={"wrong choices": "references[?!contains(not_null(tags, `[]`), 'correct')]"},
    skips={"perturbed questions": "perturbation"},
)

OPENCOMPASS = Shape(
    "predictions of OpenCompass",
    "open-compass/opencompass (opencompass/openicl/icl_inferencer: GenInferencerOutputHandler)",
    keys=("origin_prompt", "prediction"),
    fields={
        "id": "idx",
        "question": "type(origin_prompt) == 'string' && origin_prompt"
        " || (origin_prompt[?role == 'HUMAN'] | [-1].prompt)",
        "answer": "prediction",
        "references": "gold",
    },
)

PRODIGY = Shape(
    "annotations of Prodigy, which are labels and no answers: `longmark metaeval ROWS FILE` reads them",
    "prodigy 1.15 (prodi.gy/docs/api-interfaces: answer is accept, reject or ignore)",
    keys=("_task_hash", "answer"),
    when="contains(['accept', 'reject', 'ignore'], answer)",
    fields={"id": "`null`", "question": "`null`", "answer": "`null`"},
)

SHAPES = (PRODIGY, AZURE, LLAMA_INDEX, HELM_PREDICTIONS, HELM_INSTANCES, OPENCOMPASS)
