"""The command that comes next, as `run`, `look` and `metaeval` name it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.options import joined

_SCORES = frozenset(("example_id", "metric", "score"))
_LABELS = (frozenset(("example_id", "value")), frozenset(("a", "b", "choice")))


def validation(table: Path, run: str = "") -> list[str]:
    """The lines that say how the scores in a wide table, or those of a run, are compared with the table's columns of
    raters; none where it has no such columns."""
    from longmark.report.format import listed
    from longmark.scores.wide_columns import wide_columns

    columns = wide_columns(table)
    if columns is None or not (columns.scores or run):
        return []
    if any(_first_columns(table) >= needed for needed in _LABELS):
        return []  # a label a line: its columns are no raters
    words = ["longmark", "metaeval", run or str(table), str(table)]
    words += [word for key, column in columns.keys.items() for word in ("--map", f"{key}={column}")]
    words += ["--raters", joined(columns.raters)]
    words += [] if run else ["--scores", joined(columns.scores)]
    scores = f"the scores of {run or listed(columns.scores)}"
    return [
        f"To compare {scores} with the labels of people ({listed(columns.raters)}):",
        f"  {_line(words)}",
    ]


def ratings_alone(table: Path, run: str = "RUN") -> list[str]:
    """The lines that say how metaeval reads a file of ratings whose columns have names of their own; none where it is
    no such file. run: the folder of the scores; by default a word that stands for it."""
    from longmark.scores.columns_of_labels import named_like_criteria
    from longmark.scores.wide_columns import rating_columns

    columns = rating_columns(table)
    if columns is None:
        return []
    renamed = {field: column for field, column in columns.keys.items() if field != column}
    if not renamed and not columns.raters:
        return []
    words = ["longmark", "metaeval", run, str(table)]
    words += [word for field, column in renamed.items() for word in ("--map", f"{field}={column}")]
    criteria = len(named_like_criteria(columns.raters)) > 1
    option = "--label-columns" if criteria else "--raters"
    words += [option, joined(columns.raters)] if columns.raters else []
    role = "label" if criteria else "rater"
    condition = f", if each of the columns of numbers is a {role}" if columns.raters else ""
    return [
        f"{table} looks like ratings of people. To compare metrics with them{condition}:",
        f"  {_line(words)}",
    ]


def labels_beside(table: Path, run: str, id_columns: str, columns: Iterable[str]) -> list[str]:
    """The lines that say how the scores of a run are compared with labels that stand beside the answers, a column each;
    none where no two columns are named like labels. id_columns: what the answers' ids are read from."""
    from longmark.report.format import listed
    from longmark.scores.columns_of_labels import named_like_criteria

    labels = named_like_criteria(columns)
    if not run or len(labels) < 2:
        return []
    words = [
        "longmark",
        "metaeval",
        run,
        str(table),
        "--map",
        f"example_id={id_columns}",
        "--label-columns",
        joined(labels),
    ]
    return [
        f"To compare the scores of {run} with {listed(labels)}, if they are the labels of people:",
        f"  {_line(words)}",
    ]


def after_run(run: Path, systems: Sequence[str], *, pairs: bool) -> str:
    """What to do with the rows of a run."""
    if len(systems) > 1 and not pairs:
        return f"Next: {_line(['longmark', 'compare', str(run)])}"
    return f"Next: {_line(['longmark', 'report', str(run), '--out', f'{run}.html'])}"


def exported_beside(rows: Sequence[str | Path], human: Path) -> list[str]:
    """The command with the ratings or choices that lie beside every label of a study, `labels.jsonl`."""
    if human.name != "labels.jsonl":
        return []
    beside = [human.with_name(name) for name in ("ratings.csv", "choices.csv")]
    return [
        f"The labels for metaeval are beside it: {_line(['longmark', 'metaeval', *map(str, rows), str(path)])}"
        for path in beside
        if path.is_file()
    ]


def with_scores_or_labels(path: Path) -> list[str]:
    """What a file or folder without answers is for, if it holds scores or labels."""
    if (path / "rows.jsonl").is_file():
        report = _line(["longmark", "report", str(path), "--out", f"{path}.html"])
        compare = _line(["longmark", "compare", str(path)])
        return [
            f"{path} is a run. Its scores and answers: {report}",
            f"Of several systems, which one is better: {compare}",
        ]
    columns = _first_columns(path)
    name = shlex.quote(str(path))
    if columns >= _SCORES:
        return [
            f"{path} has scores, one a line. To compare systems: longmark compare {name}",
            f"To compare metrics with the labels of people: longmark metaeval {name} LABELS",
        ]
    if any(columns >= needed for needed in _LABELS):
        return [
            f"{path} has labels of people. To compare metrics with them: longmark metaeval RUN {name}"
        ]
    return []


def _first_columns(path: Path) -> set[str]:
    from longmark.records import sources

    try:
        first: Any = next(iter(sources.records(path, sources.kind_of(path))), (0, None))[1]
    except UserError:  # the caller says what is wrong with the file
        return set()
    return {str(column).casefold() for column in first} if isinstance(first, Mapping) else set()


def _line(words: Iterable[str]) -> str:
    from longmark.records.files import one_line

    return one_line(shlex.join(words))
