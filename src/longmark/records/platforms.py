"""The declarations of files that platforms of evaluations write: Braintrust, LangSmith, TruLens, Opik..

Each names the version and the source that its fixture in tests/records/tools follows.
"""

from __future__ import annotations

from longmark.records.shapes import Shape

_PASSAGES = "contexts, {0}.context, {0}.documents, {0}.passages"
BRAINTRUST = Shape(
    "Braintrust results",
    "braintrust 0.48.1 (results that its Eval wrote: examples/exports/braintrust)",
    keys=("input", "output", "expected", "scores"),
    json_cells=True,
    fields={
        "id": "id",
        "question": "scored_question(input)",
        "answer": "scored_answer(output)",
        "contexts": f"not_null(metadata.{_PASSAGES.format('metadata')}, passages_beside(output))",
        "references": "right_answers(expected)",
    },
    meta={"tags": "tags", "error": "error"},
    beside="metadata",
    failed="error",
    merged={"experiments": "experiment_id", "models": "metadata.model"},
    ignored={
        "further choices of a reply": "further_choices(output)",
        "scores of Braintrust's scorers": "scores",
    },
    skips={"spans inside an answer": "type(span_parents) == 'array' && span_parents[0]"},
)

_TABLE_OUTPUTS = "dotted(@).outputs"
LANGSMITH = Shape(
    "LangSmith results",
    "langsmith 0.15.1 (the table of an evaluation that it wrote: examples/exports/langsmith)",
    keys=("execution_time", "example_id", "id"),
    when="dotted(@).inputs",
    fields={
        "id": "id",
        "question_id": "example_id",
        "question": "scored_question(dotted(@).inputs)",
        "answer": f"scored_answer({_TABLE_OUTPUTS})",
        "contexts": f"not_null({_TABLE_OUTPUTS}.{_PASSAGES.format(_TABLE_OUTPUTS)})",
        "references": "right_answers(dotted(@).reference)",
    },
    meta={"error": "error"},
    failed="type(error) == 'string' && error",
    ignored={
        "further choices of a reply": f"further_choices({_TABLE_OUTPUTS})",
        "scores of LangSmith's evaluators": "dotted(@).feedback",
    },
)

_CELL_OUTPUTS = "parsed(outputs)"
LANGSMITH_TABLE = Shape(
    "LangSmith results, a table of its page",
    "LangSmith's page of an experiment, as it downloads a table: a column each for inputs, outputs and reference outputs",
    keys=("inputs", "outputs", "reference_outputs"),
    fields={
        "id": "id",
        "question": "scored_question(parsed(inputs))",
        "answer": f"scored_answer({_CELL_OUTPUTS})",
        "contexts": f"not_null({_CELL_OUTPUTS}.{_PASSAGES.format(_CELL_OUTPUTS)})",
        "references": "right_answers(parsed(reference_outputs))",
    },
    meta={"error": "error"},
    failed="(type(error) == 'string' && error) || status == 'error'",
    ignored={"further choices of a reply": f"further_choices({_CELL_OUTPUTS})"},
)

TRULENS = Shape(
    "TruLens records",
    "trulens-core 2.16.0 (the table of get_records_and_feedback that it wrote: examples/exports/trulens)",
    keys=("record_id", "app_name", "app_version", "input", "output"),
    fields={
        "id": "record_id",
        "question": "scored_question(input)",
        "answer": "scored_answer(output)",  # of a call that failed "", as of one that answered nothing
        "system": "join(' ', [app_name, app_version])",  # two versions are two systems
    },
    ignored={"scores of TruLens": "keys(@)[?ends_with(@, '_calls')]"},
)

