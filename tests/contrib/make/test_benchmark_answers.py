"""Models under test: what each setting shows them, what is written of their answers, what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.program import run, write_jsonl
from tests.wire import serve

from longmark.contrib.make.benchmark.answers import BenchmarkAnswers, Examination, How, messages
from longmark.contrib.make.benchmark.contamination import COMPLETION
from longmark.contrib.make.benchmark.settings import Shelf, check_books, rejoined, shots_of
from longmark.contrib.make.rag import index as rag_index
from longmark.contrib.make.rag.chunk import Chunker, Chunking
from longmark.contrib.make.rag.documents import SourceDocument
from longmark.contrib.make.rag.passages import Stored
from longmark.contrib.make.rag.retrieve import Retriever
from longmark.errors import RequestRefused, TooLong, UserError
from longmark.models.handles import Models
from longmark.models.protocols import ChatReply, ChatRequest
from longmark.prompts import PromptBook
from longmark.records.benchmark import Item, Passage
from longmark.testing import FakeChat, call, score_sync

OPTIONS = {"a": "the moon", "b": "the wind", "c": "the sun", "d": "the ice"}
TIDES = "Tides rise and fall twice a day, since the moon pulls at the sea. " * 3
ROCKS = "Basalt is a rock that comes out of volcanoes and cools within days. " * 3


def item(name: str, form: str = "mcq", passage: str = TIDES, **more: Any) -> Item:
    fields: dict[str, dict[str, Any]] = {
        "mcq": {"question": f"What makes {name} move?", "options": OPTIONS, "answer": "a"},
        "freeform": {"question": f"Why does {name} move?", "answer": f"The moon pulls at {name}."},
        "cloze": {
            "question": f"The <blank> pulls at {name}.", "answer": "moon", "statement": f"The moon pulls at {name}.",
        },
    }  # fmt: skip
    own = {
        "id": name,
        "form": form,
        "passages": (Passage(text=passage, book="tides.txt"),),
        **fields[form],
    }
    return Item(**{**own, **more})


def shelf(folder: Path, option: str = "--source x", **texts: str) -> Shelf:
    documents = [SourceDocument(name.replace("_", "."), text) for name, text in texts.items()]
    asyncio.run(rag_index.build(documents, folder, rag_index.Indexing(Chunking(120, 20))))
    return Shelf(option, Retriever(rag_index.load(folder)))


def answered(
    items: Sequence[Item],
    model: FakeChat,
    setting: str = "default",
    how: How | None = None,
    books: Mapping[str, Shelf] | None = None,
) -> BenchmarkAnswers:
    async def step(models: Models) -> BenchmarkAnswers:
        examination = Examination(items, models.prompts, books or {}, how or How())
        return await examination.answers("m", models.generator, setting, 2)

    return call(step, generator=model)


def says(answer: Callable[[ChatRequest], Any]) -> FakeChat:
    return FakeChat(answer, name="m")


# What is asked and written -------------------------------------------------------------------------------------------


def test_each_form_asks_for_its_own_kind_of_answer() -> None:
    asked = {
        form: messages(PromptBook(), item("x", form))[-1].content
        for form in ("mcq", "freeform", "cloze")
    }
    assert "b) the wind" in asked["mcq"]
    assert "one letter" in asked["mcq"]
    assert "two sentences" in asked["freeform"]
    assert "The <blank> pulls at x." in asked["cloze"]
    assert not any(
        TIDES[:30] in text for text in asked.values()
    )  # no passage in the default setting


def test_an_example_says_how_it_was_answered() -> None:
    (example,) = answered([item("x", level="base")], FakeChat("b) the wind", name="m")).examples
    assert (example.id, example.system, example.task, example.level) == (
        "x/m-default",
        "m-default",
        "mcq",
        "base",
    )
    assert (example.answer, example.references, example.contexts) == ("b) the wind", ("a",), ())
    assert (example.meta["setting"], example.meta["model"]) == ("default", "m")


def test_a_model_that_fails_leaves_an_example_without_an_answer_and_with_the_reason() -> None:
    replies: dict[str, Any] = {
        "one": RequestRefused("no such model"), "two": ChatReply(""), "three": ChatReply("", refusal="I may not"),
        "four": ChatReply("", "content_filter"), "five": "a",
    }  # fmt: skip
    model = says(
        lambda request: next(
            r for name, r in replies.items() if f"{name} move" in request.messages[-1].content
        )
    )
    done = answered([item(name) for name in replies], model)
    found = {one.question_id: (one.answer, str(one.meta.get("no_answer"))) for one in done.examples}
    assert done.failed == 4
    assert found.pop("five") == ("a", "None")
    assert {answer for answer, _ in found.values()} == {None}
    for name, why in (
        ("one", "no such model"),
        ("two", "empty"),
        ("three", "I may not"),
        ("four", "content_filter"),
    ):
        assert why in found[name][1]
    scored = score_sync("climaqa.mcq", done.examples[0])["climaqa.mcq"]
    assert (scored.value, scored.status) == (None, "missing_input")
    assert "no such model" in str(scored.reason)


@settings(max_examples=5, deadline=None)
@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=8))
def test_a_model_that_answers_a_has_the_share_of_a_keys(keys: list[str]) -> None:
    items = [item(f"n{i}", answer=key) for i, key in enumerate(keys)]
    scores = [
        score_sync("climaqa.mcq", one)["climaqa.mcq"].value
        for one in answered(items, FakeChat("A)")).examples
    ]
    assert sum(score or 0 for score in scores) == keys.count("a")


# Few-shot ------------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from([f"{a}{b}{c}" for a in "kmprst" for b in "aeiou" for c in "lnrst"])
TEXTS = st.lists(WORDS, min_size=3, max_size=40).map(" ".join)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(TEXTS, TEXTS, st.integers(-1, 8)), min_size=2, max_size=9), st.integers(0, 9)
)
def test_no_example_shares_text_with_its_item(drawn: list[tuple[str, str, int]], seed: int) -> None:
    made = [
        item(
            f"n{i}", "freeform", passage, question=question,
            parent=f"n{parent}" if 0 <= parent < i else None,
        )
        for i, (question, passage, parent) in enumerate(drawn)
    ]  # fmt: skip
    by_id = {one.id: one for one in made}
    for name, shots in shots_of(made, 3, seed).items():
        own = by_id[name]
        assert len(shots) == len({shot.id for shot in shots}) <= 3
        for shot in shots:
            assert name not in (shot.id, shot.parent)
            assert own.parent is None or own.parent not in (shot.id, shot.parent)
            texts = [
                [_letters(text) for text in (one.question, one.answer or "", one.passages[0].text)]
                for one in (own, shot)
            ]
            for mine in texts[0]:
                for theirs in texts[1]:
                    assert not any(mine[i : i + 40] in theirs for i in range(len(mine) - 39))


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def test_few_shot_shows_other_items_of_the_form_with_their_answers() -> None:
    others = [
        item(name, "mcq", f"{name} {ROCKS} of {name * 30}", answer="c") for name in ("p", "q")
    ]
    alike = item("x2", parent="x")
    done = answered(
        [item("x"), alike, *others, item("f", "freeform", "About winds.")],
        model := FakeChat("a"),
        "few-shot",
    )
    sent = {one.messages[-1].content: one.messages for one in model.requests}
    own = next(made for text, made in sent.items() if "makes x move" in text)
    shown = next(one for one in done.examples if one.question_id == "x").meta["shots"]
    assert set(shown) == {"p", "q"}  # x2 is made from x, and f has another form
    assert [one.role for one in own] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert own[2].content == "c"
    assert done.fewer == 4  # of 5 that were asked for
    alone = next(one for one in done.examples if one.question_id == "f")
    assert (alone.answer, "every other freeform item shares text" in alone.meta["no_answer"]) == (
        None,
        True,
    )


# Books ---------------------------------------------------------------------------------------------------------------


def test_passages_come_from_the_books_of_the_setting(tmp_path: Path) -> None:
    books = {
        "source": shelf(tmp_path / "s", tides_txt=TIDES, rocks_txt=ROCKS),
        "held-out": shelf(
            tmp_path / "h", "--held-out y", winds_txt="The wind makes dunes move. " * 20
        ),
    }
    assert check_books([item("x")], books) == []
    for setting, wanted in (("rag-source", "Tides rise"), ("rag-held-out", "dunes move")):
        (example,) = answered(
            [item("the sea")], model := FakeChat("a"), setting, How(k=2), books
        ).examples
        assert len(example.contexts) == 2
        assert wanted in example.contexts[0].text
        assert wanted in model.requests[0].messages[-1].content
        assert example.meta["retriever"] == "bm25"


def test_a_book_in_both_a_missing_one_and_a_held_out_one_are_errors(tmp_path: Path) -> None:
    source = shelf(tmp_path / "s", "--source s", tides_txt=TIDES)
    for texts, why in (
        ({"tides_txt": ROCKS}, "both contain tides.txt"),
        (
            {"copy_txt": TIDES.replace(" ", "\n")},
            r"both contain tides.txt \(there copy.txt\)",
        ),  # the same text
    ):
        held = shelf(tmp_path / "h", "--held-out h", **texts)
        with pytest.raises(UserError, match=f"--source s and --held-out h {why}"):
            check_books([], {"source": source, "held-out": held})
    with pytest.raises(UserError, match=r"--source s does not contain rocks\.txt"):
        check_books(
            [item("x", passage=ROCKS, passages=(Passage(text=ROCKS, book="rocks.txt"),))],
            {"source": source},
        )
    renamed = item("x", passages=(Passage(text=TIDES[:90], book="another name"),))
    assert check_books([renamed], {"source": source}) == []  # known by its text
    with pytest.raises(UserError, match=r"--source s contains tides\.txt, the book of the item x"):
        check_books([renamed], {"held-out": source})
    assert (
        "no passage is named by 1 item:"
        in check_books([item("x", passages=())], {"source": source})[0]
    )


@given(TEXTS, st.integers(20, 60), st.integers(0, 9))
def test_a_book_is_its_passages_put_together(text: str, size: int, overlap_of: int) -> None:
    cut = Chunker(Chunking(size, overlap_of)).passages(text)
    assert rejoined(Stored("", text[a:b], "", a, b) for a, b in cut).split() == text.split()


def test_a_book_is_cut_around_its_best_passage_where_the_model_reads_less(tmp_path: Path) -> None:
    text = (
        "Nothing here. " * 400 + "The sea moves at Fundy. " + "Nothing there. " * 400
    )  # 5,600 + 24 + 6,000
    books = {"source": shelf(tmp_path / "s", tides_txt=text)}

    def reply(request: ChatRequest) -> Any:
        return TooLong("too long") if len(request.messages[-1].content) > 4000 else "a"

    (example,) = answered(
        [item("the sea at Fundy")], says(reply), "long-context-source", books=books
    ).examples
    book = example.meta["book"]
    # .75^n of the 11,623 characters, the last of which is no space: 3,677 with n = 4, and 2,757 if the tags made that
    # too long
    assert (example.answer, book["id"], book["cut"]) == ("a", "tides.txt", True)
    assert book["start"] < 5600 < book["end"] <= book["characters"]
    assert book["end"] - book["start"] in (3676, 3677, 3678, 2757, 2758)
    (example,) = answered(
        [item("sea")], FakeChat("a"), "long-context-source", How(longest=500), books
    ).examples
    assert (
        example.meta["book"]["cut"],
        example.meta["book"]["end"] - example.meta["book"]["start"],
    ) == (True, 500)


# Contamination -------------------------------------------------------------------------------------------------------


def test_a_model_that_knows_the_items_completes_them() -> None:
    half = (
        "Which of the rivers of the Arctic",
        "flows north and into the sea of Labrador, too?",
    )  # seven and nine words
    items = [item("known", "freeform", question=" ".join(half)), item("short", "freeform")]
    items.append(item("zh", "cloze", statement="潮汐每天涨落两次,因为月亮吸引着海水。"))

    def remembers(request: ChatRequest) -> str:
        text = request.messages[-1].content
        return (
            f"north {half[1]} And so on." if "Which of" in text else "因为月亮吸引着海水。以及太阳"
        )

    done = answered(items, says(remembers), COMPLETION)
    known, short, chinese = done.examples
    # eight of the sixteen words are shown, and as many as are left are kept of the completion
    assert (known.question, known.references) == (
        f"{half[0]} flows",
        (half[1].removeprefix("flows "),),
    )
    assert known.answer == "north flows north and into the sea of"
    assert (known.task, known.system, known.meta["model"]) == (COMPLETION, "m", "m")
    assert (chinese.references, chinese.answer) == (
        ("因为月亮吸引着海水。",),
        "因为月亮吸引着海水。",
    )
    assert (short.answer, "fewer than 12 words" in short.meta["no_answer"], done.failed) == (
        None,
        True,
        1,
    )
    assert (
        score_sync("classic.rouge_l", chinese, {"tokenizer": "unicode"})["classic.rouge_l"].value
        == 1.0
    )


# The command ---------------------------------------------------------------------------------------------------------


def test_the_command_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    bench = write_jsonl(tmp_path / "items.jsonl", [orjson.loads(item("x").to_json())])
    shelf(tmp_path / "index", rocks_txt=ROCKS)
    base = (
        "benchmark",
        "run",
        str(bench),
        "--out",
        str(tmp_path / "out.jsonl"),
        "--generator",
        "m@http://127.0.0.1:9/v1",
    )
    for options, why in (
        (("--setting", "rag-source"), "--setting rag-source needs books: add --source"),
        (("--setting", "long-context"), "add --source or --held-out"),
        (
            ("--setting", "few-shots"),
            "rag-held-out, long-context-source, long-context-held-out, long-context.",
        ),
        (("--setting", "rag-source", "--source", str(tmp_path / "absent"), "--dry-run"), "absent"),
        (
            ("--setting", "rag-source", "--source", str(tmp_path / "index"), "--dry-run"),
            "does not contain tides.txt",
        ),
        (("--contamination", "c"), "--contamination c: the suffix must be one of"),
        (("--adapter", "DIR"), "an adapter needs an hf: model"),
        (("--generator", "m@http://127.0.0.1:9/v2"), "label"),
    ):
        found = run(*base, *options, home=tmp_path)
        assert (found.code, why in found.err) == (2, True), found.err
    found = run(
        *base,
        "--setting",
        "default,few-shot",
        "--contamination",
        str(tmp_path / "c.csv"),
        "--dry-run",
        home=tmp_path,
    )
    assert (found.code, "3 calls at most" in found.out) == (0, True), found.out + found.err


def test_a_run_that_the_budget_stopped_goes_on_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    bench = write_jsonl(
        tmp_path / "items.jsonl", [orjson.loads(item(name).to_json()) for name in ("x", "y", "z")]
    )
    out = tmp_path / "out.jsonl"
    with serve() as server:
        words = (
            "benchmark",
            "run",
            bench,
            "--out",
            out,
            "--generator",
            f"m=model@{server.base_url}",
            "--quiet",
        )
        found = run(*words, "--concurrency", "1", "--max-calls", "2", home=tmp_path)
        assert (found.code, "1 item omitted: the budget is exhausted" in found.err) == (4, True), (
            found.err
        )
        assert len(out.read_text().splitlines()) == 2
        found = run(*words, home=tmp_path)
        assert (found.code, found.out) == (0, f"3 answers: {out}\n"), found.err
        assert (server.counts["paid"], server.counts["paid_again"]) == (3, 0)
