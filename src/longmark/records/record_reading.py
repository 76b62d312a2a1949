"""What was read of one record so far, with all that is wrong with it, and the `Example` or `Pair` that it becomes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from pydantic import ValidationError

from longmark.options import named
from longmark.records.cited import CitedSource, sources_of
from longmark.records.conversation import asking, completed
from longmark.records.example import Example
from longmark.records.files import flaw
from longmark.records.messages import JSON_BEGINS, parsed
from longmark.records.pair import Answered, Pair
from longmark.records.replies import last_cited_reply, reply_of, with_texts
from longmark.records.reply_text import CitedReply
from longmark.records.source_ids import SourceIds
from longmark.records.turn import contexts_of
from longmark.records.values import Problem, as_list_cell, in_one_line, missing
from longmark.records.vendor_replies import LISTS_OF_SOURCES, listed_sources

_MARKER = re.compile(r"[\[【［〔(<¹²³⁴-⁹]")  # what every form of a marker has

_ID = re.compile(r"(?=\S*[\d_#/])\S+")  # and no short answer
_BRACKETS = re.compile(r"[\[【［]([^\[\]【】［］\n]{1,80})[\]】］]")
_PLACE = re.compile(r"(?<!\w)\d{1,3}(?!\w)")


class BadRecord(Exception):
    """A record that is no example; `str` of it is one line with every problem. fields: those that could be read."""

    def __init__(self, message: str, fields: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.fields = dict(fields or {})


@dataclasses.dataclass(slots=True)
class RecordReading:
    """What was read of one record so far.

    record: its columns; whole: the record of another tool that they come from; pair: the fields of its two answers,
    empty where it has one. paths: the columns that are paths into the record. fields: their values, and column_of:
    the column of each. unread: columns that are no field, which go to `meta`. raw_contexts: the passages as they
    stand there. reply: the reply of an API that the answer was. wrong: all that is wrong.
    """

    record: dict[str, Any]
    whole: Any
    pair: dict[str, Any]
    paths: frozenset[str] = frozenset()
    fields: dict[str, Any] = dataclasses.field(default_factory=dict)
    column_of: dict[str, str] = dataclasses.field(default_factory=dict)
    unread: dict[str, Any] = dataclasses.field(default_factory=dict)
    raw_contexts: Any = None
    reply: CitedReply | None = None
    wrong: list[str] = dataclasses.field(default_factory=list)

    @property
    def original(self) -> Mapping[str, Any]:
        """The record as it stands in the file, without what was read by paths."""
        if self.whole is not None:
            return self.whole  # type: ignore[no-any-return]
        return {column: raw for column, raw in self.record.items() if column not in self.paths}

    def without_reply(self, field: str, raw: Any) -> Any:
        """A column's value; of an answer that is a whole reply of an API, its text. Notes the reply and raw passages."""
        if field == "contexts":
            self.raw_contexts = raw
        may_be_reply = not isinstance(raw, str) or raw.startswith(JSON_BEGINS)
        is_answer = field == "answer" and not self.pair
        if is_answer and may_be_reply and (reply := reply_of(raw)) is not None:
            self.reply = reply
            return reply.text
        if field == "turns" and not self.pair and self.reply is None:
            self.reply = last_cited_reply(raw)
        return raw

    def add(self, field: str, column: str, value: Any, raw: Any) -> None:
        """Adds a field's value. Two columns of one field have to agree; a pair has no field of a single answer."""
        if self.pair and field not in Pair.model_fields:
            if field == "answer":
                self.wrong.append(
                    "answer: a pair has the answers a and b; remove the column answer or rename it"
                )
            self.unread[column] = raw
        elif field in self.fields and self.fields[field] != value:
            columns = f"the columns {self.column_of[field]} and {column} differ"
            remedy = f"choose one with {named('mapping', {field: 'COLUMN'})}"
            self.wrong.append(f"{field}: {columns}; {remedy}")
        else:
            self.fields[field] = value
            self.column_of[field] = column

    def add_listed_sources(self) -> None:
        """Adds the sources that stand in columns beside an answer as a search API lists them: its markers number these."""
        answer = self.fields.get("answer")
        if self.pair or not isinstance(answer, str) or "[" not in answer:
            return
        for column in LISTS_OF_SOURCES:
            if sources := listed_sources(self.unread.get(column)):
                self.fields["sources"] = sources
                self.column_of["sources"] = column
                for read_column in LISTS_OF_SOURCES:
                    self.unread.pop(read_column, None)
                return

    def add_sources_of_contexts(self, columns: Iterable[str]) -> None:
        """Adds the sources that a column lists by ids which passages have: the markers number that list, and the passages
        may stand in another order. columns: those that can have sources. Where a number is one of a passage, and greater
        than the list is long, the markers number the passages. References that are ids of passages, all of them, are such a
        list, too."""
        answer = self.fields.get("answer")
        contexts = self.fields.get("contexts") or ()
        if self.pair or not (isinstance(answer, str) and _MARKER.search(answer)):
            return
        by_id = SourceIds(context.id for context in contexts)
        numbers = {
            int(number)
            for brackets in _BRACKETS.findall(answer)
            for number in _PLACE.findall(brackets)
        }
        listed_ids = self.fields.get("references") or ()
        if listed_ids and all(_ID.fullmatch(text) and text in by_id for text in listed_ids):
            self.unread["references"] = list(self.fields.pop("references"))
            columns = ["references", *columns]
        for column in columns:
            sources = _listed_by_id(self.unread.get(column))
            of_passages = any(len(sources) < number <= len(contexts) for number in numbers)
            if not of_passages and any(source.id and source.id in by_id for source in sources):
                self.fields["sources"] = sources
                self.column_of["sources"] = column
                del self.unread[column]
                return

    def result(self) -> Answered:
        """The Example or the Pair. Raises BadRecord with all that is wrong."""
        fields = self.fields
        if not self.pair and "contexts" in fields and "sources" not in fields:
            fields |= _gaps(fields.get("answer"), self.raw_contexts)
        try:
            if self.unread:
                fields["meta"] = _with_rest(fields.get("meta", {}), self.unread)
            _check_json(fields)
            if not self.wrong:
                completed_fields = (
                    completed(fields, bool(self.pair)) if "turns" in fields else fields
                )
                if self.pair:
                    if (turns := self.pair.get("b_turns")) and fields.get("question") is not None:
                        self.pair["b_turns"] = asking(turns, fields["question"])
                    return Pair(**completed_fields, **self.pair)
                return Example(**completed_fields)
        except Problem as problem:
            self.wrong.append(str(problem))
        except ValidationError as error:
            self.wrong.append(in_one_line(error))
        raise BadRecord("; ".join(self.wrong), fields)


