"""Words in which the two answers of a pair differ, marked for raters where the study says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contrib.annotate.studies import lines, study_of

from longmark.contrib.annotate import screens
from longmark.contrib.annotate.controls import differences
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.items import read_items
from longmark.contrib.annotate.store import Person
from longmark.contrib.annotate.study import Study
from longmark.errors import BadInput

STUDY = """
title: Pairs
items: {from: pairs, path: pairs.jsonl}
show: [question, answers]
fields: [{name: preference, type: compare}]
"""
A = "The gate 🌊 closes at noon today."
B = "The gate 🌊 closes at half past two today."


def a_pair(
    folder: Path, b: str = B, more: str = "differences: marked\n"
) -> tuple[Study, StudyItem]:
    lines(folder / "pairs.jsonl", [{"id": "p", "question": "When?", "a": A, "b": b}])
    study = study_of(folder, STUDY + more)
    (item,) = read_items(study, folder)
    return study, item


def test_places_count_code_points_of_the_side_that_is_shown(tmp_path: Path) -> None:
    """The wave is one code point: `noon` begins after `The gate 🌊 closes at `, 21 of them."""
    study, item = a_pair(tmp_path)
    assert (A[21:25], B[21:34]) == ("noon", "half past two")
    assert differences(study, item, swapped=False) == {"a": "21-25", "b": "21-34"}
    assert differences(study, item, swapped=True) == {"a": "21-34", "b": "21-25"}


def test_a_word_that_only_one_answer_has_is_marked_in_this_one(tmp_path: Path) -> None:
    study, item = a_pair(tmp_path, b="The gate 🌊 closes at noon.")
    assert differences(study, item, swapped=False) == {"a": "21-32", "b": "21-26"}
    study, item = a_pair(tmp_path, b=f"{A} Hurry.")
    assert differences(study, item, swapped=False) == {"b": "33-39"}


@pytest.mark.parametrize("b", [A, "Nobody knows anything whatever about it."])
def test_nothing_is_marked_in_equal_answers_nor_in_those_without_words_in_common(
    tmp_path: Path, b: str
) -> None:
    study, item = a_pair(tmp_path, b=b)
    assert differences(study, item, swapped=False) == {}


def test_the_page_has_the_places_only_where_the_study_asks_for_them(tmp_path: Path) -> None:
    frame = screens.Frame("Pairs", Person("p1", "Ada", "annotator"), "token")
    study, item = a_pair(tmp_path)
    page = screens.render("work", frame, **screens.work(study, item, {}))
    assert page.count('data-differences="') == 2
    assert "differences." in page
    assert 'id="differences" autocomplete="off" checked>' in page, "a switch, on at first"
    study, item = a_pair(tmp_path, more="")
    page = screens.render("work", frame, **screens.work(study, item, {}))
    assert "differences" not in page


def test_a_study_of_single_answers_cannot_mark_differences(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"set items\.from to pairs"):
        study_of(
            tmp_path,
            "title: T\nitems: {from: file, path: a.jsonl}\nshow: [answer]\n"
            "fields: [{name: fine, type: choice, options: [yes, no]}]\ndifferences: marked\n",
        )
