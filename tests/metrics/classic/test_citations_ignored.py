"""Markers of citations in metrics of words: counted as the libraries do, or left out by a parameter."""

from __future__ import annotations

import pytest

from longmark.errors import UserError
from longmark.metrics import select
from longmark.records import Context, Example
from longmark.testing import score_sync

REFERENCE = "Ice is less dense than water. So it floats on lakes."
FORMS = {
    "none": REFERENCE,
    "brackets": "Ice is less dense than water [1]. So it floats on lakes [2, 3].",
    "behind the full stop": "Ice is less dense than water. [1] So it floats on lakes.[2][3]",
    "documents": "Ice is less dense than water [Doc 1]. So it floats on lakes [Doc 2].",
    "OpenAI's": "Ice is less dense than water【1†source】. So it floats on lakes【2†source】.",
    "footnotes": "Ice is less dense than water[^1]. So it floats on lakes[^2].",
    "ids": "Ice is less dense than water [doc_a]. So it floats on lakes [doc_a].",
    "links": "Ice is less dense than water ([a.org](https://a.org)). So it floats on lakes "
    "https://b.org/x.",
}
METRICS = ("classic.rouge_1", "classic.rouge_l", "classic.bleu", "classic.chrf")


def value(name: str, answer: str, **params: str) -> float | None:
    contexts = (Context(text="Ice.", id="doc_a"),)
    example = Example(answer=answer, references=(REFERENCE,), contexts=contexts)
    metric = name.rpartition(".")[0] if name.count(".") == 2 else name
    return score_sync(metric, example, params)[name].value


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("metric", METRICS)
def test_without_markers_the_same_words_score_one_in_every_form(metric: str, form: str) -> None:
    assert value(metric, FORMS[form], citations="ignore") == pytest.approx(1)


def test_markers_count_as_words_unless_they_are_ignored() -> None:
    # 11 words of each text are the same; `1`, `2` and `3` are three more: 2 * 11 / (14 + 11)
    assert value("classic.rouge_1", FORMS["brackets"]) == pytest.approx(22 / 25)
    assert value("classic.rouge_1", FORMS["none"]) == 1


@pytest.mark.parametrize("form", FORMS)
def test_length_and_readability_count_the_words_alone(form: str) -> None:
    words = value("classic.length.words", FORMS[form], citations="ignore")
    assert words == 11
    characters = value("classic.length.characters", FORMS[form], citations="ignore")
    assert characters == len(REFERENCE)
    plain = value("score.readability.reading_ease", REFERENCE)
    ease = value("score.readability.reading_ease", FORMS[form], citations="ignore")
    assert ease == pytest.approx(plain)


@pytest.mark.parametrize("metric", METRICS)
def test_the_version_says_which_forms_are_ignored_and_does_not_move_where_none_is(
    metric: str,
) -> None:
    (kept,) = select([metric])
    (ignoring,) = select([f"{metric}@citations=ignore"])
    assert kept.version == kept.metric.version
    assert ignoring.version == kept.version + 3


def test_a_signature_of_an_earlier_list_of_forms_is_refused() -> None:
    with pytest.raises(UserError, match="version 2 of the metric, and this longmark has version 5"):
        select(["classic.rouge_1@citations=ignore|metric:2|version:0.1.0"])
    assert select(["classic.rouge_1|metric:2|version:0.1.0"])
