"""What longmark.yaml gives to a command before its words are read (`cli.project`).

The file counts where a command names a run of it or leaves out what it reads, or with `--config`. An option of the
command goes before the file's. What is then used of the file must be trusted.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from longmark.cli.project import NAMED, Place, Project, is_list, load
from longmark.cli.trust import trusting
from longmark.errors import UnknownName, UserError
from longmark.models.config import FILE
from longmark.places import real


def prepare(leaf: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Gives a verb's parser the options that the file has for it, before it reads these words. UserError for a mistake
    in the file; Untrusted where the user has not trusted it for what these options reach out to."""
    options_given, read = _scanned(leaf, words)
    arguments = [action for action in leaf._actions if not action.option_strings]
    path = options_given.get("config") or Path(FILE)
    like_names = [word for word in read if Path(word).name == word and _may_be_a_run(word, path)]
    if not (like_names or "config" in options_given or len(read) < len(arguments)):
        return
    if "config" not in options_given and not path.is_file():
        return
    project = load(path)
    verb = leaf.prog.partition(" ")[2]
    stands_for = {action.dest: NAMED.get(str(action.metavar)) for action in arguments}
    runs_named = [word for word in like_names if word in project.runs and any(stands_for.values())]
    for word in like_names:
        _check_name(
            word,
            project,
            is_named=word in runs_named or not any(stands_for.values()),
        )
    if not (runs_named or "config" in options_given or len(read) < len(arguments)):
        return
    place: Place = tuple(verb.split())
    options = dict(project.sections.get(verb, {}))
    if "examples" in stands_for and runs_named:
        destinations = {action.dest for action in leaf._actions}
        options |= {
            key: value for key, value in project.runs[runs_named[0]].items() if key in destinations
        }
        place = ("runs", runs_named[0])
    elif verb == "run" and not read and "examples" not in options:
        raise UserError(
            f"name a run of {path} or a file: longmark run NAME ({', '.join(project.runs) or 'it has none'})"
        )
    used = {
        key: option
        for key, option in options.items()
        if key not in options_given and key not in stands_for
    }
    left = len(arguments) - len(read)
    for action in reversed(arguments):
        if left > 0 and action.dest in options:
            used[action.dest] = options[action.dest]
            left -= 1
            action.nargs = "*" if is_list(action) else "?"
    trust = trusting(argparse.Namespace(trust=options_given.get("trust", False)))
    reaches = list(project.reaches_of(place, verb, used))
    for action in arguments:
        if key := stands_for[action.dest]:
            values = {name: _needed(project, name, key) for name in runs_named}
            action.type = partial(_resolved, action.type, values)
            reaches += [
                reach
                for name in runs_named
                for reach in project.reaches_of(
                    ("runs", name),
                    "run",
                    {key: values[name]},
                )
            ]
    for reach in reaches:
        trust.require(path, reach)
    for action in leaf._actions:
        if action.dest in used and not isinstance(action, argparse._StoreFalseAction):
            action.default = used[action.dest]
            action.required = False


def _may_be_a_run(word: str, file: Path) -> bool:
    """Whether a word can name a run of the file. A file that is there and has a suffix, such as `answers.jsonl`, is a
    file, unless the project has that word as a key; so a mistake in the project stops no other command."""
    if not _like_a_file(word) or not Path(word).exists():
        return True
    try:
        text = file.read_text("utf-8", errors="replace")
        return re.search(rf"""(?:^|[\s{{,"']){re.escape(word)}["']?\s*:""", text) is not None
    except OSError:
        return False


def _check_name(word: str, project: Project, *, is_named: bool) -> None:
    """UserError where a word is the name of a run and of a file, or looks like a run and is neither."""
    exists = Path(word).exists()
    if exists and word in project.runs and real(project.runs[word]["out"]) != real(word):
        raise UserError(
            f"{word} is a run of {project.path} and a file here; for the file, write ./{word}"
        )
    if exists or is_named or not project.runs:
        return
    error = UnknownName(
        f"run of {project.path}", word, project.runs, f"Its runs are {', '.join(project.runs)}."
    )
    if not _like_a_file(word):
        raise error
    if error.near:  # a name with a dot, or a file that is not there
        raise UserError(
            f"{word} is no file, and no run of {project.path}. Did you mean {' or '.join(error.near)}?"
        )


def _like_a_file(word: str) -> bool:
    """Whether a word has letters after its last dot: `answers.jsonl`, `nightly.main`."""
    return Path(word).suffix[1:].isalpha()


def _needed(project: Project, name: str, key: str) -> Any:
    if key not in project.runs[name]:
        raise UserError(f"{project.path}: runs.{name}.{key}: is missing")
    return project.runs[name][key]


def _resolved(read: Any, values: Mapping[str, Any], word: Any) -> Any:
    """What a word of the command line stands for."""
    return values[word] if word in values else read(word) if read else word


def _scanned(
    leaf: argparse.ArgumentParser, words: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """The options that the words give, and the words that are arguments."""
    before = [(action, vars(action).copy()) for action in leaf._actions]
    for action in leaf._actions:
        action.default = argparse.SUPPRESS
        action.required = False
        if not action.option_strings:
            action.nargs = argparse.SUPPRESS
    try:
        parsed, unread = argparse.ArgumentParser.parse_known_args(
            leaf, list(words), argparse.Namespace()
        )
    finally:
        for action, defaults in before:
            vars(action).update(defaults)
    destinations = {action.dest for action in leaf._actions}
    return {key: value for key, value in vars(parsed).items() if key in destinations}, [
        word for word in unread if word != "--"
    ]
