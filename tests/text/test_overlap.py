"""Word overlap as a checker."""

from __future__ import annotations

import asyncio

from longmark.text.entailment import Relation
from longmark.text.overlap import OverlapChecker, overlap


def relations(premise: str, *hypotheses: str) -> list[Relation]:
    return asyncio.run(OverlapChecker().relations(premise, hypotheses))


def test_overlap_is_the_share_of_content_words():
    assert overlap("The rain in Paris", ["Paris is dry."]) == 0.5
    assert overlap("of the", ["the of"]) == 1  # without content words all words count
    assert overlap("...", ["rain"]) is None


def test_more_shared_words_are_more_support_and_the_label_goes_by_a_half():
    whole, half, none = relations("The dam broke in May.", "The dam broke in May", "The dam held in June", "Paris")
    assert [one.label for one in (whole, none)] == ["entails", "neutral"]
    assert whole.entails is not None
    assert half.entails is not None
    assert none.entails is not None
    assert whole.entails > 0.5 > half.entails > none.entails > 0


def test_without_words_there_is_no_probability():
    assert relations("", "rain") == relations("...", "rain") == relations("rain", "?") == [Relation("neutral")]
    assert relations("rain") == []
