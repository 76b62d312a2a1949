"""Fake models that a whole SCORE study can be run on: a generator, judges with opinions, and the index they read."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from longmark.contrib.make.rag import index
from longmark.contrib.make.rag.documents import SourceDocument
from longmark.contrib.papers.score.plan import Member, ScorePlan
from longmark.contrib.papers.score.stages import score_study
from longmark.contrib.papers.study import StudyOutcome, StudySession, carry_out
from longmark.models.cache import CallCache
from longmark.models.fake import FakeChat, FakeEmbedder, FakeLanguageModel, FakeReranker
from longmark.models.protocols import ChatRequest

DIMENSIONS = ("hazard", "location", "timeline", "intensity")
PASSAGES = (
    "Heat waves make rails buckle.",
    "A hurricane brings storm surge to the coast.",
    "Wildfire smoke closes roads for days.",
    "Ice storms break power lines.",
    "Drought lowers rivers that cool power plants.",
)


def generator(name: str, *points: str) -> FakeChat:
    """Answers in points, and rephrases a question by two words before it."""

    def says(request: ChatRequest) -> str:
        text = request.messages[-1].content
        if "Rephrase the question" in text:
            question = _between(text, "question")
            return json.dumps({"question": f"Tell us: {question}"})
        own = re.findall(r"(?m)^hazard: (.+)$", text)
        lines = [f"{number}. {point}" for number, point in enumerate((*own, *points), 1)]
        return "\n".join((*lines, "Confidence score: 80 %."))

    return FakeChat(says, name=name)


def judge(name: str, label: str, rephrase: str = "") -> FakeChat:
    """Two claims in every answer, two facts in the passages; the label on hazard and location, n/a else. rephrase: the
    word that it puts before a question to rephrase."""

    def says(request: ChatRequest) -> str:
        text = request.messages[-1].content
        if rephrase and "Rephrase the question" in text:
            return json.dumps({"question": f"{rephrase} {_between(text, 'question')}"})
        if "List the claims" in text:
            return json.dumps({"claims": ["Rails buckle.", "Roads close."]})
        if "List the facts" in text:
            return json.dumps({"facts": ["Heat waves make rails buckle.", "Smoke closes roads."]})
        if "Pick out the details" in text:
            return json.dumps({name: ["rails"] for name in DIMENSIONS})
        if "Find in the answer the words and phrases" in text:
            return json.dumps({"phrases": []})
        if '"questions"' in text:
            return json.dumps({"questions": [f"What buckles, version {i}?" for i in range(5)]})
        marks = {name: label if name in DIMENSIONS[:2] else "n/a" for name in DIMENSIONS}
        return json.dumps(
            {name: {"reason": "because", "label": mark} for name, mark in marks.items()}
        )

    return FakeChat(says, name=name)


def _between(text: str, tag: str) -> str:
    found = re.search(rf"<{tag}[^>]*>\s*(.*?)\s*</{tag}", text, re.DOTALL)
    assert found is not None, text
    return found[1]


class Fakes:
    """The models of a study, which keep what they were asked."""

    def __init__(self) -> None:
        self.generators = [
            generator("gen-a", "Rails buckle in the heat."),
            generator("gen-b", "Roads close.", "So."),
        ]
        self.judges = [judge("judge-a", "yes"), judge("judge-b", "no")]
        self.embedder = FakeEmbedder()
        self.reranker = FakeReranker()
        self.proxies = [
            FakeLanguageModel(name="lm-a", entropy=True),
            FakeLanguageModel(name="lm-b"),
        ]

    @property
    def calls(self) -> int:
        every: list[Any] = [
            *self.generators,
            *self.judges,
            self.embedder,
            self.reranker,
            *self.proxies,
        ]
        return sum(len(model.requests) for model in every)

    @property
    def asked(self) -> int:
        """Calls, and for the embedder texts: which texts are sent in one call hangs on which of two examples with a
        text in common asks first."""
        texts = sum(len(request) for request in self.embedder.requests)
        return self.calls - len(self.embedder.requests) + texts

    def plan(self, out: Path, idx: Path | None, **more: object) -> ScorePlan:
        given: dict[str, object] = {
            "out": out,
            "index": idx,
            "generators": [Member("A", (self.generators[0],)), Member("B", (self.generators[1],))],
            "evaluators": [Member("yes", (self.judges[0],)), Member("no", (self.judges[1],))],
            "proxies": [Member("P", (self.proxies[0],)), Member("Q", (self.proxies[1],))],
            "embedder": self.embedder,
            "reranker": self.reranker,
            "n": 4,
            "domain": "hazards",
            "seed": 3,
            "metrics": ["score.specificity@samples=1"],
            **more,
        }
        return ScorePlan(**given)  # type: ignore[arg-type]


def carry(
    plan: ScorePlan, cache: CallCache, labels: Path | None = None, **session: Any
) -> StudyOutcome:
    """Works on a study as far as it goes."""
    return carry_out(score_study(plan, StudySession(cache, **session), labels))


def make_index(folder: Path) -> Path:
    """A BM25 index of the passages."""
    documents = [SourceDocument(str(i), text) for i, text in enumerate(PASSAGES)]
    asyncio.run(index.build(documents, folder))
    return folder
