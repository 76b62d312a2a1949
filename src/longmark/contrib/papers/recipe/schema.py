"""The form of a recipe file.

A recipe has inputs (what the user names), steps (verbs with options), sources (what tables are made of) and sections
(texts, tables and figures). `docs/recipes.md` describes each key, `checks` reads one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    Strict,
)

from longmark.records import yaml_file
from longmark.records.values import found

Place = tuple[Any, ...]
"""A place in the file: keys and numbers from the outside in."""
Mistake = tuple[Place, str]

VERBS = ("run", "compare", "metaeval")
"""The verbs that a step can be. Only `run` asks models."""
RECIPES = Path(__file__).parents[1] / "recipes"
"""The recipes that come with longmark."""
_NAME = re.compile("[a-z][a-z0-9_-]*")
_FIELD = re.compile(r"\{([^{}]+)\}")
_REFERENCE = re.compile(r"\$([a-z][a-z0-9_-]*)")


def _named(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(
            f"{text}: a name consists of small letters, digits, _ and -, and begins with a letter"
        )
    return text


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return " ".join(text.split())


def _several(value: Any) -> Any:
    """One text stands for a list of it."""
    return [value] if isinstance(value, str) else value


def _condition(value: Any) -> Any:
    """The values that a field may have, as texts."""
    if isinstance(value, bool | int | float):
        return [str(value)]
    if isinstance(value, list):
        return [str(item) if isinstance(item, int | float) else item for item in value]
    return _several(value)


def _line(value: Any) -> float | str:
    """A line across a figure: a number, or SOURCE.NAME."""
    if isinstance(value, str):
        return _filled(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):
        raise ValueError(f"expected a number or SOURCE.NAME, found {found(value)}")
    return float(value)


Name = Annotated[str, Strict(), AfterValidator(_named)]
Line = Annotated[float | str, PlainValidator(_line)]
Text = Annotated[str, Strict(), AfterValidator(_filled)]
Names = Annotated[tuple[Text, ...], BeforeValidator(_several)]
Values = Annotated[tuple[Annotated[str, Strict()], ...], BeforeValidator(_condition)]


class RecipePart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Input(RecipePart):
    """What the user names on the command line, as NAME=VALUE."""

    help: Text = Field(description="what it is, for a message")
    kind: Literal["path", "paths", "text"] = Field(
        "path", description="a file or folder, several of them, or a text such as a model's name"
    )
    default: Annotated[str, Strict()] | None = Field(
        None, description="its value where it is not named; `none` for nothing (default: required)"
    )


class Step(RecipePart):
    """A verb with its options. It writes to a folder of its name in the study's folder."""

    verb: Literal["run", "compare", "metaeval"] = Field(description="the verb of longmark")
    of: Names = Field(
        description="what the verb reads, in its order: inputs, and steps before this one"
    )
    options: dict[Name, Any] = Field(
        {}, description="options of the verb, without the two dashes; $NAME is an input"
    )
    folder: Name | None = Field(None, description="the folder's name (default: the step's)")


class SourceOf(RecipePart):
    """What tables are made of."""

    reader: Text = Field(description="scores, table, or a reader of the papers' data")
    of: Names = Field(description="what it reads: steps and inputs")
    table: Text | None = Field(None, description="the table of the step, for the reader `table`")
    cluster: Text | None = Field(
        None, description="the field of dependent answers (default: the question)"
    )


class Condition(RecipePart):
    """The values that a field may have."""

    among: Values | None = None
    other_than: Values | None = None


def _where(value: Any) -> Any:
    """`VALUE` and `[VALUE, ...]` as conditions; `{not: VALUE}` excludes."""
    if isinstance(value, dict):
        if set(value) != {"not"}:
            raise ValueError(f"expected a value, a list, or {{not: VALUE}}, found {found(value)}")
        return {"other_than": value["not"]}
    if value is None:
        raise ValueError('expected a value; write "" for an empty field')
    return {"among": value}


Where = dict[Text, Annotated[Condition, BeforeValidator(_where)]]


class ColumnOf(RecipePart):
    """A column of a table, or with `each` one for every value of a field."""

    value: Text = Field(description="the measure of the source in its cells")
    name: Text = Field("", description="its heading; {} is the value of `each`")
    each: Names = Field((), description="fields; a column for each of their values")
    over: Text | None = Field(None, description="a field: the mean over the values of it")
    where: Where = Field({}, description="field -> the values of it that count")
    at_least: Annotated[int, Field(strict=True, ge=1)] = Field(
        1, description="values of `each`; with fewer there is none of these columns"
    )
    key: Text | None = Field(None, description="its name in files; {} is the value of `each`")
    optional: Annotated[bool, Strict()] = Field(
        False, description="whether it is left out where no row has a value"
    )
    places: Annotated[int, Field(strict=True, ge=0, le=9)] | None = Field(
        None, description="decimals (default: those of the measure)"
    )
    show: Literal["interval", "value"] | None = Field(
        None,
        description="what pages and terminals show of an estimate; files have all of it (default: the interval, or the "
        "value where `each` makes more than four columns)",
    )
    spare: Annotated[int, Field(strict=True, ge=0, le=9)] = Field(
        0, description="left out in a narrow terminal, the greatest first"
    )


