"""The declarations of files that evaluation tools write: results, logs, samples. Traces are in `traces`.

Each names the version and the source that its fixture in tests/records/tools follows.
"""

from __future__ import annotations

from dataclasses import replace

from longmark.records import answer_tables
from longmark.records.shapes import Container, Shape

_ASKED = "scored_question(without_data(vars))"  # less passages, references and files
_RIGHT = (  # and the variables, whose names may stand there
    "[not_null(vars.reference, vars.expected, vars.expected_output, vars.ground_truth,"
    " [testCase.assert, testCase.assert[].assert[]][] | [?type(type)=='string'"
    " && (contains(['equals', 'similar', 'factuality', 'model-graded-factuality'], type)"
    " || starts_with(type, 'similar:'))].value), vars]"
)
_FILES_OF_PASSAGES = "passages that are files"
_PASSAGES_OF_TEST = "not_null({0}contexts, {0}context, {0}documents, {0}passages)"
_OF_VARIABLES = _PASSAGES_OF_TEST.format("vars.")
_OF_COLUMNS = _PASSAGES_OF_TEST.format("")
_TABLE_RIGHT = "[not_null(reference, expected, expected_output, ground_truth), promptfoo.vars]"

PROMPTFOO = Shape(
    "promptfoo results",
    "promptfoo 0.123.1 (results of version 3 that it wrote: examples/exports/promptfoo)",
    keys=("promptIdx", "testIdx", "vars", "response"),
    fields={
        "id": "join('-', [to_string(testIdx), to_string(promptIdx)])",
        # A test whose variables do not show the question is asked the prompt: its answers are one question all the same.
        "question": f"not_null([{_ASKED}][?type(@)=='string'] | [0], scored_question(prompt.raw))",
        "question_id": f"type({_ASKED}) != 'string' && type(vars) == 'object' && digest(vars) || `null`",
        "answer": "scored_answer(response.output)",
        "contexts": f"not_null(without_files({_OF_VARIABLES}), passages_beside(response.output))",
        "references": f"promptfoo_references({_RIGHT}).texts",
        "system": "promptfoo_system({provider: provider.label || provider.id || provider, prompt: prompt,"
        " prompts: log.prompts, promptIdx: promptIdx})",
    },
    meta={"prompt": "prompt.label", "error": "error"},
    conversation=("prompt.raw",),
    beside="testCase.metadata",
    failed="response.error",
    merged={"columns": "promptIdx"},  # in JSON Lines
    ignored={
        "further choices of a reply": "further_choices(response.output)",
        _FILES_OF_PASSAGES: f"files_among({_OF_VARIABLES})",
        "references that are templates or files": f"promptfoo_references({_RIGHT}).unread",
        "scores of assertions": "gradingResult.componentResults",
    },
)

PROMPTFOO_TABLE = Shape(
    "promptfoo's table",
    "promptfoo 0.123.1 (CSV that it wrote: examples/exports/promptfoo)",
    keys=(),
    columns=(f"*{answer_tables.STATUS}",),
    fields={
        "id": "join('-', [to_string(row), to_string(promptfoo.number)])",  # as in its JSON
        "question": "scored_question(without_data(promptfoo.vars))",
        # An object and a text that is JSON are one there; promptfoo's assertions read the text of both.
        "answer": "scored_answer(promptfoo.output)",
        "contexts": f"without_files({_OF_COLUMNS})",
        "references": f"promptfoo_references({_TABLE_RIGHT}).texts",
        "system": "promptfoo.system",
    },
    meta={"reason": "promptfoo.reason"},
    records_at="promptfoo_answers(@)",
    ignored={
        _FILES_OF_PASSAGES: f"files_among({_OF_COLUMNS})",
        "references that are templates or files": f"promptfoo_references({_TABLE_RIGHT}).unread",
        "scores of answers": "promptfoo.scores",
    },
)

_DEEPEVAL_ID = (  # several cases may have one name; the usual names end with the case's number already
    "type(order) != 'number' && name || ends_with(name, join('', ['_', to_string(order)])) && name"
    " || join('-', [name, to_string(order)])"
)
DEEPEVAL = Shape(
    "DeepEval test run",
    "deepeval 4.3.1 (deepeval/test_run/api.py, LLMApiTestCase)",
    keys=("name", "input", "actualOutput"),
    fields={
        "id": _DEEPEVAL_ID,
        "question": "input",
        "answer": "actualOutput",
        "contexts": "retrievalContext",  # DeepEval leaves out an empty one; `context` is the ideal one
        "references": "expectedOutput",
    },
    meta={"tags": "tags", "comments": "comments", "context": "context"},
    ignored={"tool calls": "toolsCalled", "scores of DeepEval's metrics": "metricsData"},
    family="DeepEval",
)

