"""Length: words and characters of an answer; on pairs, the baseline `the longer answer is better`.

    words = tokens of the answer    characters = Unicode characters of the answer as it stands, white space included

Higher counts as better, as in the baseline, not because long answers are good: beside other metrics a report or a
comparison says only which answers are longer. An empty answer scores 0.
Parameters: tokenizer: what a word is (`unicode`, `zh` and `ja-mecab` need the extra `classic`).
Deviations: CALF does not say how it counts length; both ways are here.
"""

from __future__ import annotations

from dataclasses import dataclass

from longmark.concurrency import aside
from longmark.errors import NoScore
from longmark.metric import ANSWERS, Metric, Score, ScoreSpec, Silence
from longmark.records import Example
from longmark.text.citations import Citations, forms_added, scored_texts
from longmark.text.tokens import Tokenizer, tokens


@dataclass(frozen=True)
class LengthParams:
    tokenizer: Tokenizer = "space"
    citations: Citations = "keep"


async def score(
    example: Example, _models: object, params: LengthParams
) -> dict[str, Score | NoScore]:
    """Both scores. Characters need no tokenizer, so they are there where words are not."""
    answer, _ = scored_texts(example, params.citations)
    words: Score | NoScore
    try:
        words = Score(
            await aside(len(answer), lambda: len(tokens(answer, params.tokenizer, "answer")))
        )
    except NoScore as unscored:
        words = unscored
    return {"words": words, "characters": Score(len(answer))}


METRIC = Metric(
    score,
    needs=("answer",),
    turns=(*ANSWERS, "all"),
    params=LengthParams,
    scores={
        "words": ScoreSpec(
            bounds=(0, None),
            higher_is_better=True,
            summary="Length of an answer in words.",
            descriptive="longer",
        ),
        "characters": ScoreSpec(
            bounds=(0, None),
            higher_is_better=True,
            summary="Length of an answer in characters.",
            descriptive="longer",
        ),
    },
    silence=Silence(empty=0),
    version=2,
    raised=forms_added,
)
