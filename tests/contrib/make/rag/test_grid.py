"""Grids of retrievers and readers: with fakes, and as a command against a server on loopback."""

from __future__ import annotations

import asyncio
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.make.rag.make import made, models
from tests.program import ended, run, server_process, start, write_jsonl

from longmark.cli import main, parser
from longmark.contrib.make.rag import grid
from longmark.contrib.make.rag.answer import Answering
from longmark.contrib.make.rag.retrieve import Retriever
from longmark.errors import RequestRefused, SettingsChanged, UserError
from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.client import Client
from longmark.models.fake import FakeChat, FakeEmbedder
from longmark.records import Example

pytest.importorskip("bm25s")

TEXTS = [
    "ice storms break wires",
    "heat waves buckle rails",
    "droughts shrink soils",
    "ice closes ports",
]
QUESTIONS = [
    Example(
        id="q1",
        question_id="q1",
        question="What does ice break?",
        references=("wires",),
        options={"a": "b"},
    ),
    Example(
        id="q1.p",
        question_id="q1.p",
        question="Which things does ice ruin?",
        variant_of="q1",
        system="theirs",
    ),
    Example(id="q2", question_id="q2", question="What do heat waves buckle?", meta={"row": 7}),
]


def examples(path: Path) -> list[Example]:
    return [Example.model_validate_json(line) for line in path.read_bytes().splitlines()]


class CountingEmbedder(FakeEmbedder):
    """An embedder that counts the texts it was asked for."""

    texts = 0

    async def embed(self, texts: Any) -> Any:
        self.texts += len(texts)
        return await super().embed(texts)


def written(
    home: Path,
    readers: dict[str, FakeChat],
    names: tuple[str, ...] = ("bm25", "dense"),
    **more: Any,
) -> tuple[grid.System, ...]:
    embedder = CountingEmbedder()
    given = {
        label: models(home, generator=chat, embedder=embedder) for label, chat in readers.items()
    }
    index = made(home, TEXTS, given=next(iter(given.values())))
    embedder.texts = 0
    retrievers = [Retriever(index, next(iter(given.values())), name) for name in names]
    done = asyncio.run(
        grid.write(QUESTIONS, home / "grid", given, retrievers, Answering(**{"k": 2} | more))
    )
    assert embedder.texts <= len(QUESTIONS)  # once for all readers
    return done


def test_every_retriever_with_every_reader(tmp_path: Path):
    readers = {"small": FakeChat("s", name="m/small"), "large": FakeChat("l", name="m/large")}
    systems = written(tmp_path, readers)
    assert [system.name for system in systems] == [
        "bm25 + small",
        "bm25 + large",
        "dense + small",
        "dense + large",
    ]
    assert all(system.complete for system in systems)
    assert [chat.closed for chat in readers.values()] == [True, True]
    for system in systems:
        lines = examples(system.file)
        assert system.file.name == f"{system.retriever}__{system.reader}.jsonl"
        assert [line.id for line in lines] == ["q1", "q1.p", "q2"]
        assert {line.system for line in lines} == {system.name}
        assert {line.answer for line in lines} == {system.reader[0]}
        assert {line.meta["rag"]["generator"] for line in lines} == {f"m/{system.reader}"}
        assert {line.meta["rag"]["retriever"] for line in lines} == {system.retriever}
        first, variant, second = lines
        assert (first.references, first.options, second.meta["row"]) == (("wires",), {"a": "b"}, 7)
        assert variant.base_answer == first.answer


def test_remembering_finds_what_a_retriever_finds(tmp_path: Path):
    given = models(tmp_path, embedder=FakeEmbedder())
    index = made(tmp_path, TEXTS, given=given)
    asked = ["What of ice?", "heat", "What of ice?", "nothing like it"]
    for name in ("bm25", "dense", "hybrid"):
        plain = asyncio.run(Retriever(index, given, name).retrieve(asked, 2))
        remembering = Retriever(index, given, name)
        assert asyncio.run(remembering.retrieve(asked, 2)) == plain
        assert asyncio.run(remembering.retrieve(asked[::-1], 2)) == plain[::-1]
        assert [len(hits) for hits in asyncio.run(remembering.retrieve(asked[:1], 1))] == [
            1
        ]  # another k is another list


def test_one_reader_that_fails_leaves_the_others(tmp_path: Path):
    bad, good = written(
        tmp_path,
        {"bad": FakeChat({"": RequestRefused("no such model")}), "good": FakeChat("g")},
        ("bm25",),
    )
    assert (bad.complete, good.complete) == (False, True)
    assert bad.answered is not None
    assert next(one.reason for one in bad.answered.left_out).endswith("no such model")
    assert not bad.file.exists()
    assert good.file.exists()


