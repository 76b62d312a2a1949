"""Makes an experiment, the result of an evaluation and a trace of Opik's own classes, and writes them as its CLI does."""

import dataclasses
import datetime
import json
import os
from pathlib import Path
from types import SimpleNamespace

os.environ["OPIK_TRACK_DISABLE"] = "true"

from opik.api_objects.experiment.experiment_item import ExperimentItemContent
from opik.cli.exports import utils
from opik.evaluation.evaluation_result import EvaluationResult
from opik.evaluation.metrics.score_result import ScoreResult
from opik.evaluation.test_case import TestCase
from opik.evaluation.test_result import TestResult
from opik.rest_api.types.span_public import SpanPublic
from opik.rest_api.types.trace_public import TracePublic

CAPITAL = "What is the capital of Italy?"
RIVER = "Which river flows through Rome?"
SEA = "Which sea is it near?"
PASSAGES = ["Rome is the capital of Italy.", "Milan is in Italy."]
# (row, what the data set has, what the task gave): an answer with passages, an empty one, the first question again, and a
# task that failed
TRIALS = [
    (
        "row-1",
        {"input": CAPITAL, "expected_output": "Rome"},
        {"output": "Rome", "context": PASSAGES},
    ),
    ("row-2", {"input": RIVER, "expected_output": "Tiber"}, {"output": "", "context": []}),
    (
        "row-1",
        {"input": CAPITAL, "expected_output": "Rome"},
        {"output": "Milan", "context": PASSAGES},
    ),
    ("row-3", {"input": SEA, "expected_output": "The Tyrrhenian Sea"}, None),
]


def experiment():
    items = [
        ExperimentItemContent.from_compare_dict(
            {
                "id": f"item-{number}",
                "dataset_item_id": row,
                "trace_id": f"trace-{number}",
                "output": output,
                "feedback_scores": [{"name": "exact", "value": float(number == 1)}]
                if output
                else [],
            },
            dataset_item_data=data,
        )
        for number, (row, data, output) in enumerate(TRIALS, 1)
    ]
    info = SimpleNamespace(metadata=None)
    subject = SimpleNamespace(
        id="experiment-1",
        name="eager_rome_2021",
        dataset_name="cities",
        get_experiment_data=lambda: info,
    )
    return utils.create_experiment_data_structure(subject, items)


def results():
    for number, (row, data, output) in enumerate(TRIALS, 1):
        if output is not None:  # the evaluation ends with a task that fails
            case = TestCase(f"trace-{number}", row, output, data, {**data, **output})
            score = ScoreResult(name="exact", value=float(number == 1))
            yield TestResult(case, [score], trial_id=number // 3)


def trace():
    began = datetime.datetime(2026, 11, 29, 5, tzinfo=datetime.UTC)
    common = {"start_time": began, "end_time": began, "project_id": "project-1"}
    whole = TracePublic(
        id="trace-1",
        name="ask",
        input={"question": CAPITAL},
        output={"answer": "Rome"},
        feedback_scores=None,
        **common,
    )
    spans = [
        SpanPublic(
            id=name,
            trace_id="trace-1",
            parent_span_id=None,
            name=name,
            type=kind,
            input={"question": CAPITAL},
            output=output,
            model=model,
            **common,
        )
        for name, kind, output, model in (
            ("retrieve", "tool", {"documents": PASSAGES}, None),
            ("generate", "llm", {"output": "Rome"}, "small-model"),
        )
    ]
    return {
        "trace": whole.model_dump(),
        "spans": [span.model_dump() for span in spans],
        "downloaded_at": began.isoformat(),
        "project_name": "cities",
    }


data = experiment()
data["downloaded_at"] = "2026-11-29T05:00:00"
utils.write_json_data(data, Path("experiment.json"))
utils.write_csv_data(data, Path("experiment.csv"), utils.experiment_to_csv_rows)
utils.write_json_data(trace(), Path("trace.json"))
result = EvaluationResult("experiment-1", "dataset-1", "eager_rome_2021", list(results()), None, 2)
Path("result.json").write_text(json.dumps(dataclasses.asdict(result), indent=1) + "\n")
