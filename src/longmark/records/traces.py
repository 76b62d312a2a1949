"""The declarations of traces: where each convention has the kind, the input, the output and the passages of a span.
`spans` makes one record of the spans of a trace.

Each names the version and the source that its fixture in tests/records/tools follows.
"""

from __future__ import annotations

from dataclasses import replace

from longmark.records import messages
from longmark.records.shapes import Shape, SpanShape

_OF_TRACE = {
    "id": "trace_id",
    "question": "question(parsed(input))",
    "answer": "answer(parsed(output))",
    "contexts": "documents",
    "system": "model",
}
_ASSESSMENTS = (
    "[of.info.assessments, parsed(of.assessments), parsed(of.trace).info.assessments]"
    "[?type(@) == 'array'] | [0] | [?valid != `false`] | "
)
_RIGHT = (
    "contains(['expected_response', 'expected_answer', 'expected_output', 'reference', 'ground_truth'],"
    " assessment_name || name)"
)
# What a generator yielded, which MLflow does not join.
_CHUNKS = "events[?type(name) == 'string' && starts_with(name, 'mlflow.chunk.item')]"
_OUTPUTS = "([attributes.mlflow.spanOutputs][?@ != 'null'] | [0] | parsed(@))"
_FAILED = (
    "contains(['2', 'ERROR', 'STATUS_CODE_ERROR'],"
    " to_string(not_null(status.status_code, status.code, status_code, status, '')))"
)
_CONVENTIONS = {  # GenAI conventions, then OpenInference, then OpenLLMetry
    "kind": "not_null(attributes.openinference.span.kind, attributes.gen_ai.operation.name,"
    " attributes.traceloop.span.kind, span_kind)",
    "input": "not_null(attributes.gen_ai.input.messages, attributes.llm.input_messages[].message,"
    " attributes.input.value, attributes.gen_ai.prompt, attributes.traceloop.entity.input)",
    "output": "not_null(attributes.gen_ai.output.messages, attributes.llm.output_messages[].message,"
    " attributes.output.value, attributes.gen_ai.completion, attributes.traceloop.entity.output)",
    "documents": "not_null(attributes.retrieval.documents, attributes.gen_ai.retrieval.documents,"
    " attributes.reranker.output_documents, attributes.output.value)",
    "model": "not_null(attributes.gen_ai.request.model, attributes.gen_ai.response.model, attributes.llm.model_name)",
    "instructions": "attributes.gen_ai.system_instructions",
    "response": "attributes.gen_ai.response.id",
    "session": "not_null(attributes.gen_ai.conversation.id, attributes.session.id)",
    "failed": _FAILED,
    "choices": "not_null(attributes.gen_ai.output.messages, attributes.llm.output_messages[].message,"
    " attributes.gen_ai.completion)",
}

OTLP = Shape(
    "OpenTelemetry traces (OTLP)",
    "opentelemetry-proto 1.45 (JSON of TracesData), GenAI semantic conventions 1.38"
    " (docs/gen-ai/non-normative/examples-llm-calls.md), openinference-semantic-conventions 0.1.42",
    keys=("resourceSpans",),
    fields=_OF_TRACE,
    conversation=("conversation[0]", "conversation[1]"),
    spans=SpanShape(
        spans="resourceSpans[].scopeSpans[].spans[]",
        trace="traceId",
        id="spanId",
        parent="parentSpanId",
        start="startTimeUnixNano",
        **_CONVENTIONS,
    ),
)

PHOENIX = Shape(
    "spans of Phoenix or of OpenTelemetry's SDK",
    "openinference-semantic-conventions 0.1.42; opentelemetry-sdk 1.45 (ReadableSpan.to_json)",
    keys=("context",),
    when="context.trace_id",
    fields=_OF_TRACE,
    conversation=("conversation[0]", "conversation[1]"),
    spans=SpanShape(
        trace="context.trace_id",
        id="context.span_id",
        parent="parent_id",
        start="start_time",
        **_CONVENTIONS,
    ),
)

