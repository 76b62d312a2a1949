"""Published data sets become examples that carry their labels; records of another form are named with their line."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.program import run, write_jsonl

from longmark.contrib.make.published import read
from longmark.contrib.papers.comprehensiveness.matches import adjusted
from longmark.errors import BadInput, UnknownName, UserError
from longmark.records.files import lines
from longmark.records.pair import singles

SHARED = Path(__file__).parents[4] / "shared" / "data"
ANSWERS = ("None.", "The first.", "The second.", "Both.", "Both, and they differ.")
WIKI: dict[str, Any] = {
    "question": "How high is the tower?",
    "context1_self_contained": "The tower is 90 m high.",
    "context2_self_contained": "The tower is 95 m high.",
    "model": "writer",
    **{f"answer{i}": text for i, text in enumerate(ANSWERS)},
    **{
        f"label{i}": label
        for i, label in enumerate(
            ["Incorrect", "Correct", "Correct", "Partially correct", "Correct"]
        )
    },
}
BANK: dict[str, Any] = {
    "question": "Where did Ada study?",
    "default_evidence": "Ada studied in Bern.",
    "misinformation_conflict_evidence_evidence": "Ada studied in Graz.",
    "temporal_conflict_evidence": "From 2031 Ada studied in Graz.",
    "semantic_conflict_evidence": "Ada, the botanist, studied in Graz.",
    "default_claim": "Ada studied in Bern.",
    "misinformation_conflict_claim": "Ada studied in Graz.",
}
HALU: dict[str, Any] = {
    "question_text": "Why is the sky blue?",
    "ans1_text": "Scattering.",
    "ans2_text": "Short waves scatter more.",
    "ans1_label": "human_answer",
    "ans2_label": "model_answer",
    "incomplete_ans_label": "['answer1', 'answer1']",
    "annotator": "expert",
    "category": "physics",
}


ELI5: dict[str, Any] = {
    "q_id": "5lchat",
    "title": "Why is there no beer with caffeine?",
    "selftext": "",
    "category": "Chemistry",
    "subreddit": "explainlikeimfive",
    "answers": {
        "a_id": ["a", "b"],
        "text": ["Law.", "It is sold."],
        "score": [3, 12],
        "text_urls": [[], []],
    },
}


def real(*parts: str) -> Path:
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"the published data are not here ({path.name})")
    return path


def test_each_answer_of_wikicontradict_has_both_contexts_and_says_which_it_was_written_from(
    tmp_path: Path,
):
    made = list(singles(read("wikicontradict", write_jsonl(tmp_path / "w.jsonl", [WIKI])), "w"))
    assert [one.answer for one in made] == list(ANSWERS)
    assert {tuple(context.id for context in one.contexts) for one in made} == {
        ("context1", "context2")
    }
    assert [len(one.meta["given"]) for one in made] == [0, 1, 1, 2, 2]
    assert len({one.question_id for one in made}) == 1
    after = [adjusted(one.meta["label"], one.meta["given"]) for one in made]
    assert after == [
        "Incorrect",
        "Partially correct",
        "Partially correct",
        "Partially correct",
        "Correct",
    ]


def test_a_record_of_conflictbank_gives_the_default_claim_and_the_one_that_contradicts_it(
    tmp_path: Path,
):
    made = list(singles(read("conflictbank", write_jsonl(tmp_path / "b.jsonl", [BANK])), "b"))
    assert [one.answer for one in made] == ["Ada studied in Bern.", "Ada studied in Graz."]
    assert [one.meta["matches"] for one in made] == [
        ["default"],
        ["misinformation", "temporal", "semantic"],
    ]
    assert [context.id for context in made[0].contexts] == [
        "default",
        "misinformation",
        "temporal",
        "semantic",
    ]


def test_the_other_answer_is_the_context_of_an_answer_of_haluquestqa_and_experts_marks_become_labels(
    tmp_path: Path,
):
    path, labels = write_jsonl(tmp_path / "h.jsonl", [HALU]), tmp_path / "labels.csv"
    first, second = read("haluquestqa", path)
    assert (first.contexts[0].text, second.contexts[0].text) == (
        "Short waves scatter more.",
        "Scattering.",
    )
    done = run(
        "dataset",
        "haluquestqa",
        path,
        "--out",
        tmp_path / "e.jsonl",
        "--labels",
        labels,
        home=tmp_path,
    )
    assert done.code == 0, done.err
    assert [line.split(",")[:3] for line in labels.read_text().splitlines()] == [
        ["example_id", "label", "value"],
        ["haluquestqa-0-answer1", "complete", "no"],
        ["haluquestqa-0-answer2", "complete", "yes"],
    ]


def test_a_sample_takes_as_many_records_as_asked_in_their_order(tmp_path: Path):
    path = write_jsonl(
        tmp_path / "b.jsonl", [{**BANK, "question": f"Number {i}?"} for i in range(9)]
    )
    made = [one.question or "" for one in read("conflictbank", path, 3, seed=1)]
    assert made == sorted(made)
    assert len(set(made)) == 3
    assert made == [one.question for one in read("conflictbank", path, 3, seed=1)]
    with pytest.raises(UserError, match=r"--n 10: .* has only 9 records"):
        read("conflictbank", path, 10)


def test_a_file_of_another_data_set_is_refused_in_one_line(tmp_path: Path):
    path = write_jsonl(tmp_path / "bank.jsonl", [BANK] * 3)
    with pytest.raises(
        UserError, match=r"not a file of wikicontradict: in all 3 records, context1_self_contained"
    ) as raised:
        read("wikicontradict", path)
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            {"question": "Only that?"},
            "w.jsonl:2: not a record of wikicontradict: context1_self_contained: is missing",
        ),
        ({**WIKI, "answer3": " "}, "answer3: is empty"),
        (
            {**WIKI, "label0": "Right"},
            'label0: expected one of Correct, Partially correct, Incorrect, found "Right"',
        ),
        ({**WIKI, "question": 7}, "question: expected text, found 7"),
        ([1], "expected named fields, found a list"),
    ],
)
def test_a_record_of_another_form_is_named_with_its_line(record: Any, message: str, tmp_path: Path):
    with pytest.raises(BadInput, match=message.replace("(", r"\(")):
        read("wikicontradict", write_jsonl(tmp_path / "w.jsonl", [WIKI, record]))
    with pytest.raises(UnknownName, match="wikicontradict, conflictbank, haluquestqa"):
        read("wikicontradiction", tmp_path / "w.jsonl")


def test_labels_are_written_for_haluquestqa_only(tmp_path: Path):
    path = write_jsonl(tmp_path / "b.jsonl", [BANK])
    done = run(
        "dataset",
        "conflictbank",
        path,
        "--out",
        tmp_path / "e.jsonl",
        "--labels",
        "l.csv",
        home=tmp_path,
    )
    assert done.code == 2
    assert "--labels is for haluquestqa" in done.err
    assert not (tmp_path / "e.jsonl").exists()


def test_wikicontradict_as_published_has_1200_answers_to_48_questions_and_406_adjusted_labels():
    made = read("wikicontradict", real("wikicontradict", "wiki_contradict_simple_humaneval.jsonl"))
    assert len(made) == len({one.id for one in made}) == 1200
    assert (len({one.meta["record"] for one in made}), len({one.question_id for one in made})) == (
        240,
        48,
    )
    assert (
        sum(adjusted(one.meta["label"], one.meta["given"]) != one.meta["label"] for one in made)
        == 406
    )


def test_the_published_samples_of_conflictbank_are_read():
    made = read("conflictbank", real("conflictbank", "samples.json"))
    assert Counter(len(one.contexts) for one in made) == {4: 6}


def test_experts_mark_human_answers_of_haluquestqa_as_incomplete_more_often_than_models_answers():
    path = real("haluquestqa", "half.jsonl")
    marked = Counter(
        one.system for one in read("haluquestqa", path) if one.meta["complete"] == "no"
    )
    counted = Counter[str]()
    for _, line in lines(path):
        record = json.loads(line)
        for number in (1, 2):
            counted[record[f"ans{number}_label"]] += (
                f"answer{number}" in record["incomplete_ans_label"]
            )
    assert marked == counted
    assert marked["human_answer"] > marked["model_answer"] > 0


def test_a_question_of_eli5_has_the_best_answer_as_reference_and_the_passages_of_its_record(
    tmp_path: Path,
):
    path = write_jsonl(
        tmp_path / "e.jsonl", [ELI5, {**ELI5, "q_id": "6", "contexts": ["One.", "Two."]}]
    )
    bare, full = singles(read("eli5", path), path)
    assert (bare.id, bare.question, bare.answer) == (
        "eli5-5lchat",
        "Why is there no beer with caffeine?",
        None,
    )
    assert (bare.references, bare.contexts, bare.meta["category"]) == (
        ("It is sold.",),
        (),
        "Chemistry",
    )
    assert [(one.id, one.text) for one in full.contexts] == [
        ("context1", "One."),
        ("context2", "Two."),
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"q_id": None}, "q_id: is empty"),
        (
            {"answers": [1]},
            "answers: expected an object with lists of text and score, found a list",
        ),
        ({"answers": {"text": ["a"], "score": []}}, "answers: expected as many scores as texts"),
        (
            {"answers": {"text": ["a"], "score": ["9"]}},
            "answers: expected numbers as scores, found",
        ),
        ({"contexts": {"a": 1}}, "contexts: expected a list of texts"),
    ],
)
def test_a_record_that_is_not_of_eli5_is_named(tmp_path: Path, change: dict[str, Any], said: str):
    with pytest.raises(BadInput, match="2: not a record of eli5: " + re.escape(said)):
        read("eli5", write_jsonl(tmp_path / "e.jsonl", [ELI5, {**ELI5, **change}]))
