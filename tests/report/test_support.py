"""The answer by its sentences: what supports each, and the missing facts where they belong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.report.graphs import NLI
from tests.report.runs import HOSTILE, answers_on, row

import longmark
from longmark.records.turn import Context
from longmark.report.evidence import views_of
from longmark.report.html import write_report
from longmark.report.support import Piece, quotes_in, sentences_view
from longmark.report.worst import worst_of
from longmark.scores.manifest import MetricFacts
from longmark.text.graph import Statement, StatementGraph, to_evidence
from longmark.text.refusal import NOTHING_RELEVANT

ANSWER = """\
Two measures help.

1. Ice of 20 mm broke lines in 2009. The repair took eleven days.
2. Buried lines are out of reach of ice, and they never fail.

## In short
Sand the roads."""
FACTS = {
    "m": MetricFacts(0, 1, True, view=("support", "m")),
    "g": MetricFacts(0, 1, True, view=("graph", "g")),
}
PASSAGES = (
    Context(text="It was cold. In 2009 ice of 20 mm broke lines.", id="doc-1"),
    Context(text="Buried lines: safe."),
)
RECORD: dict[str, Any] = {
    "id": "ice",
    "question": "How do lines stand an ice storm?",
    "answer": ANSWER,
    "contexts": [{"text": one.text, "id": one.id} for one in PASSAGES],
    "references": ["Ice of 20 mm broke lines in 2009. Trim the trees beside lines."],
    "claims": [
        "Ice of 20 mm broke lines in 2009.",
        "Buried lines are out of reach of ice.",
        "Buried lines never fail.",
    ],
    "claims_by_contexts": [["entails", "neutral"], ["neutral", "entails"], ["neutral", "neutral"]],
    "claims_by_reference": ["entails", "neutral", "contradicts"],
    "reference_claims": [
        "Ice of 20 mm broke lines in 2009.",
        "Trees beside the lines should be trimmed.",
    ],
    "reference_claims_by_answer": ["entails", "neutral"],
    "reference_claims_by_contexts": [["entails", "neutral"], ["neutral", "neutral"]],
}


def seen(*claims: dict[str, Any], answer: str = ANSWER, **more: Any) -> list[Piece]:
    return sentences_view(
        answer,
        PASSAGES,
        {"m": row("x", "m", 0.5, evidence={"claims": list(claims), **more})},
        FACTS,
    )


def at(pieces: list[Piece], words: str) -> Piece:
    (found,) = [piece for piece in pieces if words in piece.text]
    return found


def test_a_sentence_has_the_state_of_its_claims_and_the_passages_beside_it():
    pieces = seen(
        {"claim": "Ice of 20 mm broke lines in 2009.", "passages": [1]},
        {"claim": "Buried lines are out of reach of ice.", "passages": [2], "reference": "neutral"},
        {"claim": "Buried lines never fail.", "reference": "contradicts"},
        {"claim": "The repair lasted eleven days."},
        {"claim": "The roads should be sanded."},
    )
    states = {piece.text[:18]: piece.state for piece in pieces}
    assert states == {
        "Two measures help.": "",
        "1. Ice of 20 mm br": "yes",
        "The repair took el": "no",
        "2. Buried lines ar": "part",
        "## In short": "",
        "Sand the roads.": "no",
    }
    (note,) = at(pieces, "Ice of 20").notes
    assert (note["says"], note["passages"]) == (
        "passage 1",
        [(1, "doc-1", "In 2009 ice of 20 mm broke lines.")],
    )
    assert (
        at(pieces, "Buried").notes[1]["says"] == "no passage says it; the reference contradicts it"
    )


def test_a_sentence_with_citations_has_their_fates_and_the_sources_beside_it():
    needed = {"name": "1", "passages": [1], "fate": "needed"}
    redundant = {"name": "2", "passages": [2], "fate": "redundant"}
    absent = {"name": "9", "passages": [], "fate": "not resolvable"}
    missing = {"name": "https://x.org", "passages": [], "fate": "missing source"}
    pieces = seen(
        {"claim": "Ice of 20 mm broke lines in 2009.", "passages": [1], "state": "supported"}
        | {"citations": [needed, redundant]},
        {"claim": "The repair took eleven days.", "state": "not supported", "citations": [absent]},
        {"claim": "Buried lines are out of reach of ice, and they never fail."}
        | {"state": "not known", "citations": [missing]},
        {"claim": "Sand the roads.", "state": "not cited", "citations": []},
    )
    notes = [(piece.state, piece.notes[0]["says"]) for piece in pieces if piece.notes]
    assert notes == [
        ("yes", "its sources support it: [1] needed, [2] redundant"),
        ("no", "its sources do not support it: [9] not resolvable"),
        (
            "unknown",
            "the example does not have the text of a source: [https://x.org] missing source",
        ),
        ("uncited", "it names no source"),
    ]
    beside = at(pieces, "Ice of 20").notes[0]["passages"]
    assert [number for number, _, _ in beside] == [1, 2]


def test_each_place_of_a_repeated_sentence_has_its_own_citations():
    fates = {"1": "not supporting", "2": "needed", "3": "not supporting"}
    claims = [
        {
            "claim": "It rains.",
            "state": "supported" if fate == "needed" else "not supported",
            "passages": [2] * (fate == "needed"),
            "citations": [{"name": name, "fate": fate}],
        }
        for name, fate in fates.items()
    ]
    pieces = seen(*claims, answer="It rains [1]. It rains [2]. It rains [3].")
    assert [(piece.state, [note["says"] for note in piece.notes]) for piece in pieces] == [
        ("no", ["its sources do not support it: [1] not supporting"]),
        ("yes", ["its sources support it: [2] needed"]),
        ("no", ["its sources do not support it: [3] not supporting"]),
    ]


def test_two_ways_to_judge_citations_stand_beside_each_sentence_by_their_names():
    """Of a repeated sentence, too: what one of them says of a place is not taken for the next place's."""
    graded = {"1": "full support", "2": "no support"}
    needed = {"1": "needed", "2": "not supporting"}
    rows = {
        name: row(
            "x",
            name,
            0.5,
            evidence={
                "claims": [
                    {
                        "claim": "It rains.",
                        "state": "not supported" if fate.startswith("no") else "supported",
                        "passages": [],
                        "citations": [{"name": number, "fate": fate}],
                    }
                    for number, fate in fates.items()
                ]
            },
        )
        for name, fates in {"m": needed, "m@support=graded": graded}.items()
    }
    facts = dict.fromkeys(rows, FACTS["m"])
    pieces = sentences_view("It rains [1]. It rains [2].", PASSAGES, rows, facts)
    assert [[note["says"] for note in piece.notes] for piece in pieces] == [
        [
            "its sources support it: [1] needed (m)",
            "its sources support it: [1] full support (m@support=graded)",
        ],
        [
            "its sources do not support it: [2] not supporting (m)",
            "its sources do not support it: [2] no support (m@support=graded)",
        ],
    ]


