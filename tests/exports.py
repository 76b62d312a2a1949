"""What the files in examples/exports hold, by hand, and what longmark reads of them.

Each file was written by the tool itself (`examples/exports/NAME/make.sh`). What a file holds stands here as the tool
shows it: the answers that it scored, their systems, passages and references; or the labels that it counts.
`python -m tests.exports` writes the table of examples/exports/README.md; tests/test_exports.py holds it to the code.
"""

from __future__ import annotations

from typing import Any

from tests import (
    exports_of_evaluators,
    exports_of_frameworks,
    exports_of_labels,
    exports_of_libraries,
    exports_of_replies,
    exports_of_traces,
)
from tests.export import FOLDER, Export

from longmark.errors import UserError
from longmark.records.read import Reading
from longmark.scores.labels import ColumnOptions, Labels

README = FOLDER / "README.md"
HEAD = """\
# Files that tools wrote

Each folder has a `make.sh`, which installs one release of a tool in a virtual environment that is removed afterwards, runs
the tool without a model, and writes the files beside it. `python -m tests.exports` makes this table; a test holds that
what is read is what the tool's file holds.

"""
CAPITAL = "What is the capital of Italy?"
RIVER = "Which river flows through Rome?"
MOCK = "mockllm/model"
ANN, BOB, CY = (f"00000000-0000-0000-0000-00000000000{number}" for number in (1, 2, 3))


EPOCHS = tuple(
    (f"{name}-{epoch}", MOCK, question, answer, passages, references)
    for epoch, answers in ((1, ("Rome", "Tiber")), (2, ("Milan", "Tevere")))
    for name, question, answer, passages, references in (
        ("capital", CAPITAL, answers[0], 2, ("Rome",)),
        ("river", RIVER, answers[1], 0, ("Tiber", "Tevere")),
    )
)
INSPECT = "inspect_ai 0.3.285"
INSPECT_SCORES = "{} scores of Inspect's scorers"
PYDANTIC_EVALS = "pydantic-evals 2.62.0"
SEA = "Which sea is it near?"
LAKE = "Which lake is it near?"
LABEL_STUDIO = "label-studio-sdk 2.1.2"
ARGILLA = "argilla 2.8.0"
ARGILLA_LABELS = (("a1", ANN, "quality", 4.0), ("a1", ANN, "issues", "long; vague"))

