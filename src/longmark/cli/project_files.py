"""The files that are named within texts of longmark.yaml.

    order: {quality: "@classes.txt"}                              classes, one a line
    metrics: [my_metric.py, rubric.yaml, nuggets@file=list.jsonl] code, rubrics, parameters
    judge: gguf:models/judge.gguf                                 models on the disk
    assertions: same as runs/kept                                 earlier runs (`with_earlier_run`)

They are relative to the file as all its paths are (`moved`), and need trust where they lie outside of its folder
(`files_in`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from longmark.assertions.grammar import SameAssertion, parsed
from longmark.errors import UserError
from longmark.places import expanded
from longmark.records import metric_name

CODE = ".py"
SETTINGS = (".yaml", ".yml")
FILE_PARAMETERS = frozenset(("examples", "file", "formats", "panel"))
"""The parameters of metrics that name a file (`metrics._signed_file`)."""
MODEL_PARAMETERS = ("encoder", "checkpoint")
"""The parameters of metrics that name a model."""

Move = Callable[[str], str]  # a path in a text -> the path that replaces it

_BUILT_IN = "built-in"
_SCHEMES = ("gguf", "hf", "st")
_CLASSES = ("LABEL=LOWEST,…,HIGHEST", "CLASS,…")


def moved(action: argparse.Action, text: str, folder: Path) -> str:
    """The text of an option with its paths as they are seen from the working folder. folder: of the file."""

    def move(path: str) -> str:
        return str(folder / expanded(path))

    def move_where_present(path: str) -> str:
        # the name of a model on a hub, or of a run that is checked, is no path
        return move(path) if path and (folder / expanded(path)).exists() else path

    return _replaced(action, text, move, move_where_present)


def files_in(action: argparse.Action, text: str) -> Iterator[Path]:
    """The files and folders that the text of an option names, as seen from the working folder, without code and models
    (`Project.reaches_of` has these)."""
    paths: list[str] = []

    def note(path: str) -> str:
        paths.append(path)
        return path

    def note_where_present(path: str) -> str:
        return note(path) if Path(path).exists() else path

    if action.dest == "assertions":
        with_earlier_run(text, note_where_present)
    elif action.metavar != "MODEL":
        _replaced(action, text, note, note_where_present)
    yield from (Path(path) for path in paths if Path(path).suffix != CODE)


def _replaced(action: argparse.Action, text: str, move: Move, move_where_present: Move) -> str:
    if action.metavar in _CLASSES:
        before, at, path = text.partition("@")
        is_file = before.count("=") == 1 and before.endswith("=") if "=" in before else not before
        return f"{before}@{move(path)}" if at and is_file else text
    if action.dest == "metrics":
        parts = [part.strip() for part in text.split(",")]
        names = [
            _metric(
                part,
                move,
                move_where_present,
            )
            for part in parts
        ]
        return ",".join(names)
    if action.metavar == "MODEL":
        return _model(text, move_where_present)
    return text


def _metric(
    name: str,
    move: Move,
    move_where_present: Move,
) -> str:
    """The name of a metric with its file, and those of its parameters."""
    base, at, settings = name.partition("@")
    if Path(base).suffix in (CODE, *SETTINGS):
        base = move(base)
    if not at:
        return base
    as_written = f"{base}{at}{settings}"
    try:
        _, params = metric_name.parsed(f"m{at}{settings}")
    except UserError:
        return as_written  # what reads the name says what is wrong with it
    seen = dict(params)
    for key, value in params.items():
        if key in FILE_PARAMETERS and value and value != _BUILT_IN:
            seen[key] = move(value)
        elif key in MODEL_PARAMETERS:
            seen[key] = _model(value, move_where_present)
    if seen == params:
        return as_written
    return metric_name.joined(base, seen)


def _model(name: str, move_where_present: Move) -> str:
    scheme, colon, path = name.partition(":")
    if colon and scheme in _SCHEMES:
        return f"{scheme}:{move_where_present(path)}"
    return name


def with_earlier_run(text: str, move: Move) -> str:
    """An assertion `same as RUN` with another RUN; any other text as it is."""
    try:
        assertion = parsed(text)
    except UserError:
        return text  # what checks it says what is wrong with it
    if not isinstance(assertion, SameAssertion):
        return text
    run = move(assertion.run)
    return text if run == assertion.run else str(replace(assertion, run=run))
