"""The forms that files of labels have: which columns they need, where labelling tools write them, and what a caller may
ask of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longmark.options import on_command_line
from longmark.records import paths
from longmark.scores.answer_parts import CITATION, NAMED_UNITS, SENTENCE_END, SENTENCE_START
from longmark.scores.answer_texts import A_SHA256, ANSWER_SHA256, B_SHA256
from longmark.scores.label_scales import LABEL_SCALE

GROUPS = ("group", "mode", "subject")
"""Columns by which the figures are broken down if nothing else is asked for."""


VALUES = ("value", "choice")
"""Columns of which a file of labels has one."""

FINAL = "final"
"""The rater of a label that was decided, or agreed on by all. For `metaeval` the label is named NAME.final."""


@dataclass(frozen=True, slots=True)
class LabelForm:
    """How a file has its labels. columns: our field -> its column; needed: columns that it must have; filled: columns
    without an empty cell; name: of the labels of a file without a column `label`; known: field -> the values that it
    may have; read: the label in a cell of the value, in place of a number or a text (raises Problem); whole:
    `Observation.given` is the record."""

    columns: Mapping[str, str]
    needed: Collection[str] = ("example_id", "value")
    filled: Collection[str] = ()
    name: str = "rating"
    known: Mapping[str, Collection[str]] = field(default_factory=dict)
    read: Callable[[Any], str] | None = None
    whole: bool = False


@dataclass(frozen=True)
class LabelTool:
    """How a labelling tool writes labels (`label_tools`, `published_labels`).

    name      for messages
    source    what the declaration is pinned to
    keys      a record has all of them
    columns   our column -> path, with `[]` for a label each
    when      a path that is true of some record of the file, where the keys do not tell enough
    ignored   what is no label -> path to a list of it
    opens     a value is opened where it holds one other (`label_answers.labelled`)
    refusal   why files of this kind hold no labels, and what to do
    record    path to the record in another form, of which the columns are read
    doubtful  path to a list of answers that are read and may be no labels; doubt: why, and what to do
    """

    name: str
    source: str
    keys: tuple[str, ...]
    columns: Mapping[str, str]
    when: str = ""
    ignored: Mapping[str, str] = field(default_factory=dict)
    opens: bool = False
    doubtful: str = ""
    doubt: str = ""
    refusal: str = ""
    record: str = ""

    def has_keys(self, record: Mapping[str, Any]) -> bool:
        return all(key in record for key in self.keys)

    def fits(self, record: Mapping[str, Any]) -> bool:
        return self.has_keys(record) and (not self.when or bool(paths.reader(record)(self.when)))


PROBABILITY = "inclusion_probability"
"""Where a file has this column, `Observation.given` has it: a number in (0, 1], or None."""

RATING_COLUMNS = (
    "example_id",
    "system",
    "label",
    "value",
    "rater",
    PROBABILITY,
    ANSWER_SHA256,
    LABEL_SCALE,
    SENTENCE_START,
    SENTENCE_END,
    CITATION,
    *NAMED_UNITS,
)
RATINGS = LabelForm({name: name for name in RATING_COLUMNS})
SCORE_RATINGS = LabelForm(
    {
        "example_id": "item",
        "system": "system",
        "label": "dimension",
        "value": "label",
        "rater": "rater",
    }
)
CHOICE_COLUMNS = (
    "question_id",
    "a",
    "b",
    "choice",
    "label",
    "rater",
    A_SHA256,
    B_SHA256,
    LABEL_SCALE,
)
CHOICES = LabelForm(
    {name: name for name in CHOICE_COLUMNS}, needed=("a", "b", "choice"), name="preference"
)
FIELDS = tuple(dict.fromkeys((*RATINGS.columns, *CHOICES.columns)))

_KEY_POINT_COLUMNS = ("example_id", "label", "system", "value", "rater")
KEY_POINTS = LabelForm(
    {
        "example_id": "pair",
        "label": "key_point",
        "system": "answer",
        "value": "value",
        "rater": "rater",
    },
    needed=_KEY_POINT_COLUMNS,
    filled=_KEY_POINT_COLUMNS,
    known={
        "system": ("a", "b"),
        "value": ("totally", "partially", "wrong", "absent"),
    },
)
"""Whether an answer of a pair has a key point of the reference (CALF, appendix B.1): totally correct, partially
correct, totally wrong, or not in the answer."""


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """What a caller asks of the columns of a file. mapping: our field -> column; by: columns to break down by; raters:
    columns with the labels of one rater each; label_columns: columns with the values of one label each, None where the
    caller has no such option; filled: fields that every line must have; order: label -> its classes,
    None where the caller has no such option; leave_out: values that are read as missing, in any case; label_config: the
    labelling configuration of pairs of Label Studio, None: the one beside the file."""

    mapping: Mapping[str, str] | None = None
    by: Sequence[str] = ()
    raters: Sequence[str] = ()
    filled: Collection[str] = ()
    order: Mapping[str, Sequence[str]] | None = None
    leave_out: Sequence[str] = ()
    label_config: str | Path | None = None
    label_columns: Sequence[str] | None = None

    @property
    def values_left_out(self) -> Sequence[str]:
        return (self.leave_out,) if isinstance(self.leave_out, str) else self.leave_out


AS_IT_IS = ColumnOptions()


def order_for(order: Mapping[str, Sequence[str]], label: str) -> Sequence[str]:
    """The classes that `order` gives for a label; a final label has those of its raters' unless it has its own."""
    return order.get(label) or order.get(label.removesuffix(f".{FINAL}"), ())


def columns_listed(names: Iterable[object], of_file: str = "") -> str:
    """The columns of a file, for an error about one that it does not have."""
    listed = list(map(str, names))
    escape = " (%2C is a comma in one)" if any("," in name for name in listed) else ""
    return f"The columns{of_file} are {first_few(listed, 12)}{escape if on_command_line() else ''}."


def first_few(names: Iterable[object], most: int = 5) -> str:
    """Some names for a message, and how many more there are; in quotes where a comma in one would hide its end, which
    the command line takes as `%2C`."""
    listed = list(map(str, names))
    if any("," in name for name in listed[:most]):
        listed = [f'"{name}"' for name in listed]
    unlisted = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {unlisted:,} more" if unlisted > 0 else "")
