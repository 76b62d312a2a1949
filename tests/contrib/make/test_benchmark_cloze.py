"""Cloze items: blanks at every occurrence of one word, punctuation outside, any script."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark.contrib.make.benchmark.cloze import blank, proposals, still_there, word_counts
from longmark.records.benchmark import BLANK, Item


def _statement(text: str) -> Item:
    return Item(form="cloze", statement=text)


@pytest.mark.parametrize(
    ("statement", "term", "question", "answer"),
    [
        (
            "Aerosols cool; (aerosols), scatter light.",
            "aerosols",
            "<blank> cool; (<blank>), scatter light.",
            "Aerosols",
        ),
        (
            "The “albedo” of ice, i.e. its albedo.",
            "albedo.",
            "The “<blank>” of ice, i.e. its <blank>.",
            "albedo",
        ),
        ("Run apt-get; not apt or get.", "apt-get", "Run <blank>; not apt or get.", "apt-get"),
        (
            "The file /etc/fstab lists mounts.",
            "/etc/fstab",
            "The file /<blank> lists mounts.",
            "etc/fstab",
        ),
        ("Sea-salt aerosol and salt.", "salt", "Sea-<blank> aerosol and <blank>.", "salt"),
        ("A .* matches a.b (a+b)* here.", "a.b", "A .* matches <blank> (a+b)* here.", "a.b"),
        (
            "<b>Ozone</b> absorbs ultraviolet.",
            "Ozone",
            "<b><blank></b> absorbs ultraviolet.",
            "Ozone",
        ),
        (
            "暖空气含有更多水汽，水汽会凝结。",
            "水汽",
            "暖空气含有更多<blank>，<blank>会凝结。",
            "水汽",
        ),
        ("기온이 오르면 증발이 늘어난다.", "증발", "기온이 오르면 <blank>이 늘어난다.", "증발"),
        (
            "يزيد بخار الماء من الاحترار العالمي.",
            "الاحترار",
            "يزيد بخار الماء من <blank> العالمي.",
            "الاحترار",
        ),
        (
            "La chaleur spécifique de l'eau.",
            "spe\u0301cifique",
            "La chaleur <blank> de l'eau.",
            "spécifique",
        ),
        (
            "The ice-albedo feedback's gain.",
            "feedback",
            "The ice-albedo <blank>'s gain.",
            "feedback",
        ),
    ],
)
def test_every_occurrence_is_blanked(statement: str, term: str, question: str, answer: str) -> None:
    item = blank(_statement(statement), term)
    assert (item.question, item.answer, item.status) == (question, answer, "draft")
    position = item.meta["position"]
    assert (item.statement or "")[position : position + len(answer)] == answer
    assert Item.model_validate(item.model_dump()) == item


@pytest.mark.parametrize(
    ("statement", "term", "why"),
    [
        ("The wind rises.", "sea", 'does not contain the word "sea"'),
        ("The winds rise.", "wind", "does not contain"),
        ("The wind rises.", "wind rises", "is not one word"),
        ("The wind rises.", "…", "no letter or digit"),
        ("The <blank> rises and falls.", "falls", "contains <blank> already"),
        ("Wind, wind.", "wind", "more than half"),
        ("暖空气含有更多水汽。", "暖空气含有更多水汽", "more than half"),
        ("हिन्दी एक भाषा है।", "हिन", "does not contain"),  # a mark belongs to the letter before it
    ],
)
def test_a_term_that_is_no_word_of_the_statement_drops_the_item(
    statement: str, term: str, why: str
) -> None:
    item = blank(_statement(statement), term)
    assert item.status == "dropped"
    assert item.reasons[0].startswith("term_missing: ")
    assert why in item.reasons[0]


@settings(max_examples=50, deadline=None)
@given(st.text(min_size=1, max_size=60).filter(str.strip), st.text(min_size=1, max_size=6))
def test_blanks_filled_with_their_words_are_the_statement_again(text: str, term: str) -> None:
    item = blank(_statement(text), term)
    if item.status == "dropped":
        return
    parts = item.question.split(BLANK)
    rest, filled = item.statement or "", ""
    for i, part in enumerate(parts):
        assert rest.startswith(part)
        rest, filled = rest[len(part) :], filled + part
        if i < len(parts) - 1:  # a blank stands for the term, in any case
            assert rest[: len(item.answer or "")].casefold() == (item.answer or "").casefold()
            rest = rest[len(item.answer or "") :]
    assert rest == ""


@pytest.mark.parametrize(
    ("statement", "term", "word"),
    [
        ("Aerosols scatter, and an aerosol absorbs.", "Aerosols", "aerosol"),
        ("A superheated fluid is not heated.", "heated", "superheated"),
        ("Evaporation cools what evaporates.", "Evaporation", None),
        ("The net is caught by the internet.", "net", None),  # too short to tell
    ],
)
def test_a_form_of_the_term_that_is_left(statement: str, term: str, word: str | None) -> None:
    assert still_there(blank(_statement(statement), term)) == word


def test_proposals_are_the_models_then_the_rarest_words() -> None:
    # chunks with the word: surface 3, albedo 2, radiation 1, "nimbostratus" 0, the function word "which" 3
    counts = word_counts(
        ["surface albedo which", "Albedo surface. surface which", "radiation, surface which"]
    )
    assert (counts["surface"], counts["albedo"], counts["radiation"]) == (3, 2, 1)
    statement = "The surface albedo, which reflects radiation under nimbostratus."
    assert proposals(statement, ["Albedo.", "not there"], counts) == (
        "Albedo", "radiation", "surface", "nimbostratus", "reflects",
    )  # fmt: skip
    assert proposals("水汽是温室气体。", ["温室气体", "云"]) == ("温室气体",)
