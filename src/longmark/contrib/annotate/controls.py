"""What a labelling page asks and shows: the fields of a study as controls, the columns of an item as parts.

The names of form fields are those that `values.parse` reads. Sides are the shown ones: where `swapped`, the answer
shown as A is b of the item.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.language import sayer
from longmark.contrib.annotate.study import SIDES, TIE, VERDICTS, AskedField, Matrix, Study
from longmark.contrib.annotate.values import Form, rows_of
from longmark.contrib.annotate.words import TITLES, Say, as_words, label_of, loaded, shown_side
from longmark.report.word_diff import DiffPiece, word_diff
from longmark.text.words import word_spans

_DIGITS = "1234567890"
_MOST_BUTTONS = 11  # points of a scale that are shown as buttons; above them a number is typed
_TYPED = "Select a word in the text above, or type it as it is written there"
IMPOSSIBLE = '{"impossible":true}'
# Read beside the answer, and one tap away on a phone.
_BESIDE = frozenset({"passages", "contexts", "reference", "expanded_reference", "profile"})
# Texts that are always set as such; characters of another that is set beside its title.
_LONG = frozenset({"question", "answer", "a", "b", "statement", "source"})
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
class KeyPointRow:
    """A key point: its text, and a control for each answer. posted: the name of its text where it is typed;
    importance: of a nugget."""

    text: str
    cells: tuple[Control, ...]
    posted: str = ""
    importance: str = ""


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
    rows: tuple[KeyPointRow, ...] = ()
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
class ItemColumn:
    """A column of the item on the page. kind: text, brief (a few words), list, passages, facts, lists (by heading) or
    answers (parts of its own)."""

    name: str
    title: str
    kind: str
    value: Any
    beside: bool = False
    parts: tuple[ItemColumn, ...] = ()


def controls(
    study: Study, item: StudyItem, form: Form, errors: Mapping[str, str], swapped: bool
) -> list[Control]:
    """The fields that are asked of an item, filled with a form."""
    digits = "".join(digit for digit in _DIGITS if digit not in _own_keys(study))
    maker = _Maker(item, form, errors, swapped, digits, sayer(study.language))
    fields = {field.name: field for field in study.asked}
    made_controls = []
    for place, field in enumerate(study.asked):
        if (
            field.when is not None
            and field.when.item is not None
            and not study.applies(field, {}, item.columns)
        ):
            continue
        before = (
            fields.get(field.when.field) if field.when is not None and field.when.field else None
        )
        made_controls.append(maker.control(field, f"q{place}", before))
    spans = [
        place
        for place, made_one in enumerate(made_controls)
        if made_one.kind == "spans" and made_one.over in ("a", "b")
    ]
    in_order = sorted((made_controls[place] for place in spans), key=lambda control: control.over)
    for place, control in zip(spans, in_order, strict=True):
        made_controls[place] = control  # the answer that is shown first is asked about first
    return made_controls


def parts(study: Study, item: StudyItem, swapped: bool) -> list[ItemColumn]:
    """What is shown of an item, in the study's order; a column that the item does not have is left out."""
    out = []
    points = {field.rows for field in study.asked if isinstance(field, Matrix)}
    for name in study.show:
        if name == "nuggets" and name in points:
            continue  # each is shown where it is asked about: a phone has no room for the list twice
        if name == "answers":
            sides = [
                _part(side, shown_text(item, side, swapped), beside=False) for side in item.sides
            ]
            out.append(
                ItemColumn(name, TITLES[name], "answers", None, parts=tuple(sides))
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


def differences(study: Study, item: StudyItem, swapped: bool) -> dict[str, str]:
    """Where each answer of a pair has words that the other does not have there, in code points: side -> `0-5 9-20`. {}
    where the study marks none, and where the answers have too little in common."""
    if study.differences == "none" or not study.pairs:
        return {}
    difference = word_diff(*(shown_text(item, side, swapped) for side in SIDES))
    return {
        side: _places(pieces)
        for side, pieces in zip(SIDES, (difference.old, difference.new), strict=True)
        if any(piece.differs for piece in pieces)
    }


def _places(pieces: Sequence[DiffPiece]) -> str:
    places = []
    start = 0
    for piece in pieces:
        if piece.differs:
            places.append(f"{start}-{start + len(piece.text.rstrip())}")
        start += len(piece.text)
    return " ".join(places)


def shown_text(item: StudyItem, name: str, swapped: bool) -> str:
    """A text of an item; `a` and `b` are the sides as shown."""
    return as_words(item.shown.get(shown_side(name, swapped), ""))


def _part(name: str, value: Any, *, beside: bool) -> ItemColumn:
    title = TITLES.get(name) or name.replace("_", " ").capitalize()
    if isinstance(value, Mapping) and list(value) == [""]:
        value = value[""]
    if (
        isinstance(value, Mapping)
        and value
        and all(isinstance(listed, list | tuple) for listed in value.values())
    ):
        lists = [
            (str(key).capitalize(), [_passage(text_part) for text_part in texts])
            for key, texts in value.items()
        ]
        return ItemColumn(name, title, "lists", lists, beside)
    if isinstance(value, Mapping):
        return ItemColumn(
            name,
            title,
            "facts",
            [(str(key), as_words(fact)) for key, fact in value.items()],
            beside,
        )
    if isinstance(value, list | tuple):
        if all(isinstance(element, str | int | float) for element in value):
            kind = "passages" if name in ("passages", "contexts") else "list"
            return ItemColumn(name, title, kind, [((), str(element)) for element in value], beside)
        kind = "list" if name == "options" else "passages"
        return ItemColumn(name, title, kind, [_passage(passage) for passage in value], beside)
    text = as_words(value)
    brief = name not in _LONG and len(text) <= _BRIEF and "\n" not in text
    return ItemColumn(name, title, "brief" if brief else "text", text, beside and not brief)


Where = tuple[tuple[str, str], ...]  # where a text is from: (key, value), of _PLACES


def _passage(passage: Any) -> tuple[Where, str]:
    """(where it is from, its text)"""
    if not isinstance(passage, Mapping):
        return (), as_words(passage)
    text = next(
        (str(passage[key]) for key in ("text", "content", "statement") if passage.get(key)), ""
    )
    if not text:
        return (), "\n".join(f"{key}: {as_words(value)}" for key, value in passage.items())
    return tuple(
        (key, str(passage[key])) for key in _PLACES if passage.get(key) not in (None, "")
    ), text


def _own_keys(study: Study) -> set[str]:
    options = [
        option
        for field in study.asked
        for name in ("options", "tags", "values", "reasons")
        for option in getattr(field, name, ())
    ]
    return {option.key for option in options if option.key} | {
        key for field in study.asked for key in getattr(field, "keys", ())
    }


@dataclass(frozen=True)
class _Maker:
    item: StudyItem
    form: Form
    errors: Mapping[str, str]
    swapped: bool
    digits: str
    t: Say

    def control(self, asked_field: AskedField, id: str, before: AskedField | None) -> Control:
        posted = f"f.{asked_field.name}"
        depends: dict[str, Any] = {}
        if before is not None and asked_field.when is not None:
            name = f"f.{before.name}.verdict" if before.type == "edit" else f"f.{before.name}"
            words = f" {self.t('or')} ".join(
                label_of(before, condition, self.t) for condition in asked_field.when.is_
            )
            depends = {
                "when": name,
                "when_is": asked_field.when.is_,
                "when_label": before.shown,
                "when_words": words,
            }
        specific: dict[str, Any] = getattr(self, f"_{asked_field.type}")(asked_field, id, posted)
        return Control(
            kind=asked_field.type,
            id=id,
            posted=posted,
            legend=asked_field.shown,
            help=asked_field.help,
            group=asked_field.group or "",
            required=asked_field.required,
            own=not asked_field.label,
            error=self.errors.get(asked_field.name) or self.errors.get(posted) or "",
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
        posted_values = self._given(posted)
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
                value in posted_values,
            )
            for place, (value, label, guidance, key) in enumerate(options)
        )

    def _of(self, options: Sequence[Any], id: str, posted: str) -> tuple[Choosable, ...]:
        return self._choosables(
            [(option.value, option.shown, option.guidance, option.key) for option in options],
            id,
            posted,
        )

    def _choice(self, field: Any, id: str, posted: str) -> dict[str, Any]:
        return {"options": self._of(field.options, id, posted)}

    def _scale(self, field: Any, id: str, posted: str) -> dict[str, Any]:
        points = range(field.min, field.max + 1)
        choosables = []
        if len(points) <= _MOST_BUTTONS:
            for point in points:
                digit = (
                    str(point % 10) if 0 <= point <= 9 or (point == 10 and field.min > 0) else ""
                )
                key = digit if digit in self.digits else ""
                anchor = field.anchors.get(point, "")
                checked = str(point) in self._given(posted)
                choosables.append(
                    Choosable(str(point), str(point), f"{id}-{point}", anchor, key, False, checked)
                )
        anchors = "; ".join(f"{point}: {words}" for point, words in field.anchors.items())
        ends = {"least": field.min, "most": field.max}
        return {
            "options": tuple(choosables),
            "value": self._first(posted),
            "plain": anchors,
            **ends,
        }

    def _text(self, field: Any, id: str, posted: str) -> dict[str, Any]:
        return {"value": self._first(posted), "multiline": field.multiline, "most": field.max}

    def _compare(self, field: Any, id: str, posted: str) -> dict[str, Any]:
        keys: Sequence[str | None] = [*field.keys, None, None, None]
        labels = {"a": "A is better", "b": "B is better", TIE: "Tie"}
        options = [
            (value, labels[value], "", key)
            for value, key in zip(field.possible, keys, strict=False)
        ]
        return {"options": self._choosables(options, id, posted)}

    def _errors(self, field: Any, id: str, posted: str) -> dict[str, Any]:
        options = [
            (option.value, option.shown, option.guidance, option.key) for option in field.options
        ]
        if field.none:
            options.append((field.none, field.none, "", None))
        return {"options": self._choosables(options, id, posted), "plain": field.none or ""}

    def _edit(self, field: Any, id: str, posted: str) -> dict[str, Any]:
        verdicts = [(verdict, verdict.capitalize(), "", None) for verdict in VERDICTS]
        text = shown_text(self.item, field.over, False)
        reasons = self._of(field.reasons, f"{id}-r", f"{posted}.reason")
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
            "rows": (KeyPointRow("", (why,)),),
        }

    def _spans(self, field: Any, id: str, posted: str) -> dict[str, Any]:
        value = self._first(posted)
        shown_over = shown_side(field.over, self.swapped)
        spans = [span for span in loaded(value) or [] if isinstance(span, dict)]
        lines = "\n".join(f"{span.get('tag')}: {span.get('quote')}" for span in spans)
        return {
            "options": self._of(field.tags, id, ""),
            "over": shown_over,
            "text": TITLES.get(shown_over, ""),
            "value": value,
            "plain": self._first(f"{posted}.text")
            or (lines if lines.count("\n") < len(spans) else ""),
        }

    def _cloze(self, field: Any, id: str, posted: str) -> dict[str, Any]:
        text = shown_text(self.item, field.over, False)
        posted_word = loaded(self._first(posted))
        posted_word = posted_word if isinstance(posted_word, dict) else {}
        spans = list(word_spans(text, joined=True))
        places = {(span.start, span.end) for span in spans if span.spaced}
        typed = len(places) < len(spans)
        start = posted_word.get("start")
        end = posted_word.get("end")
        chosen = (start, end) if isinstance(start, int) and isinstance(end, int) else (0, 0)
        if typed and posted_word.get("quote") and text[slice(*chosen)] == posted_word["quote"]:
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
        none = bool(posted_word.get("impossible"))
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
        rows = (KeyPointRow("", (words,)),) if typed else ()
        return {"words": (*pieces, (text[end:], None)), "options": (refusal,), "rows": rows}

    def _matrix(self, field: Any, id: str, posted: str) -> dict[str, Any]:
        columns = field.columns
        if columns == "answers":
            columns = self.item.sides
        if field.typed:
            texts = self._typed(posted, at_first=3 if field.required else 1)
        else:
            texts = [as_words(point) for point in rows_of(field, self.item)]
        importances = {}
        if field.rows == "nuggets":
            nuggets = self.item.shown.get("nuggets", ())
            importances = {nugget["text"]: nugget["importance"] for nugget in nuggets}
        rows = []
        for place, text in enumerate(texts):
            cells = tuple(
                Control(
                    "choice",
                    f"{id}-{place}-{i}",
                    f"{posted}.{place}.{column}",
                    TITLES.get(column) or column.replace("_", " ").capitalize(),
                    required=field.required,
                    error=self.errors.get(f"{posted}.{place}.{column}", ""),
                    options=self._of(
                        field.values, f"{id}-{place}-{i}", f"{posted}.{place}.{column}"
                    ),
                    own=field.values == Matrix.model_fields["values"].default,
                )
                for i, column in enumerate(columns)
            )
            rows.append(
                KeyPointRow(
                    text,
                    cells,
                    posted=f"{posted}.{place}.point" if field.typed else "",
                    importance=importances.get(text, ""),
                )
            )
        return {"rows": tuple(rows)}

    def _typed(self, posted: str, at_first: int) -> list[str]:
        """The texts of typed rows, and an empty one for the next."""
        pattern = re.compile(re.escape(posted) + r"\.(\d+)\.point")
        places = {
            int(match[1]): self._first(name)
            for name in self.form
            if (match := pattern.fullmatch(name))
        }
        last = max((place for place, text in places.items() if text.strip()), default=-1)
        return [places.get(place, "") for place in range(max(last + 2, at_first))]
