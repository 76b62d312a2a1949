"""The rows and the examples of one source: a run folder, or a file of rows (JSONL, CSV, TSV, Parquet).

A damaged line is an error that names it (`r.jsonl:2: …`). There is one exception: the unfinished last line of a run
folder, which a killed process leaves behind, is left out and reported.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.options import names_in
from longmark.places import real
from longmark.records import Answered, Row, Signature, Usage
from longmark.records.files import NotJson, at, lines, parse_json
from longmark.records.pair import example_of
from longmark.records.same import canonical
from longmark.records.write import placed_rows

AGAIN = "repeat its `longmark run` command"


def paths_given(runs: str | Path | Iterable[str | Path]) -> list[Path]:
    """The paths of one source, or of several."""
    return [Path(runs)] if isinstance(runs, str | Path) else [Path(run) for run in runs]


def names_given(names: str | Iterable[str]) -> list[str]:
    """Names in a list, or in one text, separated by commas (`%2C` is a comma in a name)."""
    return names_in(names) if isinstance(names, str) else list(names)


def source_of(path: Path) -> Path:
    """The source that a path stands for: the run folder for its own `rows.jsonl`, else the path itself.

    UserError if there is nothing to read at this path.
    """
    if path.name == "rows.jsonl" and path.with_name("manifest.json").is_file():
        path = path.parent
    if path.is_dir() and not (path / "rows.jsonl").is_file():
        raise UserError(
            f"{path} is not a run folder: it has no rows.jsonl; give the --out folder of `longmark run`, or a file of "
            "rows"
        )
    if not path.exists():
        run = f"longmark run ANSWERS --metrics NAME,… --out {shlex.quote(str(path))}"
        makes = "" if path.suffix else f"; to make a run there: {run}"
        raise UserError(f"{path} does not exist{makes}")
    return path


def sources_of(paths: Sequence[Path]) -> list[Path]:
    """The sources that paths name, each with a name (`.` is resolved). UserError if there is none, or one is given
    twice or cannot be read."""
    sources = [
        path if path.name not in ("", "..") else real(path) for path in map(source_of, paths)
    ]
    if not sources:
        raise UserError("give at least one run folder or file of rows")
    resolved = [real(source) for source in sources]
    if twice := next(
        (source for i, source in enumerate(sources) if resolved[i] in resolved[:i]), None
    ):
        raise UserError(f"{twice} is given twice; give it once")
    return sources


def no_rows(sources: Iterable[Path]) -> UserError:
    """What is wrong with sources that have no row."""
    return UserError(f"no scores: there are no rows in {', '.join(map(str, sources))}")


def rows_of(source: Path, notices: list[str] | None = None) -> Iterator[Row]:
    """The rows of a source in their order; where an answer and metric have several, only the last. notices: gets a
    sentence if the last line of a run is unfinished.

    UserError, with the line, for anything else that is not a row, and for two scores of one answer in a file made
    elsewhere.
    """
    return (row for _, row in placed_rows_of(source, notices))


def some_rows_of(source: Path, notices: list[str] | None = None) -> Iterator[Row]:
    """As `rows_of`; UserError where there is no row."""
    rows = rows_of(source, notices)
    if (first := next(rows, None)) is None:
        raise no_rows([source])
    return chain([first], rows)


def placed_rows_of(source: Path, notices: list[str] | None = None) -> Iterator[tuple[int, Row]]:
    """The same, each with its line or number in the file."""
    if not source.is_dir():
        return placed_rows(source, system=name_of(source))
    path = source / "rows.jsonl"

    def unfinished(line: int) -> None:
        if notices is not None:
            notices.append(
                f"The last line of {path} ({line:,}) is unfinished and was ignored; {AGAIN} to complete it."
            )

    return placed_rows(path, unfinished, name_of(source))


UNKNOWN_QUESTION = "question of "
"""Begins the question id of an absent answer whose question is not known."""


def absent_of(source: Path, metrics: Sequence[str], systems: Sequence[str]) -> Iterator[Row]:
    """A row without a score for each metric and answer of a run folder that has no row, as `absent.jsonl` has them.
    systems: of the run; an answer of an unknown system counts for each of them. UserError for a damaged file."""
    path = source / "absent.jsonl"
    if not path.is_file():
        return
    for number, line in lines(path):
        try:
            entry = parse_json(line)
            name = str(entry["id"])
            question = entry["question_id"] or f"{UNKNOWN_QUESTION}{entry['id']}"
            for system in (
                [entry["system"] or name_of(source)] if entry["system"] is not None else systems
            ):
                for metric in metrics:
                    why = str(entry["reason"])
                    evidence = dict[str, Any]()
                    yield Row(
                        name,
                        question,
                        system,
                        metric,
                        None,
                        entry["status"],
                        why,
                        evidence,
                        Signature(),
                        Usage(),
                    )
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(at(path, number, f"not an absent answer ({error}); {AGAIN}")) from None


def examples_of(source: Path) -> Iterator[Answered]:
    """The examples of a run folder in their order. None for a file of rows, or if the folder has no examples.jsonl.

    UserError, with the line, if the file cannot be read. An unfinished last line is left out.
    """
    path = source / "examples.jsonl"
    if not path.is_file():
        return
    for number, line in lines(path):
        try:
            example = example_of(line)
        except NotJson as error:
            if not line.endswith(b"\n"):
                return
            raise UserError(
                at(path, number, f"not an example ({error}); {AGAIN} to write the file again")
            ) from None
        except ValueError as error:
            raise UserError(
                at(path, number, f"not an example ({error}); {AGAIN} to write the file again")
            ) from None
        yield example


def system_of(row: Row, source: Path) -> str:
    """The system of a row: the name of its source if the row has none."""
    return row.system or name_of(source)


def name_of(source: Path) -> str:
    """A run folder's name, or a file's name without its suffix."""
    return canonical(real(source).name if source.is_dir() else source.stem)


def shortest_names(sources: Sequence[Path]) -> list[str]:
    """The names of sources, with as many parent folders as it takes to tell them apart."""
    sources = [real(source) for source in sources]
    parts = [(*source.parts[:-1], name_of(source)) for source in sources]
    if len(set(parts)) < len(parts):  # two files that differ in their suffix
        parts = [source.parts for source in sources]
    names: list[str] = []
    for count in range(1, max(map(len, parts), default=1) + 1):
        names = ["/".join(part[-count:]) for part in parts]
        if len(set(names)) == len(names):
            break
    return names
