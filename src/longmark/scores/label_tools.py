"""The declarations of files that labelling tools export: where their labels, raters and answers stand.

A declaration gives our columns by paths into a record (`records.nested`), each with the version and the source that its
file in tests/scores/label_tools follows. `--map` replaces a column: `--map example_id=data.answer_id`. Labels of parts
of a text, free texts and cancelled, discarded or ignored annotations are no labels of an answer: they are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from longmark.records import messages, paths
from longmark.records.label_answers import labelled
from longmark.records.nested import NestedFields
from longmark.records.sources import UnreadableRecord
from longmark.records.values import Problem, folded
from longmark.scores import published_labels
from longmark.scores.label_forms import VALUES, LabelTool

_OWN_COLUMNS = (frozenset(("example_id", "value")), frozenset(("a", "b", "choice")))
"""Columns of ours that a file of labels has at least."""
_ANNOTATIONS = "annotations[?!was_cancelled]"
_RESULTS = f"{_ANNOTATIONS}.result"
_LABEL_STUDIO = "label-studio-sdk 2.1 (converter) and labelstud.io/guide/task_format"
_LABEL_STUDIO_RATER = f"{_ANNOTATIONS}.not_null(completed_by.email, completed_by.id, completed_by)"
_LABEL_STUDIO_TYPES = "contains(['choices', 'rating', 'number', 'pairwise'], type)"
_LABEL_STUDIO_IGNORED = {
    "cancelled annotations": "annotations[?was_cancelled]",
    "labels of parts of a text": f"{_RESULTS}[] | [?value.start]",
    "results of other kinds": f"{_RESULTS}[] | [?!(value.start) && !{_LABEL_STUDIO_TYPES}]",
    "predictions": "predictions",
}
_CHOSEN = f"{_RESULTS}[?type=='pairwise']"
LABEL_STUDIO_PAIRS = LabelTool(
    "Label Studio, pairwise",
    _LABEL_STUDIO,
    keys=("annotations", "data"),
    when=f"{_RESULTS}[] | [?type=='pairwise'] | [0]",
    # The left text is the first of `toName` in the configuration, which the export does not hold.
    columns={
        "question_id": "not_null(data.question_id, data.id, id)",
        "a": "not_null(data.a_system, data.system_a, data.left_system, data.model_a)",
        "b": "not_null(data.b_system, data.system_b, data.right_system, data.model_b)",
        "rater": _LABEL_STUDIO_RATER,
        "label": f"{_CHOSEN}.from_name",
        "choice": f"{_CHOSEN}.side(value.selected)",
    },
    ignored={
        **_LABEL_STUDIO_IGNORED,
        "ratings beside the choices": f"{_RESULTS}[] | [?type!='pairwise' && {_LABEL_STUDIO_TYPES}]",
    },
)

_RATED = f"{_RESULTS}[?{_LABEL_STUDIO_TYPES} && !(value.start)]"
LABEL_STUDIO = LabelTool(
    "Label Studio",
    _LABEL_STUDIO,
    keys=("annotations", "data"),
    columns={
        "example_id": "not_null(data.example_id, data.id, id)",
        "system": "data.system",
        "rater": _LABEL_STUDIO_RATER,
        "label": f"{_RATED}.from_name",
        "value": f"{_RATED}.labelled(value)",
    },
    ignored=_LABEL_STUDIO_IGNORED,
    record="results_apart(record)",
    when=f"{_RESULTS}[] | [?{_LABEL_STUDIO_TYPES} && !(value.start)] | [0]",
)
LABEL_STUDIO_PARTS = LabelTool(
    "Label Studio, labels of sentences",
    _LABEL_STUDIO,
    keys=("annotations", "data"),
    when="label_studio_parts(@)",  # beside labels of answers they are counted
    columns={
        "example_id": "not_null(data.example_id, data.id, id)",
        "system": "data.system",
        "rater": "label_studio_parts(@)[].rater",
        "label": "label_studio_parts(@)[].name",
        "value": "label_studio_parts(@)[].value",
        "sentence_start": "label_studio_parts(@)[].start",
        "sentence_end": "label_studio_parts(@)[].end",
    },
    ignored={
        kind: path
        for kind, path in _LABEL_STUDIO_IGNORED.items()
        if kind != "labels of parts of a text"
    },
)
LABEL_STUDIO_UNLABELLED = replace(LABEL_STUDIO, name="Label Studio, without a label", when="")

LABEL_STUDIO_TABLE = LabelTool(
    "Label Studio, JSON_MIN or CSV",
    _LABEL_STUDIO,
    keys=("annotation_id", "annotator"),
    columns={
        "example_id": "not_null(example_id, id)",
        "system": "system",
        "rater": "annotator",
    },
    opens=True,
)

_ARGILLA_SUBMITTED = "argilla_answers(@)[?!contains(['discarded', 'draft'], not_null(status, ''))]"
_ARGILLA_LABELS = f"{_ARGILLA_SUBMITTED[:-1]} && type(value) != 'array']"
_ARGILLA_COLUMNS = {
    "example_id": "not_null(example_id, metadata.example_id, external_id, id)",
    "system": "not_null(system, metadata.system)",
    "rater": f"{_ARGILLA_LABELS}.user",
    "label": f"{_ARGILLA_LABELS}.name",
    "value": f"{_ARGILLA_LABELS}.value",
}
_ARGILLA_IGNORED = {
    "discarded answers": "argilla_answers(@)[?status=='discarded']",
    "drafts": "argilla_answers(@)[?status=='draft']",
    "lists of spans or ranks": f"{_ARGILLA_SUBMITTED[:-1]} && type(value) == 'array']",
}
_ARGILLA_DOUBTFUL = "argilla_answers(@)[?!status]"
_ARGILLA_DOUBT = (
    "have no status, so that discarded answers and drafts may be among them; export with "
    "dataset.records.to_list(flatten=True), which writes it"
)
ARGILLA = LabelTool(
    "Argilla",
    "argilla 2.8 (records/_io/_generic.py, to_list(flatten=False); records/_resource.py), 1.29 (FeedbackRecord)",
    keys=("fields", "responses", "suggestions"),
    columns=_ARGILLA_COLUMNS,
    ignored=_ARGILLA_IGNORED,
    doubtful=_ARGILLA_DOUBTFUL,
    doubt=_ARGILLA_DOUBT,
)
ARGILLA_FLAT = LabelTool(
    "Argilla, flat",
    "argilla 2.8 (records/_io/_generic.py, to_list(flatten=True))",
    keys=("id", "status", "_server_id"),
    columns=_ARGILLA_COLUMNS,
    ignored=_ARGILLA_IGNORED,
    doubtful=_ARGILLA_DOUBTFUL,
    doubt=_ARGILLA_DOUBT,
)

_DOCCANO = "doccano at 1e0f5fc (backend/data_export/pipeline/formatters.py and factories.py)"
_DOCCANO_COLUMNS = {
    "example_id": "not_null(example_id, id)",
    "system": "system",
    # Each person has a file of their own: the name is put into the lines where files are put together.
    "rater": "not_null(rater, annotator)",
}
_DOCCANO_TEXT = "type(not_null(text, data)) == 'string'"  # `data` up to version 1.6
DOCCANO_TEXTS = LabelTool(
    "doccano, sequence to sequence",
    _DOCCANO,
    keys=("id", "label", "Comments"),
    when=f"{_DOCCANO_TEXT} && free_texts(label)",
    columns={**_DOCCANO_COLUMNS, "value": "label[]"},
    refusal="what people wrote are texts and no classes. Read them as answers or references, with --map question=text "
    "--map references=label; if they are classes with long names, add --map 'value=label[]' --map label=",
)
DOCCANO = LabelTool(
    "doccano",
    _DOCCANO,
    keys=("id", "label"),
    when=f"{_DOCCANO_TEXT} && type(label) == 'array' && label[?type(@) == 'string'] | [0]",
    columns={
        **_DOCCANO_COLUMNS,
        "value": "labelled(label[?type(@) == 'string'])",
    },
    ignored={"labels of parts of a text": "label[?type(@) == 'array']"},
)
DOCCANO_SPANS = LabelTool(
    "doccano, spans",
    _DOCCANO,
    keys=("id", "label"),
    when=f"{_DOCCANO_TEXT} && type(label) == 'array'",  # beside labels of the text they are counted
    columns={
        **_DOCCANO_COLUMNS,
        "value": "label[][2]",
        "sentence_start": "label[][0]",
        "sentence_end": "label[][1]",
    },
)
# The exports of version 1.0: annotations name a label by its number, whose text is in another file.
_DOCCANO_OLD = (
    "doccano 1.0 (app/api/utils.py, JSONPainter and JSONLRenderer: annotations of id and user)"
)
_DOCCANO_OLD_COLUMNS = {
    "example_id": "not_null(example_id, meta.example_id, id)",
    "system": "not_null(system, meta.system)",
    "rater": "annotations[].user",
    "value": "annotations[].numbered(label)",
}
DOCCANO_OLD_SPANS = LabelTool(
    "doccano 1.0, spans",
    _DOCCANO_OLD,
    keys=("id", "text", "annotations"),
    when="type(annotations[0].label) == 'number' && type(annotations[0].start_offset) == 'number'",
    columns={
        **_DOCCANO_OLD_COLUMNS,
        "sentence_start": "annotations[].start_offset",
        "sentence_end": "annotations[].end_offset",
    },
)
DOCCANO_OLD = LabelTool(
    "doccano 1.0",
    _DOCCANO_OLD,
    keys=("id", "text", "annotations"),
    when="type(annotations[0].label) == 'number'",
    columns=_DOCCANO_OLD_COLUMNS,
)
DOCCANO_OLD_NAMES = LabelTool(
    "doccano 1.0, names of labels",
    _DOCCANO_OLD,
    keys=("id", "text", "labels", "annotation_approver"),
    when="type(labels[0]) == 'string'",
    columns={
        "example_id": "not_null(example_id, meta.example_id, id)",
        "system": "not_null(system, meta.system)",
        "rater": "annotation_approver",
        "value": "labelled(labels)",
    },
)
DOCCANO_RELATIONS = LabelTool(
    "doccano, spans and relations",
    _DOCCANO,
    keys=("id", "text", "entities", "relations"),
    columns={
        **_DOCCANO_COLUMNS,
        "value": "entities[].label",
        "sentence_start": "entities[].start_offset",
        "sentence_end": "entities[].end_offset",
    },
    ignored={"relations of parts of a text": "relations"},
)
DOCCANO_INTENTS = LabelTool(
    "doccano, intents and slots",
    _DOCCANO,
    keys=("id", "text", "cats"),
    columns={**_DOCCANO_COLUMNS, "value": "labelled(cats)"},
    ignored={"labels of parts of a text": "label || spans || entities"},
)
DOCCANO_TABLE = LabelTool(
    "doccano, CSV",
    _DOCCANO,
    keys=("id", "label", "Comments"),
    when=_DOCCANO_TEXT,
    columns={**_DOCCANO_COLUMNS, "value": "doccano_labels(label)"},
)

POTATO_STATE = LabelTool(
    "Potato, an annotator's state",
    "potato-annotation 2.12 (docs/data-export/export_formats.md, user_state.json)",
    keys=("user_id", "instance_id_to_label_to_value"),
    columns={
        "example_id": "potato_answers(@)[].item",
        "rater": "user_id",
        "label": "potato_answers(@)[].name",
        "value": "potato_answers(@)[].value",
    },
    ignored={"labels of parts of a text": "values(not_null(instance_id_to_span_to_value, `{}`))"},
)
POTATO = LabelTool(
    "Potato",
    "potato-annotation 2.12 (docs/data-export/export_formats.md, jsonl)",
    keys=("instance_id", "user_id", "labels"),
    columns={
        "example_id": "instance_id",
        "rater": "user_id",
        "label": "potato_answers(@)[].name",
        "value": "potato_answers(@)[].value",
    },
    ignored={"labels of parts of a text": "spans"},
)

POTATO_TABLE = LabelTool(
    "Potato, CSV or TSV",
    "potato-annotation 2.12.1 (files that it wrote: examples/exports/potato; export/tabular_exporter.py)",
    keys=("instance_id", "user_id"),
    when="keys(@)[?contains(@, '.')] | [0]",
    columns=POTATO.columns,
    ignored={"labels of parts of a text": "potato_spans(@)"},
)

CAS_PARTS = LabelTool(
    "INCEpTION, CAS JSON of UIMA, labels of sentences",
    "apache/uima-uimaj-io-jsoncas (README.md), as INCEpTION exports it; dkpro-cassis 0.12 (examples/exports/inception)",
    keys=("%FEATURE_STRUCTURES",),
    when="cas_parts(@) && !cas_answers(@)",  # beside labels of the document they are counted
    columns={
        "example_id": "cas_parts(@)[].item",
        "label": "cas_parts(@)[].name",
        "value": "cas_parts(@)[].value",
        "sentence_start": "cas_parts(@)[].start",
        "sentence_end": "cas_parts(@)[].end",
    },
)
CAS = LabelTool(
    "INCEpTION, CAS JSON of UIMA",
    "apache/uima-uimaj-io-jsoncas (README.md), as INCEpTION exports it",
    keys=("%FEATURE_STRUCTURES",),
    columns={
        "example_id": "cas_answers(@)[].item",
        "label": "cas_answers(@)[].name",
        "value": "cas_answers(@)[].value",
    },
    ignored={"labels of parts of a text": "cas_spans(@)"},
)

_PRODIGY = "prodigy 1.15 (prodi.gy/docs/api-interfaces: choice, classification; db-out)"
_PRODIGY_COLUMNS = {
    "example_id": "not_null(example_id, id, meta.example_id, meta.id)",
    "system": "not_null(system, meta.system)",
    "rater": "not_null(_annotator_id, _session_id)",
}
PRODIGY_CHOICE = LabelTool(
    "Prodigy, choices",
    _PRODIGY,
    keys=("accept", "answer"),
    columns={**_PRODIGY_COLUMNS, "value": "[@][?answer == 'accept'].labelled(accept)"},
    ignored={
        "answers that were ignored or rejected": "[@][?answer != 'accept']",
        "labels of parts of a text": "spans",
    },
)
PRODIGY = LabelTool(
    "Prodigy, yes or no",
    _PRODIGY,
    keys=("label", "answer", "_task_hash"),
    columns={
        **_PRODIGY_COLUMNS,
        "label": "[@][?answer != 'ignore'].label",
        "value": "[@][?answer != 'ignore'].not_null(answer == 'accept')",
    },
    ignored={
        "answers that were ignored": "[@][?answer == 'ignore']",
        "labels of parts of a text": "spans",
    },
)

_ACCEPTED = "[@][?answer == 'accept'].spans[]"
PRODIGY_SPANS = LabelTool(
    "Prodigy, spans",
    _PRODIGY,
    keys=("text", "spans", "answer", "_task_hash"),
    columns={
        **_PRODIGY_COLUMNS,
        "value": f"{_ACCEPTED}.label",
        "sentence_start": f"{_ACCEPTED}.start",
        "sentence_end": f"{_ACCEPTED}.end",
    },
    ignored={"answers that were ignored or rejected": "[@][?answer != 'accept']"},
)

TOOLS = (
    LABEL_STUDIO_PAIRS,
    LABEL_STUDIO,
    LABEL_STUDIO_PARTS,
    LABEL_STUDIO_UNLABELLED,
    LABEL_STUDIO_TABLE,
    ARGILLA,
    ARGILLA_FLAT,
    DOCCANO_TEXTS,
    DOCCANO,
    DOCCANO_SPANS,
    DOCCANO_OLD_SPANS,
    DOCCANO_OLD,
    DOCCANO_OLD_NAMES,
    DOCCANO_RELATIONS,
    DOCCANO_INTENTS,
    DOCCANO_TABLE,
    POTATO_STATE,
    POTATO,
    POTATO_TABLE,
    CAS_PARTS,
    CAS,
    PRODIGY_CHOICE,
    PRODIGY,
    PRODIGY_SPANS,
    *published_labels.TOOLS,
)
"""The first one that fits is read."""
_PUBLISHED = frozenset(tool.name for tool in published_labels.TOOLS)


def tool_of(records: Iterable[Any], mapping: Mapping[str, str]) -> LabelTool | None:
    """The tool that wrote these records; None where they have columns of ours. mapping: our field -> column; whoever
    names the values reads the file by its columns."""
    fitting: set[str] = set()
    for record in records:
        if isinstance(record, Mapping):
            fitting |= {
                tool.name
                for tool in TOOLS
                if tool.name not in fitting
                and tool.has_keys(record)  # first: few records have those of any tool
                and not (tool.name in _PUBLISHED and _has_own_columns(record))
                and tool.fits(record)
            }
    for tool in TOOLS:
        names_values = any(name in tool.columns for name in VALUES)
        if tool.name in fitting and not (names_values and any(name in mapping for name in VALUES)):
            return tool
    return None


def _has_own_columns(record: Mapping[str, Any]) -> bool:
    """Whether a record has labels in columns of ours, as where people label a published set again."""
    names = {folded(str(column)) for column in record}
    return any(columns <= names for columns in _OWN_COLUMNS)


class ToolRecords:
    """The labels in a tool's records, as records with our columns. ignored: what was no label, counted."""

    def __init__(self, tool: LabelTool, mapping: Mapping[str, str]) -> None:
        self.tool = tool
        columns = {**tool.columns, **mapping}
        self.fields = NestedFields({name: path for name, path in columns.items() if path})
        self._mapped = mapping
        self.ignored: Counter[str] = Counter()
        self._doubtful = 0

    @property
    def names_values(self) -> bool:
        """Whether the tool or the caller says where the labels are."""
        return any(name in self.tool.columns or name in self._mapped for name in VALUES)

    def flat_of(
        self, records: Callable[[], Iterable[tuple[int, Any]]]
    ) -> Iterator[tuple[int, Any]]:
        """The labels, each with the line of its record."""
        self.ignored = Counter()
        self._doubtful = 0
        for line, record in records():
            if not isinstance(record, Mapping):
                yield line, record
                continue
            try:
                if self.tool.record:
                    record = paths.reader({"record": record})(self.tool.record)
                self._count(record)
                rows = list(self.fields.rows(record))
            except Problem as problem:
                yield line, UnreadableRecord(str(problem))
                continue
            labels = [label for label in map(self._label, rows) if label is not None]
            if not labels:
                of_tool = all(key in record for key in self.tool.keys)
                self.ignored[
                    "records without a label" if of_tool else "records in another form"
                ] += 1
            for label in labels:
                yield line, label

    def _label(self, row: dict[str, Any]) -> dict[str, Any] | None:
        """A row without its empty fields; None for one without a value."""
        if self.tool.opens and "value" in row:
            row["value"] = labelled(messages.parsed(row["value"]))
        label = {name: value for name, value in row.items() if value not in (None, "")}
        return label if any(name in label for name in VALUES) else None

    def _count(self, record: Mapping[str, Any]) -> None:
        read = paths.reader(record)
        for kind, path in self.tool.ignored.items():
            no_labels = read(path)
            if isinstance(no_labels, list | Mapping):
                self.ignored[kind] += len(no_labels)
        if self.tool.doubtful:
            self._doubtful += len(read(self.tool.doubtful) or ())

    def notice(self, file: str) -> str:
        """Which tool's file was read, and what of it was not."""
        left = ", ".join(f"{count:,} {kind}" for kind, count in sorted((+self.ignored).items()))
        doubt = f" {self._doubtful:,} answers {self.tool.doubt}." if self._doubtful else ""
        return f"{file}: read as {self.tool.name}. Not read: {left or 'nothing'}.{doubt}"
