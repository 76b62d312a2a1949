"""A run of the SCORE metrics by fakes, scored by the engine itself: `python -m tests.report.scored FOLDER` shows it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from tests.report.runs import HOSTILE

import longmark
from longmark.models.fake import FakeChat, FakeEmbedder, FakeLanguageModel, FakeReranker
from longmark.models.protocols import ChatRequest

NAMES = ("hazard", "location", "timeline", "intensity")
PROFILE = {
    "hazard": "ice storm",
    "profession": "grid operator",
    "location": "Cook, IL",
    "infrastructure": "power lines",
}

ICE = """\
Three measures help against an ice storm:

1. Ice of 20 mm broke lines in Cook, IL in 2009.
2. Bury the weakest lines within 5-10 years.
3. Sand the roads.

Confidence score: 85 %"""
PASSAGES = (
    "Freezing rain coats lines with ice. Its weight breaks lines.",
    "Buried lines are out of reach of ice.",
    "Sand is spread on roads in winter. Nothing is known of its use for lines.",
)
ARABIC = "1. كسر الجليد خطوط الكهرباء.\n2. ادفنوا الخطوط الضعيفة خلال خمس سنوات."
CLAIMS = 300

RECORDS: list[dict[str, Any]] = [
    {
        "id": "ice",
        "question": "How do I keep the power lines of Cook, IL through an ice storm?",
        "answer": ICE,
        "contexts": [{"text": text, "id": f"doc-{i}"} for i, text in enumerate(PASSAGES)],
        "profile": PROFILE,
    },
    {
        "id": "arabic",
        "question": "كيف أحمي خطوط الكهرباء؟",
        "answer": ARABIC,
        "contexts": ["الجليد ثقيل. يكسر الخطوط."],
        "profile": PROFILE,
    },
    {
        "id": "one",
        "question": "What helps?",
        "answer": "Patience.",
        "contexts": ["Sand is dry."],
        "profile": PROFILE,
    },
    {
        "id": "none",
        "question": "What helps?",
        "answer": "Hello!",
        "contexts": [" "],
        "profile": PROFILE,
    },
    {"id": "empty", "question": "What helps?", "answer": ""},
    {
        "id": "hostile",
        "question": HOSTILE,
        "answer": f"1. {HOSTILE}\n2. {HOSTILE} again.",
        "contexts": [{"text": HOSTILE, "id": HOSTILE}, HOSTILE + " twice."],
        "profile": PROFILE,
    },
]

LONG: dict[str, Any] = {
    "id": "long",
    "question": "What is known of every line?",
    "answer": "\n".join(f"{n}. Line {n} " + "broke under ice " * 33 for n in range(1, CLAIMS + 1)),
    "contexts": ["Lines broke under ice."],
    "profile": PROFILE,
}
"""An answer of 30,000 words, with a claim in each line."""


def judge(name: str) -> FakeChat:
    """Says what its rules find in the text, in the form that is asked for."""

    def answer(request: ChatRequest) -> str:
        asked = request.messages[1].content
        given = dict(re.findall(r"(?s)<(\w+) \w+>\n(.*?)\n</\1", asked))
        if "claim" in given:
            labels = {
                of: {"label": _label(name, of, given["claim"]), "reason": _reason(name, of)}
                for of in NAMES
            }
            return json.dumps(
                {of: mark for of, mark in labels.items() if (name, of) != ("third", "intensity")}
            )
        if "claims" in given:
            return json.dumps({of: re.findall(_SIGNS[of], given["claims"])[:5] for of in NAMES})
        if "context" in given:
            facts = [part.strip() for part in re.split(r"(?<=\.)\s+", given["context"])]
            return json.dumps(
                {"facts": [fact.replace("Its weight", "The weight of ice") for fact in facts]}
            )
        if "words and phrases" in asked:
            pairs = (("Ice", "hazard"), ("hail", "hazard"), ("lines", "infrastructure"))
            return json.dumps(
                {"phrases": [{"phrase": phrase, "kind": kind} for phrase, kind in pairs]}
            )
        if '"questions"' in asked:
            first = " ".join(given["answer"].split()[:9])
            return json.dumps(
                {
                    "questions": [
                        f"{word} {first}?" for word in ("What of", "Why", "When", "How", "Who says")
                    ]
                }
            )
        lines = [re.sub(r"^\d+\. ", "", line) for line in given["answer"].splitlines()]
        return json.dumps(
            {
                "claims": [
                    line for line in lines if line.rstrip().endswith((".", "ice")) or "<" in line
                ]
            }
        )

    return FakeChat(answer, name=name)


_SIGNS = {
    "hazard": r"(?i)\bice\b|<",
    "location": r"Cook|Line \d+",
    "timeline": r"2009|5-10",
    "intensity": r"20 mm|1\d\d",
}


def _label(name: str, dimension: str, claim: str) -> str:
    """n/a without a sign of the dimension; of years the judges say different things."""
    if not re.search(_SIGNS[dimension], claim):
        return "n/a"
    if dimension == "timeline":
        return {"first": "yes", "second": "no", "third": "no" if "2009" in claim else "n/a"}[name]
    return "yes"


def _reason(name: str, dimension: str) -> str:
    return f"So the {name} judge reads the {dimension} <b>here</b>."


def _confidence(prompt: str, word: str) -> float:
    """A word that was read is likelier, every word more so for what is said of burying, less so for what of sand."""
    read = -0.5 if word.strip(".").lower() in prompt.lower() else -2.0
    return read + 0.3 * prompt.count("Buried") - 0.2 * prompt.count("Sand")


def _relevance(query: str, document: str) -> float:
    """Words in common, less a little for each word."""
    words = document.lower().split()
    return len(set(query.lower().split()) & set(words)) - 0.05 * len(words)


def score_run(
    folder: Path,
    records: list[dict[str, Any]] | None = None,
    metrics: str = "score",
    judges: tuple[str, ...] = ("first", "second", "third"),
    **more: Any,
) -> Path:
    """The folder of a run, made by the engine."""
    longmark.run(
        RECORDS if records is None else records,
        metrics=metrics,
        judges=[judge(name) for name in judges],
        embedder=FakeEmbedder(),
        reranker=FakeReranker(_relevance),
        lm=FakeLanguageModel(_confidence),
        cache=folder.with_suffix(".sqlite"),
        domain="hazards",
        out=folder,
        **more,
    )
    return folder


def long_run(folder: Path) -> Path:
    """The answer of 30,000 words, scored by a single judge."""
    return score_run(
        folder,
        [LONG],
        "score.specificity@samples=1,score.segment_attribution@max_points=300,score.answer_relevance.masked",
        ("first",),
    )


def main(folder: Path) -> None:
    from longmark.report.html import write_report

    write_report([score_run(folder / "run")], folder / "report.html")
    write_report([long_run(folder / "long")], folder / "long.html")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
