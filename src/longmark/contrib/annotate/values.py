"""What a rater enters: from a form to values, and back.

Values are in terms of the item. `swapped` says that its sides were shown the other way round: in a form, `a` is the
answer that was shown first.

    field     value                                          in a form
    choice    one of its values                              f.NAME
    scale     a whole number                                 f.NAME
    text      a text                                         f.NAME
    compare   a, b or tie                                    f.NAME
    errors    list of values, or of `none` alone             f.NAME, repeated
    spans     list of {tag, start, end, quote}               f.NAME, JSON; or f.NAME.text, a line `tag: quote` each
    cloze     {start, end, quote}, or {impossible: true}     f.NAME, JSON; or f.NAME.text; f.NAME.impossible
    matrix    list of {point, values: {column: value}}       f.NAME.ROW.COLUMN; f.NAME.ROW.point if points are typed
    edit      {verdict, text, reasons}                       f.NAME.verdict, .text, .reason (repeated)

Offsets count code points of the shown text, from 0, end excluded; the quote must be what stands there. What is empty
is absent. Line ends of a form (CR LF) become line feeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as with_default
from typing import Any

import orjson

from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.study import (
    SIDES,
    VERDICTS,
    AskedField,
    Choice,
    Cloze,
    Compare,
    Edit,
    Errors,
    FreeText,
    Matrix,
    Scale,
    Spans,
    Study,
)
from longmark.records.same import comparable, place_of
from longmark.records.values import Problem
from longmark.records.values import text as text_of
from longmark.report.markdown import rich

Form = Mapping[str, Sequence[str]]  # the posted fields, each with all its values

MOST_SPANS = 500
MOST_ROWS = 100
LONGEST = 100_000
_OTHER = {"a": "b", "b": "a"}


@dataclass(frozen=True, slots=True)
class Parsed:
    """values: field -> value, of those that were filled in rightly; errors: field -> what is wrong."""

    values: dict[str, Any] = with_default(default_factory=dict)
    errors: dict[str, str] = with_default(default_factory=dict)


def parse(
    study: Study, item: StudyItem, form: Form, *, swapped: bool, draft: bool = False
) -> Parsed:
    """The values of a posted form. draft: what is missing is no error. Fields that are not asked (their condition does
    not hold) are left out."""
    parsed = Parsed()
    for field in study.asked:
        if not study.applies(field, parsed.values, item.columns):
            continue
        try:
            value = _Form(item, form, swapped).value(field)
        except Problem as problem:
            parsed.errors[field.name] = str(problem)
            continue
        if value is not None:
            parsed.values[field.name] = value
    if not draft:
        for name, what in complete(study, item, parsed.values).items():
            parsed.errors.setdefault(name, what)
    return parsed


def complete(study: Study, item: StudyItem, values: Mapping[str, Any]) -> dict[str, str]:
    """Field -> what is missing; {} if the item can be submitted."""
    absent: dict[str, str] = {}
    for field in study.asked:
        if not study.applies(field, values, item.columns):
            continue
        value = values.get(field.name)
        if value is None and field.required:
            absent[field.name] = "is not answered yet"
        elif value is not None and (problem := _unfinished(field, item, value)):
            absent[field.name] = problem
    return absent


def _unfinished(field: AskedField, item: StudyItem, value: Any) -> str | None:
    """What is missing in a value, None if nothing is."""
    if isinstance(field, Matrix):
        if any(not row["point"] for row in value):
            return "a point has values but no text"
        left = len(value) * len(columns_of(field, item)) - sum(len(row["values"]) for row in value)
        return (
            f"{left} {'cell is' if left == 1 else 'cells are'} empty"
            if left and field.required
            else None
        )
    if isinstance(field, Edit) and value["verdict"] == "edit" and "text" not in value:
        return "the text is unchanged; change it, or accept it"
    if isinstance(field, Edit) and value["verdict"] == "reject" and "reasons" not in value:
        return "a reason is missing"
    return None


def columns_of(matrix: Matrix, item: StudyItem) -> tuple[str, ...]:
    """The columns of a matrix: sides of the item, or names."""
    return item.sides if matrix.columns == "answers" else tuple(matrix.columns)


def rows_of(matrix: Matrix, item: StudyItem) -> list[str]:
    """The points of a matrix that are known beforehand; [] if they are typed."""
    if matrix.typed:
        return []
    if not isinstance(matrix.rows, str):
        return list(matrix.rows)
    listed = item.shown.get(matrix.rows, ())
    return [point["text"] if isinstance(point, Mapping) else point for point in listed]


def known_answers(item: StudyItem, values: Mapping[str, Any]) -> tuple[int, int]:
    """Of the known answers of an item: how many were given, and how many there are."""
    gold = item.gold or {}
    return sum(_same(values.get(name), answer) for name, answer in gold.items()), len(gold)


def _same(value: Any, answer: Any) -> bool:
    if isinstance(value, Mapping) and not isinstance(
        answer, Mapping
    ):  # an edit's verdict; a cloze's word
        value = value.get("verdict") or value.get("quote") or next(iter(value), None)
    if isinstance(value, list) or isinstance(answer, list):
        word_sets = [
            {comparable(str(part)) for part in (side if isinstance(side, list) else [side])}
            for side in (value, answer)
        ]
        return word_sets[0] == word_sets[1]
    return value is not None and comparable(str(value)) == comparable(str(answer))


class _Form:
    """A posted form, read for one item."""

    def __init__(self, item: StudyItem, form: Form, swapped: bool) -> None:
        self.item = item
        self.form = form
        self.swapped = swapped

    def value(self, field: AskedField) -> Any:
        """The value of a field, None if it is empty. Raises Problem."""
        read: Callable[[str, Any], Any] = getattr(self, f"_{field.type}")
        return read(f"f.{field.name}", field)

    def _choice(self, key: str, field: Choice) -> str | None:
        return self._one_of(key, field.possible)

    def _compare(self, key: str, field: Compare) -> str | None:
        choice = self._one_of(key, field.possible)
        return _OTHER.get(choice, choice) if self.swapped and choice else choice

    def _text(self, key: str, field: FreeText) -> str | None:
        return self._typed(key, field.max)

    def _typed(self, key: str, longest: int = LONGEST) -> str | None:
        raw = next(iter(self.form.get(key, ())), "").replace("\r\n", "\n")
        if not raw.strip():
            return None
        if len(raw) > longest:
            raise Problem(f"has {len(raw):,} characters; the limit is {longest:,}")
        try:
            return text_of("", raw)
        except Problem as problem:
            raise Problem(str(problem).removeprefix(": ")) from None

    def _one_of(self, key: str, values: Sequence[str]) -> str | None:
        raw = self._typed(key)
        if raw is not None and raw not in values:
            raise Problem(f"{raw[:40]} is not one of {', '.join(values[:20])}")
        return raw

    def _scale(self, key: str, field: Scale) -> int | None:
        raw = (self._typed(key) or "").strip()
        digits = raw.removeprefix("-")
        if not raw:
            return None
        if not (
            digits.isascii()
            and digits.isdecimal()
            and len(digits) < 10
            and field.min <= int(raw) <= field.max
        ):
            raise Problem(
                f"expected a whole number from {field.min} to {field.max}, found {raw[:40]}"
            )
        return int(raw)

    def _several(self, key: str, values: Sequence[str]) -> list[str]:
        """The chosen values, each once, in the order of the study."""
        raw_values = [raw for raw in self.form.get(key, ()) if raw]
        if unknown := next((raw for raw in raw_values if raw not in values), None):
            raise Problem(f"{unknown[:40]} is not one of {', '.join(values[:20])}")
        return [value for value in values if value in raw_values]

    def _errors(self, key: str, field: Errors) -> list[str] | None:
        chosen = self._several(key, field.possible)
        if field.none in chosen and len(chosen) > 1:
            raise Problem(f"{field.none} cannot be combined with another option")
        return chosen or None

    # Parts of texts

    def _spans(self, key: str, field: Spans) -> list[dict[str, Any]] | None:
        text = str(self.item.shown.get(field.over, ""))
        tags = [tag.value for tag in field.tags]
        if (raw := self._typed(key)) is not None:
            raw_spans = _json(raw)
            if not isinstance(raw_spans, list) or not all(
                isinstance(span, dict) for span in raw_spans
            ):
                raise Problem("expected a list of spans")
        else:
            raw_spans = []
            for line in (self._typed(f"{key}.text") or "").splitlines():
                if line.strip():
                    tag, _, quote = line.partition(":")
                    raw_spans.append({"tag": tag.strip(), **_find(text, quote.strip())})
        if len(raw_spans) > MOST_SPANS:
            raise Problem(f"has {len(raw_spans):,} spans; the limit is {MOST_SPANS}")
        spans = []
        for span in raw_spans:
            if span.get("tag") not in tags:
                raise Problem(
                    f"the tag {str(span.get('tag'))[:40]} is not one of {', '.join(tags[:20])}"
                )
            spans.append({"tag": span["tag"], **_part(span, text)})
        unique = {(span["start"], span["end"], span["tag"]): span for span in spans}
        return [unique[key] for key in sorted(unique)] or None

    def _cloze(self, key: str, field: Cloze) -> dict[str, Any] | None:
        text = str(self.item.shown.get(field.over, ""))
        raw = next(
            (entry for entry in self.form.get(key, ()) if entry), None
        )  # the word, or the selection
        typed = self._typed(f"{key}.text")
        raw_part = _json(raw) if raw is not None else None
        if (isinstance(raw_part, dict) and raw_part.get("impossible") is True) or self._typed(
            f"{key}.impossible"
        ):
            return {"impossible": True}
        if typed is not None and not (
            isinstance(raw_part, dict) and raw_part.get("quote") == typed.strip()
        ):
            raw_part = _find(text, typed.strip())
        if raw_part is None:
            return None
        part = _part(raw_part, text)
        if part["quote"] != part["quote"].strip() or len(part["quote"].split()) != 1:
            raise Problem("expected one word of the text")
        return part

    # Tables and texts

    def _matrix(self, key: str, field: Matrix) -> list[dict[str, Any]] | None:
        values = [option.value for option in field.values]
        columns = columns_of(field, self.item)
        points: list[str | None] = list(rows_of(field, self.item))
        numbers: list[int] = list(range(len(points)))
        if field.typed:
            numbers = sorted(_numbers(self.form, key))
            if len(numbers) > MOST_ROWS:
                raise Problem(f"has {len(numbers):,} points; the limit is {MOST_ROWS}")
            points = [self._typed(f"{key}.{row}.point", 2_000) for row in numbers]
        table: list[dict[str, Any]] = []
        for row, point in zip(numbers, points, strict=True):
            cells = {}
            for column in columns:
                shown_side = (
                    _OTHER.get(column, column) if self.swapped and columns == SIDES else column
                )
                if (value := self._one_of(f"{key}.{row}.{shown_side}", values)) is not None:
                    cells[column] = value
            if point is not None or cells:
                table.append({"point": point or "", "values": cells})
        return table if any(row["values"] for row in table) or (field.typed and table) else None

    def _edit(self, key: str, field: Edit) -> dict[str, Any] | None:
        verdict = self._one_of(f"{key}.verdict", VERDICTS)
        if verdict is None:
            return None
        if verdict == "accept":
            return {"verdict": verdict}
        if verdict == "edit":
            edited = self._typed(f"{key}.text")
            changed = edited is not None and edited != str(self.item.shown.get(field.over, ""))
            return {"verdict": verdict, **({"text": edited} if changed else {})}
        if field.reasons:
            reasons = self._several(f"{key}.reason", [option.value for option in field.reasons])
        else:
            reasons = [reason] if (reason := self._typed(f"{key}.reason", 2_000)) else []
        return {"verdict": verdict, **({"reasons": reasons} if reasons else {})}


def _json(raw: str) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise Problem("is not readable; reload the page and enter it again") from None


def _find(text: str, quote: str) -> dict[str, Any]:
    """The first place of a quote in a text. Raises Problem."""
    place = place_of(quote, text) or rich(text).find(quote)  # copied from the rendered text
    if place is None:
        raise Problem(f'"{quote[:60]}" is not in the text; copy the words as they stand')
    return {"start": place[0], "end": place[1], "quote": text[slice(*place)]}


def _part(raw_part: Any, text: str) -> dict[str, Any]:
    """start, end and quote of a part. Raises Problem if the quote does not stand there."""
    start, end = (
        raw_part.get(name) if isinstance(raw_part, dict) else None for name in ("start", "end")
    )
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        raise Problem(f"the marked part is outside the text, which has {len(text):,} characters")
    if raw_part.get("quote") != text[start:end]:
        raise Problem("the quote differs from the text at this place; mark it again")
    return {"start": start, "end": end, "quote": text[start:end]}


def _numbers(form: Form, key: str) -> set[int]:
    parts = (
        name.removeprefix(f"{key}.").partition(".")[0]
        for name in form
        if name.startswith(f"{key}.")
    )
    return {int(part) for part in parts if part.isascii() and part.isdecimal() and len(part) < 4}


# Back to the form -----------------------------------------------------------------------------------------------------
def form_of(
    study: Study, item: StudyItem, values: Mapping[str, Any], *, swapped: bool
) -> dict[str, list[str]]:
    """The form that `parse` reads these values from."""
    form: dict[str, list[str]] = {}
    for field in study.asked:
        if (value := values.get(field.name)) is None:
            continue
        key = f"f.{field.name}"
        if isinstance(field, Compare):
            form[key] = [_OTHER.get(value, value) if swapped else value]
        elif isinstance(field, Errors):
            form[key] = list(value)
        elif isinstance(field, Spans | Cloze):
            form[key] = [orjson.dumps(value).decode()]
        elif isinstance(field, Matrix):
            sides = swapped and columns_of(field, item) == SIDES
            for number, row in enumerate(value):
                if field.typed:
                    form[f"{key}.{number}.point"] = [row["point"]]
                for column, cell in row["values"].items():
                    form[f"{key}.{number}.{_OTHER.get(column, column) if sides else column}"] = [
                        cell
                    ]
        elif isinstance(field, Edit):
            form[f"{key}.verdict"] = [value["verdict"]]
            form |= {f"{key}.text": [value["text"]]} if "text" in value else {}
            form |= {f"{key}.reason": list(value["reasons"])} if "reasons" in value else {}
        else:
            form[key] = [str(value)]
    return form