class TableOf(RecipePart):
    """A table: a grid of a source, or a table that the source makes itself (`made`)."""

    made: Text | None = Field(None, description="SOURCE.TABLE, which the source makes itself")
    name: Name | None = Field(None, description="the name of its files")
    title: Text | None = Field(None, description="its heading")
    source: Text | None = Field(None, description="the source of its figures", alias="from")
    rows: Names = Field((), description="fields; a row for each combination of their values")
    headings: dict[Text, Text] = Field(
        {}, description="field of `rows` -> its heading (default: the field; files keep that)"
    )
    total: Text | None = Field(None, description="the name of a row over all values of the field")
    total_first: Annotated[bool, Strict()] = Field(
        False, description="whether that row stands before the others"
    )
    columns: tuple[ColumnOf, ...] = Field((), description="its columns")
    where: Where = Field({}, description="field -> the values of it that count")
    needs: dict[Text, Annotated[int, Field(strict=True, ge=1)]] = Field(
        {}, description="field -> the least number of values; with fewer there is no table"
    )
    bold: Annotated[bool, Strict()] = Field(
        False, description="whether the best of a column is in bold"
    )
    note: Text = Field("", description="how to read it")
    made_note: Text | None = Field(
        None, description="SOURCE.TEXT: what the source says of the data, behind the note"
    )
    note_of_many: Text = Field(
        "", description="the same, where `each` has more than four values and shows no intervals"
    )
    unit: Annotated[str, Strict()] = Field("n", description="what n counts")


class FigureOf(RecipePart):
    """A figure: a forest plot of a table's column, or a figure that the source makes itself (`made`)."""

    made: Text | None = Field(None, description="SOURCE.FIGURE, which the source makes itself")
    forest: Name | None = Field(None, description="the table whose estimates are drawn")
    column: Text = Field("", description="the column (default: the first)")
    every: Annotated[bool, Strict()] = Field(
        False, description="whether each column is drawn; {} in the label is its heading"
    )
    optional: Annotated[bool, Strict()] = Field(
        False, description="whether it is left out where the table has no such column"
    )
    label: Text = Field("", description="what is drawn")
    lane: Text = Field(
        "", description="what is beside each line; {FIELD} is a value of the row (default: all)"
    )
    reference: tuple[Line, ...] = Field((), description="lines across: numbers, or SOURCE.NAME")


class SectionOf(RecipePart):
    """A section of the page."""

    title: Text | None = Field(None, description="its heading")
    made: Text | None = Field(None, description="SOURCE.SECTION, which the source makes itself")
    text: Text | None = Field(None, description="what it shows, in a sentence or two")
    made_text: Text | None = Field(None, description="SOURCE.TEXT, which the source makes itself")
    tables: tuple[TableOf, ...] = Field((), description="its tables")
    figures: tuple[FigureOf, ...] = Field((), description="its figures")
    links: Text | None = Field(None, description="SOURCE.LINKS: pages that the source writes")
    note: Text = Field("", description="how to read it")
    needs: dict[Text, Names] = Field(
        {}, description="source -> fields of which one must have a value; else it is left out"
    )
    absent: Text | None = Field(
        None, description="what the page says where it is left out, or has nothing in its tables"
    )


class RecipeFile(RecipePart):
    study: Name = Field(description="what kind of study it is, in one word")
    title: Text = Field(description="the heading of the page")
    text: Text = Field("", description="the line below it")
    made_text: Text | None = Field(None, description="SOURCE.TEXT: the line below the heading")
    inputs: dict[Name, Input] = Field({}, description="what the user names: NAME=VALUE")
    steps: dict[Name, Step] = Field({}, description="verbs, in their order")
    sources: dict[Name, SourceOf] = Field({}, description="what tables are made of")
    sections: tuple[SectionOf, ...] = Field(min_length=1, description="the page")


@dataclass(frozen=True)
class Recipe:
    """A recipe that was read. folder: of the file, from which its own paths are seen."""

    file: yaml_file.YamlFile
    parts: RecipeFile

    @property
    def path(self) -> Path:
        return self.file.path

    def check(self, mistakes: Iterator[Mistake] | Sequence[Mistake]) -> None:
        """BadInput, a line for each mistake, if there is one."""
        self.file.check(mistakes)

    def tables(self) -> Iterator[tuple[Place, TableOf]]:
        """Every table with its place."""
        for number, section in enumerate(self.parts.sections):
            for position, table in enumerate(section.tables):
                yield ("sections", number, "tables", position), table


@dataclass(frozen=True)
class Vocabulary:
    """What a reader's tables can name. measures: of its cells; fields: of rows, columns and conditions (None: they are
    known once the data are read); made: kind (`tables`, `figures`, `texts`, `links`, `references`) -> names."""

    measures: Sequence[str]
    fields: Sequence[str] | None = None
    made: Mapping[str, Sequence[str]] | None = None


def reference(value: Any) -> str | None:
    """The input that an option, or one item of it, names as $NAME; None for another value."""
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return match[1] if match else None


def fields_in(lane: str) -> list[str]:
    """The fields that the text beside a line of a figure names as {FIELD}."""
    return _FIELD.findall(lane)


def references(value: Any) -> list[str]:
    """The inputs that an option names."""
    items = value if isinstance(value, list) else [value]
    return [name for item in items if (name := reference(item)) is not None]
