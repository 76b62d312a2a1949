"""The domain file of a benchmark, and where its items are read from."""

from __future__ import annotations

from pathlib import Path

import pytest

from longmark.contrib.make.benchmark import items_of, topic
from longmark.errors import BadInput, UserError
from longmark.records.benchmark import Item, write_items

SMALL = "name: tides\ntitle: Tides\nsubject: the tides\nreaders: sailors\n"


def test_a_domain_has_three_forms_and_three_levels_by_default(tmp_path: Path) -> None:
    (path := tmp_path / "tides.yaml").write_text(SMALL)
    cells = topic.load(path).cells
    assert len(cells) == 7  # mcq and freeform on three levels, cloze on none
    assert cells.index(("mcq", "base")) < cells.index(("mcq", "reasoning"))
    path.write_text(
        SMALL + "forms: [freeform]\nlevels: {hypothetical: it asks what would happen}\n"
    )
    assert topic.load(path).cells == (("freeform", "base"), ("freeform", "hypothetical"))


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("[]", 1, "expected a benchmark's domain"),
        (SMALL + "slots: []\n", 5, "slots"),
        (SMALL + "levels: {hard: x}\n", 5, "hard"),
        (SMALL + "forms: []\n", 5, "is empty"),
        ("name: tides\n", 1, "subject"),
    ],
)
def test_a_wrong_domain_file_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, what: str
) -> None:
    (path := tmp_path / "wrong.yaml").write_text(text)
    with pytest.raises(BadInput) as error:
        topic.load(path)
    assert any(one.startswith(f"{path}:{line}: ") and what in one for one in error.value.lines)


def test_items_are_read_from_a_file_or_a_folder(tmp_path: Path) -> None:
    item = Item(form="freeform", question="What pulls the sea?", answer="The moon.")
    write_items([item], tmp_path / "items.jsonl")
    assert items_of(tmp_path) == items_of(tmp_path / "items.jsonl") == [item]
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"has no items\.jsonl"):
        items_of(tmp_path / "empty")


def test_dropped_and_invalid_items_are_not_usable() -> None:
    item = Item(form="freeform", question="What pulls the sea?", answer="The moon.")
    statuses = ("draft", "audited", "dropped", "valid", "invalid", "edited")
    usable = [status for status in statuses if item.model_copy(update={"status": status}).usable]
    assert usable == ["draft", "audited", "valid", "edited"]
