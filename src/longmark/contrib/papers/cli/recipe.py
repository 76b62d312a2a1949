"""The verb `longmark study`: carries out a recipe, a study as a YAML file of steps, sources and tables."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import add, add_verb, needs_stats
from longmark.contrib.papers.cli.study import add_session, run_study

if TYPE_CHECKING:
    from longmark.contrib.papers.recipe.page import Pages
    from longmark.contrib.papers.recipe.schema import Mistake, Place, Recipe, Step
    from longmark.contrib.papers.study import Made, PaperStudy, Stage, StudySession
    from longmark.engine.settings import RunOptions
    from longmark.models.trust import Reach, Trust
    from longmark.report.document import Document

_NONE = "none"


def add_to(verbs: Any) -> None:
    text = "Carry out a recipe: a study as a YAML file of steps, sources and tables."
    verb = add_verb(verbs, "study", study, text)
    add(verb, "recipe", "RECIPE", "the recipe, a YAML file", type=Path)
    values_given = (
        "the recipe's inputs: files, folders and texts; several paths are separated by commas"
    )
    add(verb, "given", "NAME=VALUE", values_given, nargs="*", action="store", default=None)
    out = "the study's folder; repeat the same command to resume it"
    add(verb, "--out", "STUDY", out, required=True)
    add_session(verb, ("STEP",))


def study(arguments: argparse.Namespace) -> int:
    needs_stats("study")
    from longmark.cli.trust import trusting
    from longmark.contrib.papers.recipe.checks import load
    from longmark.contrib.papers.recipe.readers import READERS

    recipe = load(arguments.recipe, READERS)
    plan = RecipePlan(recipe, values_of(recipe, arguments.given or ()), arguments.out)
    steps = plan.options(trusting(arguments))
    return run_study(arguments, partial(plan.study, steps))


def values_of(recipe: Recipe, values_given: Sequence[str]) -> dict[str, str | None]:
    """Input -> its value, None for one that was not given. UserError for one that the recipe does not have, and for a
    required one that is missing."""
    from longmark.cli.arguments import pairs
    from longmark.errors import UnknownName, UserError

    inputs = recipe.parts.inputs
    values_named = pairs(values_given, "NAME=VALUE")
    for name in values_named:
        if name not in inputs:
            hint = f"The inputs are {', '.join(inputs)}." if inputs else "It has no inputs."
            raise UnknownName(f"input of {recipe.path}", name, inputs, hint)
    missing = [
        name for name, spec in inputs.items() if name not in values_named and spec.default is None
    ]
    for name, value in values_named.items():
        parts = value.split(",") if inputs[name].kind == "paths" else [value]
        if inputs[name].kind != "text" and not all(map(str.strip, parts)):
            raise UserError(f"{name}={value}: a path is empty ({name}: {inputs[name].help})")
    if missing:
        listed = "".join(f"\n  {name}=…  {inputs[name].help}" for name in missing)
        raise UserError(f"{recipe.path} needs:{listed}")
    values = {name: values_named.get(name, spec.default) for name, spec in inputs.items()}
    return {
        name: None if value == _NONE and inputs[name].default is not None else value
        for name, value in values.items()
    }


@dataclass(frozen=True)
class RecipePlan:
    """A recipe with what the user gave. values: of the inputs; out: the study's folder."""

    recipe: Recipe
    values: Mapping[str, str | None]
    out: Path

    def paths(self) -> dict[str, list[Path]]:
        """The paths of each input, and the folder of each step; none for what was not given."""
        options_found: dict[str, list[Path]] = {}
        for name, spec in self.recipe.parts.inputs.items():
            value = self.values[name]
            if value is None or spec.kind == "text":
                options_found[name] = []
            else:
                texts = value.split(",") if spec.kind == "paths" else [value]
                options_found[name] = [Path(text.strip()) for text in texts]
        for name, step in self.steps.items():
            is_made = all(options_found[input_name] for input_name in step.of) and self._is_wanted(
                step
            )
            options_found[name] = [self.out / (step.folder or name)] if is_made else []
        return options_found

    @property
    def steps(self) -> Mapping[str, Step]:
        return self.recipe.parts.steps

    def _is_wanted(self, step: Step) -> bool:
        """Whether the inputs that its options name were given."""
        from longmark.contrib.papers.recipe.schema import references

        values_named = (name for value in step.options.values() for name in references(value))
        return all(self.values[name] is not None for name in values_named)

    def options(self, trust: Trust) -> dict[str, dict[str, Any]]:
        """The options of each step. BadInput for mistakes in them; Untrusted for what the recipe reaches out to, and
        the user does not trust it for. What the user gave as an input needs no trust."""
        from longmark.cli.project import Project, options_in
        from longmark.contrib.papers.recipe.schema import reference, references

        paths = self.paths()
        options_found = {}
        for name, step in self.steps.items():
            if not paths[name]:
                continue
            place = ("steps", name, "options")
            written = {}
            values_given = {}
            for key, value in step.options.items():
                if not references(value):
                    written[key] = value
                    continue
                items = value if isinstance(value, list) else [value]
                filled = [self.values.get(reference(item) or "", item) for item in items]
                written_items = [item for item in items if reference(item) is None]
                written |= {key: written_items} if written_items else {}
                values_given[key] = filled if isinstance(value, list) else filled[0]
            if wrong := [
                key
                for key in (*written, *values_given)
                if key in ("out", "examples", "rows", "human", "runs")
            ]:
                message = "is the study's to say: the folder is that of the step, and `of` names what it reads"
                self.recipe.check([((*place, key), message) for key in wrong])
            checked = options_in(self.recipe.file, place, step.verb, written)
            for reach in Project(self.recipe.path, {}, {}).reaches_of(place, step.verb, checked):
                _require(trust, self.recipe.path, reach)
            options_found[name] = checked | _given(step.verb, place, values_given, self.recipe)
        return options_found

    def study(
        self,
        options: Mapping[str, Mapping[str, Any]],
        session: StudySession,
    ) -> PaperStudy:
        """The study: a stage for each step, and the page."""
        from longmark.contrib.papers.study import PaperStudy

        plain = {
            name: {key: str(value) for key, value in spec.items()} for name, spec in options.items()
        }
        return PaperStudy(
            out=self.out,
            kind=self.recipe.parts.study,
            settings={"inputs": dict(self.values), "steps": plain},
            stages=[self._stage(name, options[name], session) for name in options],
            session=session,
            document=self.document,
            check=partial(self.check, options),
        )

    def check(
        self,
        options: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """What can be checked before a step runs: that what is read is there, and that examples which are to be scored
        have the fields that tables name. UserError, or BadInput with the lines of the recipe."""
        from longmark.contrib.papers.recipe.checks import misplaced_total, unknown, unknown_fields
        from longmark.contrib.papers.recipe.scores import HEADS
        from longmark.errors import UserError
        from longmark.scores.clusters import QUESTION

        paths = self.paths()
        for name in self.recipe.parts.inputs:
            for path in paths[name]:
                if not path.exists():
                    raise UserError(f"{name}={path}: there is no such file or folder")
        fields: dict[str, list[str]] = {}
        for name, source in self.recipe.parts.sources.items():
            scored = [
                step for step in source.of if step in options and self.steps[step].verb == "run"
            ]
            if source.reader == "scores" and scored == list(source.of):
                files = [(paths[self.steps[step].of[0]][0], options[step]) for step in scored]
                fields[name] = _fields(files)
        mistakes: list[Mistake] = []
        for place, table in self.recipe.tables():
            if table.source in fields:
                mistakes += unknown_fields(table, place, fields[table.source])
                mistakes += misplaced_total(table, place, HEADS)
        for name, names in fields.items():
            cluster = self.recipe.parts.sources[name].cluster
            choices = [QUESTION, *(field for field in names if field not in HEADS)]
            if cluster is not None and cluster not in choices:
                hint = f"The fields are {', '.join(choices)}."
                message = unknown("field", cluster, choices, hint)
                mistakes.append((("sources", name, "cluster"), message))
        self.recipe.check(mistakes)

    def pages(self) -> Pages:
        from longmark.contrib.papers.recipe.page import Pages
        from longmark.contrib.papers.recipe.readers import sources

        pages = Pages(self.recipe, sources(self.recipe, self.paths()))
        pages.check()
        return pages

    def document(
        self,
        stages: Mapping[str, Any],
    ) -> Document | None:
        from longmark.report.document import Document

        if not all(stages.get(name, {}).get("finished") for name in self._made()):
            return None
        pages = self.pages()
        recipe = self.recipe.parts
        return Document(
            kind=f"{recipe.study} study",
            title=recipe.title,
            lede=pages.text(recipe.text, recipe.made_text),
            sections=pages.sections(stages),
            notices=pages.notices(stages),
            settings={
                "recipe": self.recipe.path.name,
                **{name: value for name, value in self.values.items() if value is not None},
            },
        )

    def _made(self) -> list[str]:
        paths = self.paths()
        return [name for name in self.steps if paths[name]]

    def _stage(
        self,
        name: str,
        options: Mapping[str, Any],
        session: StudySession,
    ) -> Stage:
        step = self.steps[name]
        paths = self.paths()
        (folder,) = paths[name]
        read = [path for input_name in step.of for path in paths[input_name]]
        if step.verb == "run":
            return self._scoring(name, folder, read, options, session)
        from longmark.contrib.papers.study import Expected, Stage

        needs = {f"{number} {path.name}": path for number, path in enumerate(read, 1)}
        settings = {key: str(value) for key, value in options.items()}
        make = partial(_make, name, step.verb, read, folder, options)
        expected = Expected(0, 0, "makes no calls")
        return Stage(name, folder, make, expected, needs, settings)

    def _scoring(
        self,
        name: str,
        folder: Path,
        read: Sequence[Path],
        options: Mapping[str, Any],
        session: StudySession,
    ) -> Stage:
        from longmark.cli.arguments import split
        from longmark.cli.project import arguments_of
        from longmark.cli.run import run_options
        from longmark.contrib.papers.study import scoring_stage
        from longmark.engine.run import make_settings
        from longmark.errors import UserError

        if len(read) != 1:
            raise UserError(f"steps.{name}: `run` reads one file, and {len(read)} are named")
        arguments = argparse.Namespace(**{**vars(arguments_of("run")), **options})
        if not arguments.metrics:
            self.recipe.check([(("steps", name, "options"), "metrics: is missing")])
        run_options_given = run_options(arguments)
        run_options_given = replace(run_options_given, scoring=run_options_given.scoring or "text")
        assert session.registry is not None
        settings = make_settings(
            split(_texts(arguments.metrics)), session.registry, run_options_given
        )
        return scoring_stage(name, folder, read[0], settings, session, _reading(run_options_given))


def _reading(run_options_given: RunOptions) -> dict[str, Any]:
    """How the examples of a run are read."""
    names = ("limit", "mapping", "encoding", "skip_bad")
    return {name: value for name in names if (value := getattr(run_options_given, name))}


def _fields(
    files: Sequence[tuple[Path, Mapping[str, Any]]],
) -> list[str]:
    """The fields of a source of scores that are to be made of these files. files: each with the options of its run."""
    from longmark.cli.project import arguments_of
    from longmark.cli.run import run_options
    from longmark.contrib.papers.recipe.scores import HEADS
    from longmark.records.read import Reading
    from longmark.scores.clusters import fields_of

    names: set[str] = set()
    for path, options in files:
        arguments = argparse.Namespace(**{**vars(arguments_of("run")), **options})
        for example in Reading(path, **_reading(run_options(arguments))):
            names.update(fields_of(example))
    return [*HEADS, *sorted(names - {*HEADS})]


def _require(
    trust: Trust,
    path: Path,
    reach: Reach,
) -> None:
    """Untrusted where a recipe reaches out to something, and the user does not trust it for that."""
    from longmark.errors import Untrusted

    try:
        trust.require(path, reach)
    except Untrusted as error:
        page = str(error).partition("\nIf that is meant")[0]
        raise Untrusted(
            f"{page}\nIf that is meant, add --trust, or name it on the command line: as an input of the recipe ($NAME)"
        ) from None


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _given(
    verb: str, place: Place, values_given: Mapping[str, Any], recipe: Recipe
) -> dict[str, Any]:
    """The options that inputs give, read as on the command line: their paths are seen from the working folder."""
    from longmark.cli.project import options_in
    from longmark.records.yaml_file import YamlFile

    as_typed = YamlFile(Path(recipe.path.name), {}, recipe.file.root, ())
    return options_in(as_typed, place, verb, values_given)


async def _make(
    name: str, verb: str, read: Sequence[Path], folder: Path, options: Mapping[str, Any]
) -> Made:
    """Runs a verb that makes no calls. What it prints is its page's too; its errors are those of the study."""
    from longmark.cli.project import arguments_of
    from longmark.contrib.papers.study import Made
    from longmark.errors import UserError

    arguments = argparse.Namespace(**{**vars(arguments_of(verb)), **options, "out": folder})
    if verb == "metaeval":
        *rows, human = read
        vars(arguments).update(rows=rows, human=human)
    else:
        arguments.runs = list(read)
    called = arguments.verb
    if isinstance(called, str):
        module, _, function = called.partition(":")
        called = getattr(
            importlib.import_module(module if "." in module else f"longmark.cli.{module}"), function
        )
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        import asyncio

        try:
            code = await asyncio.to_thread(called, arguments)
        except UserError as error:
            raise UserError(f"steps.{name}: {error}") from error
    failed = f"{name}: longmark {verb} ended with exit code {code}" if code else ""
    return Made(lines=0, failed=failed)
