"""What a file of answers holds: whose file it is, its fields, what is not read of it, which metrics it allows. No call
is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from longmark import metrics
from longmark.engine.pairs import sides
from longmark.errors import BadInput
from longmark.metric import Metric
from longmark.metrics import Selected
from longmark.records import Example, Pair, proposals
from longmark.records.documents import SharedDocuments
from longmark.records.pair import Answered
from longmark.records.read import ExampleSource, Reading
from longmark.records.system_columns import columns_of_answers

FIRST = 1000
"""Examples that are read if the caller does not say how many: enough to see what a file is, in seconds."""

_EXAMPLES = 3  # that are kept
_FIRST = (
    "question",
    "answer",
    "a",
    "b",
    "turns",
    "contexts",
    "references",
    "system",
    "label",
    "variant_of",
)
_MADE = ("id", "question_id", "turn_of", "meta")  # of every example, or made by the reader
_FIELDS = tuple(
    name
    for name in dict.fromkeys((*_FIRST, *Example.model_fields, *Pair.model_fields))
    if name not in _MADE
)
"""All that records can have, so that whatever is read is shown."""


@dataclass(frozen=True)
class Allowed:
    """A metric on the examples. count: those that have all it needs; missing: what it needs and no example has; calls:
    the most that one of the kept examples needs, by a judge."""

    name: str
    metric: Metric
    count: int
    missing: tuple[str, ...]
    calls: int


@dataclass(frozen=True)
class Look:
    """shape: whose records they are, "": columns are read by their names; mapped: field -> where it is read; read:
    examples; complete: these are all; fields: field -> examples that have it; systems: of them; ignored: what is not
    read -> count; kept: column that no field reads and `meta` keeps -> whether it is a text of several words; proposed:
    field that no example has -> column that it could be read from; answers: columns that could each hold the answers of
    a system, where no example has one; bad, bad_lines: bad records and the first messages;
    other_answers: those of them that may be other systems' answers;
    examples: (line, example), the first; notices: of texts that could be ids, and of questions
    that several answers of a system share."""

    name: str
    shape: str
    mapped: Mapping[str, str]
    read: int
    complete: bool
    pairs: bool
    fields: Mapping[str, int]
    systems: Mapping[str, int]
    ignored: Mapping[str, int]
    kept: Mapping[str, bool]
    proposed: Mapping[str, str]
    bad: int
    bad_lines: tuple[str, ...]
    other_answers: int
    examples: tuple[tuple[int, Answered], ...]
    notices: tuple[str, ...] = ()
    metrics: tuple[Allowed, ...] = field(default=())
    answers: tuple[str, ...] = ()


def look(examples: ExampleSource, *, limit: int = FIRST, **reading: Any) -> Look:
    """Reads the first examples of a file, or of records in Python. reading: mapping, encoding, turns, as of `Reading`.

    Bad records are counted. UserError if the file cannot be read; BadInput if no record is good.
    """
    source = Reading(examples, limit=limit, skip_bad=True, **reading)
    names = metrics.names()
    loaded = {chosen.base: chosen for chosen in metrics.select(names)}
    counts: Counter[str] = Counter()
    able: Counter[str] = Counter()
    lacking: dict[str, set[str]] = {}
    systems: Counter[str] = Counter()
    first: list[tuple[int, Answered]] = []
    kept_columns: dict[str, bool] = {}
    documents = SharedDocuments()
    for example in source:
        documents.add(source.line, example)
        if len(first) < _EXAMPLES:
            first.append((source.line, example))
        counts.update(name for name in _FIELDS if _has(example, name))
        systems.update(_systems(example))
        for column, value in example.meta.items():
            kept_columns[column] = kept_columns.get(column, False) or proposals.is_text([value])
        for name, chosen in loaded.items():
            missing = _missing(chosen, example)
            if not chosen.metric.pairs and source.turns not in chosen.metric.turns:
                missing |= {"single answers (--turns last or each)"}
            able[name] += not missing
            lacking[name] = lacking.get(name, missing) & missing
    shape = source.shape
    if not source.good:
        raise BadInput(source.bad_lines, source.bad)
    unread = [example.meta for _, example in first]
    pairs = bool(source.pairs)
    proposed = _proposed(counts, unread, pairs=pairs)
    proposed.update(source.recurring.proposed)
    answers: tuple[str, ...] = ()
    if not (pairs or counts["answer"] or counts["turns"] or "answer" in proposed):
        answers = columns_of_answers(unread, proposed.values())
    return Look(
        name=source.name,
        shape=shape.name if shape else "",
        mapped=({**shape.fields, "turns": ", ".join(shape.conversation)} if shape else {})
        | dict(reading.get("mapping") or {}),
        read=source.good,
        complete=source.good < limit,
        pairs=pairs,
        fields={name: counts[name] for name in _FIELDS if counts[name]},
        systems=dict(systems),
        ignored=dict(+source.ignored),
        kept=kept_columns,
        proposed=proposed,
        bad=source.bad,
        bad_lines=tuple(source.bad_lines),
        other_answers=source.other_answers,
        examples=tuple(first),
        notices=(*source.notices, *documents.apart().notices()),
        metrics=tuple(
            Allowed(
                name,
                chosen.metric,
                able[name],
                tuple(sorted(lacking[name])),
                _calls(chosen, [example for _, example in first]),
            )
            for name, chosen in loaded.items()
        ),
        answers=answers,
    )


def _proposed(
    counts: Mapping[str, int], records: list[dict[str, Any]], *, pairs: bool
) -> dict[str, str]:
    """Field that no example has -> a column of `meta` that it could be read from."""
    fields = {name for name in ("question", "answer", "contexts", "references") if not counts[name]}
    return proposals.proposed(records, fields - ({"answer"} if pairs or counts["turns"] else set()))


def _has(example: Answered, name: str) -> bool:
    """Whether an example has a field. Claims that were given may be none."""
    if "claims" in name:
        return getattr(example, name, None) is not None
    return not metrics.is_missing(example, name) and getattr(example, name) != {}


def _systems(example: Answered) -> set[str]:
    """The systems of an example's answers; "" is one without a name."""
    if isinstance(example, Pair) and (example.a_system or example.b_system):
        return {example.a_system or "", example.b_system or ""}
    return {example.system or ""}


def _missing(chosen: Selected, example: Answered) -> set[str]:
    """What a metric needs and an example does not have; of several scores, the one that lacks the least. A metric of
    one answer scores both answers of a pair."""
    metric = chosen.metric
    if metric.pairs and not isinstance(example, Pair):
        return {"pairs of answers"}
    if metric.variants != (example.variant_of is not None):
        return {"variants of questions"} if metric.variants else {"original questions"}
    answers = sides(chosen, example)
    return min(
        (
            {field for side in answers for field in chosen.missing(side, name)}
            for name in chosen.scores
        ),
        key=len,
    )


def _calls(chosen: Selected, examples: list[Answered]) -> int:
    if not chosen.metric.models:
        return 0
    able = [sides(chosen, example) for example in examples if not _missing(chosen, example)]
    return max((sum(chosen.calls(side, 1) for side in answers) for answers in able), default=0)
