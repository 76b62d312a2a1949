"""`longmark verify` and `longmark export`: scores computed again from stored replies alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.wire import serve

from longmark import cli
from longmark.models.registry import Registry

EXAMPLES = [
    {
        "id": f"e{i}",
        "question": f"Question {i}?",
        "answer": "" if i == 2 else f"Answer {i}.",
        "contexts": ["A context."],
    }
    for i in range(3)
]
RUBRIC = "name: own\nquestion: How much does it cost in $?\nscale: 0-100\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run with a built-in, a computed and an own metric, a replaced prompt, and its endpoint gone."""
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    (tmp_path / "e.jsonl").write_bytes(b"\n".join(map(orjson.dumps, EXAMPLES)))
    (tmp_path / "rubric.yaml").write_text(RUBRIC)
    (tmp_path / "prompts").mkdir()
    own = tmp_path / "prompts" / "ccrs.question_relevance.reasons.txt"
    own.write_text("From 0 to 100, how relevant is it? JSON: reason, quotes, score.")
    with serve() as server:
        options = f"--judge judge@{server.base_url} --out {tmp_path / 'run'} --prompts {tmp_path / 'prompts'} --quiet"
        names = f"ccrs.question_relevance,score.readability,{tmp_path / 'rubric.yaml'}"
        code = cli.main(["run", str(tmp_path / "e.jsonl"), "--metrics", names, *options.split()])
    assert code == 0
    (tmp_path / "rubric.yaml").unlink()
    own.unlink()
    return tmp_path / "run"


def change(run: Path, at: int, **changes: Any) -> None:
    lines = [orjson.loads(line) for line in (run / "rows.jsonl").read_bytes().splitlines()]
    lines[at] |= changes
    (run / "rows.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))


def test_an_untouched_run_is_verified_without_the_files_it_was_made_with(run: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["verify", str(run)]) == 0
    assert capsys.readouterr().out == "12 of 12 rows verified · 0 differ · 0 not verifiable\n"


def test_one_score_changed_by_hand_is_found(run: Path, capsys: pytest.CaptureFixture[str]):
    before = orjson.loads((run / "rows.jsonl").read_bytes().splitlines()[0])
    change(run, 0, score=before["score"] + 0.01)
    assert cli.main(["verify", str(run)]) == 3
    out = capsys.readouterr().out
    assert (
        f"differs: {before['metric']} of e0: stored {before['score'] + 0.01:.12g}, computed {before['score']:.12g}"
        in out
    )
    assert "11 of 12 rows verified · 1 differ · 0 not verifiable" in out


def test_rows_deleted_from_a_finished_run_are_counted(run: Path, capsys: pytest.CaptureFixture[str]):
    lines = (run / "rows.jsonl").read_bytes().splitlines(keepends=True)
    (run / "rows.jsonl").write_bytes(b"".join(lines[:4] + lines[6:]))
    assert cli.main(["verify", str(run)]) == 3
    assert capsys.readouterr().out.endswith("0 not verifiable · 2 rows missing from rows.jsonl\n")


def test_a_run_without_rows_is_not_verified(run: Path, capsys: pytest.CaptureFixture[str]):
    (run / "rows.jsonl").write_text("")
    assert cli.main(["verify", str(run)]) == 2
    assert "rows.jsonl has no rows, so there is nothing to verify" in capsys.readouterr().err


def test_a_score_given_to_an_unscored_example_is_found(run: Path, capsys: pytest.CaptureFixture[str]):
    rows = [orjson.loads(line) for line in (run / "rows.jsonl").read_bytes().splitlines()]
    at = next(i for i, row in enumerate(rows) if row["score"] is None)
    change(run, at, score=1.0, status="ok", reason=None)
    assert cli.main(["verify", str(run)]) == 3
    assert "stored 1, computed no score (undefined)" in capsys.readouterr().out


def test_a_row_whose_reply_is_gone_is_not_verifiable(run: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["cache", "clear"]) == 0
    capsys.readouterr()
    assert cli.main(["verify", str(run)]) == 3
    out = capsys.readouterr().out
    assert "not verifiable: own of e0: a reply that it needs is not in the call cache" in out
    # three metrics of three examples, readability two scores; what needs a judge for the two answers that are not empty
    assert "8 of 12 rows verified · 0 differ · 4 not verifiable" in out


def test_a_row_without_a_reply_has_nothing_to_verify(run: Path, capsys: pytest.CaptureFixture[str]):
    change(run, 0, score=None, status="model_error", reason="The endpoint failed.")
    assert cli.main(["verify", str(run)]) == 0
    assert "11 of 12 rows verified · 0 differ · 0 not verifiable · 1 had no reply to verify" in capsys.readouterr().out


def test_a_bundle_is_verified_on_a_machine_without_the_cache(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert cli.main(["export", str(run), "--bundle", str(tmp_path / "b.zip")]) == 0
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "elsewhere"))
    assert cli.main(["verify", str(run)]) == 3
    capsys.readouterr()
    assert cli.main(["verify", str(tmp_path / "b.zip")]) == 0
    assert capsys.readouterr().out == "12 of 12 rows verified · 0 differ · 0 not verifiable\n"


@pytest.mark.parametrize("content", [b"", b"PK", None])
def test_what_is_no_bundle_is_refused(tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]):
    if content is not None:
        (tmp_path / "b.zip").write_bytes(content)
    assert cli.main(["verify", str(tmp_path / "b.zip")]) == 2
    assert "expected a run folder or a bundle" in capsys.readouterr().err


@pytest.mark.parametrize("damage", [{"scoring": None}, {"models": {"judge": ["m"], "lm": []}}, {"params": 5}])
def test_a_damaged_manifest_is_named(run: Path, damage: dict[str, Any], capsys: pytest.CaptureFixture[str]):
    manifest = orjson.loads((run / "manifest.json").read_bytes())
    manifest["fixed"] = {name: value for name, value in (manifest["fixed"] | damage).items() if value is not None}
    (run / "manifest.json").write_bytes(orjson.dumps(manifest))
    assert cli.main(["verify", str(run)]) == 2
    assert "manifest.json cannot be read" in capsys.readouterr().err


def test_a_judge_that_ranks_is_opened_by_its_own_name(run: Path, monkeypatch: pytest.MonkeyPatch):
    manifest = orjson.loads((run / "manifest.json").read_bytes())
    manifest["fixed"]["models"]["reranker"] = ["embedded:judge (log-odds of relevant)"]
    (run / "manifest.json").write_bytes(orjson.dumps(manifest))
    opened: list[Any] = []
    real = Registry.backends

    def backends(self: Registry, given: Any, called: Any) -> Any:
        opened.append(given)
        return real(self, given, called)

    monkeypatch.setattr(Registry, "backends", backends)
    cli.main(["verify", str(run)])
    assert opened[0].reranker == "embedded:judge"


def test_a_run_with_word_overlap_as_the_checker_is_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    claims = {"claims": ["The dam is high.", "The dam is gold."], "reference_claims": ["The dam is high."]}
    example = {"id": "e", "question": "Q?", "answer": "A.", "references": ["The dam is high."], "contexts": ["A dam."]}
    (tmp_path / "e.jsonl").write_bytes(orjson.dumps(example | claims))
    options = f"--metrics ragchecker --checker overlap --out {tmp_path / 'run'} --quiet"
    assert cli.main(["run", str(tmp_path / "e.jsonl"), *options.split()]) == 0
    assert cli.main(["verify", str(tmp_path / "run")]) == 0
    assert "11 of 11 rows verified" in capsys.readouterr().out
