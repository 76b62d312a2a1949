"""The records that an export writes for the studies of papers, for pairs and for training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.labels import (
    IMPOSSIBLE,
    AssignedItem,
    Collected,
)
from longmark.contrib.annotate.study import (
    Choice,
    Cloze,
    Compare,
    Edit,
    Errors,
)
from longmark.records.pair import EXPANSION_CHECKS
from longmark.scores.labels import FINAL

_ERRORS = "errors"
_SCALES = ("answer_relevance", "context_utilization")
_STATED = {"yes", "no", "n/a"}
Record = dict[str, Any]


def example_of(item: StudyItem) -> str:
    """The id of the example that an item is about: of the answer, or of the pair."""
    return item.example_ids.get("answer") or item.example_ids.get("pair") or item.id


def named_label(label: str, entry: AssignedItem) -> str:
    """The name of a label for `metaeval`, which takes final labels apart from those of raters."""
    return f"{label}.{FINAL}" if entry.rater.id == FINAL else label


def score_records(collected: Collected) -> Iterator[Record]:
    """SCORE: yes, no or n/a for each detail; numbers for the scales."""
    fields = collected.study.asked
    choices = [field for field in fields if isinstance(field, Choice)]
    stated = [
        choice.name for choice in choices if {option.value for option in choice.options} <= _STATED
    ]
    scales = [field.name for field in fields if field.name in _SCALES]
    for entry in (*collected.done, *collected.finals()):
        item_facts = {"item": example_of(entry.item), "system": entry.item.systems.get("answer")}
        for dimension in (*stated, *scales) if stated and not collected.study.pairs else ():
            if (value := entry.values.get(dimension)) is not None:
                rater_facts = {
                    "rater": entry.rater.name,
                    "dimension": named_label(dimension, entry),
                }
                yield {**item_facts, **rater_facts, "label": value}


def comprehensiveness_records(collected: Collected) -> Iterator[Record]:
    """The errors of an item, as `--annotated` reads them."""
    if not any(
        isinstance(field, Errors) and field.name == _ERRORS for field in collected.study.asked
    ):
        return
    for entry in (*collected.done, *collected.finals()):
        if (value := entry.values.get(_ERRORS)) is not None:
            yield {"item": entry.item.id, "rater": entry.rater.name, "errors": value}


def pair_records(collected: Collected) -> Iterator[Record]:
    """CALF: each pair as it came, with every label and the checks of its expanded reference. label: the decision, or
    what all raters chose."""
    field = next(
        (
            field_asked.name
            for field_asked in collected.study.asked
            if isinstance(field_asked, Compare)
        ),
        None,
    )
    if field is None:
        return
    finals = {final.item.id: final.values for final in collected.finals()}
    for entries in collected.by_item.values():
        item = entries[0].item
        labels = {
            entry.rater.name: entry.values[field] for entry in entries if field in entry.values
        }
        if not labels:
            continue
        agreed = next(iter(labels.values())) if len(set(labels.values())) == 1 else None
        final = finals.get(item.id, {}).get(field) or agreed
        record: Record = {
            "id": item.example_ids.get("pair", item.id),
            "question_id": item.question_id,
        }
        columns = {**item.shown, **item.meta}
        dropped = {"labels", "label", "passages"} | (
            {"reference"} if "references" in columns else set()
        )
        record |= {name: value for name, value in columns.items() if name not in dropped}
        record |= {f"{side}_system": system for side, system in item.systems.items()}
        record |= {"labels": labels, "label": final}
        checks = {
            entry.rater.name: {
                name: entry.values[name] for name in EXPANSION_CHECKS if name in entry.values
            }
            for entry in entries
        }
        record["expansion_checks"] = {
            rater: check_values for rater, check_values in checks.items() if check_values
        } or None
        yield {name: value for name, value in record.items() if value is not None}


def training_records(collected: Collected) -> Iterator[Record]:
    """ClimaQA: a line for each label of a question, with what a validator sees of it."""
    fields = collected.study.asked
    cloze = next((field.name for field in fields if isinstance(field, Cloze)), None)
    validity = next(
        (field.name for field in fields if isinstance(field, Choice) and field.name == "validity"),
        None,
    )
    edits = [field for field in fields if isinstance(field, Edit)]
    if cloze is None and validity is None:
        return
    for entry in (*collected.done, *collected.finals()):
        columns = entry.item.columns
        values = entry.values
        if entry.rater.id == FINAL and not {cloze, validity} & values.keys():
            continue
        term = values.get(cloze) if cloze else None
        form = columns.get("form") or (
            "cloze" if term else "mcq" if "options" in columns else "freeform"
        )
        record: Record = {"item": entry.item.id, "form": form}
        record |= {
            name: columns[name]
            for name in ("level", "question", "answer", "statement")
            if name in columns
        }
        if "options" in columns:
            record["options"] = {option["key"]: option["text"] for option in columns["options"]}
        if "passages" in columns:
            record["contexts"] = columns["passages"]
        if term is not None:
            record["validity"] = "invalid" if IMPOSSIBLE in term else "valid"
            record |= {
                "term": term.get("quote"),
                "start": term.get("start"),
                "end": term.get("end"),
            }
        elif validity and validity in values:
            record["validity"] = values[validity]
        record["reasons"] = values.get("reasons", [])
        if "other_reason" in values:
            record["other_reason"] = values["other_reason"]
        for edit in edits:
            if "text" in values.get(edit.name, {}):
                record[f"edited_{edit.over}"] = values[edit.name]["text"]
        yield record | {"rater": entry.rater.name, "seconds": round(entry.seconds, 3)}