def test_the_budget_is_one_for_all(tmp_path: Path):
    home = tmp_path
    chats = {label: FakeChat(label, name=label) for label in "abc"}
    first = models(home, generator=chats["a"])
    index = made(home, TEXTS)
    client = Client(CallCache(home / "calls.sqlite"), budget=Budget(max_calls=4))
    given = {
        label: type(first)(
            type(first.backends)(generator=chat), client, first.usage_log, first.prompts
        )
        for label, chat in chats.items()
    }
    done = asyncio.run(
        grid.write(QUESTIONS, home / "grid", given, [Retriever(index)], Answering(k=1, at_once=1))
    )
    assert [system.complete for system in done] == [True, False, False]
    assert done[1].answered is not None
    assert (done[1].answered.stopped, len(done[1].answered.examples)) == (
        True,
        1,
    )  # 3 calls of the first, 1 of the next
    assert done[2].answered is None
    assert not done[2].file.exists()


@pytest.mark.parametrize(
    ("given", "label", "model"),
    [
        ("llama3@http://localhost:8000/v1", "llama3", "llama3@http://localhost:8000/v1"),
        ("org/m@v2@https://u:p@host/v1", "org/m@v2", "org/m@v2@https://u:p@host/v1"),
        ("openai:gpt-4o", "gpt-4o", "openai:gpt-4o"),
        ("embedded", "embedded", "embedded"),
        ("embedded:small", "small", "embedded:small"),
        ("gguf:/models/a=b.Q4.gguf", "a=b.Q4", "gguf:/models/a=b.Q4.gguf"),
        ("Llama 8B=llama3@http://h/v1", "Llama 8B", "llama3@http://h/v1"),
        (
            "hf:/models/small.gguf+/tmp/silver",
            "small.gguf+silver",
            "hf:/models/small.gguf+/tmp/silver",
        ),
    ],
)
def test_what_a_reader_is_called(given: str, label: str, model: str):
    assert grid.labelled([given]) == {label: model}
    assert "/" not in grid.file_of(Path("out"), "bm25", label).name


@pytest.mark.parametrize(
    "given",
    [
        ["m@http://a/v1", "m@http://b/v1"],
        ["embedded", "x=openai:a", "x=openai:b"],
        [
            "A/b@http://h/v1",
            "a-b=embedded",
        ],  # one file, and on some systems case makes none of its own
    ],
)
def test_two_readers_of_one_label_or_file_are_refused(given: list[str]):
    with pytest.raises(UserError, match="rename one: --reader LABEL=MODEL"):
        grid.labelled(given)


def test_names_of_retrievers():
    assert grid.retriever_names(["bm25", "dense"]) == ("bm25", "dense")
    with pytest.raises(UserError, match="at least one"):
        grid.retriever_names([])
    with pytest.raises(UserError, match="bm25 is named twice"):
        grid.retriever_names(["bm25", "dense", "bm25"])


def test_the_paper_is_the_default():
    """CCRS 3.2 and 3.3: the top 20 chunks, temperature 0, at most 2,048 tokens."""
    assert (grid.K, grid.TEMPERATURE, grid.MAX_TOKENS) == (20, 0.0, 2048)
    words = [
        "rag",
        "grid",
        "q",
        "--index",
        "i",
        "--out",
        "o",
        "--retrievers",
        "bm25",
        "--reader",
        "m",
    ]
    defaults = parser().parse_args(words)
    assert (defaults.k, defaults.temperature, defaults.max_answer) == (20, 0.0, 2048)


# The command ---------------------------------------------------------------------------------------------------------