PHOENIX_TABLE = replace(
    PHOENIX,
    name="a table of Phoenix's spans",
    source="arize-phoenix 20.26 and its client 3.5 (tables that it wrote: examples/exports/phoenix)",
    keys=("context.trace_id",),
    when="",
)

MLFLOW = Shape(
    "MLflow traces",
    "mlflow-tracing 3.17.2 (Trace.to_dict and to_pandas_dataframe_row, as it wrote them)",
    keys=("info", "data"),
    when="parsed(data).spans",
    fields={**_OF_TRACE, "references": "references"},
    conversation=("conversation[0]", "conversation[1]"),
    spans=SpanShape(
        spans="[parsed(data).spans, parsed(spans), parsed(trace).data.spans][?type(@)=='array'] | [0]",
        trace="of.info.trace_id || of.info.request_id || of.trace_id || of.request_id",
        id="span_id || context.span_id",
        parent="parent_span_id || parent_id",
        start="start_time_unix_nano || start_time",
        kind="parsed(attributes.mlflow.spanType)",
        input="parsed(attributes.mlflow.spanInputs)",
        output=f"{_CHUNKS} && joined({_OUTPUTS}) || {_OUTPUTS}",
        references=f"{_ASSESSMENTS}[?expectation && {_RIGHT}].expectation.value[]",
        scores=f"{_ASSESSMENTS}[?feedback]",
        expectations=f"{_ASSESSMENTS}[?expectation && !{_RIGHT}]",
        documents="parsed(attributes.mlflow.spanOutputs)",
        model="not_null(parsed(attributes.mlflow.chat.model), parsed(attributes.mlflow.llm.model))",
        failed=_FAILED,
    ),
)

MLFLOW_TABLE = replace(
    MLFLOW,
    name="a table of MLflow's traces",
    keys=("trace_id", "request", "response", "spans"),
    when="",
)

_ROOTS = "parsed(observations)[?!parentObservationId && contains(['SPAN', 'AGENT', 'CHAIN', 'GENERATION'], type)]"
LANGFUSE = Shape(
    "Langfuse traces",
    "Langfuse, commit 0e72976 (worker/src/features/database-read-stream/trace-stream.ts)",
    keys=("id", "timestamp", "tags", "input", "output"),
    when="contains(keys(@), 'release') || contains(keys(@), 'environment')",
    fields={
        "id": "id",
        "question": "question(parsed(input))",
        "answer": "answer(parsed(output))",
        "contexts": "parsed(observations)[?type=='RETRIEVER' && level!='ERROR'].output[]"
        " || passages_beside(parsed(output))",
        "references": "metadata.reference || metadata.expected_output",
    },
    meta={"tags": "parsed(tags)"},
    beside="metadata",
    # The outermost observations all failed; an export without them counts those that did.
    failed=f"({_ROOTS} | [0] && !([?level != 'ERROR']))"
    " || (level == 'ERROR' && observationCount && errorCount == observationCount)",
    merged={"releases": "release", "versions": "version"},
    conversation=("input", "output"),
    ignored={
        "further choices of a reply": "further_choices(output)",
        "scores in Langfuse": "parsed(scores)",
        "observations": "parsed(observations)[?type!='RETRIEVER']",
        messages.FAILED_RETRIEVERS: "parsed(observations)[?type=='RETRIEVER' && level=='ERROR']",
    },
)

LANGFUSE_OBSERVATIONS = Shape(
    "Langfuse observations",
    "Langfuse, commit 03b77af (worker/src/features/database-read-stream/observation-stream.ts)",
    keys=("id", "traceId", "type", "startTime", "input", "output"),
    fields=_OF_TRACE,
    conversation=("conversation[0]", "conversation[1]"),
    spans=SpanShape(
        trace="traceId",
        id="id",
        parent="parentObservationId",
        start="startTime",
        kind="type",
        input="input",
        output="output",
        model="model || providedModelName",
        failed="level == 'ERROR'",
    ),
)

