"""What a labelling page asks and shows: the fields of a study as controls, the columns of an item as parts.

The names of form fields are those that `values.parse` reads. Sides are the shown ones: where `swapped`, the answer
shown as A is b of the item.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from longmark.contrib.annotate.items import Item
from longmark.contrib.annotate.language import sayer
from longmark.contrib.annotate.study import TIE, VERDICTS, AskedField, Matrix, Study
from longmark.contrib.annotate.values import Form
from longmark.contrib.annotate.words import TITLES, Say, as_words, label_of, loaded, shown_side
from longmark.text.words import word_spans

_DIGITS = "1234567890"
_MOST_BUTTONS = 11  # points of a scale that are shown as buttons; above them a number is typed
_TYPED = "Select a word in the text above, or type it as it is written there"
IMPOSSIBLE = '{"impossible":true}'
# Read beside the answer, and one tap away on a phone.
_BESIDE = frozenset({"passages", "contexts", "reference", "expanded_reference", "profile"})
# Texts that are always set as such; characters of another that is set beside its title.
_LONG = frozenset({"question", "answer", "a", "b", "statement"})
_BRIEF = 60
_PLACES = ("key", "title", "source", "document", "page", "section", "url", "id")


@dataclass(frozen=True, slots=True)
class Choosable:
    """One thing to choose. key: on the keyboard; everywhere: it is the study's own and acts whatever has the focus."""

    value: str
    label: str
    id: str
    guidance: str = ""
    key: str = ""
    everywhere: bool = False
    checked: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A key point: its text, and a control for each answer. posted: the name of its text where it is typed."""

    text: str
    cells: tuple[Control, ...]
    posted: str = ""


@dataclass(frozen=True, slots=True)
class Control:
    """A field on the page. kind: the field's type; posted: its name in the form; over: the text it marks; when: the
    form field that it depends on, and the values with which it is asked; own: the words are ours, not the study's."""

    kind: str
    id: str
    posted: str
    legend: str
    help: str = ""
    group: str = ""
    required: bool = False
    error: str = ""
    value: str = ""
    plain: str = ""
    options: tuple[Choosable, ...] = ()
    rows: tuple[Row, ...] = ()
    over: str = ""
    text: str = ""
    words: tuple[tuple[str, Choosable | None], ...] = ()
    least: int = 0
    most: int = 0
    multiline: bool = True
    when: str = ""
    when_is: tuple[str, ...] = ()
    when_label: str = ""
    when_words: str = ""
    own: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """A column of the item on the page. kind: text, brief (a few words), list, passages, facts, lists (by heading) or
    answers (parts of its own)."""

    name: str
    title: str
    kind: str
    value: Any
    beside: bool = False
    parts: tuple[Part, ...] = field(default=())


def controls(
    study: Study, item: Item, form: Form, errors: Mapping[str, str], swapped: bool
) -> list[Control]:
    """The fields that are asked of an item, filled with a form."""
    digits = "".join(digit for digit in _DIGITS if digit not in _own_keys(study))
    made = _Maker(item, form, errors, swapped, digits, sayer(study.language))
    asked = {one.name: one for one in study.asked}
    out = []
    for place, one in enumerate(study.asked):
        if (
            one.when is not None
            and one.when.item is not None
            and not study.applies(one, {}, item.columns)
        ):
            continue
        before = asked.get(one.when.field) if one.when is not None and one.when.field else None
        out.append(made.control(one, f"q{place}", before))
    spans = [
        place
        for place, made_one in enumerate(out)
        if made_one.kind == "spans" and made_one.over in ("a", "b")
    ]
    in_order = sorted((out[place] for place in spans), key=lambda control: control.over)
    for place, control in zip(spans, in_order, strict=True):
        out[place] = control  # the answer that is shown first is asked about first
    return out


def parts(study: Study, item: Item, swapped: bool) -> list[Part]:
    """What is shown of an item, in the study's order; a column that the item does not have is left out."""
    out = []
    for name in study.show:
        if name == "answers":
            sides = [
                _part(side, shown_text(item, side, swapped), beside=False) for side in item.sides
            ]
            out.append(
                Part(name, TITLES[name], "answers", None, parts=tuple(sides))
                if len(sides) > 1
                else sides[0]
            )
        elif (value := item.shown.get("passages" if name == "contexts" else name)) not in (
            None,
            "",
            [],
            {},
        ):
            out.append(_part(name, value, beside=name in _BESIDE))
    return out


def shown_text(item: Item, name: str, swapped: bool) -> str:
    """A text of an item; `a` and `b` are the sides as shown."""
    return as_words(item.shown.get(shown_side(name, swapped), ""))


