"""The recording of the claim checker's replies, with a stub in place of the checker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("scipy")

from bench.demo_checks import record

from longmark.contrib.demo.checked import Recording
from longmark.contrib.demo.recorded import RecordedChecker, unpacked
from longmark.models.protocols import RelationReply
from longmark.records import Example
from longmark.records.turn import Context

PASSAGE = "The dam broke in June. Nine people died."
CLAIMS = [f"The dam broke in {year}." for year in range(1900, 1909)]


class RepliesOfItsOwn(RecordedChecker):
    """The checker's identity, with replies of its own."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply:
        self.asked += hypotheses
        return RelationReply(tuple((0.25, 0.0, 0.75) for _ in hypotheses))


def test_what_was_recorded_is_found_and_not_asked_again(tmp_path: Path):
    checker, out = RepliesOfItsOwn(), tmp_path / "checks.sqlite.gz"
    for steps in (
        {"first": {PASSAGE: CLAIMS[:3]}},
        {"first": {PASSAGE: CLAIMS[:3]}, "then": {PASSAGE: CLAIMS}},
    ):
        asyncio.run(record(tmp_path, steps, out, checker))
    assert checker.asked == CLAIMS
    unpacked(out, tmp_path / "unpacked.sqlite")
    recording = Recording.read(tmp_path / "unpacked.sqlite")
    example = Example(question="?", answer="", contexts=(Context(text=PASSAGE),))
    assert all(recording.has(example, claim) for claim in CLAIMS)
    assert not recording.has(example, "It did not break.")
    assert not recording.has(
        example.model_copy(update={"contexts": (Context(text="Another."),)}), CLAIMS[0]
    )