DEEPEVAL_TURNS = Shape(
    "DeepEval test run of conversations",
    "deepeval 4.3.1 (deepeval/test_run/api.py, ConversationalApiTestCase)",
    keys=("name", "turns"),
    fields={
        "id": _DEEPEVAL_ID,
        "references": "expectedOutcome",
    },
    meta={"scenario": "scenario", "tags": "tags", "context": "context"},
    conversation=("turns",),
    ignored={"scores of DeepEval's metrics": "metricsData"},
    family="DeepEval",
)

INSPECT = Shape(
    "Inspect log",
    "inspect_ai 0.3.285 (logs that it wrote, of both formats)",
    keys=("epoch", "input", "target", "output", "log"),
    fields={
        "id": "join('-', [to_string(id), to_string(epoch)])",
        "question": "with_choices([scored_question(input), choices])",
        "answer": "not_null(output.completion || `null`, scored_answer(output.choices[0].message))",
        "contexts": "not_null(metadata.contexts, metadata.context, metadata.documents, metadata.passages)",
        "references": "target",
        "system": "log.eval.model",
    },
    meta={"task": "log.eval.task", "epoch": "epoch", "error": "error.message"},
    conversation=("messages",),
    failed="error",
    ignored={
        "further choices of a reply": "output.choices[1:]",
        "scores of Inspect's scorers": "scores",
    },
    skips={"invalidated samples": "invalidation"},
)

INSPECT_LOGS = replace(
    INSPECT,
    name="Inspect logs, a list of them",
    keys=("version", "eval", "samples"),
    fields={
        **INSPECT.fields,
        "id": "join('-', [to_string(log.eval.task), to_string(log.eval.model), to_string(id), to_string(epoch)])",
    },
    records_at="inspect_samples(@)",
)

_DOCUMENT = "doc.question, doc.query, doc.prompt, instructed([doc.instruction, doc.input]), doc.input, doc.problem"
LM_EVAL = Shape(
    "lm-evaluation-harness samples",
    "lm-evaluation-harness at 034ab03 (lm_eval/loggers/evaluation_tracker.py, save_results_samples)",
    keys=("doc_id", "doc", "arguments", "resps"),
    fields={
        "id": "doc_id",
        "question": f"not_null({_DOCUMENT}, scored_question(arguments.gen_args_0.arg_0), scored_question(arguments[0][0]))",
        "answer": "resps[0][0]",
        "contexts": "not_null(doc.contexts, doc.context, doc.passages, doc.passage)",
        # A list is written as Python prints it, unless the document has this very text.
        "references": "type(doc) == 'object' && contains(values(doc), target) && [target] || listed(target)",
    },
    meta={"filtered": "filtered_resps[0]"},
    # Of a chat template: where the document has the question, the prompt would only ask it again in other words.
    conversation=(f"type(not_null({_DOCUMENT})) == 'null' && arguments.gen_args_0.arg_0",),
    ignored={"further replies to a document": "resps[0][1:]"},
    skips={"log-likelihoods without a text": "type(resps[0][0]) != 'string'"},
    once="digest([doc_id, doc, arguments, resps])",  # each filter has a line of the same reply
    apart="filter",
    repeats="lines of another filter",
    twice="; samples do not name their model and task: put those of each into a file of their own",
)

_RAGAS_MESSAGES = "listed(parsed(user_input))"  # in a CSV file they stand as Python prints them
RAGAS_TURNS = Shape(
    "Ragas conversations",
    "ragas 0.4.3 (files that it wrote: examples/exports/ragas)",
    keys=("user_input",),
    when=f"type({_RAGAS_MESSAGES}) == 'array' && type({_RAGAS_MESSAGES}[0]) == 'object'",
    fields={
        "id": "id",
        "contexts": "listed(parsed(retrieved_contexts))",
        "references": "reference",
    },
    meta={"topics": "listed(reference_topics)", "rubrics": "rubrics"},
    conversation=(_RAGAS_MESSAGES,),
)

NUGGETIZER = Shape(
    "nuggetizer assignments",
    "nuggetizer at d00dc3e (src/nuggetizer/cli/adapters.py, assign_answer_output_record and"
    " assign_retrieval_output_record)",
    keys=("qid", "nuggets"),
    when="nuggets[0].assignment && (answer_text || candidate_text)",
    fields={
        "id": "join('-', [to_string(qid), to_string(run_id || docid || 'answer')])",
        "question_id": "qid",
        "question": "query || text",
        "answer": "answer_text || candidate_text",
        "system": "run_id",
        "nuggets": "nuggets",
    },
)