def test_the_command_killed_and_run_again(tmp_path: Path):
    home, out = tmp_path / "home", tmp_path / "grid"
    base = write_jsonl(
        tmp_path / "base.jsonl", [{"id": f"p{n}", "text": f"The number {n}."} for n in range(30)]
    )
    questions = write_jsonl(
        tmp_path / "q.jsonl",
        [
            {"prompt_text": f"What of the number {n}?", "references": [str(n)], "system": "x"}
            for n in range(20)
        ],
    )
    with server_process("--latency", "0.02") as server:
        at = server.base_url
        index = run(
            "rag",
            "index",
            base,
            "--out",
            tmp_path / "idx",
            "--embedder",
            f"e@{at}",
            "--quiet",
            home=home,
        )
        assert index.code == 0, index.err
        command: list[str | Path] = [
            "rag",
            "grid",
            questions,
            "--index",
            tmp_path / "idx",
            "--out",
            out,
        ]
        command += [
            "--retrievers",
            "bm25,dense",
            "--reader",
            f"m@{at}",
            "--reader",
            f"Llama 8B=org/l@{at}",
        ]
        command += ["--map", "question=prompt_text", "--concurrency", "4"]
        process = start(*command, home=home)
        while server.counts()["requests"] < 40 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert ended(process).code == -signal.SIGKILL
        done = run(*command, home=home)
        assert done.code == 0, done.err
        assert "dense + Llama 8B: answers: 20 of 20" in done.err
        counts = server.quiet()
        assert counts["paid_again"] <= 2 * 4
        names = ["bm25__Llama-8B.jsonl", "bm25__m.jsonl", "dense__Llama-8B.jsonl", "dense__m.jsonl"]
        assert sorted(path.name for path in out.glob("*.jsonl")) == names
        before = [(out / name).read_bytes() for name in names]
        again = run(*command, "--quiet", home=home)
        assert server.quiet()["requests"] == counts["requests"]
        assert [(out / name).read_bytes() for name in names] == before
        assert again.err == ""
        table = [" ".join(line.split()[:-1]) for line in again.out.splitlines()]
        assert table[0] == "system answers omitted cut off no passages"
        assert table[1:] == [
            f"{way} + {who} 20 0 0 0" for way in ("bm25", "dense") for who in ("m", "Llama 8B")
        ]
        (line, *_) = examples(out / "bm25__Llama-8B.jsonl")
        assert (line.system, line.references) == ("bm25 + Llama 8B", ("0",))
        assert line.meta["rag"]["generator"] == f"org/l@{at}"
        limited = run(
            *command,
            "--max-calls",
            "3",
            "--cache",
            tmp_path / "new.sqlite",
            "--out",
            tmp_path / "b",
            home=home,
        )
        assert limited.code == 4
        assert "not started" in limited.out


def test_mistakes_are_said_with_their_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    made(tmp_path, TEXTS)
    questions = write_jsonl(tmp_path / "q.jsonl", [{"question": "What of ice?"}])
    command = [
        "rag",
        "grid",
        str(questions),
        "--index",
        str(tmp_path / "idx"),
        "--out",
        str(tmp_path / "out"),
    ]
    command += ["--retrievers", "bm25", "--reader", "m@http://localhost:1/v1"]
    for words, said in [
        (["--retrievers", "best"], "unknown retriever: best"),
        (["--retrievers", "bm25"], "bm25 is named twice"),
        (["--retrievers", "dense"], "has no vectors; index the documents with --embedder"),
        (["--reader", "m@http://localhost:2/v1"], "two models have the label m"),
        (["--reader", "nonsense"], "--reader nonsense: a model is named"),
        (["--temperature", "9"], "from 0 to 2"),
        (["--variant-context", "paper"], "own or original"),
        (["--map", "question"], "--map FIELD=COLUMN"),
        (["--map", "references=nowhere"], "has the column nowhere"),
        (["--out", str(questions)], "the folder cannot be made"),
    ]:
        assert (main([*command, *words]), said in (told := capsys.readouterr().err)) == (2, True), (
            told
        )
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").iterdir()) == []


def test_answer_maps_columns_too(tmp_path: Path):
    home = tmp_path / "home"
    base = write_jsonl(tmp_path / "base.jsonl", [{"text": "one"}, {"text": "two"}])
    questions = write_jsonl(tmp_path / "q.jsonl", [{"frage": "What is one?"}])
    assert run("rag", "index", base, "--out", tmp_path / "idx", home=home).code == 0
    with server_process() as server:
        command: list[str | Path] = ["rag", "answer", questions, "--index", tmp_path / "idx"]
        command += ["--generator", f"g@{server.base_url}", "--out", tmp_path / "a.jsonl"]
        assert run(*command, "--map", "question=frage", home=home).code == 0
    assert examples(tmp_path / "a.jsonl")[0].question == "What is one?"


def test_a_grid_that_was_made_otherwise_is_refused_and_readers_may_be_added(tmp_path: Path):
    written(tmp_path, {"m": FakeChat("One."), "n": FakeChat("Two.")}, ("bm25",))
    before = examples(tmp_path / "grid" / "bm25__m.jsonl")
    written(tmp_path, {"o": FakeChat("Three.", name="third")}, ("dense",))
    assert (tmp_path / "grid" / "dense__o.jsonl").is_file()
    with pytest.raises(
        SettingsChanged, match=r"other settings.*\n  --variant-context: was own, now original"
    ):
        written(tmp_path, {"m": FakeChat("One.")}, ("bm25",), variant_context="original")
    with pytest.raises(SettingsChanged, match="--reader o: was third, now fake"):
        written(tmp_path, {"o": FakeChat("One.")}, ("bm25",))
    assert examples(tmp_path / "grid" / "bm25__m.jsonl") == before
    (tmp_path / "grid" / grid.SETTINGS).write_text("{")
    with pytest.raises(UserError, match="damaged"):
        written(tmp_path, {"m": FakeChat("One.")}, ("bm25",))