def _part(name: str, value: Any, *, beside: bool) -> Part:
    title = TITLES.get(name) or name.replace("_", " ").capitalize()
    if isinstance(value, Mapping) and list(value) == [""]:
        value = value[""]
    if (
        isinstance(value, Mapping)
        and value
        and all(isinstance(one, list | tuple) for one in value.values())
    ):
        lists = [
            (str(key).capitalize(), [_passage(one) for one in given])
            for key, given in value.items()
        ]
        return Part(name, title, "lists", lists, beside)
    if isinstance(value, Mapping):
        return Part(
            name, title, "facts", [(str(key), as_words(one)) for key, one in value.items()], beside
        )
    if isinstance(value, list | tuple):
        if all(isinstance(one, str | int | float) for one in value):
            kind = "passages" if name in ("passages", "contexts") else "list"
            return Part(name, title, kind, [((), str(one)) for one in value], beside)
        kind = "list" if name == "options" else "passages"
        return Part(name, title, kind, [_passage(one) for one in value], beside)
    text = as_words(value)
    brief = name not in _LONG and len(text) <= _BRIEF and "\n" not in text
    return Part(name, title, "brief" if brief else "text", text, beside and not brief)


Where = tuple[tuple[str, str], ...]  # where a text is from: (key, value), of _PLACES


def _passage(one: Any) -> tuple[Where, str]:
    """(where it is from, its text)"""
    if not isinstance(one, Mapping):
        return (), as_words(one)
    text = next((str(one[key]) for key in ("text", "content", "statement") if one.get(key)), "")
    if not text:
        return (), "\n".join(f"{key}: {as_words(value)}" for key, value in one.items())
    return tuple((key, str(one[key])) for key in _PLACES if one.get(key) not in (None, "")), text


def _own_keys(study: Study) -> set[str]:
    options = [
        one
        for asked in study.asked
        for name in ("options", "tags", "values", "reasons")
        for one in getattr(asked, name, ())
    ]
    return {option.key for option in options if option.key} | {
        key for asked in study.asked for key in getattr(asked, "keys", ())
    }


