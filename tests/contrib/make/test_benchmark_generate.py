"""`longmark benchmark generate` as its users meet it: books of every kind, a process that is killed, messages."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.contrib.make.rag.make import pdf
from tests.contrib.make.test_benchmark_build import says
from tests.program import ended, run, start, until
from tests.wire import serve

from longmark.contrib.make.benchmark import items_of

pytest.importorskip("bm25s")

DOMAIN = "name: tides\ntitle: Tides\nsubject: the tides\nreaders: sailors\n"
CHINESE = "潮汐是海水在月球和太阳引力作用下发生的周期性涨落现象。每天通常有两次高潮和两次低潮。"


@pytest.fixture
def words(tmp_path: Path) -> list[str | Path]:
    """The command's words after the books."""
    (tmp_path / "tides.yaml").write_text(DOMAIN)
    options = ["--topic", "tides.yaml", "--out", "bench", "--embedder", "none", "--quiet"]
    return [*options, "--n", "2", "--chunk", "120", "--overlap", "0"]


def _dry(tmp_path: Path, words: list[str | Path], *books: str) -> Any:
    given = [
        "benchmark",
        "generate",
        *books,
        *words,
        "--generator",
        "m@http://localhost:1/v1",
        "--dry-run",
    ]
    return run(*given, home=tmp_path / "home")


def test_books_that_cannot_be_read_are_named_before_anything_is_sent(
    tmp_path: Path, words: list[str | Path]
) -> None:
    (books := tmp_path / "books").mkdir()
    (books / "one.pdf").write_bytes(pdf(["The sea rises.", "The sea falls."]))
    (books / "broken.pdf").write_bytes(pdf(["The sea rises."])[:200])
    (books / "scan.pdf").write_bytes(pdf([""]))
    (books / "cover.png").write_bytes(b"")
    refused = _dry(tmp_path, words, "books")
    assert refused.code == 2
    assert "broken.pdf: cannot be read as PDF" in refused.err
    assert "scan.pdf: has no text, as scanned pages have none" in refused.err
    assert "--skip-bad" in refused.err
    done = _dry(tmp_path, [*words, "--skip-bad"], "books")
    assert (done.code, done.out.splitlines()[0]) == (
        0,
        "1 book, 1 chunk, 1 seed.",
    )  # a short book is one chunk
    assert "scan.pdf: has no text" in done.err
    assert "1 file of other kinds ignored" in done.err
    (tmp_path / "empty").mkdir()
    assert "has no documents" in _dry(tmp_path, words, "empty").err
    assert "absent does not exist" in _dry(tmp_path, words, "absent").err
    assert not (tmp_path / "bench").exists()


def test_the_books_can_be_mended_after_one_could_not_be_read(
    tmp_path: Path, words: list[str | Path]
) -> None:
    (books := tmp_path / "books").mkdir()
    (books / "one.txt").write_text("The sea rises twice a day at the coast.")
    (books / "broken.pdf").write_bytes(pdf(["The sea rises."])[:200])
    with serve(answer=lambda _number, _path, _body: (401, b"{}", "")) as server:
        given = ["benchmark", "generate", "books", *words, "--generator", f"m@{server.base_url}"]
        assert "broken.pdf: cannot be read as PDF" in run(*given, home=tmp_path / "home").err
        (books / "broken.pdf").unlink()
        assert (
            "refused" in run(*given, home=tmp_path / "home").err
        )  # by the endpoint, not for other settings
        (books / "two.txt").write_text("The sea falls.")
        assert "books: was" in run(*given, home=tmp_path / "home").err


def test_several_books_in_any_script(tmp_path: Path, words: list[str | Path]) -> None:
    (tmp_path / "zh.txt").write_text(CHINESE * 12)
    (tmp_path / "numbers.md").write_text("1 2 3 4 5 6\n\n" * 40)  # no seed: hardly a letter
    done = _dry(tmp_path, words, "zh.txt", "numbers.md")
    assert done.code == 0
    books, chunks, seeds = (int(part.split()[0]) for part in done.out.splitlines()[0].split(", "))
    assert books == 2
    assert 0 < seeds < chunks  # only those of the Chinese book
    assert seeds >= len(CHINESE * 12) // 120


def test_a_killed_command_continues_where_it_was(tmp_path: Path, words: list[str | Path]) -> None:
    (books := tmp_path / "books").mkdir()
    text = "The harbour of word{} knows the wind, the tides of the sea and the moon above the bay."
    (books / "book.pdf").write_bytes(pdf([text.format(n) for n in range(9)]))

    def answer(_number: int, _path: str, body: Any) -> tuple[int, bytes, str]:
        choice = {
            "message": {"role": "assistant", "content": says(body["messages"][-1]["content"])}
        }
        reply = {"choices": [{"index": 0, "finish_reason": "stop", **choice}]}
        return 200, orjson.dumps(reply), "Content-Type: application/json\r\n"

    with serve(answer=answer, latency=0.02) as server:
        model = f"m@{server.base_url}"
        given = [
            "benchmark",
            "generate",
            "books",
            *words,
            "--n",
            "1",
            "--generator",
            model,
            "--concurrency",
            "1",
        ]
        process = start(*given, home=tmp_path / "home", cwd=tmp_path)
        until(lambda: server.counts["paid"] > 5)
        process.send_signal(signal.SIGKILL)
        ended(process)
        done = run(*given, home=tmp_path / "home")
        assert done.code == 0
        assert "7 usable items: bench/items.jsonl" in done.out  # one of each cell
        assert server.counts["paid_again"] <= 1  # what was under way
        paid = server.counts["paid"]
        assert run(*given, home=tmp_path / "home").code == 0
        assert server.counts["paid"] == paid
    for item in items_of(tmp_path / "bench"):
        assert item.passages[0].page is not None
        assert (
            f"word{item.passages[0].page - 1} " in item.passages[0].text
        )  # the page that the PDF file has it on
    manifest = orjson.loads((tmp_path / "bench" / "manifest.json").read_bytes())
    assert [len(book["sha256"]) for book in manifest["books"]] == [64]
    assert manifest["sessions"][-1]["stopped"] is None
    assert orjson.loads((tmp_path / "bench" / "figures.json").read_bytes())["usable"] == 7
    refused = run(*given, "--chunk", "100", home=tmp_path / "home")
    assert refused.code == 2
    assert "chunk: was [120], now [100]" in refused.err or "chunk: was 120, now 100" in refused.err


def test_a_damaged_file_of_books_is_refused(tmp_path: Path, words: list[str | Path]) -> None:
    (tmp_path / "b.txt").write_text(CHINESE)
    with serve(
        answer=lambda _number, _path, _body: (401, b"{}", "")
    ) as server:  # the books are indexed before
        given = ["benchmark", "generate", "b.txt", *words, "--generator", f"m@{server.base_url}"]
        assert run(*given, home=tmp_path / "home").code == 4
        (tmp_path / "bench" / "books.jsonl").write_text("{")
        done = run(*given, home=tmp_path / "home")
    assert done.code == 2
    assert "books.jsonl is damaged or missing" in done.err
