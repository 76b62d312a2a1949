"""Variants: paraphrases that keep the profile word for word or are left out, perturbations made from the tables."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark.contrib.make import questions
from longmark.contrib.make.left_out import LeftOut
from longmark.contrib.make.vary import Varied, chosen, vary
from longmark.domain import load
from longmark.errors import RequestRefused, UnknownName, UserError
from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.fake import FakeChat
from longmark.models.handles import Backends, Models
from longmark.models.protocols import ChatReply, ChatRequest
from longmark.prompts import PromptBook
from longmark.records import Context, Example

HAZARDS = load()
GARDENS = load(Path(__file__).parents[3] / "examples" / "domain-gardens.yaml")
CHANGES = tuple(variant.name for variant in HAZARDS.variants)
QUESTION = "What does a hurricane do to the electrical grid in Lee, FL over the next 5-10 years?"
PROFILE = {
    "hazard": "hurricane",
    "location": "Lee, FL",
    "sector": "energy",
    "profession": "Substation Engineer",
    "concern": "fact-based",
    "timeline": "5-10 years",
    "infrastructure": "electrical grid",
}
EXAMPLE = Example(id="1", question_id="q1", question=QUESTION, profile=PROFILE)
GOOD = "Over the next 5\u201310 years, how will hurricanes affect the Electrical Grid of Lee, FL?"


def models(chat: FakeChat, tmp_path: Path, budget: Budget | None = None) -> Models:
    client = Client(CallCache(tmp_path / "calls.sqlite"), budget=budget)
    return Models(Backends(generator=chat), client, UsageLog(), PromptBook())


def says(*texts: str) -> list[str]:
    return [json.dumps({"question": text}) for text in texts]


def paraphrase(chat: FakeChat, tmp_path: Path, *examples: Example, seed: int = 0) -> Varied:
    made = models(chat, tmp_path)
    return asyncio.run(
        vary(examples or (EXAMPLE,), made, HAZARDS, variants=["paraphrase"], seed=seed)
    )


def perturb(example: Example, *names: str, domain: Any = HAZARDS, seed: int = 0) -> Varied:
    return asyncio.run(vary([example], None, domain, variants=names, seed=seed))


def one(varied: Varied) -> Example:
    (example,), () = varied.examples, varied.left_out
    return example


def reason(varied: Varied) -> str:
    assert varied.examples == ()
    (left,) = varied.left_out
    return left.reason


# Paraphrases -----------------------------------------------------------------------------------------------------


def test_a_paraphrase_keeps_the_profile_and_stands_alone(tmp_path: Path):
    original = EXAMPLE.model_copy(
        update={
            "answer": "It breaks.",
            "contexts": (Context(text="p"),),
            "references": ("Poles fall.",),
            "system": "a",
        }
    )
    assert one(paraphrase(FakeChat(says(GOOD)), tmp_path, original)) == Example(
        id="1.paraphrase",
        question_id="q1.paraphrase",
        question=GOOD,
        references=("Poles fall.",),
        system="a",
        variant_of="q1",
        variant="paraphrase",
        base_answer="It breaks.",
        profile=PROFILE,
    )


def test_the_model_is_told_what_to_keep_and_nothing_that_the_question_does_not_name(tmp_path: Path):
    chat = FakeChat(says(GOOD))
    paraphrase(chat, tmp_path)
    text = chat.requests[0].messages[1].content
    kept = text.partition("<keep ")[2].partition("\n")[2].partition("\n</keep")[0]
    assert kept.splitlines() == ["hurricane", "Lee, FL", "5-10 years", "electrical grid"]
    assert QUESTION in text
    assert chat.requests[0].schema is not None
    assert chat.requests[0].temperature == 0.7  # at 0 a small model copies the question


LOST = "How will hurricanes affect the electrical grid of Lee, Florida, over the next 5-10 years?"
ADDED = "Over the next 5-10 years, how will a hurricane or a drought affect the electrical grid of Lee, FL?"
FAULTS = {
    "an expression lost": (LOST, "these expressions are missing and must be copied: Lee, FL"),
    "a value added": (ADDED, "it adds what the question does not say: drought"),
    "the question itself": (
        QUESTION.upper() + " ",
        "it is the question itself, not other words for it",
    ),
    "an answer": (
        "A hurricane cuts the electrical grid in Lee, FL for 5-10 years.",
        "it is not one question",
    ),
    "nothing": (" ", "it was empty"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_bad_paraphrase_is_asked_for_once_more_with_what_is_wrong(tmp_path: Path, name: str):
    bad, fault = FAULTS[name]
    chat = FakeChat(says(bad, GOOD))
    assert one(paraphrase(chat, tmp_path)).question == GOOD
    assert len(chat.requests) == 2
    assert fault in chat.requests[1].messages[-1].content


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_bad_twice_is_left_out_with_the_reason(tmp_path: Path, name: str):
    bad, fault = FAULTS[name]
    chat = FakeChat(says(bad, bad))
    left = paraphrase(chat, tmp_path)
    assert fault in reason(left)
    assert str(left.left_out[0]).startswith("q1 paraphrase: ")
    assert len(chat.requests) == 2


def test_a_reply_that_is_no_json_is_no_question(tmp_path: Path):
    assert "could not be read" in reason(paraphrase(FakeChat([GOOD, f"Sure! {GOOD}"]), tmp_path))


def test_a_word_that_the_question_has_by_chance_is_not_one_that_was_added(tmp_path: Path):
    """`drought` is in the original too, though its hazard is another one."""
    question = QUESTION.replace("?", " after a drought?")
    original = EXAMPLE.model_copy(update={"question": question})
    again = GOOD.replace("?", " if a drought came first?")
    assert one(paraphrase(FakeChat(says(again)), tmp_path, original)).question == again


def test_a_question_without_a_profile_can_be_paraphrased(tmp_path: Path):
    original = Example(id="1", question="Why do leaves turn red in autumn?")
    assert (
        one(
            paraphrase(FakeChat(says("In autumn, why do leaves go red?")), tmp_path, original)
        ).profile
        is None
    )


def test_one_line_that_fails_leaves_the_others_as_they_are_and_in_order(tmp_path: Path):
    def answer(request: ChatRequest) -> str | ChatReply | Exception:
        text = request.messages[1].content
        if "Lee, FL" in text:
            return RequestRefused("too long", 400)
        if "Pasco, FL" in text:
            return ChatReply("", finish="content_filter")
        return says(GOOD.replace("Lee, FL", "Clay, FL"))[0]

    examples = [
        Example(
            id=str(i),
            question_id=f"q{i}",
            question=QUESTION.replace("Lee, FL", place),
            profile=PROFILE | {"location": place},
        )
        for i, place in enumerate(["Clay, FL", "Lee, FL", "Pasco, FL", "Clay, FL"])
    ]
    varied = paraphrase(FakeChat(answer), tmp_path, *examples)
    assert [example.id for example in varied.examples] == ["0.paraphrase", "3.paraphrase"]
    assert [(left.id, left.reason.split(":")[0]) for left in varied.left_out] == [
        ("q1 paraphrase", "too long"),
        ("q2 paraphrase", "The judge fake declined"),
    ]


def test_what_was_paid_for_is_not_asked_again_and_another_seed_is(tmp_path: Path):
    chat = FakeChat(says(GOOD, GOOD.replace("affect", "harm")))
    first, second = paraphrase(chat, tmp_path), paraphrase(chat, tmp_path)
    assert first == second
    assert len(chat.requests) == 1
    assert one(paraphrase(chat, tmp_path, seed=1)).question != one(first).question


def test_a_budget_that_is_spent_leaves_the_rest_out_and_makes_what_costs_nothing(tmp_path: Path):
    chat = FakeChat(says(GOOD))
    made = models(chat, tmp_path, Budget(max_calls=1))
    other = EXAMPLE.model_copy(
        update={"id": "2", "question_id": "q2", "question": QUESTION.replace("do to", "mean for")}
    )
    varied = asyncio.run(
        vary([EXAMPLE, other], made, HAZARDS, variants=["paraphrase", "hazard"], at_once=1)
    )
    assert [example.id for example in varied.examples] == ["1.paraphrase", "1.hazard", "2.hazard"]
    assert [str(left) for left in varied.left_out] == [
        "q2 paraphrase: The budget of 1 requests does not allow another call."
    ]
    assert made.client.budget.stopped


def test_paraphrases_without_a_generator_are_refused_before_anything_is_done():
    with pytest.raises(UserError, match="add --generator MODEL, or select other --variants"):
        asyncio.run(vary([EXAMPLE], None, HAZARDS))


def test_a_bug_is_not_taken_for_a_variant_that_could_not_be_made(tmp_path: Path):
    with pytest.raises(LookupError):
        paraphrase(FakeChat({"no prompt says this": "found"}), tmp_path)


# Perturbations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("seed", range(5))
def test_a_perturbation_changes_its_slots_and_no_other_in_question_and_profile(
    name: str, seed: int
):
    changed = {
        slot for variant in HAZARDS.variants if variant.name == name for slot in variant.change
    }
    variant = one(perturb(EXAMPLE, name, seed=seed))
    assert (variant.variant_of, variant.variant) == ("q1", name)
    assert (variant.id, variant.question_id) == (f"1.{name}", f"q1.{name}")
    assert variant.profile is not None
    assert variant.question is not None
    assert {slot for slot in PROFILE if variant.profile[slot] != PROFILE[slot]} == changed
    for slot in HAZARDS.slots:
        value = str(variant.profile[slot.name])
        assert value in slot.all_values
        if slot.name in changed & {"hazard", "location"}:
            assert value in variant.question
            assert not slot.pattern(str(PROFILE[slot.name])).search(variant.question)
    if "location" in changed:
        assert variant.profile["location"] in HAZARDS.slot("location").choices(variant.profile)


def test_a_perturbed_question_by_hand():
    """The article follows the hazard; what is no slot of the variant stays to the letter."""
    seen = {one(perturb(EXAMPLE, "hazard", seed=seed)).question for seed in range(60)}
    rest = "do to the electrical grid in Lee, FL over the next 5-10 years?"
    assert seen == {
        f"What does {hazard} {rest}"
        for hazard in (
            "a cold wave",
            "a heat wave",
            "a coastal flooding",
            "an ice storm",
            "a drought",
            "a wildfire",
        )
    }


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Hurricanes in Lee, FL?",
            {"Ice storms in Lee, FL?", "Coastal flooding in Lee, FL?", "Droughts in Lee, FL?"},
        ),
        (
            "An hurricane in Lee, FL?",
            {"An ice storm in Lee, FL?", "An drought in Lee, FL?"},
        ),  # wrong before: left
        (
            "A HURRICANE in\nLee, FL; hurricane-proof?",
            {"An Ice storm in\nLee, FL; ice storm-proof?"},
        ),
    ],
)
def test_number_case_and_article_follow(question: str, expected: set[str]):
    example = Example(id="1", question=question + " electrical grid", profile=PROFILE)
    seen = {str(one(perturb(example, "hazard", seed=seed)).question) for seed in range(80)}
    assert {text + " electrical grid" for text in expected} <= seen


def test_an_abbreviation_takes_the_article_of_its_first_letter_s_name():
    example = Example(id="1", question="How should an Energy Storage Specialist work?", profile=PROFILE | {
        "profession": "Energy Storage Specialist"})  # fmt: skip
    seen = {str(one(perturb(example, "profession", seed=seed)).question) for seed in range(80)}
    assert {
        "How should an EV Infrastructure Planner work?",
        "How should a Power Systems Engineer work?",
    } <= seen


def test_a_hazard_whose_tables_have_the_location_is_preferred():
    """Maricopa, AZ is in the tables of drought, heat wave and wildfire: from drought, only the other two are taken."""
    profile = PROFILE | {"hazard": "drought", "location": "Maricopa, AZ"}
    example = Example(
        id="1", question="What does drought do to Maricopa, AZ's electrical grid?", profile=profile
    )
    found = {one(perturb(example, "hazard", seed=seed)).profile["hazard"] for seed in range(40)}  # type: ignore[index]
    assert found == {"heat wave", "wildfire"}


def test_a_profession_that_the_question_does_not_name_changes_in_the_profile_alone():
    variant = one(perturb(EXAMPLE, "profession"))
    assert variant.question == QUESTION
    assert variant.profile is not None
    assert variant.profile["profession"] in HAZARDS.slot("profession").values["energy"]
    assert variant.question_id != EXAMPLE.question_id


def test_a_value_inside_another_one_that_stays_is_not_touched():
    profile = {
        "pest": "slug",
        "crop": "slug lettuce",
        "gardener": "school gardener",
        "concern": "facts",
    }
    example = Example(id="1", question="Do slugs like slug lettuce?", profile=profile)
    seen = {
        str(one(perturb(example, "pest", domain=GARDENS, seed=seed)).question) for seed in range(20)
    }
    assert seen == {"Do aphids like slug lettuce?", "Do mildew like slug lettuce?"}


NOT_MADE: dict[str, tuple[dict[str, Any], str, str]] = {
    "no profile": ({"profile": None}, "hazard", "the line has no profile to change"),
    "no such slot": (
        {"profile": {"hazard": "hurricane"}},
        "location",
        "its profile has no location",
    ),
    "an empty value": (
        {"profile": PROFILE | {"hazard": " "}},
        "hazard",
        "its profile has no hazard",
    ),
    "a value that is no text": (
        {"profile": PROFILE | {"hazard": 3}},
        "hazard",
        "the hazard of its profile is no text",
    ),
    "a hazard of no table": (
        {"profile": PROFILE | {"hazard": "meteorite"}},
        "location",
        "the domain has no other location for the hazard meteorite",
    ),
    "not named": (
        {"question": "What breaks the electrical grid in Lee, Florida?"},
        "location",
        "the question does not name the location of its profile (Lee, FL)",
    ),
    "no question": ({"question": None}, "hazard", "the line has no question"),
    "a variant": (
        {"variant_of": "q0", "variant": "hazard"},
        "hazard",
        "the line is itself a variant, of q0",
    ),
}


@pytest.mark.parametrize("name", NOT_MADE)
def test_what_cannot_be_changed_is_left_out_with_the_reason(name: str):
    fields, variant, why = NOT_MADE[name]
    assert reason(perturb(EXAMPLE.model_copy(update=fields), variant)) == why


PHARMACY = """\
name: pharmacy
title: Drugs taken together
slots:
  - {name: drug, description: what is taken, values: [aspirin, ibuprofen, warfarin]}
  - {name: other, description: what is taken too, values: [aspirin, Ibuprofen, warfarin]}
  - {name: concern, description: what is wanted, values: [facts]}
