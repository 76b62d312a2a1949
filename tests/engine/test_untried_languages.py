"""A run says before its first call which answers are in a language that the checker was not measured on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from longmark import run
from longmark.models.protocols import Capabilities, RelationReply
from longmark.options import command_line

ENGLISH = "The dam broke in the spring of that year, and the water was in all of the houses."
FRENCH = (
    "Le barrage a cédé au printemps de cette année, et l'eau est entrée dans toutes les maisons."
)
GERMAN = "Der Damm brach im Frühling, und das Wasser stand in allen Häusern der Stadt, die an dem Fluss ist."
CHINESE = "大坝在春天溃决，河水淹没了城里所有的房屋。"


class MeasuredChecker:
    """Calls everything supported. It was measured on English and, with less success, on German."""

    name, identity, capabilities = "measured", "measured", Capabilities()
    width: int | None = None
    piece, threshold = 1_000_000, 0.5

    def __init__(self) -> None:
        self.tried_languages = {"en": "", "de": "its AUC was .91 there and .95 in English"}

    async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply:
        return RelationReply(((1.0, 0.0, 0.0),) * len(hypotheses))

    async def close(self) -> None:
        """Nothing is open."""


def told(
    tmp_path: Path,
    answers: Sequence[str],
    metric: str = "ragchecker.faithfulness",
    passage: str = "The dam broke.",
    **options: Any,
) -> list[str]:
    records = [
        {
            "id": str(number),
            "question": "What happened?",
            "answer": answer,
            "claims": [answer],
            "contexts": [passage, passage],
            "nuggets": ["The dam broke."],
        }
        for number, answer in enumerate(answers)
    ]
    sentences: list[str] = []
    with command_line():
        run(
            records,
            [metric],
            out=tmp_path / "run",
            cache=str(tmp_path / "calls.sqlite"),
            tell=sentences.append,
            quiet=True,
            **{"checker": MeasuredChecker(), **options},
        )
    return [sentence for sentence in sentences if " are in " in sentence]


def test_each_language_is_told_once_with_its_answers_and_what_is_known(tmp_path: Path) -> None:
    sentences = told(tmp_path, [ENGLISH, FRENCH, GERMAN, FRENCH, CHINESE, "1871."])
    assert sentences == [
        "--checker measured: 2 of 6 answers are in French; it was measured on English and German only. Calibrate it on "
        "labels of your own (--calibrate FILE), or use a judge of that language.",
        "--checker measured: 1 of 6 answers are in German; its AUC was .91 there and .95 in English. Calibrate it on "
        "labels of your own (--calibrate FILE), or use a judge of that language.",
        "--checker measured: 1 of 6 answers are in Chinese; it was measured on English and German only. Calibrate it on "
        "labels of your own (--calibrate FILE), or use a judge of that language.",
    ]


def test_a_language_of_the_passages_counts_too(tmp_path: Path) -> None:
    (sentence,) = told(tmp_path, [ENGLISH, FRENCH, "1871."], passage=FRENCH)
    assert sentence.startswith(
        "--checker measured: 3 of 3 answers or texts that they are compared with are in French; it was measured on "
    )


@pytest.mark.parametrize(
    ("answers", "options"),
    [
        ([ENGLISH, "1871."], {}),
        ([FRENCH], {"checker": "overlap"}),  # says nothing of languages
        ([ENGLISH], {"passage": FRENCH, "metric": "nuggets.all"}),  # reads no passage
        ([FRENCH], {"metric": "classic.rouge_l"}),  # asks no checker
    ],
)
def test_nothing_is_told_where_the_checker_was_measured_or_is_not_asked(
    tmp_path: Path, answers: list[str], options: dict[str, Any]
) -> None:
    if options.get("metric") == "classic.rouge_l":
        options = options | {"checker": None}
    assert told(tmp_path, answers, **options) == []
