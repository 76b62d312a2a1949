"""A judge none of whose first replies has a verdict: the run stops, says so, and pays no more when it is repeated."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.program import QR, judged, manifest_of, records, rows_of, run, write_jsonl
from tests.report.runs import answers_on
from tests.wire import serve

import longmark
from longmark.contrib.papers.study import (
    PaperStudy,
    StudySession,
    StudyStopped,
    carry_out,
    scoring_stage,
)
from longmark.engine.session import RunResult, execute
from longmark.engine.settings import SessionOptions, Settings, choose
from longmark.errors import ServerFault
from longmark.judging import Judging
from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.handles import Backends
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest
from longmark.records.verdicts import FIRST, AskedPrompt, Verdicts, together, unreadable
from longmark.testing import FakeChat

PROSE = "I would say that this answer is quite good overall."
DECLINES = ChatReply("", refusal="I cannot help with that.")


def settings_of(*judges: FakeChat, metrics: str = QR, **judging: Any) -> Settings:
    return Settings(choose([metrics]), Backends(tuple(judges)), judging=Judging(**judging))


def executed(
    folder: Path, settings: Settings, n: int = 40, given: Any = None, **options: Any
) -> RunResult:
    """A session of `n` examples, with a call cache beside its folder."""
    cache = CallCache(folder.parent / "calls.sqlite")
    try:
        lines = records(n) if given is None else given
        return asyncio.run(
            execute(lines, settings, folder, cache, SessionOptions(quiet=True, **options))
        )
    finally:
        cache.close()


def pairs(n: int) -> list[dict[str, Any]]:
    return [
        {"id": str(i), "question": f"What is {i}?", "a": f"It is {i}.", "b": f"It is not {i}."}
        for i in range(n)
    ]


def stopped(result: RunResult, *judges: FakeChat, at_most: int = FIRST + 1) -> bool:
    """Whether a run stopped for a judge, and no judge was asked more than it may be."""
    return result.stopped == "unreadable" and all(
        len(judge.requests) <= at_most for judge in judges
    )


@pytest.mark.parametrize("reply", [PROSE, "", DECLINES, ChatReply("90", finish="length"), "101"])
@pytest.mark.parametrize(("given", "reasons"), [(None, False), (pairs(30), True)])
def test_a_judge_without_a_verdict_in_any_form_is_asked_20_times(
    reply: str | ChatReply, given: Any, reasons: bool, tmp_path: Path
):
    judge = FakeChat(lambda _request: reply)
    result = executed(tmp_path / "r", settings_of(judge, reasons=reasons), given=given)
    assert stopped(result, judge)
    assert len(judge.requests) >= FIRST
    (one,) = result.unreadable
    assert (one.judge, one.metrics, one.count >= FIRST, len(one.replies)) == (
        judge.name,
        (QR,),
        True,
        3,
    )


@pytest.mark.parametrize("logprobs", [{"well": -0.1}, None])
def test_a_first_token_that_is_no_verdict_and_no_log_probabilities_stop(
    logprobs: dict[str, float] | None, tmp_path: Path
):
    judge = FakeChat(logprobs=logprobs, capabilities=Capabilities(logprobs=20))
    assert stopped(executed(tmp_path / "r", settings_of(judge, scoring="expected")), judge)
    assert len(judge.requests) >= FIRST


@pytest.mark.parametrize(
    "metric", ["pairs.direct", "pairs.cot", "comprehensiveness.end_to_end", "score.specificity"]
)
def test_metrics_of_every_kind_stop(metric: str, tmp_path: Path):
    judge = FakeChat(PROSE)
    given = (
        pairs(60)
        if metric.startswith("pairs")
        else [{**one, "contexts": ["It is."]} for one in records(60)]
    )
    assert stopped(executed(tmp_path / "r", settings_of(judge, metrics=metric), given=given), judge)


def test_all_metrics_together_are_asked_no_more_than_one(tmp_path: Path):
    judge = FakeChat(PROSE)
    given = [{**one, "contexts": ["It is."], "references": ["It is."]} for one in records(60)]
    result = executed(tmp_path / "r", settings_of(judge, metrics="ccrs"), given=given)
    assert stopped(result, judge)
    assert str(result.unreadable[0]).startswith(
        f"none of the first {result.unreadable[0].count} replies of "
    )


@pytest.mark.parametrize("at_once", [1, 50])
def test_no_more_is_paid_than_20_and_what_is_in_flight(at_once: int, tmp_path: Path):
    judge = FakeChat(PROSE, latency=0.001)
    result = executed(tmp_path / "r", settings_of(judge), n=200, concurrency=at_once)
    assert stopped(result, judge, at_most=FIRST + 1)


def test_the_same_command_pays_nothing_and_ends_with_the_same_words(tmp_path: Path):
    judge = FakeChat(PROSE)
    first = executed(tmp_path / "r", settings_of(judge))
    asked = len(judge.requests)
    rows = (tmp_path / "r" / "rows.jsonl").read_bytes()
    for _ in range(2):
        again = executed(tmp_path / "r", settings_of(judge))
        assert (again.stopped, again.unreadable, again.left) == (
            "unreadable",
            first.unreadable,
            first.left,
        )
    assert len(judge.requests) == asked
    assert (tmp_path / "r" / "rows.jsonl").read_bytes() == rows
    assert manifest_of(tmp_path / "r")["finished"] is None


def test_one_reply_with_a_verdict_ends_the_count_for_good_in_later_sessions_too(tmp_path: Path):
    replies: list[str] = [*[PROSE] * (FIRST - 1), "80", *[PROSE] * 200]
    judge = FakeChat(lambda _request: replies.pop(0))
    result = executed(tmp_path / "r", settings_of(judge), n=30, concurrency=1)
    assert (result.stopped, result.unreadable, len(judge.requests) > 2 * FIRST) == (None, (), True)
    again = executed(tmp_path / "r", settings_of(judge), n=60, concurrency=1)
    assert (again.stopped, again.unreadable) == (None, ())


def test_a_judge_whose_second_reply_can_be_read_is_not_stopped(tmp_path: Path):
    def second(request: ChatRequest) -> str:
        return PROSE if len(request.messages) < 4 else "70"

    result = executed(tmp_path / "r", settings_of(FakeChat(second)))
    assert (result.stopped, {row.score for row in result.rows()}) == (None, {0.7})


def test_errors_are_no_replies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("longmark.models.sending.wait_before", lambda *_: 0.0)
    result = executed(
        tmp_path / "r", settings_of(FakeChat(lambda _request: ServerFault("down"))), n=30
    )
    assert (result.stopped, result.unreadable) == (None, ())


def test_sessions_count_together(tmp_path: Path):
    judge = FakeChat(PROSE)
    for _ in range(5):
        executed(tmp_path / "r", settings_of(judge), budget=Budget(max_calls=6), concurrency=1)
    assert len(judge.requests) == FIRST
    assert executed(tmp_path / "r", settings_of(judge)).stopped == "unreadable"


def test_one_unreadable_judge_of_a_jury_stops_the_run(tmp_path: Path):
    good, bad = FakeChat("80", name="good"), FakeChat(PROSE, name="bad")
    result = executed(tmp_path / "r", settings_of(good, bad))
    assert stopped(result, bad)
    assert [(one.judge, one.metrics) for one in result.unreadable] == [("bad", (QR,))]
    assert len(good.requests) <= FIRST // 2 + 2 * 16  # the examples in progress


def test_one_unreadable_metric_of_several_stops_the_run_and_is_named(tmp_path: Path):
    density = "ccrs.information_density"
    judge = FakeChat(lambda request: PROSE if "how dense" in str(request) else "80")
    given = [{**one, "contexts": ["It is."]} for one in records(60)]
    result = executed(tmp_path / "r", settings_of(judge, metrics=f"{QR},{density}"), given=given)
    assert (result.stopped, [one.metrics for one in result.unreadable]) == (
        "unreadable",
        [(density,)],
    )


def test_a_step_that_never_has_a_verdict_stops_a_metric_whose_other_steps_have(tmp_path: Path):
    def first_step_only(request: ChatRequest) -> str:
        return '{"claims": ["It is a number."]}' if "claims" in str(request.schema) else PROSE

    judge = FakeChat(first_step_only)
    given = [{**one, "contexts": ["It is."], "references": ["It is so."]} for one in records(40)]
    result = executed(tmp_path / "r", settings_of(judge, metrics="ragchecker"), given=given)
    (one,) = result.unreadable
    assert (result.stopped, one.metrics) == ("unreadable", ("ragchecker",))
    assert one.prompt in str(one)
    assert (
        len([request for request in judge.requests if "claims" not in str(request.schema)])
        <= FIRST + 1
    )


def test_keep_going_lifts_it_and_another_session_without_it_stops_at_once(tmp_path: Path):
    judge = FakeChat(PROSE)
    executed(tmp_path / "r", settings_of(judge))
    result = executed(tmp_path / "r", settings_of(judge), keep_going=True)
    asked = len(judge.requests)
    assert (result.stopped, len(list(result.rows())), asked) == (None, 40, 80)
    assert [one.judge for one in result.unreadable] == [judge.name]
    finished = executed(tmp_path / "r", settings_of(judge))
    assert (finished.stopped, len(judge.requests)) == (None, asked)
    assert executed(tmp_path / "r", settings_of(judge), n=50).stopped == "unreadable"
    assert len(judge.requests) == asked


def test_a_judge_that_was_repaired_is_asked_again_with_retry(tmp_path: Path):
    executed(tmp_path / "r", settings_of(FakeChat(PROSE)))
    still = FakeChat(PROSE)
    assert stopped(executed(tmp_path / "r", settings_of(still), retry=["unparsable"]), still)
    assert len(still.requests) >= FIRST
    result = executed(tmp_path / "r", settings_of(FakeChat("80")), retry=["unparsable"])
    assert (result.stopped, result.unreadable) == (None, ())
    assert [row.score for row in result.rows()] == [0.8] * 40


def test_replies_out_of_the_cache_do_not_count_against_a_judge_and_cost_nothing(tmp_path: Path):
    judge = FakeChat(PROSE)
    executed(tmp_path / "first", settings_of(judge), keep_going=True)
    asked = len(judge.requests)
    result = executed(tmp_path / "second", settings_of(judge))
    assert (result.stopped, len(judge.requests)) == (None, asked)
    assert stopped(
        executed(tmp_path / "third", settings_of(judge), n=200), judge, at_most=asked + FIRST + 1
    )


def test_what_was_counted_is_on_the_disk_before_the_session_ends(tmp_path: Path):
    seen = []

    def look(_request: ChatRequest) -> str:
        kept = manifest_of(tmp_path / "r")["verdicts"]
        seen.append(
            sum(
                leaf["unreadable"]
                for its in kept.values()
                for of in its.values()
                for leaf in of.values()
            )
        )
        return PROSE

    executed(tmp_path / "r", settings_of(FakeChat(look)), concurrency=1)
    assert seen == list(range(FIRST))


def test_in_python_the_result_names_the_judge(tmp_path: Path):
    options: dict[str, Any] = {
        "judges": FakeChat(PROSE),
        "out": tmp_path / "r",
        "cache": tmp_path / "calls.sqlite",
    }
    result = longmark.run(records(60), metrics=QR, **options)
    assert (result.stopped, result.unreadable[0].replies) == ("unreadable", (PROSE,) * 3)
    assert longmark.run(records(60), metrics=QR, keep_going=True, **options).stopped is None


def test_a_study_stops_with_the_run_and_continues_when_it_may(tmp_path: Path):
    judge, cache = FakeChat(PROSE), CallCache(tmp_path / "calls.sqlite")
    given = write_jsonl(tmp_path / "given.jsonl", records(60))

    def carried(**options: Any) -> StudyStopped | None:
        session = StudySession(cache, **options)
        stages = [
            scoring_stage(
                f"scores: {name}", tmp_path / "study" / name, given, settings_of(judge), session
            )
            for name in ("a", "b")
        ]
        return carry_out(
            PaperStudy(tmp_path / "study", "small", {}, stages, session, lambda _stages: None)
        ).stopped

    for _ in range(2):
        stop = carried()
        assert stop is not None
        assert (stop.why, len(judge.requests) <= FIRST + 1) == ("unreadable", True)
        assert PROSE in str(stop)
    assert carried(keep_going=True) is None
    cache.close()


def test_the_command_shows_three_replies_and_what_to_do_and_the_page_says_it_once(tmp_path: Path):
    write_jsonl(tmp_path / "given.jsonl", records(30))
    with serve(reply=PROSE) as server:
        done = [
            run(*judged(server, "--quiet", *more), home=tmp_path / "home")
            for more in ((), (), ("--keep-going",))
        ]
        assert [one.code for one in done] == [5, 5, 4]
        assert (done[0].err, done[0].err.count(PROSE)) == (done[1].err, 3)
        assert "--keep-going" in done[0].err
        assert [one["stopped"] for one in manifest_of(tmp_path / "out")["sessions"]] == [
            "unreadable",
            "unreadable",
            None,
        ]
    assert {row.status for row in rows_of(tmp_path / "out")} == {"unparsable"}
    run("report", "out", "--out", "page.html", home=tmp_path / "home")
    shown = (tmp_path / "page.html").read_text()
    assert len(re.findall("none of the first [0-9]+ replies", shown)) == 1
    assert [answer.count("could not be read") for answer in answers_on(tmp_path / "page.html")] == [
        0
    ] * 30


# The counts -----------------------------------------------------------------------------------------------------------


def counted(*heard: tuple[str, str, str, bool, bool]) -> Verdicts:
    verdicts = Verdicts()
    for metric, judge, prompt, read, sent in heard:
        verdicts.hear(AskedPrompt(judge, metric, prompt), "x" * 1000, read=read, sent=sent)
    return verdicts


@pytest.mark.parametrize(
    ("heard", "found"),
    [
        ([("m", "j", "p", False, True)] * 19, []),
        ([("m", "j", "p", False, True)] * 20, [("m", "p", 20)]),
        ([("m", "j", "p", False, True)] * 99, [("m", "p", 99)]),
        ([("m", "j", "p", False, False)] * 99, []),
        (
            [("m", "j", "p", False, True)] * 19
            + [("m", "j", "p", True, False), ("m", "j", "p", False, True)] * 9,
            [],
        ),
        ([("m", "j", "p", False, True), ("m", "j", "q", False, True)] * 10, [("m", "", 20)]),
        ([("m", "j", "p", False, True), ("n", "j", "p", False, True)] * 10, [("m,n", "p", 20)]),
        ([("m", "j", "p", False, True), ("m", "k", "p", False, True)] * 10, []),
        ([("n", "j", "p", True, True)] + [("m", "j", "p", False, True)] * 20, [("m", "p", 20)]),
        ([("m", "j", "q", True, True)] + [("m", "j", "p", False, True)] * 20, [("m", "p", 20)]),
        (
            [("m", "j", "q", True, True)]
            + [("m", "j", "p", False, True), ("n", "j", "p", False, True)] * 10,
            [],
        ),
    ],
)
def test_a_judge_is_counted_by_run_metric_and_prompt(heard: list[Any], found: list[Any]):
    verdicts = counted(*heard)
    assert [
        (",".join(one.metrics), one.prompt, one.count) for one in verdicts.unreadable()
    ] == found
    assert list(unreadable(orjson.loads(orjson.dumps(verdicts.kept)))) == verdicts.unreadable()
    assert all(len(text) == 201 for one in verdicts.unreadable() for text in one.replies)
    verdicts.forget()
    assert verdicts.unreadable() == []


def test_counts_of_parts_are_added_and_a_verdict_in_one_ends_them():
    parts = [
        counted(*[("m", "j", "p", False, True)] * n, *[("n", "j", "p", n > 9, True)]).kept
        for n in (4, 17)
    ]
    whole = together([*parts, {"j": {"m": 1}}, None])
    assert (whole["j"]["m"]["p"]["unreadable"], len(whole["j"]["m"]["p"]["replies"])) == (21, 3)
    assert whole["j"]["n"]["p"] == {"unreadable": 0}
    assert [(one.metrics, one.count) for one in unreadable(whole)] == [(("m",), 21)]
    assert together(parts[:1]) == parts[0]
    assert Verdicts(whole).read_before == {AskedPrompt("j", "n", "p"), AskedPrompt("j", "n", "")}


@pytest.mark.parametrize(
    "kept",
    [
        None,
        [],
        "x",
        {"j": 1},
        {"j": {"m": 1}},
        {"j": {"m": {"p": 1}}},
        {"j": {"m": {"p": {"unreadable": "x", "replies": 3}}}},
    ],
)
def test_a_manifest_of_another_form_says_nothing(kept: Any):
    assert list(unreadable(kept)) == []
    assert Verdicts(kept).hear(AskedPrompt("j", "m", "p"), "", read=False, sent=True)
