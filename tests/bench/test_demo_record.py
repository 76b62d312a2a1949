"""What is recorded for the demo is an ordinary call cache that answers the same calls again."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from bench.demo_record import export, record

import longmark
from longmark.contrib.demo.recorded import ANSWERS, JUDGED, SYSTEMS, missed
from longmark.models.fake import FakeChat
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest, TokenLogprobs
from longmark.records.write import read_rows

FEW = 2  # questions
CALLS = FEW * len(SYSTEMS) * len(JUDGED)


def judge() -> FakeChat:
    def reply(request: ChatRequest) -> ChatReply:
        text = request.messages[-1].content
        first, second = ("7", "3") if "digit" in text else ("yes", "no")
        return ChatReply(
            first,
            logprobs=(TokenLogprobs(first, -0.5, ((first, -0.5), (second, -len(text) / 1000))),),
        )

    return FakeChat(reply, capabilities=Capabilities(logprobs=20))


def test_recorded_replies_answer_every_call_of_the_same_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    answers, work, asked = tmp_path / "answers.jsonl", tmp_path / "work", judge()
    answers.write_text(
        "\n".join(ANSWERS.read_text("utf-8").splitlines()[: FEW * len(SYSTEMS)]), "utf-8"
    )
    record(work, answers, asked)
    assert capsys.readouterr().out.splitlines()[-1] == f"{CALLS} scores done, 0 left, 0 min to go"
    record(work, answers, asked)
    assert len(asked.requests) == CALLS  # the second time nothing was missing
    assert export(work, tmp_path / "calls.sqlite.gz") == CALLS
    cache, again = tmp_path / "replayed.sqlite", judge()
    cache.write_bytes(gzip.decompress((tmp_path / "calls.sqlite.gz").read_bytes()))
    result = longmark.run(
        answers, JUDGED, out=tmp_path / "run", judges=[again], scoring="expected", cache=cache
    )
    rows = list(read_rows(work / "run" / "rows.jsonl"))
    assert [(row.example_id, row.metric, row.score) for row in result.rows()] == [
        (row.example_id, row.metric, row.score) for row in rows
    ]
    assert all(row.score is not None for row in rows)
    assert again.requests == []
    assert missed(cache, answers, again) == 0
    answers.write_text(
        answers.read_text("utf-8").replace("1.27 million", "1.28 million", 1), "utf-8"
    )
    assert missed(cache, answers, again) == len(JUDGED)  # another text, another key
