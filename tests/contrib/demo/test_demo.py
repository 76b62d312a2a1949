"""`longmark demo`: what ships is complete, and what the command and its first page say."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("scipy")

from bench.demo_picture import ANSWER
from tests.program import in_process

import longmark
from longmark.contrib.demo.answers import Corpus
from longmark.contrib.demo.checked import FALSE, CheckedCorpus, Recording
from longmark.contrib.demo.page import detectable
from longmark.contrib.demo.recorded import (
    ANSWERS,
    CHECKS,
    JUDGED,
    NOW,
    RECORDED,
    SYSTEMS,
    RecordedChecker,
    RecordedJudge,
    judged_now,
    missed,
    unpacked,
)
from longmark.contrib.demo.steps import run_demo
from longmark.errors import RequestRefused
from longmark.models.fake import FakeChat
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest, TokenLogprobs
from longmark.records.example import DEFECT
from longmark.records.read import Reading
from longmark.records.write import read_rows
from longmark.report.support import sentences_view
from longmark.scores.manifest import read_manifest
from longmark.stats.results import Estimate
from longmark.text.sentences import sentences


def judge(_request: ChatRequest) -> ChatReply:
    return ChatReply("yes", logprobs=(TokenLogprobs("yes", -0.5, (("yes", -0.5), ("no", -1.5))),))


README = Path(__file__).parents[3] / "README.md"
FAKE = partial(FakeChat, judge, capabilities=Capabilities(logprobs=20))


def test_every_call_of_the_demo_is_recorded(tmp_path: Path):
    unpacked(RECORDED, cache := tmp_path / "calls.sqlite")
    again = "a prompt, a text or the judge has changed: record again, `python -m bench.demo_record`"
    assert missed(cache) == 0, again
    changed = tmp_path / "answers.jsonl"
    changed.write_text(
        ANSWERS.read_text("utf-8").replace("1.27 million", "1.28 million", 1), "utf-8"
    )
    assert missed(cache, changed) == len(JUDGED)
    assert RECORDED.stat().st_size < 5_000_000


def test_every_sentence_with_a_defect_is_recorded_for_the_claim_checker(tmp_path: Path):
    """A record of it costs two seconds of a processor for a passage: the prompt, the adapter and the models are in the
    keys."""
    unpacked(CHECKS, cache := tmp_path / "checks.sqlite")
    checked = CheckedCorpus.read(corpus := Corpus.read(), cache)
    touched = [
        label for labels in corpus.labels.values() for label in labels if label["new"].strip()
    ]
    again = (
        "a text, the prompt or the adapter has changed: record again, `python -m bench.demo_checks`"
    )
    assert len(checked.of_kinds(*FALSE, "padding")) == len(touched) == 46, again
    assert len(checked.score) == len(corpus.answers), (
        again
    )  # and a sentence without a defect of each answer
    assert CHECKS.stat().st_size < 1_000_000


def test_every_listed_fact_is_recorded_with_every_answer_and_with_each_deleted_fact_alone(
    tmp_path: Path,
):
    unpacked(CHECKS, cache := tmp_path / "checks.sqlite")
    recording, corpus = Recording.read(cache), Corpus.read()
    again = (
        "a text, the prompt or the adapter has changed: record again, `python -m bench.demo_checks`"
    )
    asked = (*corpus.answers, *corpus.beside("deleted"))
    assert all(recording.has_facts(example) for example in asked), again
    assert sum(len(example.reference_claims or ()) for example in corpus.answers) == 424


def test_a_claim_that_is_not_recorded_is_refused_with_the_remedy():
    with pytest.raises(RequestRefused, match=r"bench\.demo_checks"):
        asyncio.run(RecordedChecker().classify("The dam broke.", ["It held."]))


def test_a_call_that_is_not_recorded_is_refused_with_the_remedy():
    with pytest.raises(RequestRefused, match="longmark demo --live"):
        asyncio.run(RecordedJudge().chat(ChatRequest(())))


def test_without_a_model_the_live_part_says_which_command_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    live = judged_now(tmp_path)
    assert live.rows == ()
    assert "longmark models install judge" in live.reason or "embedded" in live.reason


def test_a_live_call_that_fails_is_a_reason_and_no_difference(tmp_path: Path):
    def fails(_request: ChatRequest) -> ChatReply:
        raise RequestRefused("the judge is asleep")

    for _ in range(2):  # the same folder: the second call begins anew
        live = judged_now(tmp_path, FakeChat(fails, capabilities=Capabilities(logprobs=20)))
    assert [each.name for each in tmp_path.iterdir() if each.is_dir()] == ["now"]
    assert live.rows == ()
    assert live.reason.startswith("levee-")
    assert "the judge is asleep" in live.reason


def test_the_demo_says_what_is_recorded_which_system_is_better_and_where_the_worst_answers_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "demo"
    assert run_demo(out, judge=FAKE()) == 0
    printed = capsys.readouterr().out
    assert "240 replies of Qwen2.5-Coder-1.5B-Instruct" in printed
    assert (
        "The judge's coherence puts birch first and dogwood last, which could be chance." in printed
    )
    assert (
        "alder has the fewest defects, and the built-in claim checker's recall puts it first; of 4 metrics that "
        "compare words, 3 put cedar first and 1 puts alder first." in printed
    )
    assert "The judge's 240 calls had 229," in printed
    assert "2 of 2 differ from the recording" in printed  # another judge answered
    assert re.fullmatch(r"\d+ seconds", printed.splitlines()[-1])
    page = (out / "index.html").read_text("utf-8")
    assert {(out / link).is_file() for link in re.findall(r'href="([^"#:]+)"', page)} == {True}
    assert "so no human ratings are needed" in page
    worst = re.search(r'<section id="the-worst-answers.*?</section>', page, re.DOTALL)
    assert worst is not None
    assert '<mark class="quoted"' in worst[0]
    assert 'class="sentence missing"' in worst[0]
    assert 'class="support no"' in worst[0]
    firsts = page.replace("<wbr>", "").split("alder is first by ")[1].split(".")[0]
    assert "the claim checker" in firsts
    assert " by the " not in firsts.replace("first by the", ""), "first by F1 by the checker"
    assert (
        "None of the metrics that compare words scores a wrong number or a wrong direction significantly lower"
        in page
    )
    assert _cells(page) == _cells_of_the_readme()
    assert (
        "The claim checker gives 53 false alarms where word overlap gives 87, and marks 32 of 34 false sentences where "
        "word overlap marks 19."
    ) in page
    assert page.replace("<wbr>", "").count("https://doi.org/") >= 10
    seen = next(
        line for line in printed.splitlines() if line.startswith("The built-in claim checker marks")
    )
    assert seen in " ".join(README.read_text("utf-8").split())
    assert "is noticed by nobody" in page
    assert "By the claim checker's recall" in printed
    assert "alder is first (alder 0.81, birch 0.77, cedar 0.67 and dogwood 0.55" in printed
    assert "alder is shown to be ahead of dogwood" in page


def test_the_answer_of_the_picture_has_no_wrong_sign(tmp_path: Path):
    """Its sentences were compared with its passages by a reader: they support all but the one that was put in."""
    corpus = Corpus.read()
    (one,) = [each for each in corpus.answers if each.id == ANSWER]
    (label,) = corpus.labels[ANSWER]
    own = one.model_copy(update={"claims": tuple(sentences(one.answer or ""))})
    longmark.run([own], "ragchecker", out=tmp_path, checker="overlap")
    rows = {row.metric: row for row in read_rows(tmp_path / "rows.jsonl")}
    pieces = sentences_view(own.answer, own.contexts, rows, read_manifest(tmp_path).metrics())
    signs = {piece.text: piece.state for piece in pieces}
    assert len(signs) == 13
    assert [text for text, state in signs.items() if state != "yes"] == [label["new"].strip()]


def test_live_shows_its_progress_and_makes_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    class StopAfterAnswers(Exception):
        pass

    def stops(answers: Path, metrics: tuple[str, ...], **how: object) -> None:
        assert answers.is_file()
        assert set(JUDGED) <= set(metrics)
        assert how["quiet"] is False
        raise StopAfterAnswers

    monkeypatch.setattr("longmark.contrib.demo.computed.run", stops)
    with pytest.raises(StopAfterAnswers):
        run_demo(tmp_path / "new" / "demo", live=True, judge=FAKE())


def _cells(page: str) -> list[str]:
    """The counts of the table of defects, row by row."""
    table = re.search(r'<section id="which-metric-notices.*?</table>', page, re.DOTALL)
    assert table is not None
    return re.findall(r"<td[^>]*><bdi>(\d+ of \d+)", table[0])


def _cells_of_the_readme() -> list[str]:
    lines = README.read_text("utf-8").splitlines()
    return re.findall(r"\d+ of \d+", "\n".join(line for line in lines if line.startswith("| `")))


def test_a_folder_of_another_build_is_named_with_the_way_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    run = tmp_path / "demo" / "scores-recorded"
    answers = [next(Reading(ANSWERS).singles())]
    longmark.run(answers, metrics=["classic.length"], out=run)
    assert in_process(["demo", "--out", str(run.parent)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"{run.parent} is the demo of another build of longmark" in said
    assert f"longmark demo --out {run.parent}-2" in said


def test_two_answers_to_one_question_are_judged_live():
    answers = {one.id: one for one in Corpus.read().answers}
    assert len({answers[id].question_id for id in NOW}) == 1
    assert len(answers) == 15 * len(SYSTEMS)


def test_the_detectable_difference_follows_from_the_width_of_the_interval():
    found = detectable(Estimate(0.0, -0.196, 0.196, 10, 0.95))
    assert found == pytest.approx(0.196 * (1.959964 + 0.841621) / 1.959964, abs=1e-5)
    assert detectable(Estimate(None, None, None, 0, 0.95, reason="too few")) is None


def test_each_answer_without_its_defects_stands_before_each_of_them_alone():
    lines = list(Corpus.read().alone())
    clean = {one.id: one.answer or "" for one in lines if DEFECT not in one.meta}
    alone = [one for one in lines if DEFECT in one.meta]
    labels = [(id, label) for id, some in Corpus.read().labels.items() for label in some]
    for one, (id, label) in zip(alone, labels, strict=True):
        before, old, new = clean[id], label["old"], label["new"]
        assert (one.meta[DEFECT]["source"], one.meta[DEFECT]["kind"]) == (id, label["kind"])
        places = (at for at in range(len(before) + 1) if before.startswith(old, at))
        assert any(before[:at] + new + before[at + len(old) :] == one.answer for at in places), (
            one.id
        )