EXPORTS = (
    *exports_of_libraries.EXPORTS,
    *exports_of_traces.EXPORTS,
    *exports_of_evaluators.EXPORTS,
    *exports_of_frameworks.EXPORTS,
    *exports_of_labels.EXPORTS,
    *exports_of_replies.EXPORTS,
    Export(
        INSPECT,
        "inspect_ai/epochs.json",
        "two questions in two epochs",
        EPOCHS,
        INSPECT_SCORES.format(4),
    ),
    Export(
        INSPECT,
        "inspect_ai/epochs.eval",
        "the same as .eval",
        EPOCHS,
        INSPECT_SCORES.format(4),
    ),
    Export(
        INSPECT,
        "inspect_ai/agent.json",
        "an agent that submits; Inspect scores its completion",
        (("capital-1", MOCK, CAPITAL, "tool call for tool submit\n\nRome", 2, ("Rome",)),),
        INSPECT_SCORES.format(1),
    ),
    Export(
        INSPECT,
        "inspect_ai/failed.json",
        "a sample that failed, and one that did not",
        (
            ("capital-1", MOCK, CAPITAL, None, 2, ("Rome",)),
            ("river-1", MOCK, RIVER, "Tiber", 0, ("Tiber", "Tevere")),
        ),
        INSPECT_SCORES.format(1),
    ),
    Export(
        PYDANTIC_EVALS,
        "pydantic_evals/report.json",
        "a text, an object, a case that failed",
        (
            ("capital", None, CAPITAL, "Rome", 2, ("Rome",)),
            ("river", None, RIVER, "Tevere", 0, ("Tiber",)),
            ("sea", None, SEA, None, 0, ("The Tyrrhenian Sea",)),
        ),
        "2 scores of evaluators",
    ),
    Export(
        PYDANTIC_EVALS,
        "pydantic_evals/repeated.json",
        "the same, each case twice",
        (
            ("capital [1/2]", None, CAPITAL, "Rome", 2, ("Rome",)),
            ("capital [2/2]", None, CAPITAL, "Rome", 2, ("Rome",)),
            ("river [1/2]", None, RIVER, "Tevere", 0, ("Tiber",)),
            ("river [2/2]", None, RIVER, "Tevere", 0, ("Tiber",)),
            ("sea [1/2]", None, SEA, None, 0, ("The Tyrrhenian Sea",)),
            ("sea [2/2]", None, SEA, None, 0, ("The Tyrrhenian Sea",)),
        ),
        "4 scores of evaluators",
    ),
    Export(
        "deepeval 4.3.1",
        "deepeval/test_run.json",
        "two cases of one name, an empty retrieval beside the ideal passages, an empty answer",
        (
            ("capital-0", None, CAPITAL, "Rome", 2, ("Rome",)),
            ("capital-1", None, CAPITAL, "Milan", 0, ("Rome",)),
            ("test_case_2", None, RIVER, "", 0, ("Tiber",)),
        ),
        "3 scores of DeepEval's metrics",
    ),
    Export(
        "mlflow-skinny 3.17.2",
        "mlflow/traces.jsonl",
        "traces with retrieved passages, an expectation, a feedback; an empty answer, a call that failed",
        (
            ("tr-47b999ed799084e9cb3c9f4bd5a553dd", None, LAKE, "", 0, ()),
            ("tr-1a5108956166e7bb1f7f8edf0fbf7607", None, RIVER, "Tevere", 0, ()),
            ("tr-bbef914c4bd38340ade7cc0c5eb9601d", None, CAPITAL, "Rome", 2, ("Rome",)),
        ),
        "1 scores of the tool, 1 traces without a question and an answer",
    ),
    Export(
        LABEL_STUDIO,
        "label_studio/project.csv",
        "ratings of two people, one annotation cancelled",
        (
            ("a1", "ann@example.org", "rating", 4.0),
            ("a1", "8", "rating", 2.0),
            ("a2", "8", "rating", 0.0),
        ),
        "1 records without a label",
        of_labels=True,
        mapping=(("value", "quality"),),
    ),
    Export(
        LABEL_STUDIO,
        "label_studio/project-min.json",
        "choices of two people, one of them two",
        (
            ("a1", "ann@example.org", "rating", "Yes, fully"),
            ("a1", "8", "rating", "Too long; Vague"),
        ),
        "2 records without a label",
        of_labels=True,
        mapping=(("value", "verdict"),),
    ),
    Export(
        ARGILLA,
        "argilla/flat.json",
        "submitted, discarded and draft answers",
        ARGILLA_LABELS,
        "2 discarded answers, 1 drafts, 1 records without a label",
        of_labels=True,
    ),
    Export(
        ARGILLA,
        "argilla/nested.json",
        "the same, without their status",
        (
            *ARGILLA_LABELS,
            ("a1", BOB, "quality", 1.0),
            ("a1", CY, "quality", 2.0),
            ("a1", BOB, "best", "second; first"),
        ),
        "1 records without a label. 5 answers have no status, so that discarded answers and drafts may be among them; "
        "export with dataset.records.to_list(flatten=True), which writes it",
        of_labels=True,
    ),
)


def read(export: Export) -> tuple[tuple[tuple[Any, ...], ...], str]:
    """What longmark reads of a file, as `Export.holds` has it, and what it says that it does not read."""
    mapping = dict(export.mapping)
    if export.of_labels:
        with Labels(export.path, options=ColumnOptions(mapping=mapping)) as labels:
            rows = [(row.example_id, row.rater, row.metric, row.value) for row in labels.select()]
            return tuple(rows), _not_read(labels.notices[0])
    reading = Reading(export.path, mapping=mapping)
    if export.refused:
        return (), _not_read(refusal(export)).partition(". ")[0]
    answers = [
        (
            example.id if export.has_ids else None,
            example.system,
            example.question,
            example.answer,
            len(example.contexts),
            example.references,
        )
        for example in reading.singles()
    ]
    return tuple(answers), _not_read(reading.notice)


def turns_of(export: Export) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The messages of each conversation, as `Export.turns` has them."""
    reading = Reading(export.path, mapping=dict(export.mapping))
    return tuple(
        tuple((turn.role, turn.text) for turn in example.turns) for example in reading.singles()
    )


def refusal(export: Export) -> str:
    """What is said of a file that has no answer; "" if it is read."""
    try:
        list(Reading(export.path).singles())
    except UserError as error:
        return str(error)
    return ""


def _not_read(notice: str) -> str:
    return notice.partition("Not read: ")[2].removesuffix(".")


def table() -> str:
    """The table of the README, from the files."""
    lines = [
        "| tool | file | what it holds | what is read | not read, counted |",
        "| --- | --- | --- | --- | --- |",
    ]
    for export in EXPORTS:
        rows, not_read = read(export)
        kind = "labels" if export.of_labels else "answers"
        differences = len({*map(repr, rows)} ^ {*map(repr, export.holds)})
        result = f"{len(rows)} of {len(export.holds)} {kind}, {differences} different"
        if export.refused:
            result = "refused: it has no answers"
        options = "".join(f", `--map {field}={column}`" for field, column in export.mapping)
        lines.append(
            f"| {export.tool} | `{export.file}` | {export.says} | {result}{options} | {not_read} |"
        )
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    README.write_text(table(), encoding="utf-8")