def _listed_by_id(value: Any) -> tuple[CitedSource, ...]:
    """The sources of a list of ids, or of objects with an id or an address; empty for any other value."""
    entries = parsed(value)
    if not isinstance(entries, list) or not entries:
        return ()
    try:
        sources = sources_of("sources", entries)
    except Problem:
        return ()
    return sources if all(source.id for source in sources) else ()


def sources_of_reply(reply: CitedReply, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The sources that a reply of an API cites, with the texts that its record has of them; nothing without any."""
    if not reply.sources:
        return {}
    snapshots = fields.get("sources") or ()
    contexts = fields.get("contexts") or ()
    return {"sources": with_texts(reply.sources, contexts, snapshots)}


def _gaps(answer: Any, raw_contexts: Any) -> dict[str, Any]:
    """The sources of an answer that numbers its passages, where some are empty: without them, each one behind an empty
    one would have another number."""
    passages = as_list_cell("contexts", raw_contexts)
    if not isinstance(passages, list) or not (isinstance(answer, str) and "[" in answer):
        return {}
    contexts = [() if missing(passage) else contexts_of([passage]) for passage in passages]
    if all(contexts):
        return {}
    sources = [
        CitedSource(id=context[0].id, text=context[0].text) if context else CitedSource()
        for context in contexts
    ]
    return {"sources": tuple(sources)}


def _with_rest(meta: dict[str, Any], unknown: dict[str, Any]) -> dict[str, Any]:
    if twice := [
        column for column in unknown if column in meta and meta[column] != unknown[column]
    ]:
        raise Problem(f"meta: {', '.join(twice)} is also a column, with another value")
    return {**meta, **unknown}


def _check_json(fields: dict[str, Any]) -> None:
    """Raises Problem if the free parts of a record could not be written as JSON again."""
    for field in ("profile", "options", "graph", "meta"):
        if field not in fields:
            continue
        if (why := flaw(fields[field])) is not None:
            raise Problem(f"{field}: {why}")
        try:
            orjson.dumps(fields[field])
        except orjson.JSONEncodeError as error:
            raise Problem(f"{field}: cannot be stored as JSON ({error})") from None
