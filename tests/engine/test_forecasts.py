"""A dry run beside the run that follows it: for every metric, the calls and prompt tokens that it expects are within a
tenth of those that the models got."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import bench.cost
import orjson
import pytest
from bench.cost import SchemaJudge, sentence
from tests.metrics.test_silence import OPTIONS, PARAMS, checkpoints, reply

import longmark
from longmark import metrics
from longmark.cli.run import print_estimate
from longmark.engine.estimate import RunEstimate, dry_run
from longmark.engine.run import finish, make_settings, open_cache
from longmark.engine.settings import RunOptions
from longmark.metrics.classic import bleurt
from longmark.models.fake import FakeChat, FakeEmbedder, FakeLanguageModel, FakeReranker
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest, TokenLogprobs, Tokens
from longmark.models.registry import Registry
from longmark.text.sentences import sentences

__all__ = ["checkpoints"]  # a fixture: the checkpoints of the metrics that load one

TOLERANCE = 0.1
QUESTIONS, SYSTEMS = 2, 2


@pytest.fixture(autouse=True)
def the_figures_of_a_dry_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge of the bench lists a claim for every sentence, and finds that a text entails what it contains."""
    monkeypatch.setattr(bench.cost, "CLAIMS", 100)
    monkeypatch.setattr(bench.cost, "sentences", lambda text: [s.strip() for s in sentences(text)])
    monkeypatch.setattr(
        bench.cost, "entails", lambda premise, statement: statement.strip() in premise
    )


def records(name: str) -> Iterator[dict[str, Any]]:
    """Answers of two systems from the same passages, with all inputs of a metric."""
    metric = metrics.load(name)
    for question in range(QUESTIONS):
        said = [sentence(question, number) for number in range(40)]
        for system in range(SYSTEMS):
            answer = " ".join([*said[:3], *said[30 + 3 * system : 33 + 3 * system]])
            record: dict[str, Any] = {
                "id": f"{question}-{system}",
                "question_id": str(question),
                "question": f"What happened at the sites of district {question}?",
                "contexts": [" ".join(said[10 * d : 10 * d + 8]) for d in range(3)],
                "references": [" ".join(said[1:6])],
                "options": OPTIONS,
                "profile": {"hazard": "flood"},
            }
            if name == "climaqa.mcq":
                record["references"] = ["b"]
            if name == "climaqa.phrase_similarity":
                record["question"] = "What rose at the <blank>?"
            if metric.variants:
                record |= {"variant_of": "0", "variant": "paraphrase", "base_answer": said[0]}
            if metric.pairs:
                record |= {"a": answer, "b": " ".join(said[2:9])}
            else:
                cited = " [1][2][3]" * (name == "sources")
                record |= {"answer": answer + cited, "system": f"system {system}"}
            yield record


class AnsweringModel(SchemaJudge):
    """The judge of the bench; a text answers the questions that were taken from it, and every second other one."""

    def _list(self, items: Any, key: str) -> list[Any]:
        if key == "questions" and not self.numbered:
            return bench.cost.sentences(self.longest)
        return super()._list(items, key)

    def _answer(self, text: str, question: int) -> str:
        wording = self.numbered[str(question)]
        digest = sha256((wording + text).encode()).digest()
        return " ".join(text.split()[-9:-4]) if wording in text or digest[0] % 2 == 0 else ""


def answered(request: ChatRequest) -> ChatReply:
    """What the judge of the bench replies to a request for JSON, and a sensible one to any other."""
    shown = request.messages[-1].content
    text = AnsweringModel(shown, request.schema).reply() if request.schema else reply(request)
    if not request.logprobs:
        return ChatReply(text)
    first = text if request.max_tokens > 1 else "yes"
    return ChatReply(first, logprobs=(TokenLogprobs(first, -0.01, ((first, -0.01),)),))


def tokens_of(request: Any) -> int:
    """Prompt tokens of a request: four bytes a token, and 16 for a chat template, as a dry run estimates them."""
    if isinstance(request, ChatRequest):
        texts = [message.content for message in request.messages]
        texts += [orjson.dumps(request.schema).decode()] if request.schema else []
    elif hasattr(request, "prompt"):
        texts = [request.prompt, request.text]
    elif len(request) == 2 and isinstance(request[1], tuple):
        texts = [text for document in request[1] for text in (request[0], document)]
    else:
        texts = list(request)
    return sum(len(text.encode()) for text in texts) // 4 + 16