HEALTHBENCH = Shape(
    "HealthBench",
    "openai/simple-evals at ee3b031 (healthbench_eval.py, examples of INPUT_PATH), with an answer",
    keys=("prompt_id", "prompt", "rubrics"),
    fields={
        "id": "id || join('-', [to_string(prompt_id), to_string(system || model || 'answer')])",
        "question_id": "prompt_id",
        "answer": "not_null(answer, completion, response)",
        "references": "ideal_completions_data.ideal_completion",
        "system": "system || model",
        "criteria": "rubrics",
    },
    meta={"tags": "example_tags"},
    conversation=("prompt",),
)

RESEARCH_RUBRICS = Shape(
    "ResearchRubrics",
    "scaleapi/researchrubrics at 2dc80e2 (README.md, processed_data.jsonl), with an answer",
    keys=("sample_id", "prompt", "rubrics"),
    when="type(prompt) == 'string'",
    fields={
        "id": "id || join('-', [to_string(sample_id), to_string(system || model || 'answer')])",
        "question_id": "sample_id",
        "question": "prompt",
        "answer": "not_null(answer, response, completion)",
        "contexts": "not_null(contexts, context)",
        "references": "not_null(references, reference)",
        "system": "system || model",
        "criteria": "rubrics",
    },
    meta={"domain": "domain", "exploration": "exploration", "logical_nesting": "logical_nesting"},
)

PYDANTIC_EVALS = Shape(
    "Pydantic Evals report",
    "pydantic-evals 2.62 (reports that it wrote: examples/exports/pydantic_evals)",
    keys=("name", "inputs", "expected_output", "source_case_name"),
    fields={
        "id": "name",
        "question_id": "source_case_name",  # of a case that ran several times
        "question": "scored_question(inputs)",
        "answer": "scored_answer(output)",
        "contexts": "not_null(metadata.contexts, metadata.context, metadata.documents, metadata.passages,"
        " passages_beside(output))",
        "references": "right_answers(expected_output)",
    },
    meta={"error": "error_message"},
    ignored={
        "further choices of a reply": "further_choices(output)",
        "scores of evaluators": "[scores, labels, assertions][?@].values(@)[]",
        "evaluators that failed": "evaluator_failures",
    },
)

FAITHBENCH = Shape(
    "FaithBench",
    "vectara/FaithBench at abb6503 (data_for_release/batch_1.json)",
    keys=("sample_id", "source", "summary", "annotations"),
    fields={
        "id": "sample_id",
        "answer": "summary",
        "contexts": "source",
        "system": "metadata.summarizer",
    },
    beside="metadata",
    ignored={"annotations": "annotations"},
)

HAGRID = Shape(
    "HAGRID",
    "miracl/hagrid at b2a0859 (hagrid-v1.0-en/dev.jsonl: query, quotes and answers, as readers of it use them)",
    keys=("query", "query_id", "quotes", "answers"),
    fields={
        "id": "join('-', [to_string(query_id), to_string(number)])",
        "question_id": "query_id",
        "question": "query",
        "answer": "answer.answer",
        "contexts": "quotes",
    },
    answers_at="answers",
    ignored={"ratings": "[answer.informative, answer.attributable][?@ != `null`]"},
)

OPEN_RAG_EVAL = Shape(
    "open-rag-eval answers",
    "open-rag-eval 0.3.0 (answers that its connector wrote: examples/exports/open_rag_eval)",
    keys=("query_id", "query", "query_run", "passage_id", "passage", "generated_answer"),
    fields={
        "id": "join('-', [to_string(query_id), to_string(query_run)])",
        "question_id": "query_id",
        "question": "query",
        # Its words for no text and for a call that failed; it leaves both out of its own scores.
        "answer": "[@][?!contains(['NO_ANSWER', 'API_ERROR'], generated_answer)].generated_answer | [0]",
        "contexts": "[@][?!contains(['NA', 'ERROR'], passage_id)].passage",
    },
    meta={"error": "[@][?passage_id == 'ERROR'].passage | [0]"},
)

_TOPIC = "topic_id || narrative_id || metadata.narrative_id || metadata.topic_id || query.qid"

