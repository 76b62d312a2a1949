"""Labels in words, for those who compare them: stored values, and what a form holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from longmark.annotate.study import AskedField, Study

if TYPE_CHECKING:
    from longmark.annotate.controls import Control

TITLES = {"answers": "Answers", "a": "Answer A", "b": "Answer B", "graph": "Statements"}


def shown_side(name: str, swapped: bool) -> str:
    """a or b as shown, from a or b of the item, and the other way round; other names stay."""
    return {"a": "b", "b": "a"}.get(name, name) if swapped else name


def as_words(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, list | tuple):
        return "\n".join(as_words(one) for one in value)
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {as_words(one)}" for key, one in value.items())
    return str(value)


def loaded(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def label_of(asked: AskedField, value: str) -> str:
    """How a value of a field is shown."""
    if asked.type == "compare":
        return TITLES.get(value, value.capitalize())
    options = [one for name in ("options", "tags", "values") for one in getattr(asked, name, ())]
    return next((one.shown for one in options if one.value == value), value)


def in_words(study: Study, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(field name, value) of stored labels, for those who compare them; a field without a label is left out."""
    for asked in study.asked:
        if asked.name in values and values[asked.name] not in (None, "", [], {}):
            yield asked.name, _value(asked, values[asked.name])


def title_of(asked: AskedField, swapped: bool = False) -> str:
    """A field's label, with the answer that it is about, as it is shown."""
    side = TITLES.get(shown_side(getattr(asked, "over", ""), swapped))
    return f"{asked.shown} ({side})" if side else asked.shown


def said(control: Control) -> str:
    """What a control holds, in words; empty for nothing."""
    if control.kind == "spans":
        spans = loaded(control.value)
        quotes = [f"“{one.get('quote')}”" for one in spans if isinstance(one, dict)] if isinstance(spans, list) else []
        return "; ".join(quotes) or control.plain
    if control.kind == "matrix":
        cells = [f"{row.text}: {cell.legend} {said(cell)}" for row in control.rows for cell in row.cells if said(cell)]
        return "; ".join(cells or [row.text for row in control.rows if row.posted and row.text])
    chosen = [one.label for one in control.options if one.checked]
    chosen += [one.label for _, one in control.words if one is not None and one.checked]
    if control.kind == "edit":
        why = said(control.rows[0].cells[0])
        return "; ".join([*chosen, *([control.value] if chosen == ["Edit"] else []), *([why] if why else [])])
    return ", ".join(chosen) or control.value


def _value(asked: AskedField, value: Any) -> str:
    if asked.type == "spans" and isinstance(value, list):
        return "\n".join(f"{label_of(asked, str(one.get('tag')))}: “{one.get('quote')}”" for one in value)
    if asked.type == "matrix" and isinstance(value, list):
        cells = [
            ", ".join(f"{TITLES.get(side, side)}: {label_of(asked, one)}" for side, one in row["values"].items())
            for row in value
        ]
        return "\n".join(f"{row['point'] or '(no text)'} – {its}" for row, its in zip(value, cells, strict=True))
    if asked.type == "cloze" and isinstance(value, Mapping):
        return str(value.get("quote") or "No word can be left out")
    if isinstance(value, list):
        return ", ".join(label_of(asked, str(one)) if isinstance(one, str) else as_words(one) for one in value)
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {as_words(one)}" for key, one in value.items() if one not in (None, "", [], {}))
    return label_of(asked, str(value))
