"""People's labels of sentences and of citations beside what metrics say of the same sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.report.runs import row, write_run

import longmark
from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.part_scores import SentenceReading, scored_parts
from longmark.analysis.metaeval.ratings import RatedMetric, RatingLabel
from longmark.analysis.metaeval.sections import document
from longmark.contrib.decide.correction_options import CorrectionOptions
from longmark.contrib.decide.label_file import read_label_file
from longmark.errors import BadInput, UserError
from longmark.records import Example, Row
from longmark.records.evidence import CitedClaim, SourceFate, SupportedClaim
from longmark.report.placing import placed
from longmark.scores.answer_parts import AnswerPart
from longmark.scores.answer_texts import answer_sha256
from longmark.scores.labels import Labels
from longmark.scores.manifest import MetricFacts

ANSWER = "Ice floats on water [1]. Salt melts it [2][3]. It is blue [1]. Bears like it."
SENTENCES = ((0, 24), (25, 46), (47, 62), (63, 77))
_FACTS = {
    name: MetricFacts(0, 1, True, view=("support", metric), evidence=evidence)
    for name, metric, evidence in (
        ("citations.recall", "citations", ("contexts",)),
        ("citations.precision", "citations", ("contexts",)),
        ("ragchecker.precision", "ragchecker", ("references",)),
        ("ragchecker.faithfulness", "ragchecker", ("contexts",)),
    )
} | {"classic.length": MetricFacts()}
_DECLARED = {
    name: {
        "lo": 0,
        "hi": 1,
        "higher_is_better": True,
        "view": list(facts.view),
        "evidence": list(facts.evidence or ()),
    }
    for name, facts in _FACTS.items()
}


def cited(claim: str, state: str, **fates: str) -> dict[str, Any]:
    citations = [
        {"name": name[1:], "passages": [int(name[1:])], "fate": fate}
        for name, fate in fates.items()
    ]
    return {"claim": claim, "passages": [], "state": state, "citations": citations}


CLAIMS = [
    cited("Ice floats on water.", "supported", n1="needed"),
    cited("Salt melts it.", "supported", n2="needed", n3="redundant"),
    cited("It is blue.", "not supported", n1="not supporting"),
    cited("Bears like it.", "not cited"),
]


def a_run(folder: Path, *rows: Row, answer: str = ANSWER, metrics: Any = None) -> Path:
    """A run of these rows on one answer, `ice`."""
    example = Example(id="ice", question_id="q-ice", question="Why?", answer=answer, system="first")
    described = {"metrics": _DECLARED if metrics is None else metrics}
    return write_run(folder / "run", [example], list(rows), described)


def label(sentence: int, value: str, **more: Any) -> dict[str, Any]:
    start, end = SENTENCES[sentence]
    place = {"sentence_start": start, "sentence_end": end}
    return {"example_id": "ice", "label": "wrong", "value": value, **place, **more}


def reading(*rows: Row, text: str = ANSWER) -> SentenceReading:
    parts = [AnswerPart("ice", start, end) for start, end in SENTENCES]
    return SentenceReading.of(text, parts, rows, _FACTS)


def scores(read: SentenceReading, sentence: int, citation: str = "") -> dict[str, Any]:
    unit = "citation" if citation else "sentence"
    return read.scores(AnswerPart("ice", *SENTENCES[sentence], unit, citation))


def test_the_places_of_the_sentences_are_those_that_are_meant() -> None:
    assert [ANSWER[slice(*place)] for place in SENTENCES] == [
        "Ice floats on water [1].",
        "Salt melts it [2][3].",
        "It is blue [1].",
        "Bears like it.",
    ]


def test_a_sentence_with_citations_has_its_state_and_the_share_of_citations_that_it_needs() -> None:
    read = reading(row("ice", "citations.precision", 0.5, evidence={"claims": CLAIMS}))
    assert scores(read, 0) == {"supported": 1.0, "needed": 1.0}
    assert scores(read, 1) == {"supported": 1.0, "needed": 0.5}  # of [2] and [3]
    assert scores(read, 2) == {"supported": 0.0, "needed": 0.0}
    assert scores(read, 3)["supported"] == 0.0  # no source: not supported, as ALCE counts
    assert scores(read, 3)["needed"][0] == "undefined"


def test_a_label_of_a_citation_is_read_beside_its_own_fate() -> None:
    read = reading(row("ice", "citations.precision", 0.5, evidence={"claims": CLAIMS}))
    named = ("2", "3", "[3]", "2.0")
    assert [scores(read, 1, name)["needed"] for name in named] == [1.0, 0.0, 0.0, 1.0]
    assert scores(read, 1, "9")["needed"][0] == "undefined"


def test_a_place_beyond_the_answer_is_named_as_what_is_wrong() -> None:
    read = reading(row("ice", "citations.precision", 0.5, evidence={"claims": CLAIMS}))
    for unit, text in (("sentence", ""), ("citation", "2")):
        assert read.scores(AnswerPart("ice", 500, 520, unit, text)) == {
            "supported": (
                "undefined",
                "the label's place ends at character 520, behind the end of the answer, which has 77",
            )
        }
    assert read.scores(AnswerPart("ice", 63, 77))["supported"] == 0.0  # to the end


def test_grades_of_citations_are_scores_of_sentences_and_of_labelled_citations() -> None:
    graded = [
        cited("Ice floats on water.", "supported", n1="full support"),
        cited("Salt melts it.", "partly supported", n2="partial support", n3="no support"),
        cited("It is blue.", "not supported", n1="not resolvable"),
        cited("Bears like it.", "not known", n1="no support", n2="missing source"),
    ]
    read = reading(row("ice", "citations.precision", 0.5, evidence={"claims": graded}))
    assert scores(read, 0) == {"supported": 1.0, "support": 1.0}
    assert scores(read, 1) == {"supported": 0.5, "support": 0.25}  # of .5 and 0
    assert scores(read, 2) == {"supported": 0.0, "support": 0.0}
    assert scores(read, 3)["support"] == 0.0
    assert [scores(read, 1, name)["support"] for name in ("2", "3")] == [0.5, 0.0]
    assert scores(read, 3, "2")["support"][0] == "missing_input"


def test_a_source_without_its_text_leaves_the_sentence_unscored() -> None:
    claims = [cited("Ice floats on water.", "not known", n1="missing source")]
    read = reading(
        row(
            "ice",
            "citations.recall",
            None,
            status="missing_input",
            reason="no text",
            evidence={"claims": claims},
        )
    )
    assert scores(read, 0)["supported"][0] == "missing_input"
    assert scores(read, 0)["needed"][0] == "missing_input"


def test_where_fates_were_not_asked_the_row_of_precision_is_named() -> None:
    claims = [cited("Ice floats on water.", "supported", n1="")]
    read = reading(row("ice", "citations.recall", 1.0, evidence={"claims": claims}))
    status, reason = scores(read, 0)["needed"]
    assert status == "missing_input"
    assert "precision" in reason


def test_claims_of_a_sentence_are_a_share_by_the_passages_and_one_by_the_reference() -> None:
    """The first sentence has two claims, of which a passage entails one and the reference both."""
    claims = [
        {
            "claim": "Ice floats.",
            "passages": [2],
            "reference": "entails",
            "passages_probability": 0.9,
        },
        {
            "claim": "Ice floats on water.",
            "passages": [],
            "reference": "entails",
            "passages_probability": 0.2,
        },
        {
            "claim": "Salt melts it.",
            "passages": [],
            "reference": "contradicts",
            "passages_probability": 0.1,
        },
    ]
    read = reading(
        row("ice", "ragchecker.precision", 0.5, evidence={"claims": claims, "claims_in_total": 3}),
        row(
            "ice",
            "ragchecker.faithfulness",
            0.5,
            evidence={"claims": claims[1:], "claims_in_total": 3},
        ),
    )
    first = scores(read, 0)
    assert first["supported"] == 0.5
    assert first["supported_probability"] == pytest.approx(0.55)
    assert first["correct"] == 1.0
    assert scores(read, 1)["correct"] == 0.0
    assert scores(read, 2)["supported"][0] == "undefined"


def test_evidence_without_all_claims_gives_no_score_but_a_reason() -> None:
    """A sentence whose claims are not in the evidence would look like one without a claim."""
    claims = [{"claim": "It is blue.", "passages": []}]
    evidence = {"claims": claims, "claims_in_total": 3}
    read = reading(row("ice", "ragchecker.faithfulness", 0.7, evidence=evidence))
    assert scores(read, 0)["supported"][0] == "missing_input"


def test_an_answer_that_was_not_scored_gives_its_sentences_its_status() -> None:
    read = reading(
        row("ice", "citations.recall", None, status="model_error", reason="The endpoint was away.")
    )
    assert scores(read, 0) == {"supported": ("model_error", "The endpoint was away.")}


def test_a_repeated_sentence_has_the_claims_of_each_of_its_places() -> None:
    text = "It rains. It snows up north. It rains."
    claims = [SupportedClaim(claim="It rains.", passages=[n]) for n in (1, 2)]
    assert placed(claims, text, []) == {(0, 9): [claims[0]], (29, 38): [claims[1]]}


def test_a_short_sentence_of_the_words_of_a_longer_one_has_its_own_claim() -> None:
    text = "The sky is blue, and it is also cold [1]. It is blue [2]. Is it cold [3]?"
    sentences = ["The sky is blue, and it is also cold.", "It is blue.", "Is it cold?"]
    claims = [SupportedClaim(claim=sentence) for sentence in sentences]
    places = placed(claims, text, [])
    assert [text[slice(*place)] for place in places] == [
        "The sky is blue, and it is also cold [1].",
        "It is blue [2].",
        "Is it cold [3]?",
    ]
    assert [*places.values()] == [[claim] for claim in claims]


def test_places_of_a_repeated_sentence_are_told_apart_although_they_cite_differently() -> None:
    text = "It rains [1][2]. It snows [doc_a]. It rains [1]! It rains."
    claims = [SupportedClaim(claim=f"It rains{end}", passages=[n]) for n, end in enumerate(".!.")]
    assert placed(claims, text, []) == {
        (0, 16): [claims[0]],
        (35, 48): [claims[1]],
        (49, 58): [claims[2]],
    }


def test_a_quote_decides_where_a_claim_stands() -> None:
    text = "Snow falls up north. There is rain elsewhere."
    claim = SupportedClaim(claim="Snow falls up north.", quote="rain elsewhere")
    assert placed([claim], text, []) == {(21, 45): [claim]}


def test_a_claim_of_a_sentence_that_nobody_labelled_counts_for_no_other() -> None:
    text = "Ice floats on water. Ice floats on salt water."
    claim = CitedClaim(
        claim="Ice floats on salt water.", state="not supported", citations=[SourceFate(name="1")]
    )
    assert (0, 20) not in placed([claim], text, [(0, 20)])


def test_a_sentence_beyond_the_end_of_the_answer_has_no_score() -> None:
    assert placed(
        [SupportedClaim(claim="Ice floats on water.")], "Ice floats on water.", [(0, 99)]
    ) == {(0, 20): [SupportedClaim(claim="Ice floats on water.")]}


def test_metrics_are_compared_with_labels_of_sentences_of_two_raters(tmp_path: Path) -> None:
    """Both raters mark the third and fourth sentence; Bo marks the second, too. Krippendorff's alpha by hand: units
    (no, no), (no, yes), (yes, yes), (yes, yes); of 8 values 3 no and 5 yes; o_ny = 2 of 8 ordered pairs;
    alpha = 1 - (8 - 1) * 2 / (2 * 3 * 5) = 1 - 14 / 30."""
    run = a_run(
        tmp_path,
        row("ice", "citations.precision", 0.5, evidence={"claims": CLAIMS}),
        row("ice", "classic.length", 0.4),
    )
    marked = {"ann": (2, 3), "bo": (1, 2, 3)}
    human = [
        label(n, "yes" if n in sentences else "no", rater=rater)
        for rater, sentences in marked.items()
        for n in range(4)
    ]
    result = metaeval(run, human, order={"wrong": ["yes", "no"]})
    (wrong,) = result.labels
    assert isinstance(wrong, RatingLabel)
    assert (result.joined, wrong.unit, wrong.clustered) == (4, "sentence", True)
    assert set(result.metrics) == {"citations.supported", "citations.needed"}
    alpha = next(one for one in wrong.agreement.coefficients if "alpha" in one.coefficient)
    assert alpha.value == pytest.approx(1 - 14 / 30)
    supported = next(metric for metric in wrong.metrics if metric.metric == "citations.supported")
    # ranks of 1 1 0 0 beside means 1 .5 0 0: 3.5 3.5 1.5 1.5 beside 4 3 1.5 1.5
    assert supported.spearman is not None
    assert supported.spearman.value == pytest.approx(4 / (4 * 4.5) ** 0.5)
    assert "4 rated sentences" in document(result).lede


def test_a_side_of_a_pair_is_found_by_the_hash_of_its_text(tmp_path: Path) -> None:
    """`annotate` names the sides of a pair after the pair, which no answer of a run is called."""
    run = a_run(tmp_path, row("ice", "citations.precision", 0.5, evidence={"claims": CLAIMS}))
    side = {"example_id": "pair-7#a", "answer_sha256": answer_sha256(ANSWER)}
    human = [{**label(n, "no", system="first"), **side} for n in range(4)]
    assert metaeval(run, human).joined == 4
    elsewhere = [{**record, "system": "second"} for record in human]
    with pytest.raises(UserError, match="belongs to an answer"):
        metaeval(run, elsewhere)


def test_of_two_equal_texts_a_side_of_a_pair_is_that_of_its_system(tmp_path: Path) -> None:
    scores = {"first": 1.0, "second": 0.0}
    examples = [
        Example(id=f"by-{system}", question_id="q", question="Why?", answer=ANSWER, system=system)
        for system in scores
    ]
    states = {"first": "supported", "second": "not supported"}
    rows = [
        row(
            f"by-{system}",
            "citations.precision",
            score,
            question_id="q",
            system=system,
            evidence={"claims": [cited("Ice floats on water.", states[system])]},
        )
        for system, score in scores.items()
    ]
    run = write_run(tmp_path / "run", examples, rows, {"metrics": _DECLARED})
    human = [
        label(0, "no", system=system, answer_sha256=answer_sha256(ANSWER))
        | {"example_id": f"q:first:second#{side}"}
        for side, system in zip("ab", scores, strict=True)
    ]
    with Labels(human) as labels:
        (parts,) = scored_parts(run, labels)
    assert {
        one.example_id: one.score for one in parts.rows if one.metric == "citations.supported"
    } == {"q:first:second#a[0:24]": 1.0, "q:first:second#b[0:24]": 0.0}
    assert metaeval(run, human).joined == 2


def test_labels_of_another_text_are_left_out_and_counted(tmp_path: Path) -> None:
    run = a_run(tmp_path, row("ice", "citations.precision", 0.5, evidence={"claims": CLAIMS}))
    same, other = (answer_sha256(text) for text in (ANSWER, "Another answer."))
    human = [label(n, "no", rater="ann", answer_sha256=same if n else other) for n in range(4)]
    result = metaeval(run, human)
    assert result.joined == 3
    assert any("not the one that was labelled" in notice for notice in result.notices)


def test_a_metric_without_any_score_of_a_sentence_is_named_with_the_reason(tmp_path: Path) -> None:
    evidence = {"claims": [{"claim": "It is blue.", "passages": []}], "claims_in_total": 3}
    run = a_run(tmp_path, row("ice", "ragchecker.faithfulness", 0.7, evidence=evidence))
    result = metaeval(run, [label(n, "no") for n in range(4)])
    notice = next(notice for notice in result.notices if notice.startswith("ragchecker.supported"))
    assert "run all scores of the metric" in notice
    assert "4 of 4" in notice


def test_the_notice_of_a_metric_without_scores_is_one_for_all_runs(tmp_path: Path) -> None:
    evidence = {"claims": [{"claim": "It is blue.", "passages": []}], "claims_in_total": 3}
    runs = [
        a_run(tmp_path / name, row("ice", "ragchecker.faithfulness", 0.7, evidence=evidence))
        for name in ("a", "b")
    ]
    result = metaeval(runs, [label(n, "no") for n in range(4)])
    notices = [notice for notice in result.notices if notice.startswith("ragchecker.supported")]
    assert len(notices) == 1
    assert "8 of 8" in notices[0]


def test_faithfulness_alone_says_which_sentences_the_passages_support(tmp_path: Path) -> None:
    """Its evidence has all claims: the first sentence is supported, the second is not."""
    example = {
        "id": "ice",
        "answer": ANSWER,
        "contexts": ["Ice floats on water."],
        "claims": ["Ice floats on water.", "Salt melts it."],
        "claims_by_contexts": [["entails"], ["neutral"]],
    }
    longmark.run([example], "ragchecker.faithfulness", out=tmp_path / "run")
    result = metaeval(tmp_path / "run", [label(n, "yes" if n else "no") for n in range(2)])
    (metric,) = result.labels[0].metrics
    assert metric.metric == "ragchecker.supported"
    assert isinstance(metric, RatedMetric)
    assert [score for _, score in metric.points] == [1.0, 0.0]
    assert "Over all rated sentences." in repr(document(result).sections)


def test_two_judges_of_the_same_sentences_are_two_metrics(tmp_path: Path) -> None:
    claims = [replace_state(claim, "not supported") for claim in CLAIMS]
    first = a_run(
        tmp_path / "a", row("ice", "citations.precision", 0.5, evidence={"claims": CLAIMS})
    )
    second = a_run(
        tmp_path / "b", row("ice", "citations.precision", 0.0, evidence={"claims": claims})
    )
    result = metaeval([first, second], [label(n, "no") for n in range(4)])
    supported = sorted(name for name in result.metrics if name.startswith("citations.supported"))
    assert supported == ["citations.supported (a/run)", "citations.supported (b/run)"]


def replace_state(claim: dict[str, Any], state: str) -> dict[str, Any]:
    return {**claim, "state": state}


def test_a_run_whose_metrics_say_nothing_of_sentences_is_refused(tmp_path: Path) -> None:
    run = a_run(tmp_path, row("ice", "classic.length", 0.4))
    with pytest.raises(UserError, match="says anything of single sentences"):
        metaeval(run, [label(0, "no")])


def test_rows_without_a_run_folder_are_refused() -> None:
    rows = [row("ice", "citations.precision", 0.5, evidence={"claims": CLAIMS})]
    with pytest.raises(UserError, match="Name run folders"):
        metaeval(rows, [label(0, "no")])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"sentence_start": "x"}, "sentence_start: expected a number of characters"),
        ({"sentence_end": None}, "sentence_end: expected a number of characters"),
        ({"sentence_end": 0}, "which is not behind sentence_start"),
        ({"citation": ""}, "citation: is empty"),
    ],
)
def test_a_wrong_place_is_refused_with_its_line(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Labels([label(0, "no", rater="ann", **columns)])


def test_a_file_with_half_of_a_place_is_refused() -> None:
    half = {name: cell for name, cell in label(0, "no").items() if name != "sentence_end"}
    with pytest.raises(UserError, match="need a column sentence_end"):
        Labels([half])


def test_a_column_citation_alone_makes_no_parts() -> None:
    with Labels([{"example_id": "ice", "value": 1, "citation": "Smith 2020"}]) as labels:
        assert labels.parts == ""
        assert [one.example_id for one in labels.select()] == ["ice"]


def test_two_sentences_of_an_answer_are_two_things_to_a_file_without_raters() -> None:
    with Labels([label(0, "no"), label(1, "no")]) as labels:
        assert labels.parts == "sentence"
        assert [one.example_id for one in labels.select()] == ["ice[0:24]", "ice[25:46]"]


def test_means_are_not_corrected_by_labels_of_sentences() -> None:
    with pytest.raises(UserError, match="has labels of sentences"):
        read_label_file([label(0, "no"), label(1, "yes")], CorrectionOptions())


def test_agreement_of_final_labels_is_that_of_the_raters(tmp_path: Path) -> None:
    """Ann and Bo differ on the second sentence, and `final` decides: `wrong.final` has one rater, whose agreement
    with himself says nothing."""
    run = a_run(tmp_path, row("ice", "citations.precision", 0.5, evidence={"claims": CLAIMS}))
    human = [label(n, "yes" if n > 1 else "no", rater="ann") for n in range(4)]
    human += [label(n, "yes" if n > 0 else "no", rater="bo") for n in range(4)]
    human += [replaced_label(label(n, "yes" if n > 1 else "no", rater="final")) for n in range(4)]
    result = metaeval(run, human, labels=["wrong.final"])
    (final,) = result.labels
    assert isinstance(final, RatingLabel)
    assert final.agreement.reason is None
    assert (final.agreement.raters, final.agreement.rated_twice) == (2, 4)
    assert any("of wrong.final are those of the raters" in notice for notice in result.notices)
    both = metaeval(run, human)
    assert [part.label for part in both.labels] == ["wrong", "wrong.final"]
    assert both.labels[0].agreement == both.labels[1].agreement


def replaced_label(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "label": "wrong.final"}


def test_final_labels_without_those_of_raters_have_no_agreement(tmp_path: Path) -> None:
    run = a_run(tmp_path, row("ice", "citations.precision", 0.5, evidence={"claims": CLAIMS}))
    human = [replaced_label(label(n, "yes" if n > 1 else "no", rater="final")) for n in range(4)]
    (final,) = metaeval(run, human).labels
    assert final.agreement.reason == "there is one rater only"
