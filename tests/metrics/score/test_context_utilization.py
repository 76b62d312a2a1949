"""Context utilization on a proxy whose confidence depends on the set of facts alone, and on the small model."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.installed import is_installed

from longmark import metrics
from longmark.errors import Unsupported
from longmark.metrics.score.context_utilization import utilization
from longmark.models.protocols import LikelihoodReply, LikelihoodRequest
from longmark.records import Context, Example
from longmark.testing import FakeChat, FakeLanguageModel, Scored, ScoreOptions, score_sync

NAME = "score.context_utilization"
FACTS = ["The ash fell.", "The birch stood.", "The cedar burnt."]
# log f = -1 + what each fact adds to it
WEIGHT = {"ash": 0.3, "birch": -0.2, "cedar": 0.0, "dogwood": 0.15, "elm": -0.05}


def by_set(prompt: str, _word: str) -> float:
    return -1.0 + sum(weight for word, weight in WEIGHT.items() if word in prompt)


def scored(
    lm: FakeLanguageModel | str,
    found: list[str] | None = None,
    answer: str = "It fell down.",
    cache: Path | None = None,
    **params: Any,
) -> dict[str, Scored]:
    example = Example(
        id="1", question="Which tree fell?", answer=answer, contexts=(Context(text="Many trees."),)
    )
    judge = FakeChat(json.dumps({"facts": FACTS if found is None else found}), name=f"{found}")
    options: ScoreOptions = {"judge": judge, "lm": lm}
    if cache:
        options["cache"] = cache
    scores = score_sync(NAME, example, params, **options)
    return {name.removeprefix(f"{NAME}."): one for name, one in scores.items()}


def unscored(found: dict[str, Scored]) -> tuple[str, str]:
    """The status and reason of both scores."""
    ((status, reason),) = {(one.status, str(one.reason)) for one in found.values()}
    return status, reason


def test_worked_by_hand() -> None:
    lm = FakeLanguageModel(by_set, entropy=True)
    found = scored(lm)
    # log f(C) = -1 + .3 - .2 + 0 = -.9. Without the ash -1.2, without the birch -.7, without the cedar -.9.
    # f: .40657, .30119, .49659, .40657. delta: .10538, -.09002, 0. Mean: .01536 / 3 = .00512; / .40657 = .01259
    absolute, relative = found["absolute"], found["relative"]
    assert absolute.value == pytest.approx(0.00512, abs=1e-5)
    assert relative.value == pytest.approx(0.01259, abs=1e-5)
    shown = absolute.evidence
    assert shown["confidence"] == pytest.approx(0.40657, abs=1e-5)
    assert [claim["delta"] for claim in shown["claims"]] == pytest.approx(
        [0.10538, -0.09002, 0.0], abs=1e-5
    )
    assert (shown["most_needed"], shown["most_distracting"]) == (FACTS[0], FACTS[1])
    assert [claim["passages"] for claim in shown["claims"]] == [[1], [1], [1]]
    # the fake's entropies are twice the distance of the log-probability from 0
    assert shown["entropy"] == pytest.approx(1.8)
    assert [claim["entropy_without"] for claim in shown["claims"]] == pytest.approx([2.4, 1.4, 1.8])
    # the question and a line a fact, and the same answer after every set
    whole, *less = lm.requests
    assert {request.text for request in lm.requests} == {"It fell down."}
    assert whole.prompt.endswith("- The ash fell.\n- The birch stood.\n- The cedar burnt.\n")
    assert "Which tree fell?" in whole.prompt
    assert [request.prompt for request in less] == [
        whole.prompt.replace(f"- {fact}\n", "") for fact in reversed(FACTS)
    ]
    assert all(request.chat for request in lm.requests)


def test_f_is_the_geometric_mean_over_tokens() -> None:
    probabilities = {"It": 0.5, "fell": 0.25, "down.": 0.125}
    lm = FakeLanguageModel(lambda _prompt, word: math.log(probabilities[word]))
    # (1/2 x 1/4 x 1/8) ** (1/3) = (1/64) ** (1/3) = 1/4; nothing changes it
    found = scored(lm)
    assert found["absolute"].evidence["confidence"] == pytest.approx(0.25)
    assert found["absolute"].value == 0
    assert found["relative"].evidence["most_needed"] is None
    assert found["relative"].evidence["most_distracting"] is None
    assert found["absolute"].evidence["entropy"] is None  # this proxy gives none


def test_one_fact_leaves_the_question() -> None:
    lm = FakeLanguageModel(by_set)
    found = scored(lm, FACTS[:1])
    # f(q, C) = exp(-.7) = .49659, f(q) = exp(-1) = .36788
    assert found["absolute"].value == pytest.approx(0.49659 - 0.36788, abs=1e-5)
    assert "- " not in lm.requests[1].prompt


@pytest.mark.parametrize(
    ("facts", "answer", "said"),
    [
        ([], "It fell.", "No facts"),
        (FACTS, "", "answer is empty"),
        (FACTS, " \n", "answer is empty"),
    ],
)
def test_no_value_where_there_is_nothing_to_leave_out_or_to_say(
    tmp_path: Path, facts: list[str], answer: str, said: str
) -> None:
    lm = FakeLanguageModel(by_set)
    status, reason = unscored(scored(lm, facts, answer))
    assert status == "undefined"
    assert said in reason
    assert lm.requests == []


def test_limits_and_parameters() -> None:
    _, reason = unscored(scored(FakeLanguageModel(by_set), max_claims=2))
    assert re.search(r"3 facts; at most 2 .*max_claims", reason)
    plain = FakeLanguageModel(by_set)
    scored(plain, chat=False)
    assert all(
        not r.chat and r.prompt.endswith("\nAnswer:") and r.text[0] == " " for r in plain.requests
    )
    with_passages = FakeLanguageModel(by_set, name="passages")
    shown = scored(with_passages, documents=True)["absolute"].evidence
    assert with_passages.requests[-1].prompt.endswith("- Many trees.\n")
    assert shown["given_the_passages"] == {
        "confidence": pytest.approx(math.exp(-1)),
        "entropy": None,
    }
    with pytest.raises(ValueError, match="at least 1"):
        metrics.load(NAME).params(max_claims=0)


def test_each_set_is_cached_by_itself(tmp_path: Path) -> None:
    lm, cache = FakeLanguageModel(by_set), tmp_path / "calls.sqlite"
    scored(lm, cache=cache)
    assert len(lm.requests) == 4
    # one fact more: only the sets that hold it are new, and the one without it was the whole before
    scored(lm, [*FACTS, "The dogwood stood."], cache=cache)
    assert len(lm.requests) == 4 + 4


def test_a_proxy_that_cannot() -> None:
    def refuse(_prompt: str, _word: str) -> float:
        raise Unsupported("prompt logprobs are not supported by this server")

    status, reason = unscored(scored(FakeLanguageModel(refuse)))
    assert status == "unsupported"
    assert "not supported" in reason

    class Restless(FakeLanguageModel):
        async def likelihood(self, request: LikelihoodRequest) -> LikelihoodReply:
            count = 1 + request.prompt.count("- ")
            return LikelihoodReply((-1.0,) * count, ("x",) * count)

    assert "tokenized the answer differently" in unscored(scored(Restless(name="restless")))[1]
    never = scored(
        FakeLanguageModel(lambda _p, _w: -1000.0, name="never")
    )  # exp(-1000) is 0 in floating point
    assert never["absolute"].value == 0
    assert never["relative"].status == "undefined"


def test_the_equation() -> None:
    # f(C) = .5, without the facts .4, .6 and .5: deltas .1, -.1, 0; with .4, .3, .5: .1, .2, 0, mean .1, relative .2
    assert utilization(0.5, [0.4, 0.6, 0.5]).deltas == pytest.approx((0.1, -0.1, 0.0))
    found = utilization(0.5, [0.4, 0.3, 0.5])
    assert found.absolute == pytest.approx(0.1)
    assert found.relative == pytest.approx(0.2)
    assert utilization(0.0, [0.0]).relative is None


@settings(max_examples=30)
@given(words=st.permutations(sorted(WEIGHT)), count=st.integers(1, 5))
def test_a_permutation_of_the_facts_permutes_the_deltas_and_leaves_the_values(
    words: list[str], count: int
) -> None:
    some = words[:count]
    found, other = (
        scored(FakeLanguageModel(by_set), [f"The {word} stood." for word in words])
        for words in (some, sorted(some))
    )
    for part in ("absolute", "relative"):
        assert found[part].value == pytest.approx(other[part].value)
    deltas, others = (
        {claim["claim"]: claim["delta"] for claim in one["absolute"].evidence["claims"]}
        for one in (found, other)
    )
    assert deltas == pytest.approx(others)


@pytest.mark.embedded
@pytest.mark.slow
@pytest.mark.skipif(not is_installed("small"), reason="longmark models install small")
def test_on_the_small_model_the_fact_that_holds_the_answer_is_needed_most() -> None:
    facts = [
        "Ants live in colonies.",
        "The levee at Kestrel Point was raised to 4.7 metres.",
        "Rain is water.",
    ]
    found = scored(
        "embedded:small",
        facts,
        "The levee at Kestrel Point was raised to 4.7 metres.",
    )
    shown = found["absolute"].evidence
    assert shown["most_needed"] == facts[1]
    assert (found["relative"].value or 0) > 0
