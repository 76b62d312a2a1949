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

from longmark.contrib.annotate.items import Item
from longmark.contrib.annotate.labels import (
    IMPOSSIBLE,
    Collected,
    Entry,
    collect,
    scales_of,
    simple_labels,
)
from longmark.contrib.annotate.progress import methods, states
from longmark.contrib.annotate.store import Store
from longmark.contrib.annotate.study import TIE, Choice, Cloze, Compare, Edit, Errors, Study
from longmark.places import real
from longmark.records.pair import EXPANSION_CHECKS
from longmark.records.write import spreadsheet
from longmark.scores.answer_texts import A_SHA256, ANSWER_SHA256, B_SHA256, answer_sha256
from longmark.scores.label_scales import LABEL_SCALE
from longmark.scores.labels import FINAL, PROBABILITY
from longmark.writing import folder as make_folder
from longmark.writing import remove, replacing

FILES = {
    "labels.jsonl": "every label, with its rater, systems, order, times and status; skipped items too",
    "items.csv": "every item, with its state: decided, undecided, labelled, skipped or open",
    "ratings.csv": "ratings for longmark metaeval",
    "choices.csv": "choices between two answers for longmark metaeval; a was shown first",
    "score.jsonl": "labels for longmark score-study --labels",
    "comprehensiveness.jsonl": "labels for longmark comprehensiveness-study --annotated",
    "pairs.jsonl": "the pairs with each rater's choice and the final one, for longmark calf-study",
    "training.jsonl": "questions with label, reasons and term, to train a validator",
    "audit.jsonl": "every event, in order",
    "methods.md": "a paragraph for a paper, with agreement and times",
}  # of an export; one that a study has nothing for is not written

_ERRORS = "errors"
_SCALES = ("answer_relevance", "context_utilization")
_STATED = {"yes", "no", "n/a"}
_GROUPS = ("group", "mode", "subject")
Record = dict[str, Any]


def export(
    study: Study,
    items: Sequence[Item],
    store: Store,
    folder: Path,
    only: Collection[str] = (),
    *,
    names: bool = False,
) -> list[Path]:
    """Writes the files of a study, or `only` some of them; returns those that were written. A file that there is
    nothing for is removed if an earlier export wrote it. names: of people, instead of their ids."""
    found = collect(study, items, store, names=names)
    make_folder(folder)
    records = _records(found, store)
    written = []
    place = str(real(folder))
    earlier = {
        name for one in store.kept("exports") if one["folder"] == place for name in one["files"]
    }
    for name in FILES:
        if only and name not in only:
            continue
        path = folder / name
        if name == "methods.md":
            content = methods(found).encode() if found.done else b""
        else:
            content = (_table if name.endswith(".csv") else _lines)(records[name])
        if content:
            with replacing(path, private=True) as file:
                file.write(content)
            written.append(path)
        elif name in earlier:
            remove(path)
    return written


def available(study: Study, items: Sequence[Item], store: Store) -> list[str]:
    """The names of the files that there is something for."""
    found = collect(study, items, store)
    records: dict[str, Iterable[Any]] = {**_records(found, store), "methods.md": found.done}
    return [name for name in FILES if any(True for _ in records[name])]


