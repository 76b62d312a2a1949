"""The form of a study, with two stages that need no model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longmark.contrib.papers.study import (
    Expected,
    Made,
    PageSection,
    PaperStudy,
    Stage,
    StudySession,
    carry_out,
    expected,
    notices,
    opened,
    sections,
)
from longmark.errors import FolderInUse, UserError
from longmark.models.cache import CallCache
from longmark.records import Example
from longmark.records.read import Reading
from longmark.report.document import Document
from longmark.report.tables import Column, Table


class Small:
    """A study of two stages: questions, and answers that are made of them. made: the stages that were worked on."""

    def __init__(self, folder: Path) -> None:
        self.out, self.cache = folder / "study", CallCache(folder / "calls.sqlite")
        self.made: list[str] = []
        self.no_reply: list[str] = []

    async def questions(self) -> Made:
        self.made.append("questions")
        return Made([Example(id=str(i), question=f"Why {i}?") for i in range(3)])

    async def answers(self) -> Made:
        self.made.append("answers")
        lines = [
            one.model_copy(update={"answer": "So."})
            for one in Reading(self.out / "questions.jsonl").singles()
        ]
        return Made(
            lines, left_out=self.no_reply, no_reply=self.no_reply, notes=["the answers are short"]
        )

    def study(self, kind: str = "small", **session: Any) -> PaperStudy:
        parts = [
            PageSection("Answers", "How many there are.", self.tables),
            PageSection[None](
                "People", "", absent=lambda _results: "People are left out: they need labels."
            ),
        ]

        def document(stages: Any) -> Document:
            shown = sections(parts, None, stages)
            return Document("small", "Small", "Three.", shown, tuple(notices(parts, None, stages)))

        asked = {"questions": self.out / "questions.jsonl"}
        stages = [
            Stage("questions", self.out / "questions.jsonl", self.questions, Expected(3, 0)),
            Stage(
                "answers: A", self.out / "answers" / "A.jsonl", self.answers, Expected(3, 3), asked
            ),
        ]
        return PaperStudy(
            self.out, kind, {"seed": 0}, stages, StudySession(self.cache, **session), document
        )

    def tables(self, _results: None) -> list[Table]:
        items = list(Reading(self.out / "answers" / "A.jsonl"))
        return [Table("answers", "Answers", (Column("Answer", "id"),), items)]


def test_stages_are_made_once_and_the_page_shows_what_they_took(tmp_path: Path):
    small = Small(tmp_path)
    assert expected(small.study()) == [
        ("questions", Expected(3, 0)),
        ("answers: A", Expected(3, 3)),
    ]
    assert not small.out.exists()
    page = carry_out(small.study()).document
    carry_out(small.study())
    assert small.made == ["questions", "answers"]
    assert page is not None
    assert [section.title for section in page.sections] == ["Answers", "Stages"]
    assert page.notices == (
        "answers: A: the answers are short.",
        "People are left out: they need labels.",
    )
    assert [row[:3:2] for row in page.sections[-1].tables[0].rows] == [
        ("questions", 3),
        ("answers: A", 3),
    ]
    assert {one for _, one in expected(small.study())} == {Expected(0, 0, "done")}


def test_a_stage_is_made_again_when_what_it_was_made_of_has_changed(tmp_path: Path):
    small, heard = Small(tmp_path), list[str]()
    carry_out(small.study(until="questions"))
    assert small.made == ["questions"]
    carry_out(small.study())
    path = small.out / "questions.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    carry_out(small.study(tell=heard.append))
    assert small.made == ["questions", "answers", "answers"]
    assert heard == [f"{path} was edited after it was made; the edited file is used."]
    assert len(list(Reading(small.out / "answers" / "A.jsonl"))) == 2
    path.unlink()
    carry_out(small.study())
    assert small.made[3:] == ["questions", "answers"]


def test_a_stage_without_replies_is_not_finished_unless_gaps_are_allowed(tmp_path: Path):
    small = Small(tmp_path)
    small.no_reply = ["1: the server is down"]
    stopped = carry_out(small.study()).stopped
    assert stopped is not None
    assert str(stopped) == (
        "answers: A: no reply for 1 line, the first: 1: the server is down\n"
        "Repeat the command to request them again, or add --allow-missing to continue without them"
    )
    assert not (small.out / "answers" / "A.jsonl").exists()
    assert carry_out(small.study(allow_missing=True)).stopped is None


def test_a_stage_whose_output_cannot_be_written_is_not_finished(tmp_path: Path):
    small = Small(tmp_path)
    carry_out(small.study(until="questions"))
    (small.out / "answers").write_text("in the way", encoding="utf-8")
    with pytest.raises(UserError, match="answers"):
        carry_out(small.study())
    (small.out / "answers").unlink()
    assert carry_out(small.study()).stopped is None
    assert small.made == ["questions", "answers"], "refused before the stage is made again"


def test_a_folder_of_another_study_or_in_use_is_refused(tmp_path: Path):
    small = Small(tmp_path)
    carry_out(small.study())
    with pytest.raises(UserError, match="kind of study: was small, now other"):
        carry_out(small.study("other"))
    with opened(small.study()), pytest.raises(FolderInUse, match="in use by another process"):
        carry_out(small.study())
    (small.out / "study.json").write_text(
        json.dumps({"kind": "small", "stages": [1]}), encoding="utf-8"
    )
    with pytest.raises(UserError, match="is damaged"):
        carry_out(small.study())