template_slot: concern
templates:
  facts: ["Is {drug} safe together with {other}?"]
dimensions:
  - {name: drug, description: a drug, weight: 1}
variants:
  - {name: drug, change: [drug]}
  - {name: other, change: [other]}
  - {name: both, change: [drug, other]}
"""


@pytest.mark.parametrize("name", ["drug", "other", "both"])
def test_two_slots_that_share_a_pool_stay_different(tmp_path: Path, name: str):
    (tmp_path / "pharmacy.yaml").write_text(PHARMACY, encoding="utf-8")
    pharmacy = load(tmp_path / "pharmacy.yaml")
    profile = {"drug": "aspirin", "other": "Ibuprofen", "concern": "facts"}
    example = Example(id="1", question="Is aspirin safe together with Ibuprofen?", profile=profile)
    made = [one(perturb(example, name, domain=pharmacy, seed=seed)) for seed in range(30)]
    for variant in made:
        assert variant.profile is not None
        drug, other = variant.profile["drug"], variant.profile["other"]
        assert variant.question == f"Is {drug} safe together with {other}?"
        assert drug.casefold() != other.casefold()
        assert [drug != "aspirin", other != "Ibuprofen"] == [
            name in ("drug", "both"),
            name in ("other", "both"),
        ]
    assert len({variant.question for variant in made}) == (3 if name == "both" else 1)


def test_a_slot_whose_only_other_value_is_another_slot_s_is_left_out(tmp_path: Path):
    (tmp_path / "pharmacy.yaml").write_text(PHARMACY.replace(", warfarin", ""), encoding="utf-8")
    pharmacy = load(tmp_path / "pharmacy.yaml")
    profile = {"drug": "aspirin", "other": "Ibuprofen", "concern": "facts"}
    example = Example(id="1", question="Is aspirin safe together with Ibuprofen?", profile=profile)
    assert reason(perturb(example, "drug", domain=pharmacy)) == (
        "the domain has no other drug than what another slot of its profile has"
    )
    swapped = one(perturb(example, "both", domain=pharmacy))
    assert swapped.question == "Is ibuprofen safe together with aspirin?"


def test_a_value_does_not_depend_on_the_lines_around_it():
    """So a longer file, or another choice of variants, makes the same variants of the same questions."""
    examples = list(questions.hazards(20, seed=1))
    whole = asyncio.run(vary(examples, None, HAZARDS, variants=CHANGES))
    alone = [
        one(perturb(example, name)) for example in reversed(examples) for name in reversed(CHANGES)
    ]
    assert list(whole.examples) == alone[::-1]
    assert [str(left) for left in whole.left_out] == []


def test_every_question_of_the_built_in_domain_can_be_perturbed():
    varied = asyncio.run(vary(questions.hazards(1412, seed=7), None, HAZARDS, variants=CHANGES))
    assert (len(varied.examples), varied.left_out) == (1412 * 4, ())
    assert len({example.id for example in varied.examples}) == 1412 * 4


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), n=st.integers(1, 12), at_once=st.integers(1, 5))
def test_a_perturbed_profile_is_one_of_the_tables_where_no_dependent_slot_stays(
    seed: int, n: int, at_once: int
):
    names = ["pest+crop", "gardener"]
    examples = list(questions.hazards(n, seed, GARDENS))
    varied = asyncio.run(vary(examples, None, GARDENS, variants=names, seed=seed, at_once=at_once))
    assert [example.variant for example in varied.examples] == names * n
    for example in varied.examples:
        profile = example.profile or {}
        assert all(profile[slot.name] in slot.choices(profile) for slot in GARDENS.slots)
        assert profile["pest"] in str(example.question)


# Choosing and writing ---------------------------------------------------------------------------------------------


def test_all_variants_of_the_domain_are_made_where_none_is_named():
    assert chosen(HAZARDS) == ("paraphrase", "hazard", "location", "hazard+location", "profession")
    assert chosen(GARDENS, ["pest", "pest"]) == ("pest",)
    with pytest.raises(
        UnknownName, match=r"unknown variant: location\..*The domain gardens has paraphrase, pest"
    ):
        chosen(GARDENS, ["location"])


def test_variants_are_reported_one_by_one():
    told: list[int] = []
    lines: Sequence[Example] = [
        EXAMPLE,
        EXAMPLE.model_copy(update={"id": "2", "question_id": "q2", "profile": None}),
    ]
    count: Callable[[], None] = lambda: told.append(1)  # noqa: E731
    varied = asyncio.run(
        vary(lines, None, HAZARDS, variants=["hazard", "location"], on_variant=count)
    )
    assert [example.variant for example in varied.examples] == ["hazard", "location"]
    assert varied.left_out == tuple(
        LeftOut(f"q2 {name}", "the line has no profile to change")
        for name in ("hazard", "location")
    )
    assert len(told) == 4