def _records(collected: Collected, store: Store) -> dict[str, Iterator[Record]]:
    return {
        "labels.jsonl": _labels(collected),
        "items.csv": _items(collected),
        "ratings.csv": _ratings(collected),
        "choices.csv": _choices(collected),
        "score.jsonl": _score(collected),
        "comprehensiveness.jsonl": _comprehensiveness(collected),
        "pairs.jsonl": _pairs(collected),
        "training.jsonl": _training(collected),
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
    columns = list(dict.fromkeys(column for one in listed for column in one))
    cells = ([one.get(column) for column in columns] for one in listed)
    return spreadsheet([columns, *cells]).encode("utf-8", "surrogatepass")


# Every label ----------------------------------------------------------------------------------------------------------
def _labels(collected: Collected) -> Iterator[Record]:
    names = {one.name: one for one in collected.study.asked}
    for entry in collected.entries:
        if entry.assignment.status == "withdrawn":
            continue
        given = entry.assignment
        about = _about(entry.item)
        by: Record = {
            "rater": entry.rater.name,
            "rater_id": entry.rater.id,
            "status": given.status,
            "reason": given.reason,
            "kind": given.kind,
            "position": given.position,
            "first": entry.first,
            "seconds": round(entry.seconds, 3),
            "given_at": given.given_at,
            "done_at": given.done_at,
            "saved_at": entry.answer and entry.answer.saved_at,
            "version": entry.answer and entry.answer.version,
            "suggestions_shown": bool(entry.answer and entry.answer.suggestions_shown),
        }
        values = {name: value for name, value in entry.values.items() if name in names}
        for name, value in values.items() or ((None, None),):
            yield {**about, "field": name, "value": value, **by}
    for decision in collected.decisions.values():
        if (item := collected.items.get(decision.item_id)) is None:
            continue
        rater = collected.people.get(decision.person_id)
        by = {
            "rater": rater and rater.name,
            "rater_id": decision.person_id,
            "status": "adjudicated",
        }
        by |= {
            "reason": decision.justification,
            "kind": "adjudication",
            "done_at": decision.decided_at,
        }
        if (shown := collected.deciding.get(item.id)) is not None:
            by |= {"first": item.sides[-1 if shown.swapped else 0], "given_at": shown.given_at}
        by["labels_seen"] = collected.looked(item.id, decision.person_id)
        for name, value in decision.values.items():
            yield {**_about(item), "field": name, "value": value, **by}


def _items(collected: Collected) -> Iterator[Record]:
    """Every item with its state, the number of its labels, and who has it open."""
    given: dict[str, list[Entry]] = defaultdict(list)
    for entry in collected.entries:
        given[entry.item.id].append(entry)
    for item, state in states(collected).items() if collected.entries else ():
        by = {
            name: ";".join(one.rater.name for one in given[item] if one.assignment.status == name)
            for name in ("done", "open", "skipped", "released")
        }
        about = {
            "item": item,
            "example_id": _example(collected.items[item]),
            "question_id": collected.items[item].question_id,
        }
        yield {**about, "state": state, **by}


def _about(item: Item) -> Record:
    return {
        "item": item.id,
        "question_id": item.question_id,
        "example_ids": dict(item.example_ids),
        "systems": dict(item.systems),
    }


def _audit(collected: Collected, store: Store) -> Iterator[Record]:
    """Without the names of people, unless they are exported, and without what a person gave who withdrew."""
    withdrawn = {
        (one.item_id, one.person_id) for one in store.assignments() if one.status == "withdrawn"
    }
    for one in store.events():
        person = collected.people.get(one.person_id or "")
        by = {"person_id": one.person_id, "person": person and person.name}
        content = {} if (one.item_id, one.person_id) in withdrawn else one.content
        if (
            about := collected.people.get(content.get("person", ""))
        ) is not None and "name" in content:
            content = {**content, "name": about.name}
        yield {
            "number": one.number,
            "at": one.at,
            **by,
            "kind": one.kind,
            "item": one.item_id,
            "content": content,
        }


# For metaeval ---------------------------------------------------------------------------------------------------------
def _groups(item: Item) -> Record:
    columns = item.columns
    return {name: str(columns[name]) for name in _GROUPS if name in columns}


def _example(item: Item) -> str:
    """The id of the example that an item is about: of the answer, or of the pair."""
    return item.example_ids.get("answer") or item.example_ids.get("pair") or item.id


def _named(label: str, entry: Entry) -> str:
    """The name of a label for `metaeval`, which takes final labels apart from those of raters."""
    return f"{label}.{FINAL}" if entry.rater.id == FINAL else label


def _digest(item: Item, side: str) -> str | None:
    """Of the text of an answer that raters were shown."""
    text = item.shown.get(side)
    return answer_sha256(text) if isinstance(text, str) else None


def _ratings(collected: Collected) -> Iterator[Record]:
    scales = {label: scale.written() for label, scale in scales_of(collected.study).items()}
    compared = {one.name for one in collected.study.asked if isinstance(one, Compare)}
    by_priority = collected.study.assignment.order == "priority"
    for entry in (*collected.done, *collected.finals()):
        about = {"example_id": _example(entry.item), "system": entry.item.systems.get("answer", "")}
        groups = _groups(entry.item)
        if (digest := _digest(entry.item, "answer")) is not None:
            groups[ANSWER_SHA256] = digest
        if (
            entry.item.probability is not None or by_priority
        ):  # by priorities nobody knows it: an empty cell
            groups[PROBABILITY] = entry.item.probability
        for label, value in simple_labels(collected.study, entry.item, entry.values):
            if label not in compared:
                scale = {LABEL_SCALE: scales[label]} if label in scales else {}
                rating = {"label": _named(label, entry), "value": value, "rater": entry.rater.name}
                yield about | rating | groups | scale


def _choices(collected: Collected) -> Iterator[Record]:
    fields = [one.name for one in collected.study.asked if isinstance(one, Compare)]
    scales = {label: scale.written() for label, scale in scales_of(collected.study).items()}
    for entry in (*collected.done, *collected.finals()):
        item = entry.item
        first = entry.first
        other = "a" if first == "b" else "b"
        names = item.systems if len(set(item.systems.values())) == 2 else item.example_ids
        for label in fields:
            if (value := entry.values.get(label)) is None:
                continue
            choice = TIE if value == TIE else "a" if value == first else "b"
            sides = {"question_id": item.question_id, "a": names.get(first), "b": names.get(other)}
            texts = {A_SHA256: _digest(item, first), B_SHA256: _digest(item, other)}
            texts = {name: digest for name, digest in texts.items() if digest is not None}
            rating = {"choice": choice, "label": _named(label, entry), "rater": entry.rater.name}
            scale = {LABEL_SCALE: scales[label]} if label in scales else {}
            yield sides | rating | _groups(item) | texts | scale


# For the studies ------------------------------------------------------------------------------------------------------
def _score(collected: Collected) -> Iterator[Record]:
    """SCORE: yes, no or n/a for each detail; numbers for the scales."""
    asked = collected.study.asked
    choices = [one for one in asked if isinstance(one, Choice)]
    stated = [
        choice.name for choice in choices if {option.value for option in choice.options} <= _STATED
    ]
    scales = [one.name for one in asked if one.name in _SCALES]
    for entry in (*collected.done, *collected.finals()):
        about = {"item": _example(entry.item), "system": entry.item.systems.get("answer")}
        for dimension in (*stated, *scales) if stated and not collected.study.pairs else ():
            if (value := entry.values.get(dimension)) is not None:
                by = {"rater": entry.rater.name, "dimension": _named(dimension, entry)}
                yield {**about, **by, "label": value}


def _comprehensiveness(collected: Collected) -> Iterator[Record]:
    """The errors of an item, as `--annotated` reads them."""
    if not any(isinstance(one, Errors) and one.name == _ERRORS for one in collected.study.asked):
        return
    for entry in (*collected.done, *collected.finals()):
        if (value := entry.values.get(_ERRORS)) is not None:
            yield {"item": entry.item.id, "rater": entry.rater.name, "errors": value}


def _pairs(collected: Collected) -> Iterator[Record]:
    """CALF: each pair as it came, with every label and the checks of its expanded reference. label: the decision, or
    what all raters chose."""
    field = next((one.name for one in collected.study.asked if isinstance(one, Compare)), None)
    if field is None:
        return
    finals = {one.item.id: one.values for one in collected.finals()}
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
        record["expansion_checks"] = {rater: its for rater, its in checks.items() if its} or None
        yield {name: value for name, value in record.items() if value is not None}


def _training(collected: Collected) -> Iterator[Record]:
    """ClimaQA: a line for each label of a question, with what a validator sees of it."""
    asked = collected.study.asked
    cloze = next((one.name for one in asked if isinstance(one, Cloze)), None)
    validity = next(
        (one.name for one in asked if isinstance(one, Choice) and one.name == "validity"), None
    )
    edits = [one for one in asked if isinstance(one, Edit)]
    if cloze is None and validity is None:
        return
    for entry in (*collected.done, *collected.finals()):
        shown = entry.item.columns
        values = entry.values
        if entry.rater.id == FINAL and not {cloze, validity} & values.keys():
            continue
        term = values.get(cloze) if cloze else None
        form = shown.get("form") or (
            "cloze" if term else "mcq" if "options" in shown else "freeform"
        )
        record: Record = {"item": entry.item.id, "form": form}
        record |= {
            name: shown[name]
            for name in ("level", "question", "answer", "statement")
            if name in shown
        }
        if "options" in shown:
            record["options"] = {one["key"]: one["text"] for one in shown["options"]}
        if "passages" in shown:
            record["contexts"] = shown["passages"]
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
