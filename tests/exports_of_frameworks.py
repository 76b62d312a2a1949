"""What the files of frameworks' evaluators in examples/exports hold, by hand (`tests.exports` reads them)."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.export import Export

CAPITAL = "What is the capital of Italy?"
RIVER = "Which river flows through Rome?"
SEA = "Which sea is it near?"
RIGHT_SEA = "The Tyrrhenian Sea"

_AZURE = partial(Export, "azure-ai-evaluation 1.18.10", has_ids=False)
_LLAMA_INDEX = partial(
    Export,
    "llama-index-core 0.14.25",
    holds=(
        (None, None, CAPITAL, "Rome", 2, ()),
        (None, None, RIVER, "Tevere", 1, ()),
    ),
    has_ids=False,
)
_MLFLOW = partial(
    Export,
    "mlflow 3.17.2",
    holds=(
        ("tr-1634a1e9322d10cac49b0efcd27c3296", None, CAPITAL, "Rome", 0, ("Rome",)),
        ("tr-fa6af56d1ebe5022ba40afada4c335eb", None, RIVER, "", 0, ("The Tiber",)),
    ),
    not_read="2 scores of the tool, 1 traces without a question and an answer",
)
_DSPY = partial(Export, "dspy 3.4.1", not_read="", has_ids=False)

_SYSTEM = ("system", "Be brief.")
_OF_EVALSCOPE = (  # in the order in which its threads ended: of two questions two replies each
    ("1", CAPITAL, "Rome", (_SYSTEM,)),
    ("2", RIVER, "", ()),
    ("3", RIVER, "", ()),
    ("0", CAPITAL, "Rome", (_SYSTEM,)),
)


def _of_evalscope(order: str, **fields: Any) -> Export:
    """order: the ids as the file has them; system, references: of the answers."""
    system = fields.pop("system", None)
    right = fields.pop("references", {})
    answers = {name: (question, answer, before) for name, question, answer, before in _OF_EVALSCOPE}
    return Export(
        "evalscope 1.14.1",
        holds=tuple(
            (name, system, *answers[name][:2], 0, right.get(answers[name][0], ())) for name in order
        ),
        turns=tuple(
            (*before, ("user", question), ("assistant", answer))
            for question, answer, before in (answers[name] for name in order)
        ),
        **fields,
    )


EXPORTS = (
    _of_evalscope(
        "1230",
        file="evalscope/predictions.jsonl",
        says="two questions with two replies each, of which those to one are empty",
        system="small-model",
        not_read="nothing",
    ),
    _of_evalscope(
        "3102",
        file="evalscope/reviews.jsonl",
        says="the same with targets and scores; the model is the name of the folder",
        references={CAPITAL: ("Rome",), RIVER: ("Tiber",)},
        not_read="36 scores of evalscope",
    ),
    Export(
        "lighteval 0.13.0",
        "lighteval/details.parquet",
        "two replies of which the first without its reasoning is scored, an empty one, log-likelihoods",
        (
            ("0", None, CAPITAL, "Rome", 0, ("Rome",)),
            ("1", None, RIVER, "", 0, ("Tiber", "Tevere")),
        ),
        "1 further replies to a document, 1 log-likelihoods without a text, 2 scores of lighteval",
    ),
    _MLFLOW(
        file="mlflow_genai/evaluated.jsonl",
        says="the table of an evaluation: an answer, an empty one, a question on which the application failed",
    ),
    _MLFLOW(file="mlflow_genai/evaluated.csv", says="the same as CSV"),
    Export(
        "deepeval 4.3.1",
        "deepeval/conversations.json",
        "a conversation with passages in one turn, one whose answer is empty",
        (
            (
                "cities-0",
                None,
                "Which river flows through it?",
                "The Tiber",
                0,
                ("Rome and its river.",),
            ),
            ("conversational_test_case_1", None, SEA, "", 0, ()),
        ),
        "2 scores of DeepEval's metrics",
        turns=(
            (
                ("user", CAPITAL),
                ("assistant", "Rome"),
                ("user", "Which river flows through it?"),
                ("assistant", "The Tiber"),
            ),
            (("user", SEA), ("assistant", "")),
        ),
    ),
    _AZURE(
        file="azure_ai_evaluation/answers.json",
        says="answers of a file, of which one is empty and one missing",
        holds=(
            (None, None, CAPITAL, "Rome", 1, ("Rome",)),
            (None, None, RIVER, "", 0, ("The Tiber",)),
            (None, None, SEA, None, 0, (RIGHT_SEA,)),
        ),
        not_read="3 results of Azure's evaluators",
    ),
    _AZURE(
        file="azure_ai_evaluation/target.json",
        says="answers of a target with a passage, two of them empty",
        holds=(
            (None, None, CAPITAL, "Rome", 1, ("Rome",)),
            (None, None, RIVER, "", 1, ("The Tiber",)),
            (None, None, SEA, "", 1, (RIGHT_SEA,)),
        ),
        not_read="3 results of Azure's evaluators",
    ),
    _LLAMA_INDEX(
        file="llama_index/results.json",
        says="two evaluators' results of two answers, the first without the passages",
        not_read="4 results of LlamaIndex's evaluators",
    ),
    _LLAMA_INDEX(
        file="llama_index/results.jsonl",
        says="the same, a result a line, the second evaluator's first",
        not_read="2 results of LlamaIndex's evaluators, 2 results of another evaluator",
    ),
    Export(
        "haystack-ai 3.4.1",
        "haystack/report.csv",
        "the right answer as `answer`, beside `predicted_answer`",
        (
            (None, None, CAPITAL, "Rome", 2, ("Rome",)),
            (None, None, RIVER, "Tevere", 1, ("The Tiber",)),
        ),
        "",
        has_ids=False,
    ),
    _DSPY(
        file="dspy/results.json",
        says="an answer, an empty one, a prediction that failed, which has the right answer under `answer`",
        holds=(
            (None, None, CAPITAL, "Rome", 1, ("Rome",)),
            (None, None, RIVER, "", 1, ("The Tiber",)),
            (None, None, SEA, None, 0, (RIGHT_SEA,)),
        ),
    ),
    _DSPY(
        file="dspy/results.csv",
        says="the first two as CSV, in which an empty answer is an empty cell",
        holds=(
            (None, None, CAPITAL, "Rome", 1, ("Rome",)),
            (None, None, RIVER, None, 1, ("The Tiber",)),
        ),
    ),
)
