"""ROUGE, BLEU, chrF and length: cases worked by hand, parity with the libraries, properties."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark import metrics
from longmark.metric import Score
from longmark.metrics.classic import bleu, length
from longmark.metrics.classic._rouge import longest_in_common, ngrams_in_common, rouge
from longmark.records import Example
from longmark.testing import Scored, score_sync
from longmark.text import tokens as tokenizers
from longmark.text.tokens import Tokenizer

REAL = Path(__file__).parents[4] / "shared" / "data"
REFERENCE = "The cat sat on the mat."
ANSWER = "The cat lay on a mat, the black cat."


def scored(name: str, answer: str, *references: str, **params: Any) -> Scored:
    example = Example(id="1", answer=answer, references=references)
    return next(iter(score_sync(f"classic.{name}", example, params).values()))


def test_rouge_by_hand():
    # answer: the cat lay on a mat the black cat (9); reference: the cat sat on the mat (6)
    # ROUGE-1: the 2, cat 1, on 1, mat 1 are shared = 5: P 5/9, R 5/6, F1 = 2·5/(9 + 6) = 2/3
    # ROUGE-2: of 8 and 5 pairs `the cat` is shared: P 1/8, R 1/5, F1 = 2·1/13
    # ROUGE-L: the cat on mat = 4 (or the cat on the): P 4/9, R 4/6, F1 = 8/15
    one = scored("rouge_1", ANSWER, REFERENCE)
    assert one.value == pytest.approx(2 / 3)
    assert one.evidence == pytest.approx(
        {
            "precision": 5 / 9,
            "recall": 5 / 6,
            "f1": 2 / 3,
            "answer_tokens": 9,
            "reference_tokens": 6,
        }
    )
    assert scored("rouge_2", ANSWER, REFERENCE).value == pytest.approx(2 / 13)
    assert scored("rouge_l", ANSWER, REFERENCE).value == pytest.approx(8 / 15)
    assert scored("rouge_l", ANSWER, REFERENCE, measure="recall").value == pytest.approx(4 / 6)


def test_the_reference_that_fits_best_counts():
    found = scored("rouge_1", "a b", "x y z", "a b c")
    assert found.value == pytest.approx(4 / 5)
    assert found.evidence["reference"] == 1
    assert scored("rouge_1", "a b", "!!", "a b").value == 1  # one without words does not count


def test_bleu_by_hand():
    # 13a: the cat sat on the mat . (7 tokens) against itself without `sat`: the cat on the mat . (6)
    # shared: 6/6; the-cat, on-the, the-mat, mat-. 4/5; on-the-mat, the-mat-. 2/4; on-the-mat-. 1/3; BP exp(1 - 7/6)
    found = scored("bleu", "the cat on the mat.", "the cat sat on the mat.")
    assert found.evidence["precisions"] == pytest.approx([1, 4 / 5, 2 / 4, 1 / 3])
    assert found.value == pytest.approx(math.exp(-1 / 6) * (4 / 5 * 2 / 4 * 1 / 3) ** (1 / 4))


def test_the_bleu_of_climaqa_by_hand():
    # "abc" against "abd": 2 of 3 characters, 1 of 2 pairs, 0.1 for 0 of 1 triples, 0.1 of max(1, 0) quadruples; BP 1
    found = scored("bleu", "abc", "abd", form="climaqa")
    assert found.value == pytest.approx((2 / 3 * 1 / 2 * 0.1 * 0.1) ** (1 / 4))
    assert scored("bleu", "", "abd", form="climaqa").value == 0


def test_the_bleu_of_climaqa_is_the_published_one():
    path = REAL / "climaqa" / "published_examples.json"
    if not path.exists():
        pytest.skip(f"the published examples are not here: {path}")
    found = json.loads(path.read_text(encoding="utf-8"))["freeform"]
    assert len(found) == 15
    for one in found:
        ours = bleu.characters(one["answer"], [one["reference"]]).value
        assert ours == pytest.approx(
            one["bleu_char_recomputed"], abs=5.1e-5
        )  # given to four decimals
        assert round(ours, 3) == pytest.approx(
            one["bleu"], abs=0.00101
        )  # one of the 15 is .364 and not .363


def test_length_as_the_text_stands():
    found = score_sync("classic.length", Example(id="1", answer=" Two  words\n"))
    assert {name: one.value for name, one in found.items()} == {
        "classic.length.words": 2,
        "classic.length.characters": 12,
    }


@pytest.mark.parametrize(
    ("tokenizer", "expected"),
    [
        ("unicode", ["hôtel", "don", "t", "北", "京", "2024", "हिन्दी"]),
        ("space", ["Hôtel", "don't", "北京2024", "हिन्दी"]),
    ],
)
def test_tokens_of_every_script(tokenizer: Tokenizer, expected: list[str]):
    assert list(tokenizers._tokens("Hôtel don't 北京2024 हिन्दी", tokenizer)) == expected


def test_the_tokenizers_of_sacrebleu_are_theirs():
    text = "Hello, world! 你好，世界。 3.5%"
    for name in ("13a", "intl", "zh", "char"):
        assert (
            list(tokenizers._tokens(text, name))
            == sacrebleu.BLEU(tokenize=name).tokenizer(text).split()
        )


@pytest.mark.parametrize(
    ("metric", "parts"),
    [
        *((name, [""]) for name in ("rouge_1", "rouge_2", "rouge_l", "bleu")),
        ("length", [".words"]),
    ],
)
def test_a_text_that_the_tokenizer_cannot_divide_has_no_score(metric: str, parts: list[str]):
    example = Example(id="1", answer="今天的天气很好", references=("今天天气好",))
    found = score_sync(f"classic.{metric}", example)
    for part in parts:
        one = found[f"classic.{metric}{part}"]
        assert (one.value, one.status) == (None, "undefined")
        assert "tokenizer=unicode" in str(one.reason)
    assert all(
        one.value is not None
        for one in score_sync(f"classic.{metric}", example, {"tokenizer": "zh"}).values()
    )


def test_rouge_of_chinese_by_characters():
    # 今天的天气很好 (7) and 今天天气好 (5), all five in order: P 5/7, R 1, F1 = 10/12
    assert scored(
        "rouge_l", "今天的天气很好", "今天天气好", tokenizer="unicode"
    ).value == pytest.approx(10 / 12)


@pytest.mark.parametrize("name", ["rouge_1", "rouge_2", "rouge_l", "bleu", "chrf"])
def test_the_edges(name: str):
    assert scored(name, "", REFERENCE).value == 0
    assert scored(name, "quantum", REFERENCE).value == pytest.approx(0, abs=0.1)
    assert scored(name, REFERENCE, REFERENCE).value == pytest.approx(1)
    assert scored(name, ANSWER, " ").status == "undefined"
    (needs,) = score_sync(f"classic.{name}", Example(id="1", answer=ANSWER)).values()
    assert (needs.status, needs.reason) == ("missing_input", "The example has no reference answer.")


def test_parameters_that_make_no_sense_are_refused():
    for name, wrong in (("bleu", {"smoothing_value": 0}), ("chrf", {"char_order": 0})):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            metrics.load(f"classic.{name}").params(**wrong)


def naive_lcs(one: list[str], other: list[str]) -> int:
    """By the definition, cell by cell."""
    before = [0] * (len(other) + 1)
    for token in one:
        row = [0]
        for place, theirs in enumerate(other):
            row.append(before[place] + 1 if token == theirs else max(before[place + 1], row[-1]))
        before = row
    return before[-1]


LISTS = st.lists(st.sampled_from("abcdef"), max_size=80)


@settings(deadline=None)
@given(LISTS, LISTS)
def test_the_longest_common_subsequence_is_that_of_the_definition(one: list[str], other: list[str]):
    shared, ours, theirs = longest_in_common(one, other)
    assert (shared, ours, theirs) == (naive_lcs(one, other), len(one), len(other))
    assert longest_in_common(other, one)[0] == shared
    assert shared <= ngrams_in_common(1, one, other)[0]
    assert 0 <= rouge(longest_in_common, one, other).f1 <= 1


TEXTS = st.lists(
    st.sampled_from(["the", "cat", "sat", "on", "a", "mat", ".", ","]), min_size=1, max_size=20
)


@settings(deadline=None)
@given(
    TEXTS,
    st.lists(TEXTS, min_size=1, max_size=3),
    st.sampled_from(["exp", "floor", "add-k", "none"]),
)
def test_bleu_is_that_of_sacrebleu(answer: list[str], references: list[list[str]], smoothing: Any):
    ours, theirs = " ".join(answer), [" ".join(one) for one in references]
    expected = sacrebleu.sentence_bleu(ours, theirs, smooth_method=smoothing).score
    assert 100 * bleu.bleu(
        ours, theirs, bleu.BleuParams(smoothing=smoothing)
    ).value == pytest.approx(min(100, expected))


def test_values_of_real_answers_are_those_of_sacrebleu():
    path = REAL / "lfqa_e" / "zh_first600.json"
    if not path.exists():
        pytest.skip(f"the real pairs are not here: {path}")
    for one in json.loads(path.read_text(encoding="utf-8"))[:100]:
        answer, references = one["response_a"], [one["reference"]]
        ours = scored("bleu", answer, *references, tokenizer="zh")
        assert 100 * (ours.value or 0) == pytest.approx(
            sacrebleu.sentence_bleu(answer, references, tokenize="zh").score
        )
        assert 100 * (scored("chrf", answer, *references).value or 0) == pytest.approx(
            sacrebleu.sentence_chrf(answer, references).score
        )


def test_the_longer_text_is_right_as_often_as_is_known():
    path = REAL / "lfqa_e" / "zh_first600.json"
    if not path.exists():
        pytest.skip(f"the real pairs are not here: {path}")
    right, pairs = (
        {"human_vs_model": 0, "model_vs_model": 0},
        json.loads(path.read_text(encoding="utf-8")),
    )

    async def lengths() -> list[list[float]]:  # in one event loop: each loop takes milliseconds
        return [
            [await characters(one[side]) for side in ("response_a", "response_b")] for one in pairs
        ]

    for one, (a, b) in zip(pairs, asyncio.run(lengths()), strict=True):
        choice = "same" if a == b else "response_a" if a > b else "response_b"
        right[one["compare_type"]] += choice == one["label"]
    assert right == {"human_vs_model": 179, "model_vs_model": 95}


async def characters(answer: str) -> float:
    scores = await length.score(Example(id="1", answer=answer), None, length.LengthParams())
    assert isinstance(scores["characters"], Score)
    return scores["characters"].value


UNREAD = {
    "a date that differs in its month": ("25 марта 1995", "25 мая 1995", 2 / 3),
    "fell and rose": (
        "COVID-19は減少した",
        "COVID-19は増加した",
        10 / 14,
    ),  # covid 19 は _ _ し た of 7
    "a name and two contrary words": ("SARS-CoV-2 μειώθηκε", "SARS-CoV-2 αυξήθηκε", 3 / 4),
    "no word in common": ("bà bán bò", "bé bẻ bí", 0),
    "umlauts": ("Größe über alles", "Grösse ueber alles", 2 / 3),  # ß is ss without case
}


@pytest.mark.parametrize("case", UNREAD)
@pytest.mark.parametrize("metric", ["rouge_1", "rouge_2", "rouge_l"])
def test_rouge_does_not_score_what_is_left_of_words_that_its_tokenizer_loses_or_cuts(
    metric: str, case: str
):
    answer, reference, by_words = UNREAD[case]
    one = scored(metric, answer, reference)
    assert (one.value, one.status) == (None, "undefined")
    assert "tokenizer=unicode" in str(one.reason)
    if metric == "rouge_1":
        assert scored(metric, answer, reference, tokenizer="unicode").value == pytest.approx(
            by_words
        )


@pytest.mark.parametrize("metric", ["bleu", "length"])
def test_a_tokenizer_by_spaces_does_not_take_a_run_of_chinese_for_a_word(metric: str):
    example = Example(id="1", answer="2024年7月15日", references=("2024年7月16日",))
    one = next(iter(score_sync(f"classic.{metric}", example).values()))
    assert (one.value, one.status) == (None, "undefined")
    assert "tokenizer=unicode" in str(one.reason)


def test_chrf_with_words_follows_the_rule_and_names_its_own_remedy():
    one = scored("chrf", "今天的天气很好", "今天天气好", word_order=2)
    assert (one.value, one.status) == (None, "undefined")
    assert "word_order=0" in str(one.reason)
    assert scored("chrf", "今天的天气很好", "今天天气好").value is not None


def test_a_name_in_a_long_english_text_is_no_reason_to_give_no_score():
    text = "The writer José lived in a small house by the sea with his two sons and an old dog for many years."
    assert scored("rouge_1", text, text).value == 1
