"""`longmark.yaml` as a project: runs by name, and a section for each verb that reads it.

    runs:
      nightly:
        examples: answers.jsonl
        metrics: [ccrs, answer-quality.yaml]
        judge: local
        fail_under: [ccrs.question_relevance mean >= 0.6]
    compare:
      runs: [baseline, nightly]
      margin: 0.05

The keys are the options of the verbs, and their values are read as on the command line: what the parser declares is all
that is declared. Paths are relative to the file. What it names beyond its own folder must be trusted (`models.trust`).
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
    create_model,
)

from longmark import plugins
from longmark.cli import parser
from longmark.cli.arguments import from_one, positive, share, whole
from longmark.cli.project_files import (
    CODE,
    MODEL_PARAMETERS,
    SETTINGS,
    files_in,
    moved,
    with_earlier_run,
)
from longmark.cli.project_lists import QUOTES, entries_of
from longmark.metric_sources import names
from longmark.models import config
from longmark.models.config import Entry, sections
from longmark.models.stores import is_url, shown
from longmark.models.trust import Reach, digests, of_name
from longmark.places import expanded, real
from longmark.records import yaml_file
from longmark.records.metric_name import parsed
from longmark.records.values import found, problems

SCHEMA = Path(__file__).with_name("longmark.schema.json")
"""The JSON schema of the file, as it is shipped; a test holds that it is the one of `schema`."""

_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
NAMED = {
    "EXAMPLES": "examples",
    "RUN": "out",
    "ROWS": "out",
}  # what the name of a run stands for in an argument
_ADDRESSES = ("HOST", "URL", "ADDRESS,…")  # where a server is reached
_KINDS: dict[Any, str] = {
    **dict.fromkeys((int, from_one, whole), "integer"),
    **dict.fromkeys((float, positive, share), "number"),
}

Option = argparse.Action
Place = tuple[str, ...]  # of a value in the file


@dataclass(frozen=True)
class Project:
    """A project file. sections: verb (`compare`, `annotate serve`) -> its options by name; runs: name -> the options of
    `longmark run`, with those of the section `run`."""

    path: Path
    sections: Mapping[str, Mapping[str, Any]]
    runs: Mapping[str, Mapping[str, Any]]

    def reaches(self) -> Iterator[Reach]:
        """All that the file reaches out to beside its models, each once."""
        declared: list[tuple[Place, str, Mapping[str, Any]]]
        declared = [(("runs", name), "run", options) for name, options in self.runs.items()]
        declared += [
            (tuple(verb.split()), verb, options) for verb, options in self.sections.items()
        ]
        seen = set()
        for place, verb, options in declared:
            for reach in self.reaches_of(place, verb, options):
                if reach.needs_trust and reach.hash not in seen:
                    seen.add(reach.hash)
                    yield reach

    def reaches_of(self, place: Place, verb: str, options: Mapping[str, Any]) -> Iterator[Reach]:
        """What these options of a verb reach out to. place: of the options in the file."""
        actions = {action.dest: action for action in options_of(_leaves()[verb])}
        folder = real(self.path.parent)  # a file that is a link itself counts where the link stands
        for key, value in options.items():
            for entry in value if isinstance(value, list) else [value]:
                key_path = ".".join((*place, key))
                # a word of the option, such as `hazards`, is no path
                is_path = isinstance(entry, Path) and not _is_word(actions[key], entry)
                if is_path and (outside := _outside(entry, folder)):
                    yield Reach(key_path, does=outside)
                elif key == "ray_insecure" or (key == "executor" and entry != "local"):
                    yield Reach(
                        key_path,
                        does=f"sends texts and code to the workers of --{key.replace('_', '-')} {entry}",
                    )
                elif key == "cache":
                    does = f"takes the replies in {entry} for those of the models"
                    if is_url(entry):
                        does = f"stores what models reply in {shown(entry)}, and takes the replies there for theirs"
                    yield Reach(key_path, does=does)
                elif actions[key].metavar in _ADDRESSES:
                    yield Reach(key_path, does=f"serves at {entry}")
                elif actions[key].metavar == "MODEL":
                    reach = of_name(entry)
                    yield Reach(**{**vars(reach), "name": f"{key_path}: {entry}"})
                elif verb in ("run", "decide") and key == "metrics":
                    yield from _reaches_of_metrics(key_path, entry, folder)
                if isinstance(entry, str):
                    for path in files_in(actions[key], entry):
                        if elsewhere := _outside(path, folder):
                            yield Reach(key_path, does=elsewhere)


def _is_word(action: Option, value: Any) -> bool:
    """Whether a value is one of the words that an option takes in place of a path."""
    return str(value) in str(action.metavar).split("|")


def _outside(path: Path, folder: Path) -> str:
    """What is said of a path that leads out of the folder of the file; "" for one that does not."""
    place = real(path)
    return (
        "" if place.is_relative_to(folder) else f"uses {place}, outside of the folder of the file"
    )


def _reaches_of_metrics(key_path: str, text: str, folder: Path) -> Iterator[Reach]:
    """The code that runs for metrics of a comma-separated list, the rubrics that lie elsewhere, and the models that the
    parameters load. folder: of the file."""
    for name in filter(None, map(str.strip, text.split(","))):
        base, params = (
            (name, {}) if Path(name).is_file() else parsed(name)
        )  # as `metrics.select` reads it
        kind = Path(base).suffix
        (top, dot, _rest) = base.partition(".")
        inside = any(
            f"{base}.".startswith(f"{name}.") or f"{name}.".startswith(f"{base}.")
            for name in names()
        )
        outside = base in plugins.installed("metrics") or (
            kind not in SETTINGS and dot and find_spec(top)
        )
        if kind == CODE or (outside and not inside):
            yield Reach(
                key_path, does=f"runs the Python code of {base}", files=digests([Path(base)])
            )
        for key in MODEL_PARAMETERS:
            if key in params:
                yield Reach(key_path, does=f"loads the model {params[key]}, which may contain code")


def load(path: Path) -> Project:
    """A project file. UserError if it cannot be read; BadInput, with a line `file:line: where: what` for each mistake
    in it."""
    config.load(path)
    source = yaml_file.load(path, "--config", written=())
    content = source.table("a table with `models` or `runs`")
    checked = source.checked(
        _model(), {key: value for key, value in content.items() if key != "models"}
    )
    file_content = checked.model_dump(by_alias=True, exclude_unset=True)
    runs = file_content.pop("runs", {})
    sections: dict[str, dict[str, Any]] = {}
    for verb, leaf in _leaves().items():
        first, *subverb = verb.split()
        options = file_content.get(first, {})
        if subverb:
            actions = {action.dest for action in options_of(leaf)}
            options = {
                key: option for key, option in options.items() if key in actions
            } | options.get(subverb[0], {})
        if options:
            sections[verb] = _settled(leaf, options, path.parent)
    for name, options in runs.items():
        settled = {"out": path.parent / "runs" / name} | sections.get("run", {})
        runs[name] = settled | _settled(
            _leaves()["run"],
            options,
            path.parent,
        )
    outs = {path.parent / name: options["out"] for name, options in runs.items()}
    for options in (*runs.values(), sections.get("run", {})):
        options |= {
            key: outs[options[key]] for key in ("base", "canary") if options.get(key) in outs
        }
    for verb, options in sections.items():
        for action in options_of(_leaves()[verb]):
            key = NAMED.get(str(action.metavar))
            value = options.get(action.dest)
            if key and not action.option_strings and value and verb != "run":
                run_folders = {
                    path.parent / name: options[key]
                    for name, options in runs.items()
                    if key in options
                }
                options[action.dest] = (
                    [run_folders.get(name, name) for name in value]
                    if isinstance(value, list)
                    else run_folders.get(value, value)
                )
        if "assertions" in options:
            checked_runs = {Path(run).name for run in options.get("runs", ())}
            move = partial(_earlier_run, outs, path.parent, checked_runs)
            options["assertions"] = [with_earlier_run(text, move) for text in options["assertions"]]
    return Project(path, sections, runs)


def _earlier_run(
    outs: Mapping[Path, Path], folder: Path, checked: Collection[str], name: str
) -> str:
    """RUN of an assertion `same as RUN`: a run of the file, one that is checked, by its name, or a path. outs: of the
    runs of the file, by name in the folder of the file."""
    named_run = outs.get(folder / name)
    if named_run is not None or name in checked:
        return str(named_run) if named_run is not None else name
    path = folder / expanded(name)
    return str(path) if path.exists() else name


def schema() -> dict[str, Any]:
    """The JSON schema of the file."""
    of_file = config.schema(_model())
    of_file["properties"]["runs"]["additionalProperties"] = (
        False  # no name but those of the pattern
    )
    return of_file


def options_in(
    source: yaml_file.YamlFile, place: Place, verb: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The options of a verb that another file gives at a place, read as this file's are: checked, with paths as they
    are seen from the working folder. BadInput, with a line for each mistake."""
    leaf = _leaves()[verb]
    kind = _kind(verb, options_of(leaf))
    try:
        checked_options = kind.model_validate(dict(options))
    except ValidationError as error:
        known_keys = [action.dest for action in options_of(leaf)]
        wrong = [
            ((*place, *key_path), problem) for key_path, problem in problems(error, known_keys)
        ]
        source.check(wrong)
        raise  # never: an error has problems
    values = checked_options.model_dump(by_alias=True, exclude_unset=True)
    return _settled(leaf, values, source.path.parent)


