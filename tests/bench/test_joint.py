"""bench.joint: what it counts, worked by hand, and how it asks."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import orjson
import pytest
from bench.joint import (
    LabelledPair,
    LabelledPassages,
    labelled_pairs,
    of_climate_fever,
    of_ragchecker,
    table,
)

from longmark.models.protocols import ChatRequest
from longmark.testing import FakeChat, open_models

RAGCHECKER = Path("../shared/data/ragchecker/checking_outputs.json")


def test_agreement_is_counted_over_pairs_that_both_ways_decided() -> None:
    """Of four decided pairs, separate calls are right on three and joint ones on two; they are equal on three. People
    found two entailments, separate calls one of these, joint ones none."""
    pairs = [
        LabelledPair(0, people=True, separate=True, joint=False),
        LabelledPair(0, people=True, separate=False, joint=False),
        LabelledPair(1, people=False, separate=False, joint=False),
        LabelledPair(1, people=False, separate=False, joint=False),
        LabelledPair(1, people=True, separate=True, joint=None),
    ]
    assert [(line[0], *line[2:]) for line in table(pairs).rows] == [
        ("a passage a call, people", "1 of 1", "1 of 2"),
        ("joint, people", "0 of 0", "0 of 2"),
        ("joint, a passage a call", "0 of 0", "0 of 1"),
    ]
    assert [line[1][:4] for line in table(pairs).rows] == ["0.75", "0.50", "0.75"]


def test_claims_are_drawn_that_some_sentences_support_and_some_do_not(tmp_path: Path) -> None:
    lines = [
        {
            "claim": name,
            "evidences": [
                {"evidence": f"{name} {place}", "evidence_label": label}
                for place, label in enumerate(labels)
            ],
        }
        for name, labels in (
            ("mixed", ("SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO")),
            ("all", ("SUPPORTS", "SUPPORTS")),
            ("none", ("REFUTES", "NOT_ENOUGH_INFO")),
        )
    ]
    file = tmp_path / "claims.jsonl"
    file.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    assert of_climate_fever(file, 9, 0) == [
        LabelledPassages(
            ("mixed",), ("mixed 0", "mixed 1", "mixed 2"), ((True,), (False,), (False,))
        )
    ]


@pytest.mark.skipif(not RAGCHECKER.exists(), reason=f"{RAGCHECKER} is not here")
def test_ragcheckers_first_example_has_eleven_claims_and_four_passages() -> None:
    (labelled,) = of_ragchecker(RAGCHECKER, 1, 0)
    assert (len(labelled.statements), len(labelled.passages)) == (11, 4)
    assert labelled.statements[0] == "Nile is longest river in the world"
    assert [of_passage[0] for of_passage in labelled.entailed] == [False, True, False, False]


def test_both_ways_ask_about_the_same_pairs_and_an_unread_call_is_counted() -> None:
    def judge(request: ChatRequest) -> str:
        asked = request.messages[1].content
        if "<context " in asked:
            return "I cannot say."
        return '{"1": "entails"}' if re.search(r"(?m)^rain$", asked) else '{"1": "neutral"}'

    async def pairs() -> list[LabelledPair]:
        draw = [LabelledPassages(("It rained.",), ("rain", "sun"), ((True,), (False,)))]
        async with open_models(judge=FakeChat(judge)) as models:
            return await labelled_pairs(models, draw, float("inf"))

    assert asyncio.run(pairs()) == [
        LabelledPair(0, people=True, separate=True, joint=None),
        LabelledPair(0, people=False, separate=False, joint=None),
    ]
