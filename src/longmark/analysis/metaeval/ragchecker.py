"""RAGChecker's meta-evaluation files (Ru et al. 2024, appendix C; `data/meta_evaluation` of their repository).

Two JSON lists of pairs of answers. Labels: a record for each rater of a pair, with `instance_id`, `query_id`, `model1`
and `model2` (each with `model_name`), and `correctness_label`, `completeness_label`, `overall_label`: numbers, positive
where model2 is better. Raters have no names: the first record of an instance is rater 1's, the second rater 2's.
Scores: a record for each pair, with `model1.EVALUATOR.METRIC` and `model2.EVALUATOR.METRIC`, which become the metric
`EVALUATOR.METRIC`.

An answer is identified by its instance and place, since its score may differ between pairs; its question is `query_id`
with `dataset`, if there is one. The authors put the median difference in place of NaN; here such an answer is unscored.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.records import Row, Signature, Usage

MODELS = ("model1", "model2")


def pairs_in(path: object) -> list[dict[str, Any]] | None:
    """The records of a file of this layout, None for any other. UserError for a record without what the layout has."""
    if not isinstance(path, str | Path) or Path(path).suffix != ".json" or not Path(path).is_file():
        return None
    try:
        records = json.loads(Path(path).read_bytes())  # with NaN, which orjson refuses
    except ValueError:
        return None
    if (
        not isinstance(records, list)
        or not records
        or not isinstance(records[0], dict)
        or "model1" not in records[0]
    ):
        return None
    for place, record in enumerate(records, 1):
        for field in ("instance_id", "query_id", *MODELS):
            if not isinstance(record, dict) or field not in record:
                raise UserError(
                    f"{path}, record {place}: no {field}, which every pair of RAGChecker's layout has"
                )
        for model in MODELS:
            if not isinstance(record[model], dict) or not record[model].get("model_name"):
                raise UserError(f"{path}, record {place}: {model} has no model_name")
    return records


def labels_of(records: Sequence[Mapping[str, Any]], path: object) -> list[dict[str, Any]]:
    """The labels as choices with grades. UserError if there are none."""
    raters: Counter[str] = Counter()
    labels = []
    for record in records:
        instance = str(record["instance_id"])
        raters[instance] += 1
        shared = {
            "question_id": _question(record),
            "a": f"{instance}/model1",
            "b": f"{instance}/model2",
        }
        for field, value in record.items():
            if field.endswith("_label"):
                labels.append(
                    {
                        **shared,
                        "label": field,
                        "choice": value,
                        "rater": f"rater {raters[instance]}",
                    }
                )
    if not labels:
        raise UserError(
            f"{path}: no pair has a label (overall_label, …); the file of labels comes last"
        )
    return labels


def rows_of(records: Sequence[Mapping[str, Any]], path: object) -> list[Row]:
    """The scores as rows. UserError if there are none."""
    rows = list(_rows(records))
    if not rows:
        raise UserError(
            f"{path}: no pair has scores (model1.ragchecker.overall_label, …); the file of labels comes last"
        )
    return rows


def _rows(records: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    for record in records:
        for model in MODELS:
            for evaluator, metrics in record[model].items():
                for metric, score in metrics.items() if isinstance(metrics, dict) else ():
                    is_number = isinstance(score, int | float) and math.isfinite(score)
                    yield Row(
                        example_id=f"{record['instance_id']}/{model}",
                        question_id=_question(record),
                        system=str(record[model]["model_name"]),
                        metric=f"{evaluator}.{metric}",
                        score=float(score) if is_number else None,
                        status="ok" if is_number else "undefined",
                        reason=None if is_number else "the file has no number",
                        evidence={},
                        signature=Signature(version="", params={}, models={}, prompts={}, seed=0),
                        usage=Usage(),
                    )


def _question(record: Mapping[str, Any]) -> str:
    return (
        f"{record['dataset']}/{record['query_id']}"
        if record.get("dataset")
        else str(record["query_id"])
    )
