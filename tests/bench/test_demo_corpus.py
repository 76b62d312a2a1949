"""The corpus of the demo: what is committed is what the script makes, and its labels say what was changed."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from itertools import combinations, groupby
from pathlib import Path
from typing import Any

from bench.demo_corpus import originals, write

from longmark.contrib.demo.recorded import DATA, KINDS, SYSTEMS
from longmark.records import Example
from longmark.records.read import Reading

SOURCED = re.compile(r"\b(19|20)\d\d\b|https://")
RATES = {
    "alder": {"deleted": 1, "number": 2, "direction": 1, "unsupported": 1, "padding": 1},
    "birch": {"deleted": 1, "number": 3, "direction": 1, "unsupported": 1, "padding": 8},
    "cedar": {"deleted": 10, "number": 2, "direction": 1, "unsupported": 1, "padding": 1},
    "dogwood": {"deleted": 0, "number": 3, "direction": 7, "unsupported": 9, "padding": 2},
}


@cache
def answers() -> dict[str, Example]:
    return {one.id: one for one in Reading(DATA / "answers.jsonl").singles()}


@cache
def labels() -> dict[str, list[dict[str, Any]]]:
    """Example id -> its labels in the order of the answer."""
    lines = [json.loads(line) for line in (DATA / "labels.jsonl").read_text("utf-8").splitlines()]
    return {id: list(its) for id, its in groupby(lines, key=lambda line: line["example_id"])}


def grams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9.]+", re.sub(r"\[\d\]", "", text.lower()))
    return set(zip(*(words[start:] for start in range(5)), strict=False))


def test_the_script_makes_the_committed_files(tmp_path: Path):
    write(tmp_path)
    made = list(tmp_path.iterdir())
    assert len(made) == 2
    for one in made:
        assert (DATA / one.name).read_bytes() == one.read_bytes(), one.name


def test_every_system_answers_every_question_at_length():
    assert Counter(one.system for one in answers().values()) == dict.fromkeys(SYSTEMS, 15)
    assert len({(one.question_id, one.system) for one in answers().values()}) == 60
    lengths = {id: len((one.answer or "").split()) for id, one in answers().items()}
    assert {id: length for id, length in lengths.items() if not 120 <= length <= 400} == {}
    assert len({one.meta["topic"] for one in answers().values()}) == 4


def test_every_passage_has_a_source_and_every_answer_cites_its_passages():
    for one in answers().values():
        assert 2 <= len(one.contexts) <= 4
        assert all(60 <= len(passage.text.split()) <= 150 for passage in one.contexts), one.id
        assert all(SOURCED.search(passage.page or "") for passage in one.contexts), one.id
        cited = {int(number) for number in re.findall(r"\[(\d)\]", one.answer or "")}
        assert cited, one.id
        assert cited <= {*range(1, len(one.contexts) + 1)}, one.id


def test_a_label_without_its_defect_gives_the_original_back():
    clean = {one.id: one.answer for one in originals()}
    for id, one in answers().items():
        text = one.answer or ""
        for label in reversed(labels().get(id, [])):
            assert text[label["start"] : label["end"]] == label["new"]
            text = text[: label["start"]] + label["old"] + text[label["end"] :]
        assert text == clean[id]


def test_a_deleted_fact_is_one_of_the_reference():
    deleted = [
        (id, one) for id, some in labels().items() for one in some if one["kind"] == "deleted"
    ]
    assert deleted
    for id, one in deleted:
        assert one["fact"] in (answers()[id].reference_claims or ()), id


def test_the_defects_are_at_the_stated_rates_and_no_system_is_its_defect():
    counts = {system: Counter[str]() for system in SYSTEMS}
    for id, some in labels().items():
        counts[answers()[id].system or ""].update({one["kind"] for one in some})
    assert {
        system: {kind: count[kind] for kind in KINDS} for system, count in counts.items()
    } == RATES
    assert all(sum(its[kind] > 0 for its in RATES.values()) >= 3 for kind in KINDS)
    assert all(max(its.values()) < 15 for its in RATES.values())


def test_no_answer_is_a_copy_of_another_systems_or_of_its_passages():
    for _, group in groupby(answers().values(), key=lambda one: one.question_id):
        for one, other in combinations([(each.id, grams(each.answer or "")) for each in group], 2):
            assert len(one[1] & other[1]) < 0.1 * min(len(one[1]), len(other[1])), (
                one[0],
                other[0],
            )
    for each in answers().values():
        its = grams(each.answer or "")
        of_passages = set().union(*(grams(passage.text) for passage in each.contexts))
        assert len(its & of_passages) < 0.35 * len(its), each.id
