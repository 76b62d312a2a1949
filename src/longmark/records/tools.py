"""The declarations of files that evaluation tools write: results, logs, samples. Traces are in `traces`.

Each names the version and the source that its fixture in tests/records/tools follows.
"""

from __future__ import annotations

from longmark.records.shapes import Container, Shape

PROMPTFOO = Shape(
    "promptfoo results",
    "promptfoo 0.118, results of version 3 (test/__fixtures__/sample-export.json)",
    keys=("promptIdx", "testIdx", "vars", "response"),
    fields={
        "id": "join('-', [to_string(testIdx), to_string(promptIdx)])",
        "question": "not_null([question(vars)][?type(@)=='string'] | [0], question(prompt.raw))",
        "answer": "answer(response.output)",
        "contexts": "not_null(vars.contexts, vars.context, vars.documents, vars.passages)",
        "references": "not_null(vars.reference, vars.expected, vars.expected_output, vars.ground_truth,"
        " testCase.assert[?contains(['equals', 'similar', 'factuality', 'model-graded-factuality'], type)].value)",
        "system": "provider.label || provider.id || provider",
    },
    meta={"prompt": "prompt.label", "error": "error"},
    conversation=("prompt.raw",),
    ignored={"scores of assertions": "gradingResult.componentResults"},
)

DEEPEVAL = Shape(
    "DeepEval test run",
    "deepeval 4.3.1 (deepeval/test_run/api.py, LLMApiTestCase)",
    keys=("name", "input", "actualOutput"),
    fields={
        "id": "name",
        "question": "input",
        "answer": "actualOutput",
        "contexts": "retrievalContext || context",
        "references": "expectedOutput",
    },
    meta={"tags": "tags", "comments": "comments"},
    ignored={"tool calls": "toolsCalled", "scores of DeepEval's metrics": "metricsData"},
)

DEEPEVAL_TURNS = Shape(
    "DeepEval test run of conversations",
    "deepeval 4.3.1 (deepeval/test_run/api.py, ConversationalApiTestCase)",
    keys=("name", "turns"),
    fields={
        "id": "name",
        "contexts": "context",
        "references": "expectedOutcome",
    },
    meta={"scenario": "scenario", "tags": "tags"},
    conversation=("turns",),
    ignored={"scores of DeepEval's metrics": "metricsData"},
)

INSPECT = Shape(
    "Inspect log",
    "inspect_ai 0.3.285 (logs that it wrote, of both formats)",
    keys=("epoch", "input", "target", "output", "log"),
    fields={
        "id": "join('-', [to_string(id), to_string(epoch)])",
        "question": "question(input)",
        "answer": "not_null(answer(output.choices[0].message), output.completion || `null`)",
        "contexts": "not_null(metadata.contexts, metadata.context, metadata.documents, metadata.passages)",
        "references": "target",
        "system": "log.eval.model",
    },
    meta={"task": "log.eval.task", "epoch": "epoch", "error": "error.message"},
    conversation=("messages",),
    ignored={"scores of Inspect's scorers": "scores"},
)

LM_EVAL = Shape(
    "lm-evaluation-harness samples",
    "lm-evaluation-harness at 034ab03 (lm_eval/loggers/evaluation_tracker.py, save_results_samples)",
    keys=("doc_id", "doc", "arguments", "resps"),
    fields={
        "id": "doc_id",
        "question": "not_null(doc.question, doc.query, doc.prompt, doc.input, doc.problem, doc.instruction,"
        " question(arguments.gen_args_0.arg_0), question(arguments[0][0]))",
        "answer": "resps[0][0]",
        "contexts": "not_null(doc.contexts, doc.context, doc.passages, doc.passage)",
        "references": "target",
    },
    meta={"filtered": "filtered_resps[0]"},
    skips={"log-likelihoods without a text": "type(resps[0][0]) != 'string'"},
    once="doc_id",
)

RAGAS_TURNS = Shape(
    "Ragas conversations",
    "ragas 0.4 (dataset_schema.py, MultiTurnSample; messages.py)",
    keys=("user_input",),
    when="type(parsed(user_input)) == 'array' && type(parsed(user_input)[0]) == 'object'",
    fields={
        "id": "id",
        "contexts": "retrieved_contexts",
        "references": "reference",
    },
    meta={"topics": "reference_topics", "rubrics": "rubrics"},
    conversation=("user_input",),
)

SHAPES = (PROMPTFOO, DEEPEVAL, DEEPEVAL_TURNS, INSPECT, LM_EVAL, RAGAS_TURNS)

CONTAINERS = (
    Container(("eval", "samples"), "samples", head=("eval",)),  # Inspect
    Container(("testRunData",), "testRunData.[testCases, conversationalTestCases][][]"),
    Container(("testCases",), "[testCases, conversationalTestCases][][]"),
    Container(("evalId", "results"), "results.results"),  # promptfoo
    Container(("data",), "data"),  # a page of an API (Langfuse, Phoenix)
)
"""Documents of tools that hold their records deeper than under `results`."""
