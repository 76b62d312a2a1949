"""Hedges: the share of sentences that contain a hedge word, such as "perhaps", "seems" or "might".

hedges(r) = sentences with at least one hedge word / sentences. Range [0, 1], neither direction is better: caution suits
some questions and not others. Unscored (`undefined`): an answer without a sentence. Cost: no calls.

Parameters: modals: whether the modal verbs "could", "may" and "might" count (`hedges@modals=false`: only other words).

The words are this example's own choice: English, and rarely anything but a hedge ("about", "should" and "would" are
left out; "May" with a capital is the month). For research, take a published list and cite it here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from longmark.errors import NoScore
from longmark.metric import Metric, Score
from longmark.models.handles import Models
from longmark.records import Example
from longmark.text.sentences import sentences

MODALS = ("could", "couldn't", "might", "mightn't")
WORDS = (
    "apparently", "appear", "appears", "arguably", "likely", "maybe", "perhaps", "plausible", "plausibly", "possible",
    "possibly", "presumably", "probable", "probably", "seem", "seems", "supposedly", "uncertain", "unlikely",
)  # fmt: skip


@dataclass(frozen=True)
class Params:
    modals: bool = True


def hedges_in(sentence: str, *, modals: bool = True) -> list[str]:
    """The hedge words of a sentence, in lower case and in their order."""
    counted = (*WORDS, *MODALS) if modals else WORDS
    # "may" stands outside of (?i:…): with a capital it is the month.
    pattern = rf"\b(?:(?i:{'|'.join(counted)}){'|may' if modals else ''})\b"
    return [hedge.lower() for hedge in re.findall(pattern, sentence.replace("’", "'"))]


def share(hedged: int, total: int) -> float:
    return hedged / total


async def score(example: Example, models: Models, params: Params) -> Score:
    texts = sentences(example.answer or "")
    if not texts:
        raise NoScore("undefined", "The answer has no sentence.")
    hedges = [(text, hedges_in(text, modals=params.modals)) for text in texts]
    hedged = [{"text": text, "label": ", ".join(words)} for text, words in hedges if words]
    return Score(share(len(hedged), len(texts)), {"marked": hedged, "sentences": len(texts)})


METRIC = Metric(
    score,
    needs=("answer",),
    bounds=(0, 1),
    higher_is_better=None,
    params=Params,
    view="marked",  # the report of a run marks the hedged sentences in the answer
)