def test_a_sentence_whose_sources_support_a_part_of_it_has_the_grades_of_its_citations():
    partial = {"name": "1", "passages": [1], "fate": "partial support"}
    none = {"name": "2", "passages": [2], "fate": "no support"}
    pieces = seen(
        {"claim": "Ice of 20 mm broke lines in 2009.", "state": "partly supported"}
        | {"citations": [partial, none]},
    )
    piece = at(pieces, "Ice of 20")
    assert (piece.state, piece.notes[0]["says"]) == (
        "part",
        "a source that it names supports a part of it: [1] partial support, [2] no support",
    )


def test_a_sentence_that_names_no_source_is_supported_if_a_passage_says_it():
    pieces = seen(
        {"claim": "Ice of 20 mm broke lines in 2009.", "state": "not cited", "citations": []},
        {"claim": "Ice of 20 mm broke lines in 2009.", "passages": [1]},
    )
    assert at(pieces, "Ice of 20").state == "yes"


def test_a_missing_fact_stands_below_the_sentence_it_is_nearest_to_and_others_at_the_end():
    missing = [
        {"claim": "Trees beside lines fall onto buried lines too.", "answer": "neutral"},
        {"claim": "Generators need fuel.", "answer": "contradicts", "passages": [2]},
        {"claim": "Ice broke lines.", "answer": "entails"},
        {"claim": "Nobody knows whether.", "answer": None},
    ]
    pieces = seen({"claim": "Nowhere at all said so."}, reference_claims=missing)
    assert [one["text"][:5] for one in at(pieces, "Buried").missing] == ["Trees"]
    last = pieces[-1]
    assert (last.text, [one["claim"] for one in last.notes]) == ("", ["Nowhere at all said so."])
    assert [(one["text"], one["sources"]) for one in last.missing] == [
        ("Generators need fuel.", "the reference and passage 2; the answer contradicts it")
    ]


