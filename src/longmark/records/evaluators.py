"""The declarations of files that evaluators of frameworks and harnesses write: Azure's SDK, LlamaIndex, HELM, OpenCompass,
lighteval, evalscope, Giskard.

Those of Haystack and DSPy are tables that are read by the names of their columns (`predictions`).
"""

from __future__ import annotations

from longmark.records.shapes import Shape

AZURE = Shape(
    "results of Azure AI Evaluation",
    "azure-ai-evaluation 1.18.10 (results that its evaluate wrote: examples/exports/azure_ai_evaluation)",
    keys=(),
    columns=("inputs.*", "outputs.*"),
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

LIGHTEVAL = Shape(
    "details of lighteval",
    "lighteval 0.13.0 (details that its classes wrote: examples/exports/lighteval; logging/evaluation_tracker.py)",
    keys=("doc", "metric", "model_response"),
    fields={
        "id": "doc.id",
        "question": "not_null(doc.original_query, doc.query)",
        # What its metrics score: the text without the reasoning, where it was told to leave it out.
        "answer": "not_null(model_response.text_post_processed, model_response.text)[0]",
        "references": "gold_choices(doc)",
    },
    meta={"task": "doc.task_name"},
    ignored={
        "further replies to a document": "not_null(model_response.text_post_processed, model_response.text)[1:]",
        "images": "doc.images",
        "scores of lighteval": "metric",
    },
    skips={"log-likelihoods without a text": "!(model_response.text)"},
    twice="; details do not name their model: put those of each model and task into a file of their own",
)

_EVALSCOPE = "evalscope 1.14.1 (files that its run wrote: examples/exports/evalscope; api/evaluator/cache.py)"
EVALSCOPE_PREDICTIONS = Shape(
    "predictions of evalscope",
    _EVALSCOPE,
    keys=("index", "model", "model_output"),
    fields={
        "id": "to_string(index)",
        "question": "scored_question(messages)",
        "answer": "scored_answer(model_output.choices[0].message)",
        "system": "model",
    },
    conversation=("messages",),
    failed="model_output.error",
    ignored={"further choices of a reply": "model_output.choices[1:]"},
)

EVALSCOPE_REVIEWS = Shape(
    "reviews of evalscope",
    _EVALSCOPE,
    keys=("index", "sample_score"),
    fields={
        "id": "to_string(index)",
        "question": "not_null(scored_question(messages), input)",
        "answer": "not_null(sample_score.score.prediction, scored_answer(messages))",
        "references": "target",
    },
    meta={
        "extracted_prediction": "sample_score.score.extracted_prediction",
        "group_id": "sample_score.group_id",  # of several replies to one question
    },
    conversation=("messages",),
    ignored={"scores of evalscope": "sample_score.score.value"},
)

GISKARD = Shape(
    "a test set or a report of Giskard",
    "giskard 2.19.2 (rag/testset.py: QATestset.save; rag/report.py: to_pandas)",
    keys=("question", "reference_answer", "reference_context"),
    fields={
        "id": "id",
        "question": "question",
        "answer": "not_null(agent_answer, assistant)",
        "references": "reference_answer",
    },
    # The passage that a question was made from is no retrieval.
    meta={"reference_context": "reference_context"},
    beside="metadata",
    conversation=(
        "listed(conversation_history)",  # in CSV as Python prints it
        "listed(conversation_history)[0] && [{role: 'user', content: question}]",
    ),
    ignored={"results of Giskard's metrics": "[correctness][?type(@) == 'boolean']"},
)

GISKARD_ANSWERS = Shape(
    "answers of a report of Giskard, whose questions are in testset.jsonl: write both with "
    "report.to_pandas().reset_index().to_json(FILE, orient='records', lines=True)",
    "giskard 2.19.2 (rag/report.py: save, agent_answer.json)",
    keys=("message", "documents"),
    when="length(keys(@)) == `2`",
    fields={"question": "`null`", "answer": "`null`"},
)

AUTORAG = Shape(
    "results of AutoRAG",
    "AutoRAG 0.3.27 (nodes/generator: columns of a node's result, with those of qa.parquet)",
    keys=("query", "generated_texts"),
    fields={
        "id": "qid",
        "question_id": "qid",
        "question": "query",
        "answer": "generated_texts",
        "contexts": "retrieved_contents",
        "references": "generation_gt",
    },
    ignored={
        "results of AutoRAG's metrics": "[rouge, bleu, meteor, sem_score, bert_score, g_eval][?@]"
    },
)

TONIC = Shape(
    "runs of Tonic Validate",
    "tonic-validate 6.2.0 (classes/run.py: RunData.to_dict)",
    keys=("reference_question", "llm_answer"),
    fields={
        "question": "reference_question",
        "answer": "llm_answer",
        "contexts": "llm_context",
        "references": "reference_answer",
    },
    ignored={"scores of Tonic Validate": "scores"},
)

OPENAI_EVALS = Shape(
    "output items of OpenAI's evals",
    "openai-python (types/evals/runs/output_item_list_response.py)",
    keys=("datasource_item", "sample", "results"),
    fields={
        "id": "not_null(id, to_string(datasource_item_id))",
        "question_id": "to_string(datasource_item_id)",
        "question": "scored_question(not_null(sample.input, datasource_item))",
        "answer": "scored_answer(sample.output)",
        "references": "not_null(datasource_item.reference, datasource_item.expected, datasource_item.ground_truth,"
        " datasource_item.expected_output, datasource_item.ideal, datasource_item.correct_label, datasource_item.answer)",
        "contexts": "not_null(datasource_item.contexts, datasource_item.context, datasource_item.documents)",
        "system": "sample.model",
    },
    conversation=("sample.input", "sample.output"),
    failed="sample.error.message",
    ignored={"results of OpenAI's graders": "results"},
)

# In its CSV objects are JSON; an output that is none stands there as it is.
_PHOENIX_OUTPUT = (
    "type(input) == 'string' && ([parsed(output)][?type(@) == 'object'] | [0]) || output"
)
PHOENIX_EXPERIMENT = Shape(
    "runs of a Phoenix experiment",
    "arize-phoenix 20.26.1 (server/api/routers/v1/experiments.py; files that it wrote: examples/exports/phoenix)",
    keys=("example_id", "input", "reference_output", "output"),
    fields={
        "id": "join('-', [to_string(example_id), to_string(not_null(repetition_number, 'answer'))])",
        "question_id": "to_string(example_id)",
        "question": "scored_question(parsed(input))",
        "answer": f"scored_answer({_PHOENIX_OUTPUT})",
        "contexts": f"passages_beside({_PHOENIX_OUTPUT})",
        "references": "right_answers(parsed(reference_output))",
    },
    meta={"error": "error"},
    failed="error",
    ignored={
        "annotations": "annotations",
        "further choices of a reply": f"further_choices({_PHOENIX_OUTPUT})",
    },
)

PRODIGY = Shape(
    "annotations of Prodigy, which are labels and no answers: `longmark metaeval ROWS FILE` reads them",
    "prodigy 1.15 (prodi.gy/docs/api-interfaces: answer is accept, reject or ignore)",
    keys=("_task_hash", "answer"),
    when="contains(['accept', 'reject', 'ignore'], answer)",
    fields={"id": "`null`", "question": "`null`", "answer": "`null`"},
)

SHAPES = (
    PRODIGY,
    AZURE,
    LLAMA_INDEX,
    HELM_PREDICTIONS,
    HELM_INSTANCES,
    OPENCOMPASS,
    LIGHTEVAL,
    EVALSCOPE_PREDICTIONS,
    EVALSCOPE_REVIEWS,
    GISKARD,
    GISKARD_ANSWERS,
    AUTORAG,
    TONIC,
    OPENAI_EVALS,
    PHOENIX_EXPERIMENT,
)