@dataclass(frozen=True)
class _Maker:
    item: Item
    form: Form
    errors: Mapping[str, str]
    swapped: bool
    digits: str
    t: Say

    def control(self, asked: AskedField, id: str, before: AskedField | None) -> Control:
        posted = f"f.{asked.name}"
        depends: dict[str, Any] = {}
        if before is not None and asked.when is not None:
            name = f"f.{before.name}.verdict" if before.type == "edit" else f"f.{before.name}"
            words = f" {self.t('or')} ".join(
                label_of(before, one, self.t) for one in asked.when.is_
            )
            depends = {
                "when": name,
                "when_is": asked.when.is_,
                "when_label": before.shown,
                "when_words": words,
            }
        specific: dict[str, Any] = getattr(self, f"_{asked.type}")(asked, id, posted)
        return Control(
            kind=asked.type,
            id=id,
            posted=posted,
            legend=asked.shown,
            help=asked.help,
            group=asked.group or "",
            required=asked.required,
            own=not asked.label,
            error=self.errors.get(asked.name) or self.errors.get(posted) or "",
            **depends,
            **specific,
        )

    def _given(self, posted: str) -> Sequence[str]:
        return self.form.get(posted, ())

    def _first(self, posted: str) -> str:
        return next(iter(self._given(posted)), "")

    def _choosables(
        self, options: Sequence[tuple[str, str, str, str | None]], id: str, posted: str
    ) -> tuple[Choosable, ...]:
        """From (value, label, guidance, key of the study's own)."""
        given = self._given(posted)
        free = iter(
            self.digits if sum(1 for option in options if not option[3]) <= len(self.digits) else ""
        )
        return tuple(
            Choosable(
                value,
                label,
                f"{id}-{place}",
                guidance,
                key or next(free, ""),
                bool(key),
                value in given,
            )
            for place, (value, label, guidance, key) in enumerate(options)
        )

    def _of(self, options: Sequence[Any], id: str, posted: str) -> tuple[Choosable, ...]:
        return self._choosables(
            [(option.value, option.shown, option.guidance, option.key) for option in options],
            id,
            posted,
        )

    def _choice(self, asked: Any, id: str, posted: str) -> dict[str, Any]:
        return {"options": self._of(asked.options, id, posted)}

    def _scale(self, asked: Any, id: str, posted: str) -> dict[str, Any]:
        points = range(asked.min, asked.max + 1)
        made = []
        if len(points) <= _MOST_BUTTONS:
            for point in points:
                digit = (
                    str(point % 10) if 0 <= point <= 9 or (point == 10 and asked.min > 0) else ""
                )
                key = digit if digit in self.digits else ""
                anchor = asked.anchors.get(point, "")
                checked = str(point) in self._given(posted)
                made.append(
                    Choosable(str(point), str(point), f"{id}-{point}", anchor, key, False, checked)
                )
        anchors = "; ".join(f"{point}: {words}" for point, words in asked.anchors.items())
        ends = {"least": asked.min, "most": asked.max}
        return {"options": tuple(made), "value": self._first(posted), "plain": anchors, **ends}

    def _text(self, asked: Any, id: str, posted: str) -> dict[str, Any]:
        return {"value": self._first(posted), "multiline": asked.multiline, "most": asked.max}

    def _compare(self, asked: Any, id: str, posted: str) -> dict[str, Any]:
        keys: Sequence[str | None] = [*asked.keys, None, None, None]
        labels = {"a": "A is better", "b": "B is better", TIE: "Tie"}
        options = [
            (value, labels[value], "", key)
            for value, key in zip(asked.possible, keys, strict=False)
        ]
        return {"options": self._choosables(options, id, posted)}

    def _errors(self, asked: Any, id: str, posted: str) -> dict[str, Any]:
        options = [
            (option.value, option.shown, option.guidance, option.key) for option in asked.options
        ]
        if asked.none:
            options.append((asked.none, asked.none, "", None))
        return {"options": self._choosables(options, id, posted), "plain": asked.none or ""}

    def _edit(self, asked: Any, id: str, posted: str) -> dict[str, Any]:
        verdicts = [(one, one.capitalize(), "", None) for one in VERDICTS]
        text = shown_text(self.item, asked.over, False)
        reasons = self._of(asked.reasons, f"{id}-r", f"{posted}.reason")
        name = f"{posted}.reason"
        typed = "" if reasons else self._first(f"{posted}.reason")
        why = Control(
            "errors" if reasons else "text",
            f"{id}-why",
            name,
            "Reason",
            options=reasons,
            value=typed,
            own=True,
        )
        return {
            "options": self._choosables(verdicts, id, f"{posted}.verdict"),
            "value": self._first(f"{posted}.text") or text,
            "rows": (Row("", (why,)),),
        }

    def _spans(self, asked: Any, id: str, posted: str) -> dict[str, Any]:
        value = self._first(posted)
        over = shown_side(asked.over, self.swapped)
        spans = [one for one in loaded(value) or [] if isinstance(one, dict)]
        lines = "\n".join(f"{span.get('tag')}: {span.get('quote')}" for span in spans)
        return {
            "options": self._of(asked.tags, id, ""),
            "over": over,
            "text": TITLES.get(over, ""),
            "value": value,
            "plain": self._first(f"{posted}.text")
            or (lines if lines.count("\n") < len(spans) else ""),
        }

    def _cloze(self, asked: Any, id: str, posted: str) -> dict[str, Any]:
        text = shown_text(self.item, asked.over, False)
        given = loaded(self._first(posted))
        given = given if isinstance(given, dict) else {}
        spans = list(word_spans(text, joined=True))
        places = {(span.start, span.end) for span in spans if span.spaced}
        typed = len(places) < len(spans)
        start = given.get("start")
        end = given.get("end")
        chosen = (start, end) if isinstance(start, int) and isinstance(end, int) else (0, 0)
        if typed and given.get("quote") and text[slice(*chosen)] == given["quote"]:
            places = {
                place for place in places if place[1] <= chosen[0] or place[0] >= chosen[1]
            } | {chosen}
        pieces: list[tuple[str, Choosable | None]] = []
        end = 0
        for place in sorted(places):
            word = text[slice(*place)]
            value = orjson.dumps({"start": place[0], "end": place[1], "quote": word}).decode()
            choice = Choosable(value, word, f"{id}-{place[0]}", checked=place == chosen)
            pieces += [(text[end : place[0]], None), (word, choice)]
            end = place[1]
        none = bool(given.get("impossible"))
        key = self.digits[-1:]
        refusal = Choosable(
            IMPOSSIBLE, "No word can be left out", f"{id}-none", key=key, checked=none
        )
        words = Control(
            "text",
            f"{id}-typed",
            f"{posted}.text",
            _TYPED,
            required=True,
            multiline=False,
            own=True,
        )
        words = replace(words, value=self._first(words.posted))
        rows = (Row("", (words,)),) if typed else ()
        return {"words": (*pieces, (text[end:], None)), "options": (refusal,), "rows": rows}

    def _matrix(self, asked: Any, id: str, posted: str) -> dict[str, Any]:
        columns = asked.columns
        if columns == "answers":
            columns = self.item.sides
        if asked.typed:
            texts = self._typed(posted)
        else:
            given = (
                self.item.shown.get(asked.rows, ()) if isinstance(asked.rows, str) else asked.rows
            )
            texts = [as_words(one) for one in given]
        rows = []
        for place, text in enumerate(texts):
            cells = tuple(
                Control(
                    "choice",
                    f"{id}-{place}-{i}",
                    f"{posted}.{place}.{column}",
                    TITLES.get(column) or column.replace("_", " ").capitalize(),
                    required=asked.required,
                    error=self.errors.get(f"{posted}.{place}.{column}", ""),
                    options=self._of(
                        asked.values, f"{id}-{place}-{i}", f"{posted}.{place}.{column}"
                    ),
                    own=asked.values == Matrix.model_fields["values"].default,
                )
                for i, column in enumerate(columns)
            )
            rows.append(Row(text, cells, f"{posted}.{place}.point" if asked.typed else ""))
        return {"rows": tuple(rows)}

    def _typed(self, posted: str) -> list[str]:
        """The texts of typed rows, and an empty one for the next; three at first."""
        pattern = re.compile(re.escape(posted) + r"\.(\d+)\.point")
        places = {
            int(match[1]): self._first(name)
            for name in self.form
            if (match := pattern.fullmatch(name))
        }
        last = max((place for place, text in places.items() if text.strip()), default=-1)
        return [places.get(place, "") for place in range(max(last + 2, 3))]