def test_the_missing_statements_of_a_graph_stand_in_the_answer_too():
    nodes = (
        Statement("a0", "answer", "Ice broke lines."),
        Statement("c0", "context", "The repair cost ten millions.", ("passage 1",)),
    )
    rows = {"g": row("x", "g", 0.0, evidence=to_evidence(StatementGraph(nodes)))}
    pieces = sentences_view(ANSWER, PASSAGES, rows, FACTS)
    assert [(one["text"], one["sources"]) for one in at(pieces, "repair").missing] == [
        ("The repair cost ten millions.", "passage 1")
    ]
    assert sentences_view(ANSWER, PASSAGES, {NLI: rows["g"]}, {NLI: MetricFacts(0, 1)}) == [], (
        "no view is declared"
    )


def test_a_quote_says_where_a_claim_stands():
    claim = {"claim": "Ice of 20 mm broke lines.", "quote": "eleven  days"}
    assert at(seen(claim), "repair").notes
    assert at(seen({**claim, "quote": "twelve days"}), "Ice of 20").notes, (
        "a quote that is not there places nothing"
    )


def test_without_passages_the_reference_decides():
    rows = {
        "m": row(
            "x",
            "m",
            0.5,
            evidence={"claims": [{"claim": "Ice broke lines.", "reference": "entails"}]},
        )
    }
    (note,) = at(sentences_view(ANSWER, (), rows, FACTS), "Ice").notes
    assert (note["state"], note["says"]) == ("right", "the reference says it")


NUGGETS = [
    {"claim": "The repair cost 3 million.", "expected_by": "vital nugget", "held": "not_support"},
    {"claim": "Ice of 20 mm broke lines.", "expected_by": "vital nugget", "held": "support"},
    {"claim": "Buried lines fail after 50 years.", "expected_by": "okay nugget"}
    | {"held": "partial_support"},
]


def test_a_nugget_that_the_answer_lacks_stands_where_it_belongs_with_its_importance():
    facts = [
        {**fact, "answer": "entails" if fact["held"] == "support" else "neutral"}
        for fact in NUGGETS
    ]
    rows = {"m": row("x", "m", 0.5, evidence={"reference_claims": facts, "nuggets": 3})}
    declared = {"m": MetricFacts(0, 1, True, view=("support", "m"), evidence=("question",))}
    pieces = sentences_view(ANSWER, PASSAGES, rows, declared)
    assert {fact["text"]: fact["sources"] for piece in pieces for fact in piece.missing} == {
        "The repair cost 3 million.": "vital nugget",
        "Buried lines fail after 50 years.": "okay nugget; the answer holds a part of it",
    }
    assert [fact["text"] for fact in at(pieces, "The repair took").missing] == [
        "The repair cost 3 million."
    ]
    (view,) = views_of(rows, declared)
    assert (view.title, view.count) == (
        "Facts that the answer should hold",
        "1 of 3 facts in the answer",
    )


