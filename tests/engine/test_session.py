"""A run from its examples to its rows: resumed, changed, stopped, over budget, on models whose replies are known."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.report.runs import row

from longmark.engine.estimate import dry_run
from longmark.engine.folder import ExampleChanges
from longmark.engine.session import RunResult, execute
from longmark.engine.settings import SessionOptions, Settings, check, choose
from longmark.errors import (
    BadInput,
    FolderInUse,
    RequestRefused,
    ServerFault,
    SettingsChanged,
    TooLong,
    UserError,
)
from longmark.judging import Judging
from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.client import Counts
from longmark.models.fake import FakeChat
from longmark.models.handles import Backends
from longmark.models.protocols import Capabilities, ChatReply
from longmark.prompts import PromptBook
from longmark.records import Row, Usage

QR, FRE, FKGL = (
    "ccrs.question_relevance",
    "score.readability.reading_ease",
    "score.readability.grade_level",
)


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("longmark.models.sending.wait_before", lambda attempt, after, rng: 0.0)


def records(n: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"id": str(i), "question": f"What is {i}?", "answer": f"It is the number {i}.", **more}
        for i in range(n)
    ]


def settings_of(judge: FakeChat | None, *names: str, **more: Any) -> Settings:
    selected = choose(names or (QR, "score.readability"))
    how = Judging(**{name: more.pop(name) for name in ("scoring", "seed") if name in more})
    made = Settings(
        selected, Backends(judges=(judge,) if judge else ()), PromptBook(), judging=how, **more
    )
    check(made)
    return made


def executed(
    out: Path,
    given: Iterable[Any] | Path,
    settings: Settings,
    cache: Path | None = None,
    **options: Any,
) -> RunResult:
    store = CallCache(cache or out.parent / "calls.sqlite")
    try:
        return asyncio.run(
            execute(given, settings, out, store, SessionOptions(quiet=True, **options))
        )
    finally:
        store.close()


def rows_of(out: Path) -> list[Row]:
    return [Row.from_json(line) for line in (out / "rows.jsonl").read_bytes().splitlines()]


def test_every_example_and_value_has_one_row_in_order(tmp_path: Path):
    judge = FakeChat("80")
    result = executed(tmp_path / "r", records(5), settings_of(judge))
    rows = rows_of(tmp_path / "r")
    assert [(row.example_id, row.metric) for row in rows] == [
        (str(i), metric) for i in range(5) for metric in (QR, FRE, FKGL)
    ]
    assert all(row.status == "ok" and row.score is not None and row.system == "r" for row in rows)
    assert list(result.rows()) == rows
    assert len(judge.requests) == 5
    assert (result.stopped, result.unscored, result.inapplicable, result.counts.calls) == (
        None,
        (),
        (),
        5,
    )
    assert rows[0].signature.models == {"judge": ["fake"]}
    assert rows[0].signature.params == {"scoring": "text", "temperature": 0.0}
    assert set(rows[0].signature.prompts) == {"system", QR}
    shown = sorted(p.name for p in (tmp_path / "r").iterdir() if not p.name.startswith("."))
    assert shown == ["examples.jsonl", "manifest.json", "rows.jsonl"]


def test_one_value_of_a_metric_can_be_asked_for(tmp_path: Path):
    executed(tmp_path / "r", records(2), settings_of(None, FKGL))
    assert [row.metric for row in rows_of(tmp_path / "r")] == [FKGL, FKGL]


def test_the_same_again_calls_nothing_and_changes_nothing(tmp_path: Path):
    judge = FakeChat("80")
    executed(tmp_path / "r", records(5), settings_of(judge))
    before = (tmp_path / "r" / "rows.jsonl").read_bytes()
    result = executed(tmp_path / "r", records(5), settings_of(judge))
    assert (tmp_path / "r" / "rows.jsonl").read_bytes() == before
    assert len(judge.requests) == 5
    assert result.counts.requests == 0
    assert len(orjson.loads((tmp_path / "r" / "manifest.json").read_bytes())["sessions"]) == 2


def test_the_progress_of_a_resumed_run_counts_the_unscored_rows_that_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    unanswered = {"id": "none", "question": "What is it?", "answer": None}
    settings = settings_of(FakeChat("80"), QR)
    executed(tmp_path / "r", [unanswered, *records(1)], settings)
    with closing(CallCache(tmp_path / "calls.sqlite")) as store:
        more = [unanswered, *records(2)]
        asyncio.run(execute(more, settings, tmp_path / "r", store, SessionOptions()))
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("3/3 rows")
    assert last.endswith("1 unscored")


def test_another_folder_is_served_by_the_cache_and_says_what_was_first_paid(tmp_path: Path):
    judge = FakeChat("80")
    executed(tmp_path / "a", records(5), settings_of(judge))
    result = executed(tmp_path / "b", records(5), settings_of(judge))
    assert len(judge.requests) == 5
    assert (result.counts.calls, result.counts.from_cache) == (0, 5)
    a, b = rows_of(tmp_path / "a"), rows_of(tmp_path / "b")
    assert [row.usage.prompt_tokens for row in a] == [row.usage.prompt_tokens for row in b]
    assert (a[0].usage.from_cache, b[0].usage.from_cache) == (0, 1)


def test_a_shared_call_counts_for_the_row_that_asked_first(tmp_path: Path):
    twins = [{**record, "id": f"{record['id']}-{i}"} for i in range(2) for record in records(1)]
    executed(tmp_path / "r", twins, settings_of(FakeChat("80"), QR))
    first, second = rows_of(tmp_path / "r")
    assert first.usage.prompt_tokens > 0
    assert (second.usage.calls, second.usage.from_cache, second.usage.prompt_tokens) == (1, 1, 0)


def test_only_failed_calls_are_made_again(tmp_path: Path):
    broken = True

    def answer(request: Any) -> Any:
        text = request.messages[1].content
        if "number 1." in text:
            return RequestRefused("not today", 400) if broken else "70"
        return "no number" if "number 2." in text else "80"

    judge = FakeChat(answer)
    executed(tmp_path / "r", records(3), settings_of(judge, QR))
    assert [row.status for row in rows_of(tmp_path / "r")] == ["ok", "model_error", "unparsable"]
    asked = len(judge.requests)
    broken = False
    executed(tmp_path / "r", records(3), settings_of(judge, QR))
    assert [row.status for row in rows_of(tmp_path / "r")] == ["ok", "ok", "unparsable"]
    assert len(judge.requests) == asked + 1
    assert rows_of(tmp_path / "r")[2].evidence["judges"][-1]["replies"] == [
        "no number",
        "no number",
    ]
    executed(tmp_path / "elsewhere", records(3), settings_of(judge, QR))
    assert len(judge.requests) == asked + 1  # unparsable replies are paid for and in the cache
    readable = FakeChat("60")
    executed(tmp_path / "r", records(3), settings_of(readable, QR), retry=["unparsable"])
    assert len(readable.requests) == 1  # asked anew, because the user said so
    assert [row.score for row in rows_of(tmp_path / "r")] == [0.8, 0.7, 0.6]


def test_a_text_that_is_too_long_is_not_asked_about_again_unless_the_user_says_so(tmp_path: Path):
    window = 10

    def answer(request: Any) -> Any:
        text = request.messages[1].content
        return (
            TooLong(f"at most {window} tokens", 400)
            if "number 1." in text and window == 10
            else "80"
        )

    judge, other = FakeChat(answer), FakeChat("60", name="other")
    settings = settings_of(judge, QR)
    both = Settings(settings.selected, Backends(judges=(other, judge)))
    executed(tmp_path / "r", records(2), both)
    found = rows_of(tmp_path / "r")
    assert [(row.score, row.status, row.reason) for row in found] == [
        (0.7, "ok", None),
        (None, "too_long", "at most 10 tokens"),
    ]
    asked = len(judge.requests), len(other.requests)
    again = executed(tmp_path / "r", records(2), both)
    assert (again.counts.requests, (len(judge.requests), len(other.requests))) == (0, asked)
    window = 20  # the server was started anew, say
    executed(tmp_path / "r", records(2), both, retry=["too_long"])
    assert [row.score for row in rows_of(tmp_path / "r")] == [0.7, 0.7]
    # the other judge's reply was sound: it comes from the cache
    assert (len(judge.requests), len(other.requests)) == (asked[0] + 1, asked[1])


def test_a_text_that_is_shortened_is_scored(tmp_path: Path):
    judge = FakeChat(
        lambda request: TooLong("long") if "number 0." in request.messages[1].content else "80"
    )
    executed(tmp_path / "r", records(1), settings_of(judge, QR))
    assert [row.status for row in rows_of(tmp_path / "r")] == ["too_long"]
    executed(tmp_path / "r", [{**records(1)[0], "answer": "Zero."}], settings_of(judge, QR))
    assert [row.score for row in rows_of(tmp_path / "r")] == [0.8]


def test_new_examples_are_marked_changed_ones_again_removed_ones_reported(tmp_path: Path):
    judge = FakeChat("80")
    told: list[str] = []
    executed(tmp_path / "r", records(4), settings_of(judge, QR))
    now = records(6)[1:]  # 0 is gone, 4 and 5 are new
    now[0]["answer"] = "It is another number."  # 1 is changed
    result = executed(tmp_path / "r", now, settings_of(judge, QR), tell=told.append)
    assert (result.changes.new, result.changes.changed, result.changes.removed) == (2, 1, 1)
    assert [row.example_id for row in rows_of(tmp_path / "r")] == ["1", "2", "3", "4", "5"]
    assert len(judge.requests) == 4 + 3
    assert any("no longer in the input" in line for line in told)
    assert any("changed" in line for line in told)


def test_a_larger_limit_goes_on(tmp_path: Path):
    judge = FakeChat("80")
    executed(tmp_path / "r", records(10), settings_of(judge, QR), limit=3)
    executed(tmp_path / "r", records(10), settings_of(judge, QR), limit=5)
    assert len(judge.requests) == 5
    assert len(rows_of(tmp_path / "r")) == 5


def test_a_torn_last_line_is_marked_again(tmp_path: Path):
    judge = FakeChat("80")
    executed(tmp_path / "r", records(3), settings_of(judge, QR))
    path = tmp_path / "r" / "rows.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    executed(tmp_path / "r", records(3), settings_of(judge, QR))
    assert [row.example_id for row in rows_of(tmp_path / "r")] == ["0", "1", "2"]
    assert len(judge.requests) == 3  # the reply was in the cache


def test_other_settings_are_refused_with_the_difference(tmp_path: Path):
    executed(tmp_path / "r", records(1), settings_of(FakeChat("80"), "ccrs.answer_correctness"))
    for other, shown in (
        (
            settings_of(FakeChat("80"), QR),
            "metrics=: was ccrs.answer_correctness, now ccrs.question_relevance",
        ),
        (
            settings_of(FakeChat("80", name="b"), "ccrs.answer_correctness"),
            "judges=: was fake, now b",
        ),
        (settings_of(FakeChat("80"), "ccrs.answer_correctness", seed=3), "seed=: was 0, now 3"),
        (
            settings_of(FakeChat("80"), "ccrs.answer_correctness@weight=0.5"),
            "metrics=: was ccrs.answer_correctness, now ccrs.answer_correctness@weight=0.5",
        ),
    ):
        with pytest.raises(SettingsChanged, match="other settings") as raised:
            executed(tmp_path / "r", records(1), other)
        assert shown in str(raised.value)


def test_what_is_missing_is_a_row_with_a_reason(tmp_path: Path):
    given = [
        {"id": "a", "question": "What?", "answer": None},
        {"id": "b", "answer": "It is."},
        {"id": "c", "question": "What?", "answer": ""},
        {"id": "d", "question": "What?", "answer": "It is.", "contexts": ["", "  "]},
        {"id": "e", "question": " \n", "answer": "It is."},
    ]
    executed(tmp_path / "r", given, settings_of(FakeChat("80"), QR, "ccrs.contextual_coherence"))
    found = {(row.example_id, row.metric): row for row in rows_of(tmp_path / "r")}
    assert found["a", QR].status == found["b", QR].status == "missing_input"
    assert found["a", QR].reason == "The example has no answer (null)."
    assert (found["e", QR].status, found["e", QR].reason) == (
        "missing_input",
        "The example has no question.",
    )
    assert found["c", QR].score == 0
    assert found["d", QR].score == 0.8
    assert found["d", "ccrs.contextual_coherence"].reason == "The example has no contexts."


def test_a_spent_budget_leaves_rows_with_a_reason_and_the_next_run_goes_on(tmp_path: Path):
    judge = FakeChat("80")
    result = executed(
        tmp_path / "r", records(5), settings_of(judge, QR, FKGL), budget=Budget(max_calls=2)
    )
    rows = rows_of(tmp_path / "r")
    assert len(rows) == 10
    assert (
        sorted(row.status for row in rows if row.metric == QR) == ["ok"] * 2 + ["over_budget"] * 3
    )
    assert all(row.status == "ok" for row in rows if row.metric == FKGL)  # it needs no call
    assert result.stopped == "budget"
    forecast = result.to_finish()
    assert forecast is not None
    per_row = rows_of(tmp_path / "r")
    taken = [row.usage for row in per_row if row.metric == QR and row.status == "ok"]
    assert (forecast[0].calls, forecast[1]) == (3, 3)
    assert forecast[0].prompt_tokens == -(-3 * sum(usage.prompt_tokens for usage in taken) // 2)
    result = executed(tmp_path / "r", records(5), settings_of(judge, QR, FKGL))
    assert result.to_finish() is None
    assert all(row.status == "ok" for row in rows_of(tmp_path / "r"))
    assert len(judge.requests) == 5


def test_the_same_options_give_every_session_the_whole_budget(tmp_path: Path):
    judge, options = FakeChat("80"), SessionOptions(quiet=True, budget=Budget(max_calls=2))
    store = CallCache(tmp_path / "calls.sqlite")
    left = []
    for _session in range(3):
        result = asyncio.run(
            execute(records(5), settings_of(judge, QR), tmp_path / "r", store, options)
        )
        left.append([row.status for row in result.rows()].count("over_budget"))
    store.close()
    assert left == [3, 1, 0]


def test_what_would_finish_a_run_counts_a_computation_with_several_scores_once(tmp_path: Path):
    """Of the two scores of a computation the first has its usage: 4 calls and $.50 an example, for two examples."""
    paid, none = Usage(calls=4, prompt_tokens=30, completion_tokens=10, usd=0.5), Usage()
    ended = [row("1", "m.a", 0.5, usage=paid), row("1", "m.b", 0.5, usage=none)]
    left = [
        row(one, name, None, status="over_budget", reason="no")
        for one in "23"
        for name in ("m.a", "m.b")
    ]

    def forecast(*rows: Row) -> tuple[Usage, int] | None:
        (tmp_path / "rows.jsonl").write_bytes(b"".join(one.to_json() + b"\n" for one in rows))
        return RunResult(tmp_path, Counts(), ExampleChanges(3, 0, 0, 0)).to_finish()

    assert forecast(*ended, *left) == (
        Usage(calls=8, prompt_tokens=60, completion_tokens=20, usd=1.0),
        4,
    )
    assert (
        forecast(*ended, *left, row("2", "other", None, status="over_budget", reason="no")) is None
    )
    assert forecast(*ended) is None


def test_a_metric_without_any_value_is_named(tmp_path: Path):
    result = executed(
        tmp_path / "r",
        records(2),
        settings_of(FakeChat(lambda _request: ServerFault("down", 500)), QR),
    )
    assert result.unscored == (QR,)
    assert {row.status for row in rows_of(tmp_path / "r")} == {"model_error"}


def test_what_a_judge_cannot_do_is_said_before_and_in_the_rows(tmp_path: Path):
    judge = FakeChat("80", capabilities=Capabilities(logprobs=0))
    told: list[str] = []
    executed(
        tmp_path / "r", records(2), settings_of(judge, QR, scoring="expected"), tell=told.append
    )
    assert "log-probabilities" in told[0]
    assert [row.status for row in rows_of(tmp_path / "r")] == ["unsupported"] * 2
    assert judge.requests == []


def test_an_empty_answer_is_0_whatever_the_judge_can_do(tmp_path: Path):
    judge = FakeChat("80", capabilities=Capabilities(logprobs=0))
    given = [
        {"id": "a", "question": "What?", "answer": ""},
        {"id": "b", "question": "What?", "answer": "It."},
    ]
    executed(tmp_path / "r", given, settings_of(judge, QR, scoring="expected"))
    assert [(row.score, row.status) for row in rows_of(tmp_path / "r")] == [
        (0.0, "ok"),
        (None, "unsupported"),
    ]


def test_damaged_examples_of_an_earlier_session_are_marked_again(tmp_path: Path):
    judge = FakeChat("80")
    executed(tmp_path / "r", records(3), settings_of(judge, QR))
    path = tmp_path / "r" / "examples.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"garbage\n" + b"".join(lines[1:]))
    executed(tmp_path / "r", records(3), settings_of(judge, QR))
    assert [row.example_id for row in rows_of(tmp_path / "r")] == ["0", "1", "2"]
    assert len(judge.requests) == 3  # the reply was in the cache


@pytest.mark.parametrize("change", [{"system": None}, {"sessions": 5}, {"fixed": []}])
def test_a_damaged_manifest_is_named_with_its_part(tmp_path: Path, change: dict[str, object]):
    executed(tmp_path / "r", records(1), settings_of(FakeChat("80"), QR))
    path = tmp_path / "r" / "manifest.json"
    path.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()) | change))
    with pytest.raises(
        UserError, match=rf"manifest\.json is damaged \({next(iter(change))} is missing"
    ):
        executed(tmp_path / "r", records(1), settings_of(FakeChat("80"), QR))


def test_what_a_killed_process_left_half_written_is_no_stranger(tmp_path: Path):
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / ".manifest.json.new").write_text("{")
    (tmp_path / "r" / ".examples.jsonl.new").write_text("{")
    assert executed(tmp_path / "r", records(1), settings_of(FakeChat("80"), QR)).stopped is None


def test_a_metric_without_any_example_is_named(tmp_path: Path):
    variant = {
        "id": "v",
        "question": "Which is 0?",
        "answer": "0.",
        "variant_of": "0",
        "variant": "paraphrase",
    }
    result = executed(tmp_path / "r", [variant], settings_of(FakeChat("80"), QR))
    assert rows_of(tmp_path / "r") == []
    assert (result.unscored, result.inapplicable) == ((), (QR,))


def test_metrics_in_another_order_are_the_same_run(tmp_path: Path):
    judge = FakeChat("80")
    executed(tmp_path / "r", records(2), settings_of(judge, QR, FKGL))
    executed(tmp_path / "r", records(2), settings_of(judge, FKGL, QR))
    assert len(judge.requests) == 2
    assert [row.metric for row in rows_of(tmp_path / "r")] == [FKGL, QR] * 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 0},
        {"limit": True},
        {"concurrency": 0},
        {"concurrency": "4"},
        {"budget": Budget(max_calls=-1)},
        {"budget": Budget(max_usd=0.0)},
        {"retry": "unparsable"},
        {"retry": ["ok"]},
        {"retry": ["unparseable"]},
    ],
)
def test_wrong_numbers_are_mistakes_of_the_user(tmp_path: Path, wrong: dict[str, Any]):
    with pytest.raises(UserError):
        executed(tmp_path / "r", records(1), settings_of(FakeChat("80"), QR), **wrong)
    assert not (tmp_path / "r").exists()


def test_one_judge_under_two_names_is_one_judge():
    from longmark.models.registry import Registry
    from longmark.options.groups import ModelNames

    with pytest.raises(UserError, match="given twice"):
        Registry().backends(
            ModelNames(judges=["m@http://127.0.0.1:9/v1", "m@http://127.0.0.1:9/v1/"])
        )
    with pytest.raises(UserError, match="expected its name or a backend"):
        Registry().backends(ModelNames(judges=[5]))  # type: ignore[list-item]


def test_a_refusal_is_a_status(tmp_path: Path):
    judge = FakeChat(lambda _request: ChatReply("", refusal="I would rather not"))
    executed(tmp_path / "r", records(1), settings_of(judge, QR))
    (row,) = rows_of(tmp_path / "r")
    assert (row.status, row.score) == ("refused", None)
    assert "rather not" in (row.reason or "")


def test_bad_input_stops_before_any_call_and_leaves_no_folder(tmp_path: Path):
    path = tmp_path / "bad.jsonl"
    lines = [orjson.dumps(record) for record in records(3)]
    lines[1] = b'{"question": 5, "answer": "It is."}'
    path.write_bytes(b"\n".join(lines))
    judge = FakeChat("80")
    with pytest.raises(BadInput) as raised:
        executed(tmp_path / "r", path, settings_of(judge, QR))
    assert raised.value.lines == (f"{path}:2: question: expected text, found 5",)
    assert judge.requests == []
    assert not (tmp_path / "r").exists()
    result = executed(tmp_path / "r", path, settings_of(judge, QR), skip_bad=True)
    assert result.skipped == 1
    assert [row.example_id for row in rows_of(tmp_path / "r")] == ["0", "2"]


def test_bad_input_leaves_an_earlier_run_as_it_was(tmp_path: Path):
    executed(tmp_path / "r", records(2), settings_of(FakeChat("80"), QR))
    before = {p.name: p.read_bytes() for p in (tmp_path / "r").iterdir()}
    twice = [*records(2), *records(1)]
    with pytest.raises(BadInput, match="already used"):
        executed(tmp_path / "r", twice, settings_of(FakeChat("80"), QR))
    assert {p.name: p.read_bytes() for p in (tmp_path / "r").iterdir()} == before


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path):
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="the folder holds other files"):
        executed(tmp_path / "r", records(1), settings_of(FakeChat("80"), QR))
    assert [p.name for p in (tmp_path / "r").iterdir()] == ["thesis.tex"]


def test_a_folder_in_use_is_refused_and_free_again_when_its_holder_dies(tmp_path: Path):
    (tmp_path / "r").mkdir()
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time; from pathlib import Path; from longmark.engine.folder import RunFolder\n"
            "with RunFolder(Path(sys.argv[1]), []): print('held', flush=True); time.sleep(60)",
            str(tmp_path / "r"),
        ],
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(FolderInUse):
            executed(tmp_path / "r", records(1), settings_of(FakeChat("80"), QR))
    finally:
        holder.kill()
        holder.wait()
    assert executed(tmp_path / "r", records(1), settings_of(FakeChat("80"), QR)).stopped is None


def test_a_dry_run_counts_calls_and_sends_none(tmp_path: Path):
    judge = FakeChat("80")
    executed(tmp_path / "r", records(2), settings_of(judge, QR, FKGL))
    store = CallCache(tmp_path / "calls.sqlite")
    before = {p.name: p.read_bytes() for p in (tmp_path / "r").iterdir()}
    found = asyncio.run(
        dry_run(records(5), settings_of(judge, QR, FKGL), tmp_path / "r", store, SessionOptions())
    )
    assert found.rows_done == 4
    assert (found.metrics[QR].rows, found.metrics[QR].calls, found.metrics[QR].cached) == (3, 3, 0)
    assert (found.total.rows, found.total.calls) == (6, 3)
    assert found.total.prompt_tokens > 100
    elsewhere = asyncio.run(
        dry_run(records(5), settings_of(judge, QR, FKGL), tmp_path / "new", store, SessionOptions())
    )
    assert (elsewhere.total.calls, elsewhere.total.cached) == (3, 2)
    assert len(judge.requests) == 2
    assert {p.name: p.read_bytes() for p in (tmp_path / "r").iterdir()} == before
    assert not (tmp_path / "new").exists()
    store.close()


def test_variants_are_left_to_the_metrics_that_run_on_them(tmp_path: Path):
    given = [*records(1), {"id": "v", "question": "Which is 0?", "answer": "0.", "variant_of": "0"}]
    executed(tmp_path / "r", given, settings_of(FakeChat("80"), QR))
    assert [row.example_id for row in rows_of(tmp_path / "r")] == ["0"]


def test_dollars_are_not_limited_where_no_price_is_known(tmp_path: Path):
    from longmark.models.http import Endpoint
    from longmark.models.http_models import HttpChat

    judge = HttpChat(Endpoint("http://127.0.0.1:9/v1"), "m", "m@http://127.0.0.1:9/v1")
    with pytest.raises(UserError, match="no price is known"):
        executed(tmp_path / "r", records(1), settings_of(judge, QR), budget=Budget(max_usd=1.0))  # type: ignore[arg-type]


def test_a_bug_is_a_row_that_names_it_and_is_made_again(tmp_path: Path):
    judge = FakeChat(lambda _request: ZeroDivisionError("ours"))
    result = executed(tmp_path / "r", records(3), settings_of(judge, QR, FRE))
    assert result.failed[QR][0] == 3
    assert result.failed[QR][1].startswith(
        "ccrs.question_relevance failed: ZeroDivisionError: ours ("
    )
    assert [row.status for row in rows_of(tmp_path / "r")] == ["metric_error", "ok"] * 3
    assert executed(tmp_path / "r", records(3), settings_of(FakeChat("80"), QR, FRE)).failed == {}
    assert [row.status for row in rows_of(tmp_path / "r")] == ["ok", "ok"] * 3


@pytest.mark.parametrize("name", ["ccrs.question_relevence", "ccr", "score.readability.grade", ""])
def test_unknown_metrics_are_refused(name: str):
    with pytest.raises(UserError):
        choose([name])


def test_names_select_all_that_stands_under_them():
    assert [c.name for c in choose(["ccrs"])] == [
        "ccrs.answer_correctness",
        "ccrs.contextual_coherence",
        "ccrs.information_density",
        "ccrs.information_recall",
        "ccrs.question_relevance",
    ]
    (both,) = choose([FKGL, FRE])
    assert list(both.scores) == [FRE, FKGL]


def test_a_metric_without_its_model_is_refused_before_the_run():
    with pytest.raises(UserError, match="judges=MODEL is missing"):
        settings_of(None, QR)
