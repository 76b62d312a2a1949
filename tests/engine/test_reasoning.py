"""Runs with judges that think, take no temperature, refuse everything, or change in mid-course."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.wire import serve

import longmark
from longmark.cli import main
from longmark.engine.session import RunResult
from longmark.records import Row
from longmark.report.summary import summarise

METRIC = "ccrs.question_relevance"


def _examples(path: Path, answers: int, empty: int = 0, system: str = "a") -> Path:
    texts = ["A dam failed."] * answers + [""] * empty
    lines = [
        json.dumps(
            {
                "id": f"{system}{n}",
                "question": f"What happened in {n}?",
                "answer": text,
                "system": system,
            }
        )
        for n, text in enumerate(texts)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def _run(out: Path, base_url: str, examples: Path, **options: Any) -> RunResult:
    notices: list[str] = options.pop("notices", [])
    cache = options.pop("cache", out.parent / "calls.sqlite")
    judge = options.pop("judge", f"m@{base_url}")
    options = {"reasons": False, **options}
    return longmark.run(
        examples, METRIC, out=out, judges=judge, cache=cache, tell=notices.append, **options
    )


def _signatures(rows: list[Row]) -> set[bytes]:
    return {orjson.dumps(row.signature) for row in rows}


def test_a_refused_temperature_is_settled_before_the_first_row_and_stays_settled(
    tmp_path: Path,
) -> None:
    few, many = _examples(tmp_path / "few.jsonl", 20, 2), _examples(tmp_path / "many.jsonl", 40, 2)
    notices: list[str] = []
    with serve(temperature=False, completion_tokens=True, reply="80") as server:
        first = _run(tmp_path / "r", server.base_url, few, notices=notices)
        assert server.counts["by_status"] == {"400": 2, "200": 20}
        assert {row.score for row in first.rows()} == {0.8, 0.0}
        name = f"m@{server.base_url}"
        assert {orjson.dumps(row.signature.settled) for row in first.rows()} == {
            orjson.dumps({name: ["no temperature"]})
        }
        assert json.loads((tmp_path / "r" / "manifest.json").read_text())["settled"] == {
            name: ["no temperature"]
        }
        assert notices == [f"{name} does not accept a temperature; using the model's default."]
        # the facts of the cache are gone: the manifest is enough
        resumed = _run(tmp_path / "r", server.base_url, many, cache=tmp_path / "other.sqlite")
        assert server.counts["by_status"] == {
            "400": 3,
            "200": 40,
        }  # max_tokens, again: it changes no score
        # another run, with the facts of the cache
        second = _run(tmp_path / "r2", server.base_url, many)
        assert server.counts["by_status"]["400"] == 3
    assert len(_signatures([*first.rows(), *resumed.rows(), *second.rows()])) == 1
    assert Counter(row.status for row in second.rows()) == {"ok": 42}


def test_samples_of_a_model_without_temperature_are_drawn_at_its_own(tmp_path: Path) -> None:
    notices: list[str] = []
    with serve(temperature=False) as server:
        result = _run(
            tmp_path / "r", server.base_url, _examples(tmp_path / "e.jsonl", 3), temperature=0.7, samples=4,
            notices=notices,
        )  # fmt: skip
        assert server.counts["by_status"] == {"400": 1, "200": 12}
    assert [len(row.evidence["judges"]) for row in result.rows()] == [4, 4, 4]
    assert "its samples use the model's default" in notices[0]


def _command(examples: Path, url: str, out: Path) -> list[str]:
    """The words of a quiet run that the model `m` at the URL judges."""
    return [
        "run",
        str(examples),
        "--metrics",
        METRIC,
        "--judge",
        f"m@{url}",
        "--out",
        str(out),
        "--quiet",
    ]


def test_a_temperature_that_is_refused_after_it_was_taken_is_an_error(tmp_path: Path) -> None:
    def later(n: int, _path: str, _request: Any) -> tuple[int, bytes, str] | None:
        told = b'{"error": {"message": "temperature is not supported", "param": "temperature"}}'
        return (400, told, "") if n >= 5 else None

    with serve(answer=later) as server:
        result = _run(
            tmp_path / "r", server.base_url, _examples(tmp_path / "e.jsonl", 30), concurrency=1
        )
        rows = list(result.rows())
    assert Counter(row.status for row in rows) == {"ok": 5, "model_error": 25}
    assert len(_signatures(rows)) == 1


def test_an_endpoint_that_refuses_everything_stops_the_run_with_its_own_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_n: int, _path: str, _request: Any) -> tuple[int, bytes, str]:
        return 403, b'{"error": {"message": "your project may not use this model"}}', ""

    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    examples, out = _examples(tmp_path / "e.jsonl", 300), tmp_path / "r"
    with serve(answer=refuse) as server:
        command = _command(examples, server.base_url, out)
        assert main(command) == 4
        assert 20 <= server.counts["requests"] <= 20 + 15
        said = capsys.readouterr().err
        assert "every call to a model was refused" in said
        assert "your project may not use this model" in said
        assert "Not computed: " in said
        server.settings.answer = None
        assert main(command) == 0
    assert len((out / "rows.jsonl").read_text().splitlines()) == 300
    assert json.loads((out / "manifest.json").read_text())["sessions"][0]["stopped"] == "refused"


@pytest.mark.parametrize("shown", ["reasoning_content", "tags", "closing", "nowhere"])
def test_a_judge_that_thinks_scores_every_answer(tmp_path: Path, shown: str) -> None:
    with serve(thinks=900, shown=shown, reply="80") as server:
        result = _run(tmp_path / "r", server.base_url, _examples(tmp_path / "e.jsonl", 20))
        limits = [body["max_tokens"] for _, _, body in server.requests]
    assert [row.score for row in result.rows()] == [0.8] * 20
    assert Counter(limits) == {64: 1, 7664: 20}  # one reply was cut off: the first
    assert {row.signature.params["temperature"] for row in result.rows()} == {0.0}


def test_a_judge_that_only_thinks_gets_few_calls_and_its_rows_say_why(tmp_path: Path) -> None:
    examples = _examples(tmp_path / "e.jsonl", 100, 1)
    with serve(thinks=10**6) as server:
        result = _run(tmp_path / "r", server.base_url, examples)
        requests = server.counts["requests"]
    rows = {
        status: [row for row in result.rows() if row.status == status]
        for status in ("unparsable", "model_error")
    }
    assert requests <= 5 + 16 + 3
    assert "cut off after 7,664 tokens, while it was thinking" in (
        rows["unparsable"][0].reason or ""
    )
    assert "thinking_tokens" in (rows["unparsable"][0].reason or "")
    assert len(rows["unparsable"]) + len(rows["model_error"]) == 100
    assert result.closed[0].startswith("5 replies of m@")


def test_log_probabilities_of_a_judge_that_thinks_are_no_verdict(tmp_path: Path) -> None:
    with serve(thinks=900, reply="yes") as server:
        result = _run(
            tmp_path / "r", server.base_url, _examples(tmp_path / "e.jsonl", 1), scoring="expected"
        )
    [row] = result.rows()
    assert row.status == "unsupported"
    assert "thinks before its answer" in (row.reason or "")


def test_a_metric_whose_only_scores_are_automatic_has_no_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    examples, out = _examples(tmp_path / "e.jsonl", 4, 1), tmp_path / "r"
    with serve(reply="no number at all") as server:
        command = _command(examples, server.base_url, out)
        assert main(command) == 4
    said = capsys.readouterr()
    assert f"{METRIC}: no answer was judged; the only scores are automatic" in said.err
    assert "0 / 5" in said.out
    assert "Nothing was judged" in said.out
    [cell] = summarise([out]).cells
    assert (cell.mean, cell.scored, cell.n) == (None, 0, 5)
    rows = [Row.from_json(line) for line in (out / "rows.jsonl").read_text().splitlines()]
    assert [(row.score, row.automatic) for row in rows] == [(None, False)] * 4 + [(0.0, True)]
    assert main(["verify", str(out)]) == 0


def test_automatic_scores_count_beside_judged_ones(tmp_path: Path) -> None:
    examples = tmp_path / "e.jsonl"
    parts = [
        _examples(tmp_path / f"{system}.jsonl", n, 2, system) for system, n in (("a", 3), ("b", 0))
    ]
    examples.write_text("".join(part.read_text() for part in parts))
    with serve(reply="80") as server:
        first = _run(tmp_path / "r", server.base_url, examples)
        again = _run(tmp_path / "r2", server.base_url, examples)  # every reply is in the cache
        assert server.counts["requests"] == 3
    for result in (first, again):
        assert result.unjudged == ()
        means = {cell.system: (cell.mean, cell.scored) for cell in summarise([result.folder]).cells}
        assert means == {
            "a": (pytest.approx(3 * 0.8 / 5), 5),
            "b": (0.0, 2),
        }  # b wrote nothing, and is scored for that


def test_versions_that_change_in_mid_course_are_told(tmp_path: Path) -> None:
    examples, out = _examples(tmp_path / "e.jsonl", 6), tmp_path / "r"
    with serve(version="m-2025-01-01", fingerprint="fp1", reply="80", port=0) as server:
        port = int(server.base_url.rsplit(":", 1)[1].partition("/")[0])
        steady = _run(out, server.base_url, examples, limit=4)
        assert summarise([out]).notices == ()
        assert [row.versions for row in steady.rows()] == [
            {f"m@{server.base_url}": ["m-2025-01-01 (fp1)"]}
        ] * 4
    with serve(version="m-2025-06-01", reply="80", port=port) as server:
        changed = _run(out, server.base_url, examples)
        [notice] = summarise([out]).notices
        name = f"m@{server.base_url}"
    assert notice == (
        f"r: {name} reported several versions of the model: m-2025-01-01 (fp1) (4 rows), m-2025-06-01 (2 rows). "
        "Its scores may not be comparable."
    )
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["versions"] == {name: ["m-2025-01-01 (fp1)", "m-2025-06-01"]}
    assert len(_signatures(list(changed.rows()))) == 1
