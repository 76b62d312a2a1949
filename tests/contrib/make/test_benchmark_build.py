"""Items out of books: what is asked in which order, what is kept, and that nothing is lost or paid for twice."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from longmark.contrib.make.benchmark import BenchmarkPlan, build, items_of
from longmark.contrib.make.benchmark.topic import Topic
from longmark.contrib.make.rag.chunk import Chunking
from longmark.errors import RequestRefused, SettingsChanged
from longmark.models.handles import Models
from longmark.models.protocols import ChatRequest
from longmark.records.benchmark import LEVELS, Item
from longmark.testing import FakeChat, FakeEmbedder, call

TOPIC = Topic(
    name="tides", title="Tides", subject="the tides", readers="sailors", kinds=("a cause", "a date")
)
MAIN = re.compile(r"\[1\] .*?(word\d+)", re.DOTALL)


@pytest.fixture
def books(tmp_path: Path) -> Path:
    """Two books of twelve paragraphs, each of which is a chunk and has a word of its own."""
    (folder := tmp_path / "books").mkdir()
    for book in range(2):
        texts = [f"The harbour of word{12 * book + i} knows the wind, the tides of the sea and the moon above the bay."
                 for i in range(12)]  # fmt: skip
        (folder / f"book{book}.md").write_text(f"# Part {book}\n\n" + "\n\n".join(texts))
    return folder


def reply(request: ChatRequest) -> str:
    return says(request.messages[-1].content)


def says(prompt: str) -> str:
    """What a good generator says: items on the own word of the main passage, and the right letter."""
    word = MAIN.search(prompt)
    assert word is not None
    evolved = (
        next(one for one in ("reasoning", "invented", "") if one in prompt)
        if "`reference`" in prompt
        else ""
    )
    if "Reply with the letter" in prompt:
        key = re.search(r"^([a-d])\) right", prompt, re.MULTILINE)
        assert key is not None
        return key[1]
    if "Reply with yes or no" in prompt:
        return "no"
    if '"terms"' in prompt:
        return json.dumps(
            {"statement": f"The {word[1]} rises twice a day at the coast.", "terms": [word[1]]}
        )
    wrong = {"distractors": [f"wrong {i}" for i in range(3)]} if '"distractors"' in prompt else {}
    form = "choice" if wrong else "open"
    return json.dumps(
        {
            "question": f"Which {form} {word[1]} {evolved} moves?",
            "answer": "right, twice a day",
            **wrong,
        }
    )


def made(
    books: Path,
    out: Path,
    plan: BenchmarkPlan,
    chat: FakeChat,
    cache: Path | None = None,
    embedder: FakeEmbedder | None = None,
    **more: Any,
) -> build.BuiltBenchmark:
    async def step(models: Models) -> build.BuiltBenchmark:
        return await build.generate(
            build.BenchmarkWork((books,), out, plan, models, Chunking(120, 0), at_once=1, **more)
        )

    cached = {"cache": cache} if cache else {}
    return call(step, generator=chat, embedder=embedder, **cached)  # type: ignore[arg-type]


def test_every_form_and_level_gets_its_items_with_where_they_are_from(
    books: Path, tmp_path: Path
) -> None:
    chat = FakeChat(reply)
    built = made(
        books,
        tmp_path / "out",
        BenchmarkPlan(TOPIC, n=2, threshold=0.2),
        chat,
        embedder=FakeEmbedder(),
    )
    assert build.usable(built.items) == dict.fromkeys(TOPIC.cells, 2)
    items = {item.id: item for item in items_of(tmp_path / "out")}
    assert list(items.values()) == built.items
    for item in items.values():
        assert item.passages[0].book in ("book0.md", "book1.md")
        assert item.meta["chapter"] == f"Part {item.passages[0].book[4]}"
        assert 1 < len(item.passages) <= 4  # the seed and its neighbours
        assert len({passage.chunk for passage in item.passages}) == len(item.passages)
        if item.level in LEVELS[1:]:
            assert item.parent is not None
            assert (items[item.parent].level, items[item.parent].form) == ("base", item.form)
            assert items[item.parent].passages == item.passages
    assert {item.meta["kind"] for item in items.values() if item.level == "base"} == {
        "a cause",
        "a date",
    }
    assert all(
        item.question.count("<blank>") == 1 for item in items.values() if item.form == "cloze"
    )
    prompts = [request.messages[-1].content for request in chat.requests]
    for one in {MAIN.search(prompt)[1] for prompt in prompts}:  # type: ignore[index]
        same = [prompt for prompt in prompts if MAIN.search(prompt)[1] == one]  # type: ignore[index]
        assert (
            len({prompt[: prompt.index("</context")] for prompt in same}) == 1
        )  # all calls on a seed begin alike


def _gone_after(n: int) -> Callable[[ChatRequest], str | Exception]:
    left = iter(range(n))
    return lambda request: (
        reply(request) if next(left, None) is not None else RequestRefused("the endpoint is gone")
    )


def test_a_run_that_was_stopped_anywhere_ends_as_one_that_was_not(
    books: Path, tmp_path: Path
) -> None:
    plan = BenchmarkPlan(TOPIC, n=2)
    whole = FakeChat(reply)
    expected = made(books, tmp_path / "whole", plan, whole)
    total = len(whole.requests)
    for stop in (1, 2 * total // 3, total - 1):
        out, cache = tmp_path / f"out{stop}", tmp_path / f"calls{stop}.sqlite"
        stopped = made(books, out, plan, FakeChat(_gone_after(stop)), cache)
        assert stopped.stopped is not None
        assert (items_of(out) if stop > 1 else []) == stopped.items
        second = FakeChat(reply)
        assert made(books, out, plan, second, cache).items == expected.items
        assert stop + len(second.requests) == total  # nothing was paid for twice
        again = FakeChat(())
        assert made(books, out, plan, again, cache).items == expected.items
        assert (out / "items.jsonl").read_bytes() == (
            tmp_path / "whole" / "items.jsonl"
        ).read_bytes()


def test_more_items_may_be_asked_for_but_other_settings_are_refused(
    books: Path, tmp_path: Path
) -> None:
    out, plan = tmp_path / "out", BenchmarkPlan(TOPIC, n=1)
    first = made(books, out, plan, FakeChat(reply))
    accepted = first.items[0].model_copy(update={"status": "valid"})
    lines = (out / "items.jsonl").read_bytes().splitlines()
    (out / "items.jsonl").write_bytes(b"\n".join((accepted.to_json(), *lines[1:])) + b"\n")
    more = made(books, out, replace(plan, n=2), FakeChat(reply))
    assert build.usable(more.items) == dict.fromkeys(TOPIC.cells, 2)
    assert (
        next(item for item in more.items if item.id == accepted.id).status == "valid"
    )  # judged by people: it stays
    other = replace(plan, temperature=0.0, topic=Topic(**{**TOPIC.model_dump(), "readers": "all"}))
    with pytest.raises(
        SettingsChanged, match=r"(?s)other settings.*topic: was tides.*temperature=: was 0\.7"
    ):
        made(books, out, other, FakeChat(()))
    (books / "book1.md").write_text("# Part 1\n\nOther words.")
    with pytest.raises(SettingsChanged, match="books: was"):
        made(books, out, plan, FakeChat(()))


def test_no_item_leaves_the_folder_where_the_call_cache_is_lost(
    books: Path, tmp_path: Path
) -> None:
    out, plan = tmp_path / "out", BenchmarkPlan(TOPIC, n=1)
    first = made(books, out, plan, FakeChat(reply))
    other = FakeChat(
        lambda request: (
            reply(request).replace("moves", "drives").replace("rises twice", "falls twice")
        )
    )
    second = made(books, out, plan, other)
    assert build.usable(second.items) == dict.fromkeys(TOPIC.cells, 2)
    assert {item.id for item in first.items} < {item.id for item in items_of(out)}
    assert made(books, out, plan, other).items == second.items


def test_nothing_is_evolved_from_a_base_question_that_a_validator_calls_invalid(
    books: Path, tmp_path: Path
) -> None:
    """It refuses the base mcq on the first word; its place in the count is taken by the next seed."""
    asked: list[Item] = []

    async def refused(item: Item) -> Item:
        asked.append(item)
        bad = (
            item.form == "mcq"
            and item.level == "base"
            and not any(one.form == "mcq" for one in asked[:-1])
        )
        return (
            item.model_copy(update={"status": "invalid", "reasons": ("validator: no",)})
            if bad
            else item
        )

    out = tmp_path / "out"
    built = made(
        books, out, BenchmarkPlan(TOPIC, n=1), FakeChat(reply), refused=refused, validator="one"
    )
    (bad,) = [item for item in built.items if item.status == "invalid"]
    assert bad.id not in {item.parent for item in built.items}
    assert build.usable(built.items) == dict.fromkeys(TOPIC.cells, 1)
    mcq = [item for item in built.items if item.form == "mcq" and item.usable]
    assert [item.parent is None for item in mcq] == [True, False, False]
    assert all(
        "key_moved" in item.marks for item in mcq
    )  # a valid verdict does not stop the shuffle of the options
    with pytest.raises(SettingsChanged, match="validator: was one, now two"):
        made(books, out, BenchmarkPlan(TOPIC, n=1), FakeChat(()), refused=refused, validator="two")


def test_what_is_dropped_or_cannot_be_written_keeps_its_reason(books: Path, tmp_path: Path) -> None:
    def bad(request: ChatRequest) -> str:
        prompt = request.messages[1].content  # of a second attempt too
        if '"terms"' in prompt:
            return '{"statement": "The passage says that the sea moves.", "terms": ["sea"]}'
        if '"distractors"' in prompt:
            return '{"question": "q", "answer": "Same", "distractors": ["same", "b", "c"]}'
        return "I would rather not."

    built = made(books, tmp_path / "out", BenchmarkPlan(TOPIC, n=1), FakeChat(bad))
    assert not build.usable(built.items)
    assert {item.form for item in built.items} == {"cloze"}
    assert all(item.reasons[0].startswith("mentions_context") for item in built.items)
    assert (
        len(built.failed) == 2 * 24
    )  # 24 seeds, an mcq and an open question each, and nothing is evolved
    assert {why.partition(": ")[0].partition(", ")[2] for why in built.failed} == {
        "mcq base",
        "freeform base",
    }
    assert sum("four different texts" in why for why in built.failed) == 24
    assert "no seeds are left" in built.notes[-1]
    manifest = orjson.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert manifest["not_written"] == built.failed
    assert manifest["seeds"] == {"fit": 24, "used": 24}


def test_an_evolution_that_repeats_its_question_is_refused(books: Path, tmp_path: Path) -> None:
    topic = Topic(
        **{
            **TOPIC.model_dump(),
            "forms": ("freeform",),
            "levels": {"reasoning": "it takes two steps"},
        }
    )
    same = FakeChat('{"question": "What moves the sea?", "answer": "The moon does."}')
    built = made(books, tmp_path / "out", BenchmarkPlan(topic, n=1), same)
    assert build.usable(built.items) == {("freeform", "base"): 1}
    assert "freeform reasoning: " in built.failed[0]
    assert "the question is the one that was given" in built.failed[0]


def test_seeds_without_a_neighbour_are_used_alone_and_counted(books: Path, tmp_path: Path) -> None:
    alone = made(books, tmp_path / "alone", BenchmarkPlan(TOPIC, n=1), FakeChat(reply))
    assert "1 seed of 1 used without a neighbour: neighbours need an embedder" in alone.notes
    built = made(
        books,
        tmp_path / "out",
        BenchmarkPlan(TOPIC, n=1, threshold=1.5),
        FakeChat(reply),
        embedder=FakeEmbedder(),
    )
    assert {len(item.passages) for item in built.items} == {1}  # no cosine reaches it
    assert "1 seed of 1 used without a neighbour: none is above the threshold" in built.notes
