"""Which columns of a record hold the two answers of a pair, who wrote them, and what people chose.

A record is a pair if it has both answers and no `answer`: `a` and `b`, or two columns of `_ANSWERS` (any case, `-` and
spaces as `_`), or two columns that --map names. The other columns are those of an example (`records.columns`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from longmark.options import named
from longmark.records.conversation import turns_of
from longmark.records.files import parse_json
from longmark.records.same import caseless
from longmark.records.values import Problem, folded, found, missing, name, text

_ANSWERS = (
    ("a", "b"),
    *((f"{kind}_{first}", f"{kind}_{second}") for kind in ("answer", "response", "output", "completion")
      for first, second in (("a", "b"), ("1", "2"))),
    ("answer1", "answer2"),
    ("response1", "response2"),
    ("output1", "output2"),
    ("chosen", "rejected"),
)  # fmt: skip
CHOSEN = ("chosen", "rejected")
"""The better answer and the other one. Which of them is `a` is drawn by a hash of the texts: else a judge that always
takes the first answer would be right in every pair."""

_OTHERS = {
    "a_system": ("model_a", "system_a", "generator_a", "model_1", "model1", "generator_1"),
    "b_system": ("model_b", "system_b", "generator_b", "model_2", "model2", "generator_2"),
    "b_turns": (),
    "expanded_reference": (),
    "subject": (),
    "category": ("question_category", "question_type"),
    "mode": ("compare_type",),
    "labels": (),
    "expansion_checks": (),
    "label": ("winner", "preference", "choice", "preferred", "human_label"),
}
FIELDS = ("a", "b", *_OTHERS)  # the fields of a pair that an example does not have
_FIELD_OF = {column: field for field, aliases in _OTHERS.items() for column in (field, *aliases)}
_RATER = "labels."  # such a column holds the choices of the rater whose name follows
_TIES = frozenset(
    (
        "tie",
        "same",
        "equal",
        "both",
        "draw",
        "neither",
        "tie (bothbad)",
        "tie (both bad)",
        "both_bad",  # the arena, from 2025 on
        "tie (inconsistent)",  # MT-Bench: the judge chose another answer in the other order
    )
)
_SIDES = {
    "a": "a",
    "b": "b",
    "1": "a",
    "2": "b",
    "first": "a",
    "second": "b",
    "left": "a",
    "right": "b",
}
_OTHER_SIDE = {"a": "b", "b": "a"}
_EXCHANGED = _OTHER_SIDE | {"a_system": "b_system", "b_system": "a_system"}
_KINDS = (
    "student_answer",
    "model_answer",
    "assistant",
    "answer",
    "response",
    "output",
    "model",
    "system",
    "completion",
)
_WINNERS = ("winner_model_a", "winner_model_b")  # columns of 0 and 1, of the arena's data sets
_WINNER_OF_NONE = ("winner_tie", "winner_tie_bothbad", "winner_tie_(bothbad)")
_EVEN = 1.5  # AlpacaEval: 1 is the first answer, 2 the second, what lies between a graded preference; 0 is a tie, too
_MODES = {"hvh": "human/human", "hvm": "human/model", "mvh": "human/model", "mvm": "model/model"}


def find(
    record: Mapping[str, Any], mapped: Mapping[str, str], blank: Callable[[Any], bool]
) -> tuple[str, ...] | None:
    """The columns of a and b in the record of a pair; None if it is none. mapped: field -> column, of --map; blank:
    whether a cell is empty. Problem if --map names one answer and the record has no other."""
    column_of = {folded(str(column)): column for column in reversed(list(record))}
    if "a" in mapped or "b" in mapped:
        columns = tuple(mapped.get(side) or column_of.get(side, side) for side in "ab")
        if absent := [
            side for side, column in zip("ab", columns, strict=True) if column not in record
        ]:
            raise Problem(
                f"{absent[0]}: the record has no such answer; "
                f"name its column with {named('mapping', {absent[0]: 'COLUMN'})}"
            )
        return columns
    if not blank(record.get(column_of.get("answer", ""))):
        return None
    for names in _ANSWERS:
        columns = tuple(column_of[folded_name] for folded_name in names if folded_name in column_of)
        if len(columns) == 2 and not any(missing(record[column]) for column in columns):
            return columns
    return None


class PairFields:
    """The fields of one record's pair; `rest` is what is left of it for the example. ignored: what of its turns is not
    read, counted."""

    def __init__(
        self,
        record: Mapping[str, Any],
        answers: tuple[str, ...],
        mapped: Mapping[str, str],
        cells: bool,
        ignored: Counter[str],
    ) -> None:
        self._record = record
        self._answers = answers
        self._mapped = mapped
        self._cells = cells
        self._ignored = ignored
        self._systems: dict[str, str] = {}  # side -> system
        self.rest = {column: value for column, value in record.items() if column not in answers}

    def read(self) -> dict[str, Any]:
        """Field -> value. Raises Problem."""
        fields: dict[str, Any] = {
            "a": self._text("a", self._answers[0]),
            "b": self._text("b", self._answers[1]),
        }
        raters: dict[str, str] = {}
        self._systems = {
            side: caseless(str(raw))
            for field, _, raw in self._assigned()
            if (side := field.removesuffix("_system")) != field and not self._blank(raw)
        }
        for field, column, raw in list(self._assigned()):
            del self.rest[column]
            if self._blank(raw):
                continue
            if field == "labels":
                raters |= self._labels(column, raw)
            elif field == "label":
                fields["label"] = self._choice(column, raw)
                if self._grade(raw) not in (None, 0, 1, 2):
                    self.rest[column] = raw  # how strong the preference is
            elif field == "b_turns":
                fields[field] = turns_of(raw, self._ignored)
            elif field == "expansion_checks":
                fields[field] = _parsed(raw)
            elif field == "mode":
                fields["mode"] = _mode(column, raw)
            elif field == "expanded_reference":
                fields[field] = text(field, raw)
            else:
                fields[field] = name(field, raw)
        if "label" not in fields and "label" not in self._mapped and (chosen := self._winner()):
            fields["label"] = chosen
        if raters:
            fields["labels"] = raters
        return (
            self._from_chosen(fields)
            if tuple(folded(answer) for answer in self._answers) == CHOSEN
            else fields
        )

    def _assigned(self) -> Iterator[tuple[str, str, Any]]:
        """(field, column, value). A column that is named like a field of the pair and is mapped to another one is left
        to the example."""
        taken = set()
        for field in _OTHERS:
            column_named = self._mapped.get(field)
            columns = (
                []
                if column_named is None
                else [column_named]
                if column_named in self.rest
                else column_named.split(",")
            )
            for column in columns:
                if column not in self.rest:
                    if len(columns) > 1:
                        raise Problem(
                            f"{field}: the record has no column {column}; check {named('mapping', {field: column_named})}"
                        )
                    continue
                taken.add(column)
                yield field, column, self.rest[column]
        mapped = set(self._mapped.values())
        for column, raw in list(self.rest.items()):
            if column in taken or column in mapped:
                continue
            plain = folded(str(column))
            field = _FIELD_OF.get(plain) or ("labels" if plain.startswith(_RATER) else "")
            if field and (field not in self._mapped):
                yield field, column, raw

    def _text(self, field: str, column: str) -> str:
        raw = self._record[column]
        if self._blank(raw):
            raise Problem(f'{field}: the answer is missing; write "" for an empty one')
        return text(field, "" if self._cells and raw == '""' else raw)

    def _blank(self, raw: Any) -> bool:
        return missing(raw) or (self._cells and raw == "")

    def _labels(self, column: str, raw: Any) -> dict[str, str]:
        """rater -> choice, of a column of one rater, or of an object of all of them."""
        if folded(column) != "labels" and not isinstance(raw, Mapping):
            rater = column[len(_RATER) :] if folded(column).startswith(_RATER) else column
            return {rater: self._choice(column, raw)}
        raw = _parsed(raw)
        if not isinstance(raw, Mapping):
            raise Problem(
                f"labels: expected an object of raters and their choices, found {found(raw)}"
            )
        return {
            str(rater): self._choice(f"labels.{rater}", choice)
            for rater, choice in raw.items()
            if not missing(choice)
        }

    def _winner(self) -> str:
        """The choice in columns of 0 and 1; "" where the record has no such columns, or they are empty."""
        column_of = {folded(str(column)): column for column in self.rest}
        columns = [column_of[plain] for plain in _WINNERS if plain in column_of]
        if len(columns) != len(_WINNERS):
            return ""
        columns += [column_of[plain] for plain in _WINNER_OF_NONE if plain in column_of]
        if all(self._blank(self.rest[column]) for column in columns):
            return ""
        won = [
            column for column in columns if str(self.rest[column]) in ("1", "1.0", "True", "true")
        ]
        unclear = [
            column
            for column in columns
            if column not in won and str(self.rest[column]) not in ("0", "0.0", "False", "false")
        ]
        if len(won) != 1 or unclear:
            values = ", ".join(f"{column} {found(self.rest[column])}" for column in columns)
            raise Problem(f"label: expected one 1 and else 0, found {values}")
        for column in columns:
            del self.rest[column]
        return dict(zip(columns, "ab", strict=False)).get(won[0], "tie")

    def _grade(self, raw: Any) -> float | None:
        """A preference as a number, where the answers' columns are numbered 1 and 2; None for anything else."""
        numbered = all(
            column.endswith(end) for column, end in zip(self._answers, "12", strict=True)
        )
        if not numbered or isinstance(raw, bool) or not isinstance(raw, str | int | float):
            return None
        try:
            grade = float(raw)
        except (ValueError, OverflowError):
            return None
        if grade == 0:  # a tie of AlpacaEval; elsewhere it may be the first of 0 and 1
            return grade if "generator_1" in map(folded, map(str, self._record)) else None
        return grade if 1 <= grade <= 2 else None

    def _choice(self, field: str, raw: Any) -> str:
        """a, b or tie: also as the name of the answer's column or of its system, and as a number from 1 to 2 where the
        columns are numbered so."""
        if (grade := self._grade(raw)) is not None:
            return "tie" if grade in (0, _EVEN) else "a" if grade < _EVEN else "b"
        sides = [
            side
            for side, system in self._systems.items()
            if isinstance(raw, str) and system == caseless(raw)
        ]
        if len(sides) == 1:
            return sides[0]
        choice = (
            ""
            if isinstance(raw, bool | list | dict)
            else " ".join((name(field, raw) or "").split()).casefold()
        )
        plain = choice.replace(" ", "_").replace("-", "_")
        for side, column in zip("ab", self._answers, strict=True):
            if choice and choice == folded(column):
                return side
        if choice in _TIES:
            return "tie"
        kind = next((kind for kind in _KINDS if plain.startswith(kind)), "")
        side = _SIDES.get(plain.removeprefix(kind).lstrip("_"), "")
        numbered = kind or all(
            column.endswith(end) for column, end in zip(self._answers, "12", strict=True)
        )
        if not side or (choice in ("1", "2") and not numbered):
            names = (
                ""
                if self._answers == ("a", "b")
                else f" (or {' or '.join(self._answers)}, the answer's column)"
            )
            raise Problem(f"{field}: expected a, b or tie{names}, found {found(raw)}")
        return side

    def _from_chosen(self, fields: dict[str, Any]) -> dict[str, Any]:
        better = fields["a"]
        worse = fields["b"]
        drawn = (
            hashlib.sha256(
                "\0".join(sorted((better, worse))).encode("utf-8", "surrogatepass")
            ).digest()[0]
            % 2
        )
        if drawn == (better <= worse):
            return {**fields, "label": fields.get("label", "a")}
        # Whatever belongs to a side goes with its answer.
        exchanged = {_EXCHANGED.get(field, field): value for field, value in fields.items()}
        exchanged["label"] = _OTHER_SIDE.get(fields.get("label", "a"), "tie")
        if "labels" in fields:
            exchanged["labels"] = {
                rater: _OTHER_SIDE.get(choice, choice) for rater, choice in fields["labels"].items()
            }
        return exchanged


def _parsed(raw: Any) -> Any:
    """An object, also one given as JSON text."""
    if isinstance(raw, str):
        with suppress(ValueError):
            return parse_json(raw)
    return raw


def _mode(column: str, raw: Any) -> str:
    plain = folded(str(raw)).replace("_", " ").replace("-", " ").replace("/", " ").split()
    short = "".join(word[0] for word in plain if word != "vs.")
    short = short if "v" in short or len(short) != 2 else f"{short[0]}v{short[1]}"
    if short not in _MODES or not set(plain) <= {"human", "model", "vs", "vs.", "v"}:
        raise Problem(
            f"{column}: expected human/human, human/model or model/model, found {found(raw)}"
        )
    return _MODES[short]
