"""A study: one YAML file that says which items are labelled, what is shown, what is asked, and who labels how much.

`checks.load` reads a file and checks it: `BadInput` with a line `file:line: where: what` for each mistake. Any
language; the words of options, anchors and help are the study's own. YAML reads `yes` and `no` without quotes as true
and false; here they are the words again."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from json import dumps as dumped
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field

from longmark.domain import Filled, Name, Text
from longmark.errors import UnknownName, UserError

TEMPLATES = (
    "score",
    "comprehensiveness",
    "climaqa",
    "calf",
    "pairs",
    "rating",
    "support",
    "nuggets",
)  # of `annotate init`

SIDES = ("a", "b")
TIE = "tie"
VERDICTS = ("accept", "edit", "reject")  # of an edit
JUSTIFICATION = "justification"  # the name under which an adjudication's is asked for

RESERVED_KEYS = frozenset(
    "jk?."
)  # of every page: the next field, the one before, help, the next source

_FOLDER = Path(__file__).parent / "studies"


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _key(value: str) -> str:
    if len(value) != 1 or not value.isprintable() or value.isspace():
        raise ValueError("is one character, such as y or 1")
    return value.lower()


def _as_option(value: Any) -> Any:
    return value if isinstance(value, (dict, ChoiceOption)) else {"value": value}


def _as_dimension(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _as_list(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else [value]


Value = Annotated[Text, BeforeValidator(_as_text)]
Key = Annotated[str, BeforeValidator(_as_text), AfterValidator(_key)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class ChoiceOption(_Part):
    """A value to choose. label: as shown (default: the value); guidance: when to choose it; key: on the keyboard."""

    value: Value
    label: str = ""
    guidance: str = ""
    key: Key | None = None

    @property
    def shown(self) -> str:
        return self.label or self.value


Options = Annotated[tuple[Annotated[ChoiceOption, BeforeValidator(_as_option)], ...], Filled]


class FieldDimension(_Part):
    """A name that a field is asked for, of several. label: as shown; help: what it means."""

    name: Name
    label: str = ""
    help: str = ""


class When(_Part):
    """Ask only if an earlier field, or a column of the item, has one of these values; without values, only of items
    that have the column."""

    field: str | None = None
    item: str | None = None
    is_: Annotated[tuple[Value, ...], BeforeValidator(_as_list), Field(alias="is")] = ()


class _Asked(_Part):
    """What every field has. group: the label of the field with `dimensions` that this one comes from."""

    name: Name
    label: str = ""
    help: str = ""
    required: bool = True
    when: When | None = None
    dimensions: tuple[Annotated[FieldDimension, BeforeValidator(_as_dimension)], ...] = ()
    group: Annotated[str | None, Field(exclude=True)] = None

    @property
    def shown(self) -> str:
        """The label, or the name in words."""
        return self.label or self.name.replace("_", " ").capitalize()


class Choice(_Asked):
    """One of the options. ordered: they are from the lowest to the highest."""

    type: Literal["choice"] = "choice"
    options: Options
    ordered: bool = False

    @property
    def possible(self) -> list[str]:
        """The values that a rater can choose."""
        return [option.value for option in self.options]


class Scale(_Asked):
    """Whole numbers. anchors: what some of them mean."""

    type: Literal["scale"] = "scale"
    min: int = 1
    max: int
    anchors: Mapping[int, str] = {}


class FreeText(_Asked):
    """max: characters."""

    type: Literal["text"] = "text"
    required: bool = False
    multiline: bool = True
    max: Annotated[int, Field(ge=1, le=100_000)] = 10_000


class Spans(_Asked):
    """Parts of a shown text with a tag each. over: that text; sentence_share: of a sentence's characters, above which
    marks make it a marked sentence (`marked.sentence_marks`)."""

    type: Literal["spans"] = "spans"
    required: bool = False
    tags: Options
    over: str = "answer"
    sentence_share: Annotated[float, Field(ge=0, lt=1)] = 0.0


class Cloze(_Asked):
    """One word of a shown text, or that no word is possible."""

    type: Literal["cloze"] = "cloze"
    over: str = "statement"


class Matrix(_Asked):
    """Points in rows, answers in columns, a value in each cell. rows: a shown list, these points, or points that the
    rater types; columns: `answers` (both of a pair, or the one answer), or names."""

    type: Literal["matrix"] = "matrix"
    rows: str | Annotated[tuple[Text, ...], Filled] = "key_points"
    columns: Literal["answers"] | Annotated[tuple[Name, ...], Filled] = "answers"
    values: Options = tuple(
        ChoiceOption(value=value) for value in ("absent", "totally", "partially", "wrong")
    )

    @property
    def typed(self) -> bool:
        return self.rows == "typed"


class Compare(_Asked):
    """Which of the two answers is better. tie: whether they may be equal."""

    type: Literal["compare"] = "compare"
    tie: bool = True
    keys: Annotated[tuple[Key, ...], Field(max_length=3)] = ()

    @property
    def possible(self) -> list[str]:
        return [*SIDES, *([TIE] if self.tie else [])]


class Errors(_Asked):
    """Any number of options, or `none` alone; no such option if it is null."""

    type: Literal["errors"] = "errors"
    options: Options
    none: Value | None = "NONE"

    @property
    def possible(self) -> list[str]:
        return [*(option.value for option in self.options), *([self.none] if self.none else [])]


class Edit(_Asked):
    """A shown text that the rater accepts, edits or rejects. reasons: to reject it; none: any text."""

    type: Literal["edit"] = "edit"
    over: str
    reasons: tuple[Annotated[ChoiceOption, BeforeValidator(_as_option)], ...] = ()
    possible: ClassVar = [*VERDICTS]


AskedField = Annotated[
    Choice | Scale | FreeText | Spans | Cloze | Matrix | Compare | Errors | Edit,
    Discriminator("type"),
]
TYPES = ("choice", "scale", "text", "spans", "cloze", "matrix", "compare", "errors", "edit")


class ItemSource(_Part):
    """from    file: examples; run: run folders; pairs: a file or runs of pairs; benchmark: a benchmark,
            without dropped items; citations: those of the answers of run folders, or of a file of examples; jsonl: any
            records, one an item
    path    the file, or run folders; relative to the study's file
    sample  that many items, drawn with the seed
    map     our name -> column
    where   column -> the values that a record must have; null: no value
    drawn   the file of `longmark label next`: only the answers that it drew, each with its inclusion probability
    nuggets a file with the nuggets of each question, as the metric `nuggets` reads it; in place of those of the items
    """

    from_: Annotated[
        Literal["file", "run", "pairs", "benchmark", "citations", "jsonl"], Field(alias="from")
    ]
    path: Annotated[tuple[Text, ...], Filled, BeforeValidator(_as_list)]
    sample: Annotated[int, Field(ge=1)] | None = None
    seed: int = 0
    map: Mapping[str, Text] = {}
    where: Mapping[str, Annotated[tuple[Value, ...], Filled, BeforeValidator(_as_list)] | None] = {}
    drawn: Text | None = None
    nuggets: Text | None = None


class Qualification(_Part):
    """Items with known answers (column `gold`) that a person does first. Those of a training are shown after each item.

    items: of each attempt (default: all of the file); needed: share of known answers given; attempts: each has new
    items.
    """

    path: Text
    items: Annotated[int, Field(ge=1)] | None = None
    needed: Annotated[float, Field(gt=0, le=1, alias="pass")] = 0.8
    attempts: Annotated[int, Field(ge=1, le=10)] = 1


class Attention(_Part):
    """Items with known answers, one after every so many others."""

    path: Text
    every: Annotated[int, Field(ge=2)] = 10


class AdjudicationRule(_Part):
    """A third person decides on items on which people differ. fields: that are compared (default: choice, compare and
    errors); justification: is asked for."""

    when: Literal["disagreement"] = "disagreement"
    by: Literal["third"] = "third"
    justification: bool = True
    fields: tuple[Name, ...] = ()


class AssignmentPlan(_Part):
    """Who labels what.

    overlap     people an item
    quota       items a person, at most
    slack       items above the quota, of those that nobody else can label
    blocks      a column: a person finishes the items with one value before the next
    order       random: another one for each person; file: as in the file; priority: by the file `priorities`
    priorities  JSON Lines with `item` and `priority` (highest first), read again while the study runs
    release     hours after which an item that was given and not finished is given to another person too
    """

    overlap: Annotated[int, Field(ge=1, le=1000)] = 1
    quota: Annotated[int, Field(ge=1)] | None = None
    slack: Annotated[int, Field(ge=0)] = 0
    blocks: str | None = None
    order: Literal["random", "file", "priority"] = "random"
    priorities: Text | None = None
    release: Annotated[float, Field(gt=0)] | None = None
    seed: int = 0
    training: Qualification | None = None
    qualification: Qualification | None = None
    attention: Attention | None = None
    adjudication: AdjudicationRule | None = None


class Blind(_Part):
    """systems: whether raters see their names; sides: which answer of a pair comes first."""

    systems: Literal["hidden", "shown"] = "hidden"
    sides: Literal["balanced", "as_given"] = "balanced"


class Study(_Part):
    """A study, as `load` checked it. markup: how the texts of items are shown; guidelines: Markdown, read before the
    first item; consent: Markdown, to be agreed to before anything else; differences: whether words are marked in which the
    answers of a pair differ; suggestions: field -> column with what is filled in before the rater sees the item (recorded
    as shown); time: whether visible seconds are kept."""

    title: Text
    language: Text | None = None
    markup: Literal["markdown", "plain"] = "markdown"
    guidelines: str = ""
    consent: str = ""
    items: ItemSource
    show: Annotated[tuple[Text, ...], Filled]
    fields: Annotated[tuple[AskedField, ...], Filled]
    assignment: AssignmentPlan = AssignmentPlan()
    blind: Blind = Blind()
    differences: Literal["none", "marked"] = "none"
    suggestions: Annotated[
        Mapping[str, Text],
        BeforeValidator(lambda suggested: {} if suggested in (None, "none") else suggested),
    ] = {}
    time: Literal["visible", "none"] = "visible"

    @cached_property
    def asked(self) -> tuple[AskedField, ...]:
        """The fields, one with dimensions as one for each of them."""
        return tuple(single for field in self.fields for single in spread(field))

    @cached_property
    def hash(self) -> str:
        """SHA-256 (16 hex digits) of the content."""
        return hashlib.sha256(self.model_dump_json(by_alias=True).encode()).hexdigest()[:16]

    def field(self, name: str) -> AskedField:
        return next(field for field in self.asked if field.name == name)

    @property
    def pairs(self) -> bool:
        return self.items.from_ == "pairs"

    @cached_property
    def compared(self) -> tuple[str, ...]:
        """The fields whose labels must agree, or the item is adjudicated."""
        chosen_names = self.assignment.adjudication.fields if self.assignment.adjudication else ()
        return chosen_names or tuple(
            field.name for field in self.asked if field.type in ("choice", "compare", "errors")
        )

    def applies(
        self, field: AskedField, values: Mapping[str, Any], columns: Mapping[str, Any]
    ) -> bool:
        """Whether a field is asked, given the values so far and the columns of the item."""
        if field.when is None:
            return True
        when = field.when
        if when.item is not None:
            return str(columns.get(when.item)) in when.is_ if when.is_ else when.item in columns
        return bool(set(_words(values.get(when.field or ""))) & set(when.is_))


def spread(field: AskedField) -> Iterator[AskedField]:
    """The field, or one for each of its dimensions."""
    if not field.dimensions:
        yield field
    for dimension in field.dimensions:
        update = {
            "name": dimension.name,
            "label": dimension.label,
            "help": dimension.help,
            "dimensions": (),
            "group": field.shown,
        }
        yield field.model_copy(update=update)


def _words(value: Any) -> list[str]:
    """What a condition compares: the value, those of a list, or the verdict of an edit."""
    if isinstance(value, Mapping):
        return [str(value.get("verdict"))]
    return (
        [str(element) for element in value]
        if isinstance(value, (list, tuple))
        else []
        if value is None
        else [str(value)]
    )


# Files ----------------------------------------------------------------------------------------------------------------
def template(name: str) -> str:
    """The YAML of a study of TEMPLATES. UnknownName for another name."""
    if name not in TEMPLATES:
        raise UnknownName("template", name, TEMPLATES, f"The templates are {', '.join(TEMPLATES)}.")
    return (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


def template_for(name: str, sources: Sequence[Path], path: Path, drawn: Path | None = None) -> str:
    """The YAML of a template whose items are those of runs (or of a benchmark, for climaqa), for a file at `path`.
    drawn: the file of `longmark label next`. UserError for a template that reads neither."""
    text = template(name)
    kinds = {
        "score": "run",
        "rating": "run",
        "calf": "pairs",
        "pairs": "pairs",
        "support": "citations",
        "nuggets": "run",
    }
    kind = kinds.get(name, "")
    is_run = any((source / "rows.jsonl").is_file() for source in sources)
    if name == "climaqa" and not is_run:
        kind = "benchmark"
    if not kind:
        command = {
            "climaqa": "questions with a form. Make a benchmark: longmark benchmark generate, then give its folder",
            "comprehensiveness": "lists of statements. Make them: longmark comprehensiveness-study RUN --annotate 50 "
            "--generator MODEL --out DIR, then run init in DIR without a run",
        }[name]
        raise UserError(f"the template {name} does not take a run; it needs {command}")
    paths = ", ".join(dumped(os.path.relpath(source, path.parent)) for source in sources)
    condition = (
        "\n  where: {variant_of: null}  # answers to the original questions only"
        if name == "score"
        else ""
    )
    draw = f"\n  drawn: {dumped(os.path.relpath(drawn, path.parent))}" if drawn else ""
    items = f"items:\n  from: {kind}\n  path: [{paths}]{condition}{draw}\n"
    return re.sub(r"^items:.*\n(?:[ \t]+.*\n)*", lambda _: items, text, count=1, flags=re.MULTILINE)
