"""Reasons: read beside the score, missing where there is none, and never a part of the score."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wire import serve

import longmark
from longmark import cli, judged
from longmark.errors import RequestRefused, ServerFault, SettingsChanged, UserError
from longmark.judge import Unreadable
from longmark.judging import Judging
from longmark.models.protocols import Capabilities, ChatReply, TokenLogprobs
from longmark.records import Context, Example
from longmark.testing import FakeChat, Scored, score_sync

QR = "ccrs.question_relevance"
EXAMPLE = Example(
    question="Why is the sky blue?",
    answer="Air scatters blue light more.",
    contexts=(Context(text="Rayleigh."),),
)
RECORD = {"question": EXAMPLE.question, "answer": EXAMPLE.answer}
REPLY = {"reason": "It names scattering.", "quotes": ["Air scatters"], "score": 80}
PROMPTS = judged.score_prompts("test.grade", ("answer",), number="Grade it.", yes_no="Is it good?")


def scored(judge: Any, metric: str = QR, **options: Any) -> Scored:
    return next(
        iter(
            score_sync(
                metric, EXAMPLE, judge=judge, judging=Judging(**{"reasons": True, **options})
            ).values()
        )
    )


def read(reply: Any) -> tuple[float, dict[str, Any]]:
    return PROMPTS.reasoned.read(ChatReply(reply if isinstance(reply, str) else json.dumps(reply)))


def test_the_reason_and_the_quotes_come_before_the_score_and_are_evidence():
    judge = FakeChat(json.dumps(REPLY))
    one = scored(judge)
    assert one.value == 0.8
    (shown,) = one.evidence["judges"]
    assert (shown["reason"], shown["quotes"], shown["score"]) == (
        "It names scattering.",
        ["Air scatters"],
        0.8,
    )
    (request,) = judge.requests
    assert request.schema is not None
    assert (
        list(request.schema["properties"])
        == ["reason", "quotes", "score"]
        == request.schema["required"]
    )
    assert request.max_tokens == judged.REASON_TOKENS


@pytest.mark.parametrize("reply", ["80", "Score: 80/100", "It is on the topic.\nscore: 80"])
def test_a_score_alone_counts_and_the_evidence_says_that_the_reason_is_missing(reply: str):
    one = scored(FakeChat(reply))
    assert one.value == 0.8
    (shown,) = one.evidence["judges"]
    assert (shown["reason"], shown["no_reason"]) == (None, "the reply is only a score")


@pytest.mark.parametrize(
    "reply",
    [
        {**REPLY, "score": 101},
        {**REPLY, "score": True},
        {**REPLY, "score": "high"},
        {**REPLY, "score": None},
        {"reason": "no score"},
        {**REPLY, "reason": 5},
        {**REPLY, "quotes": "one"},
        json.dumps(REPLY) + "\nscore: 100",
        f"The answer says {json.dumps(REPLY)}",
        '{"reason": "cut',
    ],
)
def test_a_reply_that_is_not_the_object_is_no_score(reply: Any):
    with pytest.raises(Unreadable):
        read(reply)


@pytest.mark.parametrize(
    "reply", [REPLY, {**REPLY, "score": 80.0}, {**REPLY, "score": "80/100", "confidence": 1}]
)
def test_a_score_is_read_from_the_object_as_from_a_reply_of_its_own(reply: Any):
    assert read(reply)[0] == 0.8
    assert read(f"```json\n{json.dumps(reply, indent=1)}\n```")[0] == 0.8


@settings(max_examples=50)
@given(st.text(), st.lists(st.text(), max_size=3), st.integers(0, 100))
def test_whatever_the_reason_says_the_score_is_that_of_its_key(
    reason: str, quotes: list[str], score: int
):
    value, more = read({"reason": reason, "quotes": quotes, "score": score})
    assert value == score / 100
    assert more["reason"] == (reason.strip() or None)


def test_two_unreadable_objects_are_no_score_with_both_replies():
    one = scored(FakeChat(json.dumps({**REPLY, "score": 400})))
    assert (one.value, one.status) == (None, "unparsable")
    assert "400 is not between 0 and 100" in (one.reason or "")
    assert len(one.evidence["judges"][0]["replies"]) == 2


# With probabilities: the reason is a second call ----------------------------------------------------------------


YES = ChatReply(
    "yes",
    logprobs=(
        TokenLogprobs("yes", math.log(0.9), (("yes", math.log(0.9)), ("no", math.log(0.1)))),
    ),
)


def by_turn(second: Any) -> Any:
    return lambda request: second if len(request.messages) > 2 else YES


def expected(second: Any) -> tuple[Scored, FakeChat]:
    judge = FakeChat(by_turn(second), capabilities=Capabilities(logprobs=20))
    return scored(judge, scoring="expected"), judge


def test_with_probabilities_the_reason_follows_the_score_and_its_question():
    one, judge = expected(ChatReply(json.dumps({"reason": "It answers.", "quotes": []})))
    assert one.value == pytest.approx(0.9)
    assert one.evidence["judges"][0]["reason"] == "It answers."
    first, second = judge.requests
    assert second.messages[:2] == first.messages
    assert [m.role for m in second.messages] == ["system", "user", "assistant", "user"]
    assert second.messages[2].content == "yes"
    assert (second.logprobs, (second.schema or {})["required"]) == (0, ["reason", "quotes"])


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (ChatReply("It is good."), "could not be read"),
        (ChatReply('{"reason": " "}'), "is empty"),
        (ChatReply("", refusal="no"), "declined: no"),
        (RequestRefused("400: too much"), "400: too much"),
    ],
)
def test_a_reason_that_cannot_be_had_leaves_the_score(second: Any, why: str):
    one, _ = expected(second)
    assert one.value == pytest.approx(0.9)
    assert one.evidence["judges"][0]["reason"] is None
    assert why in one.evidence["judges"][0]["no_reason"]


def test_an_endpoint_that_fails_over_the_reason_is_asked_again_by_the_next_session(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("longmark.models.sending.wait_before", lambda attempt, after, rng: 0.0)
    one, _ = expected(ServerFault("503"))
    assert (one.value, one.status) == (None, "model_error")


# Which runs ask for them ----------------------------------------------------------------------------------------


def run(out: Path, judges: Any, **options: Any) -> longmark.Row:
    examples = [RECORD]
    cache = out.parent / "calls.sqlite"
    return next(longmark.run(examples, QR, out=out, judges=judges, cache=cache, **options).rows())


def test_judges_at_endpoints_give_reasons_unless_told_otherwise(tmp_path: Path):
    with serve(reply="70") as server:
        with_reasons = run(tmp_path / "a", f"m@{server.base_url}")
        without = run(tmp_path / "b", f"m@{server.base_url}", reasons=False)
        expected = run(tmp_path / "c", f"m@{server.base_url}", scoring="expected")
        mixed = run(tmp_path / "d", [f"m@{server.base_url}", FakeChat("70")])
    assert with_reasons.signature.params["reasons"] is True
    assert set(with_reasons.signature.prompts) == {"system", f"{QR}.reasons"}
    assert with_reasons.evidence["judges"][0]["reason"]
    assert set(without.signature.prompts) == {"system", QR}
    assert all("reasons" not in row.signature.params for row in (without, expected, mixed))
    assert with_reasons.score == without.score == mixed.score == 0.7


def test_a_run_is_resumed_with_the_reasons_it_began_with(tmp_path: Path):
    judge = FakeChat(json.dumps(REPLY))
    run(tmp_path / "old", FakeChat("70", name="fake"))
    with pytest.raises(SettingsChanged, match=f"reasons=: added: {QR}"):
        run(tmp_path / "old", judge, reasons=True)
    run(tmp_path / "new", judge, reasons=True)
    with pytest.raises(SettingsChanged, match=f"reasons=: removed: {QR}"):
        run(tmp_path / "new", judge)
    assert json.loads((tmp_path / "new" / "manifest.json").read_bytes())["fixed"]["judging"][
        "reasons"
    ] == [QR]


def test_reasons_of_metrics_that_ask_no_judge_are_refused(tmp_path: Path):
    with pytest.raises(UserError, match="no selected metric is a judge's score"):
        longmark.run([{"answer": "A."}], "score.readability", out=tmp_path / "run", reasons=True)
    with pytest.raises(UserError, match="reasons='yes': expected True, False or None"):
        run(tmp_path / "run", FakeChat("70"), reasons="yes")


def test_a_rubric_says_whether_its_judges_give_reasons_and_the_option_goes_before(tmp_path: Path):
    of = {"name": "own", "question": "Is it kind?", "scale": {"rude": 0, "kind": 1}}
    judge = FakeChat(json.dumps({**REPLY, "score": "kind"}))
    examples = [RECORD]

    def reasons(key: bool | None, option: bool | None) -> Any:
        content = of if key is None else {**of, "reasons": key}
        (tmp_path / "own.yaml").write_text(json.dumps(content))
        out, cache = tmp_path / f"{key}-{option}", tmp_path / "calls.sqlite"
        model = judge if (key if option is None else option) else FakeChat("kind", name="short")
        chosen = longmark.run(
            examples, str(tmp_path / "own.yaml"), out=out, judges=model, cache=cache, reasons=option
        )
        row = next(chosen.rows())
        assert row.score == 1
        return row.signature.params.get("reasons"), row.signature.params["source"]

    found = [
        reasons(key, option)
        for key, option in [(None, None), (True, None), (True, False), (None, True)]
    ]
    assert [given for given, _ in found] == [None, True, None, True]
    assert len({source for _, source in found}) == 1  # the criterion is the same


def test_each_criterion_of_a_rubric_has_its_own_reason(tmp_path: Path):
    (tmp_path / "two.yaml").write_text(
        "name: two\ncriteria:\n- {name: a, question: Is it long, scale: 1-5}\n- {name: b, question: Is it short}\n"
    )
    judge = FakeChat(
        lambda request: json.dumps(
            {**REPLY, "score": 4 if "long" in request.messages[-1].content else 50}
        )
    )
    scores = score_sync(
        str(tmp_path / "two.yaml"), EXAMPLE, judge=judge, judging=Judging(reasons=True)
    )
    assert [scores[f"two.{name}"].value for name in "ab"] == [4, 50]
    assert all(
        scores[f"two.{name}"].evidence["judges"][0]["reason"] == REPLY["reason"] for name in "ab"
    )
    of_a = next(
        request.schema for request in judge.requests if "long" in request.messages[-1].content
    )
    assert of_a is not None
    assert of_a["properties"]["score"] == {"type": "string", "enum": ["1", "2", "3", "4", "5"]}


def test_prompts_of_a_rubric_are_listed_shown_and_written_as_files_that_replace_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "own.yaml").write_text("name: own\nquestion: Is it worth $5\nscale: yes/no\n")
    of = ["--metrics", str(tmp_path / "own.yaml")]
    names = ["system", "own", "own.expected", "own.reasons", "reason"]
    assert cli.main(["prompts", *of]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == names
    assert cli.main(["prompts", "own.reasons", *of]) == 0
    assert '"score": one of these: yes, no' in capsys.readouterr().out
    assert cli.main(["prompts", *of, "--out", str(tmp_path / "texts")]) == 0
    assert capsys.readouterr().out == f"5 prompts: {tmp_path / 'texts'}\n"
    assert "worth $$5" in (tmp_path / "texts" / "own.txt").read_text()
    assert cli.main(["prompts", *of, "--prompts", str(tmp_path / "texts")]) == 0
    assert "replaced" not in capsys.readouterr().out  # the hashes are those of our texts
    assert cli.main(["prompts", "own", *of, "--out", str(tmp_path / "texts")]) == 2
    assert "own.txt exist; move them" in capsys.readouterr().err
    assert cli.main(["prompts", "own"]) == 2
    assert "longmark prompts --metrics rubric.yaml" in capsys.readouterr().err


def test_a_dry_run_counts_the_larger_replies_and_the_second_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "e.jsonl").write_text(json.dumps({"question": "Q?", "answer": "A."}))

    def estimate(*options: str) -> list[str]:
        where = [
            "--judge",
            "m@http://127.0.0.1:9/v1",
            "--cache",
            str(tmp_path / "calls.sqlite"),
            "--dry-run",
        ]
        assert cli.main(["run", str(tmp_path / "e.jsonl"), "--metrics", QR, *where, *options]) == 0
        line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith(QR))
        _, _, _, calls, _, _, _, _, completion, *_ = line.split()  # at most
        return [calls, completion]

    assert estimate() == ["1", "512"]
    assert estimate("--no-reasons") == ["1", "64"]
    assert estimate("--scoring", "expected") == ["1", "1"]
    assert estimate("--scoring", "expected", "--reasons") == ["2", "513"]


def test_scores_with_reasons_are_verified_from_stored_replies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "e.jsonl").write_text(json.dumps(RECORD))
    cache = ["--cache", str(tmp_path / "calls.sqlite")]
    with serve() as server:
        for scoring in ("text", "expected"):
            options = [
                "--judge",
                f"{scoring}@{server.base_url}",
                "--reasons",
                "--scoring",
                scoring,
                "--quiet",
                *cache,
            ]
            out = str(tmp_path / scoring)
            assert (
                cli.main(
                    ["run", str(tmp_path / "e.jsonl"), "--metrics", QR, "--out", out, *options]
                )
                == 0
            )
            capsys.readouterr()
            assert cli.main(["verify", out, *cache]) == 0
            assert capsys.readouterr().out == "1 of 1 row verified · 0 differ · 0 not verifiable\n"