_EXPECTED = (
    "{0}.expected_output, {0}.expected, {0}.reference, {0}.expected_answer, {0}.ground_truth"
)
_OPIK_PASSAGES = (
    "not_null({0}.contexts, {0}.context, {0}.documents, {0}.passages, {0}.retrieved_contexts)"
)
OPIK = Shape(
    "Opik experiment",
    "opik 2.2.122 (an experiment that its exporter wrote: examples/exports/opik)",
    keys=("dataset_item_id", "trace_id", "dataset_item_data", "evaluation_task_output"),
    fields={
        "id": "id",
        "question_id": "dataset_item_id",  # of several trials
        "question": "scored_question(dataset_item_data)",
        "answer": "scored_answer(evaluation_task_output)",
        "contexts": _OPIK_PASSAGES.format("evaluation_task_output"),
        "references": f"not_null({_EXPECTED.format('dataset_item_data')})",
        "system": "log.experiment",
    },
    # The row's own passages are no retrieval: `--map contexts=dataset_item_data.context` takes them.
    meta={"context": "dataset_item_data.context"},
    ignored={"scores of Opik": "feedback_scores", "assertions": "assertion_results"},
)

OPIK_RESULTS = Shape(
    "Opik evaluation result",
    "opik 2.2.122 (EvaluationResult and TestResult, as dataclasses.asdict writes them: examples/exports/opik)",
    keys=("test_case", "score_results", "trial_id"),
    fields={
        "id": "test_case.trace_id",
        "question_id": "test_case.dataset_item_id",
        "question": "scored_question(test_case.[dataset_item_content, mapped_scoring_inputs][?@] | [0])",
        "answer": "scored_answer(test_case.task_output)",
        "contexts": _OPIK_PASSAGES.format("test_case.task_output"),
        "references": "test_case.[dataset_item_content, mapped_scoring_inputs][?@] | [0]"
        f" | not_null({_EXPECTED.format('@')})",
        "system": "log.experiment",
    },
    meta={"context": "test_case.dataset_item_content.context"},
    ignored={"scores of Opik": "score_results"},
)

OPIK_TABLE = Shape(
    "Opik's table of an experiment, which has no texts: export it as JSON",
    "opik 2.2.122 (CSV that its exporter wrote: examples/exports/opik)",
    keys=("experiment_id", "item_dataset_item_id", "item_trace_id", "item_index"),
    fields={"id": "item_id", "question": "item_input", "answer": "item_output"},
)

_LAST = "bedrock_exchanges(conversationTurns)[-1]"
BEDROCK_RAG = Shape(
    "evaluations of RAG of Amazon Bedrock",
    "Amazon Bedrock (user guide: knowledge-base-evaluation-prompt-retrieve-generate, and its reports' lines)",
    keys=("conversationTurns",),
    when="type(conversationTurns) == 'array' && conversationTurns[0]",
    fields={
        "question": f"{_LAST}.question",
        "answer": f"{_LAST}.answer",
        "contexts": f"{_LAST}.contexts",
        "references": f"{_LAST}.references",
        "turns": "bedrock_turns(conversationTurns)",
        "system": "join('/', conversationTurns[-1].output.[modelIdentifier, knowledgeBaseIdentifier][?@])",
    },
    ignored={
        "ideal passages": "conversationTurns[].referenceContexts[]",
        "results of Bedrock's metrics": "conversationTurns[].results[]",
    },
)

BEDROCK_MODELS = Shape(
    "evaluations of models of Amazon Bedrock",
    "Amazon Bedrock (user guide: model-evaluation-prompt-datasets-judge, and its reports' lines)",
    keys=("modelResponses",),
    when="type(modelResponses) == 'array'",
    fields={
        "question": "not_null(prompt, inputRecord.prompt)",
        "answer": "modelResponses[0].response",
        "references": "not_null(referenceResponse, inputRecord.referenceResponse)",
        "system": "modelResponses[0].modelIdentifier",
    },
    meta={"category": "not_null(category, inputRecord.category)"},
    ignored={
        "further replies to a prompt": "modelResponses[1:]",
        "results of Bedrock's metrics": "automatedEvaluationResult.scores",
    },
)

SHAPES = (
    BEDROCK_RAG,
    BEDROCK_MODELS,
    BRAINTRUST,
    LANGSMITH,
    LANGSMITH_TABLE,
    TRULENS,
    OPIK,
    OPIK_RESULTS,
    OPIK_TABLE,
)
