"""A run over originals and variants: every value has a row for what it is for, and none for the rest."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from longmark.domain import BUILT_IN, load
from longmark.engine.folder import RunFolder
from longmark.engine.session import RunResult, execute
from longmark.engine.settings import SessionOptions, Settings, check, choose
from longmark.models.cache import CallCache
from longmark.models.fake import FakeChat, FakeEmbedder
from longmark.models.handles import Backends
from longmark.records import Example, Row

PARAPHRASE, PERTURBATION = "score.robustness.paraphrase", "score.robustness.perturbation"
GIVEN = [
    {"id": "o", "question_id": "q", "question": "Which dam?", "answer": "The old dam."},
    {
        "id": "p",
        "variant_of": "q",
        "variant": "paraphrase",
        "answer": "The old dam.",
        "base_answer": "The old dam.",
    },
    {
        "id": "h",
        "variant_of": "q",
        "variant": "hazard",
        "answer": "A tall tower.",
        "base_answer": "The old dam.",
    },
    {"id": "b", "variant_of": "q", "variant": "location", "answer": "A tall tower."},
    {"id": "k", "variant_of": "q", "answer": "A tall tower.", "base_answer": "The old dam."},
    {
        "id": "e",
        "variant_of": "q",
        "variant": "paraphrase",
        "answer": "The old dam.",
        "base_answer": "",
    },
]


def executed(folder: Path, given: list[dict[str, Any]], *names: str) -> RunResult:
    selected = choose(names)
    settings = Settings(selected, Backends(embedder=FakeEmbedder()))
    check(settings)
    cache = CallCache(folder.parent / "calls.sqlite")
    try:
        return asyncio.run(execute(given, settings, folder, cache, SessionOptions(quiet=True)))
    finally:
        cache.close()


def rows_of(folder: Path) -> list[Row]:
    return [Row.from_json(line) for line in (folder / "rows.jsonl").read_bytes().splitlines()]


def test_rows_for_what_applies_and_none_for_the_rest(tmp_path: Path):
    result = executed(tmp_path / "r", GIVEN, "score.robustness", "score.readability.grade_level")
    rows = {(row.example_id, row.metric): row for row in rows_of(tmp_path / "r")}
    assert set(rows) == {
        ("o", "score.readability.grade_level"),
        ("p", PARAPHRASE),
        ("h", PERTURBATION),
        ("b", PERTURBATION),
        ("k", PARAPHRASE),
        ("k", PERTURBATION),
        ("e", PARAPHRASE),
    }
    assert rows["p", PARAPHRASE].score == 1  # the same answer
    assert (rows["h", PERTURBATION].score or 0) < 0.5  # no word in common
    assert (rows["b", PERTURBATION].status, rows["b", PERTURBATION].reason) == (
        "missing_input",
        "The example has no base answer.",
    )
    # an empty one is there, as an empty answer is
    assert (rows["e", PARAPHRASE].status, rows["e", PARAPHRASE].reason) == (
        "undefined",
        "The base answer is empty, so it has no similarity to the other.",
    )
    # of a variant of no kind nobody can tell which it is
    assert rows["k", PARAPHRASE].status == rows["k", PERTURBATION].status == "missing_input"
    assert "variant" in (rows["k", PARAPHRASE].reason or "")
    assert (result.stopped, result.inapplicable) == (None, ())
    again = executed(tmp_path / "r", GIVEN, "score.robustness", "score.readability.grade_level")
    assert len(list(again.rows())) == 7


def test_values_without_an_example_are_told_from_values_without_a_value(tmp_path: Path):
    paraphrased = executed(tmp_path / "p", GIVEN[:2], "score.robustness")
    assert (paraphrased.unscored, paraphrased.inapplicable) == ((), (PERTURBATION,))
    original = executed(
        tmp_path / "o", GIVEN[:1], "score.robustness", "score.readability.grade_level"
    )
    assert (original.unscored, original.inapplicable) == ((), (PARAPHRASE, PERTURBATION))
    lacking = executed(tmp_path / "l", GIVEN[3:4], "score.robustness")
    assert (lacking.unscored, lacking.inapplicable) == ((PERTURBATION,), (PARAPHRASE,))


def test_a_folder_counts_the_rows_to_be(tmp_path: Path):
    selected = choose(["score.robustness", "score.specificity", "score.readability"])
    values = [value for chosen in selected for value in chosen.scores]
    with RunFolder(tmp_path / "r", values) as folder:
        folder.stage(Example.model_validate(given) for given in GIVEN)
        # one original: 5 of specificity and 2 of readability; four variants with a kind: 1 each; one without: 2
        assert folder.rows_to_be(selected) == 7 + 4 + 2


def test_a_run_in_a_domain_of_its_own_has_rows_of_its_dimensions(tmp_path: Path):
    path = tmp_path / "own.yaml"
    text = BUILT_IN.read_text(encoding="utf-8")
    path.write_text(text.replace("  - name: intensity\n", "  - name: strength\n"), encoding="utf-8")
    domain = load(path)
    said = {"location": "n/a", "timeline": "n/a", "strength": "no"}
    judge = FakeChat(
        {
            "<claims ": json.dumps({name: [] for name in domain.weights}),
            "<claim ": json.dumps({"hazard": "yes", **said}),
            "": json.dumps({"claims": ["The dam is old."]}),
        }
    )
    selected = choose(["score.specificity"], domain)
    settings = Settings(selected, Backends(judges=(judge,)), domain=domain)
    cache = CallCache(tmp_path / "calls.sqlite")
    given: list[dict[str, Any]] = [
        {"id": "1", "answer": "The dam is old.", "contexts": ["Dams age."]},
        {"id": "2", "answer": "It is old."},
    ]
    try:
        asyncio.run(execute(given, settings, tmp_path / "r", cache, SessionOptions(quiet=True)))
    finally:
        cache.close()
    name = "score.specificity"
    first = {
        row.metric: (row.status, row.score)
        for row in rows_of(tmp_path / "r")
        if row.example_id == "1"
    }
    assert first == {
        name: ("ok", pytest.approx(0.6 / 0.7)),  # hazard 1 by .6, strength 0 by .1
        f"{name}.hazard": ("ok", 1.0),
        f"{name}.location": ("undefined", None),
        f"{name}.timeline": ("undefined", None),
        f"{name}.strength": ("ok", 0.0),
    }
    second = [row for row in rows_of(tmp_path / "r") if row.example_id == "2"]
    assert [row.metric for row in second] == list(first)
    assert {row.status for row in second} == {"missing_input"}  # no contexts
    assert second[0].signature.params == {
        "samples": 3,
        "temperature": 0.7,
        "check": "words",
        "all_na": "undefined",
        "version": 2,
    }
