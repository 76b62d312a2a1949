"""Places inside a record, as `--map` and the declarations of shapes name them: `input.messages[-1].content`.

A path is an expression of JMESPath (jmespath.org). A column of that very name comes first, and a value that is JSON
text, as in a cell of a CSV file, is looked into like the value that it spells. Paths separated by commas are joined.
Beside JMESPath's own functions there are `question(x)`, `answer(x)` and `passages(x)` of `records.messages`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import orjson

from longmark.errors import UserError
from longmark.options import named
from longmark.records import (
    answer_tables,
    bedrock,
    cited,
    cited_parts,
    label_answers,
    langchain_objects,
    messages,
    notation,
    path_functions,
    preference_texts,
    replies,
    set_answers,
)
from longmark.records.values import Problem, missing

_LISTS = frozenset(("contexts", "references"))
_COLUMN = re.compile(r"[\w \-]+")  # a text that can only be the name of a column
_STEP = re.compile(r"[A-Za-z_]\w*", re.ASCII)
LONGEST = 2_000
"""Characters of a path."""
_STEPS = (
    "subexpression",
    "index_expression",
    "pipe",
    "projection",
    "value_projection",
    "filter_projection",
)
"""Nodes of JMESPath whose first child is evaluated where they stand, and the others at what it gives."""
_LEVELS = 6
_NAMES = 300  # of the paths that a wrong one is compared with


class PathSource:
    """Where a field is read from. text: a column's name or a path, or several separated by commas. has_found: whether a
    record had the column, or something at the path."""

    def __init__(self, text: str, field: str) -> None:
        self.text = text
        self.field = field
        self._parts = [part.strip() for part in split(text)]
        self.never_seen = {text} if len(self._parts) == 1 else set(self._parts)
        self.has_found = False

    def see(self, record: Mapping[str, Any]) -> None:
        """Takes from `never_seen` what the record has."""
        if self.text in record:
            self.never_seen.clear()
        at = reader(record)
        self.never_seen -= {
            path for path in self.never_seen if path in record or at(path) is not None
        }

    def column(self, record: Mapping[str, Any]) -> Any:
        """The value, with several texts joined by a blank line, several names by `/`, and lists into one list. None if
        the record has none of it; an empty text is a value, as in a column."""
        if self.text in record:
            self.has_found = True
            return record[self.text]
        present = [value for value in map(reader(record), self._parts) if not missing(value)]
        values = [value for value in present if value != ""]
        self.has_found |= any(value != [] for value in present)
        if len(self._parts) == 1 or not values:
            return present[0] if present else None
        if self.field in _LISTS:
            return [
                item
                for parsed in map(messages.parsed, values)
                for item in (parsed if isinstance(parsed, list) else [parsed])
            ]
        if not all(isinstance(value, str | int | float) for value in values):
            raise Problem(f"{self.field}: {self.text} joins what is no text; name texts or numbers")
        texts = self.field in ("question", "answer", "base_answer", "a", "b")
        return ("\n\n" if texts else "/").join(map(str, values))


def split(text: str) -> Iterator[str]:
    """The paths that commas outside brackets and quotes separate."""
    start = depth = 0
    quote = ""
    is_escaped = False
    for place, letter in enumerate(text):
        if is_escaped:
            is_escaped = False
        elif quote:
            is_escaped = letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "'\"`":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and not depth:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def reader(record: Mapping[str, Any]) -> Callable[[str], Any]:
    """A function of a path, or of a column's name: what the record has there, None for nothing."""
    opened: dict[str, Any] = {}

    def value(path: str) -> Any:
        if path in record or _COLUMN.fullmatch(path):
            return record.get(path)
        if (find := compiled(path)) is None:
            return None
        if (value_found := find(record)) is None and any(
            isinstance(value, str) for value in record.values()
        ):
            if not opened:
                opened.update({key: messages.parsed(value) for key, value in record.items()})
            value_found = find(opened)
        return value_found

    return value


@cache
def compiled(path: str) -> Callable[[Any], Any] | None:
    """The function that finds what is at a path: None for nothing. None if the text is no expression of JMESPath."""
    import jmespath

    if len(path) > LONGEST:
        raise UserError(
            f"{named('mapping')}: a path has {LONGEST:,} characters at most; found {len(path):,}: {path[:60]}…"
        )
    try:
        expression = jmespath.compile(path)
    except (jmespath.exceptions.JMESPathError, ValueError):
        return None
    except RecursionError:
        raise UserError(f"{named('mapping')}: a path is nested too deep: {path[:60]}…") from None
    options = _options()

    def find(record: Any) -> Any:
        try:
            return expression.search(record, options)
        except (
            jmespath.exceptions.JMESPathError,
            RecursionError,
        ):  # a function of a value of another type
            return None

    return find


@cache
def columns_of(path: str) -> frozenset[str]:
    """The columns of a record that a path reads, without those that a function of the whole record looks for."""
    import jmespath

    if _COLUMN.fullmatch(path) or compiled(path) is None:
        return frozenset((path,))
    return frozenset(_fields_of(jmespath.compile(path).parsed, of_record=True))


