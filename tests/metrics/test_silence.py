"""What an answer that says nothing gets from each metric: as its declaration, and so as docs/metrics.md, has it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import longmark
from longmark import metrics
from longmark.errors import RequestRefused
from longmark.metric import SCORED
from longmark.metrics.classic import _encoders, bleurt, unieval
from longmark.models.fake import FakeChat, FakeEmbedder, FakeLanguageModel, FakeReranker
from longmark.models.protocols import ChatRequest
from longmark.records import Context, Example, Pair
from longmark.records.expected import Nugget, RubricItem
from longmark.records.metric_name import base_of
from longmark.report.summary import summarise
from longmark.testing import score_sync
from longmark.text.refusal import NOTHING_RELEVANT

FACT = "The wind drives the currents in Florida."
SAME = "In Florida the wind moves the currents."  # other words, so that only a checker knows
CLAIMLESS = "Thank you for asking!"
ANSWERS = {"empty": "", "refusal": NOTHING_RELEVANT, "claimless": CLAIMLESS}
CITED = {"citations": " [1]", "sources": " [1]"}
"""Metric -> what an answer needs at its end so that its models are asked."""
ASKS_NOTHING = tuple(
    f"citations.{part}" for part in ("resolvable", "uncited", "distinct_sources", "quotes")
)
"""Scores of metrics with a judge that read the answer alone."""
PARAMS = {"classic.bleurt": {"checkpoint": "x"}, "classic.unieval": {"checkpoint": "x"}}
OPTIONS = {"a": "The moon", "b": "The wind"}


def inside(asked: str, name: str) -> str:
    found = re.search(rf"<{name} \w+>\n(.*?)\n</{name}", asked, re.DOTALL)
    return found[1] if found else ""


def stated_in_answer(asked: str) -> bool:
    return any(fact in inside(asked, "answer") for fact in (FACT, SAME))


def reply(request: ChatRequest) -> str:
    """What a sensible judge says: a text makes the claims FACT and SAME, whose words it has, and each entails all."""
    asked = "\n".join(message.content for message in request.messages[1:] or request.messages)
    form = asked.rpartition("in this form: ")[2].partition("\n")[0]
    stated = [fact for fact in (FACT, SAME) if fact in (inside(asked, "answer") or asked)]
    listed = re.findall(
        r"^(\d+)\. (.*)", inside(asked, "statements") or inside(asked, "pairs"), re.MULTILINE
    )
    numbers = [n for n, _ in listed]
    entailed = (
        "entails" if any(fact in inside(asked, "premise") for fact in (FACT, SAME)) else "neutral"
    )
    premises = [f"{n} entails" for n in re.findall(r"(?m)^\[(\d+)\]", inside(asked, "context"))]
    of = {
        '"covered": [': {
            "reasoning": "",
            "covered": [{"statement": f, "texts": [1]} for f in stated],
        }
        | {"uncovered": [{"statement": "Other.", "texts": [1]}]},
        '{"claims": [': {"claims": stated},
        '{"facts": [': {"facts": stated},
        '{"revised": [': {
            "revised": [{"from": int(n), "text": text, "type": "fact"} for n, text in listed]
        },
        '"relevance": 4': {"questions": [{"question": "What drives them?", "relevance": 5}]},
        '"confidence": 5': {
            "answers": [
                {
                    "question": 1,
                    "answer": "the wind" if FACT in asked else "unknown",
                    "confidence": 5,
                }
            ]
        },
        '{"labels": ["1 neutral", "2 entails"': {"labels": [f"{n} {entailed}" for n in numbers]},
        '{"1": ["2 entails"]': dict.fromkeys(numbers, premises),
        '{"1": "not_met"': {"1": "met" if stated_in_answer(asked) else "not_met"},
        '{"1": "not_support"': dict.fromkeys(
            re.findall(r"^\[(\d+)\]", inside(asked, "nuggets"), re.MULTILINE),
            "support" if stated_in_answer(asked) else "not_support",
        ),
        '{"1": "neutral", "2": "implies"': dict.fromkeys(numbers, "equivalent"),
        '{"1": 3, "2": 5': dict.fromkeys(numbers, 5),
        '{"questions": [': {
            "questions": ["What drives them?"]
            * int((re.findall(r"exactly (\d+)", asked) or [1])[0])
        },
        '{"points": [': {"points": [FACT]},
        "label": _by_dimension(form, _label),
        '["detail"': _by_dimension(form, lambda name: ["Florida"] * (name == "location")),
        '"phrases"': {"phrases": []},
        "score: 3.5": "score: 3",
        "SUPPORTS or REFUTES": "SUPPORTS" if stated else "REFUTES",
        "one letter": "A" if stated else "D",
        "A, B or tie": "tie",
        "[BEGIN DATA]": "So, the final decision is Tie",
    }
    for key, given in of.items():
        if key in asked.partition("=====")[0]:
            return given if isinstance(given, str) else json.dumps(given)
    return "80"


def _by_dimension(form: str, given: Any) -> Any:
    """A reply for each dimension of the domain; location has a detail."""
    return (
        {name: given(name) for name in json.loads(form)}
        if form.startswith("{") and "hazard" in form
        else {}
    )


def _label(name: str) -> dict[str, str]:
    return {
        "in_claim": "Florida",
        "in_context": "Florida",
        "label": "yes" if name == "location" else "n/a",
    }


class Hashed:
    """An encoder of tokens: one unit vector for each word."""

    name = "hashed"

    def count(self, text: str) -> int:
        return len(text.split())

    def limit(self) -> int:
        return 512

    def encode(self, text: str, layer: int) -> tuple[Any, Any]:
        turns = [sum(map(ord, word)) for word in text.split()]
        return np.array([(np.cos(t), np.sin(t)) for t in turns], dtype=np.float32), np.ones(
            len(turns), dtype=bool
        )


class Refusing:
    """A model in place of a fake whose every call is refused."""

    def __init__(self, fake: Any) -> None:
        self._fake = fake

    def __getattr__(self, name: str) -> Any:
        async def refused(*_words: Any) -> Any:
            raise RequestRefused("out of order", 400)

        calls = ("embed", "rerank", "likelihood", "chat", "classify")
        return refused if name in calls else getattr(self._fake, name)


def scores(
    name: str, answer: str, judge: FakeChat, more: dict[str, Any], failing: str = ""
) -> dict[str, float | str]:
    """Full name -> score, or the status of an unscored one. failing: the role whose model fails."""
    shared: dict[str, Any] = {
        "question": "What drives the currents in Florida?",
        "contexts": (Context(text=FACT),),
    }
    shared["references"] = ("b",) if name == "climaqa.mcq" else (FACT,)
    example: Any
    if answer not in ANSWERS.values():
        answer += CITED.get(name, "")
    if metrics.load(name).pairs:
        example = Pair(id="1", a=answer, b=FACT, **shared)
    else:
        variant: dict[str, Any] = (
            {"variant_of": "0", "base_answer": FACT} if metrics.load(name).variants else {}
        )
        question = "What drives it, the <blank>?" if "phrase" in name else shared.pop("question")
        shared.pop("question", None)
        example = Example(
            id="1",
            answer=answer,
            question=question,
            options=OPTIONS,
            nuggets=(Nugget(text=FACT), Nugget(text=SAME, importance="okay")),
            criteria=(RubricItem(criterion=FACT, points=1),),
            profile={"hazard": "wind"},
            **shared,
            **variant,
        )
    found: dict[str, float | str] = {}
    for kind in ("paraphrase", "perturbation") if metrics.load(name).variants else (None,):
        one = example.model_copy(update={"variant": kind}) if kind else example
        roles: dict[str, Any] = {
            "embedder": FakeEmbedder(),
            "reranker": FakeReranker(),
            "lm": FakeLanguageModel(),
        }
        roles |= {failing: Refusing(roles.get(failing, judge))} if failing else {}
        made = score_sync(name, one, PARAMS.get(name, {}) | more, judge=judge, **roles)
        found |= {
            full: scored.status if scored.value is None else scored.value
            for full, scored in made.items()
        }
    return found


@pytest.fixture(autouse=True)
def checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = FakeLanguageModel()

    async def likelihoods(_models: Any, _source: str, requests: Any) -> list[Any]:
        return [await lm.likelihood(one) for one in requests]

    monkeypatch.setattr(bleurt, "_checkpoint", lambda _source: FakeReranker())
    monkeypatch.setattr(unieval, "of_checkpoint", likelihoods)
    monkeypatch.setattr(unieval, "checkpoint", lambda _source: None)
    monkeypatch.setattr(_encoders, "encoder", lambda _name: Hashed())
    _encoders.vectors.cache_clear()


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """The demonstrations that `pairs.icl` needs."""
    line = {"id": "9", "question": "Other?", "a": "one", "b": "two", "label": "b"}
    (tmp_path / "labelled.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    return tmp_path / "labelled.jsonl"


@pytest.fixture(params=metrics.names())
def asked(request: pytest.FixtureRequest, labelled: Path) -> Any:
    """The name of a metric, and what it gives an answer: (answer, judge) -> full name -> score or status. nli embeds
    only where similarity is set."""
    own: dict[str, dict[str, Any]] = {
        "pairs.icl": {"examples": str(labelled)},
        "comprehensiveness.nli": {"similarity": -1.0},
    }
    more: dict[str, Any] = own.get(request.param, {})
    return request.param, lambda answer, judge, failing="": scores(
        request.param, answer, judge, more, failing
    )


def test_every_metric_gives_silence_what_it_declares(asked: Any) -> None:
    name, score = asked
    metric = metrics.load(name)
    for kind, answer in ANSWERS.items():
        for full, given in score(answer, FakeChat(reply)).items():
            declared = getattr(metric.silence_of(full[len(name) + 1 :]), kind)
            expected = (
                declared
                if declared != SCORED
                else pytest.approx(given)
                if not isinstance(given, str)
                else 0
            )
            assert given == expected, (full, kind)


def test_a_failed_judge_leaves_every_judged_score_unscored(asked: Any) -> None:
    name, score = asked
    failed = score(f"So: {FACT}", FakeChat(lambda _request: RequestRefused("out of order", 400)))
    judged = "judge" in metrics.load(name).models
    assert all(
        (given == "model_error") == judged
        for full, given in failed.items()
        if full not in ASKS_NOTHING
    ), failed


def test_another_model_that_fails_gives_no_score_that_needs_it(asked: Any) -> None:
    name, score = asked
    for role in {*metrics.load(name).models} - {"judge"}:
        healthy, failed = (score(f"So: {SAME}", FakeChat(reply), one) for one in ("", role))
        lost = {full for full in healthy if failed[full] == "model_error"}
        assert all(failed[full] == healthy[full] for full in healthy if full not in lost), (
            role,
            failed,
        )
        assert lost, (role, failed)


@pytest.mark.parametrize("pairs", [False, True])
def test_a_skipped_record_is_unscored_by_every_metric(
    pairs: bool, labelled: Path, tmp_path: Path
) -> None:
    more = {name: f"{name}@checkpoint=x" for name in PARAMS} | {
        "pairs.icl": f"pairs.icl@examples={labelled}"
    }
    names = [name for name in metrics.names() if metrics.load(name).pairs == pairs]
    shared: dict[str, Any] = {
        "question": "What drives it?",
        "contexts": [FACT],
        "references": [FACT],
        "system": "s",
    }
    shared |= (
        {"options": OPTIONS, "variant_of": "0", "variant": "paraphrase", "base_answer": FACT}
        if not pairs
        else {}
    )
    answers = {"a": FACT, "b": SAME} if pairs else {"answer": SAME}
    lines = [
        json.dumps({"id": n, **shared, **answers, **bad})
        for n, bad in (("1", {}), ("2", {"contexts": 3}))
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(lines), encoding="utf-8")
    models: dict[str, Any] = {
        "judges": FakeChat(reply),
        "embedder": FakeEmbedder(),
        "reranker": FakeReranker(),
    }
    models |= {"lm": FakeLanguageModel(), "domain": "hazards", "cache": tmp_path / "calls.sqlite"}
    chosen = [more.get(name, name) for name in names]
    longmark.run(tmp_path / "in.jsonl", chosen, out=tmp_path / "run", skip_bad=True, **models)
    cells = summarise([tmp_path / "run"]).cells
    assert {base_of(cell.metric) for cell in cells} >= {
        one for name in names for one in metrics.load(name).published(name)
    }
    for cell in cells:
        assert cell.n - cell.scored >= 1, cell
        assert "skipped" in [why.status for why in cell.unscored], cell


def test_saying_nothing_gives_no_score_that_is_better_than_the_worst_by_a_rule() -> None:
    """A score that a rule gives (no judge, no formula of words) is the worst one."""
    for name in metrics.names():
        metric = metrics.load(name)
        for full, spec in metric.published(name).items():
            its = metric.silence_of(full[len(name) + 1 :])
            for given in (its.empty, its.refusal, its.claimless):
                if not isinstance(given, str) and spec.higher_is_better is not None:
                    assert given == spec.bounds[0 if spec.higher_is_better else 1], full
