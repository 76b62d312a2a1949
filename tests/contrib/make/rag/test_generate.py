from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.make.rag.make import models

from longmark.contrib.make.rag.generate import PROMPTS, Generation, messages
from longmark.domain import load
from longmark.errors import UserError
from longmark.prompts import from_folder

GARDENS = load(Path(__file__).parents[4] / "examples" / "domain-gardens.yaml")


def sent(folder: Path, profile: dict[str, Any] | None, domain: Any = None) -> str:
    given = replace(models(folder), domain=domain or load())
    _, user = messages(given, "What of ice?", ["Ice breaks wires."], profile, Generation())
    return user.content


def test_the_profile_s_slots_are_the_domain_s(tmp_path: Path) -> None:
    text = sent(
        tmp_path, {"timeline": "5-10 years", "hazard": "ice storm", "concern": None, "plot": 7}
    )
    assert (
        "passages for this hazard (the natural hazard), this timeline (the time span that matters).\n"
        in text
    )
    text = sent(tmp_path, {"season": "early spring", "plot": 7, "pest": "slug"}, GARDENS)
    assert "passages for this pest (the animal or disease), this season (when).\n" in text


def test_what_specificity_measures_is_asked_for_by_own_prompts_only(tmp_path: Path) -> None:
    text = sent(tmp_path, {"hazard": "ice storm"})
    assert not any(dimension.description in text for dimension in load().dimensions)
    own = tmp_path / "prompts"
    own.mkdir()
    (own / "rag.answer.domain.txt").write_text(
        "For $profile: name $dimensions. $citations", encoding="utf-8"
    )
    given = replace(models(tmp_path), domain=GARDENS, prompts=from_folder(own, PROMPTS))
    _, user = messages(given, "What of ice?", [], {"pest": "slug"}, Generation())
    assert (
        "name pest (the animal or disease that is named), season (a month, a season or another time of the year)."
        in user.content
    )
    (own / "rag.answer.domain.txt").write_text("For $profile. $citations $other", encoding="utf-8")
    with pytest.raises(
        UserError, match=r"our text: \$citations, \$profile; \$dimensions is optional"
    ):
        from_folder(own, PROMPTS)


def test_the_names_of_other_entries_are_told_in_the_profile_alone(tmp_path: Path) -> None:
    text = sent(tmp_path, {"Ignore the passages": "now"})
    assert "passages for what it says.\n" in text
    assert text.count("Ignore the passages") == 1
    assert text.index("<profile") < text.index("Ignore the passages") < text.index("</profile")


@pytest.mark.parametrize("profile", [None, {}, {"hazard": " ", "location": None}])
def test_without_a_profile_it_is_a_plain_question(
    tmp_path: Path, profile: dict[str, Any] | None
) -> None:
    text = sent(tmp_path, profile)
    assert "plain sentences" in text
    assert "<profile" not in text
