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
from dataclasses import dataclass, field
from typing import Any

import orjson

from longmark.contrib.annotate.items import Item
from longmark.contrib.annotate.markdown import rich
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

Form = Mapping[str, Sequence[str]]  # the posted fields, each with all its values

MOST_SPANS = 500
MOST_ROWS = 100
LONGEST = 100_000
_OTHER = {"a": "b", "b": "a"}


@dataclass(frozen=True, slots=True)
class Parsed:
    """values: field -> value, of those that were filled in rightly; errors: field -> what is wrong."""

    values: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def parse(study: Study, item: Item, form: Form, *, swapped: bool, draft: bool = False) -> Parsed:
    """The values of a posted form. draft: what is missing is no error. Fields that are not asked (their condition does
    not hold) are left out."""
    parsed = Parsed()
    for one in study.asked:
        if not study.applies(one, parsed.values, item.columns):
            continue
        try:
            value = _Form(item, form, swapped).value(one)
        except Problem as problem:
            parsed.errors[one.name] = str(problem)
            continue
        if value is not None:
            parsed.values[one.name] = value
    if not draft:
        for name, what in complete(study, item, parsed.values).items():
            parsed.errors.setdefault(name, what)
    return parsed


def complete(study: Study, item: Item, values: Mapping[str, Any]) -> dict[str, str]:
    """Field -> what is missing; {} if the item can be submitted."""
    absent: dict[str, str] = {}
    for one in study.asked:
        if not study.applies(one, values, item.columns):
            continue
        value = values.get(one.name)
        if value is None and one.required:
            absent[one.name] = "is not answered yet"
        elif value is not None and (what := _unfinished(one, item, value)):
            absent[one.name] = what
    return absent


def _unfinished(one: AskedField, item: Item, value: Any) -> str | None:
    """What is missing in a value, None if nothing is."""
    if isinstance(one, Matrix):
        if any(not row["point"] for row in value):
            return "a point has values but no text"
        left = len(value) * len(columns_of(one, item)) - sum(len(row["values"]) for row in value)
        return (
            f"{left} {'cell is' if left == 1 else 'cells are'} empty"
            if left and one.required
            else None
        )
    if isinstance(one, Edit) and value["verdict"] == "edit" and "text" not in value:
        return "the text is unchanged; change it, or accept it"
    if isinstance(one, Edit) and value["verdict"] == "reject" and "reasons" not in value:
        return "a reason is missing"
    return None


def columns_of(one: Matrix, item: Item) -> tuple[str, ...]:
    """The columns of a matrix: sides of the item, or names."""
    return item.sides if one.columns == "answers" else tuple(one.columns)


def rows_of(one: Matrix, item: Item) -> list[str]:
    """The points of a matrix that are known beforehand; [] if they are typed."""
    if one.typed:
        return []
    return list(one.rows) if not isinstance(one.rows, str) else list(item.shown.get(one.rows, ()))


def known_answers(item: Item, values: Mapping[str, Any]) -> tuple[int, int]:
    """Of the known answers of an item: how many were given, and how many there are."""
    gold = item.gold or {}
    return sum(_same(values.get(name), answer) for name, answer in gold.items()), len(gold)


def _same(value: Any, answer: Any) -> bool:
    if isinstance(value, Mapping) and not isinstance(
        answer, Mapping
    ):  # an edit's verdict; a cloze's word
        value = value.get("verdict") or value.get("quote") or next(iter(value), None)
    if isinstance(value, list) or isinstance(answer, list):
        both = [
            {comparable(str(part)) for part in (side if isinstance(side, list) else [side])}
            for side in (value, answer)
        ]
        return both[0] == both[1]
    return value is not None and comparable(str(value)) == comparable(str(answer))


