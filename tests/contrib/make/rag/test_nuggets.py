"""Nuggets out of passages: windows, importance, order, and what is left out."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longmark.cli import main
from longmark.contrib.make.rag.nuggets import KEPT, MOST, NuggetRecords, make_nuggets, questions_of
from longmark.errors import RequestRefused
from longmark.metrics._question_file import read
from longmark.metrics.nuggets import NuggetParams
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.fake import FakeChat
from longmark.models.handles import Backends, Models
from longmark.models.protocols import ChatRequest
from longmark.models.registry import Registry
from longmark.prompts import PromptBook
from longmark.records import Context, Example
from longmark.records.cited import CitedSource


def example(*passages: str, question_id: str = "q1", **fields: Any) -> Example:
    contexts = tuple(Context(text=text) for text in passages)
    return Example(question_id=question_id, question="Why salt?", contexts=contexts, **fields)


def inside(text: str, name: str) -> str:
    block = re.search(rf"<{name} \w+>\n(.*?)\n</{name}", text, re.DOTALL)
    return block[1] if block else ""


def generator(
    facts: Callable[[str, list[str]], list[str]],
    vital: Callable[[str], bool] = lambda _text: True,
    sent: list[str] | None = None,
) -> FakeChat:
    """A model that keeps the facts that `facts` makes of a window and the list so far."""

    def reply(request: ChatRequest) -> str:
        asked_text = request.messages[1].content
        if sent is not None:
            sent.append(asked_text)
        if "vital:" in asked_text:
            listed = re.findall(r"^\[(\d+)\] (.*)$", inside(asked_text, "nuggets"), re.MULTILINE)
            return json.dumps(
                {number: "vital" if vital(text) else "okay" for number, text in listed}
            )
        so_far = inside(asked_text, "nuggets").splitlines()
        return json.dumps({"nuggets": facts(inside(asked_text, "context"), so_far)})

    return FakeChat(reply)


def made(
    chat: FakeChat, tmp_path: Path, *examples: Example, checker: FakeChat | None = None
) -> NuggetRecords:
    client = Client(CallCache(tmp_path / "calls.sqlite"))
    backends = Backends(generator=chat, checker=checker)
    models = Models(backends, client, UsageLog(), PromptBook())
    return asyncio.run(make_nuggets(examples, models))


def each_passage(context: str, so_far: list[str]) -> list[str]:
    return so_far + re.findall(r"^\[\d+\] (.*)$", context, re.MULTILINE)


def test_the_list_goes_through_the_passages_ten_at_a_time(tmp_path: Path) -> None:
    sent: list[str] = []
    passages = [f"Fact {number}." for number in range(12)]
    chat = generator(each_passage, lambda text: text in ("Fact 3.", "Fact 11."), sent)
    (record,) = made(chat, tmp_path, example(*passages)).records
    windows = [inside(text, "context") for text in sent if "vital:" not in text]
    assert [window.count("Fact") for window in windows] == [10, 2]
    assert len([text for text in sent if "vital:" in text]) == 2
    assert [nugget.text for nugget in record.nuggets[:3]] == ["Fact 3.", "Fact 11.", "Fact 0."]
    assert [nugget.importance for nugget in record.nuggets[:3]] == ["vital", "vital", "okay"]
    assert "<nuggets" not in sent[0]


def test_at_most_thirty_are_listed_and_twenty_kept_the_vital_ones_first(tmp_path: Path) -> None:
    sent: list[str] = []
    chat = generator(
        lambda _context, _so_far: [f"Fact {number}." for number in range(40)],
        lambda text: text == "Fact 29.",
        sent,
    )
    (record,) = made(chat, tmp_path, example("p")).records
    assert len([text for text in sent if "vital:" in text]) == MOST / 10
    assert len(record.nuggets) == KEPT
    assert record.nuggets[0].text == "Fact 29."
    assert record.nuggets[1].text == "Fact 0."


def test_facts_in_equal_words_are_one(tmp_path: Path) -> None:
    chat = generator(lambda _context, _so_far: ["Salt melts ice.", "salt  melts ICE.", " ", "So."])
    (record,) = made(chat, tmp_path, example("p")).records
    assert [nugget.text for nugget in record.nuggets] == ["Salt melts ice.", "So."]


def test_the_passages_of_all_answers_to_a_question_count_each_once() -> None:
    examples = [
        example("a", "b", system="x"),
        example("b", "c", system="y"),
        example("d", question_id="q2"),
        example("v", question_id="q1.v", variant_of="q1", variant="paraphrase"),
    ]
    assert [(one.question_id, list(one.passages)) for one in questions_of(examples)] == [
        ("q1", ["a", "b", "c"]),
        ("q2", ["d"]),
    ]


def test_the_texts_of_sources_count_and_long_ones_are_cut() -> None:
    page = "Salt melts ice. " * 600
    sources = (
        CitedSource(id="https://a.org", text=page),
        CitedSource(id="https://b.org"),
        CitedSource(text="a"),
    )
    (asked,) = questions_of([example("a", sources=sources)])
    first, *pieces = asked.passages
    assert first == "a"
    assert len(pieces) == 3
    assert all(len(piece) <= 4000 and piece in page for piece in pieces)


@pytest.mark.parametrize("checker", [[], ["--checker", "m@http://localhost:1/v1"]])
def test_a_dry_run_of_the_command_counts_calls_and_sends_nothing(
    checker: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = [{"url": f"https://a.org/{number}", "content": f"So {number}."} for number in range(11)]
    lines = [
        {"question_id": "q1", "question": "Why salt?", "answer": "So.", "sources": pages},
        {"question_id": "q2", "question": "Why sand?"},
    ]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    out = tmp_path / "nuggets.jsonl"
    words = ["rag", "nuggets", str(answers), "--generator", "m@http://localhost:1/v1"]
    assert main([*words, *checker, "--out", str(out), "--dry-run"]) == 0
    total = "65 calls at most (lists 2, importance 3, checker 60)" if checker else "5 calls at most"
    assert f"2 questions: {total}" in capsys.readouterr().out
    assert not out.exists()


@pytest.mark.parametrize(
    ("chat", "examples", "says"),
    [
        (generator(each_passage), [example()], "q1: The question has no contexts"),
        (
            generator(lambda _context, _so_far: []),
            [example("p")],
            "q1: The generator finds no fact in the contexts.",
        ),
        (FakeChat('["a", "b"]'), [example("p")], "could not be read"),
        (FakeChat(lambda _request: RequestRefused("no", 400)), [example("p")], "q1: no"),
    ],
)
def test_a_question_without_nuggets_is_left_out_with_the_reason(
    chat: FakeChat, examples: list[Example], says: str, tmp_path: Path
) -> None:
    result = made(chat, tmp_path, *examples)
    assert result.records == ()
    assert says in str(result.left_out[0])


def test_the_file_is_one_that_the_metric_reads(tmp_path: Path) -> None:
    chat = generator(each_passage, lambda text: "ice" in text)
    result = made(chat, tmp_path, example("Salt melts ice.", "Sand does not."))
    path = tmp_path / "nuggets.jsonl"
    path.write_text("".join(f"{record.line()}\n" for record in result.records), encoding="utf-8")
    nuggets = read(NuggetParams(file=str(path)).file, "nuggets")["q1"]
    assert [(nugget.text, nugget.importance) for nugget in nuggets] == [
        ("Salt melts ice.", "vital"),
        ("Sand does not.", "okay"),
    ]


def test_the_command_refuses_a_file_that_is_no_json_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["rag", "nuggets", "x.jsonl", "--generator", "m@http://localhost:1/v1", "--out"]
    assert main([*words, str(tmp_path / "n.csv")]) == 2
    assert "name a .jsonl file" in capsys.readouterr().err


def test_the_command_writes_what_it_makes_and_says_what_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = generator(each_passage)
    monkeypatch.setattr(Registry, "open", lambda _registry, _role, _name: chat)
    lines = [
        {"question_id": "q1", "question": "Why salt?", "contexts": ["Salt melts ice."]},
        {"question_id": "q2", "question": "Why sand?"},
    ]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    out = tmp_path / "nuggets.jsonl"
    words = ["rag", "nuggets", str(answers), "--generator", "fake", "--out", str(out)]
    assert main([*words, "--cache", str(tmp_path / "calls.sqlite"), "--quiet"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"1 nugget of 1 question: {out}\n"
    assert "1 question omitted:\n  q2: The question has no contexts" in printed.err
    assert json.loads(out.read_text("utf-8")) == {
        "qid": "q1",
        "query": "Why salt?",
        "nuggets": [{"text": "Salt melts ice.", "importance": "vital"}],
    }


def test_facts_that_entail_each_other_are_one_where_a_checker_is_named(tmp_path: Path) -> None:
    entailments = {
        ("Salt melts ice.", "Ice melts by salt."),
        ("Ice melts by salt.", "Salt melts ice."),
        ("Road salt melts ice.", "Salt melts ice."),  # one direction: both stay
    }
    sent: list[str] = []

    def relation(request: ChatRequest) -> str:
        asked_text = request.messages[1].content
        premise = inside(asked_text, "premise")
        sent.append(premise)
        listed = re.findall(r"^(\d+)\. (.*)$", inside(asked_text, "statements"), re.MULTILINE)
        labels = {
            number: "entails" if (premise, text) in entailments else "neutral"
            for number, text in listed
        }
        return json.dumps(labels)

    facts = ["Salt melts ice.", "Road salt melts ice.", "Ice melts by salt.", "Salt is cheap."]
    passages = example(*facts)
    (record,) = made(
        generator(each_passage), tmp_path, passages, checker=FakeChat(relation)
    ).records
    assert [nugget.text for nugget in record.nuggets] == [facts[0], facts[1], facts[3]]
    # each fact but the last with those behind it, and one back
    assert sorted(sent) == sorted([*facts[:3], "Ice melts by salt."])
    (record,) = made(generator(each_passage), tmp_path, passages).records
    assert [nugget.text for nugget in record.nuggets] == facts
