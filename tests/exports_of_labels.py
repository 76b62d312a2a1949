"""What the files of labelling tools in examples/exports hold, by hand (`tests.exports` reads them)."""

from __future__ import annotations

from tests.export import Export

POTATO = "potato-annotation 2.12.1"
POTATO_ANN = (
    ("a1", "ann", "quality", 4.0),
    ("a1", "ann", "verdict", "good"),
    ("a1", "ann", "why", "It is right."),
    ("a2", "ann", "quality", 1.0),
    ("a2", "ann", "faults", "long; vague"),
)
POTATO_BOB = ("a1", "bob", "quality", 5.0)
SPANS = "1 labels of parts of a text"

EXPORTS = (
    Export(
        POTATO,
        "potato/state-ann.json",
        "a scale, a choice, two choices, a text, a span",
        POTATO_ANN,
        SPANS,
        of_labels=True,
    ),
    Export(
        POTATO,
        "potato/state-bob.json",
        "a scale, and an item without a label",
        (POTATO_BOB,),
        "nothing",
        of_labels=True,
    ),
    Export(
        POTATO,
        "potato/annotations.jsonl",
        "both people in one export",
        (*POTATO_ANN, POTATO_BOB),
        SPANS,
        of_labels=True,
    ),
    Export(
        POTATO,
        "potato/annotations.csv",
        "the same, a column for each label",
        (*POTATO_ANN, POTATO_BOB),
        SPANS,
        of_labels=True,
    ),
    Export(
        "dkpro-cassis 0.12.0",
        "inception/document.json",
        "a document's labels (a text, a truth value, a number), a span behind an emoji",
        (
            ("a1", "people", "verdict", "good"),
            ("a1", "people", "useful", "false"),
            ("a1", "people", "points", 4.5),
        ),
        SPANS,
        of_labels=True,
    ),
    Export(
        "dkpro-cassis 0.12.0",
        "inception/spans.json",
        "a span behind an emoji, and no label of the document",
        (("a1[32:47]", "people", "verdict", "wrong"),),
        "nothing",
        of_labels=True,
    ),
)