def forecast_and_sent(
    selection: str, lines: list[dict[str, Any]], tmp_path: Path, judge: FakeChat | None = None
) -> tuple[RunEstimate, list[Any]]:
    """What a dry run says, and the requests of the run after it."""
    models = [
        judge or FakeChat(answered, capabilities=Capabilities(logprobs=20)),
        FakeEmbedder(),
        FakeReranker(),
        FakeLanguageModel(entropy=True),
    ]
    _, embedder, reranker, lm = models
    roles: dict[str, Any] = {"embedder": embedder, "reranker": reranker, "lm": lm}
    roles |= {"judges": [models[0]], "domain": "hazards", "cache": tmp_path / "calls.sqlite"}
    options = RunOptions(**roles)
    cache = open_cache(options.cache)
    settings = make_settings((selection,), Registry(cache, sends=False), options)
    try:
        estimate = finish(lambda: dry_run(lines, settings, None, cache, options))
    finally:
        cache.close()
    assert not any(model.requests for model in models)
    longmark.run(lines, selection, out=tmp_path / f"run of {lines[0]['id']}", **roles)
    return estimate, [request for model in models for request in model.requests]


@pytest.fixture
def rater(monkeypatch: pytest.MonkeyPatch) -> FakeReranker:
    """The model of a metric that loads its own checkpoint."""
    model = FakeReranker()
    monkeypatch.setattr(bleurt, "_checkpoint", lambda _source: model)
    return model


def selection_of(name: str) -> str:
    parameters = PARAMS.get(name, {})
    return name + "".join(f"@{key}={value}" for key, value in parameters.items())


@pytest.mark.parametrize("name", [name for name in metrics.names() if name != "pairs.icl"])
def test_a_dry_run_expects_what_is_sent(name: str, rater: FakeReranker, tmp_path: Path) -> None:
    estimate, requests = forecast_and_sent(selection_of(name), list(records(name)), tmp_path)
    requests += rater.requests
    expected = estimate.total.expected
    assert expected.calls == pytest.approx(len(requests), rel=TOLERANCE)
    assert expected.prompt_tokens == pytest.approx(sum(map(tokens_of, requests)), rel=TOLERANCE)
    assert estimate.total.calls >= expected.calls
    assert estimate.total.prompt_tokens >= expected.prompt_tokens


def longer_tokens(request: ChatRequest) -> ChatReply:
    """As `answered`, by a model that counts three tokens where a dry run assumes four."""
    reply_in_full = answered(request)
    tokens = Tokens(round(0.75 * tokens_of(request)), 0, len(reply_in_full.text) // 3)
    return ChatReply(reply_in_full.text, tokens=tokens)


def test_what_the_last_run_took_corrects_what_is_expected_of_other_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The judge lists three claims of a text of six or eight sentences, and counts three tokens for four."""
    monkeypatch.setattr(bench.cost, "CLAIMS", 3)
    name = "comprehensiveness.nli"
    lines = list(records(name))
    estimate, _ = forecast_and_sent(name, lines[:2], tmp_path, FakeChat(longer_tokens))
    assert estimate.measured == {}
    judge = FakeChat(longer_tokens)
    estimate, requests = forecast_and_sent(name, lines[2:], tmp_path, judge)
    tokens = 0.75 * sum(map(tokens_of, requests))
    ratio = estimate.measured[name]
    assert (ratio.answers, ratio.run.name) == (2, "run of 0-0")
    assert estimate.total.expected.calls == pytest.approx(len(requests), rel=TOLERANCE)
    assert estimate.total.expected.prompt_tokens == pytest.approx(tokens, rel=TOLERANCE)
    assert ratio.calls < 0.9


def test_where_no_run_has_measured_a_metric_a_range_of_calls_is_expected(tmp_path: Path) -> None:
    """A judge that lists three of six or eight sentences stays within it; a metric of one call an answer has none."""
    lines = list(records("comprehensiveness.nli"))
    estimate, _ = forecast_and_sent("comprehensiveness.nli,ccrs", lines, tmp_path)
    ((name, (fewest, most)),) = estimate.spreads.items()
    assert name == "comprehensiveness.nli"
    assert fewest < estimate.metrics[name].expected.calls < most


def test_a_metric_that_a_run_has_measured_has_no_range(tmp_path: Path) -> None:
    lines = list(records("score.specificity"))
    estimate, _ = forecast_and_sent("score.specificity", lines[:2], tmp_path)
    assert estimate.spreads
    estimate, _ = forecast_and_sent("score.specificity", lines[2:], tmp_path)
    assert estimate.measured
    assert not estimate.spreads


@pytest.mark.parametrize(
    ("name", "assumes"),
    [("ragchecker", True), ("nuggets", False), ("criteria", False), ("citations", False)],
)
def test_a_dry_run_says_that_it_assumes_a_claim_a_sentence_only_where_a_judge_lists_claims(
    name: str, assumes: bool, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    estimate, _ = forecast_and_sent(name, list(records(name))[:1], tmp_path)
    print_estimate(estimate)
    printed = " ".join(capsys.readouterr().out.split())
    assert ("The table assumes a claim for each sentence." in printed) is assumes