# claim: (passages that entail it, its relation to the reference); by hand, for an answer with two passages
CLAIMS: list[tuple[list[int], str]] = [
    ([1], "neutral"),
    ([], "entails"),
    ([2], "entails"),
    ([], "contradicts"),
]
JUDGED_BY: dict[tuple[str, ...] | None, list[str]] = {
    ("contexts",): ["yes", "no", "yes", "no"],
    ("references",): ["wrong", "right", "right", "wrong"],
    ("contexts", "references"): ["yes", "no", "yes", "no"],
    (): ["", "", "", ""],
    None: ["yes", "no", "yes", "no"],
}


@pytest.mark.parametrize("evidence", JUDGED_BY)
def test_a_claim_is_supported_by_what_the_metric_judged_by_and_by_nothing_else(
    evidence: tuple[str, ...] | None,
):
    claims = [
        {"claim": f"Ice {word} lines.", "passages": passages, "reference": reference}
        for word, (passages, reference) in zip("abcd", CLAIMS, strict=True)
    ]
    facts = {"m": MetricFacts(0, 1, True, view=("support", "m"), evidence=evidence)}
    rows = {"m": row("x", "m", 0.0, evidence={"claims": claims})}
    pieces = sentences_view(
        "Ice a lines. Ice b lines. Ice c lines. Ice d lines.", PASSAGES, rows, facts
    )
    assert [piece.state for piece in pieces] == JUDGED_BY[evidence]
    (view,) = views_of(rows, facts)
    source = (evidence or ("contexts",))[0] if evidence != () else ""
    says = {
        "contexts": "2 of 4 claims supported by a passage",
        "references": "2 of 4 claims in the reference",
    }
    assert view.count == says.get(source, "4 claims")
    (_, why), *_ = worst_of(rows, facts)
    unsupported = {"contexts": "Ice b lines.", "references": "Ice a lines."}.get(source)
    assert (why and why[1]) == unsupported


def test_what_only_the_reference_says_is_not_supported_and_the_page_says_both():
    (note,) = at(
        seen({"claim": "Ice of 20 mm broke lines.", "reference": "entails"}), "Ice of 20"
    ).notes
    assert (note["state"], note["says"]) == ("no", "no passage says it; the reference says it")


def test_without_a_passage_or_a_reference_to_judge_by_nothing_is_marked():
    claim = {"claim": "Ice broke lines.", "passages": [1], "reference": "entails"}
    facts = {"m": MetricFacts(0, 1, True, view=("support", "m"), evidence=("contexts",))}
    for passages, status in (((), "ok"), (PASSAGES, "missing_input")):
        rows = {
            "m": row(
                "x",
                "m",
                None if status != "ok" else 0.5,
                status=status,
                evidence={"claims": [claim]},
            )
        }
        assert {piece.state for piece in sentences_view(ANSWER, passages, rows, facts)} == {""}


def test_a_passage_that_the_example_does_not_have_supports_nothing():
    (note,) = at(seen({"claim": "Ice of 20 mm broke lines.", "passages": [3]}), "Ice of 20").notes
    assert (note["state"], note["says"]) == (
        "no",
        "no passage says it (the example has no passage 3)",
    )


@pytest.mark.parametrize(
    "refusal",
    [
        NOTHING_RELEVANT,
        "I'm sorry, but I can't answer this question.",
        "The provided context does not mention the repair.",
        "很抱歉，我无法回答这个问题。",
    ],
)
def test_a_refusal_is_never_supported(refusal: str):
    claim = {"claim": refusal, "passages": [1], "reference": "entails"}
    rows = {"m": row("x", "m", 1.0, evidence={"claims": [claim]})}
    (piece,) = sentences_view(refusal, PASSAGES, rows, FACTS)
    assert (piece.state, piece.notes[0]["says"]) == (
        "declined",
        "it only says that there is no answer",
    )
    (view,) = views_of(rows, FACTS)
    assert view.count == "0 of 1 claim supported by a passage, 1 only says that there is no answer"
    other = {"claim": "The passages and the question are about ice.", "passages": [1]}
    rows = {"m": row("x", "m", 1.0, evidence={"claims": [other]})}
    (piece,) = sentences_view(
        "The passages say nothing about the question on ice.", PASSAGES, rows, FACTS
    )
    assert piece.state == "declined", "whatever claim the judge makes of it"


