"""`longmark decide`: it stops early, resumes, keeps to its budget and its rule, and makes an ordinary run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.program import QR, in_process, manifest_of, records, rows_of, write_jsonl
from tests.wire import Server, serve

pytest.importorskip("scipy")

N = 60


def answer(_number: int, _path: str, body: Any) -> tuple[int, bytes, str]:
    """A judge that gives what stands in the answer."""
    score = str(body["messages"][-1]["content"]).split("worth ")[1].split()[0]
    content = {"role": "assistant", "content": score}
    said = {"model": "v", "choices": [{"index": 0, "message": content, "finish_reason": "stop"}]}
    return 200, orjson.dumps({**said, "usage": {"prompt_tokens": 9, "completion_tokens": 1}}), ""


@pytest.fixture(autouse=True)
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    chance = random.Random(1)
    for name, low in (("a", 40), ("b", 60)):
        lines = [
            {**one, "answer": f"It is worth {chance.randint(low, low + 20)} points."}
            for one in records(N)
        ]
        write_jsonl(
            Path(f"{name}.jsonl"), [{**one, "chapter": i // 10} for i, one in enumerate(lines)]
        )
    with serve(answer=answer) as served:
        yield served


def decided(server: Server, *more: str, files: tuple[str, ...] = ("a.jsonl", "b.jsonl")) -> int:
    words = [
        "decide",
        *files,
        "--metrics",
        QR,
        "--judge",
        f"m@{server.base_url}",
        "--out",
        "out",
        "--no-reasons",
    ]
    return in_process([*words, *more])


def test_it_stops_when_it_is_decided_and_is_an_ordinary_run(
    server: Server, capsys: pytest.CaptureFixture[str]
):
    assert decided(server, "--fail-if-worse") == 0
    out = capsys.readouterr().out
    assert f"Decided after 40 of 60 questions: b is better than a on {QR}." in out
    assert (server.counts["requests"], len(rows_of(Path("out")))) == (80, 80), (
        "the others were not paid for"
    )
    assert {row.system for row in rows_of(Path("out"))} == {"a", "b"}
    manifest = manifest_of(Path("out"))
    assert (manifest["stopping"]["looked"], manifest["stopping"]["total"]) == (40, 60)
    assert manifest["finished"]
    assert decided(server, "--quiet") == 0
    assert server.counts["requests"] == 80, "a repeated command sends nothing"
    assert "Decided after 40 of 60 questions" in capsys.readouterr().out
    assert in_process(["compare", "out", "--draws", "200"]) == 0
    assert "was stopped by its scores (longmark decide)" in capsys.readouterr().out


def test_a_system_that_is_worse_than_the_first_fails_and_undecided_can(server: Server):
    look = ("--quiet", "--look", "60")
    Path("c.jsonl").write_bytes(Path("a.jsonl").read_bytes())
    others = ("--systems", "b,a", "--fail-if-worse")
    assert decided(server, *look, *others, files=("c.jsonl", "b.jsonl", "a.jsonl")) == 3
    assert {row.system for row in rows_of(Path("out"))} == {"a", "b"}, "no other system is paid for"
    assert decided(server, *look, "--out", "same", files=("a.jsonl", "c.jsonl")) == 0
    assert (
        decided(server, *look, "--out", "same", "--require-decision", files=("a.jsonl", "c.jsonl"))
        == 3
    )


def test_a_budget_stops_it_undecided_and_more_money_resumes_it(
    server: Server, capsys: pytest.CaptureFixture[str]
):
    assert decided(server, "--max-calls", "30", "--require-decision") == 3
    out = capsys.readouterr().out
    assert "Undecided (1 of 1 comparison) after 15 of 60 questions" in out, (
        "those that are paid for both"
    )
    assert "The budget of 30 requests does not allow another call." in out
    assert server.counts["requests"] == 30
    assert decided(server, "--require-decision") == 0
    assert "Decided after 40 of 60" in capsys.readouterr().out
    assert server.counts["requests"] == 80, "what was paid is kept"


def test_the_budget_is_that_of_all_looks_together(
    server: Server, capsys: pytest.CaptureFixture[str]
):
    assert decided(server, "--look", "5", "--max-calls", "25") == 0
    assert "after 12 of 60 questions" in capsys.readouterr().out
    assert server.counts["requests"] == 25


def test_the_rule_and_the_answers_cannot_change(server: Server, capsys: pytest.CaptureFixture[str]):
    assert decided(server, "--quiet") == 0
    assert decided(server, "--alpha", "0.1", "--margin", "0.2") == 2
    err = capsys.readouterr().err
    assert "--alpha: was 0.05, now 0.1" in err
    assert f"--margin: added: {QR}=0.2" in err
    Path("b.jsonl").write_bytes(
        Path("b.jsonl").read_bytes().replace(b"What is 7?", b"What is seven?")
    )
    assert decided(server) == 2
    assert "--answers: was " in capsys.readouterr().err
    assert (
        in_process(
            ["run", "a.jsonl", "--metrics", QR, "--judge", f"m@{server.base_url}", "--out", "own"]
        )
        == 0
    )
    assert decided(server, "--out", "own") == 2
    assert "was not made by longmark decide" in capsys.readouterr().err


def test_clusters_are_looked_at_whole(server: Server, capsys: pytest.CaptureFixture[str]):
    assert decided(server, "--quiet", "--cluster", "chapter", "--look", "3") == 0
    printed = capsys.readouterr()
    assert "after 6 of 6 clusters" in printed.out
    # before the run and in the result: how many it takes at least
    needed = "6 clusters: a difference of a tenth of the scale in every question takes 50 at the earliest, and there are 6"
    assert needed in printed.err
    assert needed in " ".join(printed.out.split())
    assert decided(server, "--cluster", "part") == 2
    assert "--cluster part: no example has this field" in capsys.readouterr().err


def test_the_readers_of_a_run_that_its_scores_stopped_say_so(
    server: Server, capsys: pytest.CaptureFixture[str]
):
    assert decided(server, "--quiet") == 0
    rows = rows_of(Path("out"))
    write_jsonl(
        Path("people.jsonl"),
        [
            {"example_id": row.example_id, "system": row.system, "value": i % 5}
            for i, row in enumerate(rows)
        ],
    )
    for words in (
        ["report", "out", "--out", "page.html"],
        ["compare", "out", "--draws", "200"],
        ["metaeval", "out", "people.jsonl"],
        ["metrics-study", "out"],
    ):
        in_process(words)
        printed = capsys.readouterr()
        page = Path("page.html").read_text("utf-8") if words[0] == "report" else ""
        assert "was stopped by its scores" in " ".join(
            f"{printed.out} {printed.err} {page}".split()
        ), words[0]


def test_what_so_few_questions_cannot_decide_is_said_before_the_run(
    server: Server, capsys: pytest.CaptureFixture[str]
):
    assert decided(server, "--dry-run", "--margin", ".05") == 0
    said = capsys.readouterr().err
    assert (
        "60 questions: a difference of a tenth of the scale in every question takes 50 at the earliest"
        in said
    )
    assert (
        "equivalence of systems that score alike takes 92 at the earliest, and there are 60" in said
    )
    assert decided(server, "--dry-run", "--margin", ".2") == 0
    assert "at the earliest" not in capsys.readouterr().err


def test_unequal_clusters_count_by_the_largest(server: Server, capsys: pytest.CaptureFixture[str]):
    for name in ("a", "b"):
        lines = [orjson.loads(line) for line in Path(f"{name}.jsonl").read_bytes().splitlines()]
        write_jsonl(
            Path(f"{name}.jsonl"), [{**one, "chapter": int(i**0.5)} for i, one in enumerate(lines)]
        )
    assert decided(server, "--dry-run", "--cluster", "chapter") == 0
    assert "8 clusters of 1 to 13 questions, " in (said := capsys.readouterr().err), said
    assert " effective: a difference of a tenth of the scale" in said


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--batch",), "say with --look N how many questions"),
        (("--metrics", "score.readability"), "a decision needs a metric"),
        (("--systems", "a,z"), "unknown system: z"),
        (("--margin", "-1"), "expected a number above 0"),
        (
            ("--margin", "1"),
            f"--margin: 1 is not below the range of {QR} (0 to 1), so any two systems",
        ),
        (("--alpha", "0"), "alpha must be between 0 and 1"),
    ],
)
def test_what_cannot_be_decided_is_refused_before_a_call(
    server: Server, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], why: str
):
    assert decided(server, *words) == 2
    assert why in capsys.readouterr().err
    assert server.counts["requests"] == 0


def test_one_file_needs_two_systems_and_a_dry_run_sends_nothing(
    server: Server, capsys: pytest.CaptureFixture[str]
):
    assert decided(server, files=("a.jsonl",)) == 2
    assert "there is one: a" in capsys.readouterr().err
    assert decided(server, "--dry-run") == 0
    assert "All 60 questions, if nothing is decided before:" in (out := capsys.readouterr().out)
    assert " 120 " in out
    assert server.counts["requests"] == 0


def test_dollars_end_in_a_later_look_and_more_of_them_go_on(
    server: Server, capsys: pytest.CaptureFixture[str]
):
    price = f"models:\n  priced: {{model: m, endpoint: '{server.base_url}', price: {{input: 1, output: 1}}}}\n"
    Path("models.yaml").write_text(price)
    command = [
        "decide",
        "a.jsonl",
        "b.jsonl",
        "--metrics",
        QR,
        "--judge",
        "priced",
        "--config",
        "models.yaml",
    ]
    command += ["--out", "out", "--no-reasons", "--concurrency", "1", "--look", "5"]
    assert in_process([*command, "--max-usd", "0.0018", "--require-decision"]) == 3
    out = capsys.readouterr().out
    sent = server.counts["requests"]
    assert 20 < sent < 60, "it ends in the third look, or later"
    assert (
        f"Undecided (1 of 1 comparison) after {sent // 2} of 60 questions. The budget of $0.0018 does"
        in out
    )
    assert f"{sent} calls · $0.0003" in out
    assert in_process([*command, "--max-usd", "0.01", "--require-decision"]) == 0
    assert "Decided after" in capsys.readouterr().out
    assert len(rows_of(Path("out"))) == server.counts["requests"], (
        "what was paid is kept, and nothing is paid twice"
    )
