"""Counts of what is left out, in words: every name that a reader counts has a form for one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from longmark.contrib.make import rag
from longmark.contrib.make.rag import jats, latex_words, page_parts, symbol_font, word
from longmark.contrib.make.rag.kinds import counted, counts_of_kinds


def names_in_sources() -> Iterator[str]:
    """The texts by which the readers count (`left_out["charts"] += 1`)."""
    for path in Path(rag.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Subscript) and "left_out" in ast.unparse(node.value):
                chosen = node.slice
                branches = (
                    [chosen.body, chosen.orelse] if isinstance(chosen, ast.IfExp) else [chosen]
                )
                for branch in branches:
                    if isinstance(branch, ast.Constant) and isinstance(branch.value, str):
                        yield branch.value


NAMES = {
    *names_in_sources(),
    *word._LEFT_OUT.values(),
    *jats._LEFT_OUT.values(),
    *latex_words.LEFT_OUT.values(),
    *page_parts._CLASSES.values(),
    *page_parts._CLASSES_OF_WIKIS.values(),
    page_parts.HIDDEN,
    symbol_font.LEFT_OUT,
} - {page_parts.TWICE}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_one_of_a_kind_is_not_named_as_several(name: str) -> None:
    assert counted(1, name) != f"1 {name}"
    assert counted(2, name) == f"2 {name}"


def test_what_one_chart_and_two_thousand_pictures_are_called() -> None:
    assert counts_of_kinds({"charts": 1, "pictures": 2000}) == "2,000 pictures, 1 chart"
    assert counts_of_kinds({".bib files that it reads": 1}) == "1 .bib file that it reads"
    assert counts_of_kinds({".odt": 1}) == "1 .odt"
    assert counts_of_kinds({}) == ""


def test_kinds_that_a_line_has_no_room_for_are_counted() -> None:
    kinds = {f".{letter}": 9 - number for number, letter in enumerate("abcdefgh")}
    assert counts_of_kinds(kinds | {".x": 1}).endswith("2 .h, 1 of 1 other kind")
    assert counts_of_kinds(kinds | {".x": 1, ".y": 1}).endswith("2 .h, 2 of 2 other kinds")
