"""Reads a recipe: every mistake is named with its line, and the nearest right name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from longmark.contrib.papers.recipe.schema import (
    ColumnOf,
    FigureOf,
    Mistake,
    Place,
    Recipe,
    RecipeFile,
    SectionOf,
    SourceOf,
    Step,
    TableOf,
    Vocabulary,
    fields_in,
    references,
)
from longmark.errors import UnknownName
from longmark.records import yaml_file

_VERBS_READ = {"scores": ("run",), "table": ("compare", "metaeval")}  # by readers of steps


def load(
    path: Path,
    readers: Mapping[str, Vocabulary],
) -> Recipe:
    """A recipe. readers: name -> what its tables can name. UserError if the file cannot be read; BadInput, with a line
    `file:line: where: what` for each mistake."""
    file = yaml_file.load(path, "RECIPE", written=("steps",))
    content = file.table("a recipe: a table with `study`, `title` and `sections`")
    recipe = Recipe(file, file.checked(RecipeFile, content))
    recipe.check(list(RecipeCheck(recipe.parts, readers).mistakes()))
    return recipe


def unknown(
    kind: str,
    name: str,
    choices: Sequence[str],
    hint: str,
) -> str:
    """The message of a name that does not exist, with the nearest ones that do."""
    return str(UnknownName(kind, name, choices, hint))


def misplaced_total(
    table: TableOf,
    place: Place,
    heads: Collection[str],
) -> Iterator[Mistake]:
    """A `total` over what is compared, which has none. heads: the fields of what is compared, such as systems."""
    if table.total and table.rows and table.rows[-1] in heads:
        message = (
            f"is a row over all values of the last of `rows`, which has to be a field of the answers, not "
            f"{table.rows[-1]}; put one there, or leave `total` out"
        )
        yield (*place, "total"), message


def unknown_fields(
    table: TableOf,
    place: Place,
    choices: Sequence[str],
) -> Iterator[Mistake]:
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


def _unknown(
    kind: str,
    name: str,
    choices: Sequence[str],
    plural: str = "",
) -> str:
    if not choices:
        return unknown(kind, name, choices, "There is none.")
    listed = ", ".join(choices)
    return unknown(kind, name, choices, f"The {plural or kind + 's'} are {listed}.")


@dataclass(frozen=True)
class RecipeCheck:
    """What is wrong in a recipe whose parts have their forms. readers: name -> what its tables can name."""

    recipe: RecipeFile
    readers: Mapping[str, Vocabulary]

    def mistakes(self) -> Iterator[Mistake]:
        yield from self._steps()
        yield from self._sources()
        titles: set[str] = set()
        for number, section in enumerate(self.recipe.sections):
            place: Place = ("sections", number)
            if section.title and section.title in titles:
                yield (*place, "title"), f"{section.title} is the title of an earlier section"
            titles.add(section.title or "")
            yield from self._section(section, place)
        yield from self._names()

    def _names(self) -> Iterator[Mistake]:
        """Names of tables that two have, or that a figure names and none has."""
        names: list[str] = []
        for number, section in enumerate(self.recipe.sections):
            for position, table in enumerate(section.tables):
                place: Place = ("sections", number, "tables", position)
                if table.name in names:
                    yield (*place, "name"), f"{table.name} is the name of an earlier table"
                elif table.name:
                    names.append(table.name)
        for number, section in enumerate(self.recipe.sections):
            for position, figure in enumerate(section.figures):
                place = ("sections", number, "figures", position)
                if figure.forest and figure.forest not in names:
                    yield (*place, "forest"), _unknown("table", figure.forest, names)

    # Steps and sources ------------------------------------------------------------------------------------------------

    def _steps(self) -> Iterator[Mistake]:
        readable = list(self.recipe.inputs)
        folders = {"tables", "figures"}
        for name, step in self.recipe.steps.items():
            place: Place = ("steps", name)
            if name in self.recipe.inputs:
                yield place, f"{name} is also the name of an input; rename one of them"
            kind = "input or earlier step"
            yield from self._of(step, place, readable, kind, "inputs and earlier steps")
            if message := self._unreadable(step):
                yield (*place, "of"), message
            folder = step.folder or name
            if folder in folders:
                yield (*place, "folder"), f"the folder {folder} is taken; choose another"
            folders.add(folder)
            yield from self._options(step, place)
            readable.append(name)

    def _of(
        self, part: Step | SourceOf, place: Place, readable: Sequence[str], kind: str, plural: str
    ) -> Iterator[Mistake]:
        """What a step or a source reads and nothing gives."""
        for position, reference_name in enumerate(part.of):
            if reference_name not in readable:
                yield (*place, "of", position), _unknown(kind, reference_name, readable, plural)

    def _unreadable(self, step: Step) -> str | None:
        """Why the verb of a step cannot read what `of` names, by their number. An input can be several paths."""
        inputs = [self.recipe.inputs[name] for name in step.of if name in self.recipe.inputs]
        several = any(spec.kind == "paths" for spec in inputs)
        if not step.of:
            return "is missing: name an input or an earlier step"
        if step.verb == "run" and len(step.of) > 1:
            return f"`run` reads one file, and {len(step.of)} are named"
        if step.verb == "metaeval" and len(step.of) < 2 and not several:
            return "`metaeval` reads scores, and then the file of the labels: name both"
        return None

    def _options(
        self,
        step: Step,
        place: Place,
    ) -> Iterator[Mistake]:
        inputs = list(self.recipe.inputs)
        for option, value in step.options.items():
            for reference_name in references(value):
                if reference_name not in inputs:
                    message = _unknown("input", reference_name, inputs)
                    yield (*place, "options", option), message

    def _sources(self) -> Iterator[Mistake]:
        readable = [*self.recipe.inputs, *self.recipe.steps]
        for name, source in self.recipe.sources.items():
            place: Place = ("sources", name)
            if source.reader not in self.readers:
                message = _unknown("reader", source.reader, list(self.readers))
                yield (*place, "reader"), message
            yield from self._of(source, place, readable, "input or step", "inputs and steps")
            yield from self._steps_read(source, place)
            if (source.reader == "table") != (source.table is not None):
                message = "`table` names the table of a step, for the reader `table` and no other"
                yield place, message

    def _steps_read(
        self,
        source: SourceOf,
        place: Place,
    ) -> Iterator[Mistake]:
        """The steps whose results the reader of a source cannot read."""
        verbs = _VERBS_READ.get(source.reader)
        for position, reference_name in enumerate(source.of):
            step = self.recipe.steps.get(reference_name)
            if step is not None and verbs is not None and step.verb not in verbs:
                yield (
                    (*place, "of", position),
                    f"the reader `{source.reader}` reads steps of {' or '.join(verbs)}, and {reference_name} is one of "
                    f"{step.verb}",
                )

    # Sections ---------------------------------------------------------------------------------------------------------

    def _section(
        self,
        section: SectionOf,
        place: Place,
    ) -> Iterator[Mistake]:
        if section.made is not None:
            yield from self._made_alone(section, "section", section.made, place)
            return
        if section.title is None:
            yield (*place, "title"), "is missing"
        if section.text is None and section.made_text is None:
            yield (*place, "text"), "is missing: say what the section shows"
        if section.made_text:
            yield from self._made("texts", section.made_text, (*place, "made_text"))
        if section.links:
            yield from self._made("links", section.links, (*place, "links"))
        if not (section.tables or section.links):
            yield (*place, "tables"), "is missing: a section has tables"
        yield from self._needs(section, place)
        for position, table in enumerate(section.tables):
            yield from self._table(table, (*place, "tables", position))
        for position, figure in enumerate(section.figures):
            yield from self._figure(figure, (*place, "figures", position))

    def _needs(
        self,
        section: SectionOf,
        place: Place,
    ) -> Iterator[Mistake]:
        for name, fields in section.needs.items():
            if name not in self.recipe.sources:
                yield (*place, "needs"), _unknown("source", name, list(self.recipe.sources))
                continue
            choices = self._vocabulary(name).fields
            if choices is None:
                continue
            for field in fields:
                if field not in choices:
                    yield (*place, "needs", name), _unknown("field", field, choices)

    def _figure(
        self,
        figure: FigureOf,
        place: Place,
    ) -> Iterator[Mistake]:
        if (figure.made is None) == (figure.forest is None):
            yield place, "a figure has either `forest` or `made`"
        if figure.made:
            yield from self._made("figures", figure.made, (*place, "made"))
        if figure.forest and not figure.label:
            yield (*place, "label"), "is missing: say what the figure shows"
        if figure.every and figure.column:
            yield (*place, "every"), "draws every column; leave `column` out"
        yield from self._lane(figure, place)
        for line in figure.reference:
            if isinstance(line, str):
                yield from self._made("references", line, (*place, "reference"))

    def _lane(
        self,
        figure: FigureOf,
        place: Place,
    ) -> Iterator[Mistake]:
        """Fields that the lanes of a figure name, and its table does not have as rows."""
        tables = (table for section in self.recipe.sections for table in section.tables)
        rows = [field for table in tables if table.name == figure.forest for field in table.rows]
        for field in fields_in(figure.lane):
            if field not in rows:
                yield (*place, "lane"), _unknown("field", field, rows)

    def _table(
        self,
        table: TableOf,
        place: Place,
    ) -> Iterator[Mistake]:
        if table.made is not None:
            yield from self._made_alone(table, "table", table.made, place)
            return
        required = {
            "name": table.name,
            "title": table.title,
            "from": table.source,
            "rows": table.rows,
            "columns": table.columns,
        }
        for key, contents in required.items():
            if not contents:
                yield (*place, key), "is missing"
        for field in table.headings:
            if field not in table.rows:
                yield (*place, "headings", field), _unknown("field", field, list(table.rows))
        if table.made_note:
            yield from self._made("texts", table.made_note, (*place, "made_note"))
        if table.source is None:
            return
        if table.source not in self.recipe.sources:
            yield (*place, "from"), _unknown("source", table.source, list(self.recipe.sources))
            return
        vocabulary = self._vocabulary(table.source)
        for number, column in enumerate(table.columns):
            yield from self._column(column, vocabulary, (*place, "columns", number))
        yield from self._headings(table, place)
        if vocabulary.fields is not None:
            yield from unknown_fields(table, place, vocabulary.fields)

    def _headings(
        self,
        table: TableOf,
        place: Place,
    ) -> Iterator[Mistake]:
        """Headings that two columns have, and fields that stand twice in `rows`."""
        headings = [table.headings.get(field, field) for field in table.rows]
        for number, column in enumerate(table.columns):
            if column.each:
                continue
            if column.name in headings:
                message = f"{column.name} is the heading of another column, too"
                yield (*place, "columns", number, "name"), message
            headings.append(column.name)
        for position, field in enumerate(table.rows):
            if field in table.rows[:position]:
                yield (*place, "rows"), f"{field} stands there twice"

    def _column(
        self,
        column: ColumnOf,
        vocabulary: Vocabulary,
        place: Place,
    ) -> Iterator[Mistake]:
        if not column.name and not column.each:
            yield (*place, "name"), "is missing: name the column"
        measures = list(vocabulary.measures)
        if measures and column.value not in measures:
            yield (*place, "value"), _unknown("measure", column.value, measures)
        for key, text in (("name", column.name), ("key", column.key)):
            if column.each and text and "{}" not in text:
                message = (
                    "`each` makes a column of every value: write {} where the value is to stand"
                )
                yield (*place, key), message
        if column.each and column.over:
            yield place, "a column has `each` or `over`, not both"

    # What a source makes ----------------------------------------------------------------------------------------------

    def _vocabulary(self, source: str) -> Vocabulary:
        reader = self.recipe.sources[source].reader
        return self.readers.get(reader, Vocabulary((), None, None))

    def _made_alone(
        self, part: SectionOf | TableOf, kind: str, source_part: str, place: Place
    ) -> Iterator[Mistake]:
        """A part that its source makes, and what it must not have beside it."""
        extra_keys = ", ".join(sorted(part.model_fields_set - {"made"}))
        if extra_keys:
            yield place, f"a {kind} that its source makes has only `made`; remove {extra_keys}"
        yield from self._made(f"{kind}s", source_part, (*place, "made"))

    def _made(
        self,
        kind: str,
        name: str,
        place: Place,
    ) -> Iterator[Mistake]:
        """Whether a source makes what a recipe takes from it: SOURCE.NAME."""
        source, dot, part = name.partition(".")
        if not dot or source not in self.recipe.sources:
            message = _unknown("source", source, list(self.recipe.sources))
            yield place, f"expected SOURCE.NAME: {message}"
            return
        makers = self._vocabulary(source).made or {}
        choices = list(makers.get(kind, ()))
        if part not in choices:
            yield place, _unknown(kind.removesuffix("s"), part, choices, kind)
