"""Prompts: fenced inputs, one order, shared beginnings, texts of the user's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.errors import UserError
from longmark.metrics import all_prompts
from longmark.prompts import SYSTEM, Prompt, PromptBook, fence, from_folder
from longmark.prompts import prompt as written

INPUTS = {
    "context": "Lyon is in France.",
    "answer": "Paris.",
    "reference": "Paris",
    "question": "Capital of France?",
}


@given(st.text(), st.sampled_from(["answer", "context", "question"]))
def test_a_text_cannot_contain_its_own_tags(text: str, name: str):
    fenced = fence(name, text)
    opening, closing = fenced.split("\n")[0], fenced.rsplit("\n", 1)[1]
    assert opening[1:-1] == closing[2:-1]
    assert opening[1:-1] not in text
    assert fenced == f"{opening}\n{text}\n{closing}"


def test_a_text_that_quotes_a_fence_gets_another():
    inner = fence("answer", "Paris.")
    assert fence("answer", inner).split("\n")[0] != inner.split("\n")[0]


def test_a_text_that_holds_its_first_tag_gets_the_next(monkeypatch: pytest.MonkeyPatch):
    class Digest:
        def hexdigest(self) -> str:
            return "0123456789abcdef" * 4

    monkeypatch.setattr("longmark.prompts.hashlib.sha256", lambda _text: Digest())
    assert fence("answer", "see answer 01234567 here").startswith("<answer 12345678>")


def test_equal_texts_are_equal_bytes_in_every_prompt():
    assert fence("answer", "Paris.") == fence("answer", "Paris.")


def test_inputs_come_in_one_order_and_the_task_last():
    book = PromptBook()
    messages = book.fill(Prompt("p", ("question", "answer", "context"), "Do it."), INPUTS)
    user = messages[1].content
    assert messages[0].role == "system"
    places = [user.index(INPUTS[name]) for name in ("context", "answer", "question")]
    assert places == sorted(places)
    assert user.endswith("\n\nDo it.")
    assert "<reference" not in user


def test_prompts_with_the_same_inputs_begin_alike():
    book = PromptBook()
    by_inputs: dict[tuple[str, ...], list[str]] = {}
    for prompt in all_prompts():
        if prompt.fields or not prompt.inputs:
            continue
        filled = book.fill(prompt, dict.fromkeys(prompt.inputs, "A text.") | INPUTS)[1].content
        by_inputs.setdefault(prompt.inputs, []).append(filled)
    for texts in by_inputs.values():
        shared = texts[0][: texts[0].rindex("</")]
        assert all(text.startswith(shared) for text in texts)


def test_ids_are_unique_and_every_prompt_is_valid():
    prompts = all_prompts()
    assert len({prompt.id for prompt in prompts}) == len(prompts) >= 10
    for prompt in prompts:
        assert prompt.text.strip()
        assert prompt.fields is not None


def test_fields_are_filled_and_hashed():
    prompt = Prompt("p", ("answer",), "Ask $n questions for $$5.")
    assert prompt.fields == {"n"}
    assert (
        PromptBook()
        .fill(prompt, {**INPUTS, "n": "3"})[1]
        .content.endswith("Ask 3 questions for $5.")
    )
    assert prompt.hash != Prompt("p", ("answer",), "Ask $n questions.").hash
    assert prompt.hash != Prompt("p", ("answer", "context"), prompt.text).hash


def test_a_folder_replaces_prompts(tmp_path: Path):
    (tmp_path / "p.txt").write_text("Bewerte die Antwort.\n", encoding="utf-8")
    ours = Prompt("p", ("answer",), "Grade the answer.")
    book = from_folder(tmp_path, [ours])
    assert book.fill(ours, INPUTS)[1].content.endswith("Bewerte die Antwort.")
    assert book.hashes([ours])["p"] != ours.hash
    assert book.hashes([ours])["system"] == SYSTEM.hash


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("nosuch.txt", b"x", "unknown prompt"),
        ("p.txt", b"", "empty"),
        ("p.txt", b"\xff\xfe", "save it as UTF-8"),
        ("p.txt", b"Grade it", "fields must be exactly"),
        ("p.txt", b"Grade $n of $m", "fields must be exactly"),
        ("p.txt", b"Grade $n for 5$ each", "write \\$\\$"),
        ("readme.md", b"x", "no prompt is replaced"),
    ],
)
def test_a_folder_that_is_wrong_is_refused(tmp_path: Path, name: str, content: bytes, message: str):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message):
        from_folder(tmp_path, [Prompt("p", ("answer",), "Grade $n.")])


def test_a_pipe_and_a_huge_file_are_refused(tmp_path: Path):
    os.mkfifo(tmp_path / "p.txt")
    (tmp_path / "system.txt").write_bytes(b"x" * (1 << 20) + b"x")
    with pytest.raises(
        UserError, match=r"p\.txt is a pipe or a device.*\n.*system\.txt is larger than the limit"
    ):
        from_folder(tmp_path, [Prompt("p", ("answer",), "Grade it.")])


def test_a_missing_folder_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match="the folder does not exist"):
        from_folder(tmp_path / "none", [])


def test_a_prompt_written_as_one_text_has_its_id_and_inputs_in_its_first_line():
    assert written("a.b(question, answer)\nJudge it.\n$form") == Prompt(
        "a.b", ("question", "answer"), "Judge it.\n$form"
    )
    assert written("a.c()\nReply.").inputs == ()
