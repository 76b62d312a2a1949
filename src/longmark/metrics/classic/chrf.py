"""chrF: n-grams of characters that an answer shares with a reference (Popović 2015), by sacrebleu.

    chrF = (1 + beta²) P R / (beta² P + R)    P, R: precision and recall of n-grams, each averaged over the orders

sacrebleu's value, divided by 100 (extra `classic`). White space is left out by default, so it suits languages without
spaces. An empty answer scores 0. The evidence has the lengths.
Unscored (`undefined`): the reference is empty; with word_order above 0, more than 5 % of the words of a text are in a
script without spaces between words.
Parameters, sacrebleu's: char_order; word_order (2: chrF++); beta (2: recall counts twice as much); lowercase;
whitespace: whether white space counts.
Deviations: an empty reference is unscored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Any

from longmark.concurrency import aside
from longmark.errors import NoScore, library
from longmark.metric import Metric, Score, Silence
from longmark.records import Example
from longmark.records.same import canonical, visible
from longmark.text.citations import Citations, forms_added, scored_texts
from longmark.text.tokens import EXTRA
from longmark.text.words import MOST_UNREAD, unread_share


@dataclass(frozen=True)
class ChrfParams:
    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False
    citations: Citations = "keep"

    def __post_init__(self) -> None:
        for name, least in (("char_order", 1), ("word_order", 0), ("beta", 1)):
            if not least <= getattr(self, name) <= 20:
                raise ValueError(
                    f"{name} is a number from {least} to 20, not {getattr(self, name)}"
                )

    def ready(self) -> None:
        """MissingExtra, before anything is paid for, where sacrebleu is not installed."""
        _chrf(self)


@cache
def _chrf(params: ChrfParams) -> Any:
    settings = asdict(params)
    del settings["citations"]  # which is ours
    return library("sacrebleu", "classic.chrf", EXTRA).CHRF(**settings)


def chrf(answer: str, references: Sequence[str], params: ChrfParams) -> Score:
    answer = visible(canonical(answer))
    theirs = [plain for reference in references if (plain := visible(canonical(reference))).strip()]
    if not theirs:
        raise NoScore("undefined", "The reference is empty.")
    if params.word_order:
        for whose, text in (
            ("answer", answer),
            *(("reference", reference) for reference in theirs),
        ):
            _readable(text, whose, params.word_order)
    value = _chrf(params).sentence_score(answer, theirs).score / 100
    return Score(
        min(1.0, value),
        {"answer_characters": len(answer), "reference_characters": [len(r) for r in theirs]},
    )


def _readable(text: str, whose: str, word_order: int) -> None:
    """NoScore if words count and cannot be told: chrF++ divides at white space."""
    if (share := unread_share(text, lambda _word, spaced: spaced)) > MOST_UNREAD:
        raise NoScore(
            "undefined",
            f"word_order={word_order} counts words between spaces, and {share:.0%} of the words of the {whose} have no "
            "spaces around them: set the metric's parameter word_order=0.",
            {"unread": round(share, 4)},
        )


async def score(example: Example, _models: object, params: ChrfParams) -> Score:
    answer, references = scored_texts(example, params.citations)
    size = len(answer) + sum(map(len, references))
    return await aside(size, partial(chrf, answer, references, params))


METRIC = Metric(
    score,
    needs=("answer", "references"),
    bounds=(0, 1),
    params=ChrfParams,
    silence=Silence(empty=0),
    version=2,
    raised=forms_added,
)
