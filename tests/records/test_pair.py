"""Pairs of answers: the record, and the columns they are read from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.program import write_jsonl

from longmark.errors import BadInput, UserError
from longmark.records import Context, Example, Pair, Question
from longmark.records.columns import Columns
from longmark.records.pair import Side, example_of, singles
from longmark.records.read import Reading
from longmark.records.record_reading import BadRecord
from longmark.records.write import write_examples


def _read(*records: dict[str, Any], **options: Any) -> list[Pair]:
    pairs = list(Reading(records, **options))
    assert all(isinstance(pair, Pair) for pair in pairs)
    return [pair for pair in pairs if isinstance(pair, Pair)]


def test_a_pair_is_read_back_from_its_line_and_an_example_stays_one() -> None:
    pair = Pair(
        question="q", a="x", b="", labels={"anna": "tie"}, meta={"a": 1, "b": 2}, mode="model/model"
    )
    assert example_of(pair.to_json()) == pair
    example = Example(question="q", answer="x", meta={"a": 1, "b": 2})
    assert type(example_of(example.to_json())) is Example


@pytest.mark.parametrize(
    ("labels", "label"),
    [
        ({}, None),
        ({"r": "b"}, "b"),
        ({"r": "b", "s": "a"}, None),
        ({"r": "b", "s": "tie", "t": "tie"}, "tie"),
    ],
)
def test_the_final_label_is_what_most_raters_chose(
    labels: dict[str, Any], label: str | None
) -> None:
    assert Pair(question="q", a="x", b="y", labels=labels).label == label
    assert (
        Pair(question="q", a="x", b="y", labels=labels, label="a").label == "a"
    )  # a given one stays


def test_labels_do_not_change_what_is_scored() -> None:
    assert (
        Pair(question="q", a="x", b="y", label="a").content_hash()
        == Pair(question="q", a="x", b="y").content_hash()
    )
    assert (
        Pair(question="q", a="x", b="y").content_hash()
        != Pair(question="q", a="y", b="x").content_hash()
    )


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_checks_of_an_expanded_reference_are_read_from_every_format_and_are_not_scored(
    tmp_path: Path, suffix: str
):
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="needs the extra `parquet`")
    plain = Pair(id="1", question="q", a="x", b="y")
    checked = plain.model_copy(update={"expansion_checks": {"anna": {"factual_error": "no"}}})
    assert checked.content_hash() == plain.content_hash()
    file = tmp_path / f"pairs.{suffix}"
    write_examples([checked], file)
    assert list(Reading(file)) == [checked]


@pytest.mark.parametrize(
    "checks", ["yes", {"anna": "yes"}, {"anna": {"factual_error": "maybe"}}, {"anna": {"x": "no"}}]
)
def test_other_checks_are_an_error(checks: Any):
    with pytest.raises(BadInput, match="records:1: expansion_checks"):
        _read({"question": "q", "a": "x", "b": "y", "expansion_checks": checks})


@pytest.mark.parametrize(("side", "answer", "system"), [("a", "x", "human"), ("b", "y", "gpt")])
def test_a_side_is_the_question_with_one_answer(side: Side, answer: str, system: str) -> None:
    pair = Pair(
        id="7",
        question="q",
        a="x",
        b="y",
        a_system="human",
        b_system="gpt",
        references=("short",),
        meta={"k": 1},
    )
    one = pair.side(side)
    assert one == Example(
        id=f"7#{side}", question_id=pair.question_id, question="q", answer=answer, references=("short",), system=system,
        meta={"k": 1},
    )  # fmt: skip
    assert pair.mode == "human/model"
    longer = pair.model_copy(update={"expanded_reference": "long"}).side(side)
    assert longer.references == ("long",)


@pytest.mark.parametrize(
    "columns",
    [
        ("a", "b"),
        ("Answer A", "answer-b"),
        ("response_1", "response_2"),
        ("output_1", "output_2"),
        ("answer1", "answer2"),
    ],
)
@pytest.mark.parametrize(
    ("word", "label"), [("A", "a"), ("Answer 2", "b"), ("model_a", "a"), ("Same", "tie")]
)
def test_names_of_columns_and_words_for_a_choice(
    columns: tuple[str, str], word: str, label: str
) -> None:
    (pair,) = _read(
        {"prompt": "?", "question": "q", columns[0]: "x", columns[1]: "y", "winner": word}
    )
    assert (pair.a, pair.b, pair.label, pair.meta) == ("x", "y", label, {"prompt": "?"})


def test_a_number_is_a_choice_where_the_columns_are_numbered() -> None:
    (pair,) = _read({"question": "q", "output_1": "x", "output_2": "y", "label": 2})
    assert pair.label == "b"
    with pytest.raises(BadInput, match="label: expected a, b or tie, found 2"):
        _read({"question": "q", "a": "x", "b": "y", "label": 2})


def test_raters_have_an_object_or_a_column_each() -> None:
    (one,) = _read(
        {
            "question": "q",
            "a": "x",
            "b": "y",
            "labels": '{"anna": "b", "ben": null}',
            "labels.cy": "tie",
        }
    )
    assert one.labels == {"anna": "b", "cy": "tie"}
    (two,) = _read(
        {"question": "q", "a": "x", "b": "y", "e1": "a", "e2": "a"}, mapping={"labels": "e1,e2"}
    )
    assert (two.labels, two.label, two.meta) == ({"e1": "a", "e2": "a"}, "a", {})


def test_chosen_and_rejected_are_put_on_either_side() -> None:
    pairs = _read(
        *({"question": f"q{i}", "chosen": f"good {i}", "rejected": f"bad {i}"} for i in range(40))
    )
    assert all(
        pair.text(pair.label or "b").startswith("good") for pair in pairs if pair.label != "tie"
    )
    first = sum(pair.label == "a" for pair in pairs)
    assert (
        8 < first < 32
    )  # 40 fair draws leave this range once in 20,000 times; the draw is fixed by the texts


@pytest.mark.parametrize(
    ("given", "mode"),
    [("human_vs_model", "human/model"), ("model/model", "model/model"), ("Model vs. Human", "human/model"),
     ("hvh", None), ("hello", None)],
)  # fmt: skip
def test_modes(given: str, mode: str | None) -> None:
    record = {"question": "q", "a": "x", "b": "y", "compare_type": given}
    if mode is None:
        with pytest.raises(
            BadInput, match="compare_type: expected human/human, human/model or model/model"
        ):
            _read(record)
    else:
        assert _read(record)[0].mode == mode


def test_a_record_with_an_answer_of_its_own_is_an_example() -> None:
    (one,) = Reading([{"question": "q", "answer": "C", "A": "x", "B": "y"}])
    assert type(one) is Example
    assert one.meta == {"A": "x", "B": "y"}
    (two,) = _read(
        {"question": "q", "A": "x", "B": "y", "answer": "B"},
        mapping={"a": "A", "b": "B", "label": "answer"},
    )
    assert two.label == "b"


def test_a_pair_has_no_field_of_a_single_answer_and_keeps_such_columns_in_meta() -> None:
    shared, single = set(Question.model_fields), set(Example.model_fields)
    assert shared == set(Pair.model_fields) & single
    assert not isinstance(Pair(a="x", b="y"), Example)
    (pair,) = _read({"question": "q", "a": "x", "b": "y", "claims": ["c"], "graph": {"nodes": []}})
    assert pair.meta == {"claims": ["c"], "graph": {"nodes": []}}
    with pytest.raises(
        BadRecord, match=r"answer: a pair has the answers a and b; remove the column answer"
    ):
        Columns({"a": "x", "b": "y"}).example({"question": "q", "x": "1", "y": "2", "answer": "3"})


def test_where_one_answer_is_needed_pairs_are_refused_by_the_name_of_their_file() -> None:
    with pytest.raises(
        UserError, match=r"old.jsonl contains pairs; name a run or a file with one answer per line"
    ):
        list(singles([Pair(a="x", b="y")], "old.jsonl"))


def test_the_answers_of_a_line_follow_its_question() -> None:
    example = Example(question="q", answer="a", contexts=(Context(text="c"),), meta={"x": 1})
    assert list(orjson.loads(example.to_json())) == [
        "id",
        "question_id",
        "question",
        "answer",
        "contexts",
        "meta",
    ]
    assert Pair.columns()[:5] == ("id", "question_id", "question", "a", "b")


def test_a_file_holds_pairs_or_single_answers(tmp_path: Path) -> None:
    pair, single = {"question": "q", "a": "x", "b": "y"}, {"question": "q", "answer": "x"}
    with pytest.raises(BadInput, match=r"mixed.jsonl:2: no pair: it has not two answers"):
        list(Reading(write_jsonl(tmp_path / "mixed.jsonl", [pair, single])))
    with pytest.raises(
        BadInput, match=r"mixed.jsonl:2: a pair of answers in a file of single answers"
    ):
        list(Reading(write_jsonl(tmp_path / "mixed.jsonl", [single, pair])))


def test_a_missing_answer_is_an_error_and_an_empty_one_is_not(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text('question,a,b\nq,"""""",y\nq,,y\n', encoding="utf-8")
    with pytest.raises(
        BadInput, match=r'pairs.csv:3: a: the answer is missing; write "" for an empty one'
    ):
        list(Reading(file))
    assert [one.a for one in Reading(file, skip_bad=True) if isinstance(one, Pair)] == [""]


def test_a_mapped_column_that_no_record_has_is_an_error() -> None:
    with pytest.raises(UserError, match="no record of records has the column wiinner"):
        _read({"question": "q", "a": "x", "b": "y"}, mapping={"label": "wiinner"})


# Published preferences ------------------------------------------------------------------------------------------------
ALPACA = {"question": "q", "output_1": "x", "output_2": "y", "generator_1": "base"}


@pytest.mark.parametrize(
    ("preference", "label"),
    [(1.0, "a"), (1.02, "a"), (1.5, "tie"), (0, "tie"), (1.93, "b"), (2, "b"), (None, None)],
)
def test_preferences_of_alpaca_eval_are_1_and_2_and_what_lies_between(
    preference: float | None, label: str | None
) -> None:
    (pair,) = _read({**ALPACA, "generator_2": "alpha", "preference": preference})
    assert (pair.label, pair.a_system, pair.b_system) == (label, "base", "alpha")
    graded = preference not in (None, 0, 1, 2)
    assert pair.meta.get("preference") == (preference if graded else None)


def test_a_preference_of_0_is_refused_where_it_could_be_the_first_of_0_and_1() -> None:
    with pytest.raises(BadInput, match="expected a, b or tie"):
        _read({"question": "q", "output_1": "x", "output_2": "y", "preference": 0})


def test_a_winner_by_the_name_of_its_system_is_a_choice() -> None:
    record = {"question": "q", "response_a": "x", "response_b": "y", "model_a": "Alpha"}
    pairs = _read(
        *(
            {**record, "id": winner, "model_b": "beta", "winner": winner}
            for winner in ("alpha", "beta", "tie")
        )
    )
    assert [pair.label for pair in pairs] == ["a", "b", "tie"]


def test_a_judgment_of_mt_bench_is_read_up_to_its_turn() -> None:
    """Its layout: both conversations are whole in a judgment of the first turn, too."""
    said = {"a": ("In France.", "In Italy."), "b": ("In Italy.", "In the north.")}
    conversations = {
        f"conversation_{side}": [
            {"role": "user", "content": "Where is Rome?"},
            {"role": "assistant", "content": first},
            {"role": "user", "content": "And Milan?"},
            {"role": "assistant", "content": second},
        ]
        for side, (first, second) in said.items()
    }
    models = {"model_a": "alpha", "model_b": "beta", "question_id": 81}
    judgments = [
        {**conversations, **models, "turn": 1, "winner": "model_b", "judge": "expert_1"},
        {**conversations, **models, "turn": 2, "winner": "tie (inconsistent)", "judge": "gpt-4"},
    ]
    mapping = {
        "question": "question(turn == `1` && conversation_a[:2] || conversation_a)",
        "a": "answer(turn == `1` && conversation_a[:2] || conversation_a)",
        "b": "answer(turn == `1` && conversation_b[:2] || conversation_b)",
        "question_id": "question_id,turn",
    }
    pairs = _read(*judgments, mapping=mapping)
    assert [(pair.question, pair.a, pair.b, pair.label, pair.question_id) for pair in pairs] == [
        ("Where is Rome?", "In France.", "In Italy.", "b", "81/1"),
        ("And Milan?", "In Italy.", "In the north.", "tie", "81/2"),
    ]


def test_a_winner_whose_name_both_systems_have_is_refused() -> None:
    record = {"question": "q", "response_a": "x", "response_b": "y", "model_a": "m", "model_b": "m"}
    with pytest.raises(BadInput, match="expected a, b or tie"):
        _read({**record, "winner": "m"})


ARENA = ("winner_model_a", "winner_model_b", "winner_tie")


@pytest.mark.parametrize(
    ("values", "label"),
    [((1, 0, 0), "a"), (("0", "1", "0"), "b"), ((0, 0, 1), "tie"), ((None, None, None), None)],
)
def test_a_choice_in_columns_of_0_and_1_is_read(values: tuple[Any, ...], label: str | None) -> None:
    record = {"question": "q", "response_a": "x", "response_b": "y"}
    (pair,) = _read(record | dict(zip(ARENA, values, strict=True)))
    assert pair.label == label


@pytest.mark.parametrize("values", [(1, 1, 0), (0, 0, 0), (1, 0.5, 0)])
def test_columns_of_0_and_1_without_one_choice_are_a_bad_record(values: tuple[Any, ...]) -> None:
    record = {"question": "q", "response_a": "x", "response_b": "y"}
    with pytest.raises(BadInput, match="label: expected one 1 and else 0, found winner_model_a"):
        _read(record | dict(zip(ARENA, values, strict=True)))


def test_a_choice_can_be_left_out_of_a_pair() -> None:
    record = {"question": "q", "a": "x", "b": "y", "winner": "not sure"}
    (pair,) = _read(record, mapping={"label": ""})
    assert (pair.label, pair.meta) == (None, {"winner": "not sure"})


def test_what_belongs_to_the_chosen_answer_goes_with_it_to_either_side() -> None:
    records = [
        {
            "question": f"q{number}",
            "chosen": f"good {number}",
            "rejected": f"bad {number}",
            "model_a": "strong",
            "model_b": "weak",
            "labels": {"ann": "chosen", "ben": "rejected", "cy": "tie"},
        }
        for number in range(20)
    ]
    pairs = [pair for pair in Reading(records) if isinstance(pair, Pair)]
    assert {pair.label for pair in pairs} == {"a", "b"}
    for pair in pairs:
        chosen: Side = "a" if pair.a.startswith("good") else "b"
        rejected = "b" if chosen == "a" else "a"
        assert pair.label == chosen
        assert (pair.a_system, pair.b_system)[chosen == "b"] == "strong"
        assert pair.labels == {"ann": chosen, "ben": rejected, "cy": "tie"}


def test_a_label_that_names_the_rejected_answer_stays_with_its_text() -> None:
    records = [
        {
            "question": f"q{number}",
            "chosen": f"x {number}",
            "rejected": f"y {number}",
            "label": label,
        }
        for number, label in enumerate(["rejected", "chosen", "tie"] * 8)
    ]
    for pair, record in zip(Reading(records), records, strict=True):
        assert isinstance(pair, Pair)
        preferred = {"tie": None}.get(record["label"], record.get(record["label"]))
        assert (pair.label == "tie") == (preferred is None)
        if pair.label in ("a", "b"):
            assert pair.text(pair.label) == preferred
