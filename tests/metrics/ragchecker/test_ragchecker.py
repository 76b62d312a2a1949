"""RAGChecker's scores: the authors' two examples, a case worked by hand, properties, what is asked, bad input."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.there import there

from longmark.errors import NoScore, TooLong
from longmark.metrics.ragchecker._parts import RagCheckerParams
from longmark.metrics.ragchecker._scores import SPECS, Checks, ragchecker_scores
from longmark.models.fake import Answer
from longmark.models.protocols import Capabilities, ChatRequest, RelationReply
from longmark.records import Context, Example
from longmark.records.read import Reading
from longmark.testing import FakeChat, Scored, score_sync

CHECKED = Path(__file__).parents[4] / "shared" / "data" / "ragchecker" / "checking_outputs.json"
E: Final = "entails"
N: Final = "neutral"
C: Final = "contradicts"


def scores(example: Example, **options: Any) -> dict[str, Scored]:
    """Part of the name -> score."""
    return {
        name.removeprefix("ragchecker."): one
        for name, one in score_sync("ragchecker", example, **options).items()
    }


def scores_alone(example: Example, part: str, **options: Any) -> Scored:
    return score_sync(f"ragchecker.{part}", example, **options)[f"ragchecker.{part}"]


def values(example: Example, **options: Any) -> dict[str, float | None]:
    return {name: one.value for name, one in scores(example, **options).items()}


@pytest.mark.skipif(not CHECKED.exists(), reason="the shared data are not in this clone")
def test_the_authors_examples_to_the_digit_without_a_judge():
    published = json.loads(CHECKED.read_text("utf-8"))
    for example, theirs in zip(Reading(CHECKED).singles(), published["results"], strict=True):
        assert values(example) == theirs["metrics"]
    first = published["results"][0]["metrics"]
    assert [round(first[name], 4) for name in ("precision", "recall", "f1")] == [
        0.7273,
        0.5,
        0.5926,
    ]
    means = {group: list(some) for group, some in published["metrics"].items()}
    assert sorted(name for some in means.values() for name in some) == sorted(
        SPECS
    )  # overall, retriever, generator
    both = [values(example) for example in Reading(CHECKED).singles()]
    for group in published["metrics"].values():
        for name, mean in group.items():
            assert round(100 * math.fsum(one[name] or 0.0 for one in both) / 2, 1) == pytest.approx(
                mean, abs=0.051
            )


# Four claims and three passages. a: right, in 1 and 3. b: wrong, in 1. c: wrong, only in 3. d: right, nowhere. The
# reference has three claims: r is in 1 and recalled, s is in 2 and not recalled, t is nowhere and recalled. So 1 and 2
# are relevant, 3 is not.
BY_HAND = Example(
    answer="a b c d",
    references=("r s t",),
    contexts=(Context(text="one"), Context(text="two"), Context(text="three")),
    claims=("a", "b", "c", "d"),
    reference_claims=("r", "s", "t"),
    claims_by_reference=(E, C, N, E),
    reference_claims_by_answer=(E, N, E),
    claims_by_contexts=((E, N, E), (E, C, N), (N, N, E), (N, N, N)),
    reference_claims_by_contexts=((E, N, N), (N, E, C), (N, N, N)),
)


def test_a_case_worked_by_hand():
    assert values(BY_HAND) == pytest.approx(
        {
            "precision": 2 / 4,  # a, d
            "recall": 2 / 3,  # r, t
            "f1": 2 * (1 / 2) * (2 / 3) / (1 / 2 + 2 / 3),
            "claim_recall": 2 / 3,  # r, s
            "context_precision": 2 / 3,
            "context_utilization": 1 / 2,  # r of r and s
            "noise_sensitivity_in_relevant": 1 / 4,  # b
            "noise_sensitivity_in_irrelevant": 1 / 4,  # c
            "hallucination": 0,
            "self_knowledge": 1 / 4,  # d
            "faithfulness": 3 / 4,
        }
    )


def test_the_evidence_names_the_claims_that_count():
    found = scores(BY_HAND)
    assert found["precision"].evidence["claims"][1] == {
        "claim": "b",
        "reference": C,
        "passages": [1],
    }
    assert [
        one["claim"] for one in found["noise_sensitivity_in_irrelevant"].evidence["claims"]
    ] == ["c"]
    faithfulness = found["faithfulness"].evidence
    assert [claim["claim"] for claim in faithfulness["claims"]] == ["a", "b", "c", "d"]
    unsupported = [claim["claim"] for claim in faithfulness["claims"] if not claim["passages"]]
    assert unsupported == ["d"]
    assert [one["claim"] for one in found["claim_recall"].evidence["reference_claims"]] == ["t"]
    assert found["context_precision"].evidence["relevant_passages"] == [1, 2]
    assert found["f1"].evidence == {"checker": "carried by the example"}


_labels = st.sampled_from([E, N, C])


@st.composite
def checks(draw: Any) -> Checks:
    claims, expected, passages = draw(st.tuples(*[st.integers(1, 5)] * 3))
    rows = st.lists(_labels, min_size=passages, max_size=passages)
    return Checks(
        draw(st.lists(_labels, min_size=claims, max_size=claims)),
        draw(st.lists(_labels, min_size=expected, max_size=expected)),
        draw(st.lists(rows, min_size=claims, max_size=claims)),
        draw(st.lists(rows, min_size=expected, max_size=expected)),
        passages,
    )


@given(checks())
def test_every_claim_is_right_noise_or_made_up_and_the_order_of_passages_is_irrelevant(one: Checks):
    found = ragchecker_scores(one)
    assert set(found) == set(SPECS)
    value = {name: score for name, score in found.items() if not isinstance(score, NoScore)}
    assert all(0 <= score <= 1 for score in value.values())
    parts = (
        "precision",
        "noise_sensitivity_in_relevant",
        "noise_sensitivity_in_irrelevant",
        "hallucination",
    )
    assert math.fsum(value[name] for name in parts) == pytest.approx(1)
    assert math.fsum(
        value[name] for name in ("faithfulness", "hallucination", "self_knowledge")
    ) == pytest.approx(1)
    assert min(value["precision"], value["recall"]) <= value["f1"] + 1e-9
    assert value["f1"] <= max(value["precision"], value["recall"]) + 1e-9
    assert one.supported is not None
    assert one.retrieved is not None
    turned = Checks(
        one.right,
        one.recalled,
        [row[::-1] for row in one.supported],
        [row[::-1] for row in one.retrieved],
        one.passages,
    )
    assert {
        n: s for n, s in ragchecker_scores(turned).items() if not isinstance(s, NoScore)
    } == value
    if all(label == E for label in one.right or ()):  # nothing is wrong
        assert value["hallucination"] == value["noise_sensitivity_in_relevant"] == 0


# With a judge -----------------------------------------------------------------------------------------------------


def judge_of(lists: dict[str, list[str]]) -> FakeChat:
    """Lists the claims of each text, and finds that a premise entails the statements that it contains."""

    def reply(request: ChatRequest) -> str:
        shown = request.messages[1].content
        if "List the claims" in shown:
            return json.dumps({"claims": lists[shown.split(">\n")[1].split("\n</")[0]]})
        premise = shown.split("</premise")[0]
        numbered = [
            line.split(". ", 1)
            for line in shown.split("<statements ")[1].splitlines()[1:]
            if ". " in line[:5]
        ]
        return json.dumps({number: E if text in premise else N for number, text in numbered})

    return FakeChat(reply)


LISTS = {"ab cd": ["ab", "cd"], "ab ef": ["ab", "ef"], "zz": ["zz"]}
ASKED = Example(
    answer="ab cd", references=("ab ef",), contexts=(Context(text="ab x"), Context(text="cd ef"))
)


def test_a_judge_lists_the_claims_and_labels_them_in_one_call_for_each_premise():
    judge = judge_of(LISTS)
    assert values(ASKED, judge=judge) == {
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
        "claim_recall": 1,
        "context_precision": 1,
        "context_utilization": 0.5,
        "noise_sensitivity_in_relevant": 0.5,
        "noise_sensitivity_in_irrelevant": 0,
        "hallucination": 0,
        "self_knowledge": 0,
        "faithfulness": 1,
    }
    # two lists, each of two passages for the claims of both, the reference and the answer
    assert len(judge.requests) == 2 + 2 * 2 + 2
    for claims in ("1. ab\n2. cd\n", "1. ab\n2. ef\n"):
        assert sum(claims in request.messages[1].content for request in judge.requests) == 3


def test_a_score_is_made_of_the_same_calls_alone_and_beside_others():
    everything = judge_of(LISTS)
    scores(ASKED, judge=everything)
    sent = {request.messages[1].content for request in everything.requests}
    for part, calls in (("faithfulness", 1 + 2), ("claim_recall", 1 + 2), ("recall", 2)):
        judge = judge_of(LISTS)
        scores_alone(ASKED, part, judge=judge)
        assert len(judge.requests) == calls
        assert {request.messages[1].content for request in judge.requests} <= sent


def test_a_retriever_is_judged_once_for_two_systems_with_the_same_passages(tmp_path: Path):
    judge = judge_of(LISTS)
    other = ASKED.model_copy(update={"answer": "zz"})
    cache = tmp_path / "calls.sqlite"
    first = scores(ASKED, judge=judge, cache=cache)
    sent = len(judge.requests)
    second = scores(other, judge=judge, cache=cache)
    for part in ("claim_recall", "context_precision"):
        assert first[part].value == second[part].value == 1
    # its claims, by two passages and the reference, and the claims of the reference by the answer
    assert len(judge.requests) - sent == 1 + 2 + 1 + 1


def joint_judge() -> FakeChat:
    """As `judge_of(LISTS)`; of several passages it names those that have a claim in them."""
    alone = judge_of(LISTS)

    def reply(request: ChatRequest) -> Answer:
        content = request.messages[1].content
        if "numbered passages" not in content:
            return alone._answer(request)
        context, statements = content.split("<context ")[1].split("<statements ")
        passages = [line.split("] ", 1)[1] for line in context.splitlines() if line.startswith("[")]
        claims = dict(line.split(". ", 1) for line in statements.splitlines() if ". " in line[:4])
        return json.dumps(
            {
                key: [d for d, passage in enumerate(passages, 1) if claim in passage]
                for key, claim in claims.items()
            }
        )

    return FakeChat(reply)


def test_a_joint_plan_asks_one_call_for_all_passages_of_a_list_of_claims():
    judge = joint_judge()
    joint = values(ASKED, judge=judge, params={"plan": "joint"})
    assert joint == values(ASKED, judge=judge_of(LISTS))
    assert len(judge.requests) == 2 + 2 + 2  # lists, all passages for each, reference and answer


def test_a_number_of_no_passage_is_asked_again_and_leaves_the_score_unscored():
    alone = joint_judge()

    def wrong(request: ChatRequest) -> Answer:
        if "numbered passages" in request.messages[1].content:
            return '{"1": [3], "2": []}'
        return alone._answer(request)

    faithfulness = scores_alone(
        ASKED, "faithfulness", judge=FakeChat(wrong), params={"plan": "joint"}
    )
    assert faithfulness.status == "unparsable"
    assert "1: 3 is no passage; their numbers are 1 to 2" in there(faithfulness.reason)


def test_a_passage_longer_than_a_premise_is_read_alone_in_a_joint_plan():
    long = "ab " * 3000  # 9,000 bytes, two parts
    example = ASKED.model_copy(update={"contexts": (Context(text=long), *ASKED.contexts)})
    judge = joint_judge()
    assert scores_alone(example, "faithfulness", judge=judge, params={"plan": "joint"}).value == 1
    assert len(judge.requests) == 1 + 2 + 1


def test_a_joint_plan_needs_several_statements_a_call():
    with pytest.raises(ValueError, match="plan=joint"):
        RagCheckerParams(plan="joint", batch=1)


def test_only_what_the_example_does_not_carry_is_asked_for():
    judge = judge_of(LISTS)
    carrying = ASKED.model_copy(update={"claims": ("ab", "cd"), "claims_by_reference": (E, E)})
    assert values(carrying, judge=judge)["precision"] == 1
    # the list of the reference, each passage for both lists of claims, the answer
    assert len(judge.requests) == 1 + 2 * 2 + 1


def test_of_several_references_the_best_counts():
    judge = judge_of(LISTS)
    found = scores(ASKED.model_copy(update={"references": ("zz", "ab ef")}), judge=judge)
    assert found["f1"].value == 0.5
    assert found["recall"].evidence["reference"] == "ab ef"


def test_of_several_references_no_answer_decides_which_counts_for_the_passages():
    both = ASKED.model_copy(update={"references": ("ab ef", "zz")})
    near, far = (both.model_copy(update={"answer": answer}) for answer in ("ab cd", "zz"))
    judge = judge_of(LISTS)
    of_near, of_far = scores(near, judge=judge), scores(far, judge=judge)
    assert [of_near["f1"].evidence["reference"], of_far["f1"].evidence["reference"]] == [
        "ab ef",
        "zz",
    ]
    for name in ("claim_recall", "context_precision"):
        assert of_near[name].value == of_far[name].value == 1
        assert of_far[name].evidence["reference"] == "ab ef"
    alone = judge_of(LISTS)
    assert scores_alone(far, "claim_recall", judge=alone).value == 1
    assert len(alone.requests) == 2 + 2  # two lists, and two passages for the claims of both


def test_carried_claims_of_the_reference_are_those_of_all_its_references():
    judge = judge_of(LISTS)
    carrying = ASKED.model_copy(
        update={"references": ("zz", "ab ef"), "reference_claims": ("ab", "ef")}
    )
    found = values(carrying, judge=judge)
    assert (found["precision"], found["recall"], found["claim_recall"]) == (0.5, 0.5, 1)
    assert len(judge.requests) == 1 + 2 + 2 * 2 + 1  # a list, two references, passages, the answer


def test_what_is_missing_is_unscored_with_a_reason():
    judge = judge_of({**LISTS, "": [], "Hello": []})
    bare = scores(Example(answer="ab cd", contexts=ASKED.contexts), judge=judge)
    assert bare["faithfulness"].value == 1
    assert {one.reason for name, one in bare.items() if name != "faithfulness"} == {
        "The example has no reference answer."
    }
    dry = scores(Example(answer="ab cd", references=ASKED.references), judge=judge)
    assert [name for name, one in dry.items() if one.value is not None] == [
        "precision",
        "recall",
        "f1",
    ]
    assert dry["claim_recall"].status == "missing_input"
    empty = scores(ASKED.model_copy(update={"answer": ""}), judge=judge)
    assert [empty["recall"].value, empty["f1"].value] == [0, 0]
    assert "it recalls none of the reference" in empty["f1"].evidence["rule"]
    claimless = scores(ASKED.model_copy(update={"answer": "Hello!", "claims": ()}), judge=judge)
    assert (claimless["f1"].value, claimless["precision"].status) == (0, "undefined")
    assert empty["claim_recall"].value == 1
    assert (empty["precision"].status, empty["faithfulness"].reason) == (
        "undefined",
        "The answer contains no claim.",
    )
    silent = scores(ASKED.model_copy(update={"references": ("Hello",)}), judge=judge)
    assert silent["context_precision"].reason == "The reference contains no claim."
    assert silent["precision"].value == 0
    assert silent["faithfulness"].value == 1
    nowhere = scores(ASKED.model_copy(update={"contexts": (Context(text="x"),)}), judge=judge)
    assert nowhere["context_utilization"].reason == "No passage entails a claim of the reference."


def test_the_authors_zero_is_an_option():
    judge = judge_of(LISTS)
    found = scores(ASKED.model_copy(update={"answer": ""}), judge=judge, params={"empty": "zero"})
    assert found["precision"].value == found["f1"].value == found["hallucination"].value == 0
    assert "empty=zero" in found["precision"].evidence["rule"]
    missing = scores(Example(answer="ab cd"), judge=judge, params={"empty": "zero"})
    assert missing["precision"].value is None  # a missing input is no empty one


def test_without_a_judge_the_reason_says_what_to_add():
    assert scores(ASKED)["precision"].reason == (
        "The example does not carry all claims and there is no judge to list them: add --judge."
    )
    carrying = ASKED.model_copy(update={"claims": ("ab",), "reference_claims": ("ef",)})
    assert "add --judge or --checker" in str(scores(carrying)["precision"].reason)


def test_five_hundred_claims_of_ten_languages_with_a_quoted_delimiter():
    words = ("river", "río", "Fluß", "река", "河", "川", "강", "نهر", "נהר", "</statements")
    claims = tuple(f"{words[n % 10]} {n}." for n in range(500))
    example = ASKED.model_copy(
        update={"claims": claims, "reference_claims": ("ab",), "answer": " ".join(claims)}
    )
    judge = judge_of(LISTS)
    found = values(example, judge=judge)
    assert found["precision"] == 0
    assert found["hallucination"] == 1
    # 500 and 1 statements for each passage, 500 for the reference, 1
    assert len(judge.requests) == 2 * (20 + 1) + 20 + 1


class _Table:
    """A classifier whose probabilities of `entails` stand in a table: (premise, hypothesis) -> probability."""

    name, identity, width, piece = "table", "table", None, 1000
    capabilities = Capabilities()
    PROBABILITIES: Final = {
        ("one", "a"): 0.91, ("two", "a"): 0.2, ("one", "b"): 0.3, ("two", "b"): 0.45, ("r", "a"): 0.8, ("r", "b"): 0.1,
        ("one", "r"): 0.7, ("two", "r"): 0.6, ("a b", "r"): 0.25,
    }  # fmt: skip

    async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply:
        table = [self.PROBABILITIES[premise, hypothesis] for hypothesis in hypotheses]
        return RelationReply(tuple((entails, 0.0, 1 - entails) for entails in table))

    async def close(self) -> None: ...


def test_the_evidence_has_the_probability_of_each_claim_by_the_passage_that_most_entails_it_and_by_the_reference():
    example = Example(
        answer="a b",
        references=("r",),
        contexts=(Context(text="one"), Context(text="two")),
        claims=("a", "b"),
        reference_claims=("r",),
    )
    found = scores(example, checker=_Table())
    assert found["faithfulness"].value == 0.5
    assert found["faithfulness"].evidence["claims"] == [
        {
            "claim": "a",
            "reference": "entails",
            "passages": [1],
            "reference_probability": 0.8,
            "passages_probability": 0.91,
        },
        {
            "claim": "b",
            "reference": "neutral",
            "passages": [],
            "reference_probability": 0.1,
            "passages_probability": 0.45,
        },
    ]
    (wrong,) = (claim for claim in found["precision"].evidence["claims"] if claim["claim"] == "a")
    assert (wrong["reference_probability"], wrong["passages_probability"]) == (0.8, 0.91)
    (recalled,) = found["recall"].evidence["reference_claims"]
    assert (recalled["answer_probability"], recalled["passages_probability"]) == (0.25, 0.7)


def test_one_claim_without_a_verdict_leaves_the_shares_over_it_unscored_and_the_reason_names_it():
    class Short(_Table):
        async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply:
            if long := next((text for text in hypotheses if len(text) > 1), None):
                raise TooLong(
                    f"the claim {long[:8]!r} has 9 tokens, and the checker reads at most 1"
                )
            return await super().classify(premise, hypotheses)

    example = Example(
        answer="a b",
        references=("r",),
        contexts=(Context(text="one"), Context(text="two")),
        claims=("a", "a longer claim"),
        reference_claims=("r",),
    )
    found = scores(example, checker=Short())
    for part in ("precision", "faithfulness", "hallucination", "f1"):
        assert (found[part].status, found[part].value) == ("too_long", None)
        assert "the claim 'a longer' has 9 tokens" in there(found[part].reason)
    assert (
        found["recall"].value == 0
    )  # the answer entails r with the probability .25: no claim of the answer is needed
    # beside the others, as alone, it needs no claim of the answer
    assert found["claim_recall"].value == 1
    assert scores_alone(example, "claim_recall", checker=Short()).value == 1
