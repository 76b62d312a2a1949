"""The share of sentences that hedge with "may", "might" or "perhaps".

score = sentences with such a word / sentences; in [0, 1], lower is better. No calls. An empty answer is unscored. The
page of a run marks the words in the answer (the view `marked`).

Parameters: modals: whether "may" and "might" count, or only "perhaps" (`hedges@modals=false`).
"""

import argparse
import re
from dataclasses import dataclass
from typing import Any

from longmark.errors import NoScore
from longmark.metric import Metric, Score
from longmark.models import CHATS, Scheme
from longmark.testing import FakeChat


@dataclass(frozen=True)
class Params:
    modals: bool = True


async def score(example: Any, _models: Any, params: Params) -> Score:
    sentences = [one for one in re.split(r"(?<=[.!?])\s+", example.answer.strip()) if one]
    if not sentences:
        raise NoScore("undefined", "The answer is empty.")
    hedge = re.compile(
        r"\b(may|might|perhaps)\b" if params.modals else r"\bperhaps\b", re.IGNORECASE
    )
    hedged = [one for one in sentences if hedge.search(one)]
    marked = [{"text": one, "label": "hedged"} for one in hedged]
    return Score(len(hedged) / len(sentences), {"marked": marked, "sentences": len(sentences)})


METRIC = Metric(
    score, needs=("answer",), bounds=(0, 1), higher_is_better=False, params=Params, view="marked"
)

ECHO = Scheme(
    "echo:REPLY",
    CHATS,
    "",
    "replies REPLY to everything",
    lambda _role, reply: FakeChat(reply, name=reply),
)


def add_to(verbs: Any) -> None:
    """Adds `longmark count-answers EXAMPLES`."""
    verb = verbs.add_parser("count-answers", help="Count the answers of a file by system.")
    verb.add_argument("examples")
    verb.set_defaults(verb=count)


def count(arguments: argparse.Namespace) -> int:
    from collections import Counter

    from longmark.records.read import Reading

    for system, answers in Counter(one.system for one in Reading(arguments.examples)).items():
        print(f"{system}: {answers}")
    return 0
