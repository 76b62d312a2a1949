"""Run folders of given values for the tests of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.report.runs import RELEVANCE, manifest, row, write_run

from longmark.analysis.compare import Comparison, document
from longmark.records import Example, Signature
from longmark.report.tables import Best

Values = Sequence[float | None]


def signed(**more: Any) -> Signature:
    """The signature of a judged row."""
    fields: dict[str, Any] = {
        "version": "0.1.0",
        "params": {"scoring": "text", "temperature": 0.0},
        "models": {"judge": ["embedded:judge"]},
        "prompts": {RELEVANCE: "5f5f"},
        "seed": 0,
    }
    return Signature(**{**fields, **more})


def lines(found: Comparison, table: str) -> list[dict[str, Any]]:
    """The rows of a table of the page: field of the column -> cell, in bold or not."""
    (of,) = [
        one for section in document(found).sections for one in section.tables if one.name == table
    ]
    fields = [column.field for column in of.columns]
    return [
        dict(
            zip(
                fields, (cell.cell if isinstance(cell, Best) else cell for cell in row), strict=True
            )
        )
        for row in of.rows
    ]


def run_of(
    folder: Path,
    systems: Mapping[str, Mapping[str, Values]],
    signature: Signature | None = None,
    described: dict[str, Any] | None = None,
) -> Path:
    """A run of systems: system -> metric -> values, the i-th of question q<i>."""
    examples, rows = {}, []
    for system, metrics in systems.items():
        for metric, values in metrics.items():
            for i, value in enumerate(values):
                name, question = f"{system}-{i}", f"q{i}"
                examples[name] = Example(
                    id=name, question_id=question, question=f"Question {i}?", system=system
                )
                rows.append(
                    row(
                        name,
                        metric,
                        value,
                        question_id=question,
                        system=system,
                        signature=signature or signed(),
                    )
                )
    return write_run(
        folder, list(examples.values()), rows, manifest() if described is None else described
    )
