"""What the files of evaluation libraries in examples/exports hold, by hand (`tests.exports` reads them)."""

from __future__ import annotations

from tests.export import Export

CAPITAL = "What is the capital of Italy?"
RIVER = "Which river flows through Rome?"
LM_EVAL = "lm_eval 0.4.13"
RAGAS = "ragas 0.4.3"
DATASETS = "datasets 5.2.0"
OPEN_RAG_EVAL = "open-rag-eval 0.3.0"
PROMPTS = (f"Q: {CAPITAL}\nA:", f"Q: {RIVER}\nA:")
BRIEFLY = ("system", "Answer briefly.")
HARNESS_ANSWERS = (
    ("0", None, PROMPTS[0], "It is Rome.", 0, ("Rome", "Roma")),
    ("1", None, PROMPTS[1], "The Tiber.", 0, ("Tiber",)),
)
CONVERSATIONS = (
    (None, None, RIVER, "The Tiber; it's long.", 0, ("The Tiber",)),
    (None, None, "And of France?", "Paris", 0, ("Paris",)),
)
CONVERSATION_TURNS = (
    (
        ("user", RIVER),
        ("assistant", "I look it up."),
        ("tool", "The Tiber flows through Rome."),
        ("assistant", "The Tiber; it's long."),
    ),
    (
        ("user", CAPITAL),
        ("assistant", "Rome"),
        ("user", "And of France?"),
        ("assistant", "Paris"),
    ),
)
MIXED = (
    ("capital", None, CAPITAL, "Rome", 2, ("Rome",)),
    ("river", None, RIVER, "", 0, ("Tiber", "Tevere")),
)

EXPORTS = (
    Export(
        LM_EVAL,
        "lm_eval/repeats.jsonl",
        "two repeats, two filters, lists of right answers as Python prints them",
        HARNESS_ANSWERS,
        "2 further replies to a document, 2 lines of another filter",
    ),
    Export(
        LM_EVAL,
        "lm_eval/chat.jsonl",
        "the same as a chat with a system prompt",
        HARNESS_ANSWERS,
        "nothing",
        turns=tuple(
            (BRIEFLY, ("user", prompt), ("assistant", answer))
            for prompt, answer in zip(PROMPTS, ("It is Rome.", "The Tiber."), strict=True)
        ),
    ),
    Export(
        LM_EVAL,
        "lm_eval/choices.jsonl",
        "probabilities of choices, no texts",
        (),
        "2 log-likelihoods without a text",
        refused="has no answer. Read as lm-evaluation-harness samples. Not read: 2 log-likelihoods without a text."
        " Were the texts recorded?",
    ),
    Export(
        RAGAS,
        "ragas/answers.jsonl",
        "an answer with passages, an empty answer with an empty retrieval",
        (
            (None, None, CAPITAL, "Rome", 2, ("Rome",)),
            (None, None, RIVER, "", 0, ("Tiber",)),
        ),
        "",
        has_ids=False,
    ),
    Export(
        RAGAS,
        "ragas/answers.parquet",
        "the same as a data set of Hugging Face",
        (
            (None, None, CAPITAL, "Rome", 2, ("Rome",)),
            (None, None, RIVER, "", 0, ("Tiber",)),
        ),
        "",
        has_ids=False,
    ),
    *(
        Export(
            RAGAS,
            f"ragas/testset.{suffix}",
            f"questions with the passages that they were made from, which are no retrieval, as {form}",
            (
                (None, None, CAPITAL, None, 0, ("Rome",)),
                (None, None, RIVER, None, 0, ("Tiber",)),
            ),
            "",
            has_ids=False,
        )
        for suffix, form in (("jsonl", "JSON Lines"), ("csv", "CSV"))
    ),
    Export(
        RAGAS,
        "ragas/evaluated.csv",
        "the result of evaluate as CSV, in which an empty answer is an empty cell, as a missing one is",
        (
            (None, None, CAPITAL, "Rome", 2, ("Rome",)),
            (None, None, RIVER, None, 0, ("Tiber",)),
        ),
        "",
        has_ids=False,
    ),
    Export(
        RAGAS,
        "ragas/experiment.csv",
        "rows of an experiment",
        (
            (None, None, RIVER, None, 2, ("Tiber",)),
            (None, None, CAPITAL, "Rome", 2, ("Rome",)),
        ),
        "",
        mapping=(("contexts", "passages"),),
        has_ids=False,
    ),
    Export(
        RAGAS,
        "ragas/conversations.jsonl",
        "conversations, one with a call of a tool",
        CONVERSATIONS,
        "nothing",
        turns=CONVERSATION_TURNS,
        has_ids=False,
    ),
    Export(
        RAGAS,
        "ragas/conversations.csv",
        "the same as CSV, where messages stand as Python prints them",
        CONVERSATIONS,
        "nothing",
        turns=CONVERSATION_TURNS,
        has_ids=False,
    ),
    Export(
        DATASETS,
        "datasets/rows.parquet",
        "passages and references of mixed types (columns of JSON)",
        MIXED,
        "",
    ),
    Export(DATASETS, "datasets/rows.jsonl", "the same as JSON Lines", MIXED, ""),
    Export(DATASETS, "datasets/folder", "the same as a folder of save_to_disk", MIXED, ""),
    Export(
        OPEN_RAG_EVAL,
        "open_rag_eval/answers.csv",
        "two runs of three questions, a row for each passage; no text (NO_ANSWER), a call that failed (API_ERROR)",
        (
            *((f"capital-{run}", None, CAPITAL, "Rome [1], not Milan [2].", 2, ()) for run in "12"),
            *((f"river-{run}", None, RIVER, None, 0, ()) for run in "12"),
            *((f"sea-{run}", None, "Which sea is it near?", None, 0, ()) for run in "12"),
        ),
        "nothing",
    ),
)