class _Form:
    """A posted form, read for one item."""

    def __init__(self, item: Item, form: Form, swapped: bool) -> None:
        self.item = item
        self.form = form
        self.swapped = swapped

    def value(self, one: AskedField) -> Any:
        """The value of a field, None if it is empty. Raises Problem."""
        read: Callable[[str, Any], Any] = getattr(self, f"_{one.type}")
        return read(f"f.{one.name}", one)

    def _choice(self, key: str, one: Choice) -> str | None:
        return self._one_of(key, one.possible)

    def _compare(self, key: str, one: Compare) -> str | None:
        choice = self._one_of(key, one.possible)
        return _OTHER.get(choice, choice) if self.swapped and choice else choice

    def _text(self, key: str, one: FreeText) -> str | None:
        return self._typed(key, one.max)

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

    def _scale(self, key: str, one: Scale) -> int | None:
        raw = (self._typed(key) or "").strip()
        digits = raw.removeprefix("-")
        if not raw:
            return None
        if not (
            digits.isascii()
            and digits.isdecimal()
            and len(digits) < 10
            and one.min <= int(raw) <= one.max
        ):
            raise Problem(f"expected a whole number from {one.min} to {one.max}, found {raw[:40]}")
        return int(raw)

    def _several(self, key: str, values: Sequence[str]) -> list[str]:
        """The chosen values, each once, in the order of the study."""
        given = [raw for raw in self.form.get(key, ()) if raw]
        if unknown := next((raw for raw in given if raw not in values), None):
            raise Problem(f"{unknown[:40]} is not one of {', '.join(values[:20])}")
        return [value for value in values if value in given]

    def _errors(self, key: str, one: Errors) -> list[str] | None:
        chosen = self._several(key, one.possible)
        if one.none in chosen and len(chosen) > 1:
            raise Problem(f"{one.none} cannot be combined with another option")
        return chosen or None

    # Parts of texts

    def _spans(self, key: str, one: Spans) -> list[dict[str, Any]] | None:
        shown = str(self.item.shown.get(one.over, ""))
        tags = [tag.value for tag in one.tags]
        if (raw := self._typed(key)) is not None:
            given = _json(raw)
            if not isinstance(given, list) or not all(isinstance(span, dict) for span in given):
                raise Problem("expected a list of spans")
        else:
            given = []
            for line in (self._typed(f"{key}.text") or "").splitlines():
                if line.strip():
                    tag, _, quote = line.partition(":")
                    given.append({"tag": tag.strip(), **_find(shown, quote.strip())})
        if len(given) > MOST_SPANS:
            raise Problem(f"has {len(given):,} spans; the limit is {MOST_SPANS}")
        spans = []
        for span in given:
            if span.get("tag") not in tags:
                raise Problem(
                    f"the tag {str(span.get('tag'))[:40]} is not one of {', '.join(tags[:20])}"
                )
            spans.append({"tag": span["tag"], **_part(span, shown)})
        unique = {(span["start"], span["end"], span["tag"]): span for span in spans}
        return [unique[key] for key in sorted(unique)] or None

    def _cloze(self, key: str, one: Cloze) -> dict[str, Any] | None:
        shown = str(self.item.shown.get(one.over, ""))
        raw = next(
            (one for one in self.form.get(key, ()) if one), None
        )  # the word, or the selection
        typed = self._typed(f"{key}.text")
        given = _json(raw) if raw is not None else None
        if (isinstance(given, dict) and given.get("impossible") is True) or self._typed(
            f"{key}.impossible"
        ):
            return {"impossible": True}
        if typed is not None and not (
            isinstance(given, dict) and given.get("quote") == typed.strip()
        ):
            given = _find(shown, typed.strip())
        if given is None:
            return None
        part = _part(given, shown)
        if part["quote"] != part["quote"].strip() or len(part["quote"].split()) != 1:
            raise Problem("expected one word of the text")
        return part

    # Tables and texts

    def _matrix(self, key: str, one: Matrix) -> list[dict[str, Any]] | None:
        values = [option.value for option in one.values]
        columns = columns_of(one, self.item)
        points: list[str | None] = list(rows_of(one, self.item))
        numbers: list[int] = list(range(len(points)))
        if one.typed:
            numbers = sorted(_numbers(self.form, key))
            if len(numbers) > MOST_ROWS:
                raise Problem(f"has {len(numbers):,} points; the limit is {MOST_ROWS}")
            points = [self._typed(f"{key}.{row}.point", 2_000) for row in numbers]
        table: list[dict[str, Any]] = []
        for row, point in zip(numbers, points, strict=True):
            cells = {}
            for column in columns:
                shown = _OTHER.get(column, column) if self.swapped and columns == SIDES else column
                if (value := self._one_of(f"{key}.{row}.{shown}", values)) is not None:
                    cells[column] = value
            if point is not None or cells:
                table.append({"point": point or "", "values": cells})
        return table if any(row["values"] for row in table) or (one.typed and table) else None

    def _edit(self, key: str, one: Edit) -> dict[str, Any] | None:
        verdict = self._one_of(f"{key}.verdict", VERDICTS)
        if verdict is None:
            return None
        if verdict == "accept":
            return {"verdict": verdict}
        if verdict == "edit":
            edited = self._typed(f"{key}.text")
            changed = edited is not None and edited != str(self.item.shown.get(one.over, ""))
            return {"verdict": verdict, **({"text": edited} if changed else {})}
        if one.reasons:
            reasons = self._several(f"{key}.reason", [option.value for option in one.reasons])
        else:
            reasons = [reason] if (reason := self._typed(f"{key}.reason", 2_000)) else []
        return {"verdict": verdict, **({"reasons": reasons} if reasons else {})}