def test_an_answer_without_support_has_no_sign_of_it_on_the_page(tmp_path: Path):
    """The answer says what the reference says, the passage is about something else: faithfulness 0, precision 1."""
    record = {
        "id": "limit",
        "question": "What is the limit?",
        "answer": "The limit is 600 requests a minute.",
        "contexts": ["The API uses HTTPS."],
        "references": ["The limit is 600 requests a minute."],
        "claims": ["The limit is 600 requests a minute."],
        "claims_by_contexts": [["neutral"]],
        "claims_by_reference": ["entails"],
        "reference_claims": ["The limit is 600 requests a minute."],
        "reference_claims_by_answer": ["entails"],
        "reference_claims_by_contexts": [["neutral"]],
    }
    found = {}
    for name, given in (
        ("passages", record),
        ("none", {**record, "contexts": [], "claims_by_contexts": None}),
    ):
        given = {key: value for key, value in given.items() if value is not None}
        if name == "none":
            del given["reference_claims_by_contexts"]
        longmark.run([given], "ragchecker", out=tmp_path / name)
        write_report([tmp_path / name], tmp_path / f"{name}.html")
        (shown,) = answers_on(tmp_path / f"{name}.html")
        found[name] = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", shown))
    assert "✗ not supported no passage says it; the reference says it" in found["passages"]
    assert "0 of 1 claim supported by a passage" in found["passages"]
    assert "✓" not in found["passages"]
    assert "✓ in the reference the reference says it" in found["none"]
    assert "supported" not in found["none"].replace("Claims and what supports them", "")


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER,
        "",
        "?!",
        "- a.\n- b.",
        "دفن الخطوط. ثم الرمل.",
        "冰断了电线。埋线。",
        "x " * 3000,
        HOSTILE,
        "a.\r\nb.\n\n\n c",
    ],
)
def test_every_word_of_the_answer_is_there_once_and_in_its_order(answer: str):
    pieces = seen({"claim": "Ice of 20 mm broke lines.", "passages": [99, 0, -1]}, answer=answer)
    assert "".join("".join(piece.text for piece in pieces).split()) == "".join(answer.split())
    assert all(answer[piece.start :].startswith(piece.text) for piece in pieces)
    assert all(note["passages"] == [] for piece in pieces for note in piece.notes)


def test_evidence_of_another_form_marks_nothing():
    shapes: list[Any] = [5, [5], [{}], [{"claim": 3}], [{"claim": "Ice.", "passages": ["1"]}]]
    for claims in shapes:
        rows = {"m": row("x", "m", 0.5, evidence={"claims": claims})}
        assert sentences_view(ANSWER, PASSAGES, rows, FACTS) == []


def test_quotes_are_marked_in_the_sentences_that_they_stand_in():
    piece = Piece("broke lines in", 5)
    assert quotes_in(piece, {(0, 7): 1, (11, 40): 2, (0, 5): 3, (19, 25): 4}) == {
        (0, 2): 1,
        (6, 14): 2,
    }


def test_the_page_says_in_words_what_its_colours_say(tmp_path: Path):
    longmark.run([RECORD], "ragchecker", out=tmp_path / "run")
    write_report([tmp_path / "run"], tmp_path / "page.html")
    (shown,) = answers_on(tmp_path / "page.html")
    plain = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", shown))
    assert re.search(
        "Ice of 20 mm broke lines in 2009. ✓ supported passage 1 1 · doc-1 In 2009 ice", plain
    )
    assert "and they never fail. ◐ partly supported" in plain
    assert "+ missing from the answer Trees beside the lines should be trimmed." in plain
    assert shown.count('<mark class="support') == 2
    assert "See Claims and what supports them above" in plain
