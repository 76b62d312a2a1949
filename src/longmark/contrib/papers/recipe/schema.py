"""The form of a recipe file, and how one is read: every mistake is named with its line, and the nearest right name.

A recipe has inputs (what the user names), steps (verbs with options), sources (what tables are made of) and sections
(texts, tables and figures). `docs/recipes.md` describes each key.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
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

from longmark.errors import UnknownName
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
    places: Annotated[int, Field(strict=True, ge=0, le=9)] | None = Field(
        None, description="decimals (default: those of the measure)"
    )
    show: Literal["interval", "value"] = Field(
        "interval", description="what pages and terminals show of an estimate; files have all of it"
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
    note_of_many: Text = Field(
        "", description="the same, where `each` has more than four values and shows no intervals"
    )
    unit: Annotated[str, Strict()] = Field("n", description="what n counts")


class FigureOf(RecipePart):
    """A figure: a forest plot of a table's column, or a figure that the source makes itself (`made`)."""

    made: Text | None = Field(None, description="SOURCE.FIGURE, which the source makes itself")
    forest: Name | None = Field(None, description="the table whose estimates are drawn")
    column: Text = Field("", description="the column (default: the first)")
    label: Text = Field("", description="what is drawn")
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
    absent: Text | None = Field(None, description="what the page says where it is left out")


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


def load(path: Path, readers: Mapping[str, Vocabulary]) -> Recipe:
    """A recipe. readers: name -> what its tables can name. UserError if the file cannot be read; BadInput, with a line
    `file:line: where: what` for each mistake."""
    file = yaml_file.load(path, "RECIPE")
    content = file.table("a recipe: a table with `study`, `title` and `sections`")
    recipe = Recipe(file, file.checked(RecipeFile, content))
    recipe.check(list(_mistakes(recipe.parts, readers)))
    return recipe


def reference(value: Any) -> str | None:
    """The input that an option, or one item of it, names as $NAME; None for another value."""
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return match[1] if match else None


def references(value: Any) -> list[str]:
    """The inputs that an option names."""
    items = value if isinstance(value, list) else [value]
    return [name for item in items if (name := reference(item)) is not None]


def unknown(kind: str, name: str, choices: Sequence[str], hint: str) -> str:
    """The message of a name that does not exist, with the nearest ones that do."""
    return str(UnknownName(kind, name, choices, hint))


def _unknown(kind: str, name: str, choices: Sequence[str], plural: str = "") -> str:
    listed = (
        f"The {plural or kind + 's'} are {', '.join(choices)}." if choices else "There is none."
    )
    return unknown(kind, name, choices, listed)


def _mistakes(recipe: RecipeFile, readers: Mapping[str, Vocabulary]) -> Iterator[Mistake]:
    yield from _steps(recipe)
    yield from _sources(recipe, readers)
    titles: dict[str, Place] = {}
    for number, section in enumerate(recipe.sections):
        place: Place = ("sections", number)
        if section.title and section.title in titles:
            yield (*place, "title"), f"{section.title} is the title of an earlier section"
        titles[section.title or ""] = place
        yield from _section(recipe, readers, section, place)
    names: dict[str, Place] = {}
    for number, section in enumerate(recipe.sections):
        for position, table in enumerate(section.tables):
            place = ("sections", number, "tables", position)
            if table.name in names:
                yield (*place, "name"), f"{table.name} is the name of an earlier table"
            if table.name:
                names[table.name] = place
    for number, section in enumerate(recipe.sections):
        for position, figure in enumerate(section.figures):
            place = ("sections", number, "figures", position)
            if figure.forest and figure.forest not in names:
                yield (*place, "forest"), _unknown("table", figure.forest, list(names))


