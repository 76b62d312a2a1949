"""`longmark audit`: a judge's biases are put into a stand-in, and the audit finds them, in size and in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.program import in_process, rows_of, write_jsonl
from tests.report.runs import manifest, row, write_run
from tests.wire import Server, serve

from longmark.contrib.decide import audit_material as material
from longmark.contrib.decide.audit import Finding, declared, document, findings
from longmark.contrib.decide.cli.audit import _check_effects
from longmark.models.sending import Counts
from longmark.report.gates import gates_of
from longmark.stats.results import Estimate

pytest.importorskip("scipy")
CC = "ccrs.contextual_coherence"


class BiasedJudge:
    """Gives 40, a point for every second word, 20 for an order, 5 less in German; as `n` 7 more to a system."""

    def __init__(self) -> None:
        self.flips, self.order = True, 20

    def __call__(self, _number: int, _path: str, body: Any) -> tuple[int, bytes, str]:
        shown = str(body["messages"][-1]["content"])
        if "<answer_a" in shown:
            first = re.search(r"<answer_a[^>]*>\n(.*)\n</answer_a", shown)
            wrong = first is not None and first[1] in WRONG
            reply = "A" if self.flips else "B" if wrong else "A"
        else:
            (answer,) = re.findall(r"<answer [^>]*>\n(.*)\n</answer", shown)
            score = (
                40
                + material.word_count(answer) // 2
                + 7 * (body["model"] == "n" and "from the tower" in answer)
            )
            score += self.order * ("Note to the judge" in answer) - 5 * any(
                one in answer for one in "äöü"
            )
            reply = str(score)
        content = {"role": "assistant", "content": reply}
        said = {
            "model": "v",
            "choices": [{"index": 0, "message": content, "finish_reason": "stop"}],
        }
        return (
            200,
            orjson.dumps({**said, "usage": {"prompt_tokens": 9, "completion_tokens": 1}}),
            "",
        )


WRONG = [one.answer for one in material.bundled() if one.id.endswith(material.KNOWN)]


@pytest.fixture
def judge() -> BiasedJudge:
    return BiasedJudge()


@pytest.fixture(autouse=True)
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judge: BiasedJudge) -> Iterator[Server]:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    with serve(answer=judge) as served:
        yield served


def audited(server: Server, *more: str, out: str = "audit") -> int:
    return in_process(
        ["audit", "--judge", f"m@{server.base_url}", "--no-reasons", "--quiet", "--out", out, *more]
    )


def effects(folder: str = "audit") -> dict[str, dict[str, Any]]:
    lines = json.loads(Path(f"{folder}/tables/effects.json").read_bytes())["rows"]
    return {line["aspect"]: line for line in lines}


def test_the_biases_of_a_judge_are_found_in_their_size(
    server: Server, capsys: pytest.CaptureFixture[str]
):
    assert audited(server, "--limit", "4") == 0
    out = capsys.readouterr().out
    found = effects()
    assert list(found) == [
        "known",
        "order",
        "length",
        "injection",
        "position",
        "prompt",
        "repeat",
        "language",
    ]
    assert found["length"]["effect"] == pytest.approx(0.5, abs=0.05), "half a point a word, of 100"
    assert found["injection"]["effect"] == pytest.approx(0.29, abs=0.011), (
        "20 points, and for 18 words more 9"
    )
    assert [found[one]["effect"] for one in ("position", "prompt", "repeat")] == [0, 0, 0]
    assert found["order"]["effect"] == 1.0
    assert found["language"]["effect"] < 0
    assert "changes its choice in 100 % of the pairs when the answers change places" in out
    assert "gives 0.29" in out
    assert "self was not measured" in out
    assert Path("audit/report.html").is_file()


@pytest.mark.slow
def test_a_gate_fails_and_a_change_since_an_earlier_audit_is_seen(
    server: Server, judge: BiasedJudge, capsys: pytest.CaptureFixture[str]
):
    judge.flips = False
    assert audited(server, "--limit", "6", "--fail-under", f"mean(injection.{CC})<=0.1") == 3
    assert f"not met: injection.{CC} sample mean <= 0.1" in (out := capsys.readouterr().out)
    assert "changes its choice in 0 % of the pairs" in out
    judge.order = 40
    assert audited(server, "--limit", "6", "--against", "audit", out="later") == 0
    out = capsys.readouterr().out
    drift = {
        row["metric"]: row
        for row in json.loads(Path("later/tables/drift.json").read_text())["rows"]
    }
    assert drift[f"injection.{CC}"]["finding"] == "the scores have changed"
    assert drift[f"injection.{CC}"]["change"] == pytest.approx(0.2, abs=0.05)
    assert drift[f"length.{CC}"]["finding"] == "no significant change"


@pytest.mark.slow
def test_two_judges_and_own_answers_with_a_comparison(
    server: Server, capsys: pytest.CaptureFixture[str]
):
    lines = [
        {"id": f"{system}{i}", "question_id": f"q{i}", "question": f"Why {i}?", "system": system,
         "answer": f"The river rose in the night. It is the number {i}. {more}", "contexts": ["It rained."]}
        for i in range(7) for system, more in (("brief", ""), ("long", "All of it was seen from the tower. " * 4))
    ]  # fmt: skip
    write_jsonl(Path("own.jsonl"), lines)
    words = ("--metrics", CC, "--judge", f"m@{server.base_url}", "--no-reasons", "--quiet")
    assert in_process(["run", "own.jsonl", *words, "--out", "run"]) == 0
    capsys.readouterr()
    other = f"n@{server.base_url}"
    assert (
        audited(server, "own.jsonl", "--judge", other, "--own", f"{other}=long", "--run", "run")
        == 0
    )
    out = capsys.readouterr().out
    assert (
        f"As large as the difference in the comparison can be: m@{server.base_url}: length, "
        f"{other}: length" in " ".join(out.split())
    )
    assert "Judges compared" in out
    assert "The family over which p is adjusted is every effect below" in out
    assert "position was not measured: no answer has two passages" in out
    judges = {row.system for row in rows_of(Path("audit/effects"))}
    assert judges == {f"{name}@{server.base_url}" for name in "mn"}
    assert effects()["length"]["matters"] == "yes"
    assert (effects()["self"]["judge"], effects()["self"]["effect"]) == (other, pytest.approx(0.07))
    assert "gives 0.070 more to the answers of its own model than the other judges do" in out


def test_a_gate_on_single_effects_is_tested(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"example_id": f"e{i}", "question_id": f"q{i}", "system": "m", "metric": "length.x", "score": i / 10}
        for i in range(3)
    ]  # fmt: skip
    write_jsonl(tmp_path / "rows.jsonl", rows)
    gates = gates_of(["length every <= 0.1", "at most 50 % length.x > 0.1"], ["length.x"])
    assert _check_effects(gates, tmp_path, Counts()) == 3
    lines = capsys.readouterr().out.splitlines()[-2:]
    assert [line.partition(":")[0] for line in lines] == ["not met", "met"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--metrics", "classic.rouge_1"), "one score that a judge gives"),
        (("--against", "nothing"), "expected the folder of an earlier audit"),
        (("--against", "other"), "it is an audit of another, not of m@"),
        (("--fail-under", "speed<=1"), "unknown"),
        (("--fail-under", "length mean <= 1 for other"), "unknown system in --fail-under: other"),
        (("odd.jsonl",), "has ~~ in it"),
        (("--own", "m=right"), "expected one of two --judge or more"),
    ],
)
def test_what_cannot_be_audited_is_refused_before_a_call(
    server: Server, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], why: str
):
    Path("other/effects").mkdir(parents=True)
    Path("other/effects/rows.jsonl").write_bytes(
        row("a", f"known.{CC}", 1.0, system="another").to_json()
    )
    write_jsonl(
        Path("odd.jsonl"), [{"id": "a~~b", "question": "Why?", "answer": "So.", "contexts": ["C."]}]
    )
    assert audited(server, *words) == 2
    assert why in capsys.readouterr().err
    assert server.counts["requests"] == 0


def test_answers_that_cannot_be_scored_are_told_with_the_reason(
    server: Server, capsys: pytest.CaptureFixture[str]
):
    write_jsonl(
        Path("own.jsonl"),
        [{"id": str(i), "question": "Why?", "answer": "So it is."} for i in range(3)],
    )
    assert audited(server, "own.jsonl") == 0
    assert "has no scores for injection (" in (out := capsys.readouterr().out)
    assert "contexts" in out or "passages" in out
    assert server.counts["requests"] == 0
    assert audited(server, "own.jsonl", "--dry-run") == 0
    why = f"no answer has the contexts that {CC} needs"
    assert f"injection would not be measured: {why}." in (out := capsys.readouterr().out)
    assert f"repeat would not be measured: {why}." in out


def test_a_budget_stops_an_audit_which_goes_on_later(
    server: Server, capsys: pytest.CaptureFixture[str]
):
    assert audited(server, "--limit", "2", "--max-calls", "20") == 4
    assert "the audit stopped: The budget of 20 requests" in capsys.readouterr().err
    assert audited(server, "--limit", "2") == 0
    assert server.counts["requests"] == 16 + 3 * 4 + 2 * 4 + 2 * 2, "none is sent twice"


def total_calls(printed: str) -> list[str]:
    """The expected calls and those at most, of all runs of the audit."""
    (total,) = [line for line in printed.splitlines() if line.startswith("all ")]
    return total.split()[2:4]


def test_a_dry_run_says_what_every_run_of_the_audit_takes_and_sends_nothing(
    server: Server, capsys: pytest.CaptureFixture[str]
):
    """For one question with a right and a wrong answer: 8 answers as they are and changed, 2 answers three times and by
    two other prompts, and a pair in two orders."""
    assert audited(server, "--limit", "1", "--dry-run") == 0
    printed = capsys.readouterr().out
    assert total_calls(printed) == ["20", "20"], "8 + 3 * 2 + 2 * 2 + 2"
    titles = [line.split("  ")[0] for line in printed.splitlines()[1:8]]
    assert titles == [
        "answers as they are and changed",
        "sampled again, 1 of 3",
        "sampled again, 2 of 3",
        "sampled again, 3 of 3",
        "prompts in other words, 1 of 2",
        "prompts in other words, 2 of 2",
        "two answers in both orders",
    ]
    assert "self would not be measured" in printed
    assert server.counts["requests"] == 0
    assert not Path("audit").exists()
    assert audited(server, "--limit", "1") == 0
    assert server.counts["requests"] == 20
    capsys.readouterr()
    assert audited(server, "--limit", "1", "--dry-run") == 0
    assert total_calls(capsys.readouterr().out) == ["0", "0"], "all of it is there already"


def test_progress_names_the_run_and_the_title_the_model_behind_the_judges_name(
    server: Server, capsys: pytest.CaptureFixture[str]
):
    entry = f"{{model: m, endpoint: '{server.base_url}'}}"
    Path("longmark.yaml").write_text(f"models: {{judge: {entry}}}\n")
    words = ["audit", "--judge", "judge", "--no-reasons", "--limit", "1", "--out", "audit"]
    assert in_process(words) == 0
    captured = capsys.readouterr()
    assert "Run 1 of 7: answers as they are and changed\n" in captured.err
    assert "Run 7 of 7: two answers in both orders\n" in captured.err
    page = Path("audit/report.html").read_text()
    assert f"Audit of judge (m@{server.base_url})" in unescape(page)


@pytest.mark.parametrize(("moved", "holds"), [(2, True), (3, True), (6, False)])
def test_an_effect_on_a_few_of_twelve_answers_is_not_said_to_be_more_than_chance(
    tmp_path: Path, moved: int, holds: bool
):
    rows = [
        row(
            f"a{n}~~injection",
            f"injection.{CC}",
            0.2 if n < moved else 0.0,
            question_id=f"q{n}",
            system="m",
        )
        for n in range(12)
    ]
    folder = write_run(tmp_path / "effects", [], rows, {**manifest(), "metrics": declared(CC, 1.0)})
    (found,) = findings(folder, {})
    assert ("(the interval holds 0)" in found.says) == holds  # signs: p = .5, .25, .031


def test_the_page_begins_with_what_the_judge_gets_right_and_what_moves_it():
    """Of seven effects two are rates, three can be up or down and two cannot be below 0."""
    ends = {
        "known": (0.24, 0.76),
        "order": (0.35, 0.85),
        "length": (-0.1, 0.3),
        "injection": (0.1, 0.3),
        "language": (-0.1, 0.1),
        "position": (0.05, 0.15),
        "prompt": (0.1, 0.3),
    }
    measured = [
        Finding(
            "j",
            aspect,
            "m",
            Estimate(value=sum(pair) / 2, low=pair[0], high=pair[1], n=10, missing=2),
            unreadable=1,
        )
        for aspect, pair in ends.items()
    ]
    assert (
        document(measured, {}, {})
        .sections[0]
        .says.startswith(
            "j changes its choice in 60 % of the pairs when the answers change places [35 %, 85 %]. "
            "It gives the right answer the higher score in 50 % of the pairs [24 %, 76 %]. "
            "Shown to move the scores, of 3 effects that can be up or down: injection. "
            "Changes of either sign, on average: prompt 0.200 [0.100, 0.300] and "
            "position 0.100 [0.050, 0.150]. "
            "14 of 84 measurements have no score, 7 as a reply could not be read. "
            "Each effect has its own 95 % interval, not adjusted for their number."
        )
    )


def test_of_several_judges_and_metrics_the_page_names_each_effect_by_both():
    effect = Estimate(value=0.2, low=0.1, high=0.3, n=10)
    measured = [
        Finding(judge, aspect, metric, effect, "0.2 of 0.1", "yes" if aspect == "length" else "no")
        for aspect in ("known", "length", "prompt")
        for judge, metric in (("j", "m"), ("k", "n"))
    ]
    assert (
        document(measured, {}, {})
        .sections[0]
        .says.startswith(
            "As large as the difference in the comparison can be: j: length (m) and k: length (n). "
            "j gives the right answer the higher score in 20 % of the pairs (m) [10 %, 30 %]. "
            "k gives the right answer the higher score in 20 % of the pairs (n) [10 %, 30 %]. "
            "Shown to move the scores, of 2 effects that can be up or down: "
            "j: length (m) and k: length (n). "
            "Changes of either sign, on average: "
            "j: prompt (m) 0.200 [0.100, 0.300] and k: prompt (n) 0.200 [0.100, 0.300]."
        )
    )


def test_a_reply_that_could_not_be_read_is_counted_for_its_effect(tmp_path: Path):
    rows = [
        row(
            f"a{n}~~injection",
            f"injection.{CC}",
            0.2 if n else None,
            question_id=f"q{n}",
            system="m",
            **({} if n else {"status": "unparsable", "reason": "Two replies could not be read."}),
        )
        for n in range(12)
    ]
    folder = write_run(tmp_path / "effects", [], rows, {**manifest(), "metrics": declared(CC, 1.0)})
    (of_injection,) = findings(folder, {})
    assert (of_injection.effect.missing, of_injection.unreadable) == (1, 1)
