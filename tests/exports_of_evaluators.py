"""What the files of evaluation platforms in examples/exports hold, by hand (`tests.exports` reads them)."""

from __future__ import annotations

from tests.export import Export

CAPITAL = "What is the capital of Italy?"
RIVER = "Which river flows through Rome?"

PROMPTFOO = "promptfoo 0.123.1"
_PLAIN = ("Rome", "Milan", None)  # an answer for each test but the last: two questions, two times
_WORDY = ("It is Rome.", "It is Rome.", "", None)


def _of_promptfoo(
    passages: int, references: tuple[str, ...], last: str = "Tevere"
) -> tuple[tuple[object, ...], ...]:
    """passages, references: of the capital. last: the last answer of the plain system, an object."""
    systems = ("plain / short", "plain / long", "wordy / short", "wordy / long")
    return tuple(
        (
            f"{test}-{column}",
            system,
            CAPITAL if test < 2 else RIVER,
            ((*_PLAIN, last) if column < 2 else _WORDY)[test],
            passages if test < 2 else 0,
            references if test < 2 else ("Tiber",),
        )
        for test in range(4)
        for column, system in enumerate(systems)
    )


SEA = "Which sea is it near?"
OPIK = "opik 2.2.122"
OPIK_SYSTEM = "eager_rome_2021"
WEAVE = "weave 0.54.0"
WEAVE_SYSTEM = "ask:50d80ea29408"
_CALL = "01a225b3-55"
_PREDICTIONS = (  # two trials of three rows, of which the second has an empty answer, and the third failed
    (f"{_CALL}d4-7b79-81e8-876a1b5dc03c", CAPITAL, "Rome", 2, ("Rome",)),
    (f"{_CALL}dc-7569-a2cc-627b8db5e393", RIVER, "", 0, ("Tiber",)),
    (f"{_CALL}de-70d6-9cd3-efde73afd821", SEA, None, 0, ("The Tyrrhenian Sea",)),
    (f"{_CALL}e0-7f83-8521-3b70e6c86e26", CAPITAL, "Rome", 2, ("Rome",)),
    (f"{_CALL}e4-71a0-a4ad-1872d46b2a1f", RIVER, "", 0, ("Tiber",)),
    (f"{_CALL}e6-7396-b750-9d4aaabe4e1c", SEA, None, 0, ("The Tyrrhenian Sea",)),
)

_RUNS = tuple(
    (f"RGF0YXNldEV4YW1wbGU6{name}==-{time}", None, question, answer, passages, references)
    for name, question, answer, passages, references in (
        ("MQ", CAPITAL, "Rome", 2, ("Rome",)),
        ("Mg", RIVER, "", 0, ("Tiber",)),
        ("Mw", SEA, None, 0, ("The Tyrrhenian Sea",)),
    )
    for time in (1, 2)
)
GISKARD = "giskard 2.19.2"
_NEAR = "And which sea is it near?"
_BEFORE = (("user", "Where is Rome?"), ("assistant", "In Italy."), ("user", _NEAR))


def _of_giskard(*answers: str | None) -> tuple[tuple[object, ...], ...]:
    asked = ((CAPITAL, "Rome"), (RIVER, "Tiber"), (_NEAR, "The Tyrrhenian Sea"))
    return tuple(
        (f"q{number}", None, question, answer, 0, (right_answer,))
        for number, ((question, right_answer), answer) in enumerate(
            zip(asked, answers, strict=True), 1
        )
    )