def _steps(recipe: RecipeFile) -> Iterator[Mistake]:
    readable = list(recipe.inputs)
    folders: set[str] = set()
    for name, step in recipe.steps.items():
        place: Place = ("steps", name)
        if name in recipe.inputs:
            yield place, f"{name} is also the name of an input; rename one of them"
        for position, reference_name in enumerate(step.of):
            if reference_name not in readable:
                kind = "input or earlier step"
                yield (
                    (*place, "of", position),
                    _unknown(kind, reference_name, readable, "inputs and earlier steps"),
                )
        if message := _unreadable(recipe, step):
            yield (*place, "of"), message
        if (folder := step.folder or name) in folders or folder in ("tables", "figures"):
            yield (*place, "folder"), f"the folder {folder} is taken; choose another"
        folders.add(folder)
        for option, value in step.options.items():
            for reference_name in references(value):
                if reference_name not in recipe.inputs:
                    message = _unknown("input", reference_name, list(recipe.inputs))
                    yield (*place, "options", option), message
        readable.append(name)


def _unreadable(recipe: RecipeFile, step: Step) -> str | None:
    """Why the verb of a step cannot read what `of` names, by their number. An input can be several paths."""
    several = any(name in recipe.inputs and recipe.inputs[name].kind == "paths" for name in step.of)
    if not step.of:
        return "is missing: name an input or an earlier step"
    if step.verb == "run" and len(step.of) > 1:
        return f"`run` reads one file, and {len(step.of)} are named"
    if step.verb == "metaeval" and len(step.of) < 2 and not several:
        return "`metaeval` reads scores, and then the file of the labels: name both"
    return None


def _sources(recipe: RecipeFile, readers: Mapping[str, Vocabulary]) -> Iterator[Mistake]:
    readable = [*recipe.inputs, *recipe.steps]
    for name, source in recipe.sources.items():
        place: Place = ("sources", name)
        if source.reader not in readers:
            yield (*place, "reader"), _unknown("reader", source.reader, list(readers))
        for position, reference_name in enumerate(source.of):
            if reference_name not in readable:
                message = _unknown("input or step", reference_name, readable, "inputs and steps")
                yield (*place, "of", position), message
        for position, reference_name in enumerate(source.of):
            step = recipe.steps.get(reference_name)
            verbs = {"scores": ("run",), "table": ("compare", "metaeval")}.get(source.reader)
            if step is not None and verbs is not None and step.verb not in verbs:
                yield (
                    (*place, "of", position),
                    f"the reader `{source.reader}` reads steps of {' or '.join(verbs)}, and {reference_name} is one of "
                    f"{step.verb}",
                )
        if (source.reader == "table") != (source.table is not None):
            yield place, "`table` names the table of a step, for the reader `table` and no other"


def _section(
    recipe: RecipeFile, readers: Mapping[str, Vocabulary], section: SectionOf, place: Place
) -> Iterator[Mistake]:
    if section.made is not None:
        if section.model_fields_set - {"made"}:
            extra_keys = ", ".join(sorted(section.model_fields_set - {"made"}))
            yield place, f"a section that its source makes has only `made`; remove {extra_keys}"
        yield from _made(recipe, readers, "sections", section.made, (*place, "made"))
        return
    if section.title is None:
        yield (*place, "title"), "is missing"
    if section.text is None and section.made_text is None:
        yield (*place, "text"), "is missing: say what the section shows"
    if section.made_text:
        yield from _made(recipe, readers, "texts", section.made_text, (*place, "made_text"))
    if section.links:
        yield from _made(recipe, readers, "links", section.links, (*place, "links"))
    if not (section.tables or section.links):
        yield (*place, "tables"), "is missing: a section has tables"
    for name, fields in section.needs.items():
        if name not in recipe.sources:
            yield (*place, "needs"), _unknown("source", name, list(recipe.sources))
        else:
            choices = _vocabulary(recipe, readers, name).fields
            for field in fields:
                if choices is not None and field not in choices:
                    yield (*place, "needs", name), _unknown("field", field, choices)
    for position, table in enumerate(section.tables):
        yield from _table(recipe, readers, table, (*place, "tables", position))
    for position, figure in enumerate(section.figures):
        figure_place: Place = (*place, "figures", position)
        if (figure.made is None) == (figure.forest is None):
            yield figure_place, "a figure has either `forest` or `made`"
        if figure.made:
            yield from _made(recipe, readers, "figures", figure.made, (*figure_place, "made"))
        if figure.forest and not figure.label:
            yield (*figure_place, "label"), "is missing: say what the figure shows"
        for line in figure.reference:
            if isinstance(line, str):
                yield from _made(recipe, readers, "references", line, (*figure_place, "reference"))


