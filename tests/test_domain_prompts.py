"""What is sent to models about a domain of one's own says nothing of hazards, the domain that comes with longmark."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest

from longmark import metrics
from longmark.contrib.local.rerank_embedded import LogOddsReranker
from longmark.contrib.make.questions import hazards
from longmark.contrib.make.rag import index
from longmark.contrib.make.rag.answer import answer
from longmark.contrib.make.rag.documents import SourceDocument
from longmark.contrib.make.rag.retrieve import Retriever
from longmark.contrib.make.vary import vary
from longmark.domain import Domain, load
from longmark.metric import Score
from longmark.models.handles import Models
from longmark.models.protocols import ChatReply, ChatRequest, TokenLogprobs
from longmark.records import Example
from longmark.testing import FakeChat, FakeEmbedder, FakeLanguageModel, call

pytest.importorskip("bm25s")

ROOT = Path(__file__).parents[1]
HAZARDS, GARDENS = load(), load(ROOT / "examples" / "domain-gardens.yaml")
NOTES = [
    "Slugs eat lettuce in early spring.",
    "Aphids weaken beans, and ladybirds eat aphids in late summer.",
]
TOLD_BY = {  # what a request of each kind says, whoever the domain is of
    "rag answer": "numbered 1., 2., 3.",
    "vary": "Rephrase the question",
    "claims": "List the claims",
    "details": "Pick out the details",
    "labels": "Then label the claim",
    "masking": "Find in the answer the words",
    "relevance": "each of which the answer",
    "facts": "List the facts",
    "segments": "Is the document relevant",
    "proxy": "What is known:",
}
# what only hazards are told about: the names of its slots and dimensions, and words of their values and descriptions
ABOUT_HAZARDS = re.compile(
    r"hazard|location|profession|infrastructure|intensity|timeline|sector\b|county|counties|disaster|climate|weather"
    r"|drought|flood|hurricane|storm|wildfire|\bwaves?\b|\bhow strong|this place|the place, the time and how"
    r"|span of time|iowa|maize|manager|engineer|planner",
    re.IGNORECASE,
)


def asked_for(domain: Domain, folder: Path) -> str:
    """Every text that a chat model and a proxy are sent from a question of a domain on: variants, answer, scores."""
    names = [dimension.name for dimension in domain.dimensions]

    def reply(request: ChatRequest) -> ChatReply:
        text = "\n".join(message.content for message in request.messages)
        kind = next(kind for kind, said in TOLD_BY.items() if said in text)
        said = {
            "rag answer": "1. Slugs eat leaves.\n2. Beer traps help.\n\nConfidence score: 80%",
            "vary": json.dumps({"question": "nothing like it"}),
            "claims": json.dumps({"claims": ["Slugs eat leaves.", "Beer traps help."]}),
            "facts": json.dumps({"facts": ["Slugs eat lettuce.", "Ladybirds eat aphids."]}),
            "details": json.dumps({name: ["slugs"] for name in names}),
            "labels": json.dumps({name: {"reason": "said so", "label": "yes"} for name in names}),
            "masking": json.dumps({"phrases": []}),
            "relevance": json.dumps(
                {"questions": [f"Which {word} help?" for word in ("a", "b", "c", "d", "e")]}
            ),
        }.get(kind, "yes")
        candidates = (("yes", -0.1), ("no", -2.4))
        return ChatReply(
            said, logprobs=(TokenLogprobs("yes", -0.1, candidates),) if kind == "segments" else ()
        )

    chat, proxy = FakeChat(reply), FakeLanguageModel()

    async def use(models: Models) -> None:
        questions = list(hazards(4, seed=1, domain=domain))
        varied = await vary(questions, models, domain)
        documents = [SourceDocument(str(number), text) for number, text in enumerate(NOTES)]
        await index.build(documents, folder / "index")
        retriever = Retriever(index.load(folder / "index"))
        answered = (await answer([*questions, *varied.examples], models, retriever)).examples
        assert any(example.base_answer for example in answered)
        for name in metrics.names():
            if name.startswith("score."):
                await scored(name, answered, models)

    reranker = LogOddsReranker(chat)
    call(
        use,
        judge=chat,
        generator=chat,
        embedder=FakeEmbedder(),
        reranker=reranker,
        lm=proxy,
        domain=domain,
    )
    return "\n".join(
        [message.content for request in chat.requests for message in request.messages]
        + [request.prompt + request.text for request in proxy.requests]
    )


async def scored(name: str, answered: tuple[Example, ...], models: Models) -> None:
    metric = metrics.load(name)
    example = next(
        one for one in answered if bool(one.base_answer) == metric.variants and one.contexts
    )
    parts = (list(cast(Any, metric.scores)),) if metric.by_part else ()
    found = await metric.score(example, models, metric.params(), *parts)
    values = found.values() if isinstance(found, dict) else [found]
    assert all(isinstance(value, Score) for value in values), (name, found)


def test_no_prompt_about_gardens_speaks_of_hazards(tmp_path: Path) -> None:
    sent = asked_for(GARDENS, tmp_path)
    assert [kind for kind, said in TOLD_BY.items() if said not in sent] == []
    assert "the animal or disease that is named" in sent
    assert [
        sent[found.start() - 60 : found.end() + 20] for found in ABOUT_HAZARDS.finditer(sent)
    ] == []


def test_the_words_are_found_where_the_domain_is_hazards(tmp_path: Path) -> None:
    found = {word.lower() for word in ABOUT_HAZARDS.findall(asked_for(HAZARDS, tmp_path))}
    assert found >= {
        "hazard",
        "location",
        "profession",
        "infrastructure",
        "intensity",
        "timeline",
        "county",
    }
