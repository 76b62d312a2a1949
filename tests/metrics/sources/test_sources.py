"""What an answer omits of the sources that it cites, and the conflicts between them that it hides: worked cases on a
judge that knows what every statement means."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from longmark.contrib.local.claim_checker import ClaimChecker
from longmark.models.fake import FakeChat
from longmark.models.protocols import ChatRequest
from longmark.records import Context, Example
from longmark.records.cited import CitedSource
from longmark.testing import Scored, score_sync
from longmark.text.calibration import CalibratedChecker, CheckerCalibration
from longmark.text.entailment import ModelChecker, finds_contradictions
from longmark.text.overlap import OverlapChecker

QUESTION = "When did the bridge open?"
IN_1930 = "The bridge opened in 1930."
OPENED = "The bridge was opened in 1930."  # says the same
IN_1931 = "The bridge opened in 1931."
IN_1932 = "The bridge opened in 1932."
LONG = "The bridge is 200 m long."
SHORT = "The bridge is 90 m long."
LANES = "The bridge has two lanes."
ALL = "The bridge opened twice, in 1930 and 1931, is 200 m long and has two lanes."
GREEN = "Bridges can be green."  # not relevant
SAME = [{IN_1930, OPENED}]
AGAINST = [{IN_1930, IN_1931}, {OPENED, IN_1931}, {LONG, SHORT}, {IN_1931, IN_1932}]
REPORTED = "a newspaper gives 1931"


def inside(asked: str, name: str) -> str:
    text = re.search(rf"<{name} \w+>\n(.*?)\n</{name}", asked, re.DOTALL)
    assert text, name
    return text[1]


def relation(premise: str, hypothesis: str) -> str:
    if hypothesis == f'At least one source says: "{IN_1931}"':
        return "entails" if REPORTED in premise else "neutral"
    if premise in (hypothesis, ALL) or {premise, hypothesis} in SAME:
        return "entails"
    return "contradicts" if {premise, hypothesis} in AGAINST else "neutral"


def judge(sent: list[str] | None = None) -> FakeChat:
    """Lists the sentences of a text, less their markers and what they report, and knows their relations."""

    def reply(request: ChatRequest) -> str:
        asked = request.messages[1].content
        listed: dict[str, str] = {}
        if "<statements " in asked:
            listed = dict(re.findall(r"^(\d+)\. (.*)$", inside(asked, "statements"), re.MULTILINE))
        if "<premise " in asked:
            premise = inside(asked, "premise")
            if sent is not None:
                sent.extend(f"{premise} -> {text}" for text in listed.values())
            return json.dumps({n: relation(premise, text) for n, text in listed.items()})
        if '"revised"' in asked:
            revised = [{"from": int(n), "text": text, "type": "fact"} for n, text in listed.items()]
            return json.dumps({"revised": revised})
        if listed:
            return json.dumps({n: 1 if text == GREEN else 5 for n, text in listed.items()})
        kind, field = ("claims", "answer") if "<answer " in asked else ("facts", "context")
        sentences = re.findall(r"[A-Z][^.]*\.", inside(asked, field))
        return json.dumps({kind: [text for text in sentences if REPORTED not in text]})

    return FakeChat(reply)


def example(answer: str, *sources: str, **fields: Any) -> Example:
    contexts = tuple(Context(text=text) for text in sources)
    return Example(id="1", question=QUESTION, answer=answer, contexts=contexts, **fields)


def scored(
    answer: str, *sources: str, sent: list[str] | None = None, **params: Any
) -> dict[str, Scored]:
    result = score_sync("sources", example(answer, *sources), params, judge=judge(sent))
    return {name.removeprefix("sources."): value for name, value in result.items()}


MANUAL = f"{IN_1930} {LONG}"
PAPER = f"{IN_1931} {LANES}"
BOOK = OPENED


def values(scores: dict[str, Scored]) -> list[float | str | None]:
    return [
        scores[part].status if scores[part].value is None else scores[part].value
        for part in ("omitted", "hidden_conflicts")
    ]


@pytest.mark.parametrize(
    ("answer", "omitted", "hidden", "says"),
    [
        # components of the three sources: 1930 (twice), 200 m, 1931, two lanes
        (f"{IN_1930} [1][2][3]", 3 / 4, 1, "says only the other side"),
        (f"{IN_1930} {IN_1931} [1][2][3]", 2 / 4, 0, "says both"),
        (f"{IN_1930} But {REPORTED}. [1][2][3]", 3 / 4, 0, "says that a source disagrees"),
        (f"{LANES} [1][2][3]", 3 / 4, 0, "says neither"),
        (f"{IN_1931} {LONG} {LANES} [1-3]", 1 / 4, 1, "says only the other side"),
        (f"{MANUAL} {PAPER} [1][2][3]", 0.0, 0, "says both"),
    ],
)
def test_a_conflict_is_hidden_where_the_answer_states_one_side_only(
    answer: str, omitted: float, hidden: int, says: str
) -> None:
    scores = scored(answer, MANUAL, PAPER, BOOK)
    assert values(scores) == [omitted, hidden]
    entries = scores["hidden_conflicts"].evidence["conflicts"]
    assert {(entry["conflict"], entry["answer"]) for entry in entries} == {(1, says)}


def test_the_evidence_has_the_side_that_is_left_out_with_the_sources_of_both() -> None:
    hidden = scored(f"{IN_1930} [1][2][3]", MANUAL, PAPER, BOOK)["hidden_conflicts"]
    assert hidden.evidence["hidden"] == [
        {
            "conflict": 1,
            "text": IN_1931,
            "sources": "2",
            "against": IN_1930,
            "against_sources": "1, 3",
            "answer": "says only the other side",
        }
    ]


def test_only_sources_that_the_answer_names_count_unless_all_are_asked_for() -> None:
    answer = f"{IN_1930} [1][3]"
    assert values(scored(answer, MANUAL, PAPER, BOOK)) == [1 / 2, 0]
    assert values(scored(answer, MANUAL, PAPER, BOOK, read="all")) == [3 / 4, 1]


def test_statements_that_are_not_relevant_count_where_all_are_kept() -> None:
    answer = f"{IN_1930} [1][2]"
    assert values(scored(answer, IN_1930, GREEN)) == [0, 0]
    assert values(scored(answer, IN_1930, GREEN, relevance=1)) == [1 / 2, 0]


def test_a_source_that_contradicts_itself_is_in_no_conflict_with_another() -> None:
    assert values(scored(f"{IN_1930} [1][2]", f"{IN_1930} {IN_1931}", LANES)) == [2 / 3, 0]


def test_contradictions_that_share_a_statement_are_one_conflict() -> None:
    scores = scored(f"{IN_1931} [1-4]", IN_1930, IN_1931, IN_1932, f"{LONG} {LANES}")
    assert scores["hidden_conflicts"].value == 1
    assert [entry["text"] for entry in scores["hidden_conflicts"].evidence["hidden"]] == [
        IN_1930,
        IN_1932,
    ]
    two = scored(f"{IN_1931} {LONG} [1-3]", f"{IN_1930} {LONG}", IN_1931, SHORT)
    assert two["hidden_conflicts"].value == 2


def test_omitted_is_one_less_comprehensiveness_where_all_passages_are_read() -> None:
    whole = example(f"{IN_1930} {LANES}", MANUAL, PAPER, BOOK)
    coverage = score_sync("comprehensiveness.nli", whole, {"plan": "each"}, judge=judge())[
        "comprehensiveness.nli"
    ]
    omitted = score_sync("sources.omitted", whole, {"read": "all"}, judge=judge())[
        "sources.omitted"
    ]
    assert (coverage.value, omitted.value) == (1 / 2, 1 / 2)
    assert omitted.evidence["basis"] == coverage.evidence["basis"]


@pytest.mark.parametrize(
    ("answer", "sources", "statuses", "reason"),
    [
        (IN_1930, (MANUAL, PAPER), ["undefined"] * 2, "The answer names no source"),
        (f"{IN_1930} [7]", (MANUAL, PAPER), ["undefined"] * 2, "No source that the answer names"),
        (f"{IN_1930} [1]", (MANUAL, PAPER), [1 / 2, "undefined"], "There is one source only"),
        (f"{IN_1930} [1][2]", (GREEN, GREEN), ["undefined", 0], "nothing to omit"),
        (f"{REPORTED}? [1][2]", (MANUAL, PAPER), [1.0, "undefined"], "The answer states nothing"),
        ("", (MANUAL, PAPER), ["undefined"] * 2, "The answer names no source"),
    ],
)
def test_what_cannot_be_scored_has_its_reason(
    answer: str, sources: tuple[str, ...], statuses: list[Any], reason: str
) -> None:
    scores = scored(answer, *sources)
    assert values(scores) == statuses
    assert any(reason in (value.reason or "") for value in scores.values())


def test_a_cited_source_without_a_text_is_missing_unless_it_is_left_out() -> None:
    sources = (
        CitedSource(id="https://a.example/1", text=MANUAL),
        CitedSource(id="https://a.example/2"),
        CitedSource(id="https://a.example/3", text=PAPER),
    )
    cited = Example(id="1", question=QUESTION, answer=f"{IN_1930} [1][2][3]", sources=sources)
    scores = score_sync("sources", cited, judge=judge())
    assert {value.status for value in scores.values()} == {"missing_input"}
    assert "https://a.example/2" in (scores["sources.omitted"].reason or "")
    scores = score_sync("sources", cited, {"missing": "left_out"}, judge=judge())
    assert scores["sources.omitted"].value == 3 / 4
    (conflict,) = scores["sources.hidden_conflicts"].evidence["hidden"]
    assert conflict["sources"] == "https://a.example/3"


def test_omitted_alone_asks_for_no_relations_of_conflicts_and_has_the_same_value() -> None:
    whole = example(f"{ALL} [1][2][3]", MANUAL, PAPER, BOOK)
    sent: list[str] = []
    assert score_sync("sources.omitted", whole, judge=judge(sent))["sources.omitted"].value == 0.0
    assert {pair.partition(" -> ")[0] for pair in sent} == {ALL}
    sent.clear()
    both = score_sync("sources", whole, judge=judge(sent))
    assert [value.value for value in both.values()] == [0.0, 0]
    # five statements of three sources: 4 + 3 + 2 + 1 pairs, less two of one source each
    assert len([pair for pair in sent if not pair.startswith(ALL)]) == 8


def test_no_pair_is_asked_about_twice_and_one_direction_is_enough_for_a_conflict() -> None:
    sent: list[str] = []
    scored(f"{IN_1930} [1-3]", MANUAL, PAPER, SHORT, sent=sent)
    assert len(sent) == len(set(sent))
    of_sources = [pair for pair in sent if not pair.startswith(IN_1930) and "At least" not in pair]
    # every other pair of the five statements, in both directions, would be 5 * 4 = 20
    assert len(of_sources) <= 12


def test_a_checker_decides_where_claims_are_carried() -> None:
    claims: Sequence[tuple[str, ...]] = ((IN_1930,), (LANES,))
    carried = example(f"{IN_1930} [1][2]", "A", "B", claims=(IN_1930,), context_claims=claims)
    scores = score_sync("sources", carried, {"relevance": 1}, checker=OverlapChecker())
    assert scores["sources.omitted"].value == 1 / 2
    assert scores["sources.hidden_conflicts"].status == "unsupported"


@pytest.mark.parametrize("metric", ["sources", "sources.hidden_conflicts"])
def test_a_checker_that_never_finds_a_contradiction_has_no_score_of_conflicts(metric: str) -> None:
    carried = example(
        IN_1930,
        IN_1930,
        IN_1931,
        claims=(IN_1930,),
        context_claims=((IN_1930,), (IN_1931,)),
    )
    params = {"relevance": 1, "read": "all"}
    scores = score_sync(metric, carried, params, checker=OverlapChecker())
    conflicts = next(value for name, value in scores.items() if "hidden_conflicts" in name)
    assert (conflicts.status, conflicts.value) == ("unsupported", None)
    assert "overlap says whether a statement is supported, and never that" in str(conflicts.reason)
    assert len(scores) == (2 if metric == "sources" else 1)
    by_judge = score_sync(metric, carried, params, judge=judge())
    assert by_judge[next(name for name in scores if "hidden" in name)].value == 1


def test_who_finds_no_contradiction_says_so_behind_a_curve_too() -> None:
    calibrated = CalibratedChecker(OverlapChecker(), CheckerCalibration(()))
    assert not finds_contradictions(calibrated)
    assert not finds_contradictions(ModelChecker(None, ClaimChecker))  # type: ignore[arg-type]
    assert finds_contradictions(CalibratedChecker(object(), CheckerCalibration(())))  # type: ignore[arg-type]