CITED_PARTS = Shape(
    "answers in cited parts",
    "TREC RAG 2024 and 2025 (trec-rag.github.io, output format), ragnarok, TREC RAGTIME and Auto-Judge",
    keys=(),
    lists=("answer", "responses"),
    # Anthropic's blocks have objects there (`replies`). An answer without parts is an empty one.
    when="(type(answer) == 'array' && type(answer[0]) == 'object' && type(answer[0].citations) != 'null'"
    " && type(answer[0].citations[0]) != 'object')"
    " || (type(responses) == 'array' && type(responses[0]) == 'object' && type(responses[0].citations) != 'null')"
    f" || (not_null(answer, responses) == `[]` && type(references) == 'array' && ({_TOPIC}))",
    fields={
        "id": f"id || ((run_id || metadata.run_id) && ({_TOPIC})"
        f" && join('-', [to_string(run_id || metadata.run_id), to_string({_TOPIC})])) || ({_TOPIC})",
        "question_id": f"question_id || {_TOPIC}",
        "question": "not_null(question, query.text, query.title, query, topic, narrative, metadata.narrative,"
        " metadata.title)",
        "answer": "answer_of_parts([references, not_null(answer, responses)])",
        # Auto-Judge has the texts in `documents`, id -> document; ragnarok's requests have them in `candidates`.
        "contexts": "not_null(contexts, type(documents) == 'object' && values(documents) || documents,"
        " candidates[?type(@) == 'object']"
        ".{id: docid, text: not_null(doc.segment, doc.contents, doc.text, doc.body, doc)})",
        "nuggets": "nuggets",
        "criteria": "criteria",
        "sources": "not_null(sources, part_sources([references, not_null(answer, responses)]))",
        "references": "type(id_list(references)) == 'null' && references || `null`",
        "system": "not_null(system, run_id, metadata.run_id)",
    },
)

ALCE = Shape(
    "ALCE results",
    "ALCE at 246c476 (run.py: output and docs of each item; eval.py)",
    keys=("question", "output", "docs"),
    fields={
        "id": "not_null(sample_id, id)",
        "question": "question",
        "answer": "output",
        "contexts": "titled(docs)",
        "references": "annotations[].long_answer || answer",
    },
)

DEEP_RESEARCH = Shape(
    "DeepResearch Bench reports",
    "DeepResearch Bench (raw reports; scraped.jsonl of utils/scrape.py)",
    keys=("prompt", "article"),
    when="type(answer) == 'null' && type(response) == 'null' && type(output) == 'null'",
    fields={
        "id": "id",
        "question": "prompt",
        "answer": "article",
        "sources": "snapshots(citations_deduped)",
    },
    ignored={"triplets of a fact and its source": "citations"},
)

SHAPES = (
    CITED_PARTS,
    ALCE,
    DEEP_RESEARCH,
    PROMPTFOO,
    PROMPTFOO_TABLE,
    DEEPEVAL,
    DEEPEVAL_TURNS,
    INSPECT,
    INSPECT_LOGS,
    LM_EVAL,
    RAGAS_TURNS,
    NUGGETIZER,
    HEALTHBENCH,
    RESEARCH_RUBRICS,
    PYDANTIC_EVALS,
    FAITHBENCH,
    HAGRID,
    OPEN_RAG_EVAL,
)

CONTAINERS = (
    Container(("eval", "samples"), "samples", head={"eval": "eval"}),  # Inspect
    Container(("testRunData",), "testRunData.[testCases, conversationalTestCases][][]"),
    Container(("testCases",), "[testCases, conversationalTestCases][][]"),
    Container(
        ("evalId", "results"),
        "results.results",
        head={"prompts": "results.prompts[].{provider: provider, label: label, raw: raw}"},
    ),  # promptfoo
    Container(("experiment", "items"), "items", head={"experiment": "experiment.name"}),  # Opik
    Container(
        ("experiment_id", "test_results"), "test_results", head={"experiment": "experiment_name"}
    ),  # Opik
    Container(("cases", "failures"), "[cases, failures][]"),  # Pydantic Evals
    # One document of labels, which `scores.label_tools` reads as a whole (UIMA, Potato)
    Container(("%FEATURE_STRUCTURES",), "[@]"),
    Container(("instance_id_to_label_to_value",), "[@]"),
    Container((), "asqa_records(@)"),
    Container((), "records_by_id(@)"),
    Container(("columns", "data"), "split_table(@)"),
    Container((), "llama_index_results(@)"),
    Container((), "opencompass_records(@)"),
    Container(("data",), "data"),  # a page of an API (Langfuse, Phoenix)
)
"""Documents of tools that hold their records deeper than under `results`."""