def _vocabulary(recipe: RecipeFile, readers: Mapping[str, Vocabulary], source: str) -> Vocabulary:
    return readers.get(recipe.sources[source].reader, Vocabulary((), None, None))


def _made(
    recipe: RecipeFile, readers: Mapping[str, Vocabulary], kind: str, name: str, place: Place
) -> Iterator[Mistake]:
    """Whether a source makes what a recipe takes from it: SOURCE.NAME."""
    source, dot, part = name.partition(".")
    if not dot or source not in recipe.sources:
        choices = list(recipe.sources)
        yield place, f"expected SOURCE.NAME: {_unknown('source', source, choices)}"
        return
    makers = _vocabulary(recipe, readers, source).made or {}
    if part not in makers.get(kind, ()):
        yield place, _unknown(kind.removesuffix("s"), part, list(makers.get(kind, ())), kind)


def _table(
    recipe: RecipeFile, readers: Mapping[str, Vocabulary], table: TableOf, place: Place
) -> Iterator[Mistake]:
    if table.made is not None:
        if table.model_fields_set - {"made"}:
            extra_keys = ", ".join(sorted(table.model_fields_set - {"made"}))
            yield place, f"a table that its source makes has only `made`; remove {extra_keys}"
        yield from _made(recipe, readers, "tables", table.made, (*place, "made"))
        return
    for key, contents in (
        ("name", table.name),
        ("title", table.title),
        ("from", table.source),
        ("rows", table.rows),
        ("columns", table.columns),
    ):
        if not contents:
            yield (*place, key), "is missing"
    if table.source is None:
        return
    if table.source not in recipe.sources:
        yield (*place, "from"), _unknown("source", table.source, list(recipe.sources))
        return
    vocabulary = _vocabulary(recipe, readers, table.source)
    for number, column in enumerate(table.columns):
        column_place: Place = (*place, "columns", number)
        if not column.name and not column.each:
            yield (*column_place, "name"), "is missing: name the column"
        if vocabulary.measures and column.value not in vocabulary.measures:
            yield (
                (*column_place, "value"),
                _unknown("measure", column.value, list(vocabulary.measures)),
            )
        for key, text in (("name", column.name), ("key", column.key)):
            if column.each and text and "{}" not in text:
                message = (
                    "`each` makes a column of every value: write {} where the value is to stand"
                )
                yield (*column_place, key), message
        if column.each and column.over:
            yield column_place, "a column has `each` or `over`, not both"
    headings = list(table.rows)
    for number, column in enumerate(table.columns):
        if not column.each and column.name in headings:
            message = f"{column.name} is the heading of another column, too"
            yield (*place, "columns", number, "name"), message
        headings += [] if column.each else [column.name]
    for position, field in enumerate(table.rows):
        if field in table.rows[:position]:
            yield (*place, "rows"), f"{field} stands there twice"
    if vocabulary.fields is not None:
        yield from unknown_fields(table, place, vocabulary.fields)


def misplaced_total(table: TableOf, place: Place, heads: Collection[str]) -> Iterator[Mistake]:
    """A `total` over what is compared, which has none. heads: the fields of what is compared, such as systems."""
    if table.total and table.rows and table.rows[-1] in heads:
        message = (
            f"is a row over all values of the last of `rows`, which has to be a field of the answers, not "
            f"{table.rows[-1]}; put one there, or leave `total` out"
        )
        yield (*place, "total"), message


def unknown_fields(table: TableOf, place: Place, choices: Sequence[str]) -> Iterator[Mistake]:
    """The fields of a table that its source does not have."""
    fields_named: list[tuple[Place, str]] = [((*place, "rows"), field) for field in table.rows]
    fields_named += [((*place, "where", field), field) for field in table.where]
    fields_named += [((*place, "needs", field), field) for field in table.needs]
    for number, column in enumerate(table.columns):
        column_place: Place = (*place, "columns", number)
        fields_named += [((*column_place, "each"), field) for field in column.each]
        fields_named += [((*column_place, "over"), column.over)] if column.over else []
        fields_named += [((*column_place, "where", field), field) for field in column.where]
    for position, field in fields_named:
        if field not in choices:
            yield position, _unknown("field", field, list(choices))
