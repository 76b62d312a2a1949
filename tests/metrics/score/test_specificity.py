"""Specificity on judges whose labels are known, and on the labels of 700 answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.installed import is_installed

from longmark import metrics
from longmark.domain import BUILT_IN, Domain, load
from longmark.judging import Judging
from longmark.metrics.score.specificity import SpecificityParams
from longmark.models.protocols import ChatReply, ChatRequest
from longmark.records import Context, Example
from longmark.testing import FakeChat, Scored, score_sync

NAME = "score.specificity"
NAMES = ("hazard", "location", "timeline", "intensity")
EXAMPLE = Example(
    id="1",
    question="What did the ice storm do?",
    answer="An ice storm hit Richland. Lines fell in 2009. Act soon.",
    contexts=(Context(text="An ice storm struck Richland in 2009."), Context(text="Poles broke.")),
)
CLAIMS = ("An ice storm hit Richland.", "Lines fell in 2009.", "One should act.")
# labels of three judges: claim -> dimensions in order
Labels = Mapping[str, tuple[Any, ...]]
FIRST: Labels = {CLAIMS[0]: ("yes", "yes", "n/a", "n/a"), CLAIMS[1]: ("n/a", "n/a", "yes", "n/a")}
SECOND: Labels = {CLAIMS[0]: ("yes", "no", "n/a", "n/a"), CLAIMS[1]: ("no", "n/a", "no", "n/a")}
THIRD: Labels = {CLAIMS[0]: ("no", "no", "n/a", "n/a"), CLAIMS[1]: ("yes", "n/a", "yes", "n/a")}
NOTHING = ("n/a",) * 4


def judge(
    labels: Labels | Callable[[ChatRequest], Labels],
    name: str = "judge",
    names: tuple[str, ...] = NAMES,
) -> FakeChat:
    """Says the claims, the details, and its labels of each claim."""

    def answer(request: ChatRequest) -> str:
        asked = request.messages[1].content
        if "<claims " in asked:
            return json.dumps(
                {one: ["a detail"] for one in names}
            )  # not `name`: CPython 3.12.1 would take it below
        if "<claim " not in asked:
            return json.dumps({"claims": CLAIMS})
        claim = re.search(r"<claim \w+>\n(.*)\n</claim", asked)
        assert claim
        own = (labels(request) if callable(labels) else labels).get(claim[1], NOTHING)
        return json.dumps(
            {n: {"reason": f"{name} says so", "label": x} for n, x in zip(names, own, strict=False)}
        )

    return FakeChat(answer, name=name)


def scored(
    *judges: FakeChat | str,
    example: Example = EXAMPLE,
    domain: Domain | None = None,
    seed: int = 0,
    **params: Any,
) -> dict[str, Scored]:
    found = score_sync(
        NAME, example, params, judge=judges, judging=Judging(seed=seed), domain=domain
    )
    return {name.removeprefix(NAME).removeprefix("."): one for name, one in found.items()}


def unscored(found: dict[str, Scored]) -> str:
    """The status of all scores."""
    (status,) = {one.status for one in found.values()}
    return status


def test_three_judges_by_hand():
    found = scored(judge(FIRST, "a"), judge(SECOND, "b"), judge(THIRD, "c"))
    # claim 1: hazard yes yes no -> yes; location yes no no -> no. claim 2: hazard n/a no yes -> n/a (three-way tie);
    # timeline yes no yes -> yes. claim 3: all n/a.
    # means: hazard 1/1, location 0/1, timeline 1/1, intensity none; (.6 x 1 + .2 x 0 + .1 x 1) / (.6 + .2 + .1) = 7/9
    assert found[""].value == pytest.approx(7 / 9)
    assert found["hazard"].value == 1
    assert found["location"].value == 0
    assert found["timeline"].value == 1
    intensity = found["intensity"]
    assert intensity.status == "undefined"
    assert intensity.evidence["votes"] == {"yes": 0, "no": 0, "n/a": 3}
    evidence = found[""].evidence
    assert evidence["judges"] == ["a", "b", "c"]
    assert evidence["means"] == {"hazard": 1, "location": 0, "timeline": 1, "intensity": None}
    assert evidence["weights"] == {
        "hazard": 0.6,
        "location": 0.2,
        "timeline": 0.1,
        "intensity": 0.1,
    }
    assert evidence["details"] == {name: ["a detail"] for name in NAMES}
    assert [one["claim"] for one in evidence["claims"]] == list(CLAIMS)
    assert evidence["claims"][1]["dimensions"]["hazard"] == {
        "vote": "n/a",
        "labels": ["n/a", "no", "yes"],
        "reasons": ["a says so", "b says so", "c says so"],
    }
    # a dimension shows the claims of which some judge says that they state it
    assert [one["claim"] for one in found["hazard"].evidence["claims"]] == [CLAIMS[0], CLAIMS[1]]
    assert found["hazard"].evidence["votes"] == {"yes": 1, "no": 0, "n/a": 2}
    json.dumps(evidence)  # JSON types only


def test_claims_and_details_come_from_the_first_judge_and_each_is_asked_once():
    first, second = judge(FIRST, "a"), judge(SECOND, "b")
    scored(first, second)
    assert len(first.requests) == 2 + len(CLAIMS)
    assert len(second.requests) == len(CLAIMS)
    assert {request.temperature for request in first.requests + second.requests} == {0.0}


def test_one_judge_is_sampled():
    by_sample = [FIRST, SECOND, THIRD]
    one = judge(lambda request: by_sample[request.sample % 3])
    found = scored(one)
    assert found[""].value == pytest.approx(7 / 9)  # as with three judges
    labelling = [request for request in one.requests if "<claim " in request.messages[1].content]
    assert sorted(request.sample for request in labelling) == sorted([0, 1, 2] * len(CLAIMS))
    assert {request.temperature for request in labelling} == {0.7}
    again = judge(FIRST)
    scored(again, seed=2, samples=5, temperature=1.2)
    labelling = [request for request in again.requests if "<claim " in request.messages[1].content]
    assert {request.sample for request in labelling} == {10, 11, 12, 13, 14}
    assert {request.temperature for request in labelling} == {1.2}
    single = judge(FIRST)
    scored(single, samples=1)
    assert {request.temperature for request in single.requests} == {0.0}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"samples": 0}, "from 1 to 1,000, not 0"),
        ({"samples": 100_000_000}, "from 1 to 1,000"),
        ({"temperature": 0.0}, "temperature 0"),
        ({"temperature": -1.0}, "between 0 and 2"),
    ],
)
def test_parameters_that_make_no_sense(params: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        SpecificityParams(**params)
    assert SpecificityParams(samples=1, temperature=0.0).all_na == "undefined"


def test_all_na_is_undefined_or_by_option_zero():
    found = scored(judge({}))
    assert unscored(found) == "undefined"
    assert len(found[""].evidence["claims"]) == 3  # shown though there is no value
    zero = scored(judge({}), all_na="zero")
    assert zero[""].value == 0.0
    assert all(zero[name].status == "undefined" for name in NAMES)
    assert scored(judge({CLAIMS[0]: ("no",) * 4}), all_na="zero")[""].value == 0.0
    assert "rule" in zero[""].evidence


@pytest.mark.parametrize("answer", ["", "  \n", "Hello!"])
def test_an_answer_without_claims_is_undefined(answer: str):
    silent = FakeChat(json.dumps({"claims": []}))
    assert (
        unscored(scored(silent, example=EXAMPLE.model_copy(update={"answer": answer})))
        == "undefined"
    )
    assert len(silent.requests) == (1 if answer.strip() else 0)


def test_a_label_that_is_left_out_counts_as_na_and_is_counted():
    half: Labels = dict.fromkeys(CLAIMS, ("yes", "no"))
    found = scored(judge(half), samples=1)
    # hazard 3/3, location 0/3, nothing else: (.6 x 1 + .2 x 0) / .8 = .75
    assert found[""].value == pytest.approx(0.75)
    assert found[""].evidence["labels_missing"] == 6
    assert found[""].evidence["claims"][0]["dimensions"]["timeline"]["labels"] == [None]


def test_an_odd_label_of_one_judge_costs_that_label_alone():
    odd: Labels = {
        CLAIMS[0]: ("yes", "perhaps", "not applicable", "n/a"),
        CLAIMS[1]: FIRST[CLAIMS[1]],
    }
    found = scored(judge(odd, "a"), judge(SECOND, "b"), judge(THIRD, "c"))
    # the location of claim 1 is n/a no no -> no, as before: 7/9 (test_three_judges_by_hand)
    assert found[""].value == pytest.approx(7 / 9)
    evidence = found[""].evidence
    assert evidence["labels_missing"] == 1
    assert evidence["invalid_labels"] == {"perhaps": 1}
    location = evidence["claims"][0]["dimensions"]["location"]
    assert (location["vote"], location["labels"]) == ("no", [None, "no", "no"])
    assert location["invalid"] == ["perhaps", None, None]
    assert found["location"].evidence["claims"][0]["invalid"] == ["perhaps", None, None]
    assert "invalid" not in evidence["claims"][0]["dimensions"]["hazard"]
    assert evidence["claims"][0]["dimensions"]["timeline"]["labels"][0] == "n/a"
    # alone, the odd label is n/a in the vote: hazard 1/1, timeline 1/1
    alone = scored(judge(odd), samples=1)
    assert alone[""].value == 1
    assert alone["location"].status == "undefined"
    json.dumps(evidence)


def test_a_reply_without_labels_is_no_vote():
    assert unscored(scored(judge({CLAIMS[1]: ()}), samples=1)) == "unparsable"


def test_a_judge_that_repeats_the_majority_changes_nothing():
    majority: Labels = {
        CLAIMS[0]: ("yes", "no", "n/a", "n/a"),
        CLAIMS[1]: ("n/a", "n/a", "yes", "n/a"),
    }
    three = scored(judge(FIRST, "a"), judge(SECOND, "b"), judge(THIRD, "c"))
    four = scored(judge(FIRST, "a"), judge(SECOND, "b"), judge(THIRD, "c"), judge(majority, "d"))
    assert {part: one.value for part, one in three.items()} == {
        part: one.value for part, one in four.items()
    }


def test_another_domain_has_other_dimensions(tmp_path: Path):
    path = tmp_path / "own.yaml"
    text = BUILT_IN.read_text(encoding="utf-8").replace(
        "  - name: intensity\n", "  - name: severity\n"
    )
    path.write_text(text.replace("weight: 0.6", "weight: 3.0"), encoding="utf-8")
    names = ("hazard", "location", "timeline", "severity")
    found = scored(judge(FIRST, names=names), domain=load(path), samples=1)
    assert list(found) == ["", *names]
    # hazard 1/1, location 1/1, timeline 1/1
    assert found[""].value == 1
    assert found[""].evidence["weights"]["hazard"] == 3.0


def test_a_list_of_claims_that_is_long_is_worked_on_in_pieces():
    many = [f"Claim number {n} speaks of an ice storm{' and of ice' * 30}." for n in range(40)]

    def answer(request: ChatRequest) -> str:
        asked = request.messages[1].content
        if "<claims " in asked:
            numbers = re.findall(r"- Claim number (\d+)", asked)
            assert (
                len(numbers) == 10
            )  # 40 bytes and 30 x 11: about 370 a claim, so ten in a piece of 4,000
            return json.dumps({name: [f"number {n}" for n in numbers] for name in NAMES})
        if "<claim " not in asked:
            return json.dumps({"claims": many})
        number = re.search(r"<claim \w+>\nClaim number (\d+)", asked)
        assert number
        assert f"hazard: number {number[1]}\n" in asked  # those of the claim itself
        return json.dumps(dict.fromkeys(NAMES, "yes"))

    found = scored(FakeChat(answer), samples=1)
    assert found[""].value == 1
    assert found[""].evidence["details"]["hazard"] == [f"number {n}" for n in range(40)]


def test_a_label_goes_by_words_that_stand_where_they_are_said_to_stand():
    def answer(request: ChatRequest) -> str:
        asked = request.messages[1].content
        if "<claims " in asked:
            return json.dumps({name: [] for name in NAMES})
        if "<claim " not in asked:
            return json.dumps({"claims": CLAIMS[:1]})
        yes = {"label": "yes"}
        marks = {
            "hazard": {"in_claim": "ice storm", "in_context": "ice storm", **yes},
            "location": {"in_claim": "Richland", "in_context": "Ohio", **yes},
            "timeline": {"in_claim": "2009", "in_context": "2009", **yes},
            "intensity": {"in_claim": "", "in_context": "", **yes},
        }
        return json.dumps(marks)

    found = scored(FakeChat(answer), samples=1)
    # the claim has no 2009, and the passages no Ohio: hazard 1/1 by .6, location 0/1 by .2
    assert found[""].value == pytest.approx(0.6 / 0.8)
    evidence = found[""].evidence
    assert evidence["labels_corrected"] == 3
    shown = evidence["claims"][0]["dimensions"]
    assert {name: one["vote"] for name, one in shown.items()} == {
        "hazard": "yes",
        "location": "no",
        "timeline": "n/a",
        "intensity": "n/a",
    }
    assert shown["location"]["original"] == ["yes"]
    assert shown["location"]["reasons"] == ["claim: Richland · passages: Ohio"]
    assert "original" not in shown["hazard"]


def test_without_a_check_no_words_are_asked_for_and_the_judge_s_labels_stay():
    claim = CLAIMS[0]
    checked, unchecked = judge({claim: ("yes",) * 4}), judge({claim: ("yes",) * 4})
    scored(checked, samples=1)
    found = scored(unchecked, samples=1, check="none")
    words, no_words = (
        next(one for one in its.requests if "<claim " in one.messages[1].content)
        for its in (checked, unchecked)
    )
    assert all(name in words.messages[1].content for name in ("in_claim", "in_context"))
    assert "in_c" not in no_words.messages[1].content + json.dumps(no_words.schema)
    assert '"reason"' in no_words.messages[1].content

    def quoting(request: ChatRequest) -> str:  # words that are nowhere change no label
        asked = request.messages[1].content
        if "<claims " in asked:
            return json.dumps({name: [] for name in NAMES})
        if "<claim " not in asked:
            return json.dumps({"claims": CLAIMS[:1]})
        return json.dumps(
            {name: {"in_claim": "hail", "in_context": "hail", "label": "yes"} for name in NAMES}
        )

    found = scored(FakeChat(quoting), samples=1, check="none")
    assert found[""].value == 1
    assert found[""].evidence["labels_corrected"] == 0


def test_thirty_thousand_words_and_another_language():
    long = EXAMPLE.model_copy(update={"answer": " ".join(f"{n:05}" for n in range(30_000))})
    assert scored(judge(FIRST), example=long, samples=1)[""].value == 1
    chinese = EXAMPLE.model_copy(update={"answer": "冰暴袭击了里奇兰县。"})
    assert scored(judge(FIRST), example=chinese, samples=1)[""].value == 1


def test_a_cut_off_reply_is_a_reason():
    assert (
        unscored(
            scored(FakeChat(lambda _request: ChatReply('{"claims": ["An ice', finish="length")))
        )
        == "unparsable"
    )


def test_calls_are_estimated_by_sentences():
    metric = metrics.load("score.specificity")
    # claims 1, details 1, three sentences by three samples or two judges
    assert metric.calls(EXAMPLE, SpecificityParams(), 1) == 2 + 3 * 3
    assert metric.calls(EXAMPLE, SpecificityParams(), 2) == 2 + 3 * 2
    assert metric.calls(EXAMPLE.model_copy(update={"answer": ""}), SpecificityParams(), 1) == 0


DATA = Path(__file__).parents[4] / "shared" / "data" / "score" / "specificity_labels.jsonl"


@pytest.mark.skipif(not DATA.exists(), reason="the label data of SCORE is not beside the project")
def test_the_whole_metric_on_answers_of_the_authors():
    """Their judges' labels, said by three fakes, give their scores and means: the first 8 answers and 3 that have no
    score (all 700 by the vote alone: test_votes.py)."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    chosen = (
        rows[:8]
        + [row for row in rows if set(row["dimension_averages"]) == {"n/a"} and row["consensus"]][
            :3
        ]
    )
    label = {0: "no", 1: "yes", "n/a": "n/a"}
    for row in chosen:
        texts = [f"Claim {i}." for i in range(len(row["consensus"]))]

        def answer(request: ChatRequest, who: int, row: Any = row, texts: list[str] = texts) -> str:
            asked = request.messages[1].content
            if "<claims " in asked:
                return json.dumps({name: [] for name in NAMES})
            if "<claim " not in asked:
                return json.dumps({"claims": texts})
            claim = re.search(r"<claim \w+>\nClaim (\d+)", asked)
            assert claim
            said = row["agents"][who][int(claim[1])]
            return json.dumps({name: label[x] for name, x in zip(NAMES, said, strict=True)})

        judges = [
            FakeChat(lambda r, who=who, a=answer: a(r, who), name=f"{row['id']}-{who}")
            for who in range(3)
        ]
        found = scored(*judges, all_na="zero")
        assert found[""].value == pytest.approx(row["score"], abs=1e-12)
        for name, theirs in zip(NAMES, row["dimension_averages"], strict=True):
            assert found[name].value == (None if theirs == "n/a" else pytest.approx(theirs))


@pytest.mark.embedded
@pytest.mark.slow
@pytest.mark.skipif(not is_installed("judge"), reason="longmark models install judge")
def test_the_whole_way_on_the_embedded_judge():
    example = Example(
        id="1",
        answer="The ice storm of 2009 broke power lines in Richland.",
        contexts=(
            Context(text="In 2009 an ice storm struck Richland and brought down power lines."),
        ),
    )
    found = scored("embedded", example=example, samples=1)
    print(json.dumps(found[""].evidence, indent=1))
    assert (found[""].value or 0) > 0.5
    assert (found["hazard"].value or 0) > 0.5