_PREDICTION = (
    "type(op_name) == 'string'"
    " && (contains(op_name, 'Evaluation.predict_and_score') || contains(op_name, 'Evaluation.predictAndScore'))"
)
WEAVE = Shape(
    "Weave calls",
    "weave 0.54.0 (calls that it recorded: examples/exports/weave; kinds of ops: weave/trace/op_protocol.py)",
    keys=("op_name", "trace_id", "started_at"),
    fields={**_OF_TRACE, "id": "span_id", "references": "references"},
    merged={"operations": "name"},
    conversation=("conversation[0]", "conversation[1]"),
    spans=SpanShape(
        trace="trace_id",
        id="id",
        parent="parent_id",
        start="started_at",
        name="display_name || op_name",
        kind="attributes.weave.kind == 'search' && 'RETRIEVER' || attributes.weave.kind == 'scorer' && 'EVALUATOR'"
        " || attributes.weave.kind",
        # A prediction that failed has no output of its own, and its call has figures there.
        input=f"[[@][?{_PREDICTION}].resolved(inputs.example), [@][?!({_PREDICTION})].resolved(inputs)][] | [0]",
        output=f"[[@][?{_PREDICTION}].resolved(output.output), [@][?!({_PREDICTION})].resolved(output)][] | [0]",
        # Of a call of a model's method the model, with its version.
        model="reference_name(not_null(inputs.model, [inputs.self]"
        "[?type(@) == 'string' && starts_with(@, 'weave:///')] | [0]))",
        references="not_null(inputs.example.expected, inputs.example.expected_output, inputs.example.reference,"
        " inputs.example.ground_truth, inputs.example.target)",
        scores="values(output.scores)",
        begins=_PREDICTION,
        failed="exception",
        unresolved=f"{_PREDICTION} && type(resolved(inputs.example)) == 'null'",
    ),
)

OPIK = Shape(
    "Opik traces",
    "opik 2.2.122 (a trace that its exporter wrote: examples/exports/opik)",
    keys=("trace", "spans"),
    when="type(trace) == 'object' && type(trace.start_time) == 'string'",
    fields=_OF_TRACE,
    conversation=("conversation[0]", "conversation[1]"),
    spans=SpanShape(
        spans="[[trace], spans][]",
        trace="trace_id || id",
        id="id",
        parent="parent_span_id || trace_id",  # a span without a parent is beneath the trace
        start="start_time",
        # It has no kind for retrievers: they are tools that give documents.
        kind="type == 'tool' && output.[documents, contexts, nodes][?@] | [0] && 'RETRIEVER' || type",
        input="input",
        output="output",
        documents="output",
        model="model",
        scores="feedback_scores",
        failed="error_info",
    ),
)

LANGSMITH_RUNS = Shape(
    "LangSmith runs",
    "langsmith 0.15.1 (langsmith/schemas.py: Run, as list_runs gives it); objects of langchain-core (load/dump.py)",
    keys=("id", "run_type", "inputs", "outputs"),
    fields=_OF_TRACE,
    conversation=("conversation[0]", "conversation[1]"),
    spans=SpanShape(
        trace="trace_id || id",
        id="id",
        parent="parent_run_id",
        start="start_time",
        kind="run_type",
        input="plain_objects(parsed(inputs))",
        output="plain_objects(parsed(outputs))",
        documents="plain_objects(parsed(outputs))",
        model="extra.metadata.ls_model_name",
        session="not_null(extra.metadata.session_id, extra.metadata.thread_id, extra.metadata.conversation_id)",
        failed="error || status == 'error'",
        scores="not_null(feedback_stats, `{}`) | keys(@)",
    ),
)

SHAPES = (
    LANGSMITH_RUNS,
    OTLP,
    PHOENIX,
    PHOENIX_TABLE,
    MLFLOW,
    MLFLOW_TABLE,
    LANGFUSE,
    LANGFUSE_OBSERVATIONS,
    WEAVE,
    OPIK,
)
