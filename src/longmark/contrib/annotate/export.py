"""The labels of a study in files: all of them with rater, order and times, and what the studies and `metaeval` read.

Only finished labels of normal items are in the files for other commands; drafts, skips and the items that check raters
are in `labels.jsonl` too. Systems are unmasked, people are named by their ids. What a rater changed later is in
`audit.jsonl`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from longmark.contrib.annotate.citation_items import PART_COLUMNS
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.labels import (
    AssignedItem,
    Collected,
    collect,
    scales_of,
    simple_labels,
)
from longmark.contrib.annotate.marked import mark_scales, sentence_marks
from longmark.contrib.annotate.methods import methods
from longmark.contrib.annotate.nugget_labels import (
    lists_of_people,
    nugget_assignments,
    nugget_scales,
    nugget_scores,
)
from longmark.contrib.annotate.progress import states
from longmark.contrib.annotate.store import StudyStore
from longmark.contrib.annotate.study import (
    TIE,
    Compare,
    Spans,
    Study,
)
from longmark.contrib.annotate.study_records import (
    Record,
    comprehensiveness_records,
    example_of,
    named_label,
    pair_records,
    score_records,
    training_records,
)
from longmark.places import real
from longmark.records.write import spreadsheet
from longmark.scores.answer_parts import NUGGET, SENTENCE_END, SENTENCE_START
from longmark.scores.answer_texts import A_SHA256, ANSWER_SHA256, B_SHA256, answer_sha256
from longmark.scores.label_scales import LABEL_SCALE
from longmark.scores.labels import FINAL, PROBABILITY
from longmark.writing import folder as make_folder
from longmark.writing import remove, replacing

FILES = {
    "labels.jsonl": "every label, with its rater, systems, order, times and status; skipped items too",
    "items.csv": "every item, with its state: decided, undecided, labelled, skipped or open",
    "ratings.csv": "ratings for longmark metaeval",
    "nuggets.csv": "whether an answer holds each nugget, for longmark metaeval",
    "nuggets.jsonl": "the nuggets of each question as people left them, for --metrics nuggets@file=nuggets.jsonl",
    "sentences.csv": "marks as labels of sentences, for longmark metaeval",
    "choices.csv": "choices between two answers for longmark metaeval; a was shown first",
    "score.jsonl": "labels for longmark score-study --labels",
    "comprehensiveness.jsonl": "labels for longmark comprehensiveness-study --annotated",
    "pairs.jsonl": "the pairs with each rater's choice and the final one, for longmark calf-study",
    "training.jsonl": "questions with label, reasons and term, to train a validator",
    "audit.jsonl": "every event, in order",
    "methods.md": "a paragraph for a paper, with agreement and times",
}  # of an export; one that a study has nothing for is not written

_GROUPS = ("group", "mode", "subject")


def export(
    study: Study,
    items: Sequence[StudyItem],
    store: StudyStore,
    folder: Path,
    chosen_files: Collection[str] = (),
    *,
    names: bool = False,
) -> list[Path]:
    """Writes the files of a study, or `chosen_files` alone; returns those that were written. A file that there is
    nothing for is removed if an earlier export wrote it. names: of people, instead of their ids."""
    collected = collect(study, items, store, names=names)
    make_folder(folder)
    records = _records(collected, store)
    written = []
    place = str(real(folder))
    earlier = {
        name
        for export_record in store.kept("exports")
        if export_record["folder"] == place
        for name in export_record["files"]
    }
    for name in FILES:
        if chosen_files and name not in chosen_files:
            continue
        path = folder / name
        if name == "methods.md":
            content = methods(collected).encode() if collected.done else b""
        else:
            content = (_table if name.endswith(".csv") else _lines)(records[name])
        if content:
            with replacing(path, private=True) as file:
                file.write(content)
            written.append(path)
        elif name in earlier:
            remove(path)
    return written


def available(study: Study, items: Sequence[StudyItem], store: StudyStore) -> list[str]:
    """The names of the files that there is something for."""
    collected = collect(study, items, store)
    records: dict[str, Iterable[Any]] = {**_records(collected, store), "methods.md": collected.done}
    return [name for name in FILES if any(True for _ in records[name])]


def _records(collected: Collected, store: StudyStore) -> dict[str, Iterator[Record]]:
    return {
        "labels.jsonl": _labels(collected),
        "items.csv": _items(collected),
        "ratings.csv": _ratings(collected),
        "nuggets.csv": _nugget_labels(collected),
        "nuggets.jsonl": lists_of_people(collected),
        "sentences.csv": _sentences(collected),
        "choices.csv": _choices(collected),
        "score.jsonl": score_records(collected),
        "comprehensiveness.jsonl": comprehensiveness_records(collected),
        "pairs.jsonl": pair_records(collected),
        "training.jsonl": training_records(collected),
        "audit.jsonl": _audit(collected, store),
    }


def _lines(records: Iterable[Record]) -> bytes:
    return b"".join(
        orjson.dumps(record, option=orjson.OPT_NON_STR_KEYS) + b"\n" for record in records
    )


def _table(records: Iterable[Record]) -> bytes:
    listed = list(records)
    if not listed:
        return b""
    columns = list(dict.fromkeys(column for record in listed for column in record))
    cells = ([record.get(column) for column in columns] for record in listed)
    return spreadsheet([columns, *cells]).encode("utf-8", "surrogatepass")


# Every label ----------------------------------------------------------------------------------------------------------
def _labels(collected: Collected) -> Iterator[Record]:
    names = {field.name: field for field in collected.study.asked}
    for entry in collected.entries:
        if entry.assignment.status == "withdrawn":
            continue
        assignment = entry.assignment
        item_facts = _about(entry.item)
        rater_facts: Record = {
            "rater": entry.rater.name,
            "rater_id": entry.rater.id,
            "status": assignment.status,
            "reason": assignment.reason,
            "kind": assignment.kind,
            "position": assignment.position,
            "first": entry.first,
            "seconds": round(entry.seconds, 3),
            "given_at": assignment.given_at,
            "done_at": assignment.done_at,
            "saved_at": entry.answer and entry.answer.saved_at,
            "version": entry.answer and entry.answer.version,
            "suggestions_shown": bool(entry.answer and entry.answer.suggestions_shown),
        }
        values = {name: value for name, value in entry.values.items() if name in names}
        for name, value in values.items() or ((None, None),):
            yield {**item_facts, "field": name, "value": value, **rater_facts}
    for decision in collected.decisions.values():
        if (item := collected.items.get(decision.item_id)) is None:
            continue
        rater = collected.people.get(decision.person_id)
        rater_facts = {
            "rater": rater and rater.name,
            "rater_id": decision.person_id,
            "status": "adjudicated",
        }
        rater_facts |= {
            "reason": decision.justification,
            "kind": "adjudication",
            "done_at": decision.decided_at,
        }
        if (decided_assignment := collected.deciding.get(item.id)) is not None:
            rater_facts |= {
                "first": item.sides[-1 if decided_assignment.swapped else 0],
                "given_at": decided_assignment.given_at,
            }
        rater_facts["labels_seen"] = collected.looked(item.id, decision.person_id)
        for name, value in decision.values.items():
            yield {**_about(item), "field": name, "value": value, **rater_facts}


def _items(collected: Collected) -> Iterator[Record]:
    """Every item with its state, the number of its labels, and who has it open."""
    entries_of: dict[str, list[AssignedItem]] = defaultdict(list)
    for entry in collected.entries:
        entries_of[entry.item.id].append(entry)
    for item, state in states(collected).items() if collected.entries else ():
        raters_by_status = {
            name: ";".join(
                entry.rater.name for entry in entries_of[item] if entry.assignment.status == name
            )
            for name in ("done", "open", "skipped", "released")
        }
        item_facts = {
            "item": item,
            "example_id": example_of(collected.items[item]),
            "question_id": collected.items[item].question_id,
        }
        yield {**item_facts, "state": state, **raters_by_status}


def _about(item: StudyItem) -> Record:
    return {
        "item": item.id,
        "question_id": item.question_id,
        "example_ids": dict(item.example_ids),
        "systems": dict(item.systems),
    }


def _audit(collected: Collected, store: StudyStore) -> Iterator[Record]:
    """Without the names of people, unless they are exported, and without what a person gave who withdrew."""
    withdrawn = {
        (assignment.item_id, assignment.person_id)
        for assignment in store.assignments()
        if assignment.status == "withdrawn"
    }
    for event in store.events():
        person = collected.people.get(event.person_id or "")
        by = {"person_id": event.person_id, "person": person and person.name}
        content = {} if (event.item_id, event.person_id) in withdrawn else event.content
        if (
            about := collected.people.get(content.get("person", ""))
        ) is not None and "name" in content:
            content = {**content, "name": about.name}
        yield {
            "number": event.number,
            "at": event.at,
            **by,
            "kind": event.kind,
            "item": event.item_id,
            "content": content,
        }


# For metaeval ---------------------------------------------------------------------------------------------------------
def _groups(item: StudyItem) -> Record:
    columns = item.columns
    return {name: str(columns[name]) for name in _GROUPS if name in columns}


def _digest(item: StudyItem, side: str) -> str | None:
    """Of the text of an answer that raters were shown."""
    text = item.shown.get(side)
    return answer_sha256(text) if isinstance(text, str) else None


def _ratings(collected: Collected) -> Iterator[Record]:
    scales = {label: scale.written() for label, scale in scales_of(collected.study).items()}
    compared = {field.name for field in collected.study.asked if isinstance(field, Compare)}
    by_priority = collected.study.assignment.order == "priority"
    for entry in (*collected.done, *collected.finals()):
        item_facts = {
            "example_id": example_of(entry.item),
            "system": entry.item.systems.get("answer", ""),
        }
        groups = _groups(entry.item)
        if collected.study.items.from_ == "citations":
            columns = entry.item.columns
            groups |= {column: columns[column] for column in (*PART_COLUMNS, ANSWER_SHA256)}
        elif (digest := _digest(entry.item, "answer")) is not None:
            groups[ANSWER_SHA256] = digest
        if (
            entry.item.probability is not None or by_priority
        ):  # by priorities nobody knows it: an empty cell
            groups[PROBABILITY] = entry.item.probability
        for label, value in simple_labels(collected.study, entry.item, entry.values):
            if label not in compared:
                scale = {LABEL_SCALE: scales[label]} if label in scales else {}
                rating = {
                    "label": named_label(label, entry),
                    "value": value,
                    "rater": entry.rater.name,
                }
                yield item_facts | rating | groups | scale
        for side, label, score in nugget_scores(collected.study, entry.item, entry.values):
            yield {
                "example_id": entry.item.example_ids.get(side) or example_of(entry.item),
                "system": entry.item.systems.get(side, ""),
                "label": named_label(label, entry),
                "value": score,
                "rater": entry.rater.name,
                **groups,
                ANSWER_SHA256: _digest(entry.item, side),
            }


def _nugget_labels(collected: Collected) -> Iterator[Record]:
    scales = {label: scale.written() for label, scale in nugget_scales(collected.study).items()}
    for entry in (*collected.done, *collected.finals()):
        item = entry.item
        for label, nugget, side, value in nugget_assignments(collected.study, item, entry.values):
            scale = {LABEL_SCALE: scales[label]} if label in scales else {}
            yield {
                "example_id": item.example_ids.get(side) or example_of(item),
                "system": item.systems.get(side, ""),
                NUGGET: nugget,
                "label": named_label(label, entry),
                "value": value,
                "rater": entry.rater.name,
                **_groups(item),
                ANSWER_SHA256: _digest(item, side),
                **scale,
            }


def _sentences(collected: Collected) -> Iterator[Record]:
    """Of answers whose ids are known: those of a pair without ids cannot be named to `metaeval`."""
    scales = {label: scale.written() for label, scale in mark_scales(collected.study).items()}
    spans = {field.name for field in collected.study.asked if isinstance(field, Spans)}
    for entry in (*collected.done, *collected.finals()):
        item = entry.item
        if entry.rater.id == FINAL and not spans & entry.values.keys():
            continue
        for mark in sentence_marks(collected.study, item, entry.values):
            if (example_id := item.example_ids.get(mark.side)) is None:
                continue
            yield {
                "example_id": example_id,
                "system": item.systems.get(mark.side, ""),
                SENTENCE_START: mark.start,
                SENTENCE_END: mark.end,
                "label": named_label(mark.label, entry),
                "value": mark.value,
                "rater": entry.rater.name,
                **_groups(item),
                ANSWER_SHA256: _digest(item, mark.side),
                LABEL_SCALE: scales[mark.label],
                "sentence": item.shown[mark.side][mark.start : mark.end],
            }


def _choices(collected: Collected) -> Iterator[Record]:
    fields = [field.name for field in collected.study.asked if isinstance(field, Compare)]
    scales = {label: scale.written() for label, scale in scales_of(collected.study).items()}
    for entry in (*collected.done, *collected.finals()):
        item = entry.item
        first = entry.first
        second_side = "a" if first == "b" else "b"
        names = item.systems if len(set(item.systems.values())) == 2 else item.example_ids
        for label in fields:
            if (value := entry.values.get(label)) is None:
                continue
            choice = TIE if value == TIE else "a" if value == first else "b"
            sides = {
                "question_id": item.question_id,
                "a": names.get(first),
                "b": names.get(second_side),
            }
            texts = {A_SHA256: _digest(item, first), B_SHA256: _digest(item, second_side)}
            texts = {name: digest for name, digest in texts.items() if digest is not None}
            rating = {
                "choice": choice,
                "label": named_label(label, entry),
                "rater": entry.rater.name,
            }
            scale = {LABEL_SCALE: scales[label]} if label in scales else {}
            yield sides | rating | _groups(item) | texts | scale


# For the studies ------------------------------------------------------------------------------------------------------
