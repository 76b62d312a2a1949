"""Context utilization on a proxy whose confidence depends on the set of facts alone, and on the small model."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark import metrics
from longmark.errors import NoScore, Unsupported
from longmark.metric import Score
from longmark.models import catalogue
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.fake import FakeChat, FakeLanguageModel
from longmark.models.handles import Backends, Models
from longmark.models.protocols import LanguageModel, LikelihoodReply, LikelihoodRequest
from longmark.models.registry import Registry
from longmark.prompts import PromptBook
from longmark.records import Context, Example

NAME = "score.context_utilization"
FACTS = ["The ash fell.", "The birch stood.", "The cedar burnt."]
# log f = -1 + what each fact adds to it
WEIGHT = {"ash": 0.3, "birch": -0.2, "cedar": 0.0, "dogwood": 0.15, "elm": -0.05}


def by_set(prompt: str, _word: str) -> float:
    return -1.0 + sum(weight for word, weight in WEIGHT.items() if word in prompt)


def marked(
    folder: Path, lm: LanguageModel, found: list[str] | None = None, answer: str = "It fell down.", **params: Any
) -> dict[str, Score | NoScore]:
    metric = metrics.load(NAME)
    example = Example(id="1", question="Which tree fell?", answer=answer, contexts=(Context(text="Many trees."),))
    judge = FakeChat(json.dumps({"facts": FACTS if found is None else found}), name=f"{found}")

    async def use() -> Any:
        try:
            backends = Backends(judges=(judge,), lm=lm)
            models = Models(backends, Client(CallCache(folder / "calls.sqlite")), UsageLog(), PromptBook())
            return await metric.score(example, models, metric.params(**params))
        finally:
            await lm.close()

    result = asyncio.run(use())
    assert isinstance(result, dict)
    return result


def value(result: Score | NoScore) -> Score:
    assert isinstance(result, Score)
    return result


def test_worked_by_hand(tmp_path: Path) -> None:
    lm = FakeLanguageModel(by_set, entropy=True)
    found = marked(tmp_path, lm)
    # log f(C) = -1 + .3 - .2 + 0 = -.9. Without the ash -1.2, without the birch -.7, without the cedar -.9.
    # f: .40657, .30119, .49659, .40657. delta: .10538, -.09002, 0. Mean: .01536 / 3 = .00512; / .40657 = .01259
    absolute, relative = value(found["absolute"]), value(found["relative"])
    assert absolute.value == pytest.approx(0.00512, abs=1e-5)
    assert relative.value == pytest.approx(0.01259, abs=1e-5)
    shown = absolute.evidence
    assert shown["confidence"] == pytest.approx(0.40657, abs=1e-5)
    assert [claim["delta"] for claim in shown["claims"]] == pytest.approx([0.10538, -0.09002, 0.0], abs=1e-5)
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
    assert [request.prompt for request in less] == [whole.prompt.replace(f"- {fact}\n", "") for fact in reversed(FACTS)]
    assert all(request.chat for request in lm.requests)


def test_f_is_the_geometric_mean_over_tokens(tmp_path: Path) -> None:
    probabilities = {"It": 0.5, "fell": 0.25, "down.": 0.125}
    lm = FakeLanguageModel(lambda _prompt, word: math.log(probabilities[word]))
    # (1/2 x 1/4 x 1/8) ** (1/3) = (1/64) ** (1/3) = 1/4; nothing changes it
    found = marked(tmp_path, lm)
    assert value(found["absolute"]).evidence["confidence"] == pytest.approx(0.25)
    assert value(found["absolute"]).value == 0
    assert value(found["relative"]).evidence["most_needed"] is None
    assert value(found["relative"]).evidence["most_distracting"] is None
    assert value(found["absolute"]).evidence["entropy"] is None  # this proxy gives none


def test_one_fact_leaves_the_question(tmp_path: Path) -> None:
    lm = FakeLanguageModel(by_set)
    found = marked(tmp_path, lm, FACTS[:1])
    # f(q, C) = exp(-.7) = .49659, f(q) = exp(-1) = .36788
    assert value(found["absolute"]).value == pytest.approx(0.49659 - 0.36788, abs=1e-5)
    assert "- " not in lm.requests[1].prompt


@pytest.mark.parametrize(
    ("facts", "answer", "said"),
    [([], "It fell.", "No facts"), (FACTS, "", "answer is empty"), (FACTS, " \n", "answer is empty")],
)
def test_no_value_where_there_is_nothing_to_leave_out_or_to_say(
    tmp_path: Path, facts: list[str], answer: str, said: str
) -> None:
    lm = FakeLanguageModel(by_set)
    with pytest.raises(NoScore, match=said) as gap:
        marked(tmp_path, lm, facts, answer)
    assert gap.value.status == "undefined"
    assert lm.requests == []


def test_limits_and_parameters(tmp_path: Path) -> None:
    with pytest.raises(NoScore, match=r"3 facts; at most 2 .*max_claims"):
        marked(tmp_path, FakeLanguageModel(by_set), max_claims=2)
    plain = FakeLanguageModel(by_set)
    marked(tmp_path, plain, chat=False)
    assert all(not r.chat and r.prompt.endswith("\nAnswer:") and r.text[0] == " " for r in plain.requests)
    with_passages = FakeLanguageModel(by_set, name="passages")
    shown = value(marked(tmp_path, with_passages, documents=True)["absolute"]).evidence
    assert with_passages.requests[-1].prompt.endswith("- Many trees.\n")
    assert shown["given_the_passages"] == {"confidence": pytest.approx(math.exp(-1)), "entropy": None}
    with pytest.raises(ValueError, match="at least 1"):
        metrics.load(NAME).params(max_claims=0)


def test_each_set_is_cached_by_itself(tmp_path: Path) -> None:
    lm = FakeLanguageModel(by_set)
    marked(tmp_path, lm)
    assert len(lm.requests) == 4
    # one fact more: only the sets that hold it are new, and the one without it was the whole before
    marked(tmp_path, lm, [*FACTS, "The dogwood stood."])
    assert len(lm.requests) == 4 + 4


def test_a_proxy_that_cannot(tmp_path: Path) -> None:
    def refuse(_prompt: str, _word: str) -> float:
        raise Unsupported("prompt logprobs are not supported by this server")

    with pytest.raises(NoScore, match="not supported") as gap:
        marked(tmp_path, FakeLanguageModel(refuse))
    assert gap.value.status == "unsupported"

    class Restless(FakeLanguageModel):
        async def likelihood(self, request: LikelihoodRequest) -> LikelihoodReply:
            count = 1 + request.prompt.count("- ")
            return LikelihoodReply((-1.0,) * count, ("x",) * count)

    with pytest.raises(NoScore, match="other tokens"):
        marked(tmp_path, Restless(name="restless"))
    never = marked(tmp_path, FakeLanguageModel(lambda _p, _w: -math.inf, name="never"))
    assert value(never["absolute"]).value == 0
    assert isinstance(never["relative"], NoScore)


@settings(max_examples=30)
@given(words=st.permutations(sorted(WEIGHT)), count=st.integers(1, 5))
def test_a_permutation_of_the_facts_permutes_the_deltas_and_leaves_the_values(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], count: int
) -> None:
    some, folder = words[:count], tmp_path_factory.mktemp("c")
    found, other = (
        marked(folder, FakeLanguageModel(by_set), [f"The {word} stood." for word in words])
        for words in (some, sorted(some))
    )
    for part in ("absolute", "relative"):
        assert value(found[part]).value == pytest.approx(value(other[part]).value)
    deltas, others = (
        {claim["claim"]: claim["delta"] for claim in value(one["absolute"]).evidence["claims"]}
        for one in (found, other)
    )
    assert deltas == pytest.approx(others)


@pytest.mark.embedded
@pytest.mark.slow
@pytest.mark.skipif(not catalogue.is_installed("small"), reason="longmark models install small")
def test_on_the_small_model_the_fact_that_holds_the_answer_is_needed_most(tmp_path: Path) -> None:
    facts = ["Ants live in colonies.", "The levee at Kestrel Point was raised to 4.7 metres.", "Rain is water."]
    found = marked(
        tmp_path,
        Registry().open("lm", "embedded:small"),
        facts,
        "The levee at Kestrel Point was raised to 4.7 metres.",
    )
    shown = value(found["absolute"]).evidence
    assert shown["most_needed"] == facts[1]
    assert value(found["relative"]).value > 0
