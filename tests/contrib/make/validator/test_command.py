"""`longmark validator` as its users meet it, against a server on loopback."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.contrib.make.validator.made import item, labels
from tests.program import ServerProcess, run, server_process

from longmark.contrib.annotate.site import read_priorities
from longmark.contrib.make.benchmark import items_of
from longmark.records.benchmark import Item, write_items

pytest.importorskip("sklearn")


def test_train_apply_next_and_estimate(tmp_path: Path) -> None:
    """The server's vectors say little about an item, so only the flow is tested, not what is learned."""
    home, known, bench = tmp_path / "home", tmp_path / "labels.jsonl", tmp_path / "bench"
    few = labels(9, lambda n: n % 3 > 0, "freeform").items
    few = [one.model_copy(update={"id": f"f{one.id}"}) for one in few]
    write_items([*labels(60, lambda n: n % 3 > 0).items, *few], known)
    bench.mkdir()
    fresh = [item(n, n % 2 > 0) for n in range(100, 130)]
    other = item(130, True, "freeform")
    dropped = item(131, True).model_copy(update={"status": "dropped", "reasons": ("duplicate",)})
    write_items([*fresh, other, dropped], bench / "items.jsonl")
    (bench / "manifest.json").write_text('{"format": 1, "books": []}')
    with server_process() as server:
        _flow(server, home, known, bench, tmp_path)
    assert (
        run("validator", "apply", tmp_path / "none", bench, "--out", tmp_path / "x", home=home).code
        == 2
    )


def _flow(server: ServerProcess, home: Path, known: Path, bench: Path, tmp_path: Path) -> None:
    learned, embedder = tmp_path / "v", ["--embedder", f"e@{server.base_url}"]
    small: list[str | Path] = ["--splits", "2", "--curves", "1", "--hosted", tmp_path / "hosted"]
    done = run("validator", "train", known, "--out", learned, *small, *embedder, home=home)
    assert done.code == 0, done.err
    assert "mcq: 40 valid, 20 invalid\n  AUC on held-out items " in done.out
    assert "freeform: no model: a validator needs at least 10 valid items" in done.err
    curves = json.loads((learned / "curves.json").read_text())
    assert {row["way"] for row in curves["precision"]} == {"none", "validator"}
    assert {row["order"] for row in curves["curves"]} == {"active", "random"}
    lines = [
        json.loads(line)
        for line in (tmp_path / "hosted" / "mcq-train.jsonl").read_bytes().splitlines()
    ]
    replies = [line["messages"][-1]["content"] for line in lines]
    assert replies.count("VALID") == replies.count("INVALID") == len(lines) / 2

    done = run("validator", "apply", learned, bench, "--out", tmp_path / "b2", home=home)
    assert done.code == 0, done.err
    assert "freeform: 1 item left as they are: no verdict, or no model of this form" in done.out
    made: dict[str, Item] = {one.id: one for one in items_of(tmp_path / "b2")}
    assert {made[f"i{n}"].status for n in range(100, 130)} <= {"valid", "invalid"}
    assert (made["i130"].status, made["i131"].status) == ("audited", "dropped")
    assert json.loads((tmp_path / "b2" / "manifest.json").read_text())["validator"]["labels"] == 60

    judge = ["--judge", f"j@{server.base_url}", "--scoring", "text", "--max-calls", "200"]
    done = run(
        "validator", "apply", learned, bench, "--out", tmp_path / "b3.jsonl", *judge, home=home
    )
    assert done.code == 0, (
        done.err
    )  # the server's replies are no verdicts: nothing is marked, and each item is named
    assert done.err.count("not judged: i") == 31
    assert {one.status for one in items_of(tmp_path / "b3.jsonl")} == {"audited", "dropped"}

    (tmp_path / "tides.yaml").write_text(
        "name: tides\ntitle: Tides\nsubject: the tides\nreaders: sailors\n"
    )
    (tmp_path / "book.md").write_text("# One\n\nThe tides rise.")
    generate: list[str | Path] = [
        "benchmark",
        "generate",
        "book.md",
        "--topic",
        "tides.yaml",
        "--out",
        "made",
    ]
    generate += ["--generator", f"g@{server.base_url}", "--validator", learned]
    for other in ("none", f"other@{server.base_url}"):
        done = run(*generate, "--embedder", other, home=home)
        assert (done.code, f"e@{server.base_url}" in done.err) == (2, True), done.err

    done = run(
        "validator", "next", learned, bench, "--n", "5", "--out", tmp_path / "p.csv", home=home
    )
    assert (done.code, done.out) == (0, f"5 items to label: {tmp_path / 'p.csv'}\n"), done.err
    paper: list[str | Path] = ["--drop-above", "1", "--n", "5", "--out", tmp_path / "q.csv"]
    done = run("validator", "next", learned, bench, *paper, home=home)
    assert done.code == 0, done.err
    with (tmp_path / "q.csv").open() as file:
        assert [row["item"] for row in csv.DictReader(file)] == [f"i{n}" for n in range(100, 105)]
    with (tmp_path / "p.csv").open() as file:
        named = [row["item"] for row in csv.DictReader(file)]
    queue = read_priorities(tmp_path / "p.csv", made.values())  # type: ignore[arg-type]
    assert sorted(queue, key=lambda one: -queue[one]) == named
    done = run(
        "validator", "next", learned, bench, "--out", tmp_path / "p.jsonl", "--n", "2", home=home
    )
    assert [
        json.loads(line)["item"] for line in (tmp_path / "p.jsonl").read_bytes().splitlines()
    ] == named[:2]

    write_items(labels(130, lambda n: n % 2 > 0).items[100:112], tmp_path / "few.jsonl")
    done = run(
        "validator", "estimate", learned, bench, "--labels", tmp_path / "few.jsonl", home=home
    )
    assert "mcq: 12 labelled, 18 more items\n  share valid 0." in done.out, done.err
    words = (
        "validator",
        "apply",
        learned,
        bench,
        "--out",
        tmp_path / "b4.jsonl",
        "--labels",
        tmp_path / "few.jsonl",
    )
    done = run(*words, home=home)
    assert "kept items with a label; all 12: 0.500" in done.out, done.err


def test_a_validator_that_learned_nothing_is_warned_about(tmp_path: Path) -> None:
    """The same text in every item: no vector and no feature differs, and the area is .5 without an interval."""
    same = item(0, True)
    made = [same.model_copy(update={"id": f"s{n}", "status": "valid" if n % 2 else "invalid", "meta": {"seed": n}})
            for n in range(40)]  # fmt: skip
    write_items(made, tmp_path / "labels.jsonl")
    with server_process() as server:
        given: list[str | Path] = [
            "--embedder",
            f"e@{server.base_url}",
            "--splits",
            "2",
            "--curves",
            "1",
        ]
        done = run(
            "validator",
            "train",
            tmp_path / "labels.jsonl",
            "--out",
            tmp_path / "v",
            *given,
            home=tmp_path / "home",
        )
    assert done.code == 0, done.err
    assert "AUC on held-out items 0.500 (the scores do not vary enough" in done.out
    assert "Warning: mcq: not shown to be better than chance" in done.err