EXPORTS = (
    Export(
        "arize-phoenix 20.26.1, arize-phoenix-client 3.5.0",
        "phoenix/experiment.json",
        "an experiment of three questions, two times; an empty answer, a task that failed",
        _RUNS,
        "6 annotations",
    ),
    Export(
        "arize-phoenix 20.26.1, arize-phoenix-client 3.5.0",
        "phoenix/experiment.csv",
        "the same as CSV, where objects are JSON",
        _RUNS,
        "nothing",
    ),
    Export(
        GISKARD,
        "giskard/testset.jsonl",
        "questions with right answers, the last one with a conversation before it",
        _of_giskard(None, None, None),
        "nothing",
        turns=((), (), _BEFORE),
    ),
    Export(
        GISKARD,
        "giskard/report.jsonl",
        "the table of a report: an answer, an empty one, one to a conversation",
        _of_giskard("Rome", "", "The Adriatic"),
        "3 results of Giskard's metrics",
        turns=((), (), (*_BEFORE, ("assistant", "The Adriatic"))),
    ),
    Export(
        GISKARD,
        "giskard/report.csv",
        "the same as CSV, in which an empty answer is an empty cell and the conversation is as Python prints it",
        _of_giskard("Rome", None, "The Adriatic"),
        "nothing",
        turns=((), (), (*_BEFORE, ("assistant", "The Adriatic"))),
    ),
    Export(
        PROMPTFOO,
        "promptfoo/results.json",
        "two providers, two prompts, two questions, two times; no output, an empty one, an object, a failed call",
        _of_promptfoo(2, ("Rome",)),
        "20 scores of assertions",
    ),
    Export(
        PROMPTFOO,
        "promptfoo/results.jsonl",
        "the same, a result a line",
        _of_promptfoo(2, ("Rome",)),
        "20 scores of assertions",
    ),
    Export(
        PROMPTFOO,
        "promptfoo/results.csv",
        "the same as a table, without assertions' values; two passages are one text with a comma between",
        _of_promptfoo(1, (), '{"answer":"Tevere"}'),
        "16 scores of answers",
    ),
    Export(
        OPIK,
        "opik/experiment.json",
        "an answer, an empty one with an empty retrieval, the first question again, a task that failed",
        (
            ("item-1", OPIK_SYSTEM, CAPITAL, "Rome", 2, ("Rome",)),
            ("item-2", OPIK_SYSTEM, RIVER, "", 0, ("Tiber",)),
            ("item-3", OPIK_SYSTEM, CAPITAL, "Milan", 2, ("Rome",)),
            ("item-4", OPIK_SYSTEM, SEA, None, 0, ("The Tyrrhenian Sea",)),
        ),
        "3 scores of Opik",
    ),
    Export(
        OPIK,
        "opik/experiment.csv",
        "the same as CSV, into which Opik writes no texts",
        (),
        "4 records without a question and an answer",
        refused="Were the texts recorded?",
    ),
    Export(
        OPIK,
        "opik/result.json",
        "the result of an evaluation in Python, which ends with a task that fails",
        (
            ("trace-1", OPIK_SYSTEM, CAPITAL, "Rome", 2, ("Rome",)),
            ("trace-2", OPIK_SYSTEM, RIVER, "", 0, ("Tiber",)),
            ("trace-3", OPIK_SYSTEM, CAPITAL, "Milan", 2, ("Rome",)),
        ),
        "3 scores of Opik",
    ),
    Export(
        OPIK,
        "opik/trace.json",
        "a trace with a tool that retrieves and a call of a model",
        (("trace-1", "small-model", CAPITAL, "Rome", 2, ()),),
        "1 other spans",
    ),
    Export(
        WEAVE,
        "weave/calls.jsonl",
        "two calls of an application with a search, the second with an empty answer",
        (
            ("01a225b3-5680-7bcf-bc2f-44d574a25a62", None, CAPITAL, "Rome", 2, ()),
            ("01a225b3-5683-7d41-948a-56e73ceeb632", None, RIVER, "", 0, ()),
        ),
        "nothing",
    ),
    Export(
        WEAVE,
        "weave/evaluation-expanded.jsonl",
        "an evaluation of three rows, two times, with the rows; an empty answer, an application that failed",
        tuple((name, WEAVE_SYSTEM, *answer) for name, *answer in _PREDICTIONS),
        "12 other spans, 2 retrievers that failed, 4 scores of the tool",
    ),
    Export(
        WEAVE,
        "weave/evaluation.jsonl",
        "the same with references in place of the rows, as the API gives it unless it is asked for them",
        tuple(
            (name, WEAVE_SYSTEM, None, answer, passages, ())
            for name, _question, answer, passages, _references in _PREDICTIONS
            if answer is not None
        ),
        "12 other spans, 6 questions that are references (query the calls with expand_columns inputs.example), "
        "2 records without a question and an answer, 2 retrievers that failed, 4 scores of the tool",
    ),
)
