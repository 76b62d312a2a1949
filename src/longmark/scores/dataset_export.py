"""The answers of a run with their scores as a data set of Hugging Face: a folder with one Parquet file.

`datasets.load_dataset(FOLDER)` reads it (datasets 5.2.0), and so does whatever reads Parquet. A row is an answer; each
metric has two columns, its name with the score (null: unscored) and NAME.status. Types do not depend on the values, so
that a metric without any score is a column of numbers, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from longmark.errors import UserError, library
from longmark.records import Example, Row
from longmark.records.pair import singles
from longmark.scores.files import examples_of, system_of
from longmark.writing import folder, replacing

FILE = "data.parquet"
_BATCH = 256  # answers with their passages, which are written at a time
_OWN = ("example_id", "question_id", "system", "question", "answer", "contexts", "references")


def write_dataset(
    source: Path,
    rows_of: Mapping[str, Mapping[str, Row]],
    metrics: Sequence[str],
    target: Path,
) -> None:
    """Writes the folder. source: a run's folder; rows_of: example -> metric -> row. UserError for a file of rows, which
    has no answers, for pairs, and for a folder with other files, which a reader would take along."""
    pyarrow = library("pyarrow", "writing a data set", "parquet")
    from pyarrow import parquet

    if not source.is_dir():
        raise UserError(f"{source} is a file of rows; name the run's folder, which has the answers")
    _check_empty(target)
    if clashing := [name for name in metrics if name in _OWN]:
        raise UserError(f"the metric {clashing[0]} has the name of a column of the data set")
    schema = _schema(pyarrow, metrics)
    examples = singles(examples_of(source), source)
    with (
        replacing(folder(target) / FILE) as file,
        parquet.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        records = _records(examples, rows_of, metrics, source)
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


def _schema(pyarrow: Any, metrics: Sequence[str]) -> Any:
    string = pyarrow.string()
    lists = {
        "contexts": pyarrow.list_(pyarrow.struct([("id", string), ("text", string)])),
        "references": pyarrow.list_(string),
    }
    columns = [(name, lists.get(name, string)) for name in _OWN]
    for metric in metrics:
        columns += [(metric, pyarrow.float64()), (f"{metric}.status", string)]
    return pyarrow.schema(columns)


def _records(
    examples: Iterator[Example],
    rows_of: Mapping[str, Mapping[str, Row]],
    metrics: Sequence[str],
    source: Path,
) -> Iterator[dict[str, Any]]:
    for example in examples:
        rows = rows_of.get(example.id, {})
        first = next(iter(rows.values()), None)
        record: dict[str, Any] = {
            "example_id": example.id,
            "question_id": example.question_id,
            "system": example.system if first is None else system_of(first, source),
            "question": example.question,
            "answer": example.answer,
            "contexts": [{"id": context.id, "text": context.text} for context in example.contexts],
            "references": list(example.references),
        }
        for metric in metrics:
            row = rows.get(metric)
            record[metric] = None if row is None else row.score
            record[f"{metric}.status"] = None if row is None else row.status
        yield record