def _fields_of(node: dict[str, Any], *, of_record: bool) -> Iterator[str]:
    """The fields of the record in a node of JMESPath. of_record: the node is evaluated at the record itself."""
    kind = node["type"]
    if kind == "field":
        if of_record:
            yield node["value"]
        return
    for place, child in enumerate(node["children"]):
        if not isinstance(child, dict):  # an end of a slice
            continue
        beneath = place > 0 and kind in _STEPS
        at_record = kind != "expref" and (not beneath or _is_record(node["children"][0]))
        yield from _fields_of(child, of_record=of_record and at_record)


def _is_record(node: dict[str, Any]) -> bool:
    """Whether a node of JMESPath is the record, `@`, or a list of it, `[@][?…]`."""
    if node["type"] == "current":
        return True
    children = node.get("children") or []
    if node["type"] == "multi_select_list":
        return any(map(_is_record, children))
    return node["type"] in (*_STEPS, "flatten") and _is_record(children[0])


def _answer(value: Any) -> Any:
    """What was answered: the saved object itself where it cites, so that its sources are read, too."""
    if replies.cited_reply_of(value) is not None:
        return value
    answer = messages.answer(messages.parsed(value))
    return value if isinstance(value, str) and isinstance(answer, list | dict) else answer


def _question(value: Any) -> Any:
    return messages.question(messages.parsed(value))


def _scored_answer(value: Any) -> Any:
    """As `_answer`, but a text that is JSON is the answer itself."""
    return value if replies.cited_reply_of(value) is not None else messages.answer(value)


def _scored_question(value: Any) -> Any:
    return messages.question(value)


def _passages(value: Any) -> Any:
    """The passages in a value; a text that is a list which cannot be read as it is, for the field's reader to refuse."""
    try:
        return messages.passages(value)
    except notation.NotRead:
        return value


@cache
def _options() -> Any:
    import jmespath
    from jmespath import functions

    ours = (
        _question,
        _answer,
        _scored_question,
        _scored_answer,
        messages.right_answers,
        messages.further_choices,
        _passages,
        messages.passages_beside,
        messages.parsed,
        notation.listed,
        path_functions.dotted,
        path_functions.without_data,
        path_functions.without_files,
        path_functions.files_among,
        path_functions.distinct,
        path_functions.digest,
        path_functions.short,
        path_functions.instructed,
        path_functions.joined,
        path_functions.with_choices,
        path_functions.resolved,
        path_functions.reference_name,
        langchain_objects.plain_objects,
        bedrock.bedrock_exchanges,
        bedrock.bedrock_turns,
        answer_tables.promptfoo_answers,
        answer_tables.promptfoo_references,
        answer_tables.promptfoo_system,
        answer_tables.llama_index_results,
        answer_tables.inspect_samples,
        answer_tables.split_table,
        answer_tables.opencompass_records,
        set_answers.completions,
        set_answers.completion_labels,
        set_answers.best_answer,
        set_answers.gold_choices,
        set_answers.records_by_id,
        set_answers.skill_scores,
        set_answers.ares_labels,
        set_answers.summary_ratings,
        set_answers.asqa_records,
        set_answers.mt_bench_ratings,
        set_answers.mt_bench_votes,
        set_answers.mt_bench_games,
        preference_texts.is_dialogue,
        preference_texts.preference,
        preference_texts.battle,
        preference_texts.battle_choice,
        preference_texts.table_battle,
        cited_parts.answer_of_parts,
        cited_parts.cited_answer,
        cited_parts.cited_ids,
        cited_parts.id_list,
        cited_parts.part_sources,
        cited.snapshots,
        cited.titled,
        label_answers.labelled,
        label_answers.side,
        label_answers.numbered,
        label_answers.results_apart,
        label_answers.argilla_answers,
        label_answers.potato_answers,
        label_answers.potato_spans,
        label_answers.worst_label,
        label_answers.hagrid_answers,
        label_answers.cas_answers,
        label_answers.cas_spans,
        label_answers.cas_parts,
        label_answers.label_studio_parts,
        label_answers.doccano_labels,
        label_answers.free_texts,
    )
    of_any = functions.signature({"types": []})
    methods = {
        f"_func_{function.__name__.lstrip('_')}": of_any(
            lambda _self, argument, function=function: function(argument)
        )
        for function in ours
    }
    return jmespath.Options(custom_functions=type("Functions", (functions.Functions,), methods)())


def step(key: str) -> str:
    """A key as a step of a path: in quotes, unless JMESPath reads it without them."""
    return key if _STEP.fullmatch(key) else orjson.dumps(key).decode()


def known(value: Any, before: str = "", levels: int = _LEVELS) -> Iterator[str]:
    """The paths of the values in a record; of a list those of its first and its last part."""
    value = messages.parsed(value)
    if before:
        yield before
    if not levels:
        return
    if isinstance(value, dict):
        for key, part in list(value.items())[:_NAMES]:
            name = step(str(key))
            yield from known(part, f"{before}.{name}" if before else name, levels - 1)
    elif isinstance(value, list) and value:
        yield from known(value[0], f"{before}[0]", levels - 1)
        yield from known(value[-1], f"{before}[-1]", levels - 1)


def nearest(path: str, paths: list[str]) -> list[str]:
    """The paths that are most like one that does not exist."""
    return difflib.get_close_matches(
        path[:200], list(dict.fromkeys(paths))[:_NAMES], n=3, cutoff=0.6
    )


def place_of(record: Any, sought_value: Any) -> str:
    """The path at which a record holds this very object; "" if it does not."""
    for path in known(record):
        if (find := compiled(path)) is not None and find(record) is sought_value:
            return path
    return ""
