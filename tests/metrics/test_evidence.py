"""What each metric declares that it judges an answer by, beside what its models are shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.metrics.test_silence import CITED, FACT, OPTIONS, reply

import longmark
from longmark import metrics
from longmark.errors import UnknownName
from longmark.metric import SOURCES, Metric, Score
from longmark.models.fake import FakeChat, FakeEmbedder, FakeLanguageModel, FakeReranker
from longmark.records import Context, Example, Pair
from longmark.records.expected import Nugget, RubricItem
from longmark.testing import score_sync

Q, C, R = SOURCES

# metric or score -> what it judges an answer by, from the definitions in the papers
EVIDENCE: dict[str, tuple[str, ...]] = {
    "ccrs.answer_correctness": (
        C,
        R,
    ),  # "the judge sees passages, answer and reference" (appendix B)
    "ccrs.contextual_coherence": (C,),
    "ccrs.information_density": (Q, C),
    "ccrs.information_recall": (C, R),
    "ccrs.question_relevance": (Q,),
    "citations": (C,),
    "citations.uncited": (),
    "citations.distinct_sources": (),
    "classic.bartscore": (R,),
    "classic.bertscore": (R,),
    "classic.bleu": (R,),
    "classic.bleurt": (R,),
    "classic.chrf": (R,),
    "classic.length": (),
    "classic.perplexity": (),
    "classic.rouge_1": (R,),
    "classic.rouge_2": (R,),
    "classic.rouge_l": (R,),
    "classic.unieval.coherence": (C,),
    "classic.unieval.consistency": (C,),
    "classic.unieval.fluency": (),
    "classic.unieval.relevance": (R,),
    "classic.unieval.overall": (C, R),
    "climaqa.exact_match": (R,),
    "climaqa.factual_accuracy": (R,),
    "climaqa.mcq": (R,),
    "climaqa.phrase_similarity": (Q, R),
    "comprehensiveness.end_to_end": (Q, C),
    "comprehensiveness.nli": (Q, C),
    "comprehensiveness.qa": (Q, C),
    "criteria": (Q,),  # and the criteria of the question
    "nuggets": (Q,),  # and the facts that are listed for it
    "pairs.chateval": (Q, C, R),
    "pairs.cot": (Q, C, R),
    "pairs.direct": (Q, C, R),
    "pairs.geval": (Q, C, R),
    "pairs.icl": (Q, C, R),
    "pairs.keypoints": (Q, R),
    "pairs.refer": (Q, C, R),
    "pairs.trained": (Q, C, R),
    "ragchecker.precision": (R,),
    "ragchecker.recall": (R,),
    "ragchecker.f1": (R,),
    "ragchecker.claim_recall": (C, R),
    "ragchecker.context_precision": (C, R),
    "ragchecker.context_utilization": (C, R),
    "ragchecker.noise_sensitivity_in_relevant": (C, R),
    "ragchecker.noise_sensitivity_in_irrelevant": (C, R),
    "ragchecker.hallucination": (C, R),
    "ragchecker.self_knowledge": (C, R),
    "ragchecker.faithfulness": (C,),
    "score.answer_relevance": (Q,),
    "score.context_utilization": (Q, C),
    "score.readability": (),
    "score.robustness": (),
    "score.segment_attribution": (Q,),
    "score.specificity": (C,),
    "sources": (Q, C),
}
MARKS = {Q: "quaggas", C: "peccaries", R: "reindeer"}  # words that stand in one source only


def test_every_score_declares_what_it_judges_an_answer_by() -> None:
    declared = {
        score: metric.evidence_of(score[len(name) + 1 :])
        for name in metrics.names()
        for metric in (metrics.load(name),)
        for score in metric.published(name)
    }
    of_metric = {score: EVIDENCE.get(score[: score.rfind(".")]) for score in declared}
    assert declared == {score: EVIDENCE.get(score, of_metric[score]) for score in declared}


class Listening:
    """A model in place of a fake, which notes every text that it is given."""

    def __init__(self, fake: Any, heard: list[str]) -> None:
        self._fake, self._heard = fake, heard

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._fake, name)
        if name not in ("embed", "rerank", "likelihood", "chat", "classify"):
            return found

        async def listens(*words: Any) -> Any:
            self._heard.append(repr(words))
            return await found(*words)

        return listens


@pytest.mark.parametrize("name", [name for name in metrics.names() if metrics.load(name).models])
def test_the_models_of_a_metric_are_shown_what_it_declares_and_nothing_else(
    name: str, tmp_path: Path
) -> None:
    heard: list[str] = []
    metric = metrics.load(name)
    demonstrations = tmp_path / "labelled.jsonl"
    line = {"id": "9", "question": "Other?", "a": "one", "b": "two", "label": "b"}
    demonstrations.write_text(json.dumps(line) + "\n", encoding="utf-8")
    params: dict[str, Any] = {"examples": str(demonstrations)} if name == "pairs.icl" else {}
    texts = {source: f"{FACT} The {word} agree." for source, word in MARKS.items()}
    shared: dict[str, Any] = {"references": (texts[R],), "contexts": (Context(text=texts[C]),)}
    question = (
        f"What do {MARKS[Q]} drink?" if "phrase" not in name else f"The {MARKS[Q]} drink <blank>."
    )
    example: Any
    if metric.pairs:
        example = Pair(id="1", question=question, a=FACT, b="Nothing.", **shared)
    else:
        variant: dict[str, Any] = {"variant_of": "0", "base_answer": FACT, "variant": "paraphrase"}
        more = variant if metric.variants else {}
        profile = {"hazard": "wind"}
        example = Example(
            id="1",
            question=question,
            answer=FACT + CITED.get(name, ""),
            options=OPTIONS,
            nuggets=(Nugget(text=FACT),),
            criteria=(RubricItem(criterion=FACT, points=1),),
            profile=profile,
            **shared,
            **more,
        )
    fakes = {"embedder": FakeEmbedder(), "reranker": FakeReranker(), "lm": FakeLanguageModel()}
    roles: dict[str, Any] = {role: Listening(fake, heard) for role, fake in fakes.items()}
    found = score_sync(name, example, params, judge=Listening(FakeChat(reply), heard), **roles)
    assert any(score.value is not None for score in found.values()), found
    seen = {source for source, word in MARKS.items() if any(word in text for text in heard)}
    if name == "pairs.trained":  # its first judge (Auto-J) sees no reference, others do
        seen.add(R)
    assert seen == {
        source
        for part in metric.published(name)
        for source in metric.evidence_of(part[len(name) + 1 :])
    }


async def _score(_example: Example, _models: object, _params: object) -> Score:
    return Score(1.0)


def test_a_metric_of_ones_own_declares_its_evidence_by_its_needs_or_by_itself(
    tmp_path: Path,
) -> None:
    assert Metric(_score, ("answer", "contexts", "question")).evidence_of("") == (Q, C)
    assert Metric(_score, ("answer",), evidence=(R, C)).evidence_of("") == (C, R)
    with pytest.raises(UnknownName, match="Did you mean contexts"):
        Metric(_score, ("answer",), evidence=("context",))
    written = {}
    for key, own in {
        "nothing": Metric(_score, ("answer",), name="own"),
        "itself": Metric(_score, ("answer",), name="own", evidence=()),
        "needs": Metric(_score, ("answer", "contexts"), name="own"),
    }.items():
        longmark.run(
            [Example(id="1", question="?", answer="So.", contexts=(Context(text="So."),))],
            own,
            out=tmp_path / key,
        )
        manifest = json.loads((tmp_path / key / "manifest.json").read_text("utf-8"))
        written[key] = manifest["metrics"]["own"].get("evidence")
    assert written == {"nothing": None, "itself": [], "needs": [C]}
