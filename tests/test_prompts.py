"""Prompts: fenced inputs, one order, shared beginnings, texts of the user's own."""

from __future__ import annotations

import os
import re
from contextlib import closing
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import longmark
from longmark.engine.run import make_settings
from longmark.engine.settings import RunOptions, every_prompt
from longmark.errors import UserError
from longmark.metrics import all_prompts
from longmark.models.cache import CallCache
from longmark.models.fake import FakeChat
from longmark.models.registry import Registry
from longmark.options import declared
from longmark.options.groups import ScoringOptions
from longmark.prompts import (
    SYSTEM,
    TRANSLATIONS,
    Prompt,
    PromptBook,
    fence,
    from_folder,
    languages,
)
from longmark.prompts import prompt as written

STATED = orjson.loads((TRANSLATIONS / "english.json").read_bytes())
"""The id of each translated prompt -> the hash of the English text that was translated."""
KEYS = re.compile(r'"([a-z0-9_]+)"')
PROSE = {"including", "this"}
"""Words that a prompt quotes from the texts, which are in their own language."""

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


def test_a_missing_folder_is_told_beside_the_languages_that_there_are(tmp_path: Path):
    with pytest.raises(UserError, match="longmark has prompts in: de, es, fr, zh"):
        from_folder(tmp_path / "none", [])


def test_the_option_names_each_language():
    (form,) = (form for name, _, form in declared(ScoringOptions) if name == "prompts")
    assert form.metavar == "|".join((*languages(), "DIR"))


@pytest.mark.parametrize("language", languages())
def test_a_language_replaces_its_prompts_with_texts_that_programs_read_alike(language: str):
    ours = {prompt.id: prompt for prompt in (SYSTEM, *every_prompt())}
    translated = from_folder(Path(language), ours.values()).replaced
    assert translated.keys() == STATED.keys()
    for id, text in translated.items():
        english = ours[id].text
        # keys and values of a reply's JSON are what readers look for, in every language
        assert set(KEYS.findall(text)) == set(KEYS.findall(english)) - PROSE, id
        assert text != english


def test_a_translation_is_of_the_text_that_the_prompt_has_now():
    ours = {prompt.id: prompt.hash for prompt in (SYSTEM, *every_prompt())}
    changed = [id for id, english in STATED.items() if ours[id] != english]
    assert not changed, "translate anew, then write the new hashes to translations/english.json"


def test_a_folder_of_the_users_own_goes_before_a_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "es").mkdir()
    (tmp_path / "es" / "p.txt").write_text("Mi texto.", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert from_folder(Path("es"), [Prompt("p", ("answer",), "Grade it.")]).replaced == {
        "p": "Mi texto."
    }


def test_a_judge_is_asked_in_the_language(tmp_path: Path):
    judge = FakeChat("80")
    longmark.run(
        [{"id": "1", "question": "¿Por qué?", "answer": "Porque sí."}],
        metrics=["ccrs.question_relevance"],
        judges=judge,
        prompts="es",
        out=tmp_path / "run",
        cache=tmp_path / "calls.sqlite",
    )
    system, task = judge.requests[0].messages
    assert system.content.startswith("Examinas textos")
    assert "Contesta con" in task.content


@pytest.mark.parametrize(
    ("metric", "note"),
    [
        ("criteria", "not translated, and sent in English: criteria.relative"),
        ("ccrs.question_relevance", None),
    ],
)
def test_a_note_names_the_prompts_that_stay_english(metric: str, note: str | None, tmp_path: Path):
    notes: list[str] = []
    with closing(CallCache(tmp_path / "calls.sqlite")) as cache:
        options = RunOptions(judges=[FakeChat("80")], prompts="es", tell=notes.append)
        make_settings([metric], Registry(cache), options)
    assert notes == ([f"prompts='es': {note}"] if note else [])


def test_a_prompt_written_as_one_text_has_its_id_and_inputs_in_its_first_line():
    assert written("a.b(question, answer)\nJudge it.\n$form") == Prompt(
        "a.b", ("question", "answer"), "Judge it.\n$form"
    )
    assert written("a.c()\nReply.").inputs == ()
