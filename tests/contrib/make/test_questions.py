"""Questions: what they hold, that they are balanced, different and the same for a seed, and how many there are."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark.contrib.make import questions
from longmark.domain import Domain, load, places
from longmark.errors import UserError
from longmark.records import Example
from longmark.records.read import Reading
from longmark.records.write import write_examples

GARDENS = Path(__file__).parents[3] / "examples" / "domain-gardens.yaml"
PAPER = list(questions.hazards(1412, seed=7))


def told(example: Example) -> tuple[str, dict[str, Any]]:
    """The question and the profile, which are there."""
    assert example.question is not None
    assert example.profile is not None
    return example.question, example.profile


def spread(counts: Counter[str], values: tuple[str, ...]) -> int:
    return max(counts[value] for value in values) - min(counts[value] for value in values)


def test_a_question_has_a_whole_profile_of_the_tables_and_no_answer():
    hazards = load()
    for example in PAPER:
        question, profile = told(example)
        assert set(profile) == {
            "hazard", "location", "sector", "profession", "concern", "timeline", "infrastructure",
        }  # fmt: skip
        for slot in hazards.slots:
            assert profile[slot.name] in slot.choices(profile)
        for name in ("hazard", "location", "infrastructure"):
            assert profile[name] in question
        assert "{" not in question
        assert question.endswith("?")
        assert example.answer is None
        assert example.variant_of is None


def test_no_question_comes_twice():
    assert len({example.question for example in PAPER}) == 1412
    assert len({example.id for example in PAPER}) == 1412
    assert len({example.question_id for example in PAPER}) == 1412


def test_values_come_equally_often_under_what_they_depend_on():
    """1,412 / 7 hazards = 201.7: each comes 201 or 202 times. 1,412 / 5 = 282.4, 1,412 / 3 = 470.7. A hazard's 201 or
    202 questions over 25 locations: 8 or 9 each."""
    profiles = [told(example)[1] for example in PAPER]
    for slot in load().slots:
        for parent, values in slot.values.items():
            counts = Counter(
                p[slot.name] for p in profiles if slot.given is None or p[slot.given] == parent
            )
            assert spread(counts, values) <= 1, (slot.name, parent, counts)
    assert sorted(Counter(p["hazard"] for p in profiles).values()) == [201] * 2 + [202] * 5
    assert sorted(Counter(p["concern"] for p in profiles).values()) == [470, 471, 471]


def test_every_template_is_used_about_as_often_in_its_pool():
    hazards = load()
    used: Counter[str] = Counter()
    for example in PAPER:
        question, profile = told(example)
        filled = {
            template: all(part in question for part in _fixed(template))
            for template in hazards.templates[profile["concern"]]
        }
        (template,) = [template for template, fits in filled.items() if fits]
        used[template] += 1
    for pool in hazards.templates.values():
        assert spread(used, pool) <= 1


def _fixed(template: str) -> list[str]:
    for name in places(template):
        template = template.replace(f"{{{name}}}", "\0")
    return template.split("\0")


def test_the_same_seed_gives_the_same_file_and_another_one_another(tmp_path: Path):
    first, second, other = tmp_path / "1.jsonl", tmp_path / "2.jsonl", tmp_path / "3.jsonl"
    assert write_examples(questions.hazards(1412, 7), first) == 1412
    write_examples(questions.hazards(1412, 7), second)
    write_examples(questions.hazards(1412, 8), other)
    assert first.read_bytes() == second.read_bytes() != other.read_bytes()
    assert list(Reading(first)) == PAPER


FIRST = {
    "hazard": "wildfire",
    "location": "Riverside, CA",
    "sector": "communications",
    "profession": "Telecommunications Engineer",
    "concern": "hybrid",
    "timeline": "50-100 years",
    "infrastructure": "fiber optic infrastructure",
}


def test_the_sequence_is_the_one_that_it_was():
    """Guards the promise for other platforms and Python versions; it changes only with the tables or the templates, and
    then this hash (of the 200 profiles for seed 7, a line each, tab between values) is made anew."""
    profiles = "\n".join("\t".join(told(example)[1].values()) for example in PAPER[:200])
    assert hashlib.sha256(profiles.encode()).hexdigest()[:16] == "d2772626d1845ddf"
    assert told(PAPER[0])[1] == FIRST


def test_fewer_questions_of_a_seed_are_the_beginning_of_more():
    assert list(questions.hazards(50, seed=7)) == PAPER[:50]


def test_how_many_questions_gardens_has():
    """Combinations of pest and crop: 2 + 2 + 1 = 5; gardeners: 2; seasons: 2.
    facts: (pest, crop, season) 5 x 2 = 10, (pest, crop, gardener) 5 x 2 = 10;
    advice: (gardener, pest, crop, season) 2 x 5 x 2 = 20, (crop, pest) 5. In all 45."""
    gardens = load(GARDENS)
    assert questions.how_many(gardens) == 45
    assert len({example.question for example in questions.hazards(45, 1, gardens)}) == 45


def test_how_many_questions_hazards_has():
    """Each template names hazard and location (173 pairs) and infrastructure. With neither profession nor time span:
    173 x 33 = 5,709; with a time span 5 times that, 28,545; with a profession, of which the sector's infrastructure
    is asked about: 173 x (10x8 + 8x6 + 8x7 + 8x6 + 7x6 = 274) = 47,402; with both: 237,010."""
    hazards = load()
    worth = {(False, False): 5709, (True, False): 28545, (False, True): 47402, (True, True): 237010}
    every = [template for pool in hazards.templates.values() for template in pool]
    assert questions.how_many(hazards) == sum(
        worth["{timeline}" in one, "{profession}" in one] for one in every
    )


def test_a_slot_that_is_given_but_not_named_counts_once_a_value(tmp_path: Path):
    """Without pests in the question there are lettuce, cabbage (of two pests), beans and courgettes: 4."""
    path = tmp_path / "mine.yaml"
    text = GARDENS.read_text(encoding="utf-8")
    path.write_text(
        text.replace(
            "Which companion plants protect {crop} against {pest} attacks?", "What of {crop}?"
        )
    )
    assert questions.how_many(load(path)) == 45 - 5 + 4


@pytest.mark.parametrize("n", [46, 10_000])
def test_more_than_there_are_is_refused_with_how_many_there_are(tmp_path: Path, n: int):
    out = tmp_path / "questions.jsonl"
    with pytest.raises(UserError, match=f"--n {n}: the domain gardens has 45 different questions"):
        write_examples(questions.hazards(n, 0, load(GARDENS)), out)
    assert not out.exists()


def test_none_at_all_is_refused():
    with pytest.raises(UserError, match="--n 0: expected a whole number from 1"):
        questions.hazards(0)


@settings(max_examples=40)
@given(n=st.integers(1, 45), seed=st.integers(0, 2**64))
def test_any_number_of_any_seed_are_different_and_of_the_tables(n: int, seed: int):
    gardens: Domain = load(GARDENS)
    made = [told(example) for example in questions.hazards(n, seed, gardens)]
    assert len({question for question, _ in made}) == n
    assert all(
        profile[slot.name] in slot.choices(profile) for _, profile in made for slot in gardens.slots
    )
    for name in ("pest", "concern", "season", "gardener"):
        if n <= (
            12 if name == "pest" else 7
        ):  # further on, what is left of a pest's questions can be lopsided
            assert (
                spread(Counter(profile[name] for _, profile in made), gardens.slot(name).all_values)
                <= 1
            )
