"""A file with a record for each question, of what its answers are expected to hold: nuggets or criteria.

The parameter `file` of a metric names it and is signed with its content. A record is found by the id of the question,
else by its text: examples without ids have a hash of the text as their `question_id`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from longmark.errors import NoScore
from longmark.metric import Remark
from longmark.metrics._signed_file import path_of
from longmark.records import Example, sources
from longmark.records.carried import CARRIED
from longmark.records.columns import NAMES
from longmark.records.example import question_hash
from longmark.records.expected import with_weighted_dimensions
from longmark.records.files import BadLines, at
from longmark.records.values import Problem, as_list_cell, found, missing, name

_IDS = ("question_id", "qid", "query_id", "topic_id", "prompt_id", "sample_id", "id")
_TEXTS = ("question", "query", "prompt", "topic")


def expected_of(example: Example, file: str, field: str) -> tuple[Any, ...]:
    """What the answers to the question of an example are expected to hold. file: a signed parameter, "": the example
    carries it. NoScore (`missing_input`) for a question without a record."""
    if not file:
        return getattr(example, field) or ()
    by_question = read(file, field)
    keys = [example.question_id]
    if example.question:
        keys.append(question_hash(example.question))
    entries = next((by_question[key] for key in keys if key in by_question), None)
    if entries is None:
        raise NoScore(
            "missing_input",
            f'{path_of(file)} has no {field} for the question "{example.question_id}", neither by its id nor by its '
            "text.",
        )
    return entries


def remarks_on_ids(example: Example, file: str, field: str) -> list[Remark]:
    """What a run tells of an example that is joined by its id to a record of another question: ids such as 1, 2, 3 are
    those of many sets."""
    if not file or not example.question:
        return []
    text_hash = _file(file, field).text_hashes.get(example.question_id)
    if text_hash in (None, question_hash(example.question)):
        return []
    return [
        Remark(
            f"The record with the question's id in {path_of(file)} has another question, and its {field} are used. If "
            "these ids are of different sets, take them out of the file: then a record is found by the question's "
            "text. The ids:",
            (example.question_id,),
        )
    ]


def read(file: str, field: str) -> Mapping[str, tuple[Any, ...]]:
    """Id of a question, and hash of its text where that is one question's -> its entries. BadInput with a line for each
    record that is none; UserError for a file that cannot be read."""
    return _file(file, field).entries


@dataclass(frozen=True, slots=True)
class _ExpectationsFile:
    """entries: as `read` has them; text_hashes: id of a question -> hash of its text, of records that have both."""

    entries: Mapping[str, tuple[Any, ...]]
    text_hashes: Mapping[str, str]


@lru_cache(maxsize=4)
def _file(file: str, field: str) -> _ExpectationsFile:
    """A file as it is read once. Raises what `read` does."""
    path = path_of(file)
    bad = BadLines()
    by_id: dict[str, tuple[Any, ...]] = {}
    by_text: dict[str, tuple[Any, ...] | None] = {}
    lines: dict[str, int] = {}
    text_hashes: dict[str, str] = {}
    for line, record in sources.records(path, sources.kind_of(path)):
        try:
            ids, text_hash, entries = _record(record, field)
            for question_id in ids:
                if question_id in by_id and by_id[question_id] != entries:
                    raise Problem(
                        f'the question "{question_id}" is already in line {lines[question_id]}, with other {field}; '
                        "a question has one record"
                    )
        except Problem as problem:
            bad.add(at(path, line, str(problem)))
            continue
        by_id |= dict.fromkeys(ids, entries)
        lines |= dict.fromkeys(ids, line)
        if text_hash:
            text_hashes |= dict.fromkeys(ids, text_hash)
            same_text = by_text.get(text_hash, entries)
            by_text[text_hash] = entries if same_text == entries else None
    bad.check()
    of_texts = {key: entries for key, entries in by_text.items() if entries is not None}
    return _ExpectationsFile({**of_texts, **by_id}, text_hashes)


def _record(record: Any, field: str) -> tuple[list[str], str, tuple[Any, ...]]:
    """The id of a question, if there is one, the hash of its text, "" without one, and its entries."""
    if isinstance(record, sources.UnreadableRecord):
        raise Problem(record.message)
    if not isinstance(record, Mapping):
        raise Problem(f"expected an object with named fields, found {found(record)}")
    if field == "criteria":
        record = with_weighted_dimensions(record)
    column = next((column for column in NAMES[field] if not missing(record.get(column))), None)
    if column is None:
        raise Problem(f"has no {' or '.join(NAMES[field])}")
    entries = CARRIED[field](column, as_list_cell(column, record[column]))
    if any(getattr(entry, "assignment", None) is not None for entry in entries):
        raise Problem(
            f"{column}: assignments belong to one answer; score the file that holds them with its answers, as the "
            "examples of the run"
        )
    ids = list(_ids(record))[:1]
    text = next((record[key] for key in _TEXTS if isinstance(record.get(key), str)), "")
    if not ids and not text.strip():
        raise Problem(f"names no question; give it an id ({', '.join(_IDS)}) or its text")
    return ids, question_hash(text) if text.strip() else "", entries


def _ids(record: Mapping[str, Any]) -> Iterator[str]:
    for column in _IDS:
        if not missing(record.get(column)) and (own_id := name(column, record[column])):
            yield own_id
