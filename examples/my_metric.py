"""Hedging: the share of sentences with a word of doubt.

hedging(r) = sentences with a word of doubt / sentences. Range [0, 1], neither direction is better. Unscored
(`undefined`): an answer without a sentence. Cost: no calls.

Run it: longmark run examples/answers.jsonl --metrics examples/my_metric.py --out runs/hedging
"""

from longmark.errors import NoScore
from longmark.metric import Metric, NoParams, Score
from longmark.models.handles import Models
from longmark.records import Example
from longmark.text.sentences import sentences
from longmark.text.words import words

DOUBT = {"may", "might", "perhaps", "possibly"}


def hedging(hedged: int, total: int) -> float:
    """The share of hedged sentences."""
    return hedged / total


async def score(example: Example, models: Models, params: NoParams) -> Score:
    texts = sentences(example.answer or "")
    if not texts:
        raise NoScore("undefined", "The answer has no sentence.")
    hedged = [text for text in texts if DOUBT & {*words(text)}]
    return Score(hedging(len(hedged), len(texts)), {"hedged": hedged, "sentences": len(texts)})


METRIC = Metric(score, needs=("answer",), bounds=(0, 1), higher_is_better=None)
