"""What the files of model APIs in examples/exports hold, by hand (`tests.exports` reads them)."""

from __future__ import annotations

from tests.export import Export

CAPITAL = "What is the capital of Italy?"
RIVER = "Which river flows through Rome?"
_MARKED = "Rome is the capital [1], not Milan [2]."
SOURCES = {
    "perplexity": ("https://example.org/rome", "https://example.org/milan"),
    "cohere": ("rome", "milan"),
    "mistral": ("1", "2"),
    "azure_openai": ("rome.md", "milan.md"),
}
"""Folder -> the ids of the sources that the first answer cites; their texts are those of `TEXTS`."""
TEXTS = ("Rome is the capital of Italy.", "Milan is in Italy.")


def _answers(cited: str, passages: int = 0) -> tuple[tuple[object, ...], ...]:
    return (
        ("q1", None, CAPITAL, cited, passages, ()),
        ("q2", None, RIVER, "The Tiber.", passages, ()),
    )


EXPORTS = (
    Export(
        "perplexityai 0.46.1",
        "perplexity/answers.jsonl",
        "an answer with two results of the search as its sources, and one without a search",
        _answers("Rome is the capital[1], not Milan[2]."),
        "",
    ),
    Export(
        "cohere 7.3.1",
        "cohere/answers.jsonl",
        "an answer that cites two documents by spans, and one without documents",
        _answers(_MARKED),
        "",
    ),
    Export(
        "mistralai 3.7.0",
        "mistral/answers.jsonl",
        "an answer with references to two passages, which stand beside it, and one without",
        _answers(_MARKED, 2),
        "",
    ),
    Export(
        "openai 3.57.0",
        "azure_openai/answers.jsonl",
        "an answer of Azure OpenAI on your data with two documents, and one without",
        _answers("Rome is the capital [doc1], not Milan [doc2]."),
        "",
    ),
)
