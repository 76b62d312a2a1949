"""Every command that reads scores takes the same sources and treats a damaged line alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analysis.compare.runs import run_of
from tests.records.test_write import check_suffix
from tests.report.runs import RELEVANCE, write_run

from longmark.cli import main
from longmark.errors import UserError
from longmark.records import Example
from longmark.records.write import write_rows
from longmark.scores.files import examples_of, rows_of, shortest_names

SCORES = {
    "x": {RELEVANCE: [0.1 * i for i in range(8)]},
    "y": {RELEVANCE: [0.8 - 0.1 * i for i in range(8)]},
}


def verbs(source: str) -> list[list[str]]:
    """Every command that reads scores, for one source."""
    return [
        ["report", source, "--out", "page.html"],
        ["compare", source, "--draws", "100"],
        ["metrics-study", source, "--draws", "100"],
        ["metaeval", source, "labels.csv"],
    ]


@pytest.fixture(autouse=True)
def _labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"x-{i},{value}" for i, value in enumerate([1, 2, 2, 3, 3, 5, 4, 5])]
    Path("labels.csv").write_text("\n".join(["example_id,value", *lines]))


@pytest.mark.parametrize("verb", range(4))
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_a_file_of_rows_is_read_by_every_command(
    suffix: str, verb: int, capsys: pytest.CaptureFixture[str]
) -> None:
    check_suffix(suffix)
    run_of(Path("run"), SCORES)
    write_rows(rows_of(Path("run")), f"r.{suffix}")
    assert main(verbs(f"r.{suffix}")[verb]) == 0, capsys.readouterr().err


def test_rows_made_elsewhere_need_three_columns(capsys: pytest.CaptureFixture[str]) -> None:
    for name, shift in (("a", 0.0), ("b", 0.05)):
        lines = [f"e{i},m,{0.1 * i + shift * (i % 3)}" for i in range(9)]
        Path(f"{name}.csv").write_text("\n".join(["example_id,metric,score", *lines]))
    assert main(["compare", "a.csv", "b.csv", "--draws", "100"]) == 0
    assert main(["report", "a.csv", "--out", "page.html"]) == 0
    assert (
        "none.csv does not exist"
        in (main(["compare", "a.csv", "none.csv"]), capsys.readouterr().err)[1]
    )


@pytest.mark.parametrize("verb", range(4))
@pytest.mark.parametrize(
    "damage", [b'{"example_id": "x-1", "met\n', b"\x00\xff\n", b'{"example_id": "x-1"}\n']
)
def test_a_damaged_line_is_an_error_that_names_it(
    damage: bytes, verb: int, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of(Path("run"), SCORES)
    first, *rest = (run / "rows.jsonl").read_bytes().splitlines(keepends=True)
    damaged = b"".join([first, damage, *rest])
    (run / "rows.jsonl").write_bytes(damaged)
    Path("r.jsonl").write_bytes(damaged)
    for source, name in (
        ("r.jsonl", "r.jsonl:2: "),
        ("run", "rows.jsonl:2: "),
        ("run/rows.jsonl", "rows.jsonl:2: "),
    ):
        assert main(verbs(source)[verb]) == 2
        err = capsys.readouterr().err
        assert err.removeprefix("longmark: ").startswith(source if source == "r.jsonl" else "run/")
        assert name in err


@pytest.mark.parametrize("verb", range(4))
def test_an_unfinished_last_line_is_left_out_of_a_run_and_reported(
    verb: int, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of(Path("run"), SCORES)
    whole = (run / "rows.jsonl").read_bytes()
    (run / "rows.jsonl").write_bytes(whole + b'{"example_id": "x-1", "met')
    Path("r.jsonl").write_bytes(whole + b'{"example_id": "x-1", "met')
    command = verbs("run")[verb]
    assert main(command) == 0
    said = "".join(capsys.readouterr()) + (Path("page.html").read_text() if verb == 0 else "")
    assert "(17) is unfinished and was ignored; repeat its `longmark run` command" in " ".join(
        said.split()
    )
    assert main(verbs("r.jsonl")[verb]) == 2
    assert "r.jsonl:17: is not JSON" in capsys.readouterr().err


@pytest.mark.parametrize("verb", range(4))
def test_a_file_without_rows_is_an_error(verb: int, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.csv").write_text("example_id,metric,score\n")
    assert main(verbs("empty.csv")[verb]) == 2
    assert capsys.readouterr().err == "longmark: no scores: there are no rows in empty.csv\n"


@pytest.mark.parametrize("verb", range(4))
def test_rows_made_elsewhere_are_unique(verb: int, capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.csv").write_text("example_id,metric,score\na,m,0.5\na,m,0.6\n")
    assert main(verbs("r.csv")[verb]) == 2
    assert 'r.csv:3: m of "a" already has a row in line 2' in capsys.readouterr().err


def test_every_command_gives_the_same_remedy_for_a_damaged_manifest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = run_of(Path("run"), SCORES)
    (run / "manifest.json").write_text("{")
    Path("e.jsonl").write_text('{"question": "q", "answer": "a"}')
    score = ["run", "e.jsonl", "--metrics", "score.readability", "--out", "run", "--quiet"]
    remedies = set()
    for words in (*verbs("run"), score):
        assert main(words) == 2
        remedies.add(capsys.readouterr().err.partition("; ")[2])
    assert remedies == {
        "repeat the command that made it with another --out (the call cache still has the replies)\n"
    }


def test_the_examples_of_a_run(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run", [Example(id="a", answer="A"), Example(id="b", answer="B")], []
    )
    path = run / "examples.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"id": "unfinished')
    assert [example.id for example in examples_of(run)] == ["a", "b"]
    for line in (b"\xff", b"[]", b'{"id": 3}'):
        path.write_bytes(whole + line + b"\n")
        with pytest.raises(
            UserError,
            match=r"examples\.jsonl:3: not an example .*repeat its `longmark run` command",
        ):
            list(examples_of(run))
    path.write_bytes(b'{"id": "a", "answer": 5}\n')
    with pytest.raises(
        UserError, match=r"examples\.jsonl:1: not an example \(answer: expected text, found 5"
    ):
        list(examples_of(run))
    assert list(examples_of(tmp_path)) == []


def test_sources_have_the_shortest_names_that_differ(tmp_path: Path) -> None:
    assert shortest_names([Path("a/r.csv"), Path("b/r.csv"), Path("b/s.csv")]) == [
        "a/r",
        "b/r",
        "b/s",
    ]
    assert shortest_names([Path("a/r.csv"), Path("a/r.jsonl")]) == ["r.csv", "r.jsonl"]
