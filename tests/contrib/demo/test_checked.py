"""What the demo makes of the claim checker's recorded replies. Values are worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("scipy")

from bench.demo_checks import steps

from longmark.contrib.demo.answers import Corpus
from longmark.contrib.demo.checked import (
    BEFORE,
    CHECKER,
    FALSE,
    NOTHING,
    OVERLAP,
    CheckedCorpus,
    CheckedSentence,
    auc_of_answers,
)
from longmark.records import Example

FLAWED = "The dam broke in May. Nine people died. It was rebuilt in 1950. A fish lives there."
SOUND = "The dam broke in June. Nine people died. It was rebuilt."


def corpus() -> Corpus:
    """Two answers to a question: one with a wrong number and a sentence that was added, one with nothing put in."""
    flawed = Example(id="q-a", question_id="q", question="?", answer=FLAWED, system="a")
    sound = Example(id="q-b", question_id="q", question="?", answer=SOUND, system="b")
    number, added = FLAWED.index("1950"), FLAWED.index(" A fish")
    labels: dict[str, list[dict[str, Any]]] = {
        "q-a": [
            {"kind": "number", "start": number, "end": number + 4, "new": "1950", "old": "1940"},
            {
                "kind": "unsupported",
                "start": added,
                "end": len(FLAWED),
                "new": " A fish lives there.",
                "old": "",
            },
        ],
        "q-b": [],
    }
    return Corpus([flawed, sound], labels)


def checked(*, of_the_flawed: dict[str, float], of_the_sound: dict[str, float]) -> CheckedCorpus:
    """Sentences with their probabilities by the claim checker; by word overlap all have .9."""
    answers = corpus()
    kinds = {
        "It was rebuilt in 1950.": "number",
        "A fish lives there.": "unsupported",
        "It was rebuilt in 1940.": BEFORE,
    }
    return CheckedCorpus(
        answers,
        [
            CheckedSentence(
                example,
                text,
                kinds.get(text, NOTHING),
                "",
                {CHECKER: probability, OVERLAP: 0.9},
                {CHECKER: probability >= 0.5, OVERLAP: True},
            )
            for example, probabilities in zip(
                answers.answers, (of_the_flawed, of_the_sound), strict=True
            )
            for text, probability in probabilities.items()
        ],
    )


def recorded() -> CheckedCorpus:
    return checked(
        of_the_flawed={
            "The dam broke in May.": 0.4,
            "Nine people died.": 0.8,
            "It was rebuilt in 1950.": 0.2,
            "A fish lives there.": 0.45,
            "It was rebuilt in 1940.": 0.7,
        },
        of_the_sound={"Nine people died.": 0.9},
    )


def test_the_changes_of_a_defect_alone():
    number, added = corpus().changes()
    assert (number.old, number.new) == (("It was rebuilt in 1940.",), ("It was rebuilt in 1950.",))
    assert (added.old, added.new) == ((), ("A fish lives there.",))


def test_a_sentence_that_only_names_the_defects_of_others_is_untouched():
    flawed, sound = corpus().answers
    assert corpus().untouched(flawed) == ["The dam broke in May.", "Nine people died."]
    assert corpus().untouched(sound) == [
        "The dam broke in June.",
        "Nine people died.",
        "It was rebuilt.",
    ]


def test_the_estimate_of_an_answer_is_of_its_defects_and_a_share_of_the_others():
    scores = recorded().score
    assert scores["q-a"] == pytest.approx(
        (0 + 0 + 2 * (1 / 2)) / 4
    )  # two false, and half of the two others
    assert scores["q-b"] == pytest.approx(3 * 1 / 3)  # one of three is recorded, and is supported


def test_an_answer_of_which_a_defect_is_not_recorded_has_no_estimate():
    some = checked(
        of_the_flawed={"Nine people died.": 0.8, "A fish lives there.": 0.1}, of_the_sound={}
    )
    assert some.score == {}


def test_how_a_defect_alone_changes_the_share_of_supported_sentences():
    some = recorded()
    assert some.lower("number") == (1, 0, 1)  # supported before, unsupported after
    assert some.lower("unsupported") == (
        1,
        0,
        1,
    )  # one more unsupported sentence, beside a supported one
    missed = checked(
        of_the_flawed={
            "It was rebuilt in 1950.": 0.7,
            "It was rebuilt in 1940.": 0.7,
            "A fish lives there.": 0.6,
        },
        of_the_sound={},
    )
    assert missed.lower("number") == (0, 0, 1)  # supported before and after
    assert missed.lower("unsupported") == (
        0,
        0,
        0,
    )  # one more supported sentence; two others are not recorded
    known = {"The dam broke in May.": 0.6, "Nine people died.": 0.6, "It was rebuilt in 1940.": 0.7}
    full = checked(of_the_flawed={**known, "A fish lives there.": 0.6}, of_the_sound={})
    assert full.lower("unsupported") == (0, 0, 1)  # all are supported, before and after
    half = checked(
        of_the_flawed={**known, "Nine people died.": 0.1, "A fish lives there.": 0.6},
        of_the_sound={},
    )
    assert half.lower("unsupported") == (0, 1, 1)  # two of three before, three of four after


def test_a_defect_that_leaves_a_sentence_out_is_not_counted():
    answers = corpus()
    label = {
        "kind": "deleted",
        "start": len(SOUND),
        "end": len(SOUND),
        "new": "",
        "old": " It holds.",
    }
    answers.labels["q-b"].append(label)
    assert CheckedCorpus(answers, recorded().sentences).lower("deleted") is None


def test_how_a_checker_tells_false_sentences_from_others():
    # false: .2, .45; others: .4, .8, .7 (before), .9: .2 is below all four, .45 below three
    assert recorded().auc(CHECKER).value == pytest.approx(7 / 8)
    assert recorded().auc(OVERLAP).value == 0.5
    assert recorded().auc_difference().value == pytest.approx(3 / 8)


def test_how_many_sentences_a_checker_marks():
    # the claim checker marks .4 of .4, .8, .7, .9, and both of .2 and .45; word overlap none of the first four
    assert (recorded().marked(CHECKER, BEFORE, NOTHING), recorded().marked(CHECKER, *FALSE)) == (
        1,
        2,
    )
    assert recorded().marked(OVERLAP, BEFORE, NOTHING) == 0


def test_how_a_score_tells_answers_with_a_defect_from_others():
    answers = corpus()
    assert auc_of_answers(answers, {"q-a": 0.3, "q-b": 0.4}).value == 1
    assert auc_of_answers(answers, {"q-a": 0.4, "q-b": 0.4}).value == 0.5
    assert auc_of_answers(answers, {"q-a": 0.4}).value is None


def test_the_examples_are_the_surest_of_each_kind_and_the_surest_error():
    assert [sentence.text for sentence in recorded().examples()] == [
        "It was rebuilt in 1950.",  # the number; no direction is recorded
        "A fish lives there.",
        "The dam broke in May.",  # without a defect, and marked
    ]


def test_every_sentence_of_the_answers_is_asked_once_with_each_passage():
    work, answers = steps(Corpus.read()), Corpus.read()
    asked = [
        (passage, claim)
        for pairs in work.values()
        for passage, claims in pairs.items()
        for claim in claims
    ]
    assert len(asked) == len(set(asked))
    new_sentences: dict[str, list[str]] = {}
    for change in answers.changes():
        new_sentences.setdefault(change.example.id, []).extend(change.new)
    assert {
        (context.text, claim)
        for answer in answers.answers
        for context in answer.contexts
        for claim in (*answers.untouched(answer), *new_sentences.get(answer.id, ()))
    } <= set(asked)
