"""The answers of a run with their scores as a data set of Hugging Face: a folder with one Parquet file.

`datasets.load_dataset(FOLDER)` reads it (datasets 5.2.0), and so does whatever reads Parquet. A row is an answer, or a
pair with the choice of people as its label; the score of a pair is 1 if `a` is better, 0 for a tie, -1 if `b` is. Each
metric has two columns, its name with the score (null: unscored) and NAME.status. Types do not depend on the values, so
that a metric without any score is a column of numbers, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from longmark.errors import UserError, library
from longmark.records import Answered, Pair, Row
from longmark.scores.files import examples_of, system_of
from longmark.writing import folder, replacing

FILE = "data.parquet"
_BATCH = 256  # answers with their passages, which are written at a time
_OF_ANSWERS = (
    "example_id",
    "question_id",
    "system",
    "question",
    "answer",
    "contexts",
    "references",
)
_OF_PAIRS = (
    "example_id",
    "question_id",
    "question",
    "a",
    "b",
    "a_system",
    "b_system",
    "label",
    "contexts",
    "references",
)


def write_dataset(
    source: Path,
    rows_of: Mapping[str, Mapping[str, Row]],
    metrics: Sequence[str],
    target: Path,
) -> None:
    """Writes the folder. source: a run's folder; rows_of: example -> metric -> row. UserError for a file of rows, which
    has no answers, and for a folder with other files, which a reader would take along."""
    pyarrow = library("pyarrow", "writing a data set", "parquet")
    from pyarrow import parquet

    if not source.is_dir():
        raise UserError(f"{source} is a file of rows; name the run's folder, which has the answers")
    _check_empty(target)
    examples = examples_of(source)
    first = next(examples, None)
    columns = _OF_PAIRS if isinstance(first, Pair) else _OF_ANSWERS
    if clashing := [name for name in metrics if name in columns]:
        raise UserError(f"the metric {clashing[0]} has the name of a column of the data set")
    schema = _schema(pyarrow, columns, metrics)
    with (
        replacing(folder(target) / FILE) as file,
        parquet.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        records = _records(
            chain([first] if first is not None else [], examples), columns, rows_of, metrics, source
        )
        while batch := list(islice(records, _BATCH)):
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema=schema))


def _check_empty(target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise UserError(f"{target} is a file; a data set is a folder: name a new one")
    foreign_files = (
        sorted(path.name for path in target.iterdir() if path.name != FILE)
        if target.exists()
        else []
    )
    if foreign_files:
        raise UserError(
            f"{target} has other files ({', '.join(foreign_files[:3])}), which would be read with the data set; name a new "
            "folder"
        )


def _schema(pyarrow: Any, own_columns: Sequence[str], metrics: Sequence[str]) -> Any:
    string = pyarrow.string()
    lists = {
        "contexts": pyarrow.list_(pyarrow.struct([("id", string), ("text", string)])),
        "references": pyarrow.list_(string),
    }
    columns = [(name, lists.get(name, string)) for name in own_columns]
    for metric in metrics:
        columns += [(metric, pyarrow.float64()), (f"{metric}.status", string)]
    return pyarrow.schema(columns)


def _records(
    examples: Iterable[Answered],
    own_columns: Sequence[str],
    rows_of: Mapping[str, Mapping[str, Row]],
    metrics: Sequence[str],
    source: Path,
) -> Iterator[dict[str, Any]]:
    for example in examples:
        rows = rows_of.get(example.id, {})
        first = next(iter(rows.values()), None)
        values = {
            "example_id": example.id,
            "system": example.system if first is None else system_of(first, source),
            "contexts": [{"id": context.id, "text": context.text} for context in example.contexts],
            "references": list(example.references),
        }
        record = {
            name: values[name] if name in values else getattr(example, name) for name in own_columns
        }
        for metric in metrics:
            row = rows.get(metric)
            record[metric] = None if row is None else row.score
            record[f"{metric}.status"] = None if row is None else row.status
        yield record
