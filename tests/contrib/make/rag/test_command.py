"""`longmark rag` as its users meet it: the commands, in processes of their own, against a server on loopback."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import orjson
import pytest
from tests.program import ended, run, server_process, start, write_jsonl

from longmark.contrib.make.cli.rag import _print_missing
from longmark.contrib.make.rag.answer import RagAnswers
from longmark.records import Example

pytest.importorskip("bm25s")

PASSAGES = [{"id": f"p{n}", "text": f"Passage {n} tells of the number {n}."} for n in range(30)]


def examples(path: Path) -> list[Example]:
    return [Example.model_validate_json(line) for line in path.read_bytes().splitlines()]


def answering(questions: Path, index: Path, url: str) -> list[str | Path]:
    """The words that answer the questions with the model `g` at the URL."""
    return ["rag", "answer", questions, "--index", index, "--generator", f"g@{url}"]


def test_from_documents_to_examples(tmp_path: Path):
    docs, home = tmp_path / "docs", tmp_path / "home"
    docs.mkdir()
    write_jsonl(docs / "base.jsonl", PASSAGES)
    (docs / "bad.txt").write_bytes(b"")
    questions = write_jsonl(
        tmp_path / "q.jsonl",
        [
            {
                "id": "o",
                "question_id": "o",
                "question": "What of number 7?",
                "profile": {"hazard": "drought"},
            },
            {"id": "o.p", "question": "And number 7?", "variant_of": "o", "variant": "paraphrase"},
        ],
    )
    with server_process() as server:
        embedder = ["--embedder", f"e@{server.base_url}"]
        stopped = run(
            "rag", "index", docs, "--out", tmp_path / "idx", *embedder, "--quiet", home=home
        )
        assert (stopped.code, stopped.err) == (
            2,
            "bad.txt: is empty\n--skip-bad skips the bad records.\n",
        )
        assert not (tmp_path / "idx").exists()
        made = run(
            "rag",
            "index",
            docs,
            "--out",
            tmp_path / "idx",
            *embedder,
            "--skip-bad",
            "--quiet",
            home=home,
        )
        assert (made.code, made.err) == (0, "bad.txt: is empty\n1 document skipped.\n")
        assert made.out.startswith("30 documents, 30 passages: ")
        out = tmp_path / "examples.jsonl"
        answer = answering(questions, tmp_path / "idx", server.base_url)
        done = run(*answer, "--out", out, "--retriever", "hybrid", "--k", "3", home=home)
        assert done.code == 0, done.err
        original, variant = examples(out)
        assert variant.base_answer == original.answer is not None
        assert [len(one.contexts) for one in (original, variant)] == [3, 3]
        assert original.system == f"g@{server.base_url}"
        other = run(*answer, "--out", out, "--embedder", f"other@{server.base_url}", home=home)
        assert other.code == 2
        assert "vectors of two models cannot be compared" in other.err
    wrongs: list[tuple[list[str | Path], str]] = [
        (["--out", "x.pdf"], "the suffix must be one of"),
        (["--out", out, "--k", "0"], "a whole number from 1"),
        (["--out", out, "--temperature", "9"], "from 0 to 2"),
        (["--out", out, "--retriever", "best"], "unknown retriever: best"),
        (["--out", out, "--variant-context", "paper"], "own or original"),
    ]
    for words, said in wrongs:
        wrong = run(*answer, *words, home=home)
        assert (wrong.code, said in wrong.err) == (2, True), wrong.err


@pytest.mark.parametrize("verb", ["answer", "grid"])
def test_the_two_files_of_a_published_data_set_run_as_they_are(tmp_path: Path, verb: str):
    """The layout of rag-mini-bioasq: passages under `passage`, expected answers under `answer`, numbers as ids."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    home, corpus, questions, idx = (
        tmp_path / name for name in ("home", "corpus.parquet", "test.parquet", "idx")
    )
    passages = [
        {"passage": "Aspirin inhibits COX-1.", "id": 101},
        {"passage": "Statins lower LDL.", "id": 102},
    ]
    parquet.write_table(arrow.Table.from_pylist(passages), corpus)
    asked = {
        "question": "What does aspirin inhibit?",
        "answer": "COX-1.",
        "relevant_passage_ids": "[101]",
        "id": 0,
    }
    of_a_system = {
        "question": "What do statins lower?",
        "answer": "Nothing.",
        "system": "old",
        "id": 1,
    }
    parquet.write_table(
        arrow.Table.from_pylist([{**asked, "system": None}, of_a_system]), questions
    )
    assert run("rag", "index", corpus, "--out", idx, home=home).code == 0
    with server_process() as server:
        model, out = f"g@{server.base_url}", tmp_path / ("out.jsonl" if verb == "answer" else "out")
        words = (
            ["--generator", model]
            if verb == "answer"
            else ["--reader", f"r={model}", "--retrievers", "bm25"]
        )
        done = run(
            "rag", verb, questions, "--index", idx, "--out", out, *words, "--quiet", home=home
        )
    assert done.code == 0, done.err
    assert "1 question has an answer without a system: kept as the reference." in done.err
    assert "1 answer in " in done.err
    first, second = examples(out if verb == "answer" else out / "bm25__r.jsonl")
    assert (first.references, first.meta["relevant_passage_ids"], second.references) == (
        ("COX-1.",),
        "[101]",
        (),
    )
    assert first.answer not in (None, "COX-1.")
    assert first.contexts[0].id == "101"


@pytest.mark.parametrize(
    ("cut", "said"), [(0, ""), (3, "m: 3 of 40 answers were cut off at the limit of 300 tokens")]
)
def test_answers_that_were_cut_off_are_told(
    capsys: pytest.CaptureFixture[str], cut: int, said: str
):
    _print_missing(RagAnswers((Example(id="1", question="q"),) * 40, cut=cut), 300, "m: ")
    assert capsys.readouterr().err == (f"{said}; use a larger --max-answer\n" if said else "")


def test_killed_and_run_again(tmp_path: Path):
    home = tmp_path / "home"
    base = write_jsonl(tmp_path / "base.jsonl", PASSAGES)
    questions = write_jsonl(
        tmp_path / "q.jsonl", [{"question": f"What of the number {n}?"} for n in range(60)]
    )
    assert run("rag", "index", base, "--out", tmp_path / "idx", home=home).code == 0
    with server_process("--latency", "0.05") as server:
        answer = answering(questions, tmp_path / "idx", server.base_url)
        answer += ["--concurrency", "4"]
        killed = tmp_path / "killed.jsonl"
        for wanted in (8, 24):
            process = start(*answer, "--out", killed, home=home)
            while server.counts()["requests"] < wanted and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            assert ended(process).code == -signal.SIGKILL
            assert not killed.exists()  # whole, or not at all
        last = run(*answer, "--out", killed, home=home)
        assert last.code == 0, last.err
        counts = server.quiet()
        assert counts["unique"] == 60
        assert counts["paid_again"] <= 2 * 4  # what was under way when it was killed
        again = run(*answer, "--out", tmp_path / "again.jsonl", home=home)
        assert again.code == 0
        assert server.quiet()["requests"] == counts["requests"]
        assert (tmp_path / "again.jsonl").read_bytes() == killed.read_bytes()
    assert [orjson.loads(line)["question"] for line in killed.read_bytes().splitlines()] == [
        f"What of the number {n}?" for n in range(60)
    ]
