"""Published preferences between two answers, as pairs: LFQA-E, HaluQuestQA, LLMBar.

    lfqa-e             records with `response_a`, `response_b` and `compare_type` (Chinese), or with two of
                       student_answer_a, student_answer_b, model_answer_a, model_answer_b (English); ties; references
    haluquestqa-pairs  an answer of a person and one of a model, an expert's choice, the subject; no references
    llmbar             an instruction with two outputs, the better one; what judges of the authors chose is in
                       `meta.verdicts`, which `longmark calf-study` reads

A side whose writer the data set does not name has no system; `human` is an answer by a person, `model` one by a model
that is not named. Sources: LFQA-E, Fan et al. (a later form of the benchmark of CALF); HaluQuestQA, Sachdeva et al.
2024; LLMBar, Zeng et al. 2024.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from longmark.records import Pair
from longmark.records.pair import HUMAN, Choice, Mode
from longmark.records.turn import Context
from longmark.records.values import Problem, found, text

LFQA_E = "lfqa-e"
HALUQUESTQA_PAIRS = "haluquestqa-pairs"
LLMBAR = "llmbar"
_MODEL = "model"
_WRITERS = {
    "student_answer_a": HUMAN,
    "student_answer_b": HUMAN,
    "model_answer_a": _MODEL,
    "model_answer_b": _MODEL,
}
_MODES: dict[str, Mode] = {
    "human_vs_human": "human/human",
    "human_vs_model": "human/model",
    "model_vs_model": "model/model",
}


def lfqa_e(_place: int, record: Mapping[str, Any]) -> Iterator[Pair]:
    name = of(record, "id")
    if "response_a" in record:
        columns = ("response_a", "response_b")
        mode = _one_of(record, "compare_type", _MODES)
        reference = "reference"
        context = of(record, "context", empty=True)
        label = "label"
        ident = name
        name = hashlib.sha256(f"{of(record, 'question')}\0{context}".encode()).hexdigest()[
            :16
        ]  # each pair has an id
        systems: tuple[str | None, str | None] = (None, None)
    else:
        present = [column for column in _WRITERS if column in record]
        if len(present) != 2:
            raise Problem(f"expected response_a and response_b, or two of {', '.join(_WRITERS)}")
        columns = (present[0], present[1])
        systems = (_WRITERS[present[0]], _WRITERS[present[1]])
        mode = (
            "human/human"
            if systems[1] == HUMAN
            else "human/model"
            if systems[0] == HUMAN
            else "model/model"
        )
        label = f"{columns[0]}_vs_{columns[1]}"
        reference = "Concise_Reference"
        context = ""
        ident = f"{name}-{label}"
    choices: dict[str, Choice] = {columns[0]: "a", columns[1]: "b", "same": "tie"}
    yield Pair(
        id=ident,
        question_id=name,
        question=of(record, "question"),
        contexts=(Context(text=context),) if context.strip() else (),
        references=(of(record, reference),),
        a=of(record, columns[0]),
        b=of(record, columns[1]),
        a_system=systems[0],
        b_system=systems[1],
        mode=mode,
        label=_one_of(record, label, choices),
        meta={"dataset": LFQA_E},
    )


def haluquestqa(place: int, record: Mapping[str, Any]) -> Iterator[Pair]:
    writers = {"human_answer": HUMAN, "model_answer": _MODEL}
    choices: dict[str, Choice] = {"Answer 1": "a", "Answer 2": "b"}
    yield Pair(
        id=f"haluquestqa-{place}",
        question_id=f"haluquestqa-{place}",
        question=of(record, "question_text"),
        a=of(record, "ans1_text"),
        b=of(record, "ans2_text"),
        a_system=_one_of(record, "ans1_label", writers),
        b_system=_one_of(record, "ans2_label", writers),
        subject=of(record, "category"),
        labels={of(record, "annotator"): _one_of(record, "ans_preference", choices)},
        meta={
            "dataset": HALUQUESTQA_PAIRS,
            "reason": of(record, "ans_preference_reason", empty=True),
        },
    )


def llmbar(place: int, record: Mapping[str, Any]) -> Iterator[Pair]:
    choices: dict[Any, Choice] = {1: "a", 2: "b"}
    judges = enumerate(record.get("results") or (), start=1)
    verdicts = {f"published judge {number}": _in_both_orders(verdict) for number, verdict in judges}
    yield Pair(
        id=f"{LLMBAR}-{place}",
        question=of(record, "input"),
        a=of(record, "output_1"),
        b=of(record, "output_2"),
        label=_one_of(record, "label", choices),
        meta={"dataset": LLMBAR, **({"verdicts": verdicts} if verdicts else {})},
    )


def _in_both_orders(verdicts_given: Any) -> list[dict[str, str]]:
    """What a judge chose with either output shown first, `swap = True`: the second; no verdict where it gave none."""
    orders = {"swap = False": "a", "swap = True": "b"}
    choices = {"1": "a", "2": "b"}
    if not isinstance(verdicts_given, Mapping):
        raise Problem(
            f"results: expected the verdicts of a judge by order, found {found(verdicts_given)}"
        )
    winners = {
        first: verdict.get("winner")
        for name, first in orders.items()
        if isinstance(verdict := verdicts_given.get(name), Mapping)
    }
    return [
        {"first": first, "choice": choices[str(won)]}
        for first, won in winners.items()
        if str(won) in choices
    ]


def of(record: Mapping[str, Any], column: str, *, empty: bool = False) -> str:
    """The text of a column. Problem where it is missing or, unless `empty`, blank."""
    if column not in record:
        raise Problem(
            f"{column}: is missing; the columns are {', '.join(map(str, list(record)[:8]))}"
        )
    value = text(column, record[column] if record[column] is not None else "")
    if not value.strip() and not empty:
        raise Problem(f"{column}: is empty")
    return value


def _one_of(record: Mapping[str, Any], column: str, values: Mapping[Any, Any]) -> Any:
    value = record.get(column)
    if isinstance(value, list | dict) or value not in values:
        raise Problem(f"{column}: expected {' or '.join(map(str, values))}, found {found(value)}")
    return values[value]
