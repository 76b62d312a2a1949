"""ClimaQA's metrics: cases by hand, and what a blank answer, odd options and missing labels do."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest
import yaml

from longmark.judging import Judging
from longmark.metrics.climaqa.factual_accuracy import smoothed
from longmark.metrics.climaqa.mcq import option_named, options_of
from longmark.metrics.climaqa.phrase_similarity import filled, phrase
from longmark.models.fake import FakeChat, FakeEmbedder
from longmark.records import Example
from longmark.testing import score_sync

OPTIONS = {"a": "Dry air", "b": "Water vapour", "c": "A large volcano", "d": "Sea salt"}


REPLIES = yaml.safe_load(Path(__file__).with_name("mcq_replies.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", REPLIES["replies"])
def test_a_reply_names_the_option_that_a_reader_takes_it_for(kind):
    """204 replies as models write them, right, wrong and ambiguous, written before the parser."""
    named = {
        reply: option_named(reply, REPLIES["options"][kind])
        for reply, _ in REPLIES["replies"][kind]
    }
    assert named == dict(REPLIES["replies"][kind])


@pytest.mark.parametrize(
    "reply",
    [
        *(
            "The wind is not the answer.",
            "b is incorrect.",
            "It cannot be the wind.",
            "incorrect answer: b",
            "Not a",
        ),
        *(
            "I am not sure whether it is the wind.",
            "The wrong answer is b",
            "a) is wrong",
            "Options a and b are wrong.",
        ),
        *(
            "The wind blows over the sea, but currents are driven by density.",
            "The answer is a bit unclear.",
            "25 °C",
        ),
        *(
            "Vitamin C",
            "Plan B.",
            "Answer: a, b",
            "b; c",
            "I would rule out a) and b), so c or d",
            "The moon, the wind",
        ),
        *(
            "The moon is right. Actually the wind is right.",
            "The answer is b\n\nWait, the answer is c",
            "Answer: e",
        ),
        *(
            "Which option is correct? a) The moon b) The wind",
            "a) The moon\nAnswer: b",
            "A storm brings rain",
            "",
        ),
    ],
)
def test_a_reply_that_rejects_options_or_names_several_names_none(reply):
    assert option_named(reply, REPLIES["options"]["en"]) is None


@pytest.mark.parametrize(
    "part", ["answer is ", "答案是", "a, b, ", "(", "B) ", "B is ", "b\n", " ", "The moon ", "\\a"]
)
def test_a_long_reply_is_read_in_a_moment(part):
    began = time.process_time()
    option_named(part * 200_000, REPLIES["options"]["en"])
    assert time.process_time() - began < 5


def test_the_paper_reads_the_first_character():
    assert option_named("  **B", OPTIONS, "first") == "b"
    assert option_named("A storm brings rain", OPTIONS, "first") == "a"
    assert option_named("the answer is b", OPTIONS, "first") is None
    assert options_of(["x", "y"]) == {"a": "x", "b": "y"}


def test_a_model_is_right_by_letter_or_text_and_wrong_where_it_names_nothing():
    def of(answer, reference="b", options=OPTIONS, **params):
        example = Example(question="q", answer=answer, references=(reference,), options=options)
        return score_sync("climaqa.mcq", example, params)["climaqa.mcq"]

    assert [of("b").value, of("c").value, of("Water vapour").value] == [1, 0, 1]
    assert of("b", reference="Water vapour").value == 1
    assert of("I do not know").value == 0
    assert "names no option" in of("I do not know").evidence["note"]
    assert of("b", reference="f").status == "undefined"
    assert of("b", options=None).status == "missing_input"


def test_exact_match_raw_and_folded():
    def of(answer, **params):
        example = Example(question="a <blank>", answer=answer, references=("geopotential", "SO₂"))
        return score_sync("climaqa.exact_match", example, params)["climaqa.exact_match"].value

    assert [of("geopotential"), of("Geopotential."), of("")] == [1, 0, 0]
    assert [
        of("Geopotential.", fold=True),
        of("so2", fold=True),
        of("“SO2” ", fold=True),
        of("geo", fold=True),
    ] == [*(1, 1, 1, 0)]


def test_the_phrase_around_the_first_blank():
    statement = "one two three four five <MASK>, seven eight nine ten <MASK> twelve"
    assert phrase(statement, 4) == "two three four five <blank>, seven eight nine ten"
    assert phrase(statement, 5) == "one two three four five <blank>, seven eight nine ten <blank>"
    assert phrase("____ begins it", 1) == "<blank> begins"
    assert [
        phrase(f"a {blank} b", 1)
        for blank in ("⟨mask⟩", "〈 Mask 〉", "__", "_____", "[MASK]", "{blank}")
    ] == ["a <blank> b"] * 6
    assert phrase("no blank, but an __init__", 4) is None
    assert filled("a <blank>, b", " SO-2! ") == "a SO-2!, b"
    assert filled("a <blank>, b", "SO-2!", "as_published") == "a so2, b"
    assert filled("a <blank>", "-1,5 %", "as_published") == "a 15 %"
    assert filled("a <blank>", "-1.5", "as_published") == "a -1.5"


def test_phrase_similarity_is_twice_what_the_cosine_is_above_one_half():
    """Vectors (1, 0) and (.6, .8): cosine .6, so PS = 2 (.6 - .5) = .2."""
    vectors = {
        "the wind rises": (1.0, 0.0),
        "the air rises": (0.6, 0.8),
        "the sea rises": (-1.0, 0.0),
    }
    vectors |= {"wind": (1.0, 0.0), "air": (0.0, 1.0)}
    embedder = FakeEmbedder(2)
    embedder._vector = vectors.__getitem__  # type: ignore[method-assign, assignment]

    def of(answer, question="the <blank> rises", references=("wind",), **params):
        example = Example(question=question, answer=answer, references=references)
        found = score_sync("climaqa.phrase_similarity", example, params, embedder=embedder)
        return found["climaqa.phrase_similarity"]

    assert of("air").value == pytest.approx(0.2)
    assert of("sea").value == -3
    assert of("sea", references=("wind", "air")).value == pytest.approx(2 * (-0.6 - 0.5))
    assert of("wind").value == 1
    assert of("air", windows=True).evidence["windows"] == pytest.approx(
        [0, *[0.6] * 10]
    )  # window 0: the words alone
    assert of("air", question="no blank here").status == "undefined"


def _replying(**logprobs: float) -> FakeChat:
    return FakeChat(logprobs=logprobs)


def test_factual_accuracy_is_the_smoothed_share_of_supports():
    """p(S) = .8, p(REF) = .2: l_s - l_r = ln 4, p = .8; 1 / (1 + 4^(-1/5)) = 1 / (1 + .757858) = .568874."""
    example = Example(question="q", answer="It rains.", references=("It rains often.",))

    def of(judge, example=example, scoring="expected", **params):
        found = score_sync(
            "climaqa.factual_accuracy", example, params, judge=judge, judging=Judging(scoring)
        )
        return found["climaqa.factual_accuracy"]

    judge = _replying(SUPP=math.log(0.8), REF=math.log(0.2), The=-9.0)
    assert of(judge).value == pytest.approx(0.568874, abs=1e-6)
    assert of(judge, t=1).value == pytest.approx(0.8)
    # tokens of one label are added: .5 + .3 and .2
    parts = _replying(S=math.log(0.5), supports=math.log(0.3), REFUTES=math.log(0.2))
    assert of(parts, t=1).value == pytest.approx(0.8)
    # only REFUTES among the tokens: l_s = -100, so p = exp(-100) and FA = 1 / (1 + exp(20))
    assert of(_replying(REFUTES=0.0)).value == pytest.approx(1 / (1 + math.exp(20)))
    assert of(_replying(The=0.0)).status == "unparsable"
    assert of(FakeChat(["SUPPORTS"]), scoring="text").value == 1
    assert of(FakeChat(["It REFUTES this.\nREFUTES"]), scoring="text").value == 0
    empty = Example(question="q", answer=" ", references=("r",))
    assert of(judge, empty).value == 0


def test_smoothing_keeps_the_ends_and_the_middle():
    assert [smoothed(0.0), smoothed(0.5), smoothed(1.0)] == [0, 0.5, 1]
    for p in (0.1, 0.3, 0.9):
        assert smoothed(p) == pytest.approx(p**0.2 / (p**0.2 + (1 - p) ** 0.2))
