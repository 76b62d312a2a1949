"""Pairs by rule to train a claim checker on."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from bench.checkers.data import Claim, windows
from bench.checkers.made import (
    ArticlePassage,
    balanced,
    blend,
    changed,
    pairs,
    plain,
    reworded,
    synonyms,
)

PASSAGE = ArticlePassage(
    "demo",
    "storms",
    [
        "In September 2017, the storm reached Florida with winds of 210 km per hour.",
        "The dam at Lake Mead was closed for 12 days, and 3 towns were without power.",
        "The mayor of Miami said that the city is not safe during the season.",
        "The river is higher than in other years, which worries the farmers of the valley.",
    ],
)


def made(count: int) -> list[dict[str, Any]]:
    known = synonyms(None)
    return [row for seed in range(count) for row in pairs(PASSAGE, random.Random(seed), known)]


def test_neither_the_claim_nor_the_evidence_alone_tells_the_label():
    rows = [row for row in made(10) if row["kind"] not in ("neighbour", "blend")]
    assert len(rows) > 50
    for side in ("claim", "evidence"):
        count = Counter((row[side], row["kind"], row["label"]) for row in rows)
        assert all(count[text, kind, 0] == count[text, kind, 1] for text, kind, _ in count)


def test_what_is_marked_is_what_the_evidence_does_not_say():
    text = "The dam was closed for 12 days."
    assert changed("The dam was closed for 24 days.", text) == [(23, 25)]
    assert changed("The dam was not closed for 12 days.", text) == [(12, 15)]
    assert changed("The dam was closed for days.", text) == [
        (23, 27)
    ]  # the word behind what is gone
    assert changed(text, text) == []


def test_every_level_of_overlap_has_as_many_supported_as_unsupported_claims():
    kept = balanced(made(10), random.Random(0), 10_000)
    levels = Counter(
        (int(20 * row["overlap"]), row["label"]) for row in kept if row["kind"] != "neighbour"
    )
    assert levels
    assert all(levels[level, 0] == levels[level, 1] for level, _ in levels)


def test_a_sentence_and_its_edited_form_are_said_otherwise_in_the_same_way():
    say = reworded(random.Random(3), {"storm": ["tempest"]})
    one, two = (
        say(f"In 2017, the storm reached Florida with winds of {n} km.") for n in (210, 105)
    )
    assert one.replace("210", "105") == two


def test_a_blend_says_of_one_subject_what_was_said_of_another():
    assert (
        blend("The dam is old and grey.", "The river is higher than ever.")
        == "The dam is higher than ever."
    )
    assert blend("The dam is old.", "The river was high.") is None


def test_wiki_markup_becomes_prose():
    markup = "'''Rain''' is [[water|liquid water]]<ref name=a>x</ref> {{convert|1|mm}}falls.\n== Title ==\n* item"
    assert plain(markup).strip() == "Rain is liquid water falls."


def test_the_windows_with_most_of_the_claims_words_are_read_first():
    evidence = tuple(
        f"{word} " + "filler " * 30 + "." for word in ("rain", "storm", "dam", "storm dam")
    )
    found = windows(
        Claim("wice", "1", "g", "The storm broke the dam.", evidence, "supported", True)
    )
    assert [text.split(" filler")[0] for text in found] == ["storm dam", "storm", "dam"]
