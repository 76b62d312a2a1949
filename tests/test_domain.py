"""Domains: the built-in one against the counts of the paper, a user's one, and every mistake with its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import longmark
from longmark.domain import BUILT_IN, Domain, fill, load, named, places
from longmark.errors import BadInput, UnknownName, UserError
from longmark.models.fake import FakeChat, FakeEmbedder
from longmark.models.handles import DEFAULT_DOMAIN

GARDENS = Path(__file__).parents[1] / "examples" / "domain-gardens.yaml"


def test_hazards_has_the_tables_of_the_paper_whole():
    """SCORE: section 2 (hazards, concerns, time spans), table 6 (professions), table 7 (counties). Table 6 lists 41
    professions, 10 + 8 + 8 + 8 + 7, where the text says 40."""
    hazards = load()
    assert [slot.name for slot in hazards.slots][:2] == ["hazard", "location"]
    assert len(hazards.slot("hazard").all_values) == 7
    location = hazards.slot("location")
    assert {hazard: len(places) for hazard, places in location.values.items()} == {
        "cold wave": 25,
        "heat wave": 25,
        "coastal flooding": 25,
        "ice storm": 25,
        "hurricane": 25,
        "drought": 25,
        "wildfire": 23,
    }
    assert sum(map(len, location.values.values())) == 173
    assert len(location.all_values) == 158
    assert {sector: len(names) for sector, names in hazards.slot("profession").values.items()} == {
        "transportation": 10,
        "water": 8,
        "energy": 8,
        "buildings": 8,
        "communications": 7,
    }
    assert len(hazards.slot("profession").all_values) == 41
    assert [len(kinds) for kinds in hazards.slot("infrastructure").values.values()] == [
        8,
        6,
        7,
        6,
        6,
    ]  # 33
    assert len(hazards.slot("timeline").all_values) == 5
    assert hazards.slot("concern").all_values == ("fact-based", "recommendation", "hybrid")
    assert hazards.weights == {"hazard": 0.6, "location": 0.2, "timeline": 0.1, "intensity": 0.1}
    assert hazards.masked == ("hazard", "profession", "concern", "infrastructure")
    assert hazards.masks[0].placeholder == "[HAZARD]"


def test_words_that_the_paper_s_text_breaks_are_whole():
    locations = load().slot("location").all_values
    assert {
        "Fairfax, VA",
        "Volusia, FL",
        "Doña Ana, NM",
        "Prince George's, MD",
        "Bergen, NJ",
    } <= set(locations)
    assert all(
        len(location.rpartition(", ")[2]) == 2 and "  " not in location for location in locations
    )


def test_every_hazard_question_can_be_perturbed_in_hazard_and_location():
    hazards = load()
    assert {"hazard", "location", "infrastructure"} <= hazards.named_by_all
    assert {"profession", "timeline"} <= hazards.named_by_some
    assert all(len(templates) >= 12 for templates in hazards.templates.values())


def test_a_template_of_hazards_reads_well_whatever_fills_it():
    """No article before a slot, no verb that agrees with infrastructure, and no template that is a question twice."""
    for templates in load().templates.values():
        for template in templates:
            assert template.endswith("?")
            assert not any(f" {article} {{" in template for article in ("a", "an", "A", "An"))
            assert "the {infrastructure}" in template
            assert not any(
                f"{{infrastructure}} {verb}" in template
                for verb in ("is", "are", "has", "have", "was")
            )
            assert "{profession}" not in template.replace("{profession}s", "")


def test_another_domain_is_one_file():
    gardens = load(GARDENS)
    assert gardens.weights == {"pest": 3.0, "season": 1.0}  # relative: they need not sum to 1
    assert gardens.slot("crop").choices({"pest": "aphid"}) == ("beans", "cabbage")
    assert gardens.slot("crop").choices({"pest": "snail"}) == ()
    assert gardens.slot("crop").all_values == ("lettuce", "cabbage", "beans", "courgettes")
    with pytest.raises(UnknownName, match=r"unknown slot: pests\. Did you mean pest"):
        gardens.slot("pests")


def test_the_hash_follows_what_the_file_says_not_how(tmp_path: Path):
    text = GARDENS.read_text(encoding="utf-8")
    same, other = tmp_path / "same.yaml", tmp_path / "other.yaml"
    same.write_text(
        "# another comment\n" + text.replace("[slug, aphid, mildew]", '["slug", aphid,   mildew]')
    )
    other.write_text(text.replace("weight: 3", "weight: 2"))
    assert load(same).hash == load(GARDENS).hash != load(other).hash
    assert load().hash == load(BUILT_IN).hash != load(GARDENS).hash


def test_a_domain_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        load().name = "other"  # type: ignore[misc]


def test_a_value_is_found_in_any_form_that_means_it():
    hazards = load()
    storm = hazards.slot("hazard").pattern("ice storm")
    assert [
        match[0]
        for match in storm.finditer(
            "Ice storms and an ice\nstorm, no rice storm, no ice stormy day"
        )
    ] == [
        "Ice storms",
        "ice\nstorm",
    ]
    assert hazards.slot("timeline").pattern("5-10 years").search("the next 5\u201310 years")
    assert not hazards.slot("timeline").pattern("5-10 years").search("15-10 years")
    assert (
        hazards.slot("location")
        .pattern("Prince George's, MD")
        .search("in Prince George\u2019s, MD?")
    )
    assert hazards.slot("hazard").surfaces("coastal flooding") == ("coastal flooding",)


def test_a_value_is_found_in_a_script_without_spaces():
    slot = load(GARDENS).slot("pest").model_copy(update={"plural": "", "values": {"": ("蚜虫",)}})
    assert slot.pattern("蚜虫").search("如何防治蚜虫害?")


def test_a_template_is_filled_in_its_places():
    assert places("{a} of {b}, {a}") == ["a", "b", "a"]
    assert fill("{a} of {b}, {a}", {"a": "1", "b": "2", "c": "3"}) == "1 of 2, 1"


# Mistakes --------------------------------------------------------------------------------------------------------

SLOTS = "The slots are pest, crop, gardener, concern, season."
LINES = GARDENS.read_text(encoding="utf-8").splitlines()


def _line(text: str, nth: int = 0) -> int:
    return [number for number, line in enumerate(LINES, 1) if text in line][nth]


def _with(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


MISTAKES = {
    "a slot that a template invents": (
        _with("{pest} damage can", "{pests} damage can"),
        _line("How much"),
        f"templates.facts[0]: unknown slot: pests. Did you mean pest? {SLOTS}",
    ),
    "a brace that stands alone": (
        _with("{pest} damage can", "{pest damage can"),
        _line("How much"),
        "templates.facts[0]: a single brace: a place is written {slot}",
    ),
    "what YAML takes for a truth value": (
        _with("[allotment holder, school gardener]", "[allotment holder, no]"),
        _line("[allotment holder"),
        "slots[2].values[1]: expected text, found false; put it in quotes",
    ),
    "a number": (
        _with("[early spring, late summer]", "[early spring, 2050]"),
        _line("[early spring"),
        "slots[4].values[1]: expected text, found 2050; put it in quotes",
    ),
    "a parent that has no values": (
        _with("      mildew: [courgettes]\n", ""),
        _line("values:", 1),
        "slots[1].values: has no values for the pest mildew",
    ),
    "a parent that is none": (
        _with("mildew: [courgettes]", "mould: [courgettes]"),
        _line("mildew: [courgettes]"),
        "slots[1].values.mould: is not a value of pest",
    ),
    "a list where a table must be": (
        _with(
            "\n      slug: [lettuce, cabbage]\n      aphid: [beans, cabbage]\n      mildew: [courgettes]",
            " [lettuce]",
        ),
        _line("values:", 1),
        "slots[1].values: expected a table by pest",
    ),
    "a slot given before it is there": (
        _with("given: pest", "given: season"),
        _line("given: pest"),
        "slots[1].given: season is not a slot before crop",
    ),
    "a value twice": (
        _with("[slug, aphid, mildew]", "[slug, aphid, Slug]"),
        _line("[slug, aphid"),
        "slots[0].values[2]: Slug appears twice",
    ),
    "a key twice": (
        _with("title: Pests in gardens", "title: Pests in gardens\nname: other"),
        _line("title: Pests") + 1,
        "name: appears twice",
    ),
    "a misspelt key": (
        _with("plural: s", "plurals: s"),
        _line("plural: s"),
        "slots[0].plurals: is not known here",
    ),
    "a part that is missing": (_with("title: Pests in gardens\n", ""), 4, "title: is missing"),
    "a weight of nothing": (
        _with("weight: 3", "weight: 0"),
        _line("weight: 3"),
        "dimensions[0].weight: expected a number greater than 0, found 0",
    ),
    "a weight in words": (
        _with("weight: 3", "weight: much"),
        _line("weight: 3"),
        'dimensions[0].weight: expected a number, found "much"',
    ),
    "a name with spaces": (
        _with("name: season", "name: the season"),
        _line("name: season"),
        "slots[4].name: the season: a name has a-z, 0-9 and _ and begins with a letter",
    ),
    "a pool that nobody draws": (
        _with("  facts:", "  fact:"),
        _line("  facts:"),
        "templates.fact: is not a value of concern",
    ),
    "a pool that is missing": (
        _with("  facts:", "  fact:"),
        _line("templates:"),
        "templates: has no templates for the concern facts",
    ),
    "no chooser of pools": (
        _with("template_slot: concern", "template_slot: purpose"),
        _line("template_slot"),
        f"template_slot: unknown slot: purpose. {SLOTS}",
    ),
    "a mask of nothing": (
        _with("slot: crop", "slot: plant"),
        _line("slot: crop"),
        f"masks[1].slot: unknown slot: plant. {SLOTS}",
    ),
    "a variant that cannot be": (
        _with("change: [gardener]", "change: [concern]"),
        _line("change: [gardener]"),
        "variants[2].change[0]: concern chooses the template, so that a question cannot change it",
    ),
    "a variant that is always there": (
        _with("name: pest+crop", "name: paraphrase"),
        _line("name: pest+crop"),
        "variants[1].name: paraphrase exists in every domain and changes no slot",
    ),
    "nothing to change to": (
        _with("[allotment holder, school gardener]", "[allotment holder]"),
        _line("change: [gardener]"),
        "variants[2].change[0]: gardener has no second value to change to",
    ),
    "a template in two lines": (
        _with(
            "- How much {pest} damage can {crop} suffer in {season}?",
            '- "How much {pest}\\n damage?"',
        ),
        _line("How much"),
        "templates.facts[0]: must be one line",
    ),
    "a table where a list must be": (
        _with("change: [gardener]", "change: gardener"),
        _line("change: [gardener]"),
        'variants[2].change: expected a list, found "gardener"',
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_file_line_and_place(tmp_path: Path, name: str):
    change, line, message = MISTAKES[name]
    path = tmp_path / "mine.yaml"
    path.write_text(change(GARDENS.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(BadInput) as raised:
        load(path)
    told = {
        one.split(": ", 1)[1]: int(one.split(": ", 1)[0].rpartition(":")[2])
        for one in raised.value.lines
    }
    assert message in told, raised.value.lines
    assert told[message] == line
    assert all(one.startswith(f"{path}:") for one in raised.value.lines)


def test_all_mistakes_are_told_at_once(tmp_path: Path):
    path = tmp_path / "mine.yaml"
    text = (
        GARDENS.read_text(encoding="utf-8")
        .replace("weight: 3", "weight: -1")
        .replace("plural: s", "plural: 1")
    )
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as raised:
        load(path)
    assert len(raised.value.lines) == 3  # one weight, two plurals


def test_a_list_whose_entries_are_all_wrong_is_not_called_empty(tmp_path: Path):
    path = tmp_path / "mine.yaml"
    text = GARDENS.read_text(encoding="utf-8")
    path.write_text(
        text.replace("weight: 3", "weight: 0").replace("weight: 1", "weight: 0"), encoding="utf-8"
    )
    with pytest.raises(BadInput) as raised:
        load(path)
    assert [one.split(": ", 1)[1] for one in raised.value.lines] == [
        f"dimensions[{i}].weight: expected a number greater than 0, found 0" for i in (0, 1)
    ]
    path.write_text(text[: text.index("dimensions:")] + "dimensions: []\n", encoding="utf-8")
    with pytest.raises(BadInput, match="dimensions: is empty"):
        load(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ":1: expected a domain"),
        (b"- a\n- b\n", ":1: expected a domain (name, title, slots, …), found a list"),
        (b"a: [1\nb: 2\n", ":2: is not YAML: "),
        (b"a: !!python/object:os.system x\n", ":1: the tag !!python/object:os.system is not known"),
        (b"\xff\xfe\x00", ":1: is not UTF-8 (byte 0xFF)"),
    ],
)
def test_what_is_no_domain_is_refused(tmp_path: Path, content: bytes, message: str):
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(UserError) as raised:
        load(path)
    assert message in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(UserError, match=r"none\.yaml does not exist"):
        load(tmp_path / "none.yaml")


def test_the_type_is_what_load_gives():
    assert isinstance(load(), Domain)
    assert load() is load()  # read once


def test_the_domain_that_is_not_parsed_has_the_name_and_hash_of_the_file():
    built_in = load()
    assert (DEFAULT_DOMAIN.name, DEFAULT_DOMAIN.hash) == (built_in.name, built_in.hash)
    assert DEFAULT_DOMAIN.slots == built_in.slots


def test_no_domain_is_assumed_and_hazards_names_the_built_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    assert load("hazards") is load()
    with pytest.raises(
        UserError,
        match="domain='gardens': there is no such file; the one built-in domain is hazards",
    ):
        load("gardens")
    with pytest.raises(UserError, match="domain= is missing: it is read; add domain='hazards' for"):
        named(None, "it is read")
    assert named("hazards", "it is read") is load()


def test_a_run_asks_for_a_domain_and_a_folder_from_before_is_resumed_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    given = [{"id": "a", "question": "q", "answer": ""}]

    def run(metrics: str, **more: Any) -> Any:
        judge = FakeChat("{}")
        return longmark.run(
            given, metrics, judges=judge, embedder=FakeEmbedder(), out=tmp_path / "r", **more
        )

    both = "score.specificity,score.answer_relevance"
    with pytest.raises(UserError, match=r"score\.specificity and score\.answer_relevance look for"):
        run(both)
    assert not (tmp_path / "r").exists()
    assert len(list(run(both, domain="hazards").rows())) == 7
    assert run(both, domain="hazards").changes.kept_rows == 7
    fixed = json.loads((tmp_path / "r" / "manifest.json").read_text("utf-8"))["fixed"]
    assert (
        fixed["domain"] == f"{DEFAULT_DOMAIN.name} {DEFAULT_DOMAIN.hash}"
    )  # as folders from before it was named
    longmark.run(given, "score.readability", out=tmp_path / "plain")
    manifest = json.loads((tmp_path / "plain" / "manifest.json").read_text("utf-8"))
    assert (manifest["fixed"]["domain"], manifest["own"]["domain"]) == (
        None,
        None,
    )  # no metric of it reads one