def _json(raw: str) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise Problem("is not readable; reload the page and enter it again") from None


def _find(shown: str, quote: str) -> dict[str, Any]:
    """The first place of a quote in a text. Raises Problem."""
    place = place_of(quote, shown) or rich(shown).find(quote)  # copied from the rendered text
    if place is None:
        raise Problem(f'"{quote[:60]}" is not in the text; copy the words as they stand')
    return {"start": place[0], "end": place[1], "quote": shown[slice(*place)]}


def _part(given: Any, shown: str) -> dict[str, Any]:
    """start, end and quote of a part. Raises Problem if the quote does not stand there."""
    start, end = (given.get(name) if isinstance(given, dict) else None for name in ("start", "end"))
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(shown):
        raise Problem(f"the marked part is outside the text, which has {len(shown):,} characters")
    if given.get("quote") != shown[start:end]:
        raise Problem("the quote differs from the text at this place; mark it again")
    return {"start": start, "end": end, "quote": shown[start:end]}


def _numbers(form: Form, key: str) -> set[int]:
    parts = (
        name.removeprefix(f"{key}.").partition(".")[0]
        for name in form
        if name.startswith(f"{key}.")
    )
    return {int(part) for part in parts if part.isascii() and part.isdecimal() and len(part) < 4}


# Back to the form -----------------------------------------------------------------------------------------------------
def form_of(
    study: Study, item: Item, values: Mapping[str, Any], *, swapped: bool
) -> dict[str, list[str]]:
    """The form that `parse` reads these values from."""
    form: dict[str, list[str]] = {}
    for one in study.asked:
        if (value := values.get(one.name)) is None:
            continue
        key = f"f.{one.name}"
        if isinstance(one, Compare):
            form[key] = [_OTHER.get(value, value) if swapped else value]
        elif isinstance(one, Errors):
            form[key] = list(value)
        elif isinstance(one, Spans | Cloze):
            form[key] = [orjson.dumps(value).decode()]
        elif isinstance(one, Matrix):
            sides = swapped and columns_of(one, item) == SIDES
            for number, row in enumerate(value):
                if one.typed:
                    form[f"{key}.{number}.point"] = [row["point"]]
                for column, cell in row["values"].items():
                    form[f"{key}.{number}.{_OTHER.get(column, column) if sides else column}"] = [
                        cell
                    ]
        elif isinstance(one, Edit):
            form[f"{key}.verdict"] = [value["verdict"]]
            form |= {f"{key}.text": [value["text"]]} if "text" in value else {}
            form |= {f"{key}.reason": list(value["reasons"])} if "reasons" in value else {}
        else:
            form[key] = [str(value)]
    return form
