"""Several families on one example list its claims once: in a run, and in the dry run's count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import longmark
from longmark.engine.estimate import RunEstimate, dry_run
from longmark.engine.run import finish, make_settings, open_cache
from longmark.engine.settings import RunOptions
from longmark.models.protocols import ChatRequest
from longmark.models.registry import Registry
from longmark.testing import FakeChat
from longmark.text.overlap import OverlapChecker

RECORD: dict[str, Any] = {
    "id": "a",
    "answer": "It rained.",
    "references": ["It snowed."],
    "contexts": ["Rain fell."],
}
BOTH = ("score.specificity", "ragchecker")


def reply(request: ChatRequest) -> str:
    shown = request.messages[1].content
    if "List the claims" in shown:
        return (
            '{"claims": ["It rained."]}' if "It rained." in shown else '{"claims": ["It snowed."]}'
        )
    if "<statements " in shown:
        numbers = [
            line.split(".")[0]
            for line in shown.split("<statements ")[1].splitlines()[1:]
            if ". " in line[:4]
        ]
        return json.dumps(dict.fromkeys(numbers, "neutral"))
    return json.dumps({name: [] for name in ("hazard", "location", "timeline", "intensity")})


def estimate(
    tmp_path: Path, *names: str, record: dict[str, Any] = RECORD, checker: Any = None
) -> RunEstimate:
    options = RunOptions(
        judges=[FakeChat(reply)], checker=checker, cache=tmp_path / "calls.sqlite", domain="hazards"
    )
    cache = open_cache(options.cache)
    settings = make_settings(names, Registry(cache, sends=False), options)
    try:
        return finish(lambda: dry_run([record], settings, None, cache, options))
    finally:
        cache.close()


def test_a_dry_run_counts_the_list_of_claims_once(tmp_path: Path):
    alone = [estimate(tmp_path, name).total.calls for name in BOTH]
    together = estimate(tmp_path, *BOTH)
    assert together.total.calls == sum(alone) - 1
    assert together.metrics["score.specificity"].calls == alone[0]
    # the lists of answer and reference; the passage for each of them, the reference, the answer
    assert (alone[1], together.metrics["ragchecker"].calls) == (6, 5)


def test_word_overlap_takes_no_calls_of_a_dry_run(tmp_path: Path):
    assert (
        estimate(tmp_path, "ragchecker", checker=OverlapChecker()).total.calls == 2
    )  # the lists of claims
    nli = RECORD | {"question": "Did it rain?"}
    # two lists and their revisions, and the relevance; with the judge as checker also one call about all premises
    assert (
        estimate(
            tmp_path, "comprehensiveness.nli", record=nli, checker=OverlapChecker()
        ).total.calls
        == 5
    )
    assert estimate(tmp_path, "comprehensiveness.nli", record=nli).total.calls == 6
    assert estimate(tmp_path, "comprehensiveness.nli@plan=each", record=nli).total.calls == 7


def test_an_example_with_its_claims_and_labels_needs_no_call_and_no_judge(tmp_path: Path):
    carried = RECORD | {
        "claims": ["It rained."],
        "reference_claims": ["It snowed."],
        "claims_by_reference": ["neutral"],
        "reference_claims_by_answer": ["neutral"],
        "claims_by_contexts": [["entails"]],
        "reference_claims_by_contexts": [["neutral"]],
    }
    assert estimate(tmp_path, "ragchecker", record=carried).total.calls == 0
    result = longmark.run(
        [carried], "ragchecker", out=tmp_path / "run", cache=tmp_path / "calls.sqlite"
    )
    assert {row.metric: row.score for row in result.rows()}["ragchecker.faithfulness"] == 1
    assert result.counts.calls == 0


def test_a_run_sends_what_the_dry_run_shares_once(tmp_path: Path):
    judge = FakeChat(reply)
    longmark.run(
        *([RECORD], ",".join(BOTH)),
        out=tmp_path / "run",
        judges=[judge],
        cache=tmp_path / "calls.sqlite",
        seed=1,
        domain="hazards",
    )
    lists = [
        request for request in judge.requests if "List the claims" in request.messages[1].content
    ]
    assert len(lists) == 2  # of the answer, and of the reference


def test_another_checker_is_in_the_signature_and_decides(tmp_path: Path):
    judge = FakeChat(reply)
    checks_one = FakeChat(
        lambda request: json.dumps({str(n + 1): "entails" for n in range(_count(request))}),
        name="c",
    )
    result = longmark.run(
        [RECORD],
        "ragchecker",
        out=tmp_path / "run",
        judges=[judge],
        checker=checks_one,
        cache=tmp_path / "c.sqlite",
    )
    rows = list(result.rows())
    assert rows[0].signature.models == {"judge": ["fake"], "checker": ["c"]}
    assert {row.metric: row.score for row in rows}["ragchecker.f1"] == 1
    assert rows[0].evidence["checker"] == "c"
    assert len(judge.requests) == 2


def _count(request: ChatRequest) -> int:
    lines = (
        request.messages[1]
        .content.split("<statements ")[1]
        .split("</statements")[0]
        .splitlines()[1:]
    )
    return len([line for line in lines if line])
