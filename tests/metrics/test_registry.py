"""Names of metrics and their scores; which examples they are for; what the signatures of stored rows depend on."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from longmark import metrics
from longmark.domain import BUILT_IN, Domain, load
from longmark.errors import UnknownName
from longmark.metric import full_name
from longmark.prompts import SYSTEM

SPECIFICITY = "score.specificity"
ROBUSTNESS = "score.robustness"


@pytest.fixture
def gardens(tmp_path: Path) -> Domain:
    """A domain with other dimensions."""
    text = BUILT_IN.read_text(encoding="utf-8")
    text = text.replace("  - name: intensity\n", "  - name: soil\n").replace(
        "name: hazards\n", "name: gardens\n"
    )
    path = tmp_path / "gardens.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path)


def test_a_score_can_have_the_name_of_the_metric_itself():
    assert full_name("a.b", "") == "a.b"
    assert full_name("a.b", "c") == "a.b.c"
    (chosen,) = metrics.select([SPECIFICITY])
    assert list(chosen.scores) == [
        SPECIFICITY,
        *(f"{SPECIFICITY}.{name}" for name in ("hazard", "location", "timeline", "intensity")),
    ]
    (one,) = metrics.select([f"{SPECIFICITY}.location"])
    assert list(one.scores) == [f"{SPECIFICITY}.location"]


def test_a_domain_decides_its_dimensions(gardens: Domain):
    (chosen,) = metrics.select([SPECIFICITY], gardens)
    assert list(chosen.scores)[1:] == [f"{SPECIFICITY}.{name}" for name in gardens.weights]
    assert f"{SPECIFICITY}.soil" in chosen.scores
    assert list(metrics.select([f"{SPECIFICITY}.soil"], gardens)[0].scores) == [
        f"{SPECIFICITY}.soil"
    ]
    with pytest.raises(UnknownName, match=r"score\.specificity\.soil"):
        metrics.select([f"{SPECIFICITY}.soil"])
    with pytest.raises(UnknownName):
        metrics.select([f"{SPECIFICITY}.intensity"], gardens)
    assert metrics.select(["ccrs"], gardens) == metrics.select(["ccrs"])


def test_what_is_for_originals_and_what_for_which_variant():
    (robustness,) = metrics.select([ROBUSTNESS])
    assert robustness.due(is_variant=False, kind=None) == []
    assert robustness.due(is_variant=True, kind="paraphrase") == [f"{ROBUSTNESS}.paraphrase"]
    for kind in ("hazard", "hazard+location", "of my own"):
        assert robustness.due(is_variant=True, kind=kind) == [f"{ROBUSTNESS}.perturbation"]
    assert robustness.due(is_variant=True, kind=None) == list(robustness.scores)
    (one,) = metrics.select([f"{ROBUSTNESS}.paraphrase"])
    assert one.due(is_variant=True, kind="hazard") == []
    (specificity,) = metrics.select([SPECIFICITY])
    assert specificity.due(is_variant=False, kind=None) == list(specificity.scores)
    assert specificity.due(is_variant=True, kind="paraphrase") == []


def test_every_name_that_a_metric_publishes_selects_it():
    for name in metrics.names():
        for value in metrics.load(name).published(name):
            chosen = metrics.select([value])
            assert [one.name for one in chosen] == [name]
            assert value in chosen[0].scores


# Signatures of stored rows hold these hashes: a change of a prompt's words or inputs makes another metric.
PROMPTS = {
    "system": "88b0e1d3d70be522",
    "ccrs.answer_correctness": "91c5d3b91db185a3",
    "ccrs.answer_correctness.expected": "6f9255228fb9ce54",
    "ccrs.answer_correctness.reasons": "5c82a9a60a86917d",
    "ccrs.contextual_coherence": "76e2c2cc5bc237d1",
    "ccrs.contextual_coherence.expected": "5bb0ce2aa1bf63cb",
    "ccrs.contextual_coherence.reasons": "71b92b5f8a54e7c1",
    "ccrs.information_density": "e3e2b40a545a0317",
    "ccrs.information_density.expected": "e4dad262e6c5ee1d",
    "ccrs.information_density.reasons": "84c691c77ef6a7db",
    "ccrs.information_recall": "e084a12288f5f9e4",
    "ccrs.information_recall.expected": "2632168f6d539868",
    "ccrs.information_recall.reasons": "5619448e1ce4b8f4",
    "ccrs.question_relevance": "9def9e1ee9cfa4c9",
    "ccrs.question_relevance.expected": "66a4053ab64d7b27",
    "ccrs.question_relevance.reasons": "959ef5da05429076",
    "reason": "2f5f30821ed4838b",
    "masking": "254f5cf1821ee28d",
    "masking.rewrite": "d9b4504027b2fb0b",
    "score.answer_relevance": "6e872d4af84f683a",
    "facts": "e5f62d170bd80edd",
    "score.context_utilization.proxy": "675faa0db5f5ef7a",
    "claims": "a34078d96dead1cb",
    "details": "2d662cafb0138843",
    "score.specificity": "a468a156f8628de5",
    "score.specificity.unchecked": "0cbb11161ffbc3c0",
    "relations": "02e18d137ef66a83",
    "citations.joint": "a6a536a438e1fdd8",
    "citations.support": "e63a28bd291a7ff8",
    "relations.joint": "49d0a3b556f117bf",
    "relations.premises": "9c9f088d7369c61e",
    "relation": "3c80c87c37b7677c",
    "comprehensiveness.end_to_end": "917b1d4f8cf8a040",
    "comprehensiveness.summary": "9ecb40d0902f7b22",
    "units": "3b001ed951160613",
    "revision": "6085c4a487203680",
    "relevance": "906cfb508ed334dd",
    "comprehensiveness.questions": "6914518ac1b0c131",
    "comprehensiveness.refinement": "1f74f854892ef038",
    "comprehensiveness.answers": "7f91f3ec59290ab4",
    "comprehensiveness.joint_answers": "c4e05417d221a235",
    "comprehensiveness.comparison": "dc8820e9ec45af9f",
    "climaqa.factual_accuracy": "15cf2264575997ca",
    "climaqa.factual_accuracy.expected": "15cf2264575997ca",
    "criteria.met": "090dc563d06901b6",
    "criteria.relative": "23d704f0d4939527",
    "nuggets.assign": "72c3294b0edfa7d7",
    "pairs.chateval": "80e4d85b13588f0c",
    "pairs.cot": "131e23a035bbc3dc",
    "pairs.direct": "09c49197a01b90b5",
    "pairs.direct.expected": "09c49197a01b90b5",
    "pairs.geval": "1856a532678bbc8f",
    "pairs.geval.expected": "5b8a503607514c7c",
    "pairs.icl": "9da67eae738cdb6f",
    "pairs.icl.expected": "9da67eae738cdb6f",
    "pairs.keypoints.points": "71c40ab9db11c617",
    "pairs.keypoints": "8e3ac4a526914714",
    "pairs.refer.review": "f1edc9ad0edf915b",
    "pairs.refer.chair": "44e885e72b1387fd",
}
ORDERS: dict[str, object] = {"orders": "both", "on_flip": "tie", "equal": "tie"}
PANEL = "built-in#0c1eecd92271314f"
# metric -> the parts of its scores, its parameters with their defaults, and what it needs
DECLARED: dict[str, tuple[list[str], dict[str, object], Any]] = {
    "ccrs.answer_correctness": (
        [""],
        {"weight": 0.7, "as_published": False},
        ("answer", "contexts", "references"),
    ),
    "ccrs.contextual_coherence": ([""], {}, ("answer", "contexts")),
    "ccrs.information_density": ([""], {}, ("question", "answer", "contexts")),
    "ccrs.information_recall": ([""], {}, ("answer", "contexts", "references")),
    "ccrs.question_relevance": ([""], {}, ("question", "answer")),
    "citations": (
        ["recall", "precision", "f1", "resolvable", "uncited", "distinct_sources", "quotes"],
        {
            "batch": 25,
            "plan": "joint",
            "missing": "unscored",
            "parentheses": False,
            "limit": None,
            "reading": "all",
            "empty": "undefined",
            "support": "whole",
            "elsewhere": False,
            "unit": "sentences",
        },
        {
            **dict.fromkeys(
                ("recall", "precision", "f1", "resolvable", "quotes"), ("answer", "contexts")
            ),
            **dict.fromkeys(("uncited", "distinct_sources"), ("answer",)),
        },
    ),
    "classic.bartscore": ([""], {"direction": "f", "checkpoint": ""}, ("answer", "references")),
    "classic.bertscore": (
        [""],
        {
            "encoder": "embedded:embedder",
            "layer": -1,
            "measure": "f1",
            "baseline": 0.0,
            "long_texts": "pieces",
        },
        ("answer", "references"),
    ),
    "classic.bleu": (
        [""],
        {
            "form": "sentence",
            "tokenizer": "13a",
            "lowercase": False,
            "smoothing": "exp",
            "smoothing_value": None,
            "citations": "keep",
        },
        ("answer", "references"),
    ),
    "classic.bleurt": ([""], {"checkpoint": ""}, ("answer", "references")),
    "classic.chrf": (
        [""],
        {
            "char_order": 6,
            "word_order": 0,
            "beta": 2,
            "lowercase": False,
            "whitespace": False,
            "citations": "keep",
        },
        ("answer", "references"),
    ),
    "classic.length": (
        ["words", "characters"],
        {"tokenizer": "space", "citations": "keep"},
        ("answer",),
    ),
    "classic.perplexity": ([""], {"given": "nothing"}, ("answer",)),
    **{
        f"classic.rouge_{n}": (
            [""],
            {"tokenizer": "rouge", "measure": "f1", "citations": "keep"},
            ("answer", "references"),
        )
        for n in "12l"
    },
    "classic.unieval": (
        ["coherence", "consistency", "fluency", "relevance", "overall"],
        {"checkpoint": ""},
        {
            "coherence": ("answer", "contexts"),
            "consistency": ("answer", "contexts"),
            "fluency": ("answer",),
            "relevance": ("answer", "references"),
            "overall": ("answer", "references", "contexts"),
        },
    ),
    "climaqa.exact_match": ([""], {"fold": False}, ("answer", "references")),
    "climaqa.factual_accuracy": ([""], {"t": 5.0}, ("answer", "references")),
    "climaqa.mcq": ([""], {"read": "option"}, ("answer", "references", "options")),
    "climaqa.phrase_similarity": (
        [""],
        {"window": 4, "windows": False, "terms": "plain"},
        ("question", "answer", "references"),
    ),
    "comprehensiveness.end_to_end": (
        [""],
        {"summarize": False, "empty": "undefined", "refusal": "zero", "unparsable": "unparsable"},
        ("question", "answer", "contexts"),
    ),
    "comprehensiveness.nli": (
        [""],
        {
            "relevance": 3.5,
            "extraction": "shared",
            "summarize": False,
            "relations": "needed",
            "plan": "joint",
            "similarity": None,
            "empty": "undefined",
            "refusal": "zero",
        },
        ("question", "answer", "contexts"),
    ),
    "comprehensiveness.qa": (
        [""],
        {
            "relevance": 3.5,
            "confidence": 2.0,
            "summarize": False,
            "quantities": "code",
            "language": "auto",
            "relations": "needed",
            "plan": "joint",
            "empty": "undefined",
            "refusal": "zero",
        },
        ("question", "answer", "contexts"),
    ),
    "criteria": (
        ["score"],
        {"file": "", "batch": 10, "form": "points", "tag": ""},
        ("answer", "question", "criteria"),
    ),
    "nuggets": (
        ["strict_vital", "strict_all", "vital", "all", "weighted", "strict_weighted"],
        {"file": "", "assigned": "carried", "batch": 10, "empty": "undefined"},
        ("answer", "nuggets"),
    ),
    "pairs.chateval": (
        [""],
        ORDERS | {"rounds": 1, "temperature": 0.7, "panel": PANEL, "max_tokens": 256},
        ("question",),
    ),
    "pairs.cot": ([""], ORDERS | {"max_tokens": 512}, ("question",)),
    "pairs.direct": ([""], ORDERS, ("question",)),
    "pairs.geval": (
        [""],
        ORDERS | {"votes": 5, "votes_temperature": 1.0, "panel": PANEL, "max_tokens": 512},
        ("question",),
    ),
    "pairs.icl": ([""], ORDERS | {"examples": "", "shown": 3, "longest": 600}, ("question",)),
    "pairs.keypoints": (
        [""],
        {"partial": 0.5, "band": 0.0, "reference": "concise", "equal": "tie"},
        ("question", "references"),
    ),
    "pairs.refer": (
        [""],
        {"temperature": 0.7, "panel": PANEL, "band": 0.0, "equal": "tie", "max_tokens": 384},
        ("question",),
    ),
    "pairs.trained": (
        [""],
        ORDERS | {"judge": "autoj", "formats": "built-in#5135288ce9a941d9", "max_tokens": 1024},
        ("question",),
    ),
    "ragchecker": (
        [
            *(
                "precision",
                "recall",
                "f1",
                "claim_recall",
                "context_precision",
                "context_utilization",
            ),
            *("noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant"),
            *("hallucination", "self_knowledge", "faithfulness"),
        ],
        {"batch": 25, "plan": "each", "empty": "undefined"},
        {
            **dict.fromkeys(("precision", "recall", "f1"), ("answer", "references")),
            **dict.fromkeys(("claim_recall", "context_precision"), ("references", "contexts")),
            **dict.fromkeys(
                (
                    *(
                        "context_utilization",
                        "noise_sensitivity_in_relevant",
                        "noise_sensitivity_in_irrelevant",
                    ),
                    *("hallucination", "self_knowledge"),
                ),
                ("answer", "references", "contexts"),
            ),
            "faithfulness": ("answer", "contexts"),
        },
    ),
    "score.answer_relevance": (
        ["masked", "plain"],
        {"questions": 5, "masking": "phrases"},
        ("question", "answer"),
    ),
    "score.context_utilization": (
        ["absolute", "relative"],
        {"chat": True, "max_claims": 100, "documents": False},
        ("question", "answer", "contexts"),
    ),
    "score.readability": (
        ["reading_ease", "grade_level"],
        {"syllables": "rule", "citations": "keep", "language": "en"},
        ("answer",),
    ),
    "score.robustness": (
        ["paraphrase", "perturbation"],
        {"long_answers": "mean"},
        ("answer", "base_answer", "variant"),
    ),
    "score.segment_attribution": (
        ["relevance", "order_changed"],
        {"max_points": 100},
        ("question", "answer"),
    ),
    "score.specificity": (
        ["", "hazard", "location", "timeline", "intensity"],
        {"samples": 3, "temperature": 0.7, "check": "words", "all_na": "undefined"},
        ("answer", "contexts"),
    ),
    "sources": (
        ["omitted", "hidden_conflicts"],
        {"read": "cited", "relevance": 3.5, "missing": "unscored", "parentheses": False},
        ("question", "answer", "contexts"),
    ),
}


def test_prompts_are_those_of_stored_rows():
    assert {prompt.id: prompt.hash for prompt in (SYSTEM, *metrics.all_prompts())} == PROMPTS


def test_names_parameters_and_inputs_are_those_of_stored_rows():
    assert metrics.names() == tuple(DECLARED)  # modules such as score/_labels.py are not metrics
    for name, (parts, params, needs) in DECLARED.items():
        metric = metrics.load(name)
        assert list(metric.published(name)) == [full_name(name, part) for part in parts]
        assert dataclasses.asdict(metric.params()) == params
        assert metric.needs == needs
