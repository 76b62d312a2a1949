"""What the files of tracing tools in examples/exports hold, by hand (`tests.exports` reads them)."""

from __future__ import annotations

from tests.export import Export

CAPITAL = "What is the capital of Italy?"
RIVER = "Which river flows through Rome?"
SEA = "Which sea is it near?"
RIGHT_SEA = "The Tyrrhenian Sea"
MODEL = "mock-1"
BRIEFLY = ("system", "Answer briefly.")
RIVER_TURNS = (("user", RIVER), ("assistant", "The Tiber"))
SEA_TURNS = (("user", SEA), ("assistant", ""))
TOOL_TURNS = (
    BRIEFLY,
    ("user", CAPITAL),
    ("assistant", ""),
    ("tool", "Rome is the capital of Italy."),
    ("assistant", "Rome"),
)
CLIENT = "openai 3.57.0, opentelemetry-sdk 1.45.2"
LANGFUSE = "langfuse 5.0.4"
LANGFUSE_ANSWERS = (
    ("t1", MODEL, CAPITAL, "Rome", 2, ()),
    ("t2", MODEL, RIVER, "The Tiber", 0, ()),
)
LANGFUSE_TURNS = (
    (BRIEFLY, ("user", CAPITAL), ("assistant", "Rome")),
    RIVER_TURNS,
)
LANGSMITH = "langsmith 0.15.1"
LANGSMITH_IDS = (
    "01a22455-1032-7d0b-8d62-c3ae02d496bb",
    "01a22455-1033-7d1f-8eed-56aa220530b2",
    "01a22455-1033-7356-9f16-60ae35609c19",
)
TRULENS = "trulens-core 2.16.0"
TRULENS_IDS = (
    "3d466703-4874-4eaa-bb16-e8cf5613af76",
    "db64be8a-2f50-4f63-96fc-a591de498d42",
    "d6ac9390-785c-48e1-a529-cebd135be4be",
    "a81d8ee2-4c16-4849-ba52-ea8206efbf6d",
)


def trulens_answers(empty: str | None) -> tuple[tuple[object, ...], ...]:
    """The answers of two versions of an app; empty: how the file has an empty one, and that of a call that failed."""
    return (
        (TRULENS_IDS[0], "cities v1", CAPITAL, "Rome", 0, ()),
        (TRULENS_IDS[1], "cities v1", RIVER, empty, 0, ()),
        (TRULENS_IDS[2], "cities v2", CAPITAL, "Rome", 0, ()),
        (TRULENS_IDS[3], "cities v2", RIVER, empty, 0, ()),
    )


def client_answers(capital: str, sea: str, river: str) -> tuple[tuple[object, ...], ...]:
    """The answers of the three traces, by the ids of these."""
    return (
        (capital, MODEL, CAPITAL, "Rome", 2, ()),
        (sea, MODEL, SEA, "", 0, ()),
        (river, MODEL, RIVER, "The Tiber", 0, ()),
    )


EXPORTS = (
    Export(
        f"openinference-instrumentation-openai 0.1.66, {CLIENT}",
        "opentelemetry/openinference.jsonl",
        "a retrieval, a call of a tool and its answer; an empty answer, a call that failed, a streamed answer",
        client_answers(
            "83b85c978702aefc13d24fa91cab2142",
            "c42c7904e3db60e644277c5d4e856c98",
            "6fb044a39e21a31419279af541b05459",
        ),
        "2 other spans, 1 traces without a question and an answer",
        turns=(TOOL_TURNS, SEA_TURNS, RIVER_TURNS),
    ),
    Export(
        f"opentelemetry-instrumentation-openai 0.62.4, {CLIENT}",
        "opentelemetry/openllmetry.jsonl",
        "the same as OpenLLMetry records it",
        client_answers(
            "3200fe874ce6463c5be4be73e8c75830",
            "ece94eecfb51f75f9c3592ecfe691cc7",
            "4b2c9d7c14a42006c6627801dec81531",
        ),
        "2 other spans, 1 traces without a question and an answer",
        turns=(TOOL_TURNS, SEA_TURNS, RIVER_TURNS),
    ),
    Export(
        LANGFUSE,
        "langfuse/observations.json",
        "a page of observations: a retriever, a root below a span that was not exported, a failure",
        LANGFUSE_ANSWERS,
        "1 other spans, 1 traces without a question and an answer",
        turns=LANGFUSE_TURNS,
    ),
    Export(
        LANGFUSE,
        "langfuse/observations.jsonl",
        "the same, an observation a line",
        LANGFUSE_ANSWERS,
        "1 other spans, 1 traces without a question and an answer",
        turns=LANGFUSE_TURNS,
    ),
    Export(
        "braintrust 0.48.1",
        "braintrust/results.jsonl",
        "an object, an empty answer, a task that failed",
        (
            (None, None, CAPITAL, "Rome", 2, ("Rome",)),
            (None, None, RIVER, "", 0, ("Tiber",)),
            (None, None, SEA, None, 0, (RIGHT_SEA,)),
        ),
        "2 scores of Braintrust's scorers",
        has_ids=False,
    ),
    Export(
        LANGSMITH,
        "langsmith/results.jsonl",
        "an answer with passages, an empty one, a run that failed",
        (
            (LANGSMITH_IDS[0], None, CAPITAL, "Rome", 2, ("Rome",)),
            (LANGSMITH_IDS[1], None, RIVER, "", 0, ("Tiber",)),
            (LANGSMITH_IDS[2], None, SEA, None, 0, (RIGHT_SEA,)),
        ),
        "3 scores of LangSmith's evaluators",
    ),
    Export(
        LANGSMITH,
        "langsmith/results.csv",
        "the same as CSV, in which an empty answer is an empty cell, as a missing one is",
        (
            (LANGSMITH_IDS[0], None, CAPITAL, "Rome", 2, ("Rome",)),
            (LANGSMITH_IDS[1], None, RIVER, None, 0, ("Tiber",)),
            (LANGSMITH_IDS[2], None, SEA, None, 0, (RIGHT_SEA,)),
        ),
        "3 scores of LangSmith's evaluators",
    ),
    Export(
        TRULENS,
        "trulens/records.jsonl",
        "two versions of an app, an empty answer, a call that failed, which TruLens writes as an empty answer",
        trulens_answers(""),
        "nothing",
    ),
    Export(
        TRULENS,
        "trulens/records.csv",
        "the same as CSV, in which an empty answer is an empty cell",
        trulens_answers(None),
        "nothing",
    ),
    *(
        Export(
            "arize-phoenix 20.26.1, arize-phoenix-client 3.5.0",
            f"phoenix/spans.{suffix}",
            says,
            (("e0aa879f605a4af38ef8456a8ee47b32", MODEL, CAPITAL, "Rome", 2, ()),),
            "1 other spans, 1 traces without a question and an answer",
            turns=((("user", CAPITAL), ("assistant", "Rome")),),
        )
        for suffix, says in (
            ("json", "a trace with a retriever, a reranker and a model; one that failed"),
            ("parquet", "the same as a table"),
            ("csv", "the same, with the index a second time and lists as Python prints them"),
        )
    ),
)