def arguments_of(verb: str) -> argparse.Namespace:
    """What a verb gets where nothing but its name stands on the command line, without what it must be given."""
    leaf = _leaves()[verb]
    namespace = argparse.Namespace(**leaf._defaults)
    for action in leaf._actions:  # the first of several with one name counts, as in argparse
        if action.default is not argparse.SUPPRESS and not hasattr(namespace, action.dest):
            setattr(namespace, action.dest, action.default)
    return namespace


@cache
def _leaves() -> dict[str, argparse.ArgumentParser]:
    """The verbs that read the file, with their parsers."""

    def below(command: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
        inner = [
            action for action in command._actions if isinstance(action, argparse._SubParsersAction)
        ]
        if not inner and command.get_default("project"):
            yield command
        for action in inner:
            for leaf in action.choices.values():
                yield from below(leaf)

    return {leaf.prog.partition(" ")[2]: leaf for leaf in below(parser())}


def options_of(leaf: argparse.ArgumentParser) -> list[Option]:
    """The arguments and options of a verb that a file can give."""

    def in_file(action: Option) -> bool:
        in_help = action.help is not argparse.SUPPRESS and action.dest not in ("help", "help_all")
        return bool(getattr(action, "in_file", in_help))  # a plug-in's option says nothing of it

    return [action for action in leaf._actions if in_file(action)]


@cache
def _model() -> type[BaseModel]:
    """The pydantic type of the file, made from the options of the verbs."""
    kinds: dict[str, Any] = {
        verb: _kind(verb, options_of(leaf)) for verb, leaf in _leaves().items()
    }
    for verb in {verb.split()[0] for verb in kinds if " " in verb}:
        actions = {
            name.split()[1]: kind for name, kind in kinds.items() if name.startswith(f"{verb} ")
        }
        read = [
            option
            for name in actions
            for option in options_of(_leaves()[f"{verb} {name}"])
            if not option.option_strings
        ]
        several = [
            dest for dest, count in Counter(option.dest for option in read).items() if count > 1
        ]
        shared = {option.dest: option for option in read if option.dest in several}
        parts: dict[str, Any] = {
            name: (kind, Field({}, description=f"longmark {verb} {name}"))
            for name, kind in actions.items()
        }
        kinds[verb] = _kind(
            verb,
            list(shared.values()),
            parts,
        )
    name = Annotated[
        str,
        PlainValidator(_run_name),
        WithJsonSchema(
            {
                "type": "string",
                "pattern": _NAME,
            }
        ),
    ]
    of_run = kinds["run"]
    runs: Any = dict[name, of_run]  # type: ignore[valid-type]
    fields: dict[str, Any] = {
        "models": (dict[str, Entry], Field({}, description="name -> model")),
        "runs": (runs, Field({}, description="name -> options of `longmark run NAME`")),
    }
    for verb in sections()[1:]:
        fields[verb] = (kinds[verb], Field({}, description=f"options of `longmark {verb}`"))
    return create_model("Project", __config__=ConfigDict(extra="forbid"), **fields)


def _kind(
    verb: str, options: Sequence[Option], parts: Mapping[str, Any] | None = None
) -> type[BaseModel]:
    """The pydantic type of a table of options."""
    fields: dict[str, Any] = dict(parts or {})
    for action in options:
        kind = Annotated[
            Any, PlainValidator(partial(_read, action)), WithJsonSchema(_shown(action))
        ]
        # a part of another option is in no list of the command line (`cli.merging`)
        text = (
            getattr(
                action,
                "said",
                action.help,
            )
            or ""
        ).replace("%%", "%")
        fields[f"{action.dest}_"] = (
            kind,
            Field(
                None,
                alias=action.dest,
                description=text,
            ),
        )
    return create_model(f"options of {verb}", __config__=ConfigDict(extra="forbid"), **fields)


def _run_name(value: Any) -> str:
    if value is None or isinstance(value, bool):
        raise ValueError(f"expected the name of a run, found {found(value)}{QUOTES}")
    if not re.fullmatch(_NAME, str(value)):
        raise ValueError(
            "the name of a run consists of letters, digits, ., _ and -, and begins with one of the first two"
        )
    return str(value)


def _is_switch(action: Option) -> bool:
    return action.nargs == 0


def is_list(action: Option) -> bool:
    return isinstance(action, argparse._AppendAction) or action.nargs in ("+", "*")


def _read(action: Option, value: Any) -> Any:
    """The value of an option as the command line would have it. ValueError for another."""
    if _is_switch(action):
        if not isinstance(value, bool):
            raise ValueError(f"expected true or false, found {found(value)}")
        return value
    if not is_list(action):
        return _one(action, value)
    return [_one(action, entry) for entry in entries_of(action, value)]


def _one(action: Option, value: Any) -> Any:
    if isinstance(value, bool) and action.metavar == "yes|no":
        return value
    if isinstance(value, yaml_file.Written) and action.type in _KINDS:
        value = value.value
    if isinstance(value, bool) or not isinstance(value, str | int | float | date):
        quotes = QUOTES if isinstance(value, bool) and not action.type else ""
        raise ValueError(f"expected {action.metavar or action.dest}, found {found(value)}{quotes}")
    read: Callable[[str], Any] = action.type if callable(action.type) else str
    try:
        converted = read(str(value))
    except argparse.ArgumentTypeError as error:
        raise ValueError(str(error)) from None
    except ValueError:
        kind = "a whole number" if _KINDS.get(read) == "integer" else "a number"
        raise ValueError(f"expected {kind}, found {found(value)}") from None
    if action.choices is not None and converted not in action.choices:
        raise ValueError(f"expected {' or '.join(map(str, action.choices))}, found {found(value)}")
    return converted


def _shown(action: Option) -> dict[str, Any]:
    """The JSON schema of an option's value."""
    if _is_switch(action) or action.metavar == "yes|no":
        return {"type": "boolean"}
    kind = _KINDS.get(action.type)
    form: dict[str, Any] = {"type": kind or ["string", "number"]}
    if action.choices is not None:
        form = {"enum": list(action.choices)}
    if not is_list(action):
        return form
    table = [{"type": "object"}] if "=" in str(action.metavar) else []
    return {
        "anyOf": [
            form,
            {
                "type": "array",
                "items": form,
            },
            *table,
        ]
    }


def _settled(
    leaf: argparse.ArgumentParser, options: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    """The options with paths as they are seen from the working folder. folder: of the file."""
    actions = {action.dest: action for action in options_of(leaf)}

    def settled(action: Option, value: Any) -> Any:
        if isinstance(value, list):
            return [settled(action, entry) for entry in value]
        if isinstance(value, Path):
            return value if _is_word(action, value) else folder / expanded(value)
        return moved(action, value, folder) if isinstance(value, str) else value

    return {key: settled(actions[key], value) for key, value in options.items()}
