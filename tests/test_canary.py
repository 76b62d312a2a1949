"""A canary notices a judge that scores otherwise than it did, asks it anew, and costs the run no score."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.program import QR, in_process, judged, records, write_jsonl
from tests.wire import Server, serve

pytest.importorskip("scipy")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write_jsonl(Path("given.jsonl"), records(10))


def replies(shift: Callable[[], int], version: Callable[[], str]) -> Any:
    """A judge that gives 60 to 69, by the number in the answer, and `shift` more."""

    def answer(_number: int, _path: str, body: Any) -> tuple[int, bytes, str]:
        number = int(str(body["messages"][-1]["content"]).split("the number ")[1][0])
        content = {"role": "assistant", "content": str(60 + number + shift())}
        said = {
            "model": version(),
            "choices": [{"index": 0, "message": content, "finish_reason": "stop"}],
        }
        return (
            200,
            orjson.dumps({**said, "usage": {"prompt_tokens": 9, "completion_tokens": 1}}),
            "",
        )

    return answer


def scored(server: Server, *words: str) -> int:
    return in_process([*map(str, judged(server, "--quiet", "--no-reasons", *words))])


def gates() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path("ci.json").read_bytes())["gates"]
    return found


def test_a_judge_that_has_changed_fails_the_gate_and_is_asked_anew(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now: dict[str, Any] = {"shift": 0, "version": "judge-2025-01"}
    with serve(answer=replies(lambda: now["shift"], lambda: now["version"])) as server:
        assert scored(server) == 0
        Path("out").rename("kept")
        canary = ("--canary", "kept", "--json", "ci.json", "--junit", "ci.xml")
        assert scored(server, *canary) == 0
        assert server.counts["requests"] == 20, "ten were stored for the run, none for the canary"
        (gate,) = gates()
        assert (gate["result"], gate["rule"]) == ("met", f"same as kept on {QR}")
        costs = json.loads(Path("ci.json").read_bytes())
        assert (costs["cost"]["calls"], costs["canary_cost"]["calls"]) == (10, 10)
        assert "10 calls · 10 from the cache" in (told := capsys.readouterr().out)
        assert "of these the canary: 10 calls" in told
        assert "no significant change: now - then = 0.000 [" in gate["line"]
        assert "over 10 questions of kept" in gate["line"]
        assert "judge-2025-01, as then" in gate["line"]
        now.update(shift=10, version="judge-2025-06")
        assert scored(server, *canary) == 3
        (gate,) = gates()
        assert gate["result"] == "not met"
        assert "the scores have changed: now - then = 0.10" in gate["line"]
        assert "as judge-2025-06, then " in gate["line"]
        assert gate["line"] in capsys.readouterr().out
        now.update(shift=-10)
        assert scored(server, *canary) == 3, "a drop is a change, too"


def test_few_answers_are_refused_and_a_budget_counts_the_canary(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serve(answer=replies(lambda: 0, lambda: "v")) as server:
        for few, why in (
            ("2", "2 questions are too few"),
            ("3", "so few questions (3); at least 6 are needed"),
        ):
            assert scored(server, "--limit", few) == 0
            Path("out").rename(f"kept{few}")
            assert scored(server, "--canary", f"kept{few}") == 2
            assert why in capsys.readouterr().err
        assert server.counts["requests"] == 3, "the canary was not asked"
        assert scored(server, "--limit", "8") == 0
        Path("out").rename("kept")
        assert scored(server, "--canary", "kept", "--max-calls", "9", "--json", "ci.json") == 4
        assert server.counts["requests"] == 8 + 8 + 1, "one of nine is left for the run"
        assert [gate["result"] for gate in gates()] == ["met"]
        files = ("--json", "ci.json", "--junit", "ci.xml", "--summary", "ci.md")
        Path("ci.json").unlink()
        assert scored(server, "--canary", "kept", "--max-calls", "2", *files) == 4
        assert "the canary kept used up the budget" in capsys.readouterr().err
        data = json.loads(Path("ci.json").read_bytes())
        assert (data["exit_code"], data["cost"]["calls"], data["canary_cost"]["calls"]) == (4, 2, 2)
        for name in files[1::2]:
            assert "the canary kept used up the budget" in Path(name).read_text(), name


def test_a_canary_that_says_nothing_is_refused_before_the_first_call(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serve(answer=replies(lambda: 0, lambda: "v")) as server:
        assert scored(server, "--canary", "gone") == 2
        assert "expected a run folder" in capsys.readouterr().err
        words = ["run", "given.jsonl", "--metrics", "classic.length.words", "--quiet", "--out"]
        assert in_process([*words, "kept"]) == 0
        assert scored(server, "--canary", "kept") == 2
        assert (
            f"no score of a metric of this run that asks a model ({QR})" in capsys.readouterr().err
        )
        assert server.counts["requests"] == 0


def test_a_canary_stands_in_the_project_file(capsys: pytest.CaptureFixture[str]) -> None:
    with serve(answer=replies(lambda: 0, lambda: "v")) as server:
        models = f"models: {{mine: {{endpoint: '{server.base_url}', model: m}}}}\n"
        run = f"examples: given.jsonl, metrics: {QR}, judge: mine"
        Path("longmark.yaml").write_text(
            f"{models}runs: {{kept: {{{run}}}, nightly: {{{run}, canary: runs/kept}}}}\n"
        )
        assert in_process(["run", "kept", "--quiet"]) == 0
        assert in_process(["run", "nightly", "--quiet", "--dry-run"]) == 0
        assert (
            "is judged again, with ccrs.question_relevance; no stored reply is used: 10 c"
            in capsys.readouterr().out
        )
        assert in_process(["run", "nightly", "--quiet"]) == 0
        assert f"met: same as kept on {QR}: no significant change" in capsys.readouterr().out
        assert server.counts["requests"] == 20
