"""Labels in words, for those who compare them: stored values, and what a form holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from longmark.contrib.annotate.language import sayer
from longmark.contrib.annotate.study import VERDICTS, AskedField, Study

Say = Callable[..., str]
TITLES = {"answers": "Answers", "a": "Answer A", "b": "Answer B", "graph": "Statements"}


def shown_side(name: str, swapped: bool) -> str:
    """a or b as shown, from a or b of the item, and the other way round; other names stay."""
    return {"a": "b", "b": "a"}.get(name, name) if swapped else name


def as_words(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, list | tuple):
        return "\n".join(as_words(element) for element in value)
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {as_words(element)}" for key, element in value.items())
    return str(value)


def loaded(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def label_of(field: AskedField, value: str, t: Say) -> str:
    """How a value of a field is shown. t: says our own words in the language of the study (`language.sayer`)."""
    if field.type == "compare" or (field.type == "edit" and value in VERDICTS):
        return t(TITLES.get(value, value.capitalize()))
    options = [
        option for name in ("options", "tags", "values") for option in getattr(field, name, ())
    ]
    return next((option.shown for option in options if option.value == value), value)


def in_words(study: Study, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(field name, value) of stored labels, for those who compare them; a field without a label is left out."""
    t = sayer(study.language)
    for field in study.asked:
        if field.name in values and values[field.name] not in (None, "", [], {}):
            yield field.name, _value(field, values[field.name], t)


def title_of(field: AskedField, t: Say, swapped: bool = False) -> str:
    """A field's label, with the answer that it is about, as it is shown."""
    side = TITLES.get(shown_side(getattr(field, "over", ""), swapped))
    return f"{field.shown} ({t(side)})" if side else field.shown


def _value(field: AskedField, value: Any, t: Say) -> str:
    if field.type == "spans" and isinstance(value, list):
        return "\n".join(
            f"{label_of(field, str(span.get('tag')), t)}: “{span.get('quote')}”" for span in value
        )
    if field.type == "matrix" and isinstance(value, list):
        cells = [
            ", ".join(
                f"{t(TITLES.get(side, side))}: {label_of(field, cell, t)}"
                for side, cell in row["values"].items()
            )
            for row in value
        ]
        return "\n".join(
            f"{row['point'] or t('(no text)')} – {cells_of_row}"
            for row, cells_of_row in zip(value, cells, strict=True)
        )
    if field.type == "cloze" and isinstance(value, Mapping):
        return str(value.get("quote") or t("No word can be left out"))
    if isinstance(value, list):
        return ", ".join(
            label_of(field, str(element), t) if isinstance(element, str) else as_words(element)
            for element in value
        )
    if isinstance(value, Mapping):  # an edit
        options = {option.value: option.shown for option in getattr(field, "reasons", ())}
        why = [options.get(reason, reason) for reason in value.get("reasons", ())]
        return "\n".join(
            [
                label_of(field, str(value.get("verdict")), t),
                *filter(None, [value.get("text")]),
                *why,
            ]
        )
    return label_of(field, str(value), t)
